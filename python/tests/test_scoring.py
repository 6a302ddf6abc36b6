"""Scores of hidden labels by scikit-learn's names, and the searches that use them."""

import doctest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    get_scorer_names,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelPropagation, SelfTrainingClassifier

import ssdl
from ssdl import LabelSpreading, Nearest, Ridge
from ssdl._scoring import ALL_CLASSES
from ssdl.model_selection import (
    FewLabelHalvingSearch,
    FewLabelRandomSearch,
    FewLabelSearch,
    FewLabelSplit,
    cross_val_hidden,
    make_few_label_scorer,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FOLDS = FewLabelSplit(3)


@pytest.fixture
def two(digits):
    """Two classes, as text, with few labels."""
    y = np.where(digits["y"] < 5, "low", "high").astype(object)
    few = y.copy()
    few[60:] = None
    return digits["X"], few


def by_hand(estimator, X, few, score):
    """The score of each fold, written out."""
    found = []
    for hidden, rows in FOLDS.hide(few):
        model = clone(estimator).fit(X, hidden)
        found.append(score(few[rows], model, rows))
    return found


def test_a_name_scores_the_predictions_of_the_fit(digits):
    X, few = digits["X"], digits["few"]
    found = cross_val_hidden(Ridge(), X, few, cv=FOLDS, scoring="f1_macro")
    wanted = by_hand(
        Ridge(), X, few, lambda y, m, rows: f1_score(y, m.transduction_[rows], average="macro")
    )
    np.testing.assert_allclose(found, wanted)


def test_probabilities_are_those_of_the_fit_too(digits):
    X, few = digits["X"], digits["few"]
    found = cross_val_hidden(LabelSpreading(), X, few, cv=FOLDS, scoring="neg_log_loss")
    wanted = by_hand(
        LabelSpreading(),
        X,
        few,
        lambda y, m, rows: -log_loss(y, m.label_distributions_[rows], labels=m.classes_),
    )
    np.testing.assert_allclose(found, wanted)


def test_several_scores_take_one_fit_each(digits):
    names = ["accuracy", "neg_log_loss", "roc_auc_ovr"]
    found = cross_val_hidden(Ridge(), digits["X"], digits["few"], cv=FOLDS, scoring=names)
    assert list(found) == names
    for name in names:
        alone = cross_val_hidden(Ridge(), digits["X"], digits["few"], cv=FOLDS, scoring=name)
        np.testing.assert_array_equal(found[name], alone)
    own = {"mine": make_scorer(accuracy_score), "loss": "neg_log_loss"}
    again = cross_val_hidden(Ridge(), digits["X"], digits["few"], cv=FOLDS, scoring=own)
    np.testing.assert_array_equal(again["mine"], found["accuracy"])


def test_metric_is_another_way_to_write_it(digits):
    both = [
        cross_val_hidden(Nearest(), digits["X"], digits["few"], cv=FOLDS, **how)
        for how in ({}, {"metric": accuracy_score}, {"scoring": "accuracy"})
    ]
    np.testing.assert_array_equal(both[0], both[1])
    np.testing.assert_array_equal(both[0], both[2])
    with pytest.raises(ValueError, match="both given"):
        cross_val_hidden(Nearest(), [[0]], [0], metric=accuracy_score, scoring="accuracy")
    with pytest.raises(ValueError, match="at least one"):
        cross_val_hidden(Nearest(), [[0]], [0], scoring=[])


@pytest.mark.parametrize("name", sorted(ALL_CLASSES))
def test_our_scorers_agree_with_those_of_scikit_learn_where_all_classes_are_seen(name, digits, two):
    X, y = digits["X"], digits["y"]
    if name not in get_scorer_names():
        pytest.skip("this version of scikit-learn has no such name")
    if name == "roc_auc":
        X, y = two[0], np.where(digits["y"] < 5, "low", "high")
    elif name == "neg_brier_score":
        y = (digits["y"] > 4).astype(int)
    model = LogisticRegression(max_iter=300).fit(X[:100], y[:100])
    ours = make_few_label_scorer(name)(model, X[100:], y[100:])
    assert ours == pytest.approx(get_scorer(name)(model, X[100:], y[100:]), rel=1e-6)


@pytest.mark.parametrize("name", sorted(set(ALL_CLASSES) - {"roc_auc"}))
@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
def test_a_class_with_one_label_is_no_obstacle(name, digits):
    few = digits["few"].copy()
    few[np.flatnonzero(few == 3)[1:]] = -1
    assert np.sum(few == 3) == 1
    scores = cross_val_hidden(Ridge(), digits["X"], few, cv=2, scoring=name)
    assert np.isfinite(scores).all()


def test_the_area_under_the_curve_of_two_classes_in_words(two):
    X, few = two
    found = cross_val_hidden(Ridge(), X, few, cv=FOLDS, scoring="roc_auc")
    wanted = by_hand(
        Ridge(),
        X,
        few,
        lambda y, m, rows: roc_auc_score(y == m.classes_[1], m.label_distributions_[rows, 1]),
    )
    np.testing.assert_allclose(found, wanted)
    assert found.mean() > 0.6


def test_the_area_under_the_curve_of_many_classes_has_its_own_names(digits):
    with pytest.raises(ValueError, match="roc_auc_ovr"):
        cross_val_hidden(Ridge(), digits["X"], digits["few"], cv=2, scoring="roc_auc")


@pytest.mark.parametrize(
    "estimator",
    [
        LabelPropagation(kernel="knn", n_neighbors=8, max_iter=2000),
        SelfTrainingClassifier(LogisticRegression(max_iter=500)),
        make_pipeline(ssdl.Preparation("scale=5"), Ridge()),
    ],
    ids=lambda each: type(each).__name__,
)
def test_other_estimators_are_scored_by_probabilities(estimator, digits):
    with np.errstate(all="ignore"):
        found = cross_val_hidden(
            estimator,
            digits["X"],
            digits["few"],
            cv=2,
            scoring=["accuracy", "neg_log_loss", "roc_auc_ovr"],
        )
    assert found["accuracy"].mean() > 0.5
    assert found["roc_auc_ovr"].mean() > 0.7


# ---- Searches ------------------------------------------------------------------------------------

GRID = {"n_neighbors": [5, 10], "spreading": [0.9, 0.3]}


def test_a_search_by_several_scores_names_the_one_that_decides(digits):
    X, few = digits["X"], digits["few"]
    names = ["accuracy", "neg_log_loss"]
    search = FewLabelSearch(LabelSpreading(), GRID, cv=FOLDS, scoring=names, refit="neg_log_loss")
    search.fit(X, few)
    table = search.cv_results_
    assert search.best_score_ == table["mean_test_neg_log_loss"].max()
    assert {f"split{fold}_test_{name}" for fold in range(3) for name in names} <= set(table)
    best = clone(LabelSpreading()).set_params(**search.best_params_)
    alone = cross_val_hidden(best, X, few, cv=FOLDS, scoring=names)
    assert alone["accuracy"].mean() == pytest.approx(
        table["mean_test_accuracy"][search.best_index_]
    )
    wanted = -log_loss(digits["truth"], search.predict_proba(digits["new"]))
    assert search.score(digits["new"], digits["truth"]) == pytest.approx(wanted)


def test_several_scores_without_a_choice_only_compare(digits):
    names = ["accuracy", "neg_log_loss"]
    search = FewLabelSearch(LabelSpreading(), GRID, cv=2, scoring=names, refit=False)
    search.fit(digits["X"], digits["few"])
    assert not hasattr(search, "best_params_")
    assert len(search.cv_results_["mean_test_accuracy"]) == 4
    for refit in (True, "recall"):
        with pytest.raises(ValueError, match="names the one that decides"):
            search.set_params(refit=refit).fit(digits["X"], digits["few"])


def test_a_random_search_draws_as_many_as_asked_for(digits):
    def tried(seed):
        search = FewLabelRandomSearch(LabelSpreading(), GRID, n_iter=2, cv=2, random_state=seed)
        return search.fit(digits["X"], digits["few"])

    search = tried(0)
    assert len(search.cv_results_["params"]) == 2
    assert search.cv_results_["params"] == tried(0).cv_results_["params"]
    assert search.best_params_ in search.cv_results_["params"]
    assert search.score(digits["new"], digits["truth"]) > 0.6
    assert any(
        tried(0).cv_results_["params"] != tried(seed).cv_results_["params"] for seed in (1, 2)
    )


@pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")
def test_a_halving_search_keeps_every_label_and_adds_samples(digits, monkeypatch):
    seen = []
    fit = LabelSpreading.fit

    def noted(self, X, y, **more):
        seen.append((len(X), int(np.sum(y >= 0))))
        return fit(self, X, y, **more)

    monkeypatch.setattr(LabelSpreading, "fit", noted)
    values = {"n_neighbors": [3, 5, 10], "spreading": [0.9, 0.5, 0.1]}
    search = FewLabelHalvingSearch(LabelSpreading(), values, cv=2).fit(digits["X"], digits["few"])
    table = search.cv_results_
    assert np.bincount(table["iter"]).tolist() == [9, 3, 1]
    assert search.n_resources_ == [33, 100, 300]
    # Sixty labels are more than the first part of the samples.
    assert sorted({size for size, _ in seen}) == [60, 100, 300]
    assert {labels for size, labels in seen[:-1]} == {30}
    assert seen[-1] == (300, 60)
    last = np.flatnonzero(table["iter"] == 2)
    assert search.best_index_ in last
    rounds = [table["mean_test_score"][table["iter"] == each] for each in (0, 1)]
    kept = [table["params"][row] for row in np.flatnonzero(table["iter"] == 1)]
    first = np.sort(rounds[0])[::-1]
    for row in np.flatnonzero(table["iter"] == 0):
        if table["params"][row] in kept:
            assert table["mean_test_score"][row] >= first[2]


def test_a_halving_search_may_lengthen_the_fits_instead(digits):
    values = {"sparsity": [0.1, 0.3, 1.0]}
    model = ssdl.USSDL(n_atoms=20, max_iter=6, tol=1.0)
    search = FewLabelHalvingSearch(model, values, cv=2, resource="max_iter")
    search.fit(digits["X"], digits["few"])
    assert search.n_resources_ == [2, 6]
    assert search.best_params_["max_iter"] == 6
    with pytest.raises(ValueError, match="no parameter with a whole number"):
        search.set_params(resource="sparsity").fit(digits["X"], digits["few"])
    with pytest.raises(ValueError, match="does not fit a part"):
        FewLabelHalvingSearch(LabelSpreading(), GRID, cv=2).fit(
            digits["X"], digits["few"], graph=np.eye(300)
        )


def test_a_halving_search_draws_candidates_on_request(digits):
    search = FewLabelHalvingSearch(LabelSpreading(), GRID, n_candidates=3, cv=2)
    search.fit(digits["X"], digits["few"])
    assert np.bincount(search.cv_results_["iter"]).tolist() == [3, 1]


@pytest.mark.parametrize("each", [FewLabelRandomSearch, FewLabelHalvingSearch])
def test_the_examples_run(each):
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(each, each.__name__):
        runner.run(test)
    assert runner.tries > 5
    assert runner.failures == 0
