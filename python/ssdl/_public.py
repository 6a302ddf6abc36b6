"""What ``import ssdl`` offers."""

from importlib.metadata import version as _version

from . import (
    _methods,
    datasets,
    errors,
    graphs,
    labelling,
    model_selection,
    plotting,
    preparation,
    progress,
    wrappers,
)
from ._base import FewLabelClassifier
from ._explained import Explanation
from ._files import load
from ._methods import *  # noqa: F403
from .coding import DictionaryLearner, SparseCoder
from .labelling import label
from .preparation import Preparation

__version__ = _version("ssdl")
__all__ = [
    "DictionaryLearner",
    "Explanation",
    "FewLabelClassifier",
    "Preparation",
    "SparseCoder",
    "datasets",
    "errors",
    "graphs",
    "label",
    "labelling",
    "load",
    "model_selection",
    "plotting",
    "preparation",
    "progress",
    "wrappers",
]
__all__ += _methods.__all__
