"""Which samples to label first, before there is any label to learn from."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

from sklearn.utils import check_scalar

from . import _ssdl
from ._request import threads
from .preparation import Preparation

if TYPE_CHECKING:
    from ._types import ImageShape, Samples, Steps, Whole

__all__ = ["first_to_label"]


def first_to_label(
    X: Samples,
    n: int = 10,
    *,
    prepare: Steps = ("scale=5",),
    image_shape: ImageShape = None,
    n_jobs: int | None = None,
) -> Whole:
    """The samples that represent all others best: where to begin labelling.

    Once a classifier is fitted, its ``query`` also takes into account which samples are uncertain.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples without labels.
    n : int, default=10
        Number of samples.
    prepare : sequence of str, or str, default=("scale=5",)
        Preparation steps, preferably the same as for the classifier.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    indices : ndarray of shape (at most n,)
        Row numbers, best first.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl.labelling import first_to_label
    >>> X, y = load_digits(return_X_y=True)
    >>> len(set(y[first_to_label(X, 20)]))
    10
    """
    count = int(check_scalar(n, "n", Integral, min_val=0))
    steps = Preparation(prepare, image_shape=image_shape, n_jobs=n_jobs)
    return _ssdl.representatives(steps.fit_transform(X), count, threads(n_jobs))
