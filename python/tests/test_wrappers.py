"""Calibration, voting and self-training around any classifier, and the traps they avoid."""

import doctest

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.semi_supervised import LabelPropagation
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import ssdl
from ssdl import wrappers
from ssdl.errors import KnobError
from ssdl.model_selection import FewLabelSearch, FewLabelSplit, cross_val_hidden
from ssdl.wrappers import HiddenCalibration, SelfTrainingAround, SoftVoting, takes_unlabeled

pytestmark = pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning")

BAYES = GaussianNB(var_smoothing=0.01)


def loss(model, digits):
    return log_loss(digits["truth"], model.predict_proba(digits["new"]))


def test_the_traps_of_scikit_learn_are_there(digits):
    calibrated = CalibratedClassifierCV(BAYES, cv=2).fit(digits["X"], digits["few"])
    assert -1 in calibrated.classes_
    members = [("line", LogisticRegression(max_iter=5000)), ("near", ssdl.Nearest())]
    with np.errstate(all="ignore"):
        voted = VotingClassifier(members, voting="soft").fit(digits["X"], digits["few"])
    ours = SoftVoting(members).fit(digits["X"], digits["few"])
    assert voted.score(digits["new"], digits["truth"]) < 0.5
    assert ours.score(digits["new"], digits["truth"]) > 0.7


@pytest.mark.parametrize("method", ["temperature", "sigmoid"])
@pytest.mark.parametrize("estimator", [BAYES, LinearSVC(), ssdl.Ridge(calibrate=False)])
def test_calibration_lowers_the_loss(method, estimator, digits):
    model = HiddenCalibration(estimator, method=method, cv=3).fit(digits["X"], digits["few"])
    np.testing.assert_array_equal(model.classes_, np.arange(10))
    np.testing.assert_allclose(model.predict_proba(digits["new"]).sum(axis=1), 1.0)
    # Knowing nothing would cost the logarithm of ten.
    assert loss(model, digits) < np.log(10)
    if hasattr(estimator, "predict_proba") and method == "temperature":
        assert loss(model, digits) < loss(model.estimator_, digits)
        np.testing.assert_array_equal(
            model.predict(digits["new"]), model.estimator_.predict(digits["new"])
        )


@pytest.mark.parametrize(
    "around",
    [
        BaggingClassifier(ssdl.Ridge(calibrate=False), n_estimators=3, random_state=0),
        OneVsRestClassifier(ssdl.Ridge(calibrate=False)),
        CalibratedClassifierCV(ssdl.Ridge(calibrate=False), cv=2),
    ],
    ids=lambda around: type(around).__name__,
)
def test_ensembles_that_renumber_classes_get_the_labelled_samples(around, digits):
    assert not takes_unlabeled(around)
    few = np.where(digits["few"] < 3, digits["few"], -1)
    assert cross_val_hidden(around, digits["X"], few, cv=2).mean() > 0.6
    tuned = FewLabelSearch(around, {}, cv=2).fit(digits["X"], few)
    assert tuned.classes_.tolist() == [0, 1, 2]
    assert HiddenCalibration(around, cv=2).fit(digits["X"], few).estimator_.classes_.size == 3


def test_the_temperature_is_the_best_one(digits):
    model = HiddenCalibration(BAYES, cv=3).fit(digits["X"], digits["few"])

    def hidden_loss(temperature):
        found = []
        for hidden, rows in FewLabelSplit(3).hide(digits["few"]):
            known = hidden >= 0
            fitted = clone(BAYES).fit(digits["X"][known], hidden[known])
            shares = np.clip(fitted.predict_proba(digits["X"][rows]), 1e-12, None)
            shares = shares ** (1 / temperature)
            shares /= shares.sum(axis=1, keepdims=True)
            found.append(log_loss(digits["few"][rows], shares, labels=np.arange(10)))
        return np.mean(found)

    best = hidden_loss(model.temperature_)
    assert best < hidden_loss(0.7 * model.temperature_)
    assert best < hidden_loss(1.4 * model.temperature_)


