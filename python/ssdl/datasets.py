"""Data sets: the bundled digits, your own files, and MNIST, USPS and YaleB.

Those three are downloaded by ``fetch_...`` once, and loaded from a folder by ``load_...``. The
folder is ``data_home``, else the environment variable ``SSDL_DATA``, else ``ssdl`` in the user's
cache; the program ``ssdl data`` uses the same.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.utils import Bunch, check_random_state

from . import _labels, _ssdl
from ._request import shape
from .errors import LabelsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from ._types import Classes, ImageShape, Labels, PathLike, Real, Seed

    Pair: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]

__all__ = [
    "data_folder",
    "fetch_mnist",
    "fetch_usps",
    "fetch_yaleb",
    "hide_labels",
    "load_digits",
    "load_mnist",
    "load_usps",
    "load_yaleb",
    "read_samples",
]


def data_folder(data_home: PathLike | None = None) -> Path:
    """The folder in which data sets are looked up.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        A folder, in which ``~`` is the user's home; None means ``SSDL_DATA``, taken as it is, or
        else the user's cache.

    Returns
    -------
    folder : pathlib.Path
        The folder, which need not exist. Without `data_home` it is the one that ``ssdl data path``
        prints.
    """
    if data_home:
        return Path(data_home).expanduser()
    # The same rule is in crates/ssdl-data/src/known/place.rs.
    if given := os.environ.get("SSDL_DATA"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ssdl"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "ssdl"
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "ssdl"


@overload
def load_digits(
    *,
    return_X_y: Literal[False] = ...,
) -> Bunch: ...
@overload
def load_digits(
    *,
    return_X_y: Literal[True],
) -> Pair: ...
def load_digits(
    *,
    return_X_y: bool = False,
) -> Bunch | Pair:
    """1,797 handwritten digits of 8 x 8 pixels, bundled with the package.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only samples and labels.

    Returns
    -------
    digits : Bunch, or (X, y)
        With `data` (1797, 64), `target` (1797,) and `image_shape` (8, 8).
    """
    table = _ssdl.digits()
    return _bunch(table["samples"], _whole(table["labels"]), (8, 8), return_X_y)


@overload
def load_mnist(
    subset: Literal["train", "test"] = ...,
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[False] = ...,
) -> Bunch: ...
@overload
def load_mnist(
    subset: Literal["train", "test"] = ...,
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[True],
) -> Pair: ...
def load_mnist(
    subset: Literal["train", "test"] = "train",
    *,
    data_home: PathLike | None = None,
    return_X_y: bool = False,
) -> Bunch | Pair:
    """MNIST: handwritten digits of 28 x 28 pixels, 60,000 to train and 10,000 to test.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        The part to load.
    data_home : str, path-like or None, default=None
        Folder with ``mnist/`` and the four files of the original distribution in it.
    return_X_y : bool, default=False
        Whether to return only samples and labels.

    Returns
    -------
    mnist : Bunch, or (X, y)
        With `data`, `target` and `image_shape` (28, 28).
    """
    start = {"train": "train", "test": "t10k"}[_part(subset)]
    images = _found(data_home, "mnist", f"{start}-images-idx3-ubyte.gz")
    labels = _found(data_home, "mnist", f"{start}-labels-idx1-ubyte.gz")
    rows = _ssdl.read(os.fspath(images), None, None, None)["samples"]
    return _bunch(rows, _whole(_ssdl.read_labels(os.fspath(labels))), (28, 28), return_X_y)


@overload
def load_usps(
    subset: Literal["train", "test"] = ...,
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[False] = ...,
) -> Bunch: ...
@overload
def load_usps(
    subset: Literal["train", "test"] = ...,
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[True],
) -> Pair: ...
def load_usps(
    subset: Literal["train", "test"] = "train",
    *,
    data_home: PathLike | None = None,
    return_X_y: bool = False,
) -> Bunch | Pair:
    """USPS: handwritten digits of 16 x 16 pixels, 7,291 to train and 2,007 to test.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        The part to load.
    data_home : str, path-like or None, default=None
        Folder with ``usps/zip.train.gz`` and ``usps/zip.test.gz``.
    return_X_y : bool, default=False
        Whether to return only samples and labels.

    Returns
    -------
    usps : Bunch, or (X, y)
        With `data`, `target` and `image_shape` (16, 16).
    """
    path = _found(data_home, "usps", f"zip.{_part(subset)}.gz")
    table = _ssdl.read(os.fspath(path), 0, None, None)
    return _bunch(table["samples"], _whole(table["labels"]), (16, 16), return_X_y)


@overload
def load_yaleb(
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[False] = ...,
) -> Bunch: ...
@overload
def load_yaleb(
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[True],
) -> Pair: ...
def load_yaleb(
    *,
    data_home: PathLike | None = None,
    return_X_y: bool = False,
) -> Bunch | Pair:
    """Extended YaleB, cropped to 32 x 32 pixels: faces of 38 persons in varying light.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder with ``yaleb/YaleB_32x32.mat``.
    return_X_y : bool, default=False
        Whether to return only samples and labels.

    Returns
    -------
    yaleb : Bunch, or (X, y)
        With `data` (2414, 1024), `target` and `image_shape` (32, 32).
    """
    path = _found(data_home, "yaleb", "YaleB_32x32.mat")
    table = _ssdl.read(os.fspath(path), "gnd", None, "fea")
    # The file stores images column by column.
    pixels = table["samples"].reshape(-1, 32, 32).transpose(0, 2, 1).reshape(-1, 1024)
    return _bunch(pixels, _whole(table["labels"]), (32, 32), return_X_y)


@overload
def fetch_mnist(
    subset: Literal["train", "test"] = ...,
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[False] = ...,
) -> Bunch: ...
@overload
def fetch_mnist(
    subset: Literal["train", "test"] = ...,
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[True],
) -> Pair: ...
def fetch_mnist(
    subset: Literal["train", "test"] = "train",
    *,
    data_home: PathLike | None = None,
    return_X_y: bool = False,
) -> Bunch | Pair:
    """Download MNIST if it is not there yet, check it by its digest, and load it.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        The part to load; both are downloaded.
    data_home : str, path-like or None, default=None
        Where data sets are kept.
    return_X_y : bool, default=False
        Whether to return only samples and labels.

    Returns
    -------
    mnist : Bunch, or (X, y)
        As ``load_mnist`` returns it. An interrupted download is resumed by the next call.
    """
    return _fetched(load_mnist, data_home, return_X_y, subset)


@overload
def fetch_usps(
    subset: Literal["train", "test"] = ...,
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[False] = ...,
) -> Bunch: ...
@overload
def fetch_usps(
    subset: Literal["train", "test"] = ...,
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[True],
) -> Pair: ...
def fetch_usps(
    subset: Literal["train", "test"] = "train",
    *,
    data_home: PathLike | None = None,
    return_X_y: bool = False,
) -> Bunch | Pair:
    """Download USPS if it is not there yet, check it by its digest, and load it.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        The part to load; both are downloaded.
    data_home : str, path-like or None, default=None
        Where data sets are kept.
    return_X_y : bool, default=False
        Whether to return only samples and labels.

    Returns
    -------
    usps : Bunch, or (X, y)
        As ``load_usps`` returns it. An interrupted download is resumed by the next call.
    """
    return _fetched(load_usps, data_home, return_X_y, subset)


@overload
def fetch_yaleb(
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[False] = ...,
) -> Bunch: ...
@overload
def fetch_yaleb(
    *,
    data_home: PathLike | None = ...,
    return_X_y: Literal[True],
) -> Pair: ...
def fetch_yaleb(
    *,
    data_home: PathLike | None = None,
    return_X_y: bool = False,
) -> Bunch | Pair:
    """Download Extended YaleB if it is not there yet, check it by its digest, and load it.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Where data sets are kept.
    return_X_y : bool, default=False
        Whether to return only samples and labels.

    Returns
    -------
    yaleb : Bunch, or (X, y)
        As ``load_yaleb`` returns it. An interrupted download is resumed by the next call.
    """
    return _fetched(load_yaleb, data_home, return_X_y)


@overload
def read_samples(
    path: PathLike,
    *,
    label: str | int | None = ...,
    image_shape: ImageShape = ...,
    array: str | None = ...,
    max_unpacked: int | None = ...,
    ignore: Sequence[str | int] = ...,
    return_X_y: Literal[False] = ...,
) -> Bunch: ...
@overload
def read_samples(
    path: PathLike,
    *,
    label: str | int | None = ...,
    image_shape: ImageShape = ...,
    array: str | None = ...,
    max_unpacked: int | None = ...,
    ignore: Sequence[str | int] = ...,
    return_X_y: Literal[True],
) -> tuple[Real, Classes | None]: ...
def read_samples(
    path: PathLike,
    *,
    label: str | int | None = None,
    image_shape: ImageShape = None,
    array: str | None = None,
    max_unpacked: int | None = None,
    ignore: Sequence[str | int] = (),
    return_X_y: bool = False,
) -> Bunch | tuple[Real, Classes | None]:
    """Read a file of samples, or a folder of images with a sub-folder for each class.

    Reads CSV, TSV, NPY, NPZ, IDX, MATLAB, text and safetensors, gzipped or not; PNG, JPEG and PNM
    images.

    Parameters
    ----------
    path : str or path-like
        The file or folder.
    label : str, int or None, default=None
        Name or index of the column (or name of the array) with the labels.
    image_shape : (int, int) or None, default=None
        Height and width to which the images of a folder are resized.
    array : str or None, default=None
        Name of the array with the samples, in a file of several arrays.
    max_unpacked : int or None, default=None
        Bytes that a compressed file may unpack to; None means 200 times its size, at least 64 MiB.
    ignore : sequence of str or int, default=()
        Names or indices of columns of a text table that are no features.
    return_X_y : bool, default=False
        Whether to return only samples and labels.

    Returns
    -------
    table : Bunch, or (X, y)
        With `data`, `target` (None where a label is missing), `image_shape`, `feature_names` and
        `sample_names`.
    """
    image = None if image_shape is None else shape(image_shape)
    table = _ssdl.read(os.fspath(path), label, image, array, max_unpacked, list(ignore))
    labels = table["labels"]
    target = None if labels is None else np.array(labels, dtype=object)
    return _bunch(
        table["samples"],
        target,
        table["image"] and tuple(table["image"]),
        return_X_y,
        feature_names=table["feature_names"],
        sample_names=table["sample_names"],
    )


def hide_labels(y: Labels, per_class: int = 20, *, random_state: Seed = 0) -> Classes:
    """Keep a few labels of each class and hide the rest.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    per_class : int, default=20
        Number of labels to keep per class; a class with fewer keeps all.
    random_state : int, RandomState instance or None, default=0
        Seed of the choice.

    Returns
    -------
    y : ndarray of shape (n_samples,)
        Hidden labels are -1 if the labels are numbers; None if they are text, or if -1 is a class.
    """
    if per_class < 1:
        raise LabelsError(f"labels: per_class must be 1 or more, got {per_class}")
    known = _labels.read(y, None)
    if not len(known.classes):
        raise LabelsError("labels: no sample is labelled, so there is nothing to hide")
    rng = check_random_state(random_state)
    left = np.concatenate(
        [
            rng.permutation(np.flatnonzero(known.indices == number))[:per_class]
            for number in range(len(known.classes))
        ]
    )
    if known.classes.dtype.kind in "iuf" and _labels.MARKER not in known.classes:
        kind = np.result_type(known.classes, np.int8)
        hidden = np.full(len(known.indices), _labels.MARKER, dtype=kind)
    else:
        hidden = np.full(len(known.indices), None, dtype=object)
    hidden[left] = known.classes[known.indices[left]]
    return hidden


def _fetched(
    load: Callable[..., Any], data_home: PathLike | None, return_X_y: bool, *part: str
) -> Any:
    """What ``load`` loads, downloaded where it is missing."""
    _ssdl.fetch(load.__name__.removeprefix("load_"), os.fspath(data_folder(data_home)))
    return load(*part, data_home=data_home, return_X_y=return_X_y)


def _found(data_home: PathLike | None, *parts: str) -> Path:
    folder = data_folder(data_home)
    path = folder.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(
            f"{path} does not exist: get it with fetch_{parts[0]}() or `ssdl data get {parts[0]}`, "
            "or give its folder as data_home or in the environment variable SSDL_DATA"
        )
    return path


def _part(subset: str) -> str:
    if subset not in ("train", "test"):
        raise ValueError(f'subset must be "train" or "test", got {subset!r}')
    return subset


def _whole(labels: list[Any]) -> NDArray[np.int64]:
    return np.array([int(float(label)) for label in labels])


def _bunch(
    data: Real, target: Any, image_shape: tuple[int, ...], return_X_y: bool, **more: object
) -> Any:
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, image_shape=image_shape, **more)
