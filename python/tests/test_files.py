"""Models that leave the process come back the same: files, pickles, copies."""

import copy
import io
import pickle
import re
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest

import ssdl
from conftest import small

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def through_pickle(model):
    return pickle.loads(pickle.dumps(model))


def alike(one, other, digits, same_bits):
    same_bits(one.predict_proba(digits["new"]), other.predict_proba(digits["new"]))
    same_bits(one.predict(digits["new"]), other.predict(digits["new"]))
    same_bits(one.transduction_, other.transduction_)
    assert one.objective_ == other.objective_


@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_a_saved_model_is_loaded_with_the_same_bits(estimator, number, digits, tmp_path, same_bits):
    model = estimator.fit(digits["X"].astype(number), digits["few"])
    model.save(tmp_path / "digits.ssdl")
    loaded = ssdl.load(str(tmp_path / "digits.ssdl"))
    assert type(loaded) is type(model)
    alike(model, loaded, digits, same_bits)
    assert loaded.n_features_in_ == 64
    # The file holds the steps that were chosen for the samples.
    assert loaded.get_params() == model.get_params() | {"prepare": ("scale=5",)}
    loaded.save(tmp_path / "again.ssdl")
    assert (tmp_path / "again.ssdl").read_bytes() == (tmp_path / "digits.ssdl").read_bytes()


@pytest.mark.parametrize("copied", [through_pickle, through_joblib, copy.copy, copy.deepcopy])
def test_copies_have_the_same_bits(estimator, copied, digits, same_bits):
    model = estimator.fit(digits["X"], digits["few"])
    alike(model, copied(model), digits, same_bits)
    assert copied(model).get_params() == model.get_params()


def test_a_pickle_holds_the_bytes_of_the_file(digits, tmp_path):
    model = small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    model.save(tmp_path / "digits.ssdl")
    assert (tmp_path / "digits.ssdl").read_bytes() in pickle.dumps(model)


def test_an_estimator_that_is_not_fitted_is_pickled_too(estimator):
    assert through_pickle(estimator).get_params() == estimator.get_params()


@pytest.mark.parametrize("classes", [["no", "yes"], [3, 40], [0.0, 1.0], [False, True]])
def test_labels_keep_their_type_in_a_file(classes, tmp_path):
    X = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1]])
    model = ssdl.Nearest().fit(X, [classes[0], None, classes[1], None])
    model.save(tmp_path / "model.ssdl")
    loaded = ssdl.load(tmp_path / "model.ssdl")
    assert loaded.classes_.tolist() == classes
    assert loaded.predict(X).tolist() == [classes[0], classes[0], classes[1], classes[1]]
    assert type(loaded.predict(X).tolist()[0]) is type(classes[0])


def test_a_loaded_model_can_be_fitted_again(digits, tmp_path, same_bits):
    model = small(ssdl.GraphSC, box_constraints=(0.5, 5.0)).fit(digits["X"], digits["few"])
    model.save(tmp_path / "model.ssdl")
    again = ssdl.load(tmp_path / "model.ssdl").fit(digits["X"], digits["few"])
    assert again.box_constraints == (0.5, 5.0)
    same_bits(model.codes_, again.codes_)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_loaded_model_takes_frames_without_a_warning(make, digits, tmp_path, same_bits):
    columns = [f"pixel{i}" for i in range(64)]
    model = ssdl.Nearest().fit(pd.DataFrame(digits["X"], columns=columns), digits["few"])
    model.save(tmp_path / "model.ssdl")
    loaded = ssdl.load(tmp_path / "model.ssdl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = loaded.predict(make(dict(zip(columns, digits["new"].T, strict=True))))
    same_bits(predicted, loaded.predict(digits["new"]))


def test_continuing_from_a_file_needs_the_samples_again(digits):
    copied = through_pickle(small(ssdl.SSDLGA).fit(digits["X"], digits["few"]))
    with pytest.raises(ssdl.errors.SamplesError, match="pass them to add_labels as X"):
        copied.add_labels([60], [3])
    with pytest.raises(ssdl.errors.SamplesError, match="fit all samples at once"):
        copied.partial_fit(digits["X"][:1], [3])
    copied.add_labels([60], [3], X=digits["X"]).partial_fit(digits["new"], digits["truth"])
    assert len(copied.codes_) == 500


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_continues_independently(copied, digits):
    model = small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    before = model.transduction_
    twin = copied(model).add_labels([60, 61], digits["y"][60:62])
    assert (twin.transduction_[[60, 61]] == digits["y"][60:62]).all()
    assert np.array_equal(model.transduction_, before)


def test_files_that_are_not_models_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        ssdl.load(tmp_path / "none.ssdl")
    assert caught.value.filename == str(tmp_path / "none.ssdl")
    (tmp_path / "text.ssdl").write_text("this is not a model, but long enough to be one")
    with pytest.raises(ssdl.errors.ModelFileError, match="not a usable ssdl model"):
        ssdl.load(tmp_path / "text.ssdl")
    with pytest.raises(ssdl.errors.ModelFileError, match="model in memory"):
        ssdl._ssdl.Model.from_bytes(b"short")


def test_a_missing_folder_is_named(digits, tmp_path):
    model = ssdl.Nearest().fit(digits["X"], digits["few"])
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "missing" / "model.ssdl")


