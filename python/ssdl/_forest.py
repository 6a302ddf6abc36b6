"""Neighbours of samples in many parts, without comparing every part with every other.

A forest of random cuts: each tree sends every sample to a leaf, near samples mostly to the same
one, and its owner searches the leaf. The lists come home and are merged by distance, then place. At
last every part asks the neighbours of its samples for theirs. So each sample travels once a tree,
however many parts there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _parts, _ssdl
from ._crew import Client, Future, submit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Whole

# Trees, beside the search of each part in itself.
TREES = 8
# Rounds in which neighbours are asked for theirs, and neighbours beyond those wanted that are kept
# until then, so that they are found by more ways.
ROUNDS = 1
SPARE = 6
# Samples whose candidates are in memory at a time.
BATCH = 8192


@dataclass(frozen=True)
class Leaf:
    """Samples of one part in a leaf, and their places."""

    samples: NDArray[Any]
    places: Whole


def search(
    client: Client,
    pieces: list[Future],
    starts: list[int],
    forest: list[tuple[bytes, int]],
    how: tuple[int, bool, int],
) -> list[Future]:
    """The places of the nearest of all samples, for each part.

    ``forest`` has the cuts of each tree and its number of leaves; ``how`` is the number of
    neighbours, whether leaves are searched approximately, and the threads of a task.
    """
    k = how[0]
    how = (min(k + SPARE, starts[-1] - 1), *how[1:])
    nearest = [
        submit(client, _parts.search, piece, None, how[0], start, *how[1:], name="search")
        for piece, start in zip(pieces, starts, strict=False)
    ]
    nearest = [submit(client, best, [lists], how[0], name="nearest") for lists in nearest]
    for tree in forest:
        grown = _grow(client, pieces, starts, tree, how)
        pairs = zip(nearest, grown, strict=True)
        nearest = [submit(client, best, list(pair), how[0], name="nearest") for pair in pairs]
        # One tree after another: the samples of its leaves lie on the workers beside the parts.
        client.gather([submit(client, length, lists, name="grown") for lists in nearest])
    for _ in range(ROUNDS):
        nearest = _descend(client, pieces, starts, nearest, how)
    return [
        submit(client, filled, lists, k, start, starts[-1], name="neighbours")
        for lists, start in zip(nearest, starts, strict=False)
    ]


def _grow(
    client: Client,
    pieces: list[Future],
    starts: list[int],
    tree: tuple[bytes, int],
    how: tuple[int, bool, int],
) -> list[Future]:
    """What the leaves of a tree know, for each part."""
    cuts = submit(client, _parts.same, tree[0], name="tree")
    divided = [
        submit(client, divide, piece, start, cuts, tree[1], name="leaves")
        for piece, start in zip(pieces, starts, strict=False)
    ]
    joined = []
    for leaf in range(tree[1]):
        own = [submit(client, _parts.item, one, leaf, name="leaf") for one in divided]
        joined.append(submit(client, join, own, *how, name="joined"))
    home = []
    for at, (piece, start) in enumerate(zip(pieces, starts, strict=False)):
        back = [submit(client, _parts.item, leaf, at, name="lists") for leaf in joined]
        home.append(submit(client, gather, piece, start, back, how[0], name="home"))
    return home


def _descend(
    client: Client,
    pieces: list[Future],
    starts: list[int],
    nearest: list[Future],
    how: tuple[int, bool, int],
) -> list[Future]:
    """Neighbours of neighbours, for each part."""
    after = []
    spans = list(zip(starts, starts[1:], strict=False))
    for at, piece in enumerate(pieces):
        others = [of for of in range(len(pieces)) if of != at]
        lent = []
        for of in others:
            wanted = submit(client, foreign, nearest[at], *spans[of], name="wanted")
            lent.append(submit(client, lend, nearest[of], wanted, starts[of], name="lent"))
        asked = submit(client, candidates, nearest[at], lent, spans[at], name="candidates")
        samples = []
        for of in others:
            wanted = submit(client, foreign_to, asked, *spans[of], name="wanted")
            samples.append(submit(client, _parts.lend, pieces[of], wanted, starts[of], name="lent"))
        after.append(
            submit(client, measure, piece, nearest[at], asked, samples, how[2], name="nearest")
        )
    return after


def divide(piece: _parts.Piece, first: int, cuts: bytes, count: int) -> list[Leaf]:
    """The samples of a part, leaf by leaf."""
    of_leaf = _ssdl.part_of(_parts.aligned(piece.samples), cuts)
    chosen = [np.flatnonzero(of_leaf == leaf) for leaf in range(count)]
    return [Leaf(piece.samples[at], at + first) for at in chosen]


def join(
    leaves: list[Leaf], k: int, approximate: bool, threads: int
) -> list[tuple[Whole, _parts.Lists]]:
    """The nearest within a leaf, for the samples of each part, with their places."""
    samples = np.concatenate([leaf.samples for leaf in leaves])
    places = np.concatenate([leaf.places for leaf in leaves])
    ends = np.cumsum([len(leaf.places) for leaf in leaves])[:-1]
    distances: NDArray[np.float64] = np.empty((len(places), 0))
    found = np.empty((len(places), 0), dtype=np.int64)
    if len(places) > 1:
        samples = np.ascontiguousarray(samples)
        near, at = _ssdl.part_neighbours(samples, None, k, approximate, threads)
        distances, found = np.asarray(near, dtype=np.float64), places[at]
    each = zip(leaves, np.split(distances, ends), np.split(found, ends), strict=True)
    return [(leaf.places, _parts.Lists(own, listed)) for leaf, own, listed in each]


def gather(
    piece: _parts.Piece, first: int, back: list[tuple[Whole, _parts.Lists]], k: int
) -> _parts.Lists:
    """The lists of a part's samples, from all leaves."""
    count = len(piece.samples)
    distances = np.full((count, k), np.inf)
    places = np.full((count, k), -1, dtype=np.int64)
    for own, lists in back:
        width = lists.places.shape[1]
        distances[own - first, :width] = lists.distances
        places[own - first, :width] = lists.places
    return _parts.Lists(distances, places)


