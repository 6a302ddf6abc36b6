"""Strategies of queries: what each chooses, alone and in batches, and pipelines that ask."""

import doctest

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline

import ssdl
from conftest import CLASSES, small
from ssdl import _query, errors, labelling
from ssdl.model_selection import FewLabelSearch

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture(scope="module")
def model(digits):
    return small(ssdl.SSDLGA).fit(digits["X"], digits["few"])


@pytest.fixture(scope="module")
def shares(model):
    """Probabilities of the unlabelled training samples, with NaN in other rows."""
    found = model.label_distributions_.copy()
    found[:60] = np.nan
    return found


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_every_class_answers_every_strategy(each, digits):
    model = small(each, calibrate=False).fit(digits["X"], digits["few"])
    for strategy in _query.NAMES:
        rows, utilities = model.query(5, strategy=strategy, return_utilities=True)
        assert len(set(rows)) == 5
        assert (digits["few"][rows] == -1).all()
        assert np.isnan(utilities[:60]).all()
        assert np.isfinite(utilities[60:]).all()
        assert utilities[rows[0]] == pytest.approx(np.nanmax(utilities), abs=1e-9)
        new, others = model.query(3, digits["new"], strategy=strategy, return_utilities=True)
        assert len(set(new)) == 3
        assert others.shape == (200,)


def test_utilities_are_what_their_names_say(model, shares):
    best = np.sort(shares[60:], axis=1)[:, ::-1]
    wanted = {
        "uncertainty": 1 - best[:, 0],
        "margin": 1 - (best[:, 0] - best[:, 1]),
        "entropy": -(best * np.log(np.clip(best, 1e-12, None))).sum(axis=1) / np.log(10),
    }
    for strategy, values in wanted.items():
        rows, utilities = model.query(10, strategy=strategy, return_utilities=True)
        np.testing.assert_allclose(utilities[60:], values, atol=1e-9)
        np.testing.assert_array_equal(rows, 60 + np.argsort(-utilities[60:], kind="stable")[:10])


def test_the_expected_change_is_that_of_a_linear_classifier(model, shares):
    """Gradient of the log-loss of softmax(Wa + b) in W and b, over the classes it may have."""
    _, utilities = model.query(1, strategy="change", return_utilities=True)
    for row in (70, 180, 299):
        code, p = np.append(model.codes_[row], 1.0), shares[row]
        lengths = [np.linalg.norm(np.outer(p - np.eye(10)[k], code)) for k in range(10)]
        assert utilities[row] == pytest.approx(p @ lengths)


def test_diversity_is_farthest_first(model):
    rows, utilities = model.query(4, strategy="diversity", return_utilities=True)
    codes = model.codes_
    known, apart = list(range(60)), pairwise_distances(codes)
    np.testing.assert_allclose(utilities[60:], apart[60:, known].min(axis=1), atol=1e-9)
    for row in rows:
        distance = apart[:, known].min(axis=1)
        assert distance[row] == pytest.approx(distance.max())
        known.append(row)


def test_the_default_is_the_same_with_and_without_utilities(model, digits):
    for X in (None, digits["new"]):
        plain = model.query(12, X)
        rows, utilities = model.query(12, X, return_utilities=True)
        np.testing.assert_array_equal(rows, plain)
        assert utilities[rows[0]] == pytest.approx(np.nanmax(utilities))


def test_a_batch_that_covers_has_no_two_alike(model):
    top = model.query(15, strategy="margin")
    cover = model.query(15, strategy="margin", batch="cover")
    np.testing.assert_array_equal(cover, model.query(15))

    def spread(rows):
        apart = pairwise_distances(model.codes_[rows])
        return (apart + 1e9 * np.eye(len(rows))).min(axis=1).mean()

    assert spread(cover) > spread(top)


def test_a_function_of_ones_own(model, shares):
    rows = model.query(3, strategy=lambda p, codes: (codes != 0).sum(axis=1))
    used = (model.codes_ != 0).sum(axis=1)
    used[:60] = -1
    np.testing.assert_array_equal(used[rows], np.sort(used)[::-1][:3])
    with pytest.raises(errors.ShapeError, match=r"expected shape \(240,\)"):
        model.query(3, strategy=lambda p, codes: p)


def test_mistakes_are_named(model):
    with pytest.raises(errors.KnobError, match="allowed: representative, uncertainty"):
        model.query(3, strategy="random")
    with pytest.raises(errors.KnobError, match="allowed: top, cover"):
        model.query(3, strategy="margin", batch="all")
    assert model.query(0, strategy="margin").shape == (0,)
    assert len(model.query(10_000, strategy="diversity")) == 240


def test_rows_of_weight_zero_are_never_chosen(digits):
    weights = np.ones(300)
    weights[100:200] = 0
    model = ssdl.Ridge().fit(digits["X"], digits["few"], sample_weight=weights)
    for strategy in _query.NAMES:
        rows, utilities = model.query(1000, strategy=strategy, return_utilities=True)
        assert sorted(rows) == [*range(60, 100), *range(200, 300)]
        assert np.isnan(utilities[100:200]).all()


@pytest.mark.parametrize("strategy", ["representative", "margin", "diversity"])
def test_pipelines_searches_and_strangers_ask_too(strategy, digits):
    X, few = digits["X"], digits["few"]
    last = ssdl.Ridge()
    line = make_pipeline(PCA(20, random_state=0), last).fit(X, few)
    inside = line[-1]
    how = {"strategy": strategy}
    np.testing.assert_array_equal(labelling.query(line, 5, **how), inside.query(5, **how))
    wanted = inside.query(5, line[:-1].transform(digits["new"]), **how)
    np.testing.assert_array_equal(labelling.query(line, 5, digits["new"], **how), wanted)
    search = FewLabelSearch(ssdl.Ridge(), {"ridge": [1.0]}, cv=2).fit(X, few)
    np.testing.assert_array_equal(
        labelling.query(search, 5, **how), search.best_estimator_.query(5, **how)
    )
    other = LogisticRegression(max_iter=5000).fit(X[:60], few[:60])
    assert len(set(labelling.query(other, 5, digits["new"], **how))) == 5
    with pytest.raises(errors.SamplesError, match="as X"):
        labelling.query(other, 5, **how)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_questions_in_turn_learn_from_every_answer(batch_size, digits):
    model = ssdl.Ridge(calibrate=False).fit(digits["X"], digits["few"])
    asked = []

    def ask(rows):
        assert len(rows) <= batch_size
        asked.extend(rows.tolist())
        answers = digits["y"][rows].astype(object)
        # The expert cannot read every tenth one.
        answers[rows % 10 == 0] = None
        return answers

    rows = labelling.ask_in_turn(model, ask, 12, batch_size=batch_size, strategy="margin")
    assert rows.tolist() == asked
    assert len(set(asked)) == 12
    answered = [row for row in asked if row % 10]
    assert np.sum(model._model.labels >= 0) == 60 + len(answered)


def test_the_example_runs():
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(
        labelling.query, "query", globs=vars(labelling)
    ):
        runner.run(test)
    assert runner.tries > 5
    assert runner.failures == 0
