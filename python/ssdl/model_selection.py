"""Choosing parameters with few labels: folds, scores and a search that keep unlabelled samples.

This is cross-validation on the labels. Removing the samples of a fold would change the data from
which the rest is learnt; here only their labels are hidden, and the rows stay.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.parallel import Parallel, delayed

from . import _labels
from ._folds import FewLabelSplit, marker_of, score_fold, splitter
from ._search import FewLabelSearch

__all__ = [
    "FewLabelSearch",
    "FewLabelSplit",
    "cross_val_hidden",
    "labelled_accuracy",
    "make_few_label_scorer",
]


def labelled_accuracy(y_true, y_pred, *, unlabeled=None, sample_weight=None):
    """Accuracy on the samples that have a label.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels; unlabelled samples do not count.
    y_pred : array-like of shape (n_samples,)
        Predicted classes.
    unlabeled : object, default=None
        Marker of unlabelled samples, besides None, NaN and NA. By default -1, unless there is
        only one other class in both: then -1 is a class.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each sample.

    Returns
    -------
    accuracy : float
        NaN, with a warning, if no sample has a label.
    """
    values, predicted = _labels.as_column(y_true), _labels.as_column(y_pred)
    check_consistent_length(values, predicted, sample_weight)
    both = np.concatenate([values.astype(object), predicted.astype(object)])
    known = _labels.read(both, unlabeled).indices[: len(values)] >= 0
    if not known.any():
        return _undefined()
    weights = None if sample_weight is None else np.asarray(sample_weight)[known]
    return accuracy_score(_labels.tidy(values[known]), predicted[known], sample_weight=weights)


def make_few_label_scorer(
    metric, *, response_method="predict", unlabeled=None, greater_is_better=True, **arguments
):
    """A scorer that uses only the samples with a label, for scikit-learn's ``scoring=``.

    Parameters
    ----------
    metric : callable
        ``metric(y_true, y_pred, **arguments)``, as in ``sklearn.metrics``.
    response_method : str or sequence of str, default="predict"
        What the metric compares with the labels: ``predict``, ``predict_proba`` or
        ``decision_function``, or several, of which the first available one is used.
    unlabeled : object, default=None
        Marker of unlabelled samples; by default that of the estimator.
    greater_is_better : bool, default=True
        False for a loss, whose sign is then flipped.
    **arguments
        Passed to the metric.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y)``; NaN, with a warning, if no sample has a label.
    """
    scorer = make_scorer(
        metric, response_method=response_method, greater_is_better=greater_is_better, **arguments
    )
    return _FewLabelScorer(scorer, unlabeled)


@dataclass(frozen=True)
class _FewLabelScorer:
    scorer: Any
    unlabeled: Any

    def __call__(self, estimator, X, y, sample_weight=None):
        known, values = self._known(estimator, y)
        check_consistent_length(X, values, sample_weight)
        if not known.any():
            return _undefined()
        rows = np.flatnonzero(known)
        weights = {}
        if sample_weight is not None:
            weights["sample_weight"] = np.asarray(sample_weight)[rows]
        truth = _labels.tidy(values[rows])
        return self.scorer(estimator, _safe_indexing(X, rows), truth, **weights)

    def _known(self, estimator, y):
        marker = marker_of(estimator) if self.unlabeled is None else self.unlabeled
        classes = np.asarray(getattr(estimator, "classes_", []))
        return _labels.is_labelled(y, marker, classes)


def _undefined():
    warnings.warn("no sample has a label", UndefinedMetricWarning, stacklevel=3)
    return float("nan")


def cross_val_hidden(estimator, X, y, *, cv=5, metric=None, n_jobs=None, fit_params=None):
    """Cross-validation on the labels, with all rows kept.

    For each fold, its labels are hidden, a clone is fitted on all rows, and its predictions for
    the hidden ones are scored: ``transduction_`` if the estimator has it, else ``predict``.

    Parameters
    ----------
    estimator : estimator
        Anything whose ``fit`` takes unlabelled samples; of a pipeline, the last step counts.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels.
    cv : int or FewLabelSplit, default=5
        Folds. With a number, the marker of unlabelled samples is that of the estimator.
    metric : callable, default=None
        ``metric(y_true, y_pred)``, greater is better; accuracy if None.
    n_jobs : int or None, default=None
        Number of folds at a time; None means 1 unless joblib says otherwise, -1 all processors.
    fit_params : dict, default=None
        Passed to ``fit``.

    Returns
    -------
    scores : ndarray of shape (n_splits,)
        One per fold.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import Nearest
    >>> from ssdl.model_selection import cross_val_hidden
    >>> X, y = load_digits(return_X_y=True)
    >>> y[100:] = -1
    >>> bool(cross_val_hidden(Nearest(), X[:400], y[:400], cv=4).mean() > 0.7)
    True
    """
    folds = splitter(cv, estimator).hide(y)
    scored = Parallel(n_jobs=n_jobs)(
        delayed(score_fold)(clone(estimator), X, y, fold, metric, fit_params) for fold in folds
    )
    return np.array([score for score, _ in scored])
