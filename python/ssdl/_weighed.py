"""Weights of samples that lie on workers, and the samples of weight zero, which take no part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _parts
from ._crew import Client, Future, submit
from .errors import SamplesError

if TYPE_CHECKING:
    from ._types import Whole


@dataclass(frozen=True)
class Weighed:
    """Weights of samples; those of weight zero are not among the chunks."""

    # For each chunk, relative to the mean of all labelled samples; None: all count the same.
    weights: list[Future] | None = None
    # The rows of the samples that take part, among all rows of the user; None: all.
    kept: Whole | None = None
    # For each chunk that has samples of weight zero, their rows among all and themselves.
    left_out: tuple[tuple[Whole, Future], ...] = ()

    def user_rows(self, rows: Whole) -> Whole:
        """Rows among all rows of the user."""
        return rows if self.kept is None else self.kept[rows]

    def digest(self, client: Client) -> list[str] | None:
        """What tells these weights from others."""
        if self.weights is None:
            return None
        own = [submit(client, _parts.digest, block, name="digest") for block in self.weights]
        return list(client.gather(own))


def read(client: Client, given: Any, sizes: list[int]) -> list[Future]:
    """The weights of each chunk, checked where they lie."""
    if isinstance(given, list) and given and hasattr(given[0], "dask"):
        if len(given) != len(sizes):
            raise SamplesError(f"sample_weight has {len(given)} chunks, X has {len(sizes)}")
        blocks = list(client.compute(given))
    else:
        values = np.asarray(given, dtype=np.float64)
        if values.shape != (sum(sizes),):
            raise SamplesError(
                f"sample_weight: X has {sum(sizes)} samples, but weights have the shape "
                f"{values.shape}"
            )
        blocks = np.split(values, np.cumsum(sizes)[:-1])
    return [
        submit(client, _parts.weigh, block, count, at, name="weights")
        for at, (block, count) in enumerate(zip(blocks, sizes, strict=True))
    ]


def without_zeros(
    client: Client, blocks: list[Any], labels: list[Any], weights: list[Future]
) -> tuple[tuple[list[Any], list[Any], list[Any]], Weighed]:
    """The chunks without samples of weight zero, and what was left out."""
    none = client.gather(
        [submit(client, _parts.rows_where, block, False, name="zeros") for block in weights]
    )
    lengths = client.gather([submit(client, len, block, name="size") for block in weights])
    starts = np.cumsum([0, *lengths])
    if not any(len(rows) for rows in none):
        return (blocks, labels, weights), Weighed()
    mask = np.ones(starts[-1], dtype=bool)
    left_out = []
    after: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for block, rows, start in zip(blocks, none, starts, strict=False):
        mask[rows + start] = False
        if len(rows):
            some = submit(client, _parts.pick, block, rows, name="left-out")
            left_out.append((rows + start, some))
    for kind, own in zip((blocks, labels, weights), after, strict=True):
        for block, own_weights, rows in zip(kind, weights, none, strict=True):
            if not len(rows):
                own.append(block)
                continue
            keep = submit(client, _parts.rows_where, own_weights, True, name="kept")
            own.append(submit(client, _parts.pick, block, keep, name="weighed"))
    return after, Weighed(kept=np.flatnonzero(mask), left_out=tuple(left_out))


def relative(client: Client, weights: list[Future], indices: list[Future]) -> list[Future] | None:
    """Weights relative to the mean of the labelled samples; None if all are the same."""
    found = client.gather(
        [
            submit(client, _parts.sums, own, classes, name="sums")
            for own, classes in zip(weights, indices, strict=True)
        ]
    )
    total, count = sum(each[0] for each in found), sum(each[1] for each in found)
    if min(each[2] for each in found) == max(each[3] for each in found) or not count:
        return None
    mean = total / count
    return [submit(client, _parts.relative, own, mean, name="relative") for own in weights]
