"""Fitted classifiers looked at: predictions explained, and the report page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _labels, _ssdl
from .errors import LabelsError, SamplesError

if TYPE_CHECKING:
    from ._base import FewLabelClassifier
    from ._types import Classes, Indices, Labels, PathLike, Real, Samples, Whole

# Parts that the text of an explanation names.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a sample gets its prediction.

    A linear score is a sum over the atoms of a sample's code, so each atom has a share in it; the
    training samples nearest in the graph pull the code, or vote.

    Attributes
    ----------
    predicted : object
        The predicted class.
    second : object
        The class that comes second; None if there is no other.
    classes : ndarray of shape (n_classes,)
        The classes, in the order of `scores`, `probabilities` and `votes`.
    scores : ndarray of shape (n_classes,)
        Scores of the classes.
    probabilities : ndarray of shape (n_classes,)
        Probabilities of the classes.
    kind : {"atom", "feature"}
        What the sample is made of: atoms, or prepared features if the method has no atoms.
    parts : ndarray of shape (n_parts,)
        Their indices; those that decide most between the two classes come first.
    amounts : ndarray of shape (n_parts,)
        How much of each.
    votes : ndarray of shape (n_parts, n_classes)
        What each adds to the scores; no columns if training samples vote.
    neighbors : ndarray of shape (n_neighbors,)
        Rows of the training samples that the sample is tied to, the heaviest first.
    weights : ndarray of shape (n_neighbors,)
        Their weights.
    """

    predicted: Any
    second: Any
    classes: Classes
    scores: Real
    probabilities: Real
    kind: Literal["atom", "feature"]
    parts: Whole
    amounts: Real
    votes: Real
    neighbors: Whole
    weights: Real

    def __str__(self) -> str:
        names = _labels._listed(self.classes)
        first = names.index(self.predicted)
        text = f"{self.predicted} ({self.probabilities[first]:.1%})"
        if self.second is not None:
            share = self.probabilities[names.index(self.second)]
            text += f", then {self.second} ({share:.1%})"
        if self.votes.shape[1]:
            own = self.votes[:, first]
            named = zip(self.parts[:NAMED], own[:NAMED], strict=True)
            text += "; votes: " + ", ".join(
                f"{self.kind} {part} ({vote:+.3g})" for part, vote in named
            )
        if len(self.neighbors):
            named = self.neighbors[:NAMED].tolist()
            text += "; nearest: " + ", ".join(str(each) for each in named)
        return text


def explain(
    estimator: FewLabelClassifier, X: Samples | None, samples: Indices | None
) -> list[Explanation]:
    """Explanations for new samples, or for rows of the training samples."""
    if (X is None) == (samples is None):
        raise SamplesError("explain takes either new samples as X or training rows as samples")
    model, weights = estimator._learnt, estimator._row_weights
    asked: Any
    if X is None:
        asked = _rows_of_the_model(estimator, samples)
    else:
        asked = estimator._samples(X, model.precision)
    classes = estimator.classes_
    names = _labels._listed(classes)
    return [
        Explanation(
            predicted=names[one["class"]],
            second=None if one["second"] is None else names[one["second"]],
            classes=classes,
            scores=one["scores"],
            probabilities=one["probabilities"],
            kind="atom" if model.n_atoms else "feature",
            parts=one["parts"],
            amounts=one["amounts"],
            votes=one["votes"],
            neighbors=weights.row_numbers(one["neighbours"]),
            weights=one["weights"],
        )
        for one in _ssdl.explain(model, asked, estimator._threads())
    ]


def _rows_of_the_model(estimator: FewLabelClassifier, samples: Any) -> list[int]:
    """Places in the model of rows of the training samples."""
    places = estimator._row_weights.all_rows(np.arange(len(estimator._model.labels)), -1)
    rows = np.atleast_1d(np.asarray(samples))
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise SamplesError("samples are row numbers of the training samples, such as [0, 5]")
    for row in rows.tolist():
        if not 0 <= row < len(places):
            raise SamplesError(
                f"there is no training sample {row}; there are {len(places)}, counted from 0"
            )
        if places[row] < 0:
            raise SamplesError(
                f"training sample {row} has weight zero and took no part in the fit: pass it as X"
            )
    found: list[int] = places[rows.astype(int)].tolist()
    return found


def report(
    estimator: FewLabelClassifier, path: PathLike, X: Samples | None, y: Labels | None
) -> None:
    """Write the report page."""
    model = estimator._learnt
    name = type(estimator).__name__
    others = None
    if X is not None:
        rows = estimator._samples(X, model.precision)
        others = (rows, _names(estimator, y, len(rows)))
    elif y is not None:
        raise LabelsError("labels: y belongs to new samples; pass them as X")
    title = f"{name} on its training samples" if X is None else f"{name} on {len(rows)} samples"
    words = (title, " ".join(repr(estimator).split()))
    _ssdl.report(model, os.fspath(path), words, others, estimator._threads())


def _names(estimator: FewLabelClassifier, y: Labels | None, n_samples: int) -> list[str | None]:
    """The labels as the model names its classes."""
    if y is None:
        return []
    known = _labels.read(y, estimator.unlabeled)
    if len(known.indices) != n_samples:
        raise LabelsError(f"labels: {len(known.indices)} labels for {n_samples} samples")
    return [None if index < 0 else known.names[index] for index in known.indices]
