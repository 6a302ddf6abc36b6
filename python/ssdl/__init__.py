"""Classification with few labels by semi-supervised dictionary learning.

Estimators in the style of scikit-learn; -1, None, NaN and NA in ``y`` mean "no label".
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._methods import *  # noqa: F403
    from ._public import *  # noqa: F403
    from ._public import __all__ as __all__
    from ._public import __version__ as __version__
else:
    # Modules are loaded one by one; the first name of another kind loads them all, and scikit-learn
    # with them. The program, which is in the same package, starts without them.
    def __getattr__(name):
        missing = AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name.startswith("_") and name not in ("__all__", "__version__"):
            raise missing
        if _find_spec(f"{__name__}.{name}"):
            return _import_module(f".{name}", __name__)
        try:
            return getattr(_import_module("._public", __name__), name)
        except AttributeError:
            raise missing from None

    def __dir__():
        return sorted({*globals(), *_import_module("._public", __name__).__all__})
