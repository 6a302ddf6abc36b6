"""Folds of the labelled samples, and the score of a fit on hidden labels."""

import time
import warnings
from numbers import Integral

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.utils import _safe_indexing

from . import _labels
from .errors import FitWarning, KnobError, LabelsError


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

    def __init__(self, n_splits=5, *, unlabeled=None, shuffle=True, random_state=0):
        if not isinstance(n_splits, Integral) or n_splits < 2:
            raise KnobError(f"n_splits: expected a whole number, 2 or more, got {n_splits!r}")
        self.n_splits = int(n_splits)
        self.unlabeled = unlabeled
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X=None, y=None, groups=None):
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

    def split(self, X, y=None, groups=None):
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
        return super().split(X, y)

    def hide(self, y):
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
        blank, marker = self._blank(values, labels.classes)
        for held_out in self._tests(labels, counts):
            hidden = blank.copy()
            hidden[held_out] = marker
            yield hidden, held_out

    def _iter_test_indices(self, X=None, y=None, groups=None):
        return self._tests(*self._counts(y))

    def _counts(self, y):
        labels = _labels.read(y, self.unlabeled)
        if not len(labels.classes):
            raise LabelsError(
                "labels: no sample is labelled, so none can be held out; "
                "label at least two samples of a class"
            )
        return labels, np.bincount(labels.indices[labels.indices >= 0])

    def _possible(self, counts):
        """The number of folds that the classes allow."""
        if counts.max() < 2:
            raise LabelsError(
                "labels: every class has one sample with a label, and holding it out would lose "
                "the class; label at least two samples of a class"
            )
        return min(self.n_splits, int(counts[counts > 1].min()))

    def _tests(self, labels, counts):
        n_splits = self._possible(counts)
        if n_splits < self.n_splits:
            smallest = labels.classes[np.argmax(counts == n_splits)]
            warnings.warn(
                f"{n_splits} folds instead of {self.n_splits}: class {smallest} has only "
                f"{n_splits} labels",
                FitWarning,
                stacklevel=3,
            )
        known = np.flatnonzero(labels.indices >= 0)
        known = known[counts[labels.indices[known]] > 1]
        seed = self.random_state if self.shuffle else None
        folds = StratifiedKFold(n_splits, shuffle=self.shuffle, random_state=seed)
        for _, test in folds.split(known, labels.indices[known]):
            yield known[test]

    def _blank(self, values, classes):
        """A copy of the labels that can hold a marker, and the marker."""
        marker = _labels.MARKER if self.unlabeled is None else self.unlabeled
        if _holds(values.dtype, marker) and marker not in classes:
            return values.copy(), marker
        # NumPy would truncate a marker that is longer than the labels.
        return values.astype(object), marker if isinstance(marker, str) else None


def _holds(dtype, marker):
    """Whether an array of this type can hold the marker."""
    if not _labels._is_number(marker):
        return False
    if dtype.kind == "f":
        return True
    if dtype.kind not in "iu" or marker != marker:
        return False
    return np.iinfo(dtype).min <= marker <= np.iinfo(dtype).max


def splitter(cv, estimator):
    """The folds for `cv`; a number takes the marker of the estimator."""
    if isinstance(cv, FewLabelSplit):
        return cv
    return FewLabelSplit(cv, unlabeled=marker_of(estimator))


def last_step(estimator):
    """The last step of a pipeline; anything else is its own last step."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


def marker_of(estimator):
    """The estimator's marker of unlabelled samples, if it has one."""
    estimator = last_step(estimator)
    inner = getattr(estimator, "estimator", None)
    return marker_of(inner) if inner is not None else getattr(estimator, "unlabeled", None)


def score_fold(estimator, X, y, fold, metric, fit_params):
    """Fit on all rows with the labels of a fold hidden: the score on them, and the fit time."""
    hidden, held_out = fold
    start = time.perf_counter()
    estimator.fit(X, hidden, **(fit_params or {}))
    seconds = time.perf_counter() - start
    truth = _labels.tidy(_labels.as_column(y)[held_out])
    predicted = _predictions(estimator, X, held_out)
    return (metric or accuracy_score)(truth, predicted), seconds


def _predictions(estimator, X, held_out):
    """Predictions for the held-out rows: those of the fit itself, if it makes any."""
    found = getattr(last_step(estimator), "transduction_", None)
    if found is not None:
        predicted = np.asarray(found)[held_out]
        # scikit-learn's self-training leaves rows unlabelled that it was never sure of.
        if np.isin(predicted, estimator.classes_).all():
            return predicted
    return estimator.predict(_safe_indexing(X, held_out))
