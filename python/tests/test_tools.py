"""scikit-learn's tools around the estimators."""

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_backend
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import ssdl
from conftest import small

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def test_clones_have_the_parameters_and_nothing_else(estimator, digits):
    estimator.fit(digits["X"], digits["few"])
    twin = clone(estimator)
    assert twin.get_params() == estimator.get_params()
    assert not hasattr(twin, "classes_")


def test_pipelines_end_in_every_class(estimator, digits):
    line = make_pipeline(MinMaxScaler(), estimator).fit(digits["X"], digits["few"])
    assert line.score(digits["new"], digits["truth"]) > 0.6


def test_codes_feed_another_classifier(coder, digits):
    line = make_pipeline(coder, LogisticRegression(max_iter=500)).fit(digits["X"], digits["y"])
    assert line.score(digits["new"], digits["truth"]) > 0.6
    assert len(line[:-1].get_feature_names_out()) == len(line[0].components_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_is_searched_with_few_labels(n_jobs, digits):
    search = GridSearchCV(small(ssdl.SSDLGA), {"sparsity": [0.1, 0.5]}, cv=3, n_jobs=n_jobs)
    search.fit(digits["X"], digits["few"])
    assert np.all(search.cv_results_["mean_test_score"] > 0.4)
    assert search.score(digits["new"], digits["truth"]) > 0.6


def test_cross_validation_with_all_labels(estimator, digits):
    assert cross_val_score(estimator, digits["X"], digits["y"], cv=3).mean() > 0.6


def test_probabilities_are_calibrated(digits):
    model = CalibratedClassifierCV(ssdl.LinearSVM(), cv=3).fit(digits["X"], digits["y"])
    np.testing.assert_allclose(model.predict_proba(digits["new"]).sum(axis=1), 1)


def test_printing_an_estimator_shows_what_was_changed():
    assert repr(ssdl.SSDLGA(sparsity=0.1)) == "SSDLGA(sparsity=0.1)"
    assert "SSDLGA" in ssdl.SSDLGA()._repr_html_()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_every_backend_of_joblib_gives_the_same(backend, digits, same_bits):
    def accuracy():
        models = (small(ssdl.SSDLGA, random_state=seed) for seed in range(2))
        work = (delayed(cross_val_score)(each, digits["X"], digits["y"], cv=2) for each in models)
        return Parallel(n_jobs=2)(work)

    with parallel_backend(backend):
        scores = accuracy()
    with parallel_backend("sequential"):
        same_bits(scores, accuracy())
