"""Searches that hide labels: the settings of an estimator, chosen by the labels there are."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import ssdl
from conftest import small
from ssdl.model_selection import (
    FewLabelSearch,
    FewLabelSplit,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_finds_the_better_setting(n_jobs, digits):
    search = FewLabelSearch(small(ssdl.SSDLGA), {"n_atoms": [2, 30]}, cv=3, n_jobs=n_jobs)
    assert search.fit(digits["X"], digits["few"]) is search
    assert search.best_params_ == {"n_atoms": 30}
    assert search.best_index_ == 1
    assert search.n_splits_ == 3
    assert search.refit_time_ > 0
    results = search.cv_results_
    assert results["params"] == [{"n_atoms": 2}, {"n_atoms": 30}]
    assert results["param_n_atoms"].tolist() == [2, 30]
    assert results["rank_test_score"].tolist() == [2, 1]
    splits = np.column_stack([results[f"split{index}_test_score"] for index in range(3)])
    np.testing.assert_allclose(results["mean_test_score"], splits.mean(axis=1))
    np.testing.assert_allclose(results["std_test_score"], splits.std(axis=1))
    assert search.best_score_ == results["mean_test_score"][1]
    assert np.all(results["mean_fit_time"] > 0)
    pd.DataFrame(results)


def test_a_search_behaves_like_its_best_estimator(digits):
    search = FewLabelSearch(small(ssdl.SSDLGA), {"sparsity": [0.3]}, cv=2)
    assert hasattr(search, "predict_proba")
    assert not hasattr(search, "classes_")
    with pytest.raises(NotFittedError):
        search.predict(digits["new"])
    search.fit(digits["X"], digits["few"])
    model = search.best_estimator_
    assert is_classifier(search)
    for name in ["predict", "predict_proba", "decision_function", "transform"]:
        found, expected = getattr(search, name)(digits["new"]), getattr(model, name)(digits["new"])
        np.testing.assert_array_equal(found, expected)
    assert search.inverse_transform(search.codes_).shape == (300, 64)
    assert search.score(digits["new"], digits["truth"]) > 0.6
    np.testing.assert_array_equal(search.transduction_, model.transduction_)
    np.testing.assert_array_equal(search.classes_, np.arange(10))
    assert search.n_features_in_ == 64
    assert not hasattr(search, "nothing_")
    assert not hasattr(FewLabelSearch(ssdl.Ridge(), {}), "transform")


def test_searches_are_cloned_and_pickled(digits):
    split = FewLabelSplit(2, random_state=5)
    search = FewLabelSearch(ssdl.Ridge(), {"ridge": [1.0, 0.1]}, cv=split, metric=f1_macro)
    search.fit(digits["X"], digits["few"])
    twin = clone(search)
    assert not hasattr(twin, "best_params_")
    assert repr(twin.cv) == repr(split)
    assert twin.fit(digits["X"], digits["few"]).best_score_ == search.best_score_
    back = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(back.predict(digits["new"]), search.predict(digits["new"]))
    np.testing.assert_array_equal(back.transduction_, search.transduction_)


def f1_macro(truth, predicted):
    return f1_score(truth, predicted, average="macro")


def test_a_search_without_refit_only_finds_the_best(digits):
    search = FewLabelSearch(ssdl.Ridge(), {"ridge": [1.0, 0.1]}, cv=2, refit=False)
    search.fit(digits["X"], digits["few"])
    assert search.best_params_["ridge"] in (1.0, 0.1)
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "classes_")
    with pytest.raises(AttributeError, match="predict"):
        search.predict(digits["new"])


def test_the_first_of_equals_wins(digits):
    search = FewLabelSearch(ssdl.Nearest(), {"n_jobs": [None, 1]}, cv=2)
    search.fit(digits["X"], digits["few"])
    assert search.cv_results_["rank_test_score"].tolist() == [1, 1]
    assert search.best_index_ == 0


def test_a_grid_may_have_parts_and_steps(digits):
    line = make_pipeline(MinMaxScaler(), ssdl.Ridge())
    grid = [
        {"minmaxscaler": ["passthrough"]},
        {"ridge__ridge": [1.0], "minmaxscaler__clip": [True]},
    ]
    search = FewLabelSearch(line, grid, cv=2).fit(digits["X"], digits["few"])
    assert search.cv_results_["param_ridge__ridge"].mask.tolist() == [True, False]
    assert search.score(digits["new"], digits["truth"]) > 0.6


def test_a_candidate_that_fails_is_named_and_last(digits):
    search = FewLabelSearch(ssdl.Ridge(), {"prepare": ["pca=9999", "scale=5"]}, cv=2)
    with pytest.warns(FitFailedWarning, match=r"pca=9999.* failed in 2 of 2 folds.*nan"):
        search.fit(digits["X"], digits["few"])
    assert search.best_params_ == {"prepare": "scale=5"}
    assert np.isnan(search.cv_results_["mean_test_score"][0])
    assert search.cv_results_["rank_test_score"].tolist() == [2, 1]


def test_the_error_itself_is_raised_if_every_candidate_fails(digits):
    search = FewLabelSearch(ssdl.Ridge(), {"prepare": ["nonsense", "rubbish"]}, cv=2)
    with pytest.raises(ssdl.errors.UnknownNameError, match="nonsense"):
        search.fit(digits["X"], digits["few"])
    search = FewLabelSearch(ssdl.Ridge(), {}, cv=2, metric=lambda truth, predicted: np.nan)
    with pytest.raises(ValueError, match="every candidate scored nan"):
        search.fit(digits["X"], digits["few"])


def test_empty_grids_and_unknown_parameters_are_refused(digits):
    with pytest.raises(ValueError, match="no candidate"):
        FewLabelSearch(ssdl.Ridge(), []).fit(digits["X"], digits["few"])
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        FewLabelSearch(ssdl.Ridge(), {"nonsense": [1]}).fit(digits["X"], digits["few"])
    with pytest.raises(ValueError, match="'cv' parameter"):
        FewLabelSearch(ssdl.Ridge(), {}, cv=1).fit(digits["X"], digits["few"])
    with pytest.raises(ValueError, match="'metric' parameter"):
        FewLabelSearch(ssdl.Ridge(), {}, metric="f1").fit(digits["X"], digits["few"])


def test_a_search_prints_its_progress_on_request(digits, capsys):
    search = FewLabelSearch(ssdl.Ridge(), {"ridge": [1.0, 0.1]}, cv=2)
    search.fit(digits["X"], digits["few"])
    assert capsys.readouterr().out == ""
    search.set_params(verbose=1).fit(digits["X"], digits["few"])
    assert len(capsys.readouterr().out.splitlines()) == 2
    search.set_params(verbose=2).fit(digits["X"], digits["few"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert "{'ridge': 1.0}, fold 2 of 2: 0." in lines[2]


@parametrize_with_checks(
    [
        FewLabelSearch(ssdl.Ridge(), {"ridge": [1.0, 0.1]}, cv=2),
        FewLabelSearch(small(ssdl.SSDLGA), {"sparsity": [0.3, 0.1]}, cv=2),
    ],
    expected_failed_checks=lambda _: {
        "check_classifiers_one_label_sample_weights": "labels are hidden before weights are read"
    },
)
def test_searches_pass_every_check_of_scikit_learn(estimator, check):
    check(estimator)
