"""Calibration by hidden labels around any classifier."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from . import _labels
from ._around import Around, fitted_on, logits
from ._folds import FewLabelSplit, splitter
from .errors import KnobError

if TYPE_CHECKING:
    from typing import Literal, Self

    from numpy.typing import NDArray

    from ._types import Classes, Labels, Real, Samples

# The range in which the logarithm of a temperature is looked for.
TEMPERATURES = (-4.0, 4.0)


class HiddenCalibration(Around):
    """Probabilities calibrated by cross-validation on the labels, around any classifier.

    For each fold its labels are hidden and a clone is fitted; what the clones think of the labels
    hidden from them shows how sure the classifier may be. ``CalibratedClassifierCV`` does not know
    of unlabelled samples: it makes a class of their marker.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` or ``decision_function``.
    method : {"temperature", "sigmoid"}, default="temperature"
        One number that scales all logarithms, which leaves predictions as they are; or a sigmoid
        for each class, which needs a dozen labels of each.
    cv : int or FewLabelSplit, default=5
        Folds of the labels; fewer if a class has fewer labels.
    unlabeled : object, default=None
        Marker of unlabelled samples; by default that of `cv`, or else of the estimator.
    n_jobs : int or None, default=None
        Number of folds at a time; None means 1 unless joblib says otherwise, -1 all processors.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The classifier, fitted with all labels.
    temperature_ : float
        Above 1 the classifier was too sure, below 1 not sure enough; 1 for sigmoids.
    n_features_in_ : int
        Number of features of a sample.

    See Also
    --------
    SSDLGA : Like all classifiers of the package calibrated already (``calibrate=True``).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ssdl.wrappers import HiddenCalibration
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y.copy()
    >>> few[200:] = -1
    >>> model = HiddenCalibration(GaussianNB(var_smoothing=0.01)).fit(X, few)
    >>> bool(model.temperature_ > 2), -1 in model.classes_
    (True, False)
    """

    _parameter_constraints = {
        "estimator": [
            HasMethods(["fit", "predict_proba"]),
            HasMethods(["fit", "decision_function"]),
        ],
        "method": [StrOptions({"temperature", "sigmoid"})],
        "cv": [Interval(Integral, 2, None, closed="left"), FewLabelSplit],
        "unlabeled": "no_validation",
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["temperature", "sigmoid"] = "temperature",
        cv: int | FewLabelSplit = 5,
        unlabeled: object = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs

    def fit(self, X: Samples, y: Labels) -> Self:
        """Fit the classifier, and once more for each fold.

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
        values, classes = _labels.as_column(y), labels.classes
        folds = splitter(self.cv, self)
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_hidden_logits)(self.estimator, rows, fold, labels)
            for fold in folds.hide(values)
        )
        self.classes_ = classes
        self._map(
            np.concatenate([each for each, _ in found]), np.concatenate([t for _, t in found])
        )
        self.estimator_ = fitted_on(self.estimator, rows, values, labels)
        self._note_samples(self.estimator_)
        return self

    def predict_proba(self, X: Samples) -> Real:
        """Probabilities of the classes, calibrated.

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
        found = logits(self.estimator_, X, self.classes_)
        if self.method == "temperature":
            return np.asarray(softmax(found / self.temperature_, axis=1))
        shares = np.column_stack(
            [
                each.predict_proba(_against_others(found, k))[:, 1]
                for k, each in enumerate(self._sigmoids)
            ]
        )
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _map(self, found: Real, truth: NDArray[np.int64]) -> None:
        """Learn from the hidden labels what a logarithm is worth."""
        self.temperature_ = 1.0
        if self.method == "sigmoid":
            self._sigmoids = [
                LogisticRegression().fit(_against_others(found, k), truth == k)
                for k in self._seen(truth)
            ]
            return

        def loss(log_temperature: float) -> float:
            likely = log_softmax(found / np.exp(log_temperature), axis=1)
            return -float(likely[np.arange(len(truth)), truth].mean())

        self.temperature_ = float(
            np.exp(minimize_scalar(loss, bounds=TEMPERATURES, method="bounded").x)
        )

    def _seen(self, truth: NDArray[np.int64]) -> range:
        missing = np.setdiff1d(np.arange(len(self.classes_)), truth)
        if missing.size:
            raise KnobError(
                f"method is 'sigmoid'; class {self.classes_[missing[0]]} has one label, too few "
                "for a sigmoid of its own: take 'temperature'"
            )
        return range(len(self.classes_))

    def _members(self) -> list[Any]:
        return [self.estimator]


def _hidden_logits(
    estimator: Any, X: Any, fold: tuple[Classes, NDArray[np.int64]], labels: _labels.Labels
) -> tuple[Real, NDArray[np.int64]]:
    """What a fit without the labels of a fold thinks of its rows, and their classes."""
    hidden, rows = fold
    left = labels.indices.copy()
    left[rows] = -1
    fitted = fitted_on(estimator, X, hidden, _labels.Labels(labels.classes, left))
    return logits(fitted, _safe_indexing(X, rows), labels.classes), labels.indices[rows]


def _against_others(found: Real, k: int) -> Real:
    """Logarithm of the odds of a class, as a column."""
    others = np.logaddexp.reduce(np.delete(found, k, axis=1), axis=1)
    return np.asarray((found[:, k] - others)[:, None])
