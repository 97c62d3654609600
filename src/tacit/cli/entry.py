"""The console script: imports are slow, so Ctrl-C is taken care of before they begin."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: while modules are being imported there is nothing to keep."""
    os.write(2, b"tacit: interrupted\n")
    os._exit(130)


def main() -> int:
    """Import the program and run it."""
    before = signal.signal(signal.SIGINT, _leave)
    from tacit.cli.main import main as program

    signal.signal(signal.SIGINT, before)
    return program()


if __name__ == "__main__":
    sys.exit(main())
