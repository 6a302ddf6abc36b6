"""Model files, the same as the program's and the library's."""

import os

from . import _methods, _ssdl
from .errors import UnknownNameError

BY_METHOD = {getattr(_methods, name)._method: getattr(_methods, name) for name in _methods.__all__}


def load(path):
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
