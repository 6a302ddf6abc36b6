"""What all classifiers share: input checks, the call of the library, attributes.

The classes themselves are generated from the register of methods, in ``_methods.py``.
"""

from __future__ import annotations

import copy
import inspect
import os
import warnings
from numbers import Integral
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.metrics import accuracy_score
from sklearn.utils import check_consistent_length, check_scalar
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _explained, _labels, _query, _ssdl, _weights
from ._request import (
    as_value,
    caller,
    digest,
    knob_text,
    reporter,
    samples,
    seed,
    shape,
    steps,
    threads,
    warn_of,
)
from ._sklearn import BaseEstimator, ClassifierMixin
from .errors import GraphError, SamplesError
from .graphs import given

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from ._explained import Explanation
    from ._query import Batch, Strategy
    from ._ssdl import Report
    from ._types import (
        Classes,
        ClassWeight,
        Device,
        Graph,
        ImageShape,
        Indices,
        Labels,
        Numbers,
        PathLike,
        Real,
        Samples,
        Seed,
        Steps,
        Whole,
    )

COMMON_CONSTRAINTS = {
    "prepare": [list, tuple, str, None],
    "image_shape": [list, tuple, None],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "unlabeled": "no_validation",
    "calibrate": ["boolean"],
    "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
    "device": [StrOptions({"cpu", "gpu", "auto"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}

# Attributes that the check of the samples sets.
SAMPLE_ATTRIBUTES = ("n_features_in_", "feature_names_in_", "_nameless")


# What users call with arguments, so that errors name the class that they know.
CALLED = (
    "fit",
    "partial_fit",
    "add_labels",
    "query",
    "predict",
    "predict_proba",
    "score",
    "explain",
    "report",
    "save",
)


def name_own_methods(cls: type) -> None:
    """Give a class its own copy of inherited methods, with its own name in errors."""
    for name in CALLED:
        method = getattr(cls, name, None)
        if isinstance(method, FunctionType) and name not in vars(cls):
            own = FunctionType(
                method.__code__,
                method.__globals__,
                name,
                method.__defaults__,
                method.__closure__,
            )
            own.__kwdefaults__ = method.__kwdefaults__
            own.__annotations__ = method.__annotations__
            own.__doc__, own.__module__ = method.__doc__, method.__module__
            own.__qualname__ = f"{cls.__name__}.{name}"
            setattr(cls, name, own)


class FewLabelClassifier(ClassifierMixin, BaseEstimator):
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

    # Pages in notebooks link to the paper of the method.
    _doc_link_module = "ssdl"
    _doc_link_template: str
    # The method's name in the register, and its knobs by the name of the parameter.
    _method: str
    _knobs: dict[str, str]
    classes_: Classes
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    prepare: Steps
    image_shape: ImageShape
    class_weight: ClassWeight
    unlabeled: object
    calibrate: bool
    memory_limit: int | None
    device: Device
    random_state: Seed
    n_jobs: int | None
    verbose: int
    _model: _ssdl.Model
    _training: tuple[Any, Any]
    _training_digest: bytes | None

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "_method" in vars(cls):
            name_own_methods(cls)

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

    def _candidates(self, X: Samples | None) -> tuple[_query.Candidates, Whole]:
        """What a query chooses from, and the rows of these samples."""
        labelled = self._model.labels >= 0
        codes = self._model.codes
        if X is None:
            open_rows = np.flatnonzero(~labelled)
            shares = self._model.transduction(self._threads())[2]
            found = _query.Candidates(shares[open_rows], codes[open_rows], codes[labelled])
            return found, open_rows
        rows = self._samples(X, self._model.precision)
        shares = self._model.predict(rows, self._threads(), self.device)[2]
        new = self._model.code(rows, False, self._threads(), self.device)
        return _query.Candidates(shares, new, codes[labelled]), np.arange(len(rows))

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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # The caller's own array: a pickle holds only the model.
        state.pop("_training", None)
        state.pop("_training_digest", None)
        # Bytes and arrays only, for those who load nothing else.
        if "_model" in state:
            state["_model"] = self._model.to_bytes()
        weights = state.pop("_fit_weights", _weights.ALL)
        if weights.values is not None:
            state["_fit_weights"] = (weights.values, weights.left_out)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("_model"), bytes):
            state["_model"] = _ssdl.Model.from_bytes(state["_model"])
        if "_fit_weights" in state:
            state["_fit_weights"] = _weights.Weights(*state["_fit_weights"])
        super().__setstate__(state)

    def __copy__(self) -> Self:
        return self._copied(copy.copy)

    def __deepcopy__(self, memory: dict[int, Any]) -> Self:
        return self._copied(lambda value: copy.deepcopy(value, memory))

    def _copied(self, copy_value: Callable[[Any], Any]) -> Self:
        """A copy within the process shares the training samples, which are never changed."""
        other = type(self).__new__(type(self))
        for name, value in vars(self).items():
            setattr(other, name, value if name == "_training" else copy_value(value))
        return other

    @property
    def _row_weights(self) -> _weights.Weights:
        """Which samples of the last fit took part; all, if the model comes from a file."""
        return getattr(self, "_fit_weights", _weights.ALL)

    def _transduction(self, part: int) -> NDArray[Any]:
        """Classes (0) or probabilities (2) of all samples, also of those left out of the fit."""
        found = self._learnt.transduction(self._threads())[part]
        return self._row_weights.merged(found, part)

    @property
    def _learnt(self) -> _ssdl.Model:
        check_is_fitted(self)
        return self._model

    def _classifier(self, name: str) -> tuple[Real, Real]:
        linear = self._learnt.classifier
        if linear is None:
            raise AttributeError(
                f"{type(self).__name__} has no {name}: no linear classifier decides"
            )
        return linear

    def _predict(self, X: Samples) -> tuple[Whole, Real, Real]:
        """Indices of the classes, scores and probabilities."""
        check_is_fitted(self)
        rows = self._samples(X, self._model.precision)
        return self._model.predict(rows, self._threads(), self.device)

    def _learn(
        self,
        X: Samples,
        y: Labels,
        graph: Graph | None = None,
        sample_weight: Numbers | None = None,
    ) -> Self:
        self._check_graph()
        self._validate_params()
        own = self.__dict__
        before = {name: own[name] for name in SAMPLE_ATTRIBUTES if name in own}
        try:
            rows = self._samples(X, [np.float64, np.float32], reset=True)
            values = _labels.as_column(y)
            check_consistent_length(rows, values)
            weights = _weights.read(sample_weight, rows, graph)
            labels = _labels.read(weights.kept_rows(values), self.unlabeled)
            labels = _labels.Labels(labels.classes, weights.all_rows(labels.indices, -1))
            # An array of our own is not written to by others.
            shared = not isinstance(X, np.ndarray) or np.may_share_memory(rows, X)
            return self._learn_from(rows, labels, weights, graph=graph, shared=shared)
        except BaseException:
            # The existing model was fitted on other samples.
            for name in SAMPLE_ATTRIBUTES:
                own.pop(name, None)
            own.update(before)
            raise

    def _learn_from(
        self,
        rows: NDArray[Any],
        labels: _labels.Labels,
        weights: _weights.Weights = _weights.ALL,
        graph: Graph | None = None,
        start: _ssdl.Model | None = None,
        shared: bool = True,
        elsewhere: dict[str, Any] | None = None,
    ) -> Self:
        """Call the library; if it fails, the estimator stays as it was.

        Rows that are ``shared`` with the caller are used again only if nothing was written to them.
        With ``elsewhere`` they are only those that the model keeps: their preparation, and who
        carries all of them.
        """
        request = self._request(labels) | {
            "graph": given(graph, len(rows)),
            "start": start,
            "sample_weight": weights.numbers(),
            "preparation": None,
            "crew": None,
        }
        request |= elsewhere or {}
        some = np.ascontiguousarray(weights.kept_rows(rows))
        indices = np.ascontiguousarray(weights.kept_rows(labels.indices))
        model, notices = _ssdl.fit(some, indices, request, self._report())
        warn_of(notices)
        self._model = model
        self._training = (rows, graph)
        self._fit_weights = weights.judged(rows, model, self._threads(), self.device)
        self._training_digest = digest(rows) if shared else None
        self.classes_ = labels.classes
        if model.reached_limit:
            warnings.warn(
                f"{type(self).__name__} stopped at its limit of iterations ({model.iterations}) "
                f"before it converged; raise {self._limits()}",
                ConvergenceWarning,
                stacklevel=caller(),
            )
        return self

    def _check_graph(self) -> None:
        """The parameter is the kind of graph, the argument of ``fit`` a graph itself."""
        kind: Any = getattr(self, "graph", "")
        if sparse.issparse(kind) or np.ndim(kind) == 2:
            raise GraphError(
                "the parameter graph names a kind, such as 'lle': pass a graph of your own to fit, "
                "as fit(X, y, graph=...)"
            )

    def _limits(self) -> str:
        """The parameters that limit a fit."""
        names = ("max_iter", "max_epochs", "max_rounds", "tol")
        return " or ".join(name for name in names if name in self._knobs)

    def _training_samples(self, X: Samples | None) -> tuple[NDArray[Any], Any]:
        """The training samples and the graph that was given with them."""
        if X is not None:
            rows = self._samples(X, self._model.precision)
            check_consistent_length(rows, self._row_weights.all_rows(self._model.labels, -1))
            return rows, getattr(self, "_training", (None, None))[1]
        if not hasattr(self, "_training"):
            raise SamplesError(
                "files and pickles do not hold the raw training samples: pass them to add_labels "
                "as X, or fit again"
            )
        return self._unchanged_training()

    def _unchanged_training(self) -> tuple[NDArray[Any], Any]:
        """The training samples, if they are still those of the fit."""
        rows, graph = self._training
        if self._training_digest not in (None, digest(rows)):
            raise SamplesError(
                "the array given to fit was written to since: pass the samples of the fit as X, or "
                "fit again"
            )
        return rows, graph

    def _samples(self, X: Samples, dtype: Any, reset: bool = False) -> NDArray[Any]:
        if reset:
            self._nameless = False
        elif getattr(self, "_nameless", False) and hasattr(X, "to_numpy"):
            # The fit had no column names: there is nothing to compare these with.
            X = X.to_numpy()
        return samples(self, X, dtype, reset=reset, limit=getattr(self, "memory_limit", None))

    def _threads(self) -> int:
        return threads(self.n_jobs)

    def _request(self, labels: _labels.Labels) -> dict[str, Any]:
        """The request to the library, apart from the samples."""
        return {
            "method": self._method,
            "knobs": [
                (knob, knob_text(knob, getattr(self, name))) for name, knob in self._knobs.items()
            ],
            "classes": labels.names,
            "class_weight": _weights.of_classes(self.class_weight, labels),
            "label_type": labels.kind,
            "feature_names": self._feature_names(),
            "prepare": steps(self.prepare),
            "image": None if self.image_shape is None else shape(self.image_shape),
            "seed": seed(self.random_state),
            "threads": self._threads(),
            "calibrate": bool(self.calibrate),
            "memory_limit": None if self.memory_limit is None else int(self.memory_limit),
            "device": self.device,
        }

    def _feature_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _report(self) -> Report:
        # Every iteration of every method with atoms has this step.
        return reporter(type(self).__name__, self.verbose, "dictionary")

    @classmethod
    def _from_model(cls, model: _ssdl.Model) -> Self:
        """The fitted estimator that holds this model."""
        defaults = {
            name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()
        }
        found = dict(model.knobs)
        parameters = {
            name: as_value(found[knob], type(defaults[name]))
            for name, knob in cls._knobs.items()
            if knob in found
        }
        parameters |= {
            "prepare": tuple(model.prepare),
            "image_shape": None if model.image is None else tuple(model.image),
            "calibrate": model.is_calibrated,
            "random_state": model.seed,
        }
        estimator = cls(**parameters)
        estimator._model = model
        estimator.classes_ = _labels.from_names(model.classes, model.label_type)
        estimator.n_features_in_ = model.n_features
        estimator._nameless = model.feature_names is None
        if model.feature_names is not None:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        return estimator


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
