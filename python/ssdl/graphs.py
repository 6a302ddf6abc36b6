"""Graphs between samples as SciPy arrays, and your own graphs for ``fit(X, y, graph=...)``.

There are two kinds. *Affinities* W are symmetric and non-negative; their Laplacian is D - W.
*Mixtures* V hold in each row the weights that mix a sample from others, summing to one; their
Laplacian is (I - V)'(I - V).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from . import _ssdl
from ._request import knob_text, sparse_rows, threads
from .errors import GraphError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import DenseSamples, Graph, SparseMatrix, SupportsArray, Whole

__all__ = [
    "heat_graph",
    "laplacian",
    "learnt_graph",
    "lle_graph",
    "nearest_neighbors",
    "threshold_graph",
]

# The two weights of a pair count as equal up to this fraction of the largest weight.
ASYMMETRY = 1e-5


def nearest_neighbors(
    X: DenseSamples,
    n_neighbors: int = 8,
    Y: DenseSamples | None = None,
    *,
    n_jobs: int | None = None,
) -> Whole:
    """Exact nearest neighbours, nearest first, ties by row number.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples among which to search.
    n_neighbors : int, default=8
        Number of neighbours; at most as many as there are.
    Y : array-like of shape (n_queries, n_features), default=None
        Samples whose neighbours to find; None means those of ``X``, without the sample itself.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    neighbors : ndarray of int, of shape (n_queries, n_neighbors)
        Row numbers in ``X``.
    """
    rows = _rows(X)
    others = None if Y is None else check_array(Y, dtype=rows.dtype, order="C")
    if others is not None and others.shape[1] != rows.shape[1]:
        raise ShapeError(f"features: expected {rows.shape[1]}, got {others.shape[1]}")
    found, k = _ssdl.neighbours(rows, others, _count(n_neighbors), threads(n_jobs))
    return found.reshape(len(rows) if others is None else len(others), k)


def lle_graph(
    X: DenseSamples,
    n_neighbors: int = 8,
    *,
    neighbors: Graph | None = None,
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """Each sample as an affine mixture of its neighbours (LLE): the graph of SSDL-GA.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, prepared as they will be for the fit.
    n_neighbors : int, default=8
        Number of neighbours of a sample.
    neighbors : array-like of int, of shape (n_samples, n_neighbors), default=None
        Neighbours found elsewhere: by an approximate index, or in another metric.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    mixtures : CSR array of shape (n_samples, n_samples)
        Weights; rows sum to one, and weights may be negative.
    """
    lists = None if neighbors is None else _neighbour_lists(neighbors)
    return _built(X, {"graph": "lle", "n_neighbors": _count(n_neighbors)}, n_jobs, lists)


def heat_graph(
    X: DenseSamples,
    n_neighbors: int = 8,
    *,
    width: float | str = "1x",
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """Neighbours weighted by a heat kernel.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, prepared as they will be for the fit.
    n_neighbors : int, default=8
        Number of neighbours; a pair is joined if one is a neighbour of the other.
    width : float or str, default="1x"
        Width of the kernel; "0.5x" is half the mean distance.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    affinities : CSR array of shape (n_samples, n_samples)
        Symmetric weights ``exp(-d**2 / (2 * width**2))``.
    """
    knobs = {"graph": "heat", "n_neighbors": _count(n_neighbors), "width": width}
    return _built(X, knobs, n_jobs)


def threshold_graph(
    X: DenseSamples,
    percentile: float = 0.02,
    *,
    width: float | str = "1x",
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """All pairs within a radius, weighted by a heat kernel.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, prepared as they will be for the fit.
    percentile : float, default=0.02
        Fraction of all pairs that are joined.
    width : float or str, default="1x"
        Width of the kernel; "0.5x" is half the mean distance.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    affinities : CSR array of shape (n_samples, n_samples)
        Symmetric weights.
    """
    return _built(X, {"graph": "threshold", "percentile": percentile, "width": width}, n_jobs)


def learnt_graph(
    X: DenseSamples, smoothness: float = 5.0, *, n_jobs: int | None = None
) -> sparse.csr_array:
    """The graph on which the samples are smoothest.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, prepared as they will be for the fit.
    smoothness : float, default=5.0
        How evenly the weights are spread; on the scale of squared distances.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    affinities : CSR array of shape (n_samples, n_samples)
        Symmetric weights.
    """
    return _built(X, {"graph": "learnt", "smoothness": smoothness}, n_jobs)


def laplacian(graph: SupportsArray | SparseMatrix) -> sparse.csr_array:
    """The Laplacian that a graph puts into the objective.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
        Affinities or mixtures.

    Returns
    -------
    laplacian : CSR array of shape (n_samples, n_samples)
        Symmetric and positive semidefinite.
    """
    kind, weights = _kind_and_weights(graph)
    if kind == "mixtures":
        # A sample without neighbours is not part of the graph.
        mixed = np.diff(weights.indptr) > 0
        factor = _diagonal(mixed.astype(weights.dtype)) - weights
        return sparse.csr_array(factor.T @ factor)
    return _diagonal(np.asarray(weights.sum(axis=1)).ravel()) - weights


def _diagonal(values: NDArray[Any]) -> sparse.csr_array:
    return sparse.csr_array(sparse.diags(values))


def given(graph: Graph | None, n_samples: int) -> Any:
    """A user's graph in the form that the library takes; None stays None."""
    if graph is None:
        return None
    if isinstance(graph, str):
        raise GraphError(
            f"graph={graph!r} names a kind of graph: give it to the constructor; fit takes a graph "
            "of your own"
        )
    if _are_neighbour_lists(graph):
        lists = _neighbour_lists(graph)
        if len(lists) != n_samples:
            raise ShapeError(f"samples in the graph: expected {n_samples}, got {len(lists)}")
        return lists
    kind, weights = _kind_and_weights(graph)
    if weights.shape[0] != n_samples:
        raise ShapeError(f"samples in the graph: expected {n_samples}, got {weights.shape[0]}")
    offsets, indices = weights.indptr.astype(np.int64), weights.indices.astype(np.int64)
    return kind, (offsets, indices, weights.data.astype(np.float64))


