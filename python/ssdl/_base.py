"""What users of all classifiers call, and the attributes that a fit leaves.

The classes themselves are generated from the register of methods, in ``_methods.py``;
``_learning.py`` calls the library.
"""

from __future__ import annotations

import os
import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length, check_scalar
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _explained, _labels, _query
from ._learning import HoldsModel
from ._request import caller
from ._sklearn import ClassifierMixin

if TYPE_CHECKING:
    from typing import Self

    from sklearn.utils import Tags

    from ._explained import Explanation
    from ._query import Batch, Strategy
    from ._types import Classes, Graph, Indices, Labels, Numbers, PathLike, Real, Samples, Whole

COMMON_CONSTRAINTS = {
    "prepare": [list, tuple, str, None],
    "image_shape": [list, tuple, None],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "unlabeled": "no_validation",
    "calibrate": ["boolean"],
    "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
    "scratch": [str, os.PathLike, None],
    "device": [StrOptions({"cpu", "gpu", "auto"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class FewLabelClassifier(ClassifierMixin, HoldsModel):
    """Base of all classifiers, and the type to annotate what takes any of them.

    A fit learns from all rows of ``X``; labels in ``y`` are numbers, text, dates or booleans, and
    None, NaN, NA, NaT and the marker ``unlabeled`` (-1) mean "no label". Samples are prepared as
    the parameter ``prepare`` says, and prepared again in ``predict``: both take raw samples.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted, in the type of `y`.
    transduction_ : ndarray of shape (n_samples,)
        Predictions of the fit for the training samples.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Class probabilities of each training sample.
    n_iter_ : int
        Number of iterations.
    objective_ : dict
        The objective at the end, by term, and its `total`.
    trace_ : dict of columns
        The objective after every step of the fit.
    termination_condition_ : str
        Why the fit stopped.
    converged_ : bool
        Whether the fit converged before its limit.
    comparison_ : dict of columns
        Methods that were compared by hidden labels, if there was a choice.
    coef_, intercept_ : ndarray
        Weights (n_classes, n_atoms or n_prepared_features) and bias (n_classes,) of the linear
        classifier; missing if training samples vote or residuals decide.
    n_features_in_ : int
        Number of features of a sample.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names of `X`, if all are strings.

    Notes
    -----
    The same seed gives the same bits for any ``n_jobs``. A fit that fails leaves the estimator as
    it was. Ctrl-C ends a fit within about a second.
    """

    def fit(self, X: Samples, y: Labels, sample_weight: Numbers | None = None) -> Self:
        """Learn from a few labelled and many unlabelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, float32 or float64; the model keeps the dtype.
        y : array-like of shape (n_samples,)
            Labels: numbers or text. None, NaN, NA and ``unlabeled`` (-1) mean "no label".
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts in the classifier's loss; only ratios matter. Samples of
            weight zero are left out of the fit; ``transduction_`` and ``label_distributions_``
            have predictions for them, as for new samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._learn(X, y, sample_weight=sample_weight)

    def add_labels(self, indices: Indices, y: Labels, X: Samples | None = None) -> Self:
        """Continue the last fit with more labels for the training samples.

        Parameters
        ----------
        indices : array-like of int, or mask of shape (n_samples,)
            Training samples, such as those from ``query``.
        y : array-like
            Their labels; a class may be new. "No label" removes a label.
        X : array-like of shape (n_samples, n_features), default=None
            The training samples again; needed only if the estimator comes from a file or a pickle,
            which do not hold them raw.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_is_fitted(self)
        rows, graph = self._training_samples(X)
        before = self._row_weights.all_rows(self._model.labels, -1)
        labels = _labels.amended(self.classes_, before, indices, y, self.unlabeled)
        return self._learn_from(rows, labels, self._row_weights, graph=graph, start=self._model)

    @overload
    def query(
        self,
        n: int = ...,
        X: Samples | None = ...,
        *,
        strategy: Strategy = ...,
        batch: Batch = ...,
        return_utilities: Literal[False] = ...,
    ) -> Whole: ...
    @overload
    def query(
        self,
        n: int = ...,
        X: Samples | None = ...,
        *,
        strategy: Strategy = ...,
        batch: Batch = ...,
        return_utilities: Literal[True],
    ) -> tuple[Whole, Real]: ...
    def query(
        self,
        n: int = 10,
        X: Samples | None = None,
        *,
        strategy: Strategy = "representative",
        batch: Batch = "top",
        return_utilities: bool = False,
    ) -> Whole | tuple[Whole, Real]:
        """Samples whose labels would help most (active learning), best first.

        Parameters
        ----------
        n : int, default=10
            Number of samples.
        X : array-like of shape (n_candidates, n_features), default=None
            Samples to choose from; None chooses from the unlabelled training samples.
        strategy : str or callable, default="representative"
            ``representative``: uncertain samples that represent many other uncertain ones, no two
            alike. ``uncertainty``, ``margin``, ``entropy``: by the probabilities alone. ``change``:
            how far a label would move a linear classifier on the codes. ``diversity``: far from all
            labels and from each other. Or a function of probabilities (n_candidates, n_classes)
            and codes (n_candidates, n_atoms) that returns the utility of each candidate.
        batch : {"top", "cover"}, default="top"
            With the strategies by utility, whether to take the highest utilities, or samples that
            cover most utility around them, as ``representative`` does.
        return_utilities : bool, default=False
            Whether to return the utilities as well.

        Returns
        -------
        indices : ndarray of shape (at most n,)
            Row numbers in ``X``, or of the training samples, as ``add_labels`` takes them.
        utilities : ndarray of shape (n_candidates,) or (n_samples,)
            Only if asked for: the utility of each sample before any is chosen, greater is better;
            NaN for training samples with a label or of weight zero.
        """
        check_is_fitted(self)
        n = check_scalar(n, "n", Integral, min_val=0)
        _query.check(strategy, batch)
        if strategy == "representative":
            rows = None if X is None else self._samples(X, self._model.precision)
            picked = self._model.query(n, rows, self._threads())
            if not return_utilities:
                return picked if X is not None else self._row_weights.row_numbers(picked)
        found, open_rows = self._candidates(X)
        if strategy == "representative":
            utilities = _query.coverage(found)[0]
        else:
            picked, utilities = _query.chosen(found, n, strategy, batch)
            picked = open_rows[picked]
        if X is None:
            picked = self._row_weights.row_numbers(picked)
            every = np.full(len(self._model.labels), np.nan)
            every[open_rows] = utilities
            utilities = self._row_weights.all_rows(every, np.nan)
        return (picked, utilities) if return_utilities else picked

    def predict(self, X: Samples) -> Classes:
        """Predict the classes of samples, each independently of the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw samples: the model prepares them like the training samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes. For the training samples, ``transduction_`` has the predictions of the fit.
        """
        indices = self._predict(X)[0]
        found: Classes = self.classes_[indices]
        return found

    def predict_proba(self, X: Samples) -> Real:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows sum to one.
        """
        return self._predict(X)[2]

    def decision_function(self, X: Samples) -> Real:
        """Scores of the classes: the highest wins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            With two classes, the score of the second minus that of the first.
        """
        scores = self._predict(X)[1]
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

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
        check_is_fitted(self)
        known, values = _labels.is_labelled(y, self.unlabeled, self.classes_)
        check_consistent_length(values, sample_weight)
        predicted = self.predict(X)
        check_consistent_length(values, predicted)
        if not known.any():
            warnings.warn("no sample has a label", UndefinedMetricWarning, stacklevel=caller())
            return float("nan")
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        truth = _labels.tidy(values[known])
        return float(accuracy_score(truth, predicted[known], sample_weight=weights))

    def explain(
        self, X: Samples | None = None, *, samples: Indices | None = None
    ) -> list[Explanation]:
        """Explain predictions: the atoms that decide, and the nearest training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            New samples.
        samples : array-like of int, default=None
            Instead of `X`: rows of the training samples, as predicted by ``transduction_``.

        Returns
        -------
        explanations : list of Explanation
            One per sample; ``print`` shows one in a line, ``plotting.plot_explanation`` draws it.
        """
        return _explained.explain(self, X, samples)

    def report(self, path: PathLike, X: Samples | None = None, y: Labels | None = None) -> None:
        """Write a page about the model: one HTML file that needs no network.

        It shows the objective, the atoms, the least certain samples with their explanations, and
        the confusion matrix if `y` is given. ``ssdl fit --report`` writes the same page and
        compares the method with others on hidden labels, too.

        Parameters
        ----------
        path : str or path-like
            The file; an existing one is replaced once the new one is complete.
        X : array-like of shape (n_samples, n_features), default=None
            New samples to show; None means the training samples as far as the model keeps them.
        y : array-like of shape (n_samples,), default=None
            Labels of `X`; some may be missing.
        """
        _explained.report(self, path, X, y)

    def save(self, path: PathLike) -> None:
        """Write the model to a file that the program ``ssdl`` and ``ssdl.load`` can read.

        Parameters
        ----------
        path : str or path-like
            The file; an existing one is replaced once the new one is complete.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    @property
    def transduction_(self) -> Classes:
        """Predictions of the fit for the training samples, labelled ones included."""
        found: Classes = self.classes_[self._transduction(0)]
        return found

    @property
    def label_distributions_(self) -> Real:
        """Class probabilities of each training sample, (n_samples, n_classes)."""
        return self._transduction(2)

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the fit."""
        return self._learnt.iterations

    @property
    def objective_(self) -> dict[str, float]:
        """The objective at the end: its terms by name, and their ``total``."""
        return self._learnt.objective

    @property
    def termination_condition_(self) -> str:
        """Why the fit stopped."""
        return self._learnt.stop

    @property
    def coef_(self) -> Real:
        """Weights of the linear classifier, (n_classes, n_atoms or n_prepared_features)."""
        return self._classifier("coef_")[0]

    @property
    def intercept_(self) -> Real:
        """Bias of the linear classifier, (n_classes,)."""
        return self._classifier("intercept_")[1]

    @property
    def trace_(self) -> dict[str, Any]:
        """The objective after every step of the fit: a dict of columns, ready for a DataFrame."""
        return self._learnt.trace

    @property
    def comparison_(self) -> dict[str, list[Any]]:
        """Methods compared by hidden labels: a dict of columns; empty without a choice."""
        rows = self._learnt.compared
        columns = ("method", "accuracy", "log_loss", "weight")
        return {name: [row[at] for row in rows] for at, name in enumerate(columns) if rows}

    @property
    def converged_(self) -> bool:
        """Whether the fit converged before its limit."""
        return not self._learnt.reached_limit

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class TakesGraph:
    """A classifier with a graph between the samples, which users may provide."""

    if TYPE_CHECKING:

        def _learn(
            self, X: Samples, y: Labels, graph: Graph | None, sample_weight: Numbers | None
        ) -> Self: ...

    def fit(
        self,
        X: Samples,
        y: Labels,
        graph: Graph | None = None,
        sample_weight: Numbers | None = None,
    ) -> Self:
        """Learn from a few labelled and many unlabelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, float32 or float64; the model keeps the dtype.
        y : array-like of shape (n_samples,)
            Labels: numbers or text. None, NaN, NA and ``unlabeled`` (-1) mean "no label".
        graph : {array-like, sparse matrix}, default=None
            Your own graph between these samples, instead of the one that the parameters describe:
            symmetric, non-negative weights (sparse, of shape (n_samples, n_samples)); weights that
            mix each sample from others (sparse, rows that sum to one); or the neighbours of each
            sample (int, of shape (n_samples, n_neighbors)). New samples are joined to the training
            samples by distance.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts in the classifier's loss; only ratios matter. Samples of
            weight zero are left out of the fit; ``transduction_`` and ``label_distributions_``
            have predictions for them, as for new samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._learn(X, y, graph=graph, sample_weight=sample_weight)
