"""Plots of fitted estimators; needs matplotlib (``pip install ssdl[plotting]``).

The functions draw on the given axes, or else on a new figure, and return what they drew on; none
of them shows it. For a search or a pipeline, they draw the estimator that it holds.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay, accuracy_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize as to_unit_length
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from . import _labels
from ._drawing import (
    axes_for,
    check_count,
    draw_samples,
    frame,
    learnt,
    longest,
    mosaic,
    panels,
    prepared_shape,
    pyplot,
    sample_shape,
    step_positions,
    whole_ticks,
)
from ._scoring import marker_of
from .errors import KnobError, LabelsError, ShapeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._explained import Explanation
    from ._types import DenseSamples, ImageShape, Indices, Labels, Numbers, Samples

__all__ = [
    "plot_atoms",
    "plot_codes",
    "plot_confusion",
    "plot_explanation",
    "plot_neighbors",
    "plot_objective",
    "plot_uncertain",
]

# Okabe and Ito's colours, which colour-blind readers can distinguish; hatches help in print. The
# terms of an objective take them in turn.
STYLES = [
    ("#0072B2", ""),
    ("#E69F00", "////"),
    ("#009E73", "...."),
    ("#CC79A7", "\\\\\\\\"),
    ("#56B4E9", "xxxx"),
    ("#D55E00", "----"),
]
# Columns of a trace that are not terms of the objective.
NOT_TERMS = {"iteration", "step", "total", "flips", "seconds"}
BLUE, ORANGE = "#0072B2", "#D55E00"
SIGNED, POSITIVE = "RdBu_r", "Blues"
# With more classes than this, numbers and names no longer fit.
CROWDED = 20


def plot_atoms(
    estimator: object,
    *,
    image_shape: ImageShape = None,
    n_atoms: int | None = None,
    order: Literal["use", "index"] = "use",
    columns: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Atoms as images side by side, or as rows of a heat map if they are not images.

    Parameters
    ----------
    estimator : estimator
        Fitted, with ``components_``.
    image_shape : (int, int), default=None
        Height and width of an atom; atoms live in the space of prepared samples. By default, the
        shape of the samples after the estimator's preparation.
    n_atoms : int, default=None
        Number of atoms to draw; None for all.
    order : {"use", "index"}, default="use"
        Most used first, by the sum of ``|codes_|``, or by index.
    columns : int, default=None
        Number of images per row.
    ax : matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        One colour scale for all atoms; zero is white.
    """
    plt, model = pyplot(), learnt(estimator, "components_", "atoms")
    if order not in ("use", "index"):
        raise KnobError(f"order: expected 'use' or 'index', got {order!r}")
    check_count("n_atoms", n_atoms)
    total, n_features = model.components_.shape
    numbers = np.arange(total)
    if order == "use":
        numbers = np.argsort(-np.abs(model.codes_).sum(axis=0), kind="stable")
    numbers = numbers[:n_atoms]
    atoms = model.components_[numbers]
    title = f"{len(atoms)} of {total} atoms" if len(atoms) < total else f"{total} atoms"
    title += ", most used first" if order == "use" else ""
    shape = prepared_shape(model) if image_shape is None else image_shape
    if shape is not None and np.prod(shape) == n_features:
        picture = mosaic(atoms.reshape(-1, *shape), columns)
        ax = axes_for(plt, ax, (7.5, 0.6 + 6.2 * picture.shape[0] / picture.shape[1]))
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    else:
        picture = atoms
        known = "a known shape" if shape is None else f"{shape[0]} × {shape[1]} pixels"
        title += f"\nas rows of {n_features} prepared features, not images of {known}"
        ax = axes_for(plt, ax, (7.5, 5.5))
        ax.set(xlabel="prepared feature", ylabel="atom")
        whole_ticks(ax.xaxis)
        places = np.arange(0, len(numbers), -(-len(numbers) // CROWDED))
        ax.set_yticks(places, numbers[places])
    # A few large values would leave the rest pale.
    limit = np.quantile(np.abs(atoms), 0.995) or 1.0
    image = ax.imshow(
        picture,
        cmap=plt.get_cmap(SIGNED).with_extremes(bad="0.85"),
        vmin=-limit,
        vmax=limit,
        aspect="auto" if picture is atoms else "equal",
        interpolation="nearest",
    )
    ax.set_title(title)
    ax.figure.colorbar(image, ax=ax, label="value in an atom", extend="both", shrink=0.9)
    return ax


def plot_codes(estimator: object, *, ax: Axes | None = None) -> Axes:
    """Which atoms the training samples use, samples sorted by their class.

    Parameters
    ----------
    estimator : estimator
        Fitted, with ``codes_``.
    ax : matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        ``|codes_|``, with a column per sample and a row per atom. Samples are sorted by
        ``transduction_``, atoms by the class that uses them most: blocks along the diagonal are
        atoms that mainly one class uses.
    """
    plt, model = pyplot(), learnt(estimator, "codes_", "codes")
    use, found = np.abs(model.codes_), np.asarray(model.transduction_)
    classes = [each for each in model.classes_ if np.any(found == each)]
    means = np.array([use[found == each].mean(axis=0) for each in classes])
    # The last key of lexsort comes first.
    rows = np.lexsort((-means.max(axis=0), means.argmax(axis=0), means.max(axis=0) == 0))
    samples = np.concatenate([np.flatnonzero(found == each) for each in classes])
    used = use[use > 0]
    ax = axes_for(plt, ax, (max(8.5, 0.2 * len(classes)), 5))
    image = ax.imshow(
        use[np.ix_(samples, rows)].T,
        cmap=POSITIVE,
        vmin=0,
        # A few large values would leave the rest pale.
        vmax=np.quantile(used, 0.95) if used.size else 1,
        aspect="auto",
    )
    ends = np.cumsum([np.sum(found == each) for each in classes])
    starts = np.concatenate([[0], ends[:-1]])
    for end in ends[:-1]:
        ax.axvline(end - 0.5, color="black", linewidth=0.8)
    ax.set_xticks((starts + ends - 1) / 2, [str(each) for each in classes])
    if len(classes) > CROWDED or longest(classes) > 4:
        ax.tick_params(axis="x", labelrotation=90)
    ax.tick_params(axis="x", length=0)
    ax.set(
        xlabel=f"{len(use)} training samples, by predicted class",
        ylabel=f"{use.shape[1]} atoms, by the class that uses them most",
        yticks=[],
        title=f"Which atoms the samples use: {(use > 0).sum(axis=1).mean():.1f} of "
        f"{use.shape[1]} on average",
    )
    ax.figure.colorbar(image, ax=ax, label="size of the code", extend="max")
    return ax


def plot_objective(estimator: object, *, ax: Axes | None = None) -> Axes:
    """The objective step by step, its terms stacked.

    Parameters
    ----------
    estimator : estimator
        Fitted, with ``trace_``.
    ax : matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        Iteration k ends at k; its steps are spaced evenly before.
    """
    plt, trace = pyplot(), learnt(estimator, "trace_", "trace").trace_
    total = np.asarray(trace["total"], dtype=float)
    # Before there are codes, there is no objective.
    known = np.isfinite(total)
    if not known.any():
        raise ValueError("trace_: no step has an objective, so there is nothing to draw")
    iterations = np.asarray(trace["iteration"])[known]
    where = step_positions(iterations)
    ax = axes_for(plt, ax, (7.5, 4.5))
    terms = [name for name in trace if name not in NOT_TERMS]
    styles = dict(zip(terms, itertools.cycle(STYLES), strict=False))
    names = [name for name in terms if np.any(np.nan_to_num(trace[name])[known])]
    areas = ax.stackplot(
        where,
        [np.nan_to_num(trace[name])[known] for name in names],
        labels=names,
        colors=[styles[name][0] for name in names],
        edgecolor="white",
        linewidth=0.5,
    )
    for area, name in zip(areas, names, strict=True):
        area.set_hatch(styles[name][1])
    ax.plot(where, total[known], color="black", linewidth=1.5, label="total")
    ends = where == iterations
    ax.plot(where[ends], total[known][ends], "o", color="black", markersize=3.5)
    ax.set(
        xlabel="iteration",
        ylabel="objective",
        title=f"Objective: {total[known][0]:.4g} at the start, {total[known][-1]:.4g} at the end",
        ylim=(0, 1.05 * total[known].max()),
    )
    ax.margins(x=0.01)
    whole_ticks(ax.xaxis)
    # In the order of the stacked areas.
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        handles[::-1], labels[::-1], frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_explanation(
    explanation: Explanation, *, n_parts: int = 10, ax: Axes | None = None
) -> Axes:
    """What a prediction rests on: the votes of the atoms, or the weights of the neighbours.

    Parameters
    ----------
    explanation : Explanation
        One of those that ``explain`` returns.
    n_parts : int, default=10
        Largest number of atoms or neighbours to show.
    ax : matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        A bar to the right speaks for the class. With votes there are two bars an atom: for the
        predicted class, and for the one that comes second.
    """
    plt = pyplot()
    check_count("n_parts", n_parts)
    classes = _labels._listed(explanation.classes)
    shown = [each for each in (explanation.predicted, explanation.second) if each is not None]
    if explanation.votes.shape[1]:
        names = [f"{explanation.kind} {index}" for index in explanation.parts[:n_parts]]
        bars = [explanation.votes[:n_parts, classes.index(each)] for each in shown]
        labels, what = [f"for {each}" for each in shown], "vote"
    else:
        names = [f"sample {index}" for index in explanation.neighbors[:n_parts]]
        bars, labels, what = [explanation.weights[:n_parts]], ["weight"], "weight of a neighbour"
    ax = axes_for(plt, ax, (6.5, 1.5 + 0.35 * max(len(names), 1)))
    places = np.arange(len(names))
    height = 0.8 / len(bars)
    for number, (values, label) in enumerate(zip(bars, labels, strict=True)):
        where = places + (number - (len(bars) - 1) / 2) * height
        colour = (BLUE, ORANGE)[number]
        ax.barh(where, values, height=height, color=colour, label=label)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    share = explanation.probabilities[classes.index(explanation.predicted)]
    ax.set(xlabel=what, title=f"Predicted {explanation.predicted} ({share:.1%})")
    if len(bars) > 1:
        ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_confusion(
    estimator: Any,
    X: Samples,
    y: Labels,
    *,
    normalize: Literal["true", "pred", "all"] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Confusion matrix of the samples that have a label.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels; unlabelled samples do not count.
    normalize : {"true", "pred", "all"}, default=None
        Fractions of the true classes, of the predicted ones or of all samples instead of counts.
    ax : matplotlib Axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib Axes
        All classes of the estimator, including those without a sample; zeros are omitted.
    """
    plt = pyplot()
    check_is_fitted(estimator)
    known, values = _labels.is_labelled(y, marker_of(estimator), estimator.classes_)
    check_consistent_length(X, values)
    if not known.any():
        raise LabelsError("labels: no sample is labelled, so there is nothing to compare with")
    truth = _labels.tidy(values[known])
    predicted = estimator.predict(_safe_indexing(X, np.flatnonzero(known)))
    classes = unique_labels(estimator.classes_, truth)
    crowded = len(classes) > CROWDED
    side = max(5.5, 0.2 * len(classes))
    ax = axes_for(plt, ax, (side + 1, side))
    drawn = ConfusionMatrixDisplay.from_predictions(
        truth,
        predicted,
        labels=classes,
        normalize=normalize,
        include_values=not crowded,
        values_format="d" if normalize is None else ".2f",
        xticks_rotation="vertical" if crowded or longest(classes) > 4 else "horizontal",
        cmap=POSITIVE,
        ax=ax,
    )
    if not crowded:
        for text in drawn.text_[drawn.confusion_matrix == 0]:
            text.set_text("")
    ax.set(
        xlabel="predicted class",
        ylabel="true class",
        title=f"accuracy {accuracy_score(truth, predicted):.1%} on {len(truth)} labelled samples",
    )
    return ax


def plot_neighbors(
    estimator: Any,
    X_train: DenseSamples,
    x: DenseSamples | Numbers,
    *,
    n_neighbors: int = 8,
    image_shape: ImageShape = None,
) -> Figure:
    """A new sample and the training samples nearest to it.

    Distances are Euclidean, between samples scaled to unit length, in line with the default
    preparation; with another preparation the neighbours may differ.

    Parameters
    ----------
    estimator : estimator
        Fitted on `X_train`.
    X_train : array-like of shape (n_samples, n_features)
        The training samples, in the order of the fit.
    x : array-like of shape (n_features,) or (1, n_features)
        The new sample.
    n_neighbors : int, default=8
        Maximum number to draw.
    image_shape : (int, int), default=None
        Height and width of a sample; by default the estimator's. Without a shape, bars are drawn.

    Returns
    -------
    figure : matplotlib Figure
        Each neighbour with its class in ``transduction_`` and its distance; the frame is dashed if
        that class is not the predicted one.
    """
    plt, model = pyplot(), learnt(estimator, "transduction_", "classes of training samples")
    check_count("n_neighbors", n_neighbors)
    rows, new = np.asarray(X_train, dtype=float), np.asarray(x, dtype=float).reshape(1, -1)
    found = np.asarray(model.transduction_)
    if len(rows) != len(found):
        raise ShapeError(f"training samples: expected {len(found)}, got {len(rows)}")
    if new.shape[1] != rows.shape[1]:
        raise ShapeError(f"features of x: expected {rows.shape[1]}, got {new.shape[1]}")
    search = NearestNeighbors(n_neighbors=min(n_neighbors, len(rows)))
    distances, nearest = search.fit(to_unit_length(rows)).kneighbors(to_unit_length(new))
    predicted = estimator.predict(x if np.ndim(np.asarray(x)) == 2 else new)[0]
    shape = sample_shape(estimator, image_shape, rows.shape[1])
    figure, axes = panels(plt, 1 + nearest.size, shape, columns=4, aside=True)
    titles = [f"new sample\npredicted {predicted}"]
    for row, distance in zip(nearest[0], distances[0], strict=True):
        titles.append(f"class {found[row]}\ndistance {distance:.2f}")
    draw_samples(axes, np.concatenate([new, rows[nearest[0]]]), shape, titles)
    axes[0].title.set_fontweight("bold")
    agrees = found[nearest[0]] == predicted
    for ax, solid in zip(axes[1:], agrees, strict=True):
        frame(ax, BLUE if solid else ORANGE, solid)
    figure.suptitle(f"{agrees.sum()} of the {agrees.size} nearest training samples agree")
    return figure


def plot_uncertain(
    estimator: Any,
    X: DenseSamples,
    *,
    n: int = 10,
    image_shape: ImageShape = None,
    indices: Indices | None = None,
) -> Figure:
    """The samples that the model is least certain of: those to check, or to label next.

    Parameters
    ----------
    estimator : estimator
        Fitted, with ``predict_proba``.
    X : array-like of shape (n_samples, n_features)
        Samples.
    n : int, default=10
        Maximum number to draw.
    image_shape : (int, int), default=None
        Height and width of a sample; by default the estimator's. Without a shape, bars are drawn.
    indices : array-like of int, default=None
        Rows of `X` to choose from, such as those without a label; all by default.

    Returns
    -------
    figure : matplotlib Figure
        Smallest margin between the two best classes first; each sample with its row in `X`, these
        classes and their probabilities.
    """
    plt = pyplot()
    check_is_fitted(estimator)
    check_count("n", n)
    rows = np.asarray(X, dtype=float)
    chosen = np.arange(len(rows)) if indices is None else np.asarray(indices, dtype=int)
    if not chosen.size:
        raise ShapeError("samples: there is none to choose from")
    probabilities = estimator.predict_proba(_safe_indexing(X, chosen))
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :2]
    first, second = np.take_along_axis(probabilities, best, axis=1).T
    least = np.argsort(first - second, kind="stable")[:n]
    shape = sample_shape(estimator, image_shape, rows.shape[1])
    figure, axes = panels(plt, len(least), shape)
    titles = []
    for place in least:
        one, other = estimator.classes_[best[place]]
        titles.append(
            f"row {chosen[place]}\n"
            f"class {one}: {first[place]:.0%}\nclass {other}: {second[place]:.0%}"
        )
    draw_samples(axes, rows[chosen[least]], shape, titles)
    figure.suptitle(f"The {len(least)} least certain of {len(chosen)} samples")
    return figure
