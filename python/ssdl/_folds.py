"""Folds of the labelled samples, and the score of a fit on hidden labels."""

from __future__ import annotations

import copy
import time
import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _check_method_params

from . import _labels
from ._request import caller
from ._scoring import HeldOut, last_step, marker_of, takes_unlabeled
from ._sklearn import BaseCrossValidator
from .errors import FitWarning, KnobError, LabelsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._scoring import Scorer
    from ._types import Classes, Labels, Seed, Whole


class FewLabelSplit(BaseCrossValidator):
    """Stratified folds over the labelled samples; unlabelled ones are in every training set.

    A class with a single label stays in every training set, as holding it out would lose the
    class; no fold tests it. If a class has fewer labels than there are folds, the number of folds
    is reduced to the size of the smallest class with two or more labels, with a warning.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, 2 or more.
    unlabeled : object, default=None
        Marker of unlabelled samples in `y`, besides None, NaN and NA. By default -1, unless there
        is only one other class: then -1 is a class.
    shuffle : bool, default=True
        Whether the samples of a class are shuffled before they are split.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling.

    Examples
    --------
    >>> from ssdl.model_selection import FewLabelSplit
    >>> y = [0, 0, 1, 1, -1, -1]
    >>> for train, test in FewLabelSplit(2, shuffle=False).split(y, y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 2 4 5] [1 3]
    """

    n_splits: int
    unlabeled: object
    shuffle: bool
    random_state: Seed

    def __init__(
        self,
        n_splits: int = 5,
        *,
        unlabeled: object = None,
        shuffle: bool = True,
        random_state: Seed = 0,
    ) -> None:
        if not isinstance(n_splits, Integral) or n_splits < 2:
            raise KnobError(f"n_splits: expected a whole number, 2 or more, got {n_splits!r}")
        self.n_splits = int(n_splits)
        self.unlabeled = unlabeled
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Number of folds.

        Parameters
        ----------
        X : object, default=None
            Ignored.
        y : array-like of shape (n_samples,), default=None
            Labels; small classes may reduce the number.
        groups : object, default=None
            Ignored.

        Returns
        -------
        n_splits : int
            As given to the constructor, if `y` is None.
        """
        return self.n_splits if y is None else self._possible(self._counts(y)[1])

    def split(
        self, X: Any, y: Labels | None = None, groups: object = None
    ) -> Iterator[tuple[Whole, Whole]]:
        """Training and test rows of each fold, for scikit-learn's own tools.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; only their number matters.
        y : array-like of shape (n_samples,)
            Labels.
        groups : object, default=None
            Ignored.

        Yields
        ------
        train : ndarray
            Every row that is not in `test`, unlabelled ones included.
        test : ndarray
            The labelled samples of the fold.
        """
        yield from super().split(X, y)

    def hide(self, y: Labels) -> Iterator[tuple[Classes, Whole]]:
        """For each fold, the labels with those of the fold hidden, for fits on all rows.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.

        Yields
        ------
        y_hidden : ndarray of shape (n_samples,)
            A copy of `y` with the marker in the rows of the fold: ``unlabeled`` if given, else -1
            for numbers; None for text, or if -1 is a class.
        held_out : ndarray
            Rows of the fold.
        """
        values = _labels.as_column(y)
        labels, counts = self._counts(y)
        empty, marker = blank(values, labels.classes, self.unlabeled)
        for held_out in self._tests(labels, counts):
            hidden = empty.copy()
            hidden[held_out] = marker
            yield hidden, held_out

    def _iter_test_indices(
        self, X: object = None, y: object = None, groups: object = None
    ) -> Iterator[Whole]:
        return self._tests(*self._counts(y))

    def _counts(self, y: object) -> tuple[_labels.Labels, Whole]:
        labels = _labels.read(y, self.unlabeled)
        if not len(labels.classes):
            raise LabelsError(
                "labels: no sample is labelled, so none can be held out; "
                "label at least two samples of a class"
            )
        return labels, np.bincount(labels.indices[labels.indices >= 0])

    def _possible(self, counts: Whole) -> int:
        """The number of folds that the classes allow."""
        if counts.max() < 2:
            raise LabelsError(
                "labels: every class has one sample with a label, and holding it out would lose "
                "the class; label at least two samples of a class"
            )
        return min(self.n_splits, int(counts[counts > 1].min()))

    def _tests(self, labels: _labels.Labels, counts: Whole) -> Iterator[Whole]:
        n_splits = self._possible(counts)
        if n_splits < self.n_splits:
            smallest = labels.classes[np.argmax(counts == n_splits)]
            warnings.warn(
                f"{n_splits} folds instead of {self.n_splits}: class {smallest} has only "
                f"{n_splits} labels",
                FitWarning,
                stacklevel=caller(),
            )
        known = np.flatnonzero(labels.indices >= 0)
        known = known[counts[labels.indices[known]] > 1]
        seed = self.random_state if self.shuffle else None
        folds = StratifiedKFold(n_splits, shuffle=self.shuffle, random_state=seed)
        for _, test in folds.split(known, labels.indices[known]):
            yield known[test]


def blank(values: Classes, classes: Classes, unlabeled: object) -> tuple[Classes, object]:
    """A copy of the labels that can hold a marker, and the marker."""
    marker = _labels.MARKER if unlabeled is None else unlabeled
    if _holds(values.dtype, marker) and marker not in classes:
        return values.copy(), marker
    # NumPy would truncate a marker that is longer than the labels.
    return values.astype(object), marker if isinstance(marker, str) else None


def _holds(dtype: np.dtype[Any], marker: Any) -> bool:
    """Whether an array of this type can hold the marker."""
    if not _labels._is_number(marker):
        return False
    if dtype.kind == "f":
        return True
    if dtype.kind not in "iu" or marker != marker:
        return False
    return bool(np.iinfo(dtype).min <= marker <= np.iinfo(dtype).max)


def splitter(cv: int | FewLabelSplit, estimator: object) -> FewLabelSplit:
    """The folds for `cv`, with the marker of the estimator unless they have one of their own."""
    folds = copy.copy(cv) if isinstance(cv, FewLabelSplit) else FewLabelSplit(cv)
    if folds.unlabeled is None:
        folds.unlabeled = marker_of(estimator)
    return folds


def score_fold(
    estimator: Any,
    X: Any,
    y: Any,
    fold: tuple[Classes, Whole],
    unlabeled: object,
    scorers: dict[str, Scorer],
    fit_params: dict[str, Any] | None,
) -> tuple[dict[str, float], float]:
    """Fit with the labels of a fold hidden: its scores by name, and the fit time."""
    hidden, rows = fold
    start = time.perf_counter()
    fit_on_rows_it_takes(estimator, X, hidden, unlabeled, fit_params)
    seconds = time.perf_counter() - start
    truth = _labels.tidy(_labels.as_column(y)[rows])
    new = _safe_indexing(indexable(X)[0], rows)
    fitted = held_out(estimator, new, rows)
    return {name: float(score(fitted, new, truth)) for name, score in scorers.items()}, seconds


def fit_on_rows_it_takes(
    estimator: Any, X: Any, y: Any, unlabeled: object, fit_params: dict[str, Any] | None
) -> Any:
    """Fit on all rows, or on the labelled ones if the marker would be a class to the estimator."""
    takes_all, own = takes_unlabeled(estimator), marker_of(estimator)
    if takes_all and own is unlabeled:
        return estimator.fit(X, y, **(fit_params or {}))
    labels = _labels.read(y, unlabeled)
    if takes_all:
        hidden, marker = blank(_labels.as_column(y), labels.classes, own)
        hidden[labels.indices < 0] = marker
        return estimator.fit(X, hidden, **(fit_params or {}))
    known = np.flatnonzero(labels.indices >= 0)
    samples = _safe_indexing(indexable(X)[0], known)
    some = _check_method_params(X, fit_params or {}, indices=known)
    return estimator.fit(samples, labels.classes[labels.indices[known]], **some)


def held_out(estimator: Any, new: Any, rows: Whole) -> HeldOut:
    """The fitted estimator, with the predictions of the fit itself for these rows, if it makes any.

    `new` are the samples of the rows.
    """
    last = last_step(estimator)
    # A fit on the labelled rows alone counts its samples otherwise.
    took_all = takes_unlabeled(estimator)
    predicted, shares = getattr(last, "transduction_", None) if took_all else None, None
    if predicted is not None:
        predicted = np.asarray(predicted)[rows]
        # scikit-learn's self-training leaves rows unlabelled that it was never sure of.
        if not np.isin(predicted, estimator.classes_).all():
            predicted = None
    if predicted is not None and hasattr(last, "label_distributions_"):
        shares = np.asarray(last.label_distributions_)[rows]
    return HeldOut(estimator, new, predicted, shares)
