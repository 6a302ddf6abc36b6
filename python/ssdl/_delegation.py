"""The methods of a search that its best estimator answers."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ._scoring import LabelledScorer, by_name, marker_of

if TYPE_CHECKING:
    from typing import Self

    from sklearn.utils import Tags

    from ._scoring import Scorer, Scoring
    from ._types import Classes, Labels, Numbers, Real, Samples

Method = TypeVar("Method", bound=Callable[..., Any])


def if_best_has(name: str) -> Callable[[Method], Method]:
    """The method is there if the (best) estimator has it, checked as in GridSearchCV."""

    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(f"{name} needs refit=True: nothing was fitted with all labels")
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    decorated: Callable[[Method], Method] = available_if(check)
    return decorated


class AnswersForBest:
    """What a search passes on to its best estimator."""

    estimator: Any
    best_estimator_: Any
    refit: Any
    scoring: Scoring

    if TYPE_CHECKING:

        def fit(self, X: Samples, y: Labels, **fit_params: Any) -> Self: ...
        def _scorers(self) -> dict[str, Scorer]: ...
        def _decisive(self) -> str: ...

    @if_best_has("predict")
    def predict(self, X: Samples) -> Classes:
        """Predict classes with the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        found: Classes = self._best().predict(X)
        return found

    @if_best_has("predict_proba")
    def predict_proba(self, X: Samples) -> Real:
        """Predict class probabilities with the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        found: Real = self._best().predict_proba(X)
        return found

    @if_best_has("decision_function")
    def decision_function(self, X: Samples) -> Real:
        """Class scores of the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            As the estimator gives them.
        """
        found: Real = self._best().decision_function(X)
        return found

    @if_best_has("transform")
    def transform(self, X: Samples) -> Any:
        """Code samples with the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_atoms)
            As the estimator gives them.
        """
        return self._best().transform(X)

    @if_best_has("transform")
    def fit_transform(self, X: Samples, y: Labels, **fit_params: Any) -> Any:
        """Search, then code the samples with the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params
            Passed to the ``fit`` of the estimator.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_atoms)
            Each sample coded independently of the others.
        """
        return self.fit(X, y, **fit_params).transform(X)

    @if_best_has("inverse_transform")
    def inverse_transform(self, X: Samples) -> Real:
        """Reconstruct samples from their codes with the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_atoms)
            Codes.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_prepared_features)
            As the estimator gives them.
        """
        found: Real = self._best().inverse_transform(X)
        return found

    @if_best_has("score")
    def score(self, X: Samples, y: Labels, sample_weight: Numbers | None = None) -> float:
        """Score of the best estimator on the labelled samples, by `scoring` if it is given.

        With several scores it is the one named by `refit`; with `metric` or without either it is
        the accuracy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each sample.

        Returns
        -------
        score : float
            As the estimator gives it.
        """
        best = self._best()
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        named = self.scoring is not None
        scorer = self._scorers()[self._decisive()] if named else by_name("accuracy")
        return LabelledScorer(scorer, marker_of(self))(best, X, y, **weights)

    def __getattr__(self, name: str) -> Any:
        # Only fitted attributes: a search that is being unpickled has no estimator yet.
        learnt = name.endswith("_") and not name.startswith("_")
        if learnt and "best_estimator_" in vars(self) and self.refit:
            return getattr(self.best_estimator_, name)
        # Raises the original error, such as why a method is not available.
        return object.__getattribute__(self, name)

    def __sklearn_tags__(self) -> Tags:
        return deepcopy(get_tags(self.estimator))

    def __sklearn_is_fitted__(self) -> bool:
        return "cv_results_" in vars(self)

    def _best(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_
