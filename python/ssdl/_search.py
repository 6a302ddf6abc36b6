"""A parameter search by cross-validation on the labels."""

import time
import warnings
from copy import deepcopy
from numbers import Integral

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ._folds import FewLabelSplit, score_fold, splitter


def _best_has(name):
    """Whether the (best) estimator has this method, checked as in GridSearchCV."""

    def check(search):
        if not search.refit:
            raise AttributeError(f"{name} needs refit=True: nothing was fitted with all labels")
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class FewLabelSearch(MetaEstimatorMixin, BaseEstimator):
    """Grid search by cross-validation on the labels.

    Like ``GridSearchCV``, except that a fold hides labels and keeps the rows: the candidates see
    the data as the final fit will, graph and dictionary included. See ``cross_val_hidden``.

    Parameters
    ----------
    estimator : estimator
        A clone of it is fitted for each candidate and fold.
    param_grid : dict or list of dict
        Values to try for each parameter, as in ``GridSearchCV``.
    cv : int or FewLabelSplit, default=5
        Folds. With a number, the marker of unlabelled samples is that of the estimator.
    metric : callable, default=None
        ``metric(y_true, y_pred)``, greater is better; accuracy if None.
    refit : bool, default=True
        Whether to fit the best candidate again, with all labels.
    n_jobs : int or None, default=None
        Number of fits at a time; None means 1 unless joblib says otherwise, -1 all processors.
    verbose : int, default=0
        1 prints a summary, 2 a line for every fit.

    Attributes
    ----------
    cv_results_ : dict of ndarray
        For each candidate: ``params``, ``param_NAME``, ``split0_test_score`` and so on,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``, ``mean_fit_time``.
    best_params_ : dict
        Parameters of the best candidate; in a tie, the first in the grid.
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

    _parameter_constraints = {
        "estimator": [HasMethods(["fit"])],
        "param_grid": [dict, list],
        "cv": [Interval(Integral, 2, None, closed="left"), FewLabelSplit],
        "metric": [callable, None],
        "refit": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self, estimator, param_grid, *, cv=5, metric=None, refit=True, n_jobs=None, verbose=0
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.metric = metric
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, **fit_params):
        """Score every candidate, and fit the best one with all labels.

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
        candidates = list(ParameterGrid(self.param_grid))
        if not candidates:
            raise ValueError("param_grid: there is no candidate in it; name at least one value")
        folds = list(splitter(self.cv, self.estimator).hide(y))
        self._print(f"{len(candidates)} candidates, {len(folds)} folds")
        scores, seconds = self._score_all(candidates, folds, X, y, fit_params)
        self.n_splits_ = len(folds)
        self.cv_results_ = _table(candidates, scores, seconds)
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self._print(f"best {self.best_params_}, {self.best_score_:.4f}")
        if self.refit:
            start = time.perf_counter()
            self.best_estimator_ = self._candidate(self.best_params_).fit(X, y, **fit_params)
            self.refit_time_ = time.perf_counter() - start
        return self

    @available_if(_best_has("predict"))
    def predict(self, X):
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
        return self._best().predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X):
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
        return self._best().predict_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X):
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
        return self._best().decision_function(X)

    @available_if(_best_has("transform"))
    def transform(self, X):
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

    @available_if(_best_has("transform"))
    def fit_transform(self, X, y, **fit_params):
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

    @available_if(_best_has("inverse_transform"))
    def inverse_transform(self, X):
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
        return self._best().inverse_transform(X)

    @available_if(_best_has("score"))
    def score(self, X, y, sample_weight=None):
        """Score of the best estimator: accuracy on labelled samples, whatever `metric` is.

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
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._best().score(X, y, **weights)

    def __getattr__(self, name):
        # Only fitted attributes: a search that is being unpickled has no estimator yet.
        learnt = name.endswith("_") and not name.startswith("_")
        if learnt and "best_estimator_" in vars(self) and self.refit:
            return getattr(self.best_estimator_, name)
        # Raises the original error, such as why a method is not available.
        return object.__getattribute__(self, name)

    def __sklearn_tags__(self):
        return deepcopy(get_tags(self.estimator))

    def __sklearn_is_fitted__(self):
        return "cv_results_" in vars(self)

    def _best(self):
        check_is_fitted(self)
        return self.best_estimator_

    def _score_all(self, candidates, folds, X, y, fit_params):
        """Scores and seconds, (n_candidates, n_splits)."""
        tasks = [(values, number) for values in candidates for number in range(len(folds))]
        scored = Parallel(n_jobs=self.n_jobs)(
            delayed(_attempt)(
                self._candidate(values),
                self._line(values, number, folds),
                (X, y, folds[number], self.metric, fit_params),
            )
            for values, number in tasks
        )
        shape = len(candidates), len(folds)
        scores, seconds, failures = (
            np.reshape(np.array(part, dtype=kind), shape)
            for part, kind in zip(zip(*scored, strict=True), (float, float, object), strict=True)
        )
        if all(any(row) for row in failures):
            values, number = tasks[np.flatnonzero(failures)[0]]
            # Raises the error itself instead of reporting it: most likely the data are at fault.
            score_fold(self._candidate(values), X, y, folds[number], self.metric, fit_params)
            raise ValueError(f"every candidate failed; {values}: {failures[0]}")
        _warn_of_failures(candidates, failures)
        return scores, seconds

    def _candidate(self, values):
        # Values may be estimators themselves, such as steps of a pipeline.
        return clone(self.estimator).set_params(**clone(values, safe=False))

    def _print(self, line):
        if self.verbose:
            print(f"[{type(self).__name__}] {line}")

    def _line(self, values, number, folds):
        """The start of the line about a fit; None if none is wanted."""
        if self.verbose < 2:
            return None
        return f"[{type(self).__name__}] {values}, fold {number + 1} of {len(folds)}"


def _attempt(estimator, line, arguments):
    """Score, seconds, and the error if there was one."""
    try:
        score, seconds = score_fold(estimator, *arguments)
        failure = None
    except Exception as error:
        score, seconds, failure = np.nan, np.nan, f"{type(error).__name__}: {error}"
    if line is not None:
        print(f"{line}: {failure or f'{score:.4f} in {seconds:.2f} s'}")
    return score, seconds, failure


def _warn_of_failures(candidates, failures):
    for values, row in zip(candidates, failures, strict=True):
        failed = [failure for failure in row if failure is not None]
        if failed:
            warnings.warn(
                f"{values} failed in {len(failed)} of {len(row)} folds, so its score is nan: "
                f"{failed[0]}",
                FitFailedWarning,
                stacklevel=3,
            )


def _table(candidates, scores, seconds):
    """Results by column, as in GridSearchCV."""
    means = scores.mean(axis=1)
    if np.isnan(means).all():
        raise ValueError("every candidate scored nan; use another metric")
    table = {"mean_fit_time": seconds.mean(axis=1), "std_fit_time": seconds.std(axis=1)}
    for index, values in enumerate(candidates):
        for name, value in values.items():
            empty = np.ma.MaskedArray(np.empty(len(candidates), dtype=object), mask=True)
            table.setdefault(f"param_{name}", empty)[index] = value
    table["params"] = candidates
    for index, column in enumerate(scores.T):
        table[f"split{index}_test_score"] = column
    table["mean_test_score"], table["std_test_score"] = means, scores.std(axis=1)
    # Sums in another order differ in their last digits, but still count as ties.
    ranked = np.where(np.isnan(means), -np.inf, np.round(means, 12))
    table["rank_test_score"] = rankdata(-ranked, method="min").astype(np.int32)
    return table
