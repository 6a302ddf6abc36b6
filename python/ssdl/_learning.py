"""The call of the library behind every classifier, and the model that it holds.

``_base.py`` has what users call; this is what those methods are made of.
"""

from __future__ import annotations

import copy
import inspect
import os
import warnings
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from . import _labels, _query, _ssdl, _weights
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
from ._sklearn import BaseEstimator
from .errors import GraphError, SamplesError
from .graphs import given

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import NDArray

    from ._ssdl import Report
    from ._types import (
        Classes,
        ClassWeight,
        Device,
        Graph,
        ImageShape,
        Labels,
        Numbers,
        PathLike,
        Real,
        Samples,
        Seed,
        Steps,
        Whole,
    )

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


class HoldsModel(BaseEstimator):
    """An estimator with a model of the library: fitted, copied, pickled, and asked by row."""

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
    scratch: PathLike | None
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

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
            limits = self._limits()
            warnings.warn(
                f"{type(self).__name__} stopped at its limit of iterations ({model.iterations}) "
                f"before it converged{f'; raise {limits}' if limits else ''}",
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
            "scratch": None if self.scratch is None else os.fspath(self.scratch),
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
