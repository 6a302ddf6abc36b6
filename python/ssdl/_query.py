r"""Which samples to label next, by several strategies.

With the doubt :math:`u_i=1-` the lead of the best class over the second, and the likeness
:math:`s_{ij}` of two samples (1 for itself, a heat kernel for near neighbours, else 0), the default
chooses the set :math:`S` that covers most doubt, :math:`\max\sum_iu_i\max_{j\in S}s_{ij}`, one
sample after another. The others give every sample a utility and take the highest, or cover as the
default does with the utility as doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from . import graphs
from .errors import KnobError, ShapeError

if TYPE_CHECKING:
    from scipy import sparse

    from ._types import Real, Whole

Utility: TypeAlias = Callable[["Real", "Real"], "Real"]
Strategy: TypeAlias = (
    Literal["representative", "uncertainty", "margin", "entropy", "diversity", "change"] | Utility
)
Batch: TypeAlias = Literal["top", "cover"]

# As in the library: neighbours that a label also covers, and the width of the kernel.
REACH = 10
WIDTH = "0.5x"
SMALLEST = 1e-12


@dataclass(frozen=True)
class Candidates:
    """Samples to choose from: class probabilities and codes; the codes of samples with a label."""

    probabilities: Real
    codes: Real
    known: Real

    def __len__(self) -> int:
        return len(self.probabilities)


def uncertainty(probabilities: Real, codes: Real) -> Real:
    """One minus the probability of the best class."""
    return np.asarray(1.0 - probabilities.max(axis=1))


def margin(probabilities: Real, codes: Real) -> Real:
    """One minus the lead of the best class over the second."""
    best = np.sort(probabilities, axis=1)[:, ::-1]
    return np.asarray(1.0 - (best[:, 0] - best[:, 1]))


def entropy(probabilities: Real, codes: Real) -> Real:
    """Entropy of the probabilities, in units of the largest."""
    shares = np.clip(probabilities, SMALLEST, None)
    return np.asarray(-(shares * np.log(shares)).sum(axis=1) / np.log(shares.shape[1]))


def change(probabilities: Real, codes: Real) -> Real:
    """Expected length of the gradient that a label would give a linear classifier on the codes.

    A label of class k moves the classifier by (p - e_k) times the code and a one for the bias.
    """
    squares = (probabilities**2).sum(axis=1, keepdims=True)
    lengths = np.sqrt(np.clip(squares - 2 * probabilities + 1, 0, None))
    sizes = np.sqrt((codes**2).sum(axis=1) + 1)
    return np.asarray((probabilities * lengths).sum(axis=1) * sizes)


BY_SAMPLE: dict[str, Utility] = {
    "uncertainty": uncertainty,
    "margin": margin,
    "entropy": entropy,
    "change": change,
}
NAMES = ("representative", *BY_SAMPLE, "diversity")


def check(strategy: object, batch: object) -> None:
    """Refuse what is not a strategy."""
    if not callable(strategy) and strategy not in NAMES:
        raise KnobError(
            f"strategy is {strategy!r}; allowed: {', '.join(NAMES)}, or a function of "
            "probabilities and codes"
        )
    if batch not in ("top", "cover"):
        raise KnobError(f"batch is {batch!r}; allowed: top, cover")


def chosen(found: Candidates, n: int, strategy: Strategy, batch: Batch) -> tuple[Whole, Real]:
    """The candidates to label, best first, and the utility of each candidate."""
    check(strategy, batch)
    n = min(n, len(found))
    if not len(found):
        return np.empty(0, dtype=np.int64), np.empty(0)
    if strategy == "diversity":
        return farthest(found, n)
    if strategy == "representative":
        utility, doubt, near = coverage(found)
        return covering(doubt, near, n), utility
    function = BY_SAMPLE[strategy] if isinstance(strategy, str) else strategy
    utility = np.asarray(function(found.probabilities, found.codes), dtype=float)
    if utility.shape != (len(found),):
        raise ShapeError(
            f"utilities of the strategy: expected shape ({len(found)},), got {utility.shape}"
        )
    if batch == "cover":
        return covering(utility, likeness(found.codes), n), utility
    return np.argsort(-utility, kind="stable")[:n].astype(np.int64), utility


def coverage(found: Candidates) -> tuple[Real, Real, sparse.csr_array]:
    """The doubt that each candidate covers before any is chosen; the doubt and likeness itself."""
    doubt, near = margin(found.probabilities, found.codes), likeness(found.codes)
    return np.asarray(doubt + near @ doubt), doubt, near


def farthest(found: Candidates, n: int) -> tuple[Whole, Real]:
    """Each the farthest from all labelled samples and those chosen before it; distances at first.

    Costs n passes over the candidates, and one over the labelled samples.
    """
    if len(found.known):
        distance = pairwise_distances_argmin_min(found.codes, found.known)[1]
    else:
        distance = np.linalg.norm(found.codes - found.codes.mean(axis=0), axis=1)
    utility, rows = distance.copy(), []
    for _ in range(n):
        rows.append(int(distance.argmax()))
        new = np.linalg.norm(found.codes - found.codes[rows[-1]], axis=1)
        distance = np.minimum(distance, new)
        # Of samples that are all the same no one is chosen twice.
        distance[rows] = -1.0
    return np.array(rows, dtype=np.int64), utility


def likeness(codes: Real) -> sparse.csr_array:
    """How near neighbours resemble each other; nothing for a single sample."""
    return graphs.heat_graph(codes, min(REACH, max(1, len(codes) - 1)), width=WIDTH)


def covering(doubt: Real, near: sparse.csr_array, n: int) -> Whole:
    """Samples that cover most doubt, each the best given those before it."""
    rows = np.repeat(np.arange(len(doubt)), np.diff(near.indptr))
    covered = np.zeros(len(doubt))
    picked: list[int] = []
    for _ in range(n):
        more = np.clip(near.data - covered[near.indices], 0, None)
        gain = doubt * (1 - covered) + np.bincount(
            rows, doubt[near.indices] * more, minlength=len(doubt)
        )
        gain[picked] = -np.inf
        # Where all doubt is covered, the doubt itself decides.
        best = int(np.lexsort((-np.arange(len(doubt)), doubt, gain))[-1])
        picked.append(best)
        covered[best] = 1.0
        ends = slice(near.indptr[best], near.indptr[best + 1])
        covered[near.indices[ends]] = np.maximum(covered[near.indices[ends]], near.data[ends])
    return np.array(picked, dtype=np.int64)
