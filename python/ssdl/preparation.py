"""The preparation (preprocessing) steps of the library as a transformer for pipelines."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from . import _ssdl
from ._request import all_or_nothing, samples, seed, shape, steps, threads
from ._sklearn import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from ._types import ImageShape, Labels, Samples, Seed, Steps

# Steps after which a feature is still the same one, with another value.
KEEP_FEATURES = {"scale", "standardise", "unskew", "power", "logarithm"}

__all__ = ["Preparation", "known_steps"]


def known_steps() -> dict[str, str]:
    """All preparation steps: how each is written, and what it does.

    Returns
    -------
    steps : dict
        Descriptions by usage, such as ``"scale=FACTOR"``.
    """
    return dict(_ssdl.preparation_steps())


class Preparation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Preparation steps, one after another: scaling, PCA, and those for images.

    The classifiers prepare samples themselves (their parameter `prepare`) and keep the steps in
    their model file; this class is for pipelines with other estimators.

    Parameters
    ----------
    steps : sequence of str, or str, default=("scale=5",)
        Steps as ``known_steps`` lists them, such as ``"deskew"``, ``"gradients=12/4/3/signed"``,
        ``"power=0.5"``, ``"pca=50"``.
    image_shape : (int, int) or None, default=None
        Height and width, if samples are images (pixels row by row).
    random_state : int, RandomState instance or None, default=0
        Seed of random projections.
    n_jobs : int or None, default=None
        Number of threads; None means 1 unless joblib says otherwise, -1 all.

    Attributes
    ----------
    image_shape_ : (int, int) or None
        Height and width after the steps, if samples are still images.
    n_features_in_ : int
        Number of features of a sample.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ssdl.preparation import Preparation
    >>> X, _ = load_digits(return_X_y=True)
    >>> Preparation(["deskew", "gradients=9/4/2"], image_shape=(8, 8)).fit_transform(X).shape
    (1797, 36)
    """

    _parameter_constraints = {
        "steps": [list, tuple, str, None],
        "image_shape": [list, tuple, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    image_shape_: tuple[int, int] | None
    _fitted: dict[str, Any]

    def __init__(
        self,
        steps: Steps = ("scale=5",),
        *,
        image_shape: ImageShape = None,
        random_state: Seed = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.steps = steps
        self.image_shape = image_shape
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Samples, y: object = None) -> Self:
        """Fit each step on the output of the step before it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : Ignored

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._validate_params()
        with all_or_nothing(self):
            rows = samples(self, X, [np.float64, np.float32], reset=True)
            image = None if self.image_shape is None else shape(self.image_shape)
            self._fitted = _ssdl.prepare_fit(
                rows, steps(self.steps), image, seed(self.random_state), threads(self.n_jobs)
            )
            self._precision = rows.dtype
            prepared = self._fitted["image_prepared"]
            self.image_shape_ = prepared and tuple(prepared)
        return self

    def transform(self, X: Samples) -> Any:
        """Prepare samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        prepared : ndarray of shape (n_samples, n_prepared_features)
            Each sample prepared independently of the others.
        """
        check_is_fitted(self)
        rows = samples(self, X, self._precision)
        return _ssdl.prepare_apply(rows, self._fitted, threads(self.n_jobs))

    def get_feature_names_out(self, input_features: Labels | None = None) -> NDArray[Any]:
        """Names of the prepared features.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; by default those of the fit.

        Returns
        -------
        names : ndarray of str
            The same names if every step keeps the features, one by one; else numbered ones.
        """
        check_is_fitted(self)
        if all(step.partition("=")[0] in KEEP_FEATURES for step in steps(self.steps)):
            return np.asarray(_check_feature_names_in(self, input_features))
        return np.asarray(super().get_feature_names_out(input_features))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    @property
    def _n_features_out(self) -> int:
        return int(self._fitted["n_prepared"])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags
