"""What the plots share: panels, images, bars, and the shape of a sample or an atom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._request import steps
from ._scoring import last_step
from .errors import KnobError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ._types import ImageShape

# The output of these steps is no longer an image.
NO_IMAGE = ("pca", "projection", "gradients", "join")


def pyplot() -> Any:
    """Import matplotlib, which only plots need."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "matplotlib is needed for ssdl.plotting: pip install ssdl[plotting]"
        ) from error
    return plt


def axes_for(plt: Any, ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The given axes, or new ones."""
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def check_count(name: str, value: int | None) -> None:
    """Check that there is something to draw."""
    if value is not None and value < 1:
        raise KnobError(f"{name}: expected a whole number, 1 or more, got {value!r}")


def learnt(estimator: object, name: str, what: str) -> Any:
    """The estimator with this attribute, inside a search or pipeline."""
    model = _inner(estimator)
    if not hasattr(model, name):
        check_is_fitted(model)
        raise AttributeError(f"{type(model).__name__} has no {name}: it learns no {what}")
    return model


def _inner(estimator: object) -> Any:
    estimator = getattr(estimator, "best_estimator_", estimator)
    return last_step(estimator)


def prepared_shape(model: Any) -> tuple[int, ...] | None:
    """Height and width of an atom, as far as known; None if it is not an image."""
    shape: tuple[int, ...] | None = model.image_shape
    for step in steps(model.prepare):
        name, _, value = step.partition("=")
        if name in NO_IMAGE:
            return None
        if name == "resize" and shape is not None:
            shape = tuple(int(part) for part in value.split("x"))
    return shape


def sample_shape(estimator: object, image_shape: ImageShape, n_features: int) -> Any:
    """Height and width of a sample; None if it is not an image."""
    shape = image_shape
    if shape is None:
        shape = getattr(_inner(estimator), "image_shape", None)
    return shape if shape is not None and np.prod(shape) == n_features else None


def mosaic(images: NDArray[Any], columns: int | None) -> NDArray[Any]:
    """Many images in one, row by row, with gaps of NaN."""
    count, height, width = images.shape
    columns = min(columns or _columns(count, height, width), count)
    gap = max(1, round(max(height, width) / 16))
    lines = -(-count // columns)
    picture = np.full((lines * (height + gap) - gap, columns * (width + gap) - gap), np.nan)
    for place, image in enumerate(images):
        top, left = place // columns * (height + gap), place % columns * (width + gap)
        picture[top : top + height, left : left + width] = image
    return picture


def _columns(count: int, height: int, width: int) -> int:
    """Number of columns that leaves few empty cells in a picture slightly wider than high."""
    ideal = np.sqrt(1.4 * count * height / width)
    near = range(max(1, int(0.8 * ideal)), int(np.ceil(1.3 * ideal)) + 1)
    return min(near, key=lambda columns: (-count % columns, abs(columns - ideal)))


def step_positions(iterations: NDArray[Any]) -> NDArray[Any]:
    """Positions of steps: iteration k ends at k, its steps are spaced evenly before."""
    places = np.empty(len(iterations))
    for each in np.unique(iterations):
        steps = np.flatnonzero(iterations == each)
        places[steps] = each - 1 + np.arange(1, len(steps) + 1) / len(steps)
    return places


def panels(
    plt: Any, count: int, shape: object, *, columns: int = 5, aside: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure and a list of its axes, one per sample; the first one set apart if aside."""
    apart = int(aside)
    lines = -(-(count - apart) // columns)
    columns = -(-(count - apart) // lines)
    width = 1.5 if shape is not None else 2.2
    size = max(4.0, (columns + 1.2 * apart) * width), 0.4 + lines * 2.1
    figure = plt.figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(lines, columns + apart, width_ratios=[1.2] * apart + [1] * columns)
    # Bars can be compared only at equal height.
    first = grid[0, 0] if shape is None else grid[:, 0]
    axes = [figure.add_subplot(first)] if aside else []
    for place in range(count - apart):
        axes.append(figure.add_subplot(grid[place // columns, apart + place % columns]))
    return figure, axes


def draw_samples(axes: list[Axes], rows: NDArray[Any], shape: Any, titles: list[str]) -> None:
    """Draw samples as images, or their features as bars on one scale."""
    low, high = min(0.0, rows.min()), max(0.0, rows.max())
    margin = 0.05 * (high - low) or 1.0
    for ax, row, title in zip(axes, rows, titles, strict=True):
        if shape is None:
            ax.bar(np.arange(len(row)), row, width=1, color="0.35")
            ax.axhline(0, color="black", linewidth=0.6)
            ax.margins(x=0.01)
            ax.set_ylim(low - margin, high + margin)
        else:
            ax.imshow(row.reshape(shape), cmap="gray", interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize="medium")


def frame(ax: Axes, colour: str, solid: bool) -> None:
    """Draw a coloured frame, solid or dashed, so that it can be told apart without colour."""
    for spine in ax.spines.values():
        spine.set(color=colour, linewidth=2.5, capstyle="butt")
        spine.set_linestyle("-" if solid else (0, (2, 1.5)))


def whole_ticks(*axes: Any) -> None:
    """Put ticks at whole numbers only."""
    for axis in axes:
        axis.get_major_locator().set_params(integer=True)


def longest(classes: Iterable[object]) -> int:
    """Length of the longest class name."""
    return max(len(str(each)) for each in classes)
