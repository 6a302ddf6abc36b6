"""The program ``ssdl``, as ``python -m ssdl`` and as the command that pip installs."""

from __future__ import annotations

import signal
import sys

from . import _ssdl


def main() -> int:
    """Run the program with the arguments of this process; returns the exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # The interpreter would keep Ctrl-C to itself until the program has ended.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _ssdl.program(["ssdl", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
