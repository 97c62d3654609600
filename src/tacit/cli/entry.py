"""The console script: imports are slow, so Ctrl-C is taken care of before they begin."""

from __future__ import annotations

import os
import signal
import sys
import threading
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
    if _left_behind():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _left_behind() -> bool:
    """Say whether threads still run that were given up: the interpreter's usual end would wait for them, or crash.

    That is a job that compiles after Ctrl-C, or Ray's where the head of its cluster is lost: otherwise it is closed.
    """
    ray = sys.modules.get("ray")
    jobs = any(thread.name == "tacit-job" for thread in threading.enumerate())
    return jobs or (ray is not None and bool(ray.is_initialized()))


if __name__ == "__main__":
    sys.exit(main())
