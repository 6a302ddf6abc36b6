"""What the classifiers around others share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length, get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from . import _labels
from ._folds import blank
from ._scoring import LabelledScorer, by_name, marker_of, takes_unlabeled
from ._sklearn import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from .errors import LabelsError

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from ._types import Classes, Labels, Numbers, Real, Samples

# Probabilities below are no longer told apart.
SMALLEST = 1e-12


class Around(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of the classifiers around others."""

    classes_: Classes
    n_features_in_: int
    unlabeled: object

    def predict(self, X: Samples) -> Classes:
        """Predict the classes of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        check_is_fitted(self)
        found: Classes = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found

    def predict_proba(self, X: Samples) -> Real:
        """Probabilities of the classes."""
        raise NotImplementedError

    def score(self, X: Samples, y: Labels, sample_weight: Numbers | None = None) -> float:
        """Accuracy on the samples that have a label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels; unlabelled samples do not count.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample.

        Returns
        -------
        accuracy : float
            NaN, with a warning, if no sample has a label.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return LabelledScorer(by_name("accuracy"))(self, X, y, **weights)

    def _read(self, X: Any, y: Any) -> tuple[Any, _labels.Labels]:
        self._validate_params()
        rows, values = indexable(X, _labels.as_column(y))
        check_consistent_length(rows, values)
        labels = _labels.read(values, marker_of(self))
        if len(labels.classes) < 2:
            raise LabelsError(
                f"labels: {len(labels.classes)} classes have a label; a classifier needs two"
            )
        return rows, labels

    def _members(self) -> list[Any]:
        """The classifiers inside."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inside = [get_tags(each).input_tags.sparse for each in self._members()]
        tags.input_tags.sparse = all(inside)
        return tags

    def _note_samples(self, fitted: Any) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))


def fitted_on(estimator: Any, X: Any, y: Classes, labels: _labels.Labels) -> Any:
    """A clone, fitted on all rows, or on the labelled ones if it takes no others."""
    estimator, known = clone(estimator), labels.indices >= 0
    if takes_unlabeled(estimator):
        hidden, marker = blank(y, labels.classes, marker_of(estimator))
        hidden[~known] = marker
        return estimator.fit(X, hidden)
    rows = np.flatnonzero(known)
    return estimator.fit(_safe_indexing(X, rows), labels.classes[labels.indices[rows]])


def logits(fitted: Any, X: Any, classes: Classes) -> Real:
    """Logarithms of unscaled probabilities, in the order of all classes."""
    if hasattr(fitted, "predict_proba"):
        found = np.log(np.clip(np.asarray(fitted.predict_proba(X), dtype=float), SMALLEST, None))
    else:
        found = np.asarray(fitted.decision_function(X), dtype=float)
        if found.ndim == 1:
            found = np.column_stack([np.zeros(len(found)), found])
    every = np.full((len(found), len(classes)), np.log(SMALLEST))
    every[:, np.searchsorted(classes, fitted.classes_)] = found
    return every