def _are_neighbour_lists(graph: Graph) -> bool:
    """Integers are neighbour lists, unless the array is square: no sample is near all others."""
    if sparse.issparse(graph):
        return False
    numbers = np.asarray(graph)
    is_square = numbers.ndim == 2 and numbers.shape[0] == numbers.shape[1]
    return numbers.dtype.kind in "iu" and not is_square


def _kind_and_weights(graph: Any) -> tuple[str, Any]:
    """Whether weights are affinities or mixtures, and the weights without stored zeros."""
    if not sparse.issparse(graph) and np.ndim(graph) != 2:
        raise GraphError("a graph must be a sparse matrix, or neighbours as whole numbers")
    weights = sparse.csr_array(graph, copy=True)
    if weights.dtype.kind != "f":
        weights = weights.astype(np.float64)
    if weights.shape[0] != weights.shape[1]:
        raise GraphError(
            "weights must be square, one row and one column per sample; they are "
            f"{weights.shape[0]} x {weights.shape[1]}"
        )
    weights.sum_duplicates()
    weights.eliminate_zeros()
    if not np.isfinite(weights.data).all():
        raise GraphError("a weight of the graph is not finite")
    largest = abs(weights).max() if weights.nnz else 0.0
    skew = abs(weights - weights.T).max() if weights.nnz else 0.0
    is_symmetric = skew <= ASYMMETRY * largest
    is_negative = weights.nnz > 0 and weights.data.min() < 0
    if is_symmetric and not is_negative:
        return "affinities", weights
    rows = np.asarray(weights.sum(axis=1)).ravel()
    if np.allclose(rows[np.diff(weights.indptr) > 0], 1.0, atol=1e-4):
        return "mixtures", weights
    if is_symmetric:
        raise GraphError("a weight of the graph is negative: affinities must be 0 or more")
    raise GraphError(
        "weights must be symmetric (affinities), or have rows that sum to one (mixtures); for "
        "neighbours in one direction take the larger of both weights: W.maximum(W.T)"
    )


def _built(
    X: DenseSamples,
    knobs: dict[str, Any],
    n_jobs: int | None,
    lists: Whole | None = None,
) -> sparse.csr_array:
    rows = _rows(X)
    if lists is not None and len(lists) != len(rows):
        raise ShapeError(f"samples with neighbours: expected {len(rows)}, got {len(lists)}")
    pairs = [(name, knob_text(name, value)) for name, value in knobs.items()]
    _, arrays = _ssdl.graph(rows, pairs, lists, threads(n_jobs))
    return sparse_rows(arrays, len(rows))


def _rows(X: DenseSamples) -> NDArray[Any]:
    return np.require(check_array(X, dtype=[np.float64, np.float32], order="C"), requirements="A")


def _count(n_neighbors: int) -> int:
    count = int(n_neighbors)
    if count != n_neighbors or count < 1:
        raise GraphError(f"n_neighbors must be a whole number, 1 or more, got {n_neighbors!r}")
    return count


def _neighbour_lists(neighbors: Graph) -> Whole:
    lists = np.asarray(neighbors)
    if lists.ndim != 2:
        raise GraphError("neighbours must be an array of shape (n_samples, n_neighbors)")
    if lists.dtype.kind not in "iu":
        raise GraphError(f"neighbours must be whole numbers, not {lists.dtype}")
    if lists.size and lists.min() < 0:
        raise GraphError(
            "neighbours are counted from 0; an index that found too few of them may write -1: ask "
            "it for fewer, or let it search further"
        )
    return np.ascontiguousarray(lists, dtype=np.int64)
