"""Predictions explained, and the report page."""

import numpy as np
import pandas as pd
import pytest

import ssdl
from conftest import small
from ssdl.errors import LabelsError, SamplesError

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.fixture
def fitted(estimator, digits):
    return estimator.fit(digits["X"], digits["few"])


def test_new_samples_are_explained_as_they_are_predicted(fitted, digits):
    new = digits["new"][:6]
    found = fitted.explain(new)
    assert [each.predicted for each in found] == fitted.predict(new).tolist()
    shares = np.array([each.probabilities for each in found])
    np.testing.assert_allclose(shares, fitted.predict_proba(new), rtol=1e-6)
    for each in found:
        assert each.second in fitted.classes_ and each.second != each.predicted
        assert each.parts.shape == each.amounts.shape == each.votes.shape[:1]
        assert each.neighbors.shape == each.weights.shape
        # Something must have decided.
        assert each.votes.size or len(each.neighbors)
        assert f"{each.predicted} (" in str(each)


def test_training_samples_are_explained_as_the_fit_predicted_them(fitted):
    found = fitted.explain(samples=[0, 7, 299])
    assert [each.predicted for each in found] == fitted.transduction_[[0, 7, 299]].tolist()


def test_votes_of_a_linear_classifier_add_up_to_its_scores(digits):
    model = ssdl.Ridge().fit(digits["X"], digits["few"])
    for each in model.explain(digits["new"][:3]):
        assert each.kind == "feature"
        np.testing.assert_allclose(each.votes.sum(axis=0) + model.intercept_, each.scores)


def test_atoms_and_amounts_are_the_code(digits):
    model = small(ssdl.SSDLGA).fit(digits["X"], digits["few"])
    (found,) = model.explain(digits["new"][:1])
    code = np.zeros(30)
    code[found.parts] = found.amounts
    assert found.kind == "atom"
    np.testing.assert_allclose(code, model.transform(digits["new"][:1])[0], atol=1e-12)


def test_rows_without_weight_are_counted_but_not_explained(digits):
    weights = np.ones(300)
    weights[[1, 100]] = 0
    model = ssdl.Nearest().fit(digits["X"], digits["few"], sample_weight=weights)
    (found,) = model.explain(digits["X"][[0]])
    # The nearest is the sample itself.
    assert found.neighbors.tolist() == [0]
    (found,) = model.explain(digits["X"][[2]])
    assert found.neighbors.tolist() == [2]
    assert model.explain(samples=2)[0].predicted == model.transduction_[2]
    with pytest.raises(SamplesError, match="sample 1 has weight zero"):
        model.explain(samples=[0, 1])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either"),
        ({"X": np.zeros((1, 64)), "samples": [0]}, "either"),
        ({"samples": [300]}, "no training sample 300; there are 300"),
        ({"samples": [-1]}, "no training sample -1"),
        ({"samples": [0.5]}, "row numbers"),
        ({"samples": [[0]]}, "row numbers"),
    ],
)
def test_what_cannot_be_explained_is_refused(arguments, words, digits):
    model = ssdl.Nearest().fit(digits["X"], digits["few"])
    with pytest.raises(SamplesError, match=words):
        model.explain(**arguments)


def test_text_classes_are_explained_in_their_own_words(digits):
    names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "8", "9"])
    labels = np.array([None if each < 0 else names[each] for each in digits["few"]], dtype=object)
    model = ssdl.Nearest().fit(pd.DataFrame(digits["X"]).add_prefix("pixel "), labels)
    frame = pd.DataFrame(digits["new"][:2]).add_prefix("pixel ")
    assert [each.predicted for each in model.explain(frame)] == model.predict(frame).tolist()
    assert [] == model.explain(samples=[])


@pytest.mark.parametrize("unit", ["D", "us", "ns"])
def test_dates_are_explained_as_dates(unit, digits):
    days = np.array([f"2020-01-{day:02}" for day in range(1, 11)] + ["NaT"])
    few = days.astype(f"datetime64[{unit}]")[digits["few"]]
    model = ssdl.Ridge().fit(digits["X"], few)
    explained = model.explain(digits["new"][:3])
    assert [each.predicted for each in explained] == list(model.predict(digits["new"][:3]))
    for each, shares in zip(explained, model.predict_proba(digits["new"][:3]), strict=True):
        assert str(each).startswith(f"{each.predicted} ({shares.max():.1%}), then 2020-01-")
        assert str(each).startswith("2020-01-")


def test_every_method_has_its_page(fitted, digits, tmp_path):
    fitted.report(tmp_path / "training.html")
    fitted.report(tmp_path / "new.html", digits["new"][:40], digits["truth"][:40])
    for name in ("training", "new"):
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
        assert type(fitted).__name__ in page
    assert "Tested on 40 other samples" in page


def test_labels_of_a_page_may_be_missing_and_must_fit(digits, tmp_path):
    model = ssdl.Nearest().fit(digits["X"], digits["few"])
    some = digits["truth"][:40].astype(object)
    some[::2] = None
    model.report(tmp_path / "page.html", digits["new"][:40], some)
    with pytest.raises(LabelsError, match="39 labels for 40 samples"):
        model.report(tmp_path / "page.html", digits["new"][:40], digits["truth"][:39])
    with pytest.raises(LabelsError, match="pass them as X"):
        model.report(tmp_path / "page.html", y=digits["truth"])
    with pytest.raises(FileNotFoundError):
        model.report(tmp_path / "nowhere" / "page.html")
