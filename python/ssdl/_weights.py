"""Weights of samples and classes, and the samples of weight zero, which take no part in a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from . import _labels
from .errors import GraphError, LabelsError, SamplesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._labels import Labels
    from ._ssdl import Model
    from ._types import ClassWeight, Numbers, Whole


@dataclass(frozen=True)
class Weights:
    """The weight of each sample of a fit; None if all count the same."""

    values: NDArray[np.float64] | None = None
    # Predictions for the samples that were left out: classes, scores, probabilities.
    left_out: tuple[Any, ...] | None = None

    @property
    def _kept(self) -> NDArray[np.bool_] | None:
        """A mask of the samples that take part; None if all do."""
        if self.values is None or self.values.all():
            return None
        return self.values > 0

    def numbers(self) -> list[float] | None:
        """The weights of the samples that take part, for the library."""
        return None if self.values is None else self.values[self.values > 0].tolist()

    def kept_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The rows that take part."""
        return rows if self._kept is None else rows[self._kept]

    def all_rows(self, kept: NDArray[Any], missing: float) -> NDArray[Any]:
        """Values of the samples that take part, in their rows among all."""
        if self.values is None or self._kept is None:
            return kept
        rows = np.full((len(self.values), *kept.shape[1:]), missing, dtype=kept.dtype)
        rows[self._kept] = kept
        return rows

    def row_numbers(self, chosen: Whole) -> Whole:
        """Row numbers among all samples."""
        return chosen if self._kept is None else np.flatnonzero(self._kept)[chosen]

    def judged(self, rows: NDArray[Any], model: Model, threads: int, device: str) -> Weights:
        """The same, with predictions for the samples that were left out."""
        if self._kept is None:
            return self
        others = np.ascontiguousarray(rows[~self._kept])
        return replace(self, left_out=model.predict(others, threads, device))

    def merged(self, found: NDArray[Any], part: int) -> NDArray[Any]:
        """What a fit found for its samples, and the predictions for the others."""
        if self._kept is None or self.left_out is None:
            return found
        rows = self.all_rows(found, 0)
        rows[~self._kept] = self.left_out[part]
        return rows

    def followed_by(self, n_more: int, n_before: int) -> Weights:
        """With more samples, which count as much as the labelled ones do on average."""
        if self.values is None:
            return self
        mean = self.values[self.values > 0].mean()
        return Weights(np.concatenate([self.values[:n_before], np.full(n_more, mean)]))


ALL = Weights()


def read(sample_weight: Numbers | None, rows: NDArray[Any], graph: object) -> Weights:
    """Weights as users give them."""
    if sample_weight is None:
        return ALL
    values = _check_sample_weight(sample_weight, rows, dtype=np.float64)
    if (values < 0).any():
        row = int(np.flatnonzero(values < 0)[0])
        raise SamplesError(f"sample_weight[{row}] is {values[row]}: weights are 0 or more")
    if not values.any():
        raise SamplesError("all samples have weight zero: there is nothing to learn from")
    if graph is not None and not values.all():
        raise GraphError(
            "samples of weight zero are left out of a fit, but the given graph has them: leave "
            "them out of X, y and graph"
        )
    return Weights(np.array(values))


def of_classes(class_weight: ClassWeight, labels: Labels) -> str | list[tuple[str, float]] | None:
    """Class weights for the library: a word, or pairs of name and number."""
    if class_weight is None or isinstance(class_weight, str):
        return class_weight
    places = {each: _labels.place(labels.classes, each) for each in class_weight}
    unknown = [each for each, place in places.items() if place is None]
    if unknown:
        known = labels.classes.astype(str) if labels.classes.dtype.kind in "mM" else labels.classes
        raise LabelsError(
            f"labels: class_weight names {unknown!r}, but the classes are {known.tolist()}"
        )
    return [
        (labels.names[place], float(class_weight[each]))
        for each, place in places.items()
        if place is not None
    ]
