"""Searches for parameters by cross-validation on the labels: all of a grid, or some of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils._param_validation import Interval

from ._search import COMMON_CONSTRAINTS, Estimator, Search

if TYPE_CHECKING:
    from ._candidates import Candidate
    from ._folds import FewLabelSplit
    from ._scoring import Scoring
    from ._types import Metric, Seed


class FewLabelSearch(Search[Estimator]):
    """Grid search by cross-validation on the labels.

    Like ``GridSearchCV``, except that a fold hides labels and keeps the rows: the candidates see
    the data as the final fit will, graph and dictionary included. See ``cross_val_hidden``.

    Parameters
    ----------
    estimator : estimator
        A clone of it is fitted for each candidate and fold, as by ``cross_val_hidden``.
    param_grid : dict or list of dict
        Values to try for each parameter, as in ``GridSearchCV``.
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

    See Also
    --------
    FewLabelRandomSearch : Tries some candidates, drawn at random.
    FewLabelHalvingSearch : Tries all of them briefly, and the best ones longer.

    Notes
    -----
    A few labels reveal only large differences: of 50 labels, one is two points. Search few
    parameters at a time, in steps by a factor of two or three, and keep the best before
    continuing: first ``sparsity`` and ``n_atoms``, which decide what a code can express; then
    ``manifold``, how similar the codes of neighbours are; then ``discrimination``, how much the
    labels shape the atoms; ``sharpness`` last. Put the default first in each list, so that it
    wins a tie, and do not trust a gain smaller than ``std_test_score``.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import SSDLGA
    >>> from ssdl.model_selection import FewLabelSearch
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:400].copy()
    >>> few[80:] = -1
    >>> search = FewLabelSearch(SSDLGA(tol=0.01), {"n_atoms": [50, 2]}, cv=3).fit(X[:400], few)
    >>> search.best_params_
    {'n_atoms': 50}
    >>> bool(search.score(X[400:], y[400:]) > 0.6)
    True
    """

    _parameter_constraints = {"param_grid": [dict, list], **COMMON_CONSTRAINTS}

    def __init__(
        self,
        estimator: Estimator,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        cv: int | FewLabelSplit = 5,
        scoring: Scoring = None,
        metric: Metric | None = None,
        refit: bool | str = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.metric = metric
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _candidates(self) -> list[Candidate]:
        return list(ParameterGrid(self.param_grid))


class FewLabelRandomSearch(Search[Estimator]):
    """Random search by cross-validation on the labels: as ``FewLabelSearch``, of some candidates.

    Parameters
    ----------
    estimator : estimator
        A clone of it is fitted for each candidate and fold, as by ``cross_val_hidden``.
    param_distributions : dict or list of dict
        A list of values or a distribution of ``scipy.stats`` for each parameter, as in
        ``RandomizedSearchCV``.
    n_iter : int, default=10
        Number of candidates.
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
        Seed of the draws.

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

    See Also
    --------
    FewLabelSearch : Tries all of a grid; its notes say what to search for.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl import LabelSpreading
    >>> from ssdl.model_selection import FewLabelRandomSearch
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:300].copy()
    >>> few[80:] = -1
    >>> values = {"n_neighbors": [5, 10], "spreading": [0.9, 0.5, 0.1]}
    >>> search = FewLabelRandomSearch(LabelSpreading(), values, n_iter=3, cv=2)
    >>> len(search.fit(X[:300], few).cv_results_["params"])
    3
    """

    _parameter_constraints = {
        "param_distributions": [dict, list],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Estimator,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_iter: int = 10,
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
        self.n_iter = n_iter
        self.cv = cv
        self.scoring = scoring
        self.metric = metric
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _candidates(self) -> list[Candidate]:
        return drawn(self.param_distributions, self.n_iter, self.random_state)


def drawn(distributions: Any, count: int, random_state: Seed) -> list[Candidate]:
    """Candidates at random; of lists of values each at most once."""
    return list(ParameterSampler(distributions, count, random_state=random_state))
