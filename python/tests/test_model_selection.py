"""Folds and scores that hide labels and keep rows."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import ssdl
from conftest import small
from ssdl.errors import FitWarning, KnobError, LabelsError
from ssdl.model_selection import (
    FewLabelHalvingSearch,
    FewLabelSearch,
    FewLabelSplit,
    cross_val_hidden,
    labelled_accuracy,
    make_few_label_scorer,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

NAMES = np.array(["none", "one", "two"])


@pytest.fixture
def three():
    """60 samples in three classes, every third one labelled: 8, 8 and 4."""
    y = np.repeat([0, 1, 2], [24, 24, 12])
    return np.where(np.arange(60) % 3 == 0, y, -1)


def text_of(three):
    return [None if value < 0 else str(NAMES[value]) for value in three]


def test_every_labelled_sample_is_held_out_once_and_all_rows_are_used(three):
    held = []
    for train, test in FewLabelSplit(4).split(three, three):
        assert len(train) + len(test) == len(three)
        assert not set(train) & set(test)
        assert set(np.flatnonzero(three < 0)) <= set(train)
        held.extend(test)
    assert sorted(held) == np.flatnonzero(three >= 0).tolist()


def test_folds_are_stratified(three):
    for _, test in FewLabelSplit(4).split(three, three):
        assert np.bincount(three[test]).tolist() == [2, 2, 1]


def test_hiding_keeps_all_rows_and_covers_what_is_held_out(three):
    held = []
    for hidden, held_out in FewLabelSplit(4).hide(three):
        assert hidden.dtype == three.dtype
        assert np.all(hidden[held_out] == -1)
        rest = np.setdiff1d(np.arange(len(three)), held_out)
        assert np.array_equal(hidden[rest], three[rest])
        held.extend(held_out)
    assert sorted(held) == np.flatnonzero(three >= 0).tolist()
    assert three[0] == 0, "the labels handed in are untouched"


def test_splitting_and_hiding_choose_the_same_samples(three):
    tests = [test for _, test in FewLabelSplit(4).split(three, three)]
    held = [np.sort(held_out) for _, held_out in FewLabelSplit(4).hide(three)]
    assert all(np.array_equal(left, right) for left, right in zip(tests, held, strict=True))


def test_the_same_seed_gives_the_same_folds(three):
    def folds(seed, **arguments):
        split = FewLabelSplit(4, random_state=seed, **arguments)
        return [test.tolist() for _, test in split.split(three, three)]

    assert folds(3) == folds(3)
    assert folds(3) != folds(4)
    assert folds(3, shuffle=False) == folds(4, shuffle=False)


def test_a_small_class_reduces_the_number_of_folds(three):
    split = FewLabelSplit(8)
    with pytest.warns(FitWarning, match="4 folds instead of 8: class 2 has only 4 labels"):
        folds = list(split.split(three, three))
    assert len(folds) == split.get_n_splits(three, three) == 4
    assert split.get_n_splits() == 8


def test_a_class_with_one_label_always_stays_in_training():
    y = np.array([0, 0, 0, 1, 1, 1, 2, -1, -1])
    folds = list(FewLabelSplit(3).split(y, y))
    assert len(folds) == 3
    assert all(6 in train for train, _ in folds)
    assert all(hidden[6] == 2 for hidden, _ in FewLabelSplit(3).hide(y))


@pytest.mark.parametrize("y", [[-1] * 5, [None] * 5, np.full(5, np.nan)], ids=str)
def test_no_label_at_all_is_refused(y):
    with pytest.raises(LabelsError, match="no sample is labelled.*label at least two"):
        next(FewLabelSplit().hide(y))


def test_single_labels_alone_are_refused():
    y = [0, 1, 2, -1, -1]
    with pytest.raises(LabelsError, match="one sample.*label at least two"):
        next(FewLabelSplit().split(y, y))
    with pytest.raises(LabelsError, match="one sample"):
        FewLabelSplit().get_n_splits(y, y)


@pytest.mark.parametrize("n_splits", [1, 0, 2.5, "five"])
def test_an_invalid_number_of_folds_is_refused(n_splits):
    with pytest.raises(KnobError, match="n_splits"):
        FewLabelSplit(n_splits)


def test_labels_are_needed():
    with pytest.raises(ValueError, match="requires y"):
        next(FewLabelSplit().split([[0.0]] * 4))


@pytest.mark.parametrize(
    "wrap",
    [list, np.array, pd.Series, lambda y: pd.Series(y, dtype="category"), pl.Series],
    ids=["list", "array", "pandas", "category", "polars"],
)
def test_text_is_hidden_behind_none(wrap, three):
    y = wrap(text_of(three))
    for hidden, held_out in FewLabelSplit(4).hide(y):
        assert all(value is None for value in hidden[held_out])
        assert {value for value in hidden if isinstance(value, str)} == set(NAMES)


def test_rows_of_a_series_are_counted_by_position_not_by_index(three):
    y = pd.Series(three, index=np.arange(len(three))[::-1])
    for hidden, held_out in FewLabelSplit(4).hide(y):
        assert np.all(hidden[held_out] == -1)
        assert np.all(three[held_out] >= 0)


@pytest.mark.parametrize(
    ("y", "unlabeled", "marker", "kind"),
    [
        ([3.0, 3.0, 7.0, 7.0, np.nan], None, -1, "f"),
        (np.array([3, 3, 7, 7, 99], dtype=np.uint8), 99, 99, "u"),
        (np.array([3, 3, 7, 7], dtype=np.uint8), None, None, "O"),
        ([False, False, True, True, None], None, None, "O"),
        (["no", "no", "yes", "yes", "not known"], "not known", "not known", "O"),
        (np.array(["a", "a", "b", "b"]), "unknown", "unknown", "O"),
    ],
    ids=["floats", "own number", "unsigned", "truth values", "own text", "short text"],
)
def test_the_marker_is_one_that_the_labels_can_hold(y, unlabeled, marker, kind):
    for hidden, held_out in FewLabelSplit(2, unlabeled=unlabeled).hide(y):
        assert hidden.dtype.kind == kind
        assert len(held_out) == 2
        assert all(value == marker for value in hidden[held_out])


def test_minus_one_beside_one_other_class_is_a_class(digits):
    rows = np.flatnonzero(digits["y"] < 2)
    y = np.where(digits["y"][rows] == 0, -1, 1)
    with pytest.warns(FitWarning, match="-1 is taken for a class"):
        folds = list(FewLabelSplit(3).hide(y))
    for hidden, held_out in folds:
        assert set(y[held_out]) == {-1, 1}
        assert all(value is None for value in hidden[held_out])
    assert cross_val_hidden(ssdl.Nearest(), digits["X"][rows], y, cv=3).min() > 0.9
    search = GridSearchCV(
        ssdl.Nearest(),
        {"prepare": ["scale=5"]},
        cv=FewLabelSplit(3),
        scoring=make_few_label_scorer(balanced_accuracy_score),
    )
    assert search.fit(digits["X"][rows], y).best_score_ > 0.9


def test_tools_of_scikit_learn_take_the_folds(digits):
    line = make_pipeline(MinMaxScaler(), small(ssdl.SSDLGA))
    grid = {"ssdlga__sparsity": [0.3, 3.0]}
    scorer = make_few_label_scorer(f1_score, average="macro")
    search = GridSearchCV(line, grid, cv=FewLabelSplit(3), scoring=scorer)
    search.fit(digits["X"], digits["few"])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.score(digits["new"], digits["truth"]) > 0.6
    scores = cross_val_score(line, digits["X"], digits["few"], cv=FewLabelSplit(9))
    assert len(scores) == FewLabelSplit(9).get_n_splits(digits["X"], digits["few"]) < 9


def test_accuracy_counts_labelled_samples_only():
    assert labelled_accuracy([3, -1, 7, None], [3, 3, 3, 7]) == 0.5
    assert labelled_accuracy(["a", None, "b"], ["a", "b", "b"]) == 1.0
    assert labelled_accuracy([3, 0, 7], [3, 3, 3], unlabeled=0) == 0.5
    weighed = labelled_accuracy([3, -1, 7], [3, 7, 3], sample_weight=[3, 5, 1])
    assert weighed == 0.75
    with pytest.warns(UndefinedMetricWarning, match="no sample has a label"):
        assert np.isnan(labelled_accuracy([-1, None], [3, 7]))
    with pytest.raises(ValueError, match="inconsistent"):
        labelled_accuracy([3, 7], [3])


def test_accuracy_takes_minus_one_for_a_class_only_beside_one_other():
    with pytest.warns(FitWarning, match="-1 is taken for a class"):
        assert labelled_accuracy([-1, -1, 1], [1, 1, 1]) == pytest.approx(1 / 3)
    assert labelled_accuracy([-1, -1, 1], [1, 2, 1]) == 1.0
    assert labelled_accuracy([-1, -1, 1], [1, 1, 1], unlabeled=-1) == 1.0


def test_the_scorer_skips_unlabelled_samples(digits):
    model = ssdl.Ridge().fit(digits["X"], digits["few"])
    scorer = make_few_label_scorer(balanced_accuracy_score)
    some = digits["truth"].copy()
    some[50:] = -1
    expected = scorer(model, digits["new"][:50], digits["truth"][:50])
    assert scorer(model, digits["new"], some) == expected
    frame = pd.DataFrame(digits["new"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert scorer(model, frame, pd.Series(some)) == expected
    with pytest.warns(UndefinedMetricWarning, match="no sample has a label"):
        assert np.isnan(scorer(model, digits["new"], np.full(200, -1)))


def test_the_scorer_reads_probabilities_losses_weights_and_markers(digits):
    names = np.array([f"digit {digit}" for digit in range(10)] + ["?"])
    model = ssdl.Ridge(unlabeled="?").fit(digits["X"], names[digits["few"]])
    some = digits["truth"].copy()
    some[50:] = -1
    scorer = make_few_label_scorer(
        log_loss, response_method="predict_proba", greater_is_better=False, labels=names[:10]
    )
    probabilities = model.predict_proba(digits["new"][:50])
    expected = -log_loss(names[some[:50]], probabilities, labels=names[:10])
    assert scorer(model, digits["new"], names[some]) == pytest.approx(expected)
    weights = np.arange(200)
    assert scorer(model, digits["new"], names[some], sample_weight=weights) != expected


def test_the_scorer_is_pickled_and_copied(digits):
    scorer = make_few_label_scorer(f1_score, average="macro")
    model = ssdl.Ridge().fit(digits["X"], digits["few"])
    expected = scorer(model, digits["new"], digits["truth"])
    for twin in (pickle.loads(pickle.dumps(scorer)), clone(scorer, safe=False)):
        assert twin(model, digits["new"], digits["truth"]) == expected


def test_hidden_labels_score_every_class(estimator, digits):
    scores = cross_val_hidden(estimator, digits["X"], digits["few"], cv=3)
    assert scores.shape == (3,)
    assert scores.mean() > 0.5


def test_hidden_labels_score_the_transduction(digits):
    split = FewLabelSplit(3, random_state=1)
    expected = []
    for hidden, held_out in split.hide(digits["few"]):
        model = small(ssdl.SSDLGA).fit(digits["X"], hidden)
        expected.append(np.mean(model.transduction_[held_out] == digits["few"][held_out]))
    scores = cross_val_hidden(small(ssdl.SSDLGA), digits["X"], digits["few"], cv=split)
    np.testing.assert_allclose(scores, expected)
    line = make_pipeline(MinMaxScaler(feature_range=(0, 16)), small(ssdl.SSDLGA))
    assert cross_val_hidden(line, digits["X"], digits["few"], cv=split).mean() > 0.6


def test_folds_are_scored_in_parallel(digits):
    one = cross_val_hidden(ssdl.Ridge(), digits["X"], digits["few"], cv=3)
    two = cross_val_hidden(ssdl.Ridge(), digits["X"], digits["few"], cv=3, n_jobs=2)
    np.testing.assert_array_equal(one, two)


def test_hidden_labels_score_other_estimators(digits):
    other = SelfTrainingClassifier(LogisticRegression(max_iter=300), threshold=0.99, max_iter=2)
    scores = cross_val_hidden(other, digits["X"] / 16, digits["few"], cv=3)
    assert scores.mean() > 0.6, "rows that it left unlabelled are predicted"


def test_hidden_labels_are_scored_with_another_metric_and_marker(digits):
    names = np.array([f"digit {digit}" for digit in range(10)] + ["?"])
    y = pd.Series(names[digits["few"]])

    def harsh(truth, predicted):
        return -float(np.sum(truth != predicted))

    scores = cross_val_hidden(ssdl.Ridge(unlabeled="?"), digits["X"], y, cv=3, metric=harsh)
    assert np.all(scores <= 0)
    assert np.all(scores == np.round(scores))


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(max_iter=500), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=["alone", "pipeline"],
)
def test_estimators_that_take_no_unlabelled_samples_get_the_labelled_ones(estimator, digits):
    X, few = digits["X"], digits["few"]
    weights = {"sample_weight": np.ones(len(X))} if not hasattr(estimator, "steps") else None
    assert cross_val_hidden(estimator, X, few, cv=3, fit_params=weights).mean() > 0.6
    names = np.array([None if label < 0 else f"digit {label}" for label in few], dtype=object)
    assert cross_val_hidden(estimator, X, names, cv=3).mean() > 0.6
    parameter = "C" if weights else "logisticregression__C"
    search = FewLabelSearch(estimator, {parameter: [1e-6, 1.0]}, cv=3).fit(X, few)
    assert -1 not in search.best_estimator_.classes_
    assert search.score(digits["new"], digits["truth"]) > 0.6


@pytest.mark.parametrize(
    "estimator", [GaussianNB(var_smoothing=0.01), ssdl.Ridge()], ids=["others", "ours"]
)
@pytest.mark.parametrize("search", [FewLabelSearch, FewLabelHalvingSearch])
def test_a_marker_of_the_folds_holds_for_every_fit(search, estimator, digits):
    """A marker that only the folds know is no class to the estimators, and no label to scores."""
    marked = np.where(digits["few"] < 0, 99, digits["few"])
    folds = FewLabelSplit(2, unlabeled=99)
    wanted = cross_val_hidden(estimator, digits["X"], digits["few"], cv=2)
    found = cross_val_hidden(estimator, digits["X"], marked, cv=folds)
    np.testing.assert_array_equal(found, wanted)
    tuned = search(estimator, {}, cv=folds).fit(digits["X"], marked)
    assert tuned.classes_.tolist() == list(range(10))
    assert tuned.best_score_ == pytest.approx(wanted.mean())
    known = digits["few"] >= 0
    labelled = tuned.best_estimator_.score(digits["X"][known], digits["few"][known])
    assert tuned.score(digits["X"], marked) == labelled


def test_folds_without_a_marker_take_that_of_the_estimator(digits):
    marked = np.where(digits["few"] < 0, 99, digits["few"])
    folds = FewLabelSplit(2)
    wanted = cross_val_hidden(ssdl.Ridge(), digits["X"], digits["few"], cv=folds)
    found = cross_val_hidden(ssdl.Ridge(unlabeled=99), digits["X"], marked, cv=folds)
    np.testing.assert_array_equal(found, wanted)
    assert folds.unlabeled is None
