"""Scores of hidden labels by scikit-learn's names, one or several at once.

Some of scikit-learn's scorers fail if a class is missing among the labels that they see, which is
common with few labels: a class with one label is never held out. Those are replaced here by scorers
of the same name and value that know all classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    get_scorer,
    log_loss,
    make_scorer,
    roc_auc_score,
    top_k_accuracy_score,
)
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import _safe_indexing, check_consistent_length

from . import _labels
from ._request import caller
from ._sklearn import BaseEstimator, ClassifierMixin
from .errors import KnobError

if TYPE_CHECKING:
    from ._types import Classes, Metric, Numbers, Real

Scorer: TypeAlias = Callable[..., float]
Scoring: TypeAlias = str | Scorer | Iterable[str] | Mapping[str, str | Scorer] | None
# The name of a score that was not named.
ONLY = "score"


def scorers(scoring: Scoring, metric: Metric | None = None) -> dict[str, Scorer]:
    """The scorers by name; a single one is called ``score``."""
    if metric is not None:
        if scoring is not None:
            raise KnobError("metric and scoring are both given: metric is an alias, leave it out")
        return {ONLY: make_scorer(metric)}
    if scoring is None:
        return {ONLY: by_name("accuracy")}
    if isinstance(scoring, str) or callable(scoring):
        return {ONLY: by_name(scoring)}
    if isinstance(scoring, Mapping):
        found = {name: by_name(each) for name, each in scoring.items()}
    else:
        found = {name: by_name(name) for name in scoring}
    if not found:
        raise KnobError("scoring: there is no name in it; name at least one score")
    return found


def by_name(scoring: str | Scorer) -> Scorer:
    """A scorer ``scorer(estimator, X, y)``, greater is better."""
    if not isinstance(scoring, str):
        return scoring
    return ALL_CLASSES[scoring] if scoring in ALL_CLASSES else get_scorer(scoring)


def _neg_log_loss(estimator: Any, X: Any, y: Classes) -> float:
    return -float(log_loss(y, estimator.predict_proba(X), labels=estimator.classes_))


def _d2_log_loss(estimator: Any, X: Any, y: Classes) -> float:
    """One minus the log-loss in units of that of the class shares among `y`."""
    shares = np.unique(np.asarray(y), return_counts=True)[1] / len(y)
    of_shares = -float((shares * np.log(shares)).sum())
    return 1.0 + _neg_log_loss(estimator, X, y) / of_shares if of_shares > 0 else float("nan")


def _neg_brier(estimator: Any, X: Any, y: Classes) -> float:
    """The squared error of the probabilities; half of it with two classes, as is usual."""
    found = np.asarray(estimator.predict_proba(X), dtype=float)
    wanted = (np.asarray(y)[:, None] == estimator.classes_).astype(float)
    half = 0.5 if len(estimator.classes_) == 2 else 1.0
    return -half * float(((found - wanted) ** 2).sum(axis=1).mean())


def _top_two(estimator: Any, X: Any, y: Classes) -> float:
    found, classes = estimator.predict_proba(X), estimator.classes_
    if len(classes) == 2:
        return 1.0
    return float(top_k_accuracy_score(y, found, k=2, labels=classes))


def _area(estimator: Any, X: Any, y: Classes, **how: Any) -> float:
    """Area under the curve, over the classes that have a label among `y`."""
    classes = np.asarray(estimator.classes_)
    if not how and len(classes) > 2:
        raise KnobError(
            "scoring: roc_auc is for two classes; take roc_auc_ovr or roc_auc_ovo for "
            f"{len(classes)} of them"
        )
    found = np.asarray(estimator.predict_proba(X), dtype=float)
    there = np.isin(classes, y)
    if there.sum() < 2:
        message = "the area under the curve needs labels of two classes among those held out"
        warnings.warn(message, UndefinedMetricWarning, stacklevel=caller())
        return float("nan")
    found, classes = _shares(found[:, there]), classes[there]
    if len(classes) == 2:
        return float(roc_auc_score(np.asarray(y) == classes[1], found[:, 1]))
    return float(roc_auc_score(y, found, labels=classes, **how))


def _shares(found: Real) -> Real:
    total = found.sum(axis=1, keepdims=True)
    # A sample that is certain to be of another class is anything here.
    even = np.full_like(found, 1 / found.shape[1])
    return np.asarray(np.divide(found, total, out=even, where=total > 0))


ALL_CLASSES: dict[str, Scorer] = {
    "neg_log_loss": _neg_log_loss,
    "d2_log_loss_score": _d2_log_loss,
    "neg_brier_score": _neg_brier,
    "top_k_accuracy": _top_two,
    "roc_auc": _area,
    "roc_auc_ovr": partial(_area, multi_class="ovr"),
    "roc_auc_ovo": partial(_area, multi_class="ovo"),
    "roc_auc_ovr_weighted": partial(_area, multi_class="ovr", average="weighted"),
    "roc_auc_ovo_weighted": partial(_area, multi_class="ovo", average="weighted"),
}


class HeldOut(ClassifierMixin, BaseEstimator):
    """A fitted classifier that gives scorers the predictions of its fit for the held-out rows.

    Whatever else it is asked, the classifier answers; for other samples, too.
    """

    def __init__(self, fitted: Any, rows: Any, predicted: Classes | None, shares: Real | None):
        self.fitted = fitted
        self.rows = rows
        self.predicted = predicted
        self.shares = shares

    @property
    def classes_(self) -> Classes:
        """The classes of the classifier."""
        return np.asarray(self.fitted.classes_)

    def predict(self, X: Any) -> Classes:
        """Predictions of the fit, if these are its rows."""
        if X is self.rows and self.predicted is not None:
            return self.predicted
        return np.asarray(self.fitted.predict(X))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "fitted" not in vars(self):
            raise AttributeError(name)
        if name == "predict_proba" and self.shares is not None:
            return self._shares_of
        # Scores of new samples and probabilities of the fit would not be of one kind.
        if name == "decision_function" and self.shares is not None:
            raise AttributeError(name)
        return getattr(self.fitted, name)

    def _shares_of(self, X: Any) -> Any:
        return self.shares if X is self.rows else self.fitted.predict_proba(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(frozen=True)
class LabelledScorer:
    """A scorer that sees only the samples with a label."""

    scorer: Scorer
    unlabeled: Any = None

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Numbers | None = None
    ) -> float:
        marker = marker_of(estimator) if self.unlabeled is None else self.unlabeled
        classes = np.asarray(getattr(estimator, "classes_", []))
        known, values = _labels.is_labelled(y, marker, classes)
        check_consistent_length(X, values, sample_weight)
        if not known.any():
            return undefined()
        rows = np.flatnonzero(known)
        weights = {}
        if sample_weight is not None:
            weights["sample_weight"] = np.asarray(sample_weight)[rows]
        truth = _labels.tidy(values[rows])
        return float(self.scorer(estimator, _safe_indexing(X, rows), truth, **weights))


def undefined() -> float:
    """The score without a labelled sample: NaN, and a warning."""
    warnings.warn("no sample has a label", UndefinedMetricWarning, stacklevel=caller())
    return float("nan")


def last_step(estimator: Any) -> Any:
    """The last step of a pipeline; anything else is its own last step."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


def marker_of(estimator: object) -> object:
    """The marker of unlabelled samples: its own, that of its folds, or of the estimator inside."""
    estimator = last_step(estimator)
    for place in (estimator, getattr(estimator, "cv", None)):
        marker: object = getattr(place, "unlabeled", None)
        if marker is not None:
            return marker
    inner = getattr(estimator, "estimator", None)
    return None if inner is None else marker_of(inner)


def takes_unlabeled(estimator: object) -> bool:
    """Whether a classifier learns from unlabelled samples; of a pipeline, the last step counts.

    Parameters
    ----------
    estimator : estimator
        A classifier.

    Returns
    -------
    answer : bool
        True for the classifiers of this package and of ``sklearn.semi_supervised``, for searches
        around them, and for anything else with a parameter ``unlabeled``. False for ensembles and
        the like around them, which make a class of the marker before they pass labels on.
    """
    last = last_step(estimator)
    if hasattr(last, "unlabeled") or type(last).__module__.startswith("sklearn.semi_supervised"):
        return True
    is_search = isinstance(last, BaseSearchCV) or getattr(last, "_passes_labels_on", False)
    return is_search and takes_unlabeled(last.estimator)
