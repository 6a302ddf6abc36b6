"""Exceptions and warnings; each exception also derives from a built-in one.

Files that cannot be read or written raise Python's own ``OSError`` and its subclasses.
"""


class SsdlError(Exception):
    """Any error of this package."""


class KnobError(SsdlError, ValueError):
    """A parameter has a value outside its range."""


class UnknownNameError(SsdlError, ValueError):
    """An unknown name of a method, a parameter or a preparation step."""


class ShapeError(SsdlError, ValueError):
    """Two sizes that must match do not."""


class NotFiniteError(SsdlError, ValueError):
    """A value of the samples is NaN or infinite."""


class LabelsError(SsdlError, ValueError):
    """The labels do not allow a fit."""


class SamplesError(SsdlError, ValueError):
    """The samples do not allow a fit."""


class GraphError(SsdlError, ValueError):
    """A graph cannot be used."""


class DeviceError(SsdlError, RuntimeError):
    """A graphics card cannot be used, has no room, or failed."""


class MemoryLimitError(SsdlError, MemoryError):
    """The fit would need more memory than ``memory_limit``; nothing was allocated."""


class DivergedError(SsdlError, ArithmeticError):
    """A factorisation failed, or a value became infinite or NaN."""


class CancelledError(SsdlError, RuntimeError):
    """The fit was stopped before there was a model to return."""


class ModelFileError(SsdlError, ValueError):
    """A file or a pickle that does not hold a usable model."""


class DataFileError(SsdlError, ValueError):
    """A file that does not hold usable samples."""


class FitWarning(UserWarning):
    """The fit had to deviate from what was asked, or what was asked looks like a mistake."""
