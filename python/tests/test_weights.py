"""Weights of samples and classes: zero leaves out, equal ones change nothing, rows keep numbers."""

import pickle
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import ssdl
from conftest import CLASSES, small
from ssdl.errors import GraphError, LabelsError, SamplesError

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def weights(n, out):
    values = np.ones(n)
    values[out] = 0
    return values


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_a_weight_of_zero_leaves_a_sample_out_and_keeps_its_row(each, digits, same_bits):
    X, few = digits["X"], digits["few"]
    out = np.array([0, 7, 59, 61, 200, 299])
    kept = np.setdiff1d(np.arange(len(X)), out)
    model = small(each).fit(X, few, sample_weight=3 * weights(len(X), out))
    rest = small(each).fit(X[kept], few[kept])
    same_bits(model.predict_proba(digits["new"]), rest.predict_proba(digits["new"]))
    assert model.label_distributions_.shape == (len(X), 10)
    same_bits(model.label_distributions_[kept], rest.label_distributions_)
    same_bits(model.label_distributions_[out], rest.predict_proba(X[out]))
    same_bits(model.transduction_[out], rest.predict(X[out]))
    same_bits(model.query(5), kept[rest.query(5)])
    again = pickle.loads(pickle.dumps(model))
    same_bits(again.transduction_, model.transduction_)


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_equal_weights_change_no_bit(each, digits, same_bits):
    X, few = digits["X"], digits["few"]
    plain = small(each).fit(X, few).predict_proba(digits["new"])
    equal = small(each).fit(X, few, sample_weight=np.full(len(X), 0.1))
    same_bits(equal.predict_proba(digits["new"]), plain)
    by_class = small(each, class_weight=dict.fromkeys(range(10), 7)).fit(X, few)
    same_bits(by_class.predict_proba(digits["new"]), plain)


def test_added_labels_count_rows_with_those_left_out(digits):
    X, few, y = digits["X"], digits["few"], digits["y"]
    out = np.array([3, 100])
    model = small(ssdl.SSDLGA).fit(X, few, sample_weight=weights(len(X), out))
    model.add_labels([150, 151], y[[150, 151]])
    assert len(model.transduction_) == len(X)
    labels = model._row_weights.all_rows(model._model.labels, -1)
    assert labels[150] == y[150] and labels[151] == y[151] and labels[3] == -1


def test_a_class_may_count_more(digits):
    X, few = digits["X"], digits["few"]
    plain = ssdl.Ridge().fit(X, few)
    heavy = ssdl.Ridge(class_weight={8: 100.0}).fit(X, few)
    count = [np.sum(model.predict(digits["new"]) == 8) for model in (plain, heavy)]
    assert count[1] > count[0]
    assert (
        ssdl.Ridge(class_weight="balanced").fit(X, few).score(digits["new"], digits["truth"]) > 0.7
    )


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
@pytest.mark.parametrize("kind", [datetime, date, np.datetime64, pd.Timestamp])
def test_a_class_that_is_a_date_may_count_more(kind, unit, digits):
    days = np.array([f"2020-01-{day:02}" for day in range(1, 11)] + ["NaT"])
    few = days.astype(f"datetime64[{unit}]")[digits["few"]]
    ninth = np.datetime64("2020-01-09") if kind is np.datetime64 else kind(2020, 1, 9)
    model = ssdl.Ridge(class_weight={ninth: 100.0}).fit(digits["X"], few)
    numbers = ssdl.Ridge(class_weight={8: 100.0}).fit(digits["X"], digits["few"])
    wanted = numbers.predict_proba(digits["new"])
    np.testing.assert_array_equal(model.predict_proba(digits["new"]), wanted)
    with pytest.raises(LabelsError, match="class_weight names .* the classes are .'2020-01-01"):
        ssdl.Ridge(class_weight={datetime(2021, 1, 1): 2.0}).fit(digits["X"], few)


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_a_class_that_is_a_span_of_time_may_count_more(unit, digits):
    spans = np.array([*range(10), "NaT"], dtype="timedelta64[s]").astype(f"timedelta64[{unit}]")
    weights = {timedelta(seconds=8): 100.0}
    model = ssdl.Ridge(class_weight=weights).fit(digits["X"], spans[digits["few"]])
    numbers = ssdl.Ridge(class_weight={8: 100.0}).fit(digits["X"], digits["few"])
    wanted = numbers.predict_proba(digits["new"])
    np.testing.assert_array_equal(model.predict_proba(digits["new"]), wanted)


def test_mistakes_in_weights_are_named(digits):
    X, few = digits["X"], digits["few"]
    with pytest.raises(SamplesError, match=r"sample_weight\[2\] is -1"):
        ssdl.Ridge().fit(X, few, sample_weight=np.where(np.arange(len(X)) == 2, -1.0, 1.0))
    # Newer versions of scikit-learn say so themselves.
    with pytest.raises(ValueError, match="zero"):
        ssdl.Ridge().fit(X, few, sample_weight=np.zeros(len(X)))
    with pytest.raises(LabelsError, match="class_weight names"):
        ssdl.Ridge(class_weight={99: 1}).fit(X, few)
    with pytest.raises(ValueError, match="class_weight"):
        ssdl.Ridge(class_weight="even").fit(X, few)
    neighbours = np.tile(np.arange(1, 4), (len(X), 1))
    with pytest.raises(GraphError, match="leave them out"):
        small(ssdl.SSDLGA).fit(X, few, graph=neighbours, sample_weight=weights(len(X), [0]))