def best(lists: list[_parts.Lists], k: int) -> _parts.Lists:
    """The nearest of several lists, by distance and then place, none twice; -1 is no place."""
    missing = k - sum(found.places.shape[1] for found in lists)
    if missing > 0:
        shape = (len(lists[0].places), missing)
        lists = [*lists, _parts.Lists(np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64))]
    distances = np.concatenate([found.distances for found in lists], axis=1)
    places = np.concatenate([found.places for found in lists], axis=1)
    order = np.lexsort((places, distances), axis=1)
    places = np.take_along_axis(places, order, axis=1)
    distances = np.take_along_axis(distances, order, axis=1)
    again = places[:, 1:] == places[:, :-1]
    distances[:, 1:][again] = np.inf
    places[:, 1:][again] = -1
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return _parts.Lists(
        np.take_along_axis(distances, order, axis=1), np.take_along_axis(places, order, axis=1)
    )


def length(lists: _parts.Lists) -> int:
    """How many lists there are."""
    return len(lists.places)


def foreign(lists: _parts.Lists, start: int, stop: int) -> Whole:
    """The places of another part that appear in these lists, ascending."""
    return _parts.foreign(lists.places, start, stop)


def lend(lists: _parts.Lists, places: Whole, first: int) -> tuple[Whole, Whole]:
    """The neighbours of some samples of a part."""
    return places, lists.places[places - first]


def candidates(
    lists: _parts.Lists, lent: list[tuple[Whole, Whole]], span: tuple[int, int]
) -> tuple[Whole, Whole]:
    """Foreign neighbours of neighbours: rows of this part that have some, and a list for each."""
    first, stop = span
    known = np.concatenate([np.arange(first, stop), *(at for at, _ in lent)])
    near = np.concatenate([lists.places, *(found for _, found in lent)])
    order = np.argsort(known, kind="stable")
    known = known[order]
    rows, all_found = [np.empty(0, dtype=np.int64)], []
    for at in range(0, len(lists.places), BATCH):
        own = lists.places[at : at + BATCH]
        place = order[np.searchsorted(known, np.maximum(own, first))]
        found = np.where((own < 0)[:, :, None], -1, near[place]).reshape(len(own), -1)
        found[(found >= first) & (found < stop)] = -1
        found.sort(axis=1)
        found[:, 1:][found[:, 1:] == found[:, :-1]] = -1
        found = -np.sort(-found, axis=1)
        counts = np.count_nonzero(found >= 0, axis=1)
        chosen = np.flatnonzero(counts)
        rows.append(chosen + at)
        all_found.append(found[chosen, : counts.max(initial=0)])
    width = max((found.shape[1] for found in all_found), default=0)
    padded = [
        np.pad(found, ((0, 0), (0, width - found.shape[1])), constant_values=-1)
        for found in all_found
    ]
    empty = np.empty((0, width), dtype=np.int64)
    return np.concatenate(rows), np.concatenate([empty, *padded])


def foreign_to(asked: tuple[Whole, Whole], start: int, stop: int) -> Whole:
    """The places of another part among candidates, ascending."""
    return _parts.foreign(asked[1], start, stop)


def measure(
    piece: _parts.Piece,
    lists: _parts.Lists,
    asked: tuple[Whole, Whole],
    lent: list[tuple[Whole, NDArray[Any]]],
    threads: int,
) -> _parts.Lists:
    """The lists after their candidates were measured."""
    rows, found = asked
    if not found.size:
        return lists
    k = lists.places.shape[1]
    # Lent in the order of the parts, so ascending.
    known = np.concatenate([at for at, _ in lent])
    table = np.concatenate([samples for _, samples in lent])
    local = np.where(found < 0, -1, np.searchsorted(known, found))
    queries = np.ascontiguousarray(piece.samples[rows])
    distances, at = _ssdl.part_listed(_parts.aligned(table), queries, local, k, threads)
    near = _parts.Lists(np.asarray(distances), np.where(at < 0, -1, known[at]))
    merged = best([_parts.Lists(lists.distances[rows], lists.places[rows]), near], k)
    after = _parts.Lists(lists.distances.copy(), lists.places.copy())
    after.distances[rows] = merged.distances
    after.places[rows] = merged.places
    return after


def filled(lists: _parts.Lists, k: int, first: int, total: int) -> Whole:
    """The nearest alone. A list is too short only where leaves are tiny; it is filled up."""
    places = lists.places[:, :k].copy()
    for row in np.flatnonzero((places < 0).any(axis=1)):
        missing = places[row] < 0
        others = (first + row + 1 + np.arange(places.shape[1])) % total
        others = others[~np.isin(others, places[row])]
        places[row, missing] = others[: int(missing.sum())]
    return places
