"""What users may rely on when something goes wrong beside them."""

import numpy as np
import pytest

import ssdl
from conftest import small
from ssdl.errors import SamplesError, SsdlError

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def test_masked_labels_are_not_learnt_from(digits):
    X, y = digits["X"], np.resize([0, 1, 2], len(digits["X"]))
    hidden = np.arange(len(y)) >= 12
    masked = np.ma.masked_array(y, mask=hidden)
    model = ssdl.Nearest().fit(X, masked)
    assert (model._model.labels[12:] < 0).all() and (model._model.labels[:12] >= 0).all()
    unmasked = ssdl.Nearest().fit(X, np.ma.masked_array(y, mask=False))
    assert (unmasked._model.labels >= 0).all()
    words = np.ma.masked_array(np.array(["a", "b", "c"])[y], mask=hidden)
    assert ssdl.Nearest().fit(X, words).classes_.tolist() == ["a", "b", "c"]


def test_masked_samples_are_refused(digits):
    X = np.ma.masked_array(digits["X"], mask=np.zeros_like(digits["X"], dtype=bool))
    assert ssdl.Nearest().fit(X, digits["few"]).n_features_in_ == X.shape[1]
    X[3, 4] = np.ma.masked
    with pytest.raises(SamplesError, match="masked"):
        ssdl.Nearest().fit(X, digits["few"])


def test_add_labels_notices_that_the_samples_were_written_to(digits):
    X = np.ascontiguousarray(digits["X"].copy())
    model = small(ssdl.SSDLGA).fit(X, digits["few"])
    chosen = model.query(2)
    X[0] += 1
    with pytest.raises(SamplesError, match="written to since"):
        model.add_labels(chosen, [0, 1])
    X[0] -= 1
    X[0] = digits["X"][0]
    assert model.add_labels(chosen, [0, 1]) is model
    # A copy of our own cannot be written to.
    lists = digits["X"].tolist()
    model = small(ssdl.SSDLGA).fit(np.array(lists, order="F"), digits["few"])
    model.add_labels(model.query(1), [0])


def test_a_stream_may_reuse_its_array(digits):
    batch = np.ascontiguousarray(digits["X"][:60].copy())
    y = np.asarray(digits["few"])
    model = small(ssdl.SSDLGA).partial_fit(batch, y[:60], classes=np.unique(y[y != -1]))
    expected = small(ssdl.SSDLGA).partial_fit(batch.copy(), y[:60], classes=np.unique(y[y != -1]))
    second = digits["X"][60:120].copy()
    expected.partial_fit(second, y[60:120])
    batch[:] = second
    model.partial_fit(batch, y[60:120])
    assert (model.components_ == expected.components_).all()


@pytest.mark.parametrize(
    "estimator",
    [
        ssdl.DictionaryLearner(n_atoms=5, max_iter=2),
        ssdl.preparation.Preparation(("scale=5",)),
        ssdl.SparseCoder(sparsity=20),
        ssdl.Nearest(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_failed_refit_leaves_the_estimator_as_it_was(estimator, digits):
    X, y = digits["X"], digits["few"]
    use = "predict" if hasattr(estimator, "predict") else "transform"
    estimator.fit(X, y)
    before = getattr(estimator, use)(X)
    broken = X[:, :10].copy()
    broken[0, 0] = np.inf
    with pytest.raises((ValueError, SsdlError)):
        estimator.fit(broken, y)
    assert estimator.n_features_in_ == X.shape[1]
    assert (getattr(estimator, use)(X) == before).all()


def test_a_refit_that_fails_in_the_library_leaves_the_estimator_as_it_was(digits):
    X = digits["X"]
    for estimator, wrong in [
        (ssdl.DictionaryLearner(n_atoms=5, max_iter=2), {}),
        (ssdl.preparation.Preparation(("scale=5",)), {"steps": ("pca=9999",)}),
    ]:
        estimator.fit(X)
        before = estimator.transform(X)
        estimator.set_params(**wrong)
        with pytest.raises((ValueError, SsdlError)):
            estimator.fit(np.zeros((4, 3)))
        assert (estimator.transform(X) == before).all()


def test_messages_hold_nothing_that_a_terminal_obeys(tmp_path):
    path = tmp_path / "\x1b[31mred.ssdl"
    path.write_bytes(b"no model at all")
    with pytest.raises(ssdl.errors.ModelFileError) as raised:
        ssdl.load(path)
    assert "\x1b" not in str(raised.value) and "u{1b}" in str(raised.value)
