"""Arrays of any kind, and precision that is kept."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

import ssdl
from conftest import small

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture
def model(digits):
    return small(ssdl.SSDLGA).fit(digits["X"], digits["few"])


def askew(X):
    buffer = np.zeros(X.nbytes + 1, dtype=np.uint8)
    rows = buffer[1:].view(X.dtype).reshape(X.shape)
    rows[:] = X
    return rows


def strided(X):
    twice = np.zeros((2 * len(X), 2 * X.shape[1]))
    twice[::2, ::2] = X
    return twice[::2, ::2]


@pytest.mark.parametrize(
    "make", [np.asfortranarray, strided, askew, pd.DataFrame, np.ndarray.tolist]
)
def test_the_same_numbers_give_the_same_model(make, model, digits, same_bits):
    other = small(ssdl.SSDLGA).fit(make(digits["X"]), digits["few"])
    same_bits(other.codes_, model.codes_)
    same_bits(other.predict_proba(make(digits["new"])), model.predict_proba(digits["new"]))


def test_read_only_memory_maps_are_read(tmp_path, model, digits, same_bits):
    np.save(tmp_path / "x.npy", digits["X"])
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    same_bits(small(ssdl.SSDLGA).fit(mapped, digits["few"]).codes_, model.codes_)


def test_whole_numbers_become_double(digits, model, same_bits):
    pixels = digits["X"].astype(np.uint8)
    same_bits(small(ssdl.SSDLGA).fit(pixels, digits["few"]).codes_, model.codes_)


def test_single_precision_stays_single(estimator, digits):
    single = estimator.fit(digits["X"].astype(np.float32), digits["few"])
    assert single.predict_proba(digits["new"]).dtype == np.float32
    assert single.label_distributions_.dtype == np.float32
    assert single.decision_function(digits["new"].astype(np.float32)).dtype == np.float32
    if hasattr(single, "codes_"):
        assert single.components_.dtype == single.codes_.dtype == np.float32
        assert single.transform(digits["new"]).dtype == np.float32
    assert single.score(digits["new"], digits["truth"]) > 0.6


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns_are_kept_and_checked(make, digits):
    if make is pl.DataFrame and parse_version(sklearn.__version__) < parse_version("1.9"):
        pytest.skip("this scikit-learn does not read the names of these frames")
    columns = [f"pixel{i}" for i in range(64)]
    model = small(ssdl.USSDL).fit(
        make(dict(zip(columns, digits["X"].T, strict=True))), digits["few"]
    )
    assert model.feature_names_in_.tolist() == columns
    assert model.n_features_in_ == 64
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(digits["new"], columns=columns[::-1]))


def test_codes_are_frames_on_request(coder, digits):
    coder.set_output(transform="pandas").fit(digits["X"], digits["few"])
    names = [f"{type(coder).__name__.lower()}{i}" for i in range(len(coder.components_))]
    assert coder.transform(digits["new"]).columns.tolist() == names
    coder.set_output(transform="polars")
    assert coder.transform(digits["new"]).columns == names


def test_returned_arrays_belong_to_the_caller(model, same_bits):
    before = model.codes_
    model.codes_[:] = 0
    model.components_[:] = 0
    same_bits(model.codes_, before)
    assert model.components_.any()
