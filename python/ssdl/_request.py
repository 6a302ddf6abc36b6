"""Parameters and arrays as users write them, converted for the library."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections import Counter
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .errors import FitWarning, MemoryLimitError, SamplesError, ShapeError
from .progress import Progress, watchers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from numpy.typing import NDArray

    from ._ssdl import Report, SparseRows
    from ._types import Samples, Seed, Steps


# Frames of these are not the caller's: the package itself, and what calls it for the caller.
NOT_THE_CALLER = ("ssdl", "sklearn", "joblib", "contextlib")


def caller() -> int:
    """The `stacklevel` at which a warning points to the line of the user's own code."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] not in NOT_THE_CALLER:
            return level
        level, frame = level + 1, frame.f_back
    # Everything is the package's, as in a worker process: the outermost frame.
    return level - 1


# Steps as many write them.
AMERICAN = {"standardize": "standardise"}


def warn_of(notices: list[str]) -> None:
    """Notices of the library as warnings, each once.

    A solver inside a fit that stopped early is not the fit itself, which has its own warning.
    """
    for notice, count in Counter(notices).items():
        times = f", {count} times" if count > 1 else ""
        if "before it converged" in notice:
            message = f"inside the fit, {notice}{times}"
            warnings.warn(message, ConvergenceWarning, stacklevel=caller())
        else:
            warnings.warn(f"{notice}{times}", FitWarning, stacklevel=caller())


@contextmanager
def all_or_nothing(estimator: object) -> Iterator[None]:
    """Leave the estimator as it was if the work fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def digest(rows: NDArray[Any]) -> bytes:
    """What tells whether an array was written to since."""
    return hashlib.blake2b(rows.data, digest_size=16).digest()


def as_array(values: Any) -> Any:
    """An array of NumPy of an array of another library that only knows the array API."""
    if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    return values


def samples(
    estimator: object, X: Samples, dtype: Any, *, reset: bool = False, limit: int | None = None
) -> NDArray[Any]:
    """Samples as rows in C order; no copy if the caller's array is one already.

    Sparse ones are made dense: the methods work on prepared samples, which are dense.
    """
    if np.ma.is_masked(X):
        raise SamplesError("samples: X has masked values; fill them in, or remove these samples")
    X = as_array(X)
    rows = validate_data(estimator, X, dtype=dtype, order="C", reset=reset, accept_sparse="csr")
    if sparse.issparse(rows):
        needed = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
        if limit is not None and needed > limit:
            raise MemoryLimitError(
                f"sparse samples take {needed} bytes when made dense, of {limit} allowed; raise "
                "memory_limit, or reduce the features first, for example with TruncatedSVD"
            )
        rows = rows.toarray(order="C")
    # A view into a record or a byte buffer may be unaligned.
    return np.require(rows, requirements=["C", "A"])


def threads(n_jobs: int | None) -> int:
    """Number of threads: joblib knows what -1 means, and the settings of the caller's context."""
    return int(effective_n_jobs(n_jobs))


def seed(random_state: Seed) -> int:
    """A seed for the library; a generator gives its next number."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def steps(prepare: Steps) -> list[str]:
    """Preparation steps; a single one may be a string, and None means none, as the word does."""
    if prepare is None or prepare == "none":
        return []
    given = [prepare] if isinstance(prepare, str) else list(prepare)
    return [AMERICAN.get(step, step) for step in given]


def shape(pair: Sequence[int]) -> tuple[int, int]:
    """Height and width of an image."""
    height, width = pair
    if not all(isinstance(side, Integral) and side > 0 for side in (height, width)):
        raise ShapeError(f"image_shape must be two whole numbers above 0, got {pair!r}")
    return int(height), int(width)


def reporter(name: str, verbose: int, line: str) -> Report:
    """A callback after every step: prints one line per iteration, or per step, and tells others."""
    others = watchers()
    if not verbose and not others:
        return None

    def report(iteration: int, limit: int, step: str, objective: float | None) -> None:
        for other in others:
            other(Progress(name, iteration, limit, step, objective))
        if verbose > 1 or (verbose and (iteration == 0 or step == line)):
            value = "" if objective is None else f", objective {objective:.6g}"
            print(f"[{name}] iteration {iteration} of at most {limit}: {step}{value}")

    return report


def as_text(value: Any) -> str:
    """A parameter as text for the library."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if np.ndim(value) == 1:
        return ",".join(as_text(part) for part in value)
    return repr(float(value))


def knob_text(name: str, value: Any) -> str:
    """A knob as text for the library; the usual word for a default is taken everywhere."""
    if name == "width" and isinstance(value, str) and value == "auto":
        return "1x"
    return as_text(value)


def as_value(text: str, kind: type) -> Any:
    """A parameter as a Python value, from the library's text and the type of its default."""
    if kind is bool:
        return text == "true"
    if kind is tuple:
        return tuple(float(part) for part in text.split(","))
    # A word such as "auto" stands for a number that the fit chooses; afterwards it is a number.
    return int(text) if kind is str and text.isdecimal() else kind(text)


def sparse_rows(arrays: SparseRows, n_columns: int) -> sparse.csr_array:
    """A SciPy CSR array from offsets, indices and values."""
    offsets, indices, values = arrays
    return sparse.csr_array((values, indices, offsets), shape=(len(offsets) - 1, n_columns))
