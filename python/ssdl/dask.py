"""Fits on a cluster of Dask: samples stay on its workers, more than one machine could hold.

``pip install "ssdl[dask]"``. The estimators take arrays and data frames of Dask;
``docs/scale.md`` says what travels, and when a single machine is enough.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _division, _labels, _parts, _ssdl, _weights
from ._crew import Checkpoint, Client, DaskCrew, submit
from ._methods import SSDLGA, USSDL, LabelSpreading
from ._request import seed, shape, steps, threads
from ._sklearn import BaseEstimator, ClassifierMixin
from .errors import KnobError, SsdlError

try:
    dask: Any = import_module("dask")
    da: Any = import_module("dask.array")
    distributed: Any = import_module("distributed")
except ImportError as missing:
    raise ImportError(
        'ssdl.dask needs Dask: pip install "ssdl[dask]", here and on all workers'
    ) from missing

if TYPE_CHECKING:
    from typing import Self

    from ._base import FewLabelClassifier
    from ._types import Whole

__all__ = ["DaskLabelSpreading", "DaskSSDLGA", "DaskUSSDL"]


def _with_parameters(cls: type[DaskClassifier]) -> type[DaskClassifier]:
    """Let `get_params` and `help` see the parameters of the local estimator."""
    own = list(inspect.signature(DaskClassifier.__init__).parameters.values())[:-1]
    theirs = list(inspect.signature(cls._local).parameters.values())

    def __init__(self: Any, client: Client | None = None, **parameters: Any) -> None:
        DaskClassifier.__init__(self, client, **parameters)

    __init__.__signature__ = inspect.Signature([*own, *theirs])  # type: ignore[attr-defined]
    cls.__init__ = __init__  # type: ignore[method-assign]
    return cls


class DaskClassifier(ClassifierMixin, BaseEstimator):
    """Base of the estimators of this module.

    Parameters
    ----------
    client : distributed.Client, default=None
        The cluster; None takes the current client.
    n_parts : int, default=None
        Parts of the fit; None means one for each thread of the workers. The same samples, seed and
        number of parts give the same bits, whoever does the work.
    division : {"cuts", "chunks"}, default="cuts"
        ``cuts``: samples are moved once, so that near ones lie together. ``chunks``: they stay
        where they lie and every chunk is a part; more codes travel, and an iteration gains less.
    checkpoint : str, default=None
        A folder that this process and the workers share. A fit that was interrupted goes on from
        its last checkpoint there when it is called again.
    checkpoint_every : int, default=3
        Iterations between checkpoints.
    **parameters
        Those of the local estimator.

    Attributes
    ----------
    local_ : estimator
        The ordinary estimator, which ``to_local`` returns.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    """

    _local: ClassVar[type[FewLabelClassifier]]
    classes_: Any
    local_: Any

    def __init__(
        self,
        client: Client | None = None,
        *,
        n_parts: int | None = None,
        division: str = "cuts",
        checkpoint: str | None = None,
        checkpoint_every: int = 3,
        **parameters: Any,
    ) -> None:
        self.client = client
        self.n_parts = n_parts
        self.division = division
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        known = inspect.signature(self._local).parameters
        for name, parameter in known.items():
            setattr(self, name, parameters.pop(name, parameter.default))
        if parameters:
            raise TypeError(f"{type(self).__name__} has no parameter {next(iter(parameters))!r}")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a few labelled and many unlabelled samples.

        Parameters
        ----------
        X : dask array or dask dataframe of shape (n_samples, n_features)
            Samples; its chunks are whole rows.
        y : dask array or series, or array-like, of shape (n_samples,)
            Labels, in chunks of the same rows as those of `X`; missing ones as for the local
            estimator.
        sample_weight : dask array or series, or array-like, of shape (n_samples,), default=None
            How much each sample counts, in chunks as those of `X`; as for the local estimator.
            Samples of weight zero are left out of the fit, and predicted like new ones.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        local = self._estimator()
        local._validate_params()
        self._check()
        client = self._client()
        _division.check_versions(client)
        weights = None if sample_weight is None else label_blocks(sample_weight)
        chunks = _division.read(client, blocks_of(X), label_blocks(y), local.unlabeled, weights)
        rows = _division.sample_rows(chunks)
        labels = _division.sample_labels(chunks, rows)
        picked = _division.fetch(chunks, rows)
        samples = local._samples(_together(picked), chunks.dtype, reset=True)
        crew, divided = self._divide(client, chunks, (local, samples, labels, rows))
        own = _weights.Weights(_division.fetch_weights(chunks, rows))
        local._learn_from(samples, labels, own, elsewhere={"preparation": divided[0], "crew": crew})
        if crew.checkpoint is not None:
            crew.checkpoint.clear()
        self.local_ = local
        self.classes_ = local.classes_
        self.n_features_in_ = local.n_features_in_
        self._carried = (crew, divided[1], chunks.weighed)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the classes of samples: lazily, chunk by chunk, for a collection of Dask."""
        return self._each(X, "predict", self.classes_.dtype if hasattr(self, "classes_") else None)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, in the order of ``classes_``; lazily."""
        return self._each(X, "predict_proba", None, len(getattr(self, "classes_", ())))

    def score(self, X: Any, y: Any, sample_weight: None = None) -> float:
        """Accuracy on the samples that have a label; computed at once, chunk by chunk."""
        check_is_fitted(self, "local_")
        if sample_weight is not None:
            raise SsdlError("sample_weight is not known here: use to_local().score")
        client, model = self._client(), self._shared()
        samples = client.compute(blocks_of(X))
        sizes = client.gather([submit(client, len, block, name="size") for block in samples])
        labels = _division._label_blocks(client, label_blocks(y), list(sizes))
        counted = client.gather(
            [
                submit(client, _right, model, block, known, name="score")
                for block, known in zip(samples, labels, strict=True)
            ]
        )
        right, total = (sum(column) for column in zip(*counted, strict=True))
        return right / total if total else float("nan")

    def query(self, n: int = 10, X: Any = None) -> Whole:
        """Rows of `X` whose labels would help most: of the best of each chunk the best."""
        check_is_fitted(self, "local_")
        if X is None:
            raise SsdlError("query needs X: the samples to choose from")
        client, model = self._client(), self._shared()
        samples = client.compute(blocks_of(X))
        found = client.gather(
            [submit(client, _candidates, model, block, n, name="query") for block in samples]
        )
        starts = np.cumsum([0, *(count for _, _, count in found)])
        rows = np.concatenate(
            [at + start for (at, _, _), start in zip(found, starts, strict=False)]
        )
        best = self.local_.query(n, np.concatenate([some for _, some, _ in found]))
        chosen: Whole = rows[best]
        return chosen

    def to_local(self) -> Any:
        """The ordinary estimator: it predicts in this process and saves the ordinary file."""
        check_is_fitted(self, "local_")
        return self.local_

    @property
    def transduction_(self) -> Any:
        """Predictions of the fit for all training samples, in the order of the rows of `X`."""
        check_is_fitted(self, "local_")
        crew, pieces, weighed = self._carried
        tasks = zip(crew.parts, crew.states, pieces, strict=True)
        found = crew.client.gather(
            [submit(crew.client, _parts.found, *task, name="found") for task in tasks]
        )
        left_out = sum(len(rows) for rows, _ in weighed.left_out)
        count = sum(len(rows) for rows, _ in found) + left_out
        classes = np.empty(count, dtype=self.classes_.dtype)
        for rows, indices in found:
            classes[weighed.user_rows(rows)] = self.classes_[indices]
        model = self._shared() if left_out else None
        for rows, block in weighed.left_out:
            task = submit(crew.client, _call, block, "predict", model, name="predict")
            classes[rows] = crew.client.gather(task)
        return classes

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        # What lies on the cluster stays there.
        state.pop("_carried", None)
        state["client"] = None
        return state

    def _check(self) -> None:
        if self.division not in ("cuts", "chunks"):
            raise KnobError(f"division is {self.division!r}; allowed: 'cuts', 'chunks'")
        for name in ("n_parts", "checkpoint_every"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise KnobError(f"{name} is {value!r}; allowed: whole numbers from 1")

    def _client(self) -> Client:
        return self.client if self.client is not None else distributed.get_client()

    def _estimator(self) -> FewLabelClassifier:
        """The local estimator with these parameters."""
        names = inspect.signature(self._local).parameters
        return self._local(**{name: getattr(self, name) for name in names})

    def _graph(self, local: Any) -> tuple[str, int | None]:
        """The kind of graph over the parts, and its neighbours per sample; None without one."""
        return "mixtures", local.n_neighbors if getattr(local, "manifold", 0) > 0 else None

    def _divide(
        self, client: Client, chunks: _division.Chunks, given: tuple[Any, Any, Any, Any]
    ) -> tuple[DaskCrew, tuple[dict[str, Any], list[Any]]]:
        """The parts, and who carries them."""
        local, samples, labels, rows = given
        n_threads = threads(local.n_jobs)
        image = None if local.image_shape is None else shape(local.image_shape)
        preparation = _ssdl.prepare_chosen(
            samples,
            labels.indices,
            labels.names,
            steps(local.prepare),
            image,
            seed(local.random_state),
            n_threads,
        )
        n_parts = self.n_parts or sum(client.nthreads().values())
        n_parts = max(1, min(n_parts, len(samples) // 2))
        kind, n_neighbors = self._graph(local)
        has_graph = n_neighbors is not None
        search = getattr(local, "neighbours", "auto")
        is_large = chunks.n_samples > _division.ALL_UP_TO
        prepared = _ssdl.prepare_apply(samples, preparation, n_threads)
        by_cuts = self.division == "cuts"
        n_pieces = n_parts if by_cuts else sum(size > 0 for size in chunks.sizes)
        plan = _division.Plan(
            preparation=preparation,
            cuts=_ssdl.part_cuts(prepared, n_parts, None, n_threads) if by_cuts else None,
            n_parts=n_parts,
            kind=kind,
            n_neighbors=n_neighbors,
            approximate=search == "approximate" or (search == "auto" and is_large),
            forest=_division.forest(prepared, chunks.n_samples, n_pieces, n_threads)
            if has_graph and search != "exact"
            else [],
            threads=n_threads,
            kept=rows,
        )
        divided = _division.divide(chunks, plan)
        counts = (chunks.n_samples, len(chunks.known[0]))
        checkpoint = self._checkpoint(chunks, local, len(divided.parts))
        crew = DaskCrew(client, divided.parts, divided.needs, counts, n_threads, checkpoint)
        return crew, (preparation, divided.pieces)

    def _checkpoint(self, chunks: _division.Chunks, local: Any, n_parts: int) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        facts = {
            "version": _parts.version(),
            "request": local._request(chunks.classes)["knobs"],
            "sizes": chunks.sizes,
            "known": [part.tolist() for part in chunks.known],
            "weighed": chunks.weighed.digest(chunks.client),
            "classes": chunks.classes.names,
            "division": [self.division, n_parts, str(local.random_state), str(local.prepare)],
        }
        text = json.dumps(facts, sort_keys=True, default=str)
        fingerprint = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        return Checkpoint(self.checkpoint, self.checkpoint_every, fingerprint, n_parts)

    def _shared(self) -> Any:
        """The local estimator on the cluster, as a task that can be repeated."""
        return submit(self._client(), _parts.same, self.local_, name="model")

    def _each(self, X: Any, method: str, dtype: Any, width: int | None = None) -> Any:
        """Call a method of the local estimator on each chunk, lazily; at once if in memory."""
        check_is_fitted(self, "local_")
        if not hasattr(X, "dask"):
            return getattr(self.local_, method)(X)
        dtype = dtype or np.dtype(self.local_._model.precision)
        model = dask.delayed(self.local_, pure=True)
        if isinstance(X, da.Array):
            whole = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
            return whole.map_blocks(
                _call,
                method=method,
                estimator=model,
                dtype=dtype,
                drop_axis=1 if width is None else None,
                chunks=None if width is None else (whole.chunks[0], (width,)),
                meta=np.empty((0,) if width is None else (0, width), dtype=dtype),
            )
        parts = [
            dask.delayed(_call)(block, method=method, estimator=model) for block in X.to_delayed()
        ]
        lengths = [np.nan] * len(parts)
        shape = (lambda n: (n,)) if width is None else (lambda n: (n, width))
        arrays = [
            da.from_delayed(part, shape=shape(length), dtype=dtype)
            for part, length in zip(parts, lengths, strict=True)
        ]
        return da.concatenate(arrays, allow_unknown_chunksizes=True)


class DaskCoder(DaskClassifier):
    """Base of those that code samples."""

    def transform(self, X: Any) -> Any:
        """Sparse codes of samples, as dense arrays; lazily."""
        check_is_fitted(self, "local_")
        return self._each(X, "transform", None, self.local_._model.n_atoms)


@_with_parameters
class DaskSSDLGA(DaskCoder):
    """SSDL-GA on a cluster; see :class:`ssdl.SSDLGA` for its parameters."""

    _local = SSDLGA


@_with_parameters
class DaskUSSDL(DaskCoder):
    """USSDL on a cluster; see :class:`ssdl.USSDL` for its parameters."""

    _local = USSDL


@_with_parameters
class DaskLabelSpreading(DaskClassifier):
    """Label spreading on a cluster; see :class:`ssdl.LabelSpreading` for its parameters.

    Each part has its rows of the graph and the scores of its samples, and gets those of its foreign
    neighbours before every product with the graph. It takes no checkpoints: a fit that was
    interrupted begins anew.
    """

    _local = LabelSpreading

    def _graph(self, local: Any) -> tuple[str, int | None]:
        return "neighbours", local.n_neighbors

    def _check(self) -> None:
        super()._check()
        if self.checkpoint is not None:
            raise KnobError(
                f"checkpoint is {self.checkpoint!r}; allowed: None: label spreading takes none"
            )


def blocks_of(X: Any) -> list[Any]:
    """The chunks of an array or data frame of Dask."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise SsdlError(f"X must have two dimensions, not {X.ndim}")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        return list(X.to_delayed().ravel())
    if hasattr(X, "to_delayed"):
        return list(X.to_delayed())
    raise SsdlError(
        f"X must be an array or a data frame of Dask, not {type(X).__name__}: for samples in "
        "memory take the local estimator"
    )


