"""What the searches by cross-validation on the labels share."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.parallel import Parallel, delayed

from ._candidates import Candidate, table
from ._delegation import AnswersForBest
from ._folds import FewLabelSplit, fit_on_rows_it_takes, score_fold, splitter
from ._request import caller
from ._scoring import ONLY, marker_of, scorers
from ._sklearn import BaseEstimator, MetaEstimatorMixin
from .errors import KnobError

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from ._scoring import Scorer, Scoring
    from ._types import Labels, Metric, Samples

Estimator = TypeVar("Estimator")

COMMON_CONSTRAINTS = {
    "estimator": [HasMethods(["fit"])],
    "cv": [Interval(Integral, 2, None, closed="left"), FewLabelSplit],
    "scoring": [str, callable, list, tuple, set, dict, None],
    "metric": [callable, None],
    "refit": ["boolean", str],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class Search(AnswersForBest, MetaEstimatorMixin, BaseEstimator, Generic[Estimator]):
    """Base of the searches; see the subclasses."""

    estimator: Estimator
    cv: int | FewLabelSplit
    scoring: Scoring
    metric: Metric | None
    refit: bool | str
    n_jobs: int | None
    verbose: int
    best_estimator_: Estimator
    best_params_: Candidate
    best_score_: float
    best_index_: int
    cv_results_: dict[str, Any]
    n_splits_: int
    refit_time_: float
    # The estimator sees every label as it was given, markers of unlabelled samples included.
    _passes_labels_on = True

    def fit(self, X: Samples, y: Labels, **fit_params: Any) -> Self:
        """Score candidates, and fit the best one with all labels.

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
        self : object
            The fitted search.
        """
        self._validate_params()
        decisive = self._decisive()
        candidates = self._candidates()
        if not candidates:
            raise ValueError("there is no candidate: name at least one value of a parameter")
        self.cv_results_, chosen = self._compare(candidates, X, y, fit_params)
        if chosen is not None:
            self._choose(decisive, chosen)
        if self.refit:
            start = time.perf_counter()
            best = self._candidate(self.best_params_)
            self.best_estimator_ = fit_on_rows_it_takes(best, X, y, marker_of(self), fit_params)
            self.refit_time_ = time.perf_counter() - start
        return self

    def _candidates(self) -> list[Candidate]:
        raise NotImplementedError

    def _compare(
        self, candidates: list[Candidate], X: Any, y: Any, fit_params: dict[str, Any]
    ) -> tuple[dict[str, Any], NDArray[np.intp] | None]:
        """The table of results, and its rows among which the best is chosen; None if none is."""
        results = self._score_all(candidates, X, y, fit_params)
        rows = np.arange(len(candidates)) if self._decides() else None
        return table(candidates, *results), rows

    def _choose(self, decisive: str, rows: NDArray[np.intp]) -> None:
        ranks = self.cv_results_[f"rank_test_{decisive}"]
        self.best_index_ = int(rows[ranks[rows].argmin()])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_[f"mean_test_{decisive}"][self.best_index_])
        self._print(f"best {self.best_params_}, {self.best_score_:.4f}")

    def _scorers(self) -> dict[str, Scorer]:
        return scorers(self.scoring, self.metric)

    def _decides(self) -> bool:
        """Whether there is a score that decides; several ones without a name only compare."""
        return ONLY in self._scorers() or bool(self.refit)

    def _decisive(self) -> str:
        """The name of the score that decides."""
        named = self._scorers()
        if ONLY in named:
            return ONLY
        if self.refit is False:
            return ""
        if not isinstance(self.refit, str) or self.refit not in named:
            raise KnobError(
                f"refit is {self.refit!r}; with several scores it names the one that decides: "
                f"{', '.join(named)}, or False for none"
            )
        return self.refit

    def _score_all(
        self, candidates: list[Candidate], X: Any, y: Any, fit_params: dict[str, Any]
    ) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
        """Scores by name and seconds, each (n_candidates, n_splits)."""
        marker = marker_of(self)
        folds = list(splitter(self.cv, self.estimator).hide(y))
        named = self._scorers()
        self.n_splits_ = len(folds)
        self._print(f"{len(candidates)} candidates, {len(folds)} folds")
        tasks = [(values, number) for values in candidates for number in range(len(folds))]
        scored = Parallel(n_jobs=self.n_jobs)(
            delayed(_attempt)(
                self._candidate(values),
                self._line(values, number, folds),
                (X, y, folds[number], marker, named, fit_params),
            )
            for values, number in tasks
        )
        shape = len(candidates), len(folds)
        failures = np.empty(len(tasks), dtype=object)
        failures[:] = [failure for _, _, failure in scored]
        if all(any(row) for row in failures.reshape(shape)):
            values, number = tasks[np.flatnonzero(failures)[0]]
            # Raises the error itself instead of reporting it: most likely the data are at fault.
            score_fold(self._candidate(values), X, y, folds[number], marker, named, fit_params)
            raise ValueError(f"every candidate failed; {values}: {failures[0]}")
        _warn_of_failures(candidates, failures.reshape(shape))
        seconds = np.array([each for _, each, _ in scored]).reshape(shape)
        by_name = {
            name: np.array([found.get(name, np.nan) for found, _, _ in scored]).reshape(shape)
            for name in named
        }
        return by_name, seconds

    def _candidate(self, values: Candidate) -> Any:
        # Values may be estimators themselves, such as steps of a pipeline.
        return clone(self.estimator).set_params(**clone(values, safe=False))

    def _print(self, line: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {line}")

    def _line(self, values: Candidate, number: int, folds: Sequence[object]) -> str | None:
        """The start of the line about a fit; None if none is wanted."""
        if self.verbose < 2:
            return None
        return f"[{type(self).__name__}] {values}, fold {number + 1} of {len(folds)}"


def _attempt(
    estimator: Any, line: str | None, arguments: tuple[Any, ...]
) -> tuple[dict[str, float], float, str | None]:
    """Scores by name, seconds, and the error if there was one."""
    try:
        scores, seconds = score_fold(estimator, *arguments)
        failure = None
    except Exception as error:
        scores, seconds, failure = {}, np.nan, f"{type(error).__name__}: {error}"
    if line is not None:
        listed = ", ".join(
            f"{value:.4f}" if name == ONLY else f"{name} {value:.4f}"
            for name, value in scores.items()
        )
        print(f"{line}: {failure or f'{listed} in {seconds:.2f} s'}")
    return scores, seconds, failure


def _warn_of_failures(candidates: list[Candidate], failures: NDArray[np.object_]) -> None:
    for values, row in zip(candidates, failures, strict=True):
        failed = [failure for failure in row if failure is not None]
        if failed:
            warnings.warn(
                f"{values} failed in {len(failed)} of {len(row)} folds, so its score is nan: "
                f"{failed[0]}",
                FitFailedWarning,
                stacklevel=caller(),
            )
