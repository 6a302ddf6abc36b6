"""Choosing parameters with few labels: folds, scores and a search that keep unlabelled samples.

This is cross-validation on the labels. Removing the samples of a fold would change the data from
which the rest is learnt; here only their labels are hidden, and the rows stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.utils import check_consistent_length
from sklearn.utils.parallel import Parallel, delayed

from . import _labels
from ._folds import FewLabelSplit, score_fold, splitter
from ._grids import FewLabelRandomSearch, FewLabelSearch
from ._halving import FewLabelHalvingSearch
from ._scoring import ONLY, LabelledScorer, by_name, scorers, undefined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._scoring import Scorer, Scoring
    from ._types import Labels, Metric, Numbers, Samples

__all__ = [
    "FewLabelHalvingSearch",
    "FewLabelRandomSearch",
    "FewLabelSearch",
    "FewLabelSplit",
    "cross_val_hidden",
    "labelled_accuracy",
    "make_few_label_scorer",
]


def labelled_accuracy(
    y_true: Labels,
    y_pred: Labels,
    *,
    unlabeled: object = None,
    sample_weight: Numbers | None = None,
) -> float:
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
        return undefined()
    weights = None if sample_weight is None else np.asarray(sample_weight)[known]
    truth = _labels.tidy(values[known])
    return float(accuracy_score(truth, predicted[known], sample_weight=weights))


def make_few_label_scorer(
    metric: str | Callable[..., float],
    *,
    response_method: str | Iterable[str] = "predict",
    unlabeled: object = None,
    greater_is_better: bool = True,
    **arguments: Any,
) -> LabelledScorer:
    """A scorer that uses only the samples with a label, for scikit-learn's ``scoring=``.

    Parameters
    ----------
    metric : callable or str
        ``metric(y_true, y_pred, **arguments)``, as in ``sklearn.metrics``; or one of scikit-learn's
        names of scores, such as ``"neg_log_loss"``, which says the rest.
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
    if isinstance(metric, str):
        return LabelledScorer(by_name(metric), unlabeled)
    scorer = make_scorer(
        metric, response_method=response_method, greater_is_better=greater_is_better, **arguments
    )
    return LabelledScorer(scorer, unlabeled)


@overload
def cross_val_hidden(
    estimator: Any,
    X: Samples,
    y: Labels,
    *,
    cv: int | FewLabelSplit = ...,
    scoring: str | Scorer | None = ...,
    metric: Metric | None = ...,
    n_jobs: int | None = ...,
    fit_params: dict[str, Any] | None = ...,
) -> NDArray[np.float64]: ...
@overload
def cross_val_hidden(
    estimator: Any,
    X: Samples,
    y: Labels,
    *,
    cv: int | FewLabelSplit = ...,
    scoring: list[str] | tuple[str, ...] | set[str] | Mapping[str, str | Scorer],
    n_jobs: int | None = ...,
    fit_params: dict[str, Any] | None = ...,
) -> dict[str, NDArray[np.float64]]: ...
def cross_val_hidden(
    estimator: Any,
    X: Samples,
    y: Labels,
    *,
    cv: int | FewLabelSplit = 5,
    scoring: Scoring = None,
    metric: Metric | None = None,
    n_jobs: int | None = None,
    fit_params: dict[str, Any] | None = None,
) -> NDArray[np.float64] | dict[str, NDArray[np.float64]]:
    """Cross-validation on the labels.

    For each fold, its labels are hidden, a clone is fitted, and its predictions for the hidden
    ones are scored: ``transduction_`` if the estimator has it, else ``predict``. It is fitted on
    all rows if it learns from unlabelled samples, else on those that still have a label.

    Parameters
    ----------
    estimator : estimator
        Any classifier; of a pipeline, the last step counts. Those of this package and of
        ``sklearn.semi_supervised`` learn from unlabelled samples, and so do searches around them
        and anything else with an attribute ``unlabeled``, its marker.
    X : array-like of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Labels.
    cv : int or FewLabelSplit, default=5
        Folds. Their marker of unlabelled samples is that of the estimator unless they have one.
    scoring : str, callable, sequence of str, dict or None, default=None
        One of scikit-learn's names of scores, such as ``"neg_log_loss"`` or ``"roc_auc_ovr"``; a
        ``scorer(estimator, X, y)``; or several, by name. None is the accuracy. Probabilities are
        those of ``label_distributions_`` where predictions are those of ``transduction_``.
    metric : callable, default=None
        ``metric(y_true, y_pred)``, greater is better: another way to write a score of predictions.
    n_jobs : int or None, default=None
        Number of folds at a time; None means 1 unless joblib says otherwise, -1 all processors.
    fit_params : dict, default=None
        Passed to ``fit``.

    Returns
    -------
    scores : ndarray of shape (n_splits,), or dict of them
        One per fold; by name if `scoring` names several.

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
    named = scorers(scoring, metric)
    folds = splitter(cv, estimator)
    scored = Parallel(n_jobs=n_jobs)(
        delayed(score_fold)(clone(estimator), X, y, fold, folds.unlabeled, named, fit_params)
        for fold in folds.hide(y)
    )
    by_fold = {name: np.array([scores[name] for scores, _ in scored]) for name in named}
    several = not (scoring is None or isinstance(scoring, str) or callable(scoring))
    return by_fold if several else by_fold[ONLY]
