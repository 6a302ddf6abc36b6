"""Model files, the same as the program's and the library's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _methods, _ssdl
from .errors import UnknownNameError

if TYPE_CHECKING:
    from ._base import FewLabelClassifier
    from ._types import PathLike

BY_METHOD: dict[str, type[FewLabelClassifier]] = {
    getattr(_methods, name)._method: getattr(_methods, name) for name in _methods.__all__
}


def load(path: PathLike) -> FewLabelClassifier:
    """Read a model file, written by this package, the program or the Rust library.

    Labels and column names come back with the types that they had at the fit. Models of the program
    have no types of labels: class names become numbers if all of them are.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator : object
        Fitted estimator of the class that makes such models.
    """
    model = _ssdl.Model.load(os.fspath(path))
    if model.method not in BY_METHOD:
        known = ", ".join(BY_METHOD)
        raise UnknownNameError(f"unknown method `{model.method}`; known: {known}")
    return BY_METHOD[model.method]._from_model(model)
