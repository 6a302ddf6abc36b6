"""Weights of samples on a cluster: they count as in the local fit."""

import numpy as np
import pytest

import ssdl
from ssdl import errors

pytest.importorskip("distributed")
from ssdl.dask import DaskLabelSpreading, DaskSSDLGA  # noqa: E402
from test_dask import QUICK, chunked  # noqa: E402
from test_dask import client as client  # noqa: E402
from test_dask import data as data  # noqa: E402

pytestmark = [
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
]


@pytest.fixture(scope="module")
def weights(data):
    """Labels of the first half count five times as much; one sample in nine not at all."""
    values = np.where(np.arange(len(data[1])) < 900, 5.0, 1.0)
    values[4::9] = 0
    return values


def test_samples_count_as_much_as_they_should(client, data, weights):
    X, y, truth = data
    here = ssdl.SSDLGA(**QUICK).fit(X, y, sample_weight=weights)
    there = DaskSSDLGA(client, n_parts=2, **QUICK)
    there.fit(chunked(X), chunked(y), sample_weight=chunked(weights))
    found = there.to_local()
    assert found.objective_["total"] == pytest.approx(here.objective_["total"], rel=0.005)
    even = ssdl.SSDLGA(**QUICK).fit(X, y, sample_weight=(weights > 0).astype(float))
    # Without the weights the classifier is another one.
    away = np.linalg.norm(found.coef_ - here.coef_)
    assert away < 0.3 * np.linalg.norm(even.coef_ - here.coef_)
    # Samples of weight zero are not in the model, but they are predicted.
    assert len(found.transduction_) == np.count_nonzero(weights)
    assert len(there.transduction_) == len(X)
    assert np.mean(there.transduction_ == here.transduction_) > 0.98
    left_out = weights == 0
    assert np.array_equal(there.transduction_[left_out], found.predict(X[left_out]))
    assert np.mean(there.transduction_ == truth) > 0.8


def test_equal_weights_change_no_bit_and_labels_spread_by_weight(client, data, weights):
    X, y, _ = data[0][:600], data[1][:600], data[2]
    chunks = (200, 0, 400)

    def fitted(sample_weight):
        model = DaskLabelSpreading(client, n_parts=2, calibrate=False, tol=1e-4, spreading=0.5)
        model.fit(chunked(X, chunks), y, sample_weight=sample_weight)
        return model.to_local().label_distributions_

    none = fitted(None)
    assert np.array_equal(fitted(np.full(600, 7.0)), none)
    by_weight = np.where(np.arange(600) < 300, 5.0, 1.0)
    here = ssdl.LabelSpreading(calibrate=False, tol=1e-4, spreading=0.5)
    here.fit(X, y, sample_weight=by_weight)
    apart = np.abs(fitted(by_weight) - here.label_distributions_).max(axis=1)
    assert np.mean(apart > 0.005) < 0.01
    assert np.abs(none - here.label_distributions_).max() > 0.05


def test_weights_that_are_wrong_are_named_with_their_place(client, data, weights):
    X, y, _ = data
    estimator = DaskSSDLGA(client, n_parts=2, **QUICK)
    wrong = weights.copy()
    wrong[405] = -1
    with pytest.raises(errors.SamplesError, match="chunk 2, row 5"):
        estimator.fit(chunked(X), y, sample_weight=wrong)
    wrong[405] = np.nan
    with pytest.raises(errors.SamplesError, match="chunk 2, row 5"):
        estimator.fit(chunked(X), y, sample_weight=chunked(wrong))
    with pytest.raises(errors.SamplesError, match="1797 samples, but weights"):
        estimator.fit(chunked(X), y, sample_weight=weights[:7])
    with pytest.raises(errors.SamplesError, match="weight zero"):
        estimator.fit(chunked(X), y, sample_weight=np.zeros(len(X)))