def test_unlabelled_samples_reach_those_that_learn_from_them(digits, monkeypatch):
    seen = []
    fit = ssdl.Ridge.fit
    monkeypatch.setattr(
        ssdl.Ridge, "fit", lambda self, X, y: (seen.append(len(X)), fit(self, X, y))[1]
    )
    HiddenCalibration(ssdl.Ridge(calibrate=False), cv=2).fit(digits["X"], digits["few"])
    assert seen == [300, 300, 300]
    assert takes_unlabeled(ssdl.SSDLGA())
    assert takes_unlabeled(LabelPropagation())
    assert takes_unlabeled(FewLabelSearch(ssdl.Ridge(), {}))
    assert takes_unlabeled(GridSearchCV(ssdl.Ridge(), {}))
    assert takes_unlabeled(HiddenCalibration(ssdl.Ridge()))
    assert not takes_unlabeled(BAYES)


@pytest.mark.parametrize(
    "model",
    [
        HiddenCalibration(BAYES, cv=2),
        SoftVoting([("one", BAYES), ("two", ssdl.Nearest())], weights=[1, 2]),
        SelfTrainingAround(RandomForestClassifier(30, random_state=0), threshold=0.6),
    ],
    ids=lambda model: type(model).__name__,
)
def test_labels_are_text_with_gaps_and_frames_are_taken(model, digits):
    names = np.array("zero one two three four five six seven eight nine".split(), dtype=object)
    few = pd.Series(np.where(digits["few"] < 0, None, names[digits["few"]]))
    X = pd.DataFrame(digits["X"], columns=[f"pixel{number}" for number in range(64)])
    new = pd.DataFrame(digits["new"], columns=X.columns)
    model = model.fit(X, few)
    assert set(model.classes_) == set(names)
    assert model.score(new, names[digits["truth"]]) > 0.6
    assert list(model.feature_names_in_) == list(X.columns)
    marked = clone(model).set_params(unlabeled="?").fit(X, few.fillna("?"))
    np.testing.assert_allclose(marked.predict_proba(new), model.predict_proba(new), atol=1e-8)


def test_self_training_says_what_it_labelled_and_when(digits):
    forest = RandomForestClassifier(30, random_state=0)
    model = SelfTrainingAround(forest, threshold=0.6, max_rounds=50).fit(digits["X"], digits["few"])
    given = digits["few"] >= 0
    assert (model.labeled_round_[given] == 0).all()
    assert model.labeled_round_.max() == model.n_iter_ >= 2
    assert model.termination_condition_ == "converged"
    np.testing.assert_array_equal(model.transduction_[given], digits["few"][given])
    assert np.mean(model.transduction_ == digits["y"]) > 0.7
    short = SelfTrainingAround(forest, threshold=0.6, max_rounds=1).fit(digits["X"], digits["few"])
    assert short.n_iter_ == 1
    assert short.termination_condition_ == "limit of rounds"
    none = SelfTrainingAround(forest, threshold=1.0, max_rounds=0).fit(digits["X"], digits["few"])
    assert none.n_iter_ == 0


def test_searches_and_scores_take_them(digits):
    model = HiddenCalibration(BAYES, cv=2)
    scores = cross_val_hidden(model, digits["X"], digits["few"], cv=2, scoring="neg_log_loss")
    assert scores.shape == (2,)
    search = FewLabelSearch(model, {"method": ["temperature", "sigmoid"]}, cv=2)
    assert search.fit(digits["X"], digits["few"]).score(digits["new"], digits["truth"]) > 0.6


