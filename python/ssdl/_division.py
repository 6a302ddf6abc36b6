"""From the chunks of a user to the parts of a fit: only facts and a sample come to the driver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _forest, _labels, _parts, _ssdl, _weighed
from ._crew import Client, Future, submit
from .errors import LabelsError, SamplesError, ShapeError, SsdlError

if TYPE_CHECKING:
    from ._types import Whole

# Up to this many samples come to the driver as a whole; of more, so many that stand for all.
ALL_UP_TO = 20_000
LANDMARKS = 10_000
# Up to this many samples every part searches every other: a forest would not pay.
EVERY_PART_UP_TO = 50_000


@dataclass
class Chunks:
    """Chunks that lie on workers, checked."""

    client: Client
    samples: list[Future]
    labels: list[Future]
    sizes: list[int]
    dtype: str
    names: list[str] | None
    classes: _labels.Labels
    # Rows of labelled samples among all, and their classes.
    known: tuple[Whole, Whole]
    weighed: _weighed.Weighed

    @property
    def n_samples(self) -> int:
        return sum(self.sizes)

    @property
    def starts(self) -> list[int]:
        """The row of the first sample of each chunk, and the number of all."""
        return [0, *np.cumsum(self.sizes).tolist()]


def check_versions(client: Client) -> None:
    """Refuse workers that have another version of the package."""
    own = _parts.version()
    workers = client.run(_parts.version)
    if not workers:
        raise SsdlError("the cluster has no worker")
    others = {place: found for place, found in workers.items() if found != own}
    if others:
        place, found = next(iter(others.items()))
        raise SsdlError(
            f"worker {place} has ssdl {found}, this process {own}: all workers need one version"
        )


def read(
    client: Client, samples: list[Any], y: Any, unlabeled: object, sample_weight: Any = None
) -> Chunks:
    """Compute the chunks where they lie, and check them."""
    blocks = client.compute(samples)
    facts = client.gather(
        [submit(client, _parts.look, block, at, name="look") for at, block in enumerate(blocks)]
    )
    width = next((fact.n_features for fact in facts if fact.n_samples), None)
    if width is None:
        raise SamplesError("samples: there are none")
    for at, fact in enumerate(facts):
        if fact.n_features != width:
            raise ShapeError(
                f"chunk {at} has {fact.n_features} features, the chunks before it {width}"
            )
    sizes = [fact.n_samples for fact in facts]
    labels = _label_blocks(client, y, sizes)
    weights = None
    weighed = _weighed.Weighed()
    if sample_weight is not None:
        weights = _weighed.read(client, sample_weight, sizes)
        (blocks, labels, weights), weighed = _weighed.without_zeros(client, blocks, labels, weights)
        sizes = list(client.gather([submit(client, len, it, name="size") for it in weights]))
        if not sum(sizes):
            raise SamplesError("all samples have weight zero: there is nothing to learn from")
    values = client.gather(
        [submit(client, _parts.label_values, block, name="labels") for block in labels]
    )
    classes = _classes([found for found in values if len(found)], unlabeled)
    indices = [
        submit(client, _parts.encode, block, classes.classes, unlabeled, count, at, name="classes")
        for at, (block, count) in enumerate(zip(labels, sizes, strict=True))
    ]
    marked = client.gather([submit(client, _parts.labelled, it, name="marked") for it in indices])
    starts = np.cumsum([0, *sizes])
    rows = [found + start for (found, _), start in zip(marked, starts, strict=False)]
    if weights is not None:
        weighed = replace(weighed, weights=_weighed.relative(client, weights, indices))
    # An empty chunk has no numbers, so that its type says nothing.
    types = [fact.dtype for fact in facts if fact.n_samples]
    return Chunks(
        client,
        blocks,
        indices,
        sizes,
        "float32" if set(types) == {"float32"} else "float64",
        next((fact.names for fact in facts if fact.names), None),
        classes,
        (np.concatenate(rows), np.concatenate([found for _, found in marked])),
        weighed,
    )


def _label_blocks(client: Client, y: Any, sizes: list[int]) -> list[Any]:
    """The labels of each chunk, wherever they lie."""
    if isinstance(y, list) and y and hasattr(y[0], "dask"):
        if len(y) != len(sizes):
            raise LabelsError(f"labels: y has {len(y)} chunks, X has {len(sizes)}")
        return list(client.compute(y))
    values = _labels.as_column(y)
    if len(values) != sum(sizes):
        raise LabelsError(f"labels: X has {sum(sizes)} samples, but there are {len(values)} labels")
    return np.split(values, np.cumsum(sizes)[:-1])


def _classes(values: list[Any], unlabeled: object) -> _labels.Labels:
    """The classes of all chunks together."""
    if not values:
        raise LabelsError("labels: no sample is labelled; at least two classes are needed")
    kinds = {found.dtype.kind in "OU" for found in values}
    if len(kinds) > 1:
        raise LabelsError(
            "labels: text and numbers are mixed; use one kind, and None for unlabelled"
        )
    return _labels.read(np.unique(np.concatenate(values)), unlabeled)


def sample_rows(chunks: Chunks) -> Whole:
    """The rows that come to the driver, ascending: all, or labelled and evenly spaced ones."""
    total = chunks.n_samples
    if total <= ALL_UP_TO:
        return np.arange(total)
    known = chunks.known[0]
    known = known[:: max(1, -(-len(known) // LANDMARKS))]
    return np.unique(np.concatenate([known, np.arange(LANDMARKS) * total // LANDMARKS]))


def fetch_weights(chunks: Chunks, rows: Whole) -> Any:
    """The weights of these samples; None if all count the same."""
    weights = chunks.weighed.weights
    return None if weights is None else np.concatenate(_fetch(chunks, weights, rows))


def fetch(chunks: Chunks, rows: Whole) -> list[Any]:
    """These samples, chunk by chunk, as they are."""
    return _fetch(chunks, chunks.samples, rows)


def _fetch(chunks: Chunks, blocks: list[Future], rows: Whole) -> list[Any]:
    starts = np.array(chunks.starts)
    wanted = [
        rows[(rows >= start) & (rows < stop)] - start
        for start, stop in zip(starts, starts[1:], strict=False)
    ]
    picked = [
        submit(chunks.client, _parts.pick, block, some, name="sample")
        for block, some in zip(blocks, wanted, strict=True)
        if len(some)
    ]
    return list(chunks.client.gather(picked))


def sample_labels(chunks: Chunks, rows: Whole) -> _labels.Labels:
    """The labels of these samples."""
    known, classes = chunks.known
    indices = np.full(len(rows), -1, dtype=np.int64)
    at = np.searchsorted(known, rows)
    found = np.flatnonzero(known[np.minimum(at, len(known) - 1)] == rows)
    indices[found] = classes[at[found]]
    return _labels.Labels(chunks.classes.classes, indices)


@dataclass(frozen=True)
class Plan:
    """How chunks become parts."""

    preparation: dict[str, Any]
    cuts: bytes | None
    n_parts: int
    # "mixtures" for codes, "neighbours" for labels to follow; without neighbours there is no graph.
    kind: str
    n_neighbors: int | None
    approximate: bool
    # Cuts and leaves of each tree; none: every part searches every other.
    forest: list[tuple[bytes, int]]
    threads: int
    kept: Whole


@dataclass(frozen=True)
class Divided:
    """Parts on workers."""

    pieces: list[Future]
    parts: list[Future]
    # needs[to][of]
    needs: list[list[bool]]


def divide(chunks: Chunks, plan: Plan) -> Divided:
    """Move the samples of each part together, connect them, and make the parts."""
    client = chunks.client
    pieces = _pieces(chunks, plan)
    sizes = client.gather([submit(client, _parts.size, piece, name="size") for piece in pieces])
    pieces = [piece for piece, count in zip(pieces, sizes, strict=True) if count]
    starts = [0, *np.cumsum([count for count in sizes if count]).tolist()]
    count = len(pieces)
    rows = _graph(client, pieces, starts, plan) if plan.n_neighbors else None
    kept = submit(client, _parts.same, plan.kept, name="kept")
    drafts = []
    for at, piece in enumerate(pieces):
        others = [
            submit(
                client,
                _parts.touching,
                plan.kind,
                rows[of],
                chunks.dtype,
                *_span(starts, at),
                name="ties",
            )
            for of in range(count)
            if rows is not None and of != at
        ]
        own = None if rows is None else rows[at]
        drafts.append(
            submit(
                client, _parts.make, plan.kind, piece, own, others, starts[at], kept, name="draft"
            )
        )
    needs = [submit(client, _parts.needs, draft, starts, name="needs") for draft in drafts]
    parts = [
        submit(client, _parts.sending, draft, needs, at, name="part")
        for at, draft in enumerate(drafts)
    ]
    wanted = client.gather(needs)
    return Divided(pieces, parts, [[bool(of_part) for of_part in own] for own in wanted])


def _span(starts: list[int], at: int) -> tuple[int, int]:
    return starts[at], starts[at + 1]


def _pieces(chunks: Chunks, plan: Plan) -> list[Future]:
    """The samples of each part, prepared."""
    client = chunks.client
    n_pieces = plan.n_parts if plan.cuts is not None else 1
    how = submit(
        client,
        _parts.same,
        (plan.preparation, plan.cuts, n_pieces, chunks.dtype),
        name="plan",
    )
    weights = chunks.weighed.weights or [None] * len(chunks.samples)
    each = zip(chunks.samples, chunks.labels, chunks.starts, weights, strict=False)
    divided = [
        submit(client, _parts.divide, block, labels, how, first, plan.threads, own, name="divide")
        for block, labels, first, own in each
    ]
    if plan.cuts is None:
        return [submit(client, _parts.item, one, 0, name="piece") for one in divided]
    pieces = []
    for at in range(plan.n_parts):
        own = [submit(client, _parts.item, one, at, name="piece") for one in divided]
        pieces.append(submit(client, _parts.join, own, name="joined"))
    return pieces


def _graph(client: Client, pieces: list[Future], starts: list[int], plan: Plan) -> list[Future]:
    """The rows of the graph of each part's own samples."""
    total = starts[-1]
    k = min(plan.n_neighbors or 0, total - 1)
    how = (k, plan.approximate, plan.threads)
    find = (
        _forest.search(client, pieces, starts, plan.forest, how)
        if plan.forest
        else _every_part(client, pieces, starts, how)
    )
    rows = []
    for at, (piece, places) in enumerate(zip(pieces, find, strict=True)):
        lent = []
        for of, block in enumerate(pieces):
            if of != at:
                wanted = submit(client, _parts.foreign, places, *_span(starts, of), name="wanted")
                lent.append(submit(client, _parts.lend, block, wanted, starts[of], name="lent"))
        rows.append(
            submit(
                client,
                _parts.graph_rows,
                plan.kind,
                piece,
                places,
                lent,
                (starts[at], total),
                plan.threads,
                name="rows",
            )
        )
    return rows


def _every_part(
    client: Client, pieces: list[Future], starts: list[int], how: tuple[int, bool, int]
) -> list[Future]:
    """The places of the nearest of all samples, for each part: every part searches every other."""
    found = []
    for at, piece in enumerate(pieces):
        lists = [
            submit(
                client,
                _parts.search,
                block,
                None if of == at else piece,
                how[0],
                starts[of],
                *how[1:],
                name="search",
            )
            for of, block in enumerate(pieces)
        ]
        found.append(submit(client, _parts.merge, lists, how[0], name="neighbours"))
    return found


def forest(prepared: Any, n_samples: int, n_parts: int, threads: int) -> list[tuple[bytes, int]]:
    """Trees of random cuts for samples like these, where they cost less than pairs of parts."""
    if n_samples <= EVERY_PART_UP_TO or n_parts <= 1 + _forest.TREES:
        return []
    trees = range(_forest.TREES)
    # A leaf is as large as a part, so that a worker can hold it.
    return [(_ssdl.part_cuts(prepared, n_parts, tree, threads), n_parts) for tree in trees]