def test_damaged_bytes_never_crash(digits):
    whole = ssdl.Nearest().fit(digits["X"], digits["few"])._model.to_bytes()
    for cut in range(0, len(whole), 9973):
        with pytest.raises(ssdl.errors.ModelFileError):
            ssdl._ssdl.Model.from_bytes(whole[:cut])


def test_a_pickle_of_another_version_says_what_to_do(digits):
    model = small(ssdl.Ridge).fit(digits["X"], digits["few"])
    state = pickle.dumps(model)
    later, found = re.subn(rb'(\\"version\\":)\d', rb"\g<1>9", state, count=1)
    assert found == 1
    with pytest.raises(ssdl.errors.ModelFileError, match="version 9.*update it, or fit again"):
        pickle.loads(later)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["0", "1"]),
        np.array(["1.0", "2.5"]),
        np.array(["False", "True"]),
        np.array(["0", "1"], dtype=object),
        np.array([0, 1], dtype=np.uint8),
        np.array([-3, 5], dtype=np.int16),
        np.array([0.0, 1.0], dtype=np.float32),
        np.array([False, True]),
        np.array(["2020-01-01", "2021-06-30"], dtype="datetime64[D]"),
        np.array(["2020-01-01T00:00:00.000000001", "2021"], dtype="datetime64[ns]"),
    ],
    ids=lambda y: f"{y.dtype} {y[0]}",
)
def test_labels_of_every_type_come_back_as_they_were(y, tmp_path):
    X = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1]])
    y = np.repeat(y, 2)
    model = ssdl.Nearest().fit(X, y)
    model.save(tmp_path / "model.ssdl")
    loaded = ssdl.load(tmp_path / "model.ssdl")
    assert loaded.classes_.dtype == model.classes_.dtype == y.dtype
    assert (loaded.predict(X) == y).all()
    assert type(loaded.classes_[0]) is type(model.classes_[0])


def test_column_names_come_back_and_are_checked(tmp_path):
    frame = pd.DataFrame({"a": [0.0, 0.1, 1.0, 1.0], "b": [1.0, 1.0, 0.0, 0.1]})
    ssdl.Nearest().fit(frame, [0, 0, 1, 1]).save(tmp_path / "model.ssdl")
    loaded = ssdl.load(tmp_path / "model.ssdl")
    assert loaded.feature_names_in_.tolist() == ["a", "b"]
    assert loaded.predict(frame).tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["b", "a"]])


def test_a_damaged_model_is_refused(digits, tmp_path):
    model = small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    model.save(tmp_path / "model.ssdl")
    bytes_ = bytearray((tmp_path / "model.ssdl").read_bytes())
    bytes_[-100] ^= 1
    (tmp_path / "model.ssdl").write_bytes(bytes_)
    with pytest.raises(ssdl.errors.ModelFileError, match="checksum"):
        ssdl.load(tmp_path / "model.ssdl")


def test_the_same_seed_gives_the_same_bytes(digits, tmp_path):
    for name in ("one", "two"):
        small(ssdl.SSDLGA).fit(digits["X"], digits["few"]).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
