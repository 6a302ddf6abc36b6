"""The tasks of a fit over several parts, as workers run them: plain functions, state in and out.

A chunk is what the user has, a part what the fit makes of the chunks: near samples together.
Samples are numbered by their *places*: those of part 0 first, then those of part 1, and so on.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _labels, _ssdl
from .errors import LabelsError, NotFiniteError, SamplesError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._types import Classes, Whole


@dataclass(frozen=True)
class Facts:
    """What the driver learns of a chunk."""

    n_samples: int
    n_features: int
    dtype: str
    names: list[str] | None


@dataclass(frozen=True)
class Piece:
    """Prepared samples, their class indices (-1 for none), and their rows among all chunks.

    Weights, where there are some, are relative to the mean of all labelled samples.
    """

    samples: NDArray[Any]
    labels: Whole
    rows: Whole
    weights: NDArray[np.float64] | None = None

    def chosen(self, at: Whole) -> Piece:
        """Some of the samples."""
        some = np.ascontiguousarray(self.samples[at])
        weights = None if self.weights is None else self.weights[at]
        return Piece(some, self.labels[at], self.rows[at], weights)


@dataclass(frozen=True)
class Lists:
    """Squared distances and places of neighbours, a row for each sample."""

    distances: NDArray[np.float64]
    places: Whole


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """The array as the library reads it; one that came over a wire may lie at odd bytes."""
    return np.require(array, requirements=["C", "A"])


def version() -> str:
    """The version of the package where this runs."""
    import ssdl

    return str(ssdl.__version__)


def same(value: Any) -> Any:
    """The value; as a task it can be made again wherever it is lost."""
    return value


def look(chunk: Any, at: int) -> Facts:
    """Check a chunk; what is wrong is named with its place."""
    names = [str(name) for name in chunk.columns] if hasattr(chunk, "columns") else None
    values = as_rows(chunk, at)
    finite = np.isfinite(values)
    if not finite.all():
        row, column = (int(place) for place in np.argwhere(~finite)[0])
        raise NotFiniteError(
            f"chunk {at}, row {row}, column {column} (all counted from 0) is "
            f"{values[row, column]}: samples must be finite; remove the row or fill in the value"
        )
    return Facts(len(values), values.shape[1], values.dtype.name, names)


def as_rows(chunk: Any, at: int = 0, dtype: str | None = None) -> NDArray[Any]:
    """The samples of a chunk as rows in C order, float32 or float64."""
    values = chunk.to_numpy() if hasattr(chunk, "to_numpy") else chunk
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    if values.ndim != 2:
        raise ShapeError(f"chunk {at} must have two dimensions, not {values.ndim}")
    if values.dtype.kind not in "fiub":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise SamplesError(f"chunk {at} has values that are no numbers") from None
    wanted = dtype or ("float32" if values.dtype == np.float32 else "float64")
    return np.require(values, dtype=wanted, requirements=["C", "A"])


def label_values(y: Any) -> Classes:
    """The different labels of a chunk, markers included, missing ones not."""
    values = _labels.as_column(y)
    known = _labels.tidy(values[~_labels.is_missing(values)])
    return np.unique(known)


def encode(y: Any, classes: Classes, unlabeled: object, n_samples: int, at: int) -> Whole:
    """The class index of each sample of a chunk, -1 for none."""
    indices = _labels.read(y, unlabeled, classes).indices
    if len(indices) != n_samples:
        raise LabelsError(f"labels: chunk {at} has {n_samples} samples, but {len(indices)} labels")
    return indices


def labelled(indices: Whole) -> tuple[Whole, Whole]:
    """The rows of a chunk that have a label, and their classes."""
    rows = np.flatnonzero(indices >= 0)
    return rows, indices[rows]


def weigh(values: Any, n_samples: int, at: int) -> NDArray[np.float64]:
    """The weights of a chunk, checked."""
    weights = np.asarray(values, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise SamplesError(
            f"sample_weight: chunk {at} has {n_samples} samples, but weights of shape "
            f"{weights.shape}"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise SamplesError(
            f"sample_weight: chunk {at}, row {wrong[0]} (counted from 0) is {weights[wrong[0]]}: "
            "weights are finite, 0 or more"
        )
    return weights


def rows_where(weights: NDArray[np.float64], counts: bool) -> Whole:
    """The rows of a chunk that count, or those that do not."""
    return np.flatnonzero((weights > 0) == counts)


def sums(weights: NDArray[np.float64], indices: Whole) -> tuple[float, int, float, float]:
    """Over labelled samples the sum and the number of the weights; least and largest of all."""
    known = weights[indices >= 0]
    least, most = (weights.min(), weights.max()) if len(weights) else (np.inf, -np.inf)
    return float(known.sum()), len(known), float(least), float(most)


def relative(weights: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Weights in multiples of a mean."""
    return weights / mean


def digest(weights: NDArray[np.float64]) -> str:
    """What tells the weights of a chunk from others."""
    return hashlib.blake2b(weights.tobytes(), digest_size=8).hexdigest()


def pick(chunk: Any, rows: Whole) -> Any:
    """Some samples of a chunk as they are."""
    return chunk.iloc[rows] if hasattr(chunk, "iloc") else chunk[rows]


def divide(
    chunk: Any,
    labels: Whole,
    how: tuple[dict[str, Any], bytes | None, int, str],
    first: int,
    threads: int,
    weights: NDArray[np.float64] | None = None,
) -> list[Piece]:
    """Prepare a chunk and divide it by the cuts; without cuts it stays whole."""
    preparation, cuts, n_parts, dtype = how
    samples = as_rows(chunk, dtype=dtype)
    rows = np.arange(first, first + len(samples))
    if not len(samples):
        empty = np.empty((0, int(preparation["n_prepared"])), dtype=dtype)
        return [Piece(empty, labels, rows, weights) for _ in range(n_parts)]
    prepared = _ssdl.prepare_apply(samples, preparation, threads)
    whole = Piece(prepared, labels, rows, weights)
    if cuts is None:
        return [whole]
    part = _ssdl.part_of(prepared, cuts)
    return [whole.chosen(np.flatnonzero(part == at)) for at in range(n_parts)]


