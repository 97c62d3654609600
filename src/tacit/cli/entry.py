"""The console script: Ctrl-C is obeyed from the first import to the end.

Python hears of Ctrl-C between two of its own instructions. A linear program, a compiled loop or a compilation may take
minutes, so a thread beside reads which signals have come and ends the process where the program does not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from types import FrameType

#: Seconds that the program has after Ctrl-C to end by itself; and after the second, to bring back what was done.
GRACE, LAST_GRACE = 1.2, 2.4


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: while modules are being imported there is nothing to keep."""
    leave()


def leave() -> None:
    """End the process as interrupted."""
    _say(b"tacit: interrupted\n")
    os._exit(130)


def _say(line: bytes) -> None:
    with contextlib.suppress(OSError):  # nobody listens
        os.write(2, line)


class Interrupter:
    """Ends the process some time after Ctrl-C, if the program is still there.

    A command that keeps what was done needs its time: then the first Ctrl-C only says so, and the second counts.
    """

    def __init__(self) -> None:
        self.keeps, self._grace = False, GRACE

    def watch(self) -> None:
        """Begin to watch; the main thread only can."""
        self._signals, self._wakeup = socket.socketpair()
        self._wakeup.setblocking(False)
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._listen, daemon=True, name="ctrl-c").start()

    def _listen(self) -> None:
        while True:
            if self._signals.recv(1)[0] == signal.SIGINT:
                timer = threading.Timer(self._grace, self._wait if self.keeps else leave)
                timer.daemon = True
                timer.start()
                self._grace = LAST_GRACE if self.keeps else GRACE
                self.keeps = False

    @staticmethod
    def _wait() -> None:
        _say(b"tacit: interrupted; what was done is measured and kept first (Ctrl-C again leaves it)\n")


interrupter = Interrupter()


def open_streams() -> None:
    """Open standard streams that are closed. The next file to be opened would be taken for one."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number < 2 else os.O_WRONLY)  # takes the lowest number that is free
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def main() -> int:
    """Import the program and run it."""
    before = signal.signal(signal.SIGINT, _leave)
    open_streams()
    from tacit.cli.main import main as program

    signal.signal(signal.SIGINT, before)
    interrupter.watch()
    code = program()
    if _left_behind():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _left_behind() -> bool:
    """Return whether threads still run that were given up. The interpreter would wait for them, or crash.

    That is a job that compiles after Ctrl-C, or Ray's where the head of its cluster is lost: otherwise it is closed.
    """
    ray = sys.modules.get("ray")
    jobs = any(thread.name == "tacit-job" for thread in threading.enumerate())
    return jobs or (ray is not None and bool(ray.is_initialized()))
