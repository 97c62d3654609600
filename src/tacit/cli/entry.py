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
    code = program()
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        # The head of its cluster is lost, or it would be closed: to disconnect would take a minute, and the usual end of
        # the interpreter may crash in threads of Ray.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
