"""What users may pass, as types for annotations; nothing here is needed at run time.

Protocols instead of the classes of SciPy, pandas and polars: none of them has to be installed with
type information, and whatever converts itself to an array is accepted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Real: TypeAlias = NDArray[np.floating[Any]]
Whole: TypeAlias = NDArray[np.int64]
Classes: TypeAlias = NDArray[Any]


class Converts(Protocol):
    """Arrays of NumPy, frames and columns of pandas and polars, tensors in main memory."""

    def __array__(self) -> NDArray[Any]: ...


class Exports(Protocol):
    """Arrays of other libraries, by the array API."""

    def __dlpack__(self, *, stream: None = ...) -> Any: ...
    def __dlpack_device__(self) -> Any: ...


SupportsArray: TypeAlias = Converts | Exports


class SparseMatrix(Protocol):
    """Sparse arrays and matrices of SciPy."""

    def tocsr(self, copy: bool = ...) -> Any: ...


# A text is a sequence, too, but of no numbers: a file name is not taken for samples.
DenseSamples: TypeAlias = SupportsArray | Sequence[Sequence[float] | SupportsArray]
Samples: TypeAlias = DenseSamples | SparseMatrix
Labels: TypeAlias = SupportsArray | Sequence[object]
Numbers: TypeAlias = SupportsArray | Sequence[float]
Indices: TypeAlias = SupportsArray | Sequence[int] | Sequence[bool]
Graph: TypeAlias = SupportsArray | Sequence[Sequence[int] | SupportsArray] | SparseMatrix

Steps: TypeAlias = str | Sequence[str] | None
ImageShape: TypeAlias = tuple[int, int] | Sequence[int] | None
Seed: TypeAlias = int | np.random.RandomState | None
ClassWeight: TypeAlias = dict[Any, float] | Literal["balanced"] | None
Device: TypeAlias = Literal["cpu", "gpu", "auto"]
PathLike: TypeAlias = str | os.PathLike[str]
Metric: TypeAlias = Callable[[Any, Any], float]
