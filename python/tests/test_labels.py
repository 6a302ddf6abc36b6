"""Every way to write "no label", and labels that keep their type."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ssdl import Nearest, Ridge, errors

X = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1], [0.05, 1.0], [1.0, 0.05]])


def fitted(y, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return Ridge(**parameters).fit(X, y)


def predictions(model):
    return model.predict(X).tolist()


NUMBERS = [3, 7]
TEXT = ["no", "yes"]


def spread(classes, marker):
    low, high = classes
    return [low, marker, high, marker, marker, high]


@pytest.mark.parametrize(
    "y",
    [
        np.array(spread(NUMBERS, -1)),
        spread(NUMBERS, -1),
        spread(NUMBERS, None),
        np.array(spread(NUMBERS, None), dtype=object),
        pd.Series(spread(NUMBERS, -1)),
        pd.Series(spread(NUMBERS, None), dtype="Int64"),
        pd.Series(spread(NUMBERS, pd.NA), dtype="Int8"),
        pl.Series(spread(NUMBERS, None)),
        pl.Series(spread(NUMBERS, -1)),
    ],
    ids=["array", "list", "none", "objects", "pandas", "Int64", "Int8", "polars null", "polars"],
)
def test_whole_numbers_stay_whole_numbers(y):
    model = fitted(y)
    assert model.classes_.dtype.kind == "i"
    assert model.classes_.tolist() == NUMBERS
    assert predictions(model) == [3, 3, 7, 7, 3, 7]


@pytest.mark.parametrize(
    "y",
    [
        spread(TEXT, None),
        spread(TEXT, float("nan")),
        spread(TEXT, -1),
        np.array(spread(TEXT, -1)),
        np.array(spread(TEXT, -1), dtype=object),
        pd.Series(spread(TEXT, None)),
        pd.Series(spread(TEXT, None), dtype="string"),
        pd.Series(spread(TEXT, None), dtype="category"),
        pd.Categorical(spread(TEXT, None)),
        pl.Series(spread(TEXT, None)),
        pl.Series(spread(TEXT, None), dtype=pl.Categorical),
    ],
    ids=[
        "none",
        "nan",
        "-1",
        "-1 as text",
        "-1 in objects",
        "pandas",
        "string",
        "category",
        "categorical",
        "polars",
        "polars categorical",
    ],
)
def test_text_stays_text(y):
    model = fitted(y)
    assert model.classes_.tolist() == TEXT
    assert predictions(model) == ["no", "no", "yes", "yes", "no", "yes"]


def test_floats_stay_floats_and_nan_is_unlabelled():
    model = fitted(np.array(spread([1.0, 2.0], np.nan)))
    assert model.classes_.dtype == np.float64
    assert predictions(model) == [1.0, 1.0, 2.0, 2.0, 1.0, 2.0]


def test_booleans_are_classes():
    model = fitted([False, None, True, None, None, True])
    assert model.classes_.tolist() == [False, True]
    assert model.predict(X).dtype == bool


@pytest.mark.parametrize("marker", ["?", 0, 99])
def test_another_marker(marker):
    classes = TEXT if isinstance(marker, str) else NUMBERS
    model = fitted(spread(classes, marker), unlabeled=marker)
    assert model.classes_.tolist() == classes


@pytest.mark.parametrize("marker", [0, float("nan"), pd.NA], ids=str)
def test_with_another_marker_minus_one_is_a_class(marker):
    model = fitted(spread([-1, 1], marker), unlabeled=marker)
    assert model.classes_.tolist() == [-1, 1]
    assert predictions(model) == [-1, -1, 1, 1, -1, 1]


def test_minus_one_and_one_are_two_classes_with_a_warning():
    with pytest.warns(errors.FitWarning, match="-1 is taken for a class"):
        model = Nearest().fit(X, [-1, -1, 1, 1, -1, 1])
    assert model.classes_.tolist() == [-1, 1]
    assert model.score(X, [-1, -1, 1, 1, -1, 1]) == 1.0


def test_minus_one_as_text_may_be_a_class_too():
    y = ["-1", "-1", "1", "1", "-1", "1"]
    with pytest.warns(errors.FitWarning, match="-1 is taken for a class"):
        model = Nearest().fit(X, y)
    assert model.classes_.tolist() == ["-1", "1"]
    assert model.score(X, y) == 1.0


def test_minus_one_that_was_named_a_marker_leaves_one_class():
    with pytest.raises(errors.LabelsError, match="one class"):
        Nearest(unlabeled=-1).fit(X, [-1, -1, 1, 1, -1, 1])


@pytest.mark.parametrize("y", [[-1] * 6, [None] * 6, [np.nan] * 6])
def test_no_label_at_all_is_refused(y):
    with pytest.raises(errors.LabelsError, match="no sample is labelled"):
        Nearest().fit(X, y)


def test_text_among_numbers_is_refused():
    with pytest.raises(errors.LabelsError, match="mixed"):
        Nearest().fit(X, ["a", 3, "b", None, None, 3])


def test_infinite_labels_are_refused():
    with pytest.raises(errors.LabelsError, match="infinity"):
        Nearest().fit(X, [0, 1, np.inf, 0, 1, 0])


def test_the_score_counts_labelled_samples_only():
    model = fitted(spread(NUMBERS, -1))
    assert model.score(X, [3, -1, 7, -1, 7, -1]) == pytest.approx(2 / 3)
    assert model.score(X, [3, None, 7, None, 7, None]) == pytest.approx(2 / 3)
    weights = [1, 1, 1, 1, 2, 1]
    assert model.score(X, [3, -1, 7, -1, 7, -1], sample_weight=weights) == pytest.approx(0.5)
    with pytest.warns(UserWarning, match="no sample has a label"):
        assert np.isnan(model.score(X, [-1] * 6))
