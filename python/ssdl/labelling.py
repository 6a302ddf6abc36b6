"""Which samples to label: first, before there is any label to learn from, and next."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, check_scalar
from sklearn.utils.validation import check_is_fitted

from . import _query, _ssdl
from ._page import Labelling, label
from ._request import threads
from ._scoring import last_step
from .errors import SamplesError
from .preparation import Preparation

if TYPE_CHECKING:
    from ._base import FewLabelClassifier
    from ._query import Batch, Strategy
    from ._types import ImageShape, Labels, Samples, Steps, Whole

__all__ = ["Labelling", "ask_in_turn", "first_to_label", "label", "query"]


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
    # The library takes arrays, whatever the output of transformers is set to.
    steps.set_output(transform="default")
    return _ssdl.representatives(steps.fit_transform(X), count, threads(n_jobs))


def query(
    estimator: Any,
    n: int = 10,
    X: Samples | None = None,
    *,
    strategy: Strategy = "representative",
    batch: Batch = "top",
) -> Whole:
    """``query`` of a classifier inside a pipeline or a search, or of any other classifier.

    Parameters
    ----------
    estimator : estimator
        Fitted. Pipelines and searches ask the classifier inside; classifiers of other packages
        need ``predict_proba``.
    n : int, default=10
        Number of samples.
    X : array-like of shape (n_candidates, n_features), default=None
        Raw samples to choose from, which the steps of a pipeline transform; None chooses from the
        unlabelled training samples, which only classifiers of this package know.
    strategy : str or callable, default="representative"
        As in the method ``query`` of the classifiers.
    batch : {"top", "cover"}, default="top"
        As there.

    Returns
    -------
    indices : ndarray of shape (at most n,)
        Row numbers in ``X``, or of the training samples.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from ssdl import LabelSpreading
    >>> from ssdl.labelling import query
    >>> X, y = load_digits(return_X_y=True)
    >>> few = y[:400].copy()
    >>> few[100:] = -1
    >>> line = make_pipeline(PCA(20), LabelSpreading()).fit(X[:400], few)
    >>> len(query(line, 5)), bool((few[query(line, 5)] == -1).all())
    (5, True)
    """
    check_is_fitted(estimator)
    inside = getattr(estimator, "best_estimator_", estimator)
    last = last_step(inside)
    if hasattr(last, "query"):
        if X is not None and last is not inside:
            X = inside[:-1].transform(X)
        found: Whole = last.query(n, X, strategy=strategy, batch=batch)
        return found
    if X is None:
        raise SamplesError(
            f"{type(last).__name__} does not know which training samples have no label: pass the "
            "samples to choose from as X"
        )
    count = int(check_scalar(n, "n", Integral, min_val=0))
    rows = check_array(X, dtype=[np.float64, np.float32])
    shares = np.asarray(inside.predict_proba(X))
    candidates = _query.Candidates(shares, rows, rows[:0])
    return _query.chosen(candidates, count, strategy, batch)[0]


def ask_in_turn(
    model: FewLabelClassifier,
    ask: Callable[[Whole], Labels],
    n: int,
    *,
    batch_size: int = 1,
    strategy: Strategy = "representative",
) -> Whole:
    """Ask for labels one after another, or a few at a time, and learn on after each answer.

    Sequential questions cost a fit each, and know the answers before them; a batch costs one fit,
    and its samples are chosen to differ.

    Parameters
    ----------
    model : classifier
        Fitted; continued by ``add_labels`` after each answer.
    ask : callable
        Takes row numbers of the training samples, returns their labels; "no label" skips one, which
        is not asked again.
    n : int
        Number of labels to ask for.
    batch_size : int, default=1
        Number of labels to ask for at a time.
    strategy : str or callable, default="representative"
        As in the method ``query`` of the classifiers.

    Returns
    -------
    indices : ndarray of shape (at most n,)
        Row numbers in the order in which they were asked.
    """
    check_is_fitted(model)
    asked: list[int] = []
    while len(asked) < n:
        wanted = min(batch_size, n - len(asked))
        rows = model.query(wanted + len(asked), strategy=strategy, batch="cover")
        rows = rows[~np.isin(rows, asked)][:wanted]
        if not len(rows):
            break
        model.add_labels(rows, ask(rows))
        asked += rows.tolist()
    return np.array(asked, dtype=np.int64)
