"""Plots: what they are drawn on, what they show, and what they refuse."""

import importlib
import sys
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import ssdl
from conftest import small
from ssdl import plotting
from ssdl.errors import KnobError, LabelsError, ShapeError
from ssdl.model_selection import FewLabelSearch

pytestmark = [
    pytest.mark.filterwarnings("ignore::ssdl.errors.FitWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

TERMS = ["reconstruction", "sparsity", "manifold", "discrimination", "ridge"]


@pytest.fixture(autouse=True)
def canvas():
    """No window is opened, and no figure is left behind."""
    matplotlib.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model(digits):
    return small(ssdl.SSDLGA, image_shape=(8, 8)).fit(digits["X"], digits["few"])


@pytest.fixture(scope="module")
def flat(digits):
    """A model whose samples are not images."""
    return small(ssdl.SSDLGA).fit(digits["X"], digits["few"])


@pytest.fixture
def trace():
    """Three iterations as ``trace_`` has them: one row for each step."""
    steps = ["membership", "codes", "dictionary", "classifier"]
    terms = {name: np.linspace(20, 10, 14) for name in TERMS}
    for values in terms.values():
        values[0] = np.nan
    return {
        "iteration": np.array([0, 0] + [1] * 4 + [2] * 4 + [3] * 4),
        "step": ["graph", "start"] + steps * 3,
        "flips": np.zeros(14, dtype=int),
        "seconds": np.full(14, 0.1),
        "total": sum(terms.values()),
        **terms,
    }


def drawn(ax):
    """Draw the whole figure, which finds what cannot be drawn; return its title."""
    assert isinstance(ax, Axes)
    ax.figure.canvas.draw()
    return ax.get_title()


def titles(figure):
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    return [ax.get_title() for ax in figure.axes]


def words(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_atoms_are_images_side_by_side(model):
    ax = plotting.plot_atoms(model, columns=6)
    assert drawn(ax) == "30 atoms, most used first"
    (image,) = ax.images
    assert image.get_array().shape == (5 * 9 - 1, 6 * 9 - 1)
    most = np.abs(model.codes_).sum(axis=0).argmax()
    np.testing.assert_allclose(image.get_array()[:8, :8], model.components_[most].reshape(8, 8))
    low, high = image.get_clim()
    assert low == -high


def test_some_atoms_are_drawn_by_index(model):
    ax = plotting.plot_atoms(model, n_atoms=4, order="index", columns=4)
    assert drawn(ax) == "4 of 30 atoms"
    picture = ax.images[0].get_array()
    np.testing.assert_allclose(picture[:, 27:], model.components_[3].reshape(8, 8))
    with pytest.raises(KnobError, match="order"):
        plotting.plot_atoms(model, order="size")


def test_atoms_that_are_not_images_are_rows(digits, model, flat):
    ax = plotting.plot_atoms(flat)
    assert "64 prepared features, not images of a known shape" in drawn(ax)
    assert ax.images[0].get_array().shape == (30, 64)
    assert plotting.plot_atoms(flat, image_shape=(8, 8)).get_title() == "30 atoms, most used first"
    assert (
        "not images of 7 × 8 pixels" in plotting.plot_atoms(model, image_shape=(7, 8)).get_title()
    )


@pytest.mark.parametrize(
    ("prepare", "is_image"),
    [
        (("pca=64", "scale=5"), False),
        ("projection=64", False),
        ("standardise", True),
        (["resize=4x4", "scale=5"], True),
    ],
    ids=["pca", "projection", "standardise", "resize"],
)
def test_the_shape_of_atoms_follows_the_preparation(prepare, is_image, digits):
    model = small(ssdl.SSDLGA, prepare=prepare, image_shape=(8, 8))
    title = drawn(plotting.plot_atoms(model.fit(digits["X"], digits["few"])))
    assert ("prepared features" not in title) == is_image


def test_codes_are_sorted_by_class_and_the_classes_named(model):
    ax = plotting.plot_codes(model)
    drawn(ax)
    assert ax.images[0].get_array().shape == (30, 300)
    assert words(ax.xaxis) == [str(digit) for digit in range(10)]
    assert len(ax.lines) == 9
    counts = np.bincount(model.transduction_)
    ends = [line.get_xdata()[0] + 0.5 for line in ax.lines]
    np.testing.assert_allclose(ends, np.cumsum(counts)[:-1])
    first = np.abs(model.codes_[model.transduction_ == 0]).sum()
    assert ax.images[0].get_array()[:, : counts[0]].sum() == pytest.approx(first)


def test_a_class_without_samples_is_omitted_from_the_codes(model):
    found = np.where(model.transduction_ == 3, 5, model.transduction_)
    stand_in = SimpleNamespace(codes_=model.codes_, transduction_=found, classes_=model.classes_)
    ax = plotting.plot_codes(stand_in)
    drawn(ax)
    assert words(ax.xaxis) == ["0", "1", "2", "4", "5", "6", "7", "8", "9"]
    assert ax.images[0].get_array().shape == (30, 300)


def test_the_objective_is_stacked_by_term(trace):
    ax = plotting.plot_objective(SimpleNamespace(trace_=trace))
    assert drawn(ax) == "Objective: 96.15 at the start, 50 at the end"
    assert len(ax.collections) == 5
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["total", *TERMS[::-1]]
    assert len({area.get_hatch() for area in ax.collections}) == 5
    line = ax.lines[0]
    np.testing.assert_allclose(line.get_ydata(), trace["total"][1:])
    np.testing.assert_allclose(line.get_xdata(), np.arange(13) / 4)


def test_terms_that_a_method_lacks_are_omitted(trace):
    trace["manifold"] = np.zeros(14)
    ax = plotting.plot_objective(SimpleNamespace(trace_=trace))
    drawn(ax)
    assert "manifold" not in [text.get_text() for text in ax.get_legend().get_texts()]
    trace["total"] = np.full(14, np.nan)
    with pytest.raises(ValueError, match="nothing to draw"):
        plotting.plot_objective(SimpleNamespace(trace_=trace))


def test_the_terms_are_those_of_the_method(digits):
    model = ssdl.Ridge().fit(digits["X"], digits["few"])
    assert set(model.trace_) - plotting.NOT_TERMS == {"discrimination", "ridge"}
    ax = plotting.plot_objective(model)
    drawn(ax)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["total", "ridge", "discrimination"]


def test_confusion_counts_labelled_samples_only(model, digits):
    some = digits["truth"].copy()
    some[150:] = -1
    ax = plotting.plot_confusion(model, digits["new"], some)
    assert "on 150 labelled samples" in drawn(ax)
    counts = ax.images[0].get_array()
    assert counts.sum() == 150
    assert words(ax.xaxis) == words(ax.yaxis) == [str(digit) for digit in range(10)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted class", "true class")
    assert sum(int(text.get_text() or 0) for text in ax.texts) == 150
    assert all(text.get_text() != "0" for text in ax.texts)


def test_confusion_has_classes_without_samples_and_samples_of_unknown_classes(model, digits):
    known = digits["truth"] != 4
    ax = plotting.plot_confusion(model, digits["new"][known], digits["truth"][known])
    drawn(ax)
    assert ax.images[0].get_array().shape == (10, 10)
    other = np.where(digits["truth"] == 4, 11, digits["truth"])
    ax = plotting.plot_confusion(model, digits["new"], other, normalize="true")
    drawn(ax)
    assert words(ax.yaxis)[-1] == "11"
    np.testing.assert_allclose(ax.images[0].get_array().sum(axis=1)[[0, 4, 10]], [1, 0, 1])


def test_confusion_of_text_and_of_nothing(digits):
    names = np.array([f"digit {digit}" for digit in range(10)] + [None], dtype=object)
    model = ssdl.Ridge().fit(digits["X"], names[digits["few"]])
    ax = plotting.plot_confusion(model, digits["new"], names[digits["truth"]])
    drawn(ax)
    assert words(ax.yaxis)[0] == "digit 0"
    with pytest.raises(LabelsError, match="no sample is labelled"):
        plotting.plot_confusion(model, digits["new"], [None] * 200)


def test_neighbours_are_drawn_next_to_the_new_sample(model, digits):
    figure = plotting.plot_neighbors(model, digits["X"], digits["new"][0], n_neighbors=5)
    predicted = model.predict(digits["new"][:1])[0]
    unit = digits["X"] / np.linalg.norm(digits["X"], axis=1, keepdims=True)
    new = digits["new"][0] / np.linalg.norm(digits["new"][0])
    distances = np.linalg.norm(unit - new, axis=1)
    nearest = np.argsort(distances)[:5]
    expected = [
        f"class {model.transduction_[row]}\ndistance {distances[row]:.2f}" for row in nearest
    ]
    assert titles(figure) == [f"new sample\npredicted {predicted}", *expected]
    assert [len(ax.images) for ax in figure.axes] == [1] * 6
    agree = np.sum(model.transduction_[nearest] == predicted)
    assert figure.get_suptitle() == f"{agree} of the 5 nearest training samples agree"


def test_neighbours_without_a_shape_are_bars(flat, digits):
    figure = plotting.plot_neighbors(flat, pd.DataFrame(digits["X"]), digits["new"][:1])
    assert len(titles(figure)) == 9
    assert all(len(ax.patches) == 64 and not ax.images for ax in figure.axes)
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    shaped = plotting.plot_neighbors(flat, digits["X"], digits["new"][0], image_shape=(8, 8))
    assert all(len(ax.images) == 1 for ax in shaped.axes)


def test_neighbours_of_other_samples_are_refused(model, digits):
    with pytest.raises(ShapeError, match="training samples: expected 300, got 200"):
        plotting.plot_neighbors(model, digits["new"], digits["new"][0])
    with pytest.raises(ShapeError, match="features of x: expected 64, got 63"):
        plotting.plot_neighbors(model, digits["X"], digits["new"][0, 1:])


def test_the_least_certain_come_first(model, digits):
    figure = plotting.plot_uncertain(model, digits["new"], n=7)
    ordered = np.sort(model.predict_proba(digits["new"]), axis=1)
    margins = ordered[:, -1] - ordered[:, -2]
    rows = np.argsort(margins, kind="stable")[:7]
    found = titles(figure)
    assert [title.split("\n")[0] for title in found] == [f"row {row}" for row in rows]
    best = model.predict(digits["new"])[rows[0]]
    assert f"class {best}: {ordered[rows[0], -1]:.0%}" in found[0]
    assert all(len(ax.images) == 1 for ax in figure.axes)
    assert figure.get_suptitle() == "The 7 least certain of 200 samples"


def test_the_least_certain_are_chosen_from_given_rows(flat, digits):
    figure = plotting.plot_uncertain(flat, pd.DataFrame(digits["new"]), indices=[3, 90, 17])
    assert {title.split("\n")[0] for title in titles(figure)} == {"row 3", "row 17", "row 90"}
    assert all(len(ax.patches) == 64 for ax in figure.axes)
    with pytest.raises(ShapeError, match="none to choose from"):
        plotting.plot_uncertain(flat, digits["new"], indices=[])


def test_pictures_are_drawn_where_asked(model, digits, trace):
    figure, axes = plt.subplots(2, 2)
    ours = [
        plotting.plot_atoms(model, ax=axes[0, 0]),
        plotting.plot_codes(model, ax=axes[0, 1]),
        plotting.plot_objective(SimpleNamespace(trace_=trace), ax=axes[1, 0]),
        plotting.plot_confusion(model, digits["new"], digits["truth"], ax=axes[1, 1]),
    ]
    assert ours == axes.ravel().tolist()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("wrap", ["search", "pipeline"])
def test_searches_and_pipelines_stand_for_what_they_hold(wrap, digits):
    line = make_pipeline(MinMaxScaler((0, 16)), small(ssdl.SSDLGA, image_shape=(8, 8)))
    if wrap == "search":
        line = FewLabelSearch(line, {"ssdlga__sparsity": [0.3]}, cv=2)
    line.fit(digits["X"], digits["few"])
    assert plotting.plot_atoms(line).get_title() == "30 atoms, most used first"
    assert "of 30 on average" in plotting.plot_codes(line).get_title()
    ax = plotting.plot_confusion(line, digits["new"], digits["truth"])
    assert ax.images[0].get_array().sum() == 200
    figure = plotting.plot_neighbors(line, digits["X"], digits["new"][0])
    assert [len(ax.images) for ax in figure.axes] == [1] * 9
    assert len(plotting.plot_uncertain(line, digits["new"]).axes[0].images) == 1


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_an_explanation_names_dates_as_dates(unit, digits):
    days = np.array([f"2020-01-{day:02}" for day in range(1, 11)] + ["NaT"])
    few = days.astype(f"datetime64[{unit}]")[digits["few"]]
    explanation = ssdl.Ridge().fit(digits["X"], few).explain(digits["new"][:1])[0]
    title = plotting.plot_explanation(explanation).get_title()
    assert title.startswith("Predicted 2020-01-")


DRAWN = {
    "plot_atoms": lambda model, digits: plotting.plot_atoms(model),
    "plot_codes": lambda model, digits: plotting.plot_codes(model),
    "plot_objective": lambda model, digits: plotting.plot_objective(model),
    "plot_confusion": lambda model, digits: plotting.plot_confusion(
        model, digits["new"], digits["truth"]
    ),
    "plot_explanation": lambda model, digits: plotting.plot_explanation(
        model.explain(digits["new"][:1])[0]
    ),
    "plot_neighbors": lambda model, digits: plotting.plot_neighbors(
        model, digits["X"], digits["new"][0]
    ),
    "plot_uncertain": lambda model, digits: plotting.plot_uncertain(model, digits["new"]),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN.keys())
def test_nothing_is_drawn_before_the_fit(draw, digits):
    assert set(DRAWN) == set(plotting.__all__)
    with pytest.raises(NotFittedError):
        draw(ssdl.SSDLGA(), digits)
    assert not plt.get_fignums()


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN.keys())
def test_matplotlib_is_imported_only_for_plots(draw, model, digits, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    importlib.reload(plotting)
    with pytest.raises(ImportError, match=r"matplotlib is needed.*pip install ssdl\[plotting\]"):
        draw(model, digits)


def test_drawing_nothing_is_refused(model, digits):
    with pytest.raises(KnobError, match="n_atoms"):
        plotting.plot_atoms(model, n_atoms=0)
    with pytest.raises(KnobError, match="n_neighbors"):
        plotting.plot_neighbors(model, digits["X"], digits["new"][0], n_neighbors=0)
    with pytest.raises(KnobError, match="n_parts"):
        plotting.plot_explanation(model.explain(samples=[0])[0], n_parts=0)
    with pytest.raises(KnobError, match="n: "):
        plotting.plot_uncertain(model, digits["new"], n=0)


def test_a_method_without_atoms_says_so(digits):
    model = ssdl.Ridge().fit(digits["X"], digits["few"])
    with pytest.raises(AttributeError, match="Ridge has no components_: it learns no atoms"):
        plotting.plot_atoms(model)
    with pytest.raises(AttributeError, match="Ridge has no codes_"):
        plotting.plot_codes(model)
