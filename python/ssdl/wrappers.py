"""Calibration, voting and self-training around any classifier, for labels of which few are known.

scikit-learn's own take every value of ``y`` for a class, the marker of unlabelled samples included.
Here classifiers that learn from unlabelled samples get all rows, and the others the labelled ones.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from . import _labels
from ._around import Around, fitted_on, logits
from ._calibration import HiddenCalibration
from ._scoring import takes_unlabeled
from ._sklearn import _BaseComposition
from .errors import KnobError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from ._types import Labels, Numbers, Samples
    from ._types import Real as RealArray

__all__ = ["HiddenCalibration", "SelfTrainingAround", "SoftVoting", "takes_unlabeled"]


class SoftVoting(Around, _BaseComposition):
    """The mean of the probabilities of several classifiers, with few labels.

    ``VotingClassifier`` makes a class of the marker of unlabelled samples and renumbers the classes
    for its members, which then take another class for the marker.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The classifiers with a name each; with ``predict_proba`` or ``decision_function``. The
        parameters of ``line`` are ``line__C`` and so on to ``set_params`` and searches.
    weights : array-like of shape (n_estimators,) or None, default=None
        How much each counts; the same by default.
    unlabeled : object, default=None
        Marker of unlabelled samples; by default -1, as in the classifiers.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimators_ : list of classifier
        The fitted classifiers.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ssdl import LabelSpreading
    >>> from ssdl.wrappers import SoftVoting
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:500].copy()
    >>> few[100:] = -1
    >>> both = [("spread", LabelSpreading()), ("line", LogisticRegression(max_iter=500))]
    >>> bool(SoftVoting(both).fit(X[:500], few).score(X[500:], y[500:]) > 0.8)
    True
    """

    _parameter_constraints = {
        "estimators": [list, tuple],
        "weights": ["array-like", None],
        "unlabeled": "no_validation",
    }

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        weights: Numbers | None = None,
        unlabeled: object = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.unlabeled = unlabeled

    def fit(self, X: Samples, y: Labels) -> Self:
        """Fit every classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels; None, NaN, NA and the marker mean "no label".

        Returns
        -------
        self : object
            The fitted classifier.
        """
        rows, labels = self._read(X, y)
        self._check_pairs()
        check_consistent_length(self.estimators, self.weights)
        values = _labels.as_column(y)
        self.classes_ = labels.classes
        self.estimators_ = [fitted_on(each, rows, values, labels) for _, each in self.estimators]
        self._note_samples(self.estimators_[0])
        return self

    def predict_proba(self, X: Samples) -> RealArray:
        """The mean of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows sum to one.
        """
        check_is_fitted(self)
        shares = [softmax(logits(each, X, self.classes_), axis=1) for each in self.estimators_]
        weights = None if self.weights is None else np.asarray(self.weights, dtype=float)
        return np.asarray(np.average(shares, axis=0, weights=weights))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to list the classifiers by their names, and their parameters.

        Returns
        -------
        params : dict
            Values by name.
        """
        # Wrong pairs are refused by `fit`; until then they can be shown and replaced.
        are_pairs = isinstance(self.estimators, (list, tuple)) and all(
            map(_is_pair, self.estimators)
        )
        found: dict[str, Any] = self._get_params("estimators", deep=deep and are_pairs)
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, replace classifiers, or set parameters of theirs.

        Parameters
        ----------
        **params
            Values by name: ``weights=[1, 2]``, ``line=Ridge()``, ``line__C=0.1``.

        Returns
        -------
        self : object
            The classifier.
        """
        if isinstance(self.estimators, tuple):
            # scikit-learn replaces by name in lists only.
            self.estimators = list(self.estimators)
        self._set_params("estimators", **params)
        return self

    def _check_pairs(self) -> None:
        """Refuse what is no list of names and classifiers."""
        if not len(self.estimators):
            raise KnobError("estimators: there is none in it; name at least one")
        for each in self.estimators:
            if not _is_pair(each):
                raise KnobError(
                    "estimators: expected pairs of a name and a classifier, such as "
                    f"('ridge', Ridge()), got {each!r}"
                )
        try:
            self._validate_names([name for name, _ in self.estimators])
        except ValueError as error:
            raise KnobError(f"estimators: {error}") from None

    def _members(self) -> list[Any]:
        # Asked of wrong parameters, too, such as when they are shown.
        given = self.estimators if isinstance(self.estimators, (list, tuple)) else []
        return [each[1] for each in given if _is_pair(each)]


def _is_pair(given: Any) -> bool:
    """Whether this is a name and a classifier."""
    return (
        isinstance(given, (list, tuple))
        and len(given) == 2
        and isinstance(given[0], str)
        and hasattr(given[1], "fit")
        and not isinstance(given[1], type)
    )


class SelfTrainingAround(Around):
    """Self-training around any classifier: it labels what it is sure of, and learns again.

    Unlike ``sklearn.semi_supervised.SelfTrainingClassifier`` it takes labels of any kind, and every
    marker of the package. ``ssdl.SelfTraining`` does the same with a linear classifier, faster.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``.
    threshold : float, default=0.9
        Probability from which a prediction becomes a label.
    max_rounds : int, default=10
        Maximum number of rounds.
    unlabeled : object, default=None
        Marker of unlabelled samples; by default that of the estimator, or else -1, unless there is
        only one other class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The classifier of the last round.
    transduction_ : ndarray of shape (n_samples,)
        The label of each training sample: given, accepted in a round, or predicted at the end.
    labeled_round_ : ndarray of shape (n_samples,)
        The round in which a sample was labelled; 0 for labels that were given, -1 for none.
    n_iter_ : int
        Number of rounds.
    termination_condition_ : str
        Why it stopped: ``"converged"`` if no prediction was sure enough, or none was left.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from ssdl.wrappers import SelfTrainingAround
    >>> X, y = load_digits(return_X_y=True)
    >>> few = np.array([f"digit {label}" for label in y[:300]], dtype=object)
    >>> few[100:] = None
    >>> model = SelfTrainingAround(RandomForestClassifier(random_state=0), threshold=0.6)
    >>> str(model.fit(X[:300], few).predict(X[:1])[0])
    'digit 0'
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict_proba"])],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "max_rounds": [Interval(Integral, 0, None, closed="left")],
        "unlabeled": "no_validation",
    }

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: float = 0.9,
        max_rounds: int = 10,
        unlabeled: object = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.max_rounds = max_rounds
        self.unlabeled = unlabeled

    def fit(self, X: Samples, y: Labels) -> Self:
        """Fit, label what is sure, and fit again, until nothing more is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels; None, NaN, NA and the marker mean "no label".

        Returns
        -------
        self : object
            The fitted classifier.
        """
        rows, labels = self._read(X, y)
        indices = labels.indices.copy()
        rounds = np.where(indices >= 0, 0, -1)
        self.classes_, self.termination_condition_ = labels.classes, "limit of rounds"
        self.n_iter_ = 0
        while True:
            known = np.flatnonzero(indices >= 0)
            truth = labels.classes[indices[known]]
            self.estimator_ = clone(self.estimator).fit(_safe_indexing(rows, known), truth)
            left = np.flatnonzero(indices < 0)
            found = self._shares(_safe_indexing(rows, left)) if left.size else np.empty((0, 1))
            sure = found.max(axis=1) >= self.threshold
            if not sure.any():
                self.termination_condition_ = "converged"
            if not sure.any() or self.n_iter_ == self.max_rounds:
                break
            self.n_iter_ += 1
            indices[left[sure]], rounds[left[sure]] = found[sure].argmax(axis=1), self.n_iter_
        if left.size:
            indices[left] = found.argmax(axis=1)
        self.transduction_, self.labeled_round_ = labels.classes[indices], rounds
        self._note_samples(self.estimator_)
        return self

    def predict_proba(self, X: Samples) -> RealArray:
        """Probabilities of the classes by the classifier of the last round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._shares(X)

    def _shares(self, X: Any) -> RealArray:
        return np.asarray(self.estimator_.predict_proba(X))

    def _members(self) -> list[Any]:
        return [self.estimator]
