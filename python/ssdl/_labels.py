"""Labels as users write them, turned into class indices for the library.

The marker of unlabelled samples is compared element by element: comparing an array of text with a
number only gives a warning in NumPy.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ._request import as_array, caller
from .errors import FitWarning, LabelsError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ._types import Classes, Indices, Whole

MARKER = -1
# What empty cells and missing values become when they are turned into text.
GAPS = {"", "nan", "none", "null", "<na>", "nat"}
# Types of NumPy that a model file may name.
NUMERIC = re.compile(r"u?int(8|16|32|64)|float(16|32|64)|(datetime|timedelta)64\[\w+\]")


@dataclass(frozen=True)
class Labels:
    """Classes, sorted, in their original type; for each sample its class index, or -1 for none."""

    classes: Classes
    indices: Whole

    @property
    def names(self) -> list[str]:
        """The classes as the model file stores them."""
        kind = self.classes.dtype.kind
        if kind == "M":
            return [str(value) for value in self.classes.astype(str).tolist()]
        if kind == "m":
            return [str(value) for value in self.classes.astype(np.int64).tolist()]
        if kind == "S":
            return [value.decode("latin-1") for value in self.classes.tolist()]
        return [str(value) for value in self.classes.tolist()]

    @property
    def kind(self) -> str | None:
        """The type of the classes as the model file stores it; None if they come back as text."""
        words = {"U": "text", "b": "bool", "S": "bytes"}
        if self.classes.dtype.kind != "O":
            return words.get(self.classes.dtype.kind, self.classes.dtype.name)
        return "object" if all(isinstance(value, str) for value in self.classes) else None


def read(y: object, unlabeled: object, classes: Classes | None = None) -> Labels:
    """Separate classes from markers.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels. None, NaN and NA are always unlabelled.
    unlabeled : object
        The marker; None for -1, unless there is only one other class: then -1 is a class, too.
    classes : ndarray, default=None
        All classes, if some may have no label yet; then -1 is a class if it is among them.
    """
    if classes is None:
        values = as_column(y)
        hidden = is_missing(values) | is_marker(values, unlabeled)
    else:
        labelled, values = is_labelled(y, unlabeled, classes)
        hidden = ~labelled
    known = tidy(values[~hidden])
    if classes is None and unlabeled is None and known.size and np.all(known == known[0]):
        others = tidy(values[~is_missing(values)])
        if others.size > known.size:
            warnings.warn(
                f"-1 is taken for a class, as {known[:1].tolist()[0]!r} is the only other label; "
                "set unlabeled=-1 if it means that a sample has no label",
                FitWarning,
                stacklevel=caller(),
            )
            hidden, known = is_missing(values), others
    indices = np.full(len(values), -1, dtype=np.int64)
    if not known.size:
        return Labels(np.empty(0, dtype=np.int64), indices)
    if known.dtype.kind == "f" and np.isinf(known).any():
        raise LabelsError("labels: y contains infinity; use None, NaN or -1 for unlabelled")
    check_classification_targets(known)
    seen = np.unique(known)
    if classes is None:
        _warn_of_gaps(seen)
        classes = seen
    else:
        classes = np.unique(tidy(classes))
        unknown = set(seen.tolist()) - set(classes.tolist())
        if unknown:
            raise LabelsError(f"labels: {sorted(unknown)} are not among the classes given")
    indices[~hidden] = np.searchsorted(classes, known)
    return Labels(classes, indices)


def _warn_of_gaps(classes: Classes) -> None:
    """Text that is most likely a missing label, turned into text on its way."""
    found = [word for word in classes.tolist() if isinstance(word, str) and word.lower() in GAPS]
    if found:
        warnings.warn(
            f"{', '.join(map(repr, found))} is taken for a class, as it is text; use None or NaN "
            "for a sample without a label, or name it as unlabeled",
            FitWarning,
            stacklevel=caller(),
        )


def amended(
    classes: Classes, indices: Whole, chosen: Indices, y: object, unlabeled: object
) -> Labels:
    """The labels of a fit with those of the chosen samples replaced."""
    chosen, values = np.atleast_1d(np.asarray(chosen)), as_column(y)
    if chosen.dtype.kind == "b":
        if chosen.shape != indices.shape:
            raise ShapeError(f"samples in the mask: expected {len(indices)}, got {chosen.size}")
        chosen = np.flatnonzero(chosen)
    if chosen.size and chosen.dtype.kind not in "iu":
        raise LabelsError("labels: indices must be whole numbers or a mask")
    if chosen.ndim != 1:
        raise ShapeError(f"indices must have one dimension, not {chosen.ndim}")
    if len(chosen) != len(values):
        raise ShapeError(f"labels: expected {chosen.size}, one for each index, got {len(values)}")
    if chosen.size and not (0 <= chosen.min() and chosen.max() < len(indices)):
        raise IndexError(f"indices must lie within the {len(indices)} training samples")
    added = _unmarked(values, unlabeled, classes)
    _check_one_each(chosen, added)
    all_labels = _as_objects(classes, indices)
    all_labels[chosen.astype(np.intp)] = added
    # Classes that were announced but have no label yet are kept.
    announced = np.setdiff1d(np.arange(len(classes)), indices)
    return _as_before(classes, read(all_labels, np.nan, _with(all_labels, classes[announced])))


def _check_one_each(chosen: Whole, labels: object) -> None:
    """Refuse a sample that is given twice with different labels: one of them would be lost."""
    seen: dict[int, object] = {}
    for row, label in zip(chosen.tolist(), np.asarray(labels, dtype=object).tolist(), strict=True):
        before = seen.setdefault(row, label)
        # "No label" may be a NaN, which equals nothing.
        if before is not label and before != label and (before == before or label == label):
            raise LabelsError(
                f"sample {row} is given twice, as {before!r} and {label!r}; give it one label"
            )


def extended(
    classes: Classes,
    indices: Whole,
    y: object,
    unlabeled: object,
    known: Classes | None = None,
) -> Labels:
    """The labels of a fit, followed by those of more samples."""
    added = _unmarked(as_column(y), unlabeled, classes)
    both = np.concatenate([_as_objects(classes, indices), added])
    return _as_before(classes, read(both, np.nan, _with(both, classes) if known is None else known))


def _as_before(classes: Classes, labels: Labels) -> Labels:
    """The labels with classes of the type that they had, where that holds them."""
    kinds = classes.dtype.kind + labels.classes.dtype.kind
    if kinds not in ("ii", "iu", "ui", "uu", "ff", "MM", "mm"):
        return labels
    same = labels.classes.astype(classes.dtype)
    return Labels(same, labels.indices) if np.array_equal(same, labels.classes) else labels


def _with(labels: Classes, classes: Classes) -> Classes | None:
    """The classes of these labels and some others; None if there are no others."""
    if not len(classes):
        return None
    return np.unique(np.concatenate([tidy(labels[~is_missing(labels)]), classes]))


def _as_objects(classes: Classes, indices: Whole) -> Classes:
    """Labels as objects, None for unlabelled samples."""
    values = np.full(len(indices), None, dtype=object)
    labelled = np.flatnonzero(indices >= 0)
    chosen = classes[indices[labelled]]
    values[labelled] = _listed(chosen)
    return values


def _listed(values: Classes) -> list[Any]:
    """Python values; lists of fine dates would be lists of numbers."""
    return list(values) if values.dtype.kind in "mM" else values.tolist()


def place(classes: Classes, label: object) -> int | None:
    """Where a label is among the classes; None if it is no class."""
    if classes.dtype.kind in "mM":
        # Python's dates do not equal fine ones of NumPy, unless they are of NumPy, too.
        if type(label) in (date, datetime):
            label = np.datetime64(label)  # type: ignore[call-overload]
        elif type(label) is timedelta:
            label = np.timedelta64(label)
    listed = _listed(classes)
    return listed.index(label) if label in listed else None


def _unmarked(values: Classes, unlabeled: object, classes: Classes) -> Classes:
    """Labels as objects, in the type of the classes if they fit; None for markers."""
    known, values = is_labelled(values, unlabeled, classes)
    labels = _listed(tidy(values[known]))
    # NaN among whole numbers has made them floats.
    if classes.dtype.kind in "iu" and all(isinstance(v, float) and v.is_integer() for v in labels):
        labels = [int(value) for value in labels]
    plain = np.full(len(values), None, dtype=object)
    plain[np.flatnonzero(known)] = labels
    return plain


def is_labelled(
    y: object, unlabeled: object, classes: Classes
) -> tuple[NDArray[np.bool_], Classes]:
    """Which samples have a label, given the classes of a fitted model, and the labels."""
    values = as_column(y)
    marked = is_marker(values, unlabeled)
    if unlabeled is None and {MARKER, str(MARKER)} & set(classes.tolist()):
        marked[:] = False
    return ~(is_missing(values) | marked), values


def as_column(y: Any) -> Classes:
    """A one-dimensional array with unchanged elements."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = as_array(y)
    if np.ma.isMaskedArray(y):
        # What is masked is not there.
        masked, y = np.ma.getmaskarray(y), y.data
        if masked.any():
            y = np.array(y, dtype=object)
            y[masked] = None
    if isinstance(y, (list, tuple)) and any(isinstance(value, str) for value in y):
        # NumPy would turn None, NaN and numbers among text into text.
        y = np.array(y, dtype=object)
    elif hasattr(y, "dtype") and not isinstance(y.dtype, np.dtype) and (listed := _list_method(y)):
        # pandas and polars types with missing values would become floats.
        values = listed()
        y = np.empty(len(values), dtype=object)
        y[:] = values
    return np.asarray(column_or_1d(y, warn=True))


