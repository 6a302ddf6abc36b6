"""Classification with few labels by semi-supervised dictionary learning.

Estimators in the manner of scikit-learn; ``-1`` in ``y`` means "no label".
"""

from importlib.metadata import version as _version

from . import errors
from ._files import load
from ._methods import *  # noqa: F403
from ._methods import __all__ as _classes

__version__ = _version("ssdl")
__all__ = [*_classes, "errors", "load"]
