"""Bad input: the exception that users of scikit-learn expect, with a helpful message."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

import ssdl
from conftest import small
from ssdl import errors, labelling


def test_every_error_is_also_one_of_pythons_own():
    expected = {
        errors.KnobError: ValueError,
        errors.LabelsError: ValueError,
        errors.ShapeError: ValueError,
        errors.MemoryLimitError: MemoryError,
        errors.DeviceError: RuntimeError,
        errors.DivergedError: ArithmeticError,
        errors.ModelFileError: ValueError,
    }
    for own, parent in expected.items():
        assert issubclass(own, parent)
        assert issubclass(own, errors.SsdlError)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_atoms": 0}, "n_atoms"),
        ({"n_atoms": 2.5}, "n_atoms"),
        ({"sparsity": -1}, "sparsity"),
        ({"sparsity": "much"}, "sparsity"),
        ({"graph": "star"}, "graph"),
        ({"percentile": 1.0}, "percentile"),
        ({"revive": "yes"}, "revive"),
        ({"prepare": 3}, "prepare"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"random_state": "today"}, "random_state"),
        ({"memory_limit": 0}, "memory_limit"),
    ],
)
def test_parameters_out_of_range_are_named(parameters, words, digits):
    with pytest.raises(InvalidParameterError, match=words):
        ssdl.SSDLGA(**parameters).fit(digits["X"], digits["few"])


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"sparsity": float("nan")}, ValueError, "sparsity"),
        ({"sparsity": float("inf")}, ValueError, "sparsity"),
        ({"width": "wide", "graph": "heat"}, errors.KnobError, "width"),
        ({"prepare": "whiten"}, errors.UnknownNameError, "whiten"),
        ({"prepare": "pca=0"}, errors.KnobError, "pca"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"image_shape": (8, 9), "prepare": "deskew"}, errors.SsdlError, "8"),
        ({"image_shape": (8,)}, ValueError, "unpack"),
    ],
)
def test_values_that_only_the_library_knows_are_refused(parameters, error, words, digits):
    with pytest.raises(error, match=words):
        small(ssdl.SSDLGA, **parameters).fit(digits["X"], digits["few"])


def test_a_memory_limit_is_kept(digits):
    with pytest.raises(MemoryError, match="bytes of memory") as caught:
        small(ssdl.SSDLGA, memory_limit=1000).fit(digits["X"], digits["few"])
    assert isinstance(caught.value, errors.MemoryLimitError)


def test_samples_may_lie_on_disk(digits, tmp_path):
    here = small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    there = small(ssdl.SSDLGA, scratch=tmp_path).fit(digits["X"], digits["few"])
    assert np.array_equal(there.codes_, here.codes_)
    assert not list(tmp_path.iterdir())
    with pytest.warns(errors.FitWarning, match="stay in memory"):
        ssdl.Ridge(scratch=str(tmp_path)).fit(digits["X"], digits["few"])
    with pytest.raises(OSError, match="nowhere"):
        small(ssdl.SSDLGA, scratch=tmp_path / "nowhere").fit(digits["X"], digits["few"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X, y: (X[:-1], y),
        lambda X, y: (X[:0], y[:0]),
        lambda X, y: (X[:, :0], y),
        lambda X, y: (X[0], y),
        lambda X, y: (np.where(X == X.max(), np.nan, X), y),
        lambda X, y: (np.where(X == X.max(), np.inf, X), y),
        lambda X, y: (X.astype(complex) + 1j, y),
        lambda X, y: (X.astype(str).astype(object) + "a", y),
        lambda X, y: (X, None),
        lambda X, y: (X, np.stack([y, y], axis=1)),
        lambda X, y: (X, np.where(y == -1, 0, y) + 0.5),
        lambda X, y: (X, np.zeros_like(y)),
    ],
    ids=[
        "lengths",
        "no rows",
        "no columns",
        "one-dimensional",
        "nan",
        "infinite",
        "complex",
        "text",
        "no y",
        "two columns of y",
        "continuous y",
        "one class",
    ],
)
def test_spoilt_data_is_a_value_error(estimator, spoil, digits):
    with pytest.raises(ValueError):
        estimator.fit(*spoil(digits["X"], digits["few"]))


def test_another_number_of_features_is_refused(digits):
    model = ssdl.Nearest().fit(digits["X"], digits["few"])
    with pytest.raises(ValueError, match="63 features"):
        model.predict(digits["new"][:, 1:])


def test_a_failed_fit_leaves_the_old_model_intact(digits, same_bits):
    model = ssdl.Nearest().fit(digits["X"], digits["few"])
    before = model.predict(digits["new"])
    with pytest.raises(errors.LabelsError):
        model.fit(digits["X"][:, :30], np.full(300, -1))
    same_bits(model.predict(digits["new"]), before)


@pytest.mark.parametrize(("n", "error"), [(-1, ValueError), (2.5, TypeError)])
def test_samples_to_label_are_counted_in_whole_numbers(n, error, digits):
    with pytest.raises(error, match="n "):
        labelling.first_to_label(digits["X"], n)


def test_neighbours_that_an_index_did_not_find_are_explained(digits):
    with pytest.raises(errors.GraphError, match="may write -1"):
        small(ssdl.SSDLGA).fit(digits["X"], digits["few"], graph=np.full((300, 3), -1))


@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (ssdl.SSDLGA(n_atoms=9, max_iter=1), "max_iter or tol"),
        (ssdl.LinearSVM(max_epochs=1), "max_epochs or tol"),
    ],
)
def test_a_fit_at_its_limit_names_the_parameters_to_raise(estimator, names, digits):
    with pytest.warns(ConvergenceWarning, match=f"raise {names}$"):
        estimator.fit(digits["X"], digits["few"])