def _list_method(y: object) -> Callable[[], list[Any]] | None:
    """The method that returns a list of Python values; pandas and polars name it differently."""
    return getattr(y, "tolist", None) or getattr(y, "to_list", None)


def is_missing(values: Classes) -> NDArray[np.bool_]:
    """Where the elements are None, NaN, NA or NaT."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.fromiter(map(_is_missing_value, values), dtype=bool, count=len(values))


def _is_missing_value(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, (float, np.floating)) and value != value


def is_marker(values: Classes, unlabeled: object) -> NDArray[np.bool_]:
    """Where the marker is; by default -1, as a number or (as NumPy may convert it) as text."""
    if unlabeled is None:
        markers = [MARKER, str(MARKER)]
    else:
        # NaN and NA always mean "no label", and equal nothing.
        markers = [] if _is_missing_value(unlabeled) else [unlabeled]
    found = np.zeros(len(values), dtype=bool)
    for marker in markers:
        found |= _equals(values, marker)
    return found


def _equals(values: Classes, marker: object) -> NDArray[np.bool_]:
    kind = values.dtype.kind
    if kind in "iuf":
        return values == marker if _is_number(marker) else np.zeros(len(values), dtype=bool)
    if kind == "U":
        return values == marker if isinstance(marker, str) else np.zeros(len(values), dtype=bool)
    if kind == "b":
        return values == marker if isinstance(marker, bool) else np.zeros(len(values), dtype=bool)
    same = (
        _is_number(value) == _is_number(marker)
        and isinstance(value, str) == isinstance(marker, str)
        and not _is_missing_value(value)
        and value == marker
        for value in values
    )
    return np.fromiter(map(bool, same), dtype=bool, count=len(values))


def _is_number(value: object) -> bool:
    return isinstance(value, (Number, np.number)) and not isinstance(value, (bool, np.bool_))


def tidy(known: Classes) -> Classes:
    """Numbers from an object array as a numeric array; text stays as it is."""
    if known.dtype.kind != "O" or not known.size:
        return known
    if all(isinstance(value, str) for value in known):
        return known
    if any(isinstance(value, str) for value in known):
        raise LabelsError(
            "labels: text and numbers are mixed; use one kind, and None for unlabelled"
        )
    plain = np.array(known.tolist())
    if plain.dtype.kind == "O" and all(isinstance(value, datetime) for value in known):
        return np.array(known.tolist(), dtype="datetime64[us]")
    return plain


def from_names(names: list[str], kind: str | None = None) -> Classes:
    """Classes of a model file, in their type; without one, numbers if all names are numbers."""
    try:
        classes = _of_kind(names, kind)
    except (ValueError, OverflowError):
        classes = None
    return _guessed(names) if classes is None else classes


def _of_kind(names: list[str], kind: str | None) -> Classes | None:
    """Classes of this type; None if there is no such type."""
    if kind == "text":
        return np.array(names)
    if kind == "bool":
        return np.array([name == "True" for name in names])
    if kind == "bytes":
        return np.array([name.encode("latin-1") for name in names])
    if kind == "object":
        return np.array(names, dtype=object)
    if kind is None or not NUMERIC.fullmatch(kind):
        return None
    dtype = np.dtype(kind)
    if dtype.kind in "mM":
        return np.array([int(v) for v in names] if dtype.kind == "m" else names, dtype=dtype)
    return np.array([(float if dtype.kind == "f" else int)(name) for name in names], dtype=dtype)


def _guessed(names: list[str]) -> Classes:
    for kind in (int, float):
        try:
            values = [kind(name) for name in names]
        except ValueError:
            continue
        if [str(value) for value in values] == names:
            return np.array(values)
    if set(names) <= {"False", "True"}:
        return np.array([name == "True" for name in names])
    return np.array(names)
