"""Model files, the same as the program's and the library's."""

import os

from . import _methods, _ssdl
from .errors import UnknownNameError

BY_METHOD = {getattr(_methods, name)._method: getattr(_methods, name) for name in _methods.__all__}


def load(path):
    """Read a model file, whoever wrote it.

    Class names that are all written as numbers come back as numbers; names of columns are not
    kept in the file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator : object
        Fitted estimator of the class whose ``fit`` makes such a model.
    """
    model = _ssdl.Model.load(os.fspath(path))
    if model.method not in BY_METHOD:
        known = ", ".join(BY_METHOD)
        raise UnknownNameError(f"unknown method `{model.method}`; known: {known}")
    return BY_METHOD[model.method]._of_model(model)