def item(values: Sequence[Any], at: int) -> Any:
    """One of several results."""
    return values[at]


def join(pieces: list[Piece]) -> Piece:
    """The pieces of one part, in the order of the chunks."""
    return Piece(
        np.ascontiguousarray(np.concatenate([piece.samples for piece in pieces])),
        np.concatenate([piece.labels for piece in pieces]),
        np.concatenate([piece.rows for piece in pieces]),
        None
        if pieces[0].weights is None
        else np.concatenate([piece.weights for piece in pieces if piece.weights is not None]),
    )


def size(piece: Piece) -> int:
    """Number of samples."""
    return len(piece.samples)


def search(
    block: Piece, queries: Piece | None, k: int, first: int, approximate: bool, threads: int
) -> Lists:
    """The nearest samples of a block whose first sample has the place ``first``."""
    others = None if queries is None else aligned(queries.samples)
    found, at = _ssdl.part_neighbours(aligned(block.samples), others, k, approximate, threads)
    return Lists(np.asarray(found), at + first)


def merge(lists: list[Lists], k: int) -> Whole:
    """The places of the nearest of all blocks, by distance and then place."""
    distances = np.concatenate([found.distances for found in lists], axis=1)
    places = np.concatenate([found.places for found in lists], axis=1)
    order = np.lexsort((places, distances), axis=1)[:, :k]
    return np.ascontiguousarray(np.take_along_axis(places, order, axis=1))


def foreign(places: Whole, start: int, stop: int) -> Whole:
    """The places of another part that appear in these lists, ascending."""
    found = np.unique(places)
    return found[(found >= start) & (found < stop)]


def lend(piece: Piece, places: Whole, first: int) -> tuple[Whole, NDArray[Any]]:
    """Samples of a part for another part's graph."""
    return places, piece.samples[places - first]


def graph_rows(
    kind: str,
    piece: Piece,
    places: Whole,
    lent: list[tuple[Whole, NDArray[Any]]],
    span: tuple[int, int],
    threads: int,
) -> bytes:
    """The rows of the graph of a part's own samples."""
    first, total = span
    own = np.arange(first, first + len(piece.samples))
    known = np.concatenate([own, *(at for at, _ in lent)])
    table = np.concatenate([piece.samples, *(samples for _, samples in lent)])
    order = np.argsort(known, kind="stable")
    local = order[np.searchsorted(known[order], places)]
    queries, places = aligned(piece.samples), aligned(places)
    return _ssdl.part_rows(kind, aligned(table), queries, local, places, first, total, threads)


def touching(kind: str, rows: bytes, precision: str, start: int, stop: int) -> bytes:
    """The rows of the graph in which samples of another part appear."""
    return _ssdl.part_touching(kind, rows, precision, start, stop)


def make(
    kind: str, piece: Piece, rows: bytes | None, others: list[bytes], first: int, kept: Whole
) -> _ssdl.Part:
    """A part; the model keeps the samples with the row numbers ``kept``, ascending."""
    at = np.searchsorted(kept, piece.rows)
    here = np.flatnonzero(kept[np.minimum(at, len(kept) - 1)] == piece.rows)
    graph = None if rows is None else (kind, rows, others)
    both = (at[here].tolist(), here.tolist())
    weights = None if piece.weights is None else aligned(piece.weights)
    return _ssdl.Part(aligned(piece.samples), aligned(piece.labels), graph, first, both, weights)


def needs(part: _ssdl.Part, starts: list[int]) -> list[list[int]]:
    """For each part, the places of its samples whose codes or scores this part needs."""
    return [part.needs(start, stop) for start, stop in zip(starts, starts[1:], strict=False)]


def sending(part: _ssdl.Part, needed: list[list[list[int]]], at: int) -> _ssdl.Part:
    """The part that knows whom to send what."""
    return part.sending([of_part[at] for of_part in needed])


def outgoing(part: _ssdl.Part, before: tuple[bytes, bytes], to: int) -> bytes:
    """The codes or scores that another part needs."""
    return part.outgoing(before[0], to)


def take(
    part: _ssdl.Part,
    before: tuple[bytes, bytes],
    message: bytes,
    incoming: list[bytes],
    threads: int,
) -> tuple[bytes, bytes]:
    """A step: the state after it, and the reply."""
    state, reply = part.step(before[0], incoming, message, threads)
    return (before[0] if state is None else state), reply


def ask(
    part: _ssdl.Part,
    before: tuple[bytes, bytes],
    message: bytes,
    incoming: list[bytes],
    threads: int,
) -> bytes:
    """The reply of a step that leaves the state as it is."""
    return part.step(before[0], incoming, message, threads)[1]


def write_state(before: tuple[bytes, bytes], path: str) -> str:
    """Keep a state in a file that appears whole or not at all."""
    partial = f"{path}.partial"
    with open(partial, "wb") as file:
        file.write(before[0])
    os.replace(partial, path)
    return path


def read_state(path: str) -> tuple[bytes, bytes]:
    """A state from its file."""
    with open(path, "rb") as file:
        return file.read(), b""


def found(part: _ssdl.Part, before: tuple[bytes, bytes], piece: Piece) -> tuple[Whole, Whole]:
    """The rows of a part's samples, and the class that the fit has found for each."""
    return piece.rows, np.argmax(part.scores(before[0]), axis=1)
