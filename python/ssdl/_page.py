"""A page in the browser on which samples are labelled."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from . import _ssdl
from ._request import seed, shape, threads
from ._types import DenseSamples, ImageShape, PathLike, Seed
from .errors import ShapeError

__all__ = ["Labelling", "label"]


def label(
    X: DenseSamples,
    labels: PathLike = "labels.csv",
    *,
    classes: Sequence[str] = (),
    image_shape: ImageShape = None,
    model: PathLike | None = None,
    open_browser: bool = True,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Labelling:
    """Label samples on a page in the browser while a model learns from every answer.

    The page is served from this process, on this machine only, until ``stop`` is called or the
    process ends. Every answer is in the journal beside ``labels`` before the page says that it is
    saved; call this again with the same samples to go on.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples. Columns of a frame are shown with their names.
    labels : path, default="labels.csv"
        File for the labels, one per sample; the journal is beside it.
    classes : sequence of str, default=()
        Names of classes; more can be typed in the page.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images.
    model : path or None, default=None
        File for the model that the page can save; beside the labels by default.
    open_browser : bool, default=True
        Whether to open the page.
    random_state : int, default=0
        Seed of everything random.
    n_jobs : int or None, default=None
        Number of threads of a fit.

    Returns
    -------
    labelling : Labelling
        Knows the address of the page and the labels so far.

    Examples
    --------
    >>> import tempfile
    >>> from ssdl import label
    >>> folder = tempfile.TemporaryDirectory()
    >>> page = label([[0.0], [1.0]], folder.name + "/labels.csv", open_browser=False)
    >>> page.address.startswith("http://127.0.0.1:")
    True
    >>> page.y.tolist()
    [-1, -1]
    >>> page.stop()
    """
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    rows = check_array(X, dtype=np.float64, order="C")
    image = None if image_shape is None else shape(image_shape)
    if image is not None and image[0] * image[1] != rows.shape[1]:
        got = f"{image[0]} x {image[1]} pixels, X has {rows.shape[1]} features"
        raise ShapeError(f"image_shape has {got}")
    server = _ssdl.LabelServer(
        rows,
        os.fspath(labels),
        [str(name) for name in classes],
        image,
        names,
        None if model is None else os.fspath(model),
        seed(random_state),
        threads(n_jobs),
    )
    page = Labelling(server)
    if open_browser:
        webbrowser.open(page.address)
    return page


class Labelling:
    """A page on which samples are being labelled, as :func:`label` returns it."""

    def __init__(self, server: _ssdl.LabelServer) -> None:
        self._server = server

    @property
    def address(self) -> str:
        """The address of the page; whoever knows it can label."""
        return self._server.address

    @property
    def y(self) -> NDArray[Any]:
        """Labels so far, as ``fit`` takes them: class names, -1 where there is none."""
        found, _ = self._server.labels()
        return np.array([-1 if name is None else name for name in found], dtype=object)

    @property
    def unusable(self) -> NDArray[np.intp]:
        """Row numbers of samples that were marked unusable."""
        return np.array(self._server.labels()[1], dtype=np.intp)

    def stop(self) -> None:
        """End the server and write the labels."""
        self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Labelling at {self.address}>"