@pytest.mark.parametrize(
    "model",
    [
        HiddenCalibration(BAYES, cv=2, unlabeled="?"),
        HiddenCalibration(BAYES, cv=FewLabelSplit(2, unlabeled="?")),
        SelfTrainingAround(BAYES, unlabeled="?"),
        SelfTrainingAround(ssdl.Ridge(unlabeled="?"), max_rounds=2),
        SoftVoting([("one", BAYES)], unlabeled="?"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_marker_of_the_wrapper_is_the_one_that_counts(model, digits):
    names = np.array("zero one two three four five six seven eight nine".split(), dtype=object)
    few = np.where(digits["few"] < 0, "?", names[digits["few"]])
    found = cross_val_hidden(model, digits["X"], few, cv=2)
    plain = clone(model).set_params(unlabeled=None)
    if isinstance(model.get_params().get("cv"), FewLabelSplit):
        plain.set_params(cv=2)
    elif isinstance(model.get_params().get("estimator"), ssdl.Ridge):
        plain.set_params(estimator=ssdl.Ridge())
    none = np.where(few == "?", None, few)
    np.testing.assert_array_equal(found, cross_val_hidden(plain, digits["X"], none, cv=2))
    fitted = clone(model).fit(digits["X"], few)
    assert set(fitted.classes_) == set(names)
    assert fitted.score(digits["X"][:60], few[:60]) == fitted.score(digits["X"], few)
    outer = HiddenCalibration(model, cv=2).fit(digits["X"], few)
    assert set(outer.classes_) == set(names)
    assert outer.score(digits["new"], names[digits["truth"]]) > 0.6


def test_members_have_parameters_by_name(digits):
    model = SoftVoting([("bayes", GaussianNB()), ("near", ssdl.Nearest())])
    model.set_params(bayes__var_smoothing=0.5, weights=[1, 3])
    assert model.estimators[0][1].var_smoothing == 0.5
    assert model.get_params()["bayes__var_smoothing"] == 0.5
    assert model.get_params()["near"] is model.estimators[1][1]
    assert set(model.get_params(deep=False)) == {"estimators", "weights", "unlabeled"}
    with pytest.raises(ValueError, match="Invalid parameter 'other'"):
        model.set_params(other__C=1)
    pairs = SoftVoting((("bayes", GaussianNB()),)).set_params(bayes=ssdl.Nearest())
    assert isinstance(pairs.estimators[0][1], ssdl.Nearest)
    grid = {"bayes__var_smoothing": [1e-9, 0.01], "near": [ssdl.Nearest(), ssdl.Ridge()]}
    search = FewLabelSearch(model, grid, cv=2).fit(digits["X"], digits["few"])
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    assert model.estimators[0][1].var_smoothing == 0.5, "a search leaves its estimator as it is"


@pytest.mark.parametrize(
    "estimators, words",
    [
        ([GaussianNB()], r"pairs of a name and a classifier, .* got GaussianNB\(\)"),
        ([("bayes", "drop")], "pairs of a name and a classifier"),
        ([("bayes", GaussianNB)], "pairs of a name and a classifier"),
        ([(1, GaussianNB())], "pairs of a name and a classifier"),
        ([("bayes", GaussianNB()), ("bayes", GaussianNB())], "not unique"),
        ([("weights", GaussianNB())], "conflict"),
        ([("a__b", GaussianNB())], "must not contain __"),
    ],
)
def test_members_that_are_no_pairs_are_named(estimators, words, digits):
    model = SoftVoting(estimators)
    assert "SoftVoting" in model._repr_html_()
    with pytest.raises(KnobError, match=f"estimators: .*{words}"):
        model.fit(digits["X"], digits["few"])


def test_mistakes_are_named(digits):
    with pytest.raises(ValueError, match="there is none"):
        SoftVoting([]).fit(digits["X"], digits["few"])
    with pytest.raises(ValueError, match="a classifier needs two"):
        SoftVoting([("a", BAYES)]).fit(digits["X"], np.full(300, -1))
    few = digits["few"].copy()
    few[np.flatnonzero(few == 3)[1:]] = -1
    with pytest.raises(ValueError, match="class 3 has one label"):
        HiddenCalibration(BAYES, method="sigmoid", cv=2).fit(digits["X"], few)


@pytest.mark.parametrize("name", ["HiddenCalibration", "SoftVoting", "SelfTrainingAround"])
def test_the_examples_run(name):
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(getattr(wrappers, name), name):
        runner.run(test)
    assert runner.tries > 5
    assert runner.failures == 0


@parametrize_with_checks(
    [
        HiddenCalibration(LogisticRegression(), cv=2),
        SelfTrainingAround(LogisticRegression()),
        SoftVoting([("line", LogisticRegression()), ("near", ssdl.Nearest())]),
    ]
)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
