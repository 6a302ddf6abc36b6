"""The base classes of scikit-learn, with types for mypy.

scikit-learn has no type information: to mypy its classes are `Any`, and with them everything that
derives from them, so that no mistake would be found. pyright reads the sources of scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# True for mypy only.
MYPY = False

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

if MYPY:

    class BaseEstimator:
        """Parameters by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def __getstate__(self) -> Any: ...
        def __setstate__(self, state: Any) -> None: ...
        def __sklearn_tags__(self) -> Any: ...
        def _validate_params(self) -> None: ...

    class _BaseComposition(BaseEstimator):
        """An estimator of named ones."""

        def _get_params(self, attr: str, deep: bool = True) -> dict[str, Any]: ...
        def _set_params(self, attr: str, **params: Any) -> Self: ...
        def _validate_names(self, names: list[str]) -> None: ...

    class ClassifierMixin:
        """A classifier."""

        def set_fit_request(self, **requests: Any) -> Self: ...
        def set_score_request(self, **requests: Any) -> Self: ...

    class MetaEstimatorMixin:
        """An estimator around others."""

    class TransformerMixin:
        """A transformer."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassNamePrefixFeaturesOutMixin:
        """Names of the columns of the output."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...

    class BaseCrossValidator:
        """Folds."""

        def split(self, X: Any, y: Any = None, groups: Any = None) -> Any: ...
        def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        MetaEstimatorMixin,
        TransformerMixin,
    )
    from sklearn.model_selection import BaseCrossValidator
    from sklearn.utils.metaestimators import _BaseComposition

__all__ = [
    "BaseCrossValidator",
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "MetaEstimatorMixin",
    "TransformerMixin",
    "_BaseComposition",
]