def label_blocks(y: Any) -> Any:
    """The chunks of labels, if Dask has them."""
    if hasattr(y, "to_delayed"):
        return list(np.ravel(y.to_delayed()))
    return y


def _together(picked: list[Any]) -> Any:
    if hasattr(picked[0], "iloc"):
        import pandas as pd

        return pd.concat(picked)
    return np.concatenate(picked)


def _call(block: Any, method: str, estimator: Any) -> Any:
    if not len(block):
        width = {"predict_proba": len(estimator.classes_)}.get(method, 0)
        dtype = estimator.classes_.dtype if method == "predict" else estimator._model.precision
        if method == "transform":
            width = estimator._model.n_atoms
        return np.empty((0,) if method == "predict" else (0, width), dtype=dtype)
    found = getattr(estimator, method)(block)
    return found.toarray() if hasattr(found, "toarray") else np.asarray(found)


def _right(estimator: Any, block: Any, y: Any) -> tuple[int, int]:
    known, values = _labels.is_labelled(y, estimator.unlabeled, estimator.classes_)
    if not known.any():
        return 0, 0
    predicted = estimator.predict(_parts.pick(block, np.flatnonzero(known)))
    truth = _labels.tidy(values[known])
    return int(np.sum(predicted == truth)), int(known.sum())


def _candidates(estimator: Any, block: Any, n: int) -> tuple[Whole, Any, int]:
    if not len(block):
        return np.empty(0, dtype=np.int64), _parts.as_rows(block), 0
    at = estimator.query(n, block)
    return at, _parts.as_rows(_parts.pick(block, at)), len(block)
