"""A search for parameters in rounds, by cross-validation on the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_method_params

from . import _labels
from ._candidates import table
from ._grids import drawn
from ._scoring import marker_of
from ._search import COMMON_CONSTRAINTS, Estimator, Search
from .errors import GraphError, KnobError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._candidates import Candidate
    from ._folds import FewLabelSplit
    from ._scoring import Scoring
    from ._types import Metric, Seed


class FewLabelHalvingSearch(Search[Estimator]):
    """Search in rounds: all candidates briefly, the best of each round with more.

    Every label takes part in every round. What grows is the number of unlabelled samples, or a
    parameter that limits the fit, such as ``max_iter``.

    Parameters
    ----------
    estimator : estimator
        A clone of it is fitted for each candidate and fold, as by ``cross_val_hidden``.
    param_distributions : dict or list of dict
        Values to try for each parameter; distributions, too, if `n_candidates` is given.
    n_candidates : int or None, default=None
        Number of candidates of the first round, drawn at random; None takes the whole grid.
    factor : float, default=3
        Of so many candidates one remains after a round; the resource grows by the same factor.
    resource : str, default="n_samples"
        What grows: the samples, or a parameter of the estimator with a whole number.
    max_resources : int or None, default=None
        The resource in the last round; None means all samples, or the estimator's own value.
    cv : int or FewLabelSplit, default=5
        Folds. Their marker of unlabelled samples is that of the estimator unless they have one.
    scoring : str, callable, sequence of str, dict or None, default=None
        As in ``cross_val_hidden``; None is the accuracy.
    metric : callable, default=None
        ``metric(y_true, y_pred)``, greater is better: another way to write a score of predictions.
    refit : bool or str, default=True
        Whether to fit the best candidate again, with all labels. With several scores, the name of
        the one that decides.
    n_jobs : int or None, default=None
        Number of fits at a time; None means 1 unless joblib says otherwise, -1 all processors.
    verbose : int, default=0
        1 prints a summary, 2 a line for every fit.
    random_state : int, RandomState instance or None, default=0
        Seed of the draws: of candidates, and of unlabelled samples.

    Attributes
    ----------
    cv_results_ : dict of ndarray
        For each candidate: ``params``, ``param_NAME``, ``split0_test_score`` and so on,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``, ``mean_fit_time``. With
        several scores, their names stand instead of ``score``.
    best_params_ : dict
        Parameters of the best candidate; in a tie, the first.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its index in ``cv_results_``.
    best_estimator_ : estimator
        The best candidate, fitted with all labels. The search has its fitted attributes, too,
        such as ``classes_``, ``transduction_`` and ``codes_``.
    refit_time_ : float
        Seconds that this fit took.
    n_splits_ : int
        Number of folds.
    n_resources_ : list of int
        The resource in each round; ``cv_results_`` has it for each row, too, with the round
        (``iter``). The best candidate is the best of the last round.

    See Also
    --------
    FewLabelSearch : Tries all of a grid; its notes say what to search for.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import LabelSpreading
    >>> from ssdl.model_selection import FewLabelHalvingSearch
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:600].copy()
    >>> few[80:] = -1
    >>> values = {"n_neighbors": [5, 10, 20], "spreading": [0.9, 0.5, 0.1]}
    >>> search = FewLabelHalvingSearch(LabelSpreading(), values, cv=2).fit(X[:600], few)
    >>> search.n_resources_, search.cv_results_["iter"].tolist().count(2)
    ([66, 200, 600], 1)
    """

    _parameter_constraints = {
        "param_distributions": [dict, list],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "factor": [Interval(Real, 1, None, closed="neither")],
        "resource": [str],
        "max_resources": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Estimator,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_candidates: int | None = None,
        factor: float = 3,
        resource: str = "n_samples",
        max_resources: int | None = None,
        cv: int | FewLabelSplit = 5,
        scoring: Scoring = None,
        metric: Metric | None = None,
        refit: bool | str = True,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_candidates = n_candidates
        self.factor = factor
        self.resource = resource
        self.max_resources = max_resources
        self.cv = cv
        self.scoring = scoring
        self.metric = metric
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _candidates(self) -> list[Candidate]:
        if self.n_candidates is not None:
            return drawn(self.param_distributions, self.n_candidates, self.random_state)
        return list(ParameterGrid(self.param_distributions))

    def _compare(
        self, candidates: list[Candidate], X: Any, y: Any, fit_params: dict[str, Any]
    ) -> tuple[dict[str, Any], NDArray[np.intp] | None]:
        decisive = self._decisive()
        if not decisive:
            raise KnobError("refit is False; the rounds need the name of the score that decides")
        self.n_resources_ = self._resources(len(candidates), _labels.as_column(y))
        order = check_random_state(self.random_state).permutation(len(_labels.as_column(y)))
        tried: list[Candidate] = []
        parts, rounds = [], []
        for number, amount in enumerate(self.n_resources_):
            self._print(f"round {number + 1}: {self.resource} {amount}")
            if self.resource != "n_samples":
                candidates = [{**values, self.resource: amount} for values in candidates]
            results = self._round(candidates, amount, order, (X, y, fit_params))
            tried += candidates
            parts.append(results)
            rounds += [number] * len(candidates)
            means = np.nan_to_num(results[0][decisive].mean(axis=1), nan=-np.inf)
            left = max(1, int(len(candidates) / self.factor))
            best = np.sort(np.argsort(-means, kind="stable")[:left])
            candidates = [candidates[place] for place in best]
        names = parts[0][0]
        scores = {name: np.concatenate([part[0][name] for part in parts]) for name in names}
        found = table(tried, scores, np.concatenate([part[1] for part in parts]))
        found["iter"] = np.array(rounds)
        found["n_resources"] = np.array([self.n_resources_[number] for number in rounds])
        return found, np.flatnonzero(found["iter"] == len(self.n_resources_) - 1)

    def _resources(self, n_candidates: int, values: NDArray[Any]) -> list[int]:
        """The resource in each round, so that one candidate or few are left in the last."""
        rounds, left = 1, n_candidates
        while left >= self.factor:
            rounds, left = rounds + 1, int(left / self.factor)
        if self.resource == "n_samples":
            most = min(self.max_resources or len(values), len(values))
        else:
            own = self.max_resources or self.estimator.get_params().get(self.resource)  # type: ignore[attr-defined]
            if not isinstance(own, Integral):
                raise KnobError(
                    f"resource: {self.resource!r} is no parameter with a whole number; give "
                    "max_resources, or take n_samples"
                )
            most = int(own)
        return [max(1, int(most / self.factor ** (rounds - 1 - each))) for each in range(rounds)]

    def _round(
        self,
        candidates: list[Candidate],
        amount: int,
        order: NDArray[np.intp],
        data: tuple[Any, Any, dict[str, Any]],
    ) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
        """Scores by name and seconds of the candidates with this much of the resource."""
        X, y, fit_params = data
        if self.resource != "n_samples":
            return self._score_all(candidates, X, y, fit_params)
        if fit_params.get("graph") is not None:
            raise GraphError(
                "a graph of all samples does not fit a part of them: search with "
                'resource="max_iter", or without the graph'
            )
        known = _labels.read(y, marker_of(self)).indices >= 0
        spare = order[~known[order]][: max(0, amount - int(known.sum()))]
        rows = np.sort(np.concatenate([np.flatnonzero(known), spare]))
        some = _check_method_params(X, fit_params, rows)
        return self._score_all(candidates, _safe_indexing(X, rows), _safe_indexing(y, rows), some)
