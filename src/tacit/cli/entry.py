"""The console script: Ctrl-C is obeyed from the first import to the end, whatever the program is doing.

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

#: Seconds that the program has after Ctrl-C to end by itself.
GRACE = 1.2


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
        self.keeps = False
        self._signals, self._wakeup = socket.socketpair()
        self._wakeup.setblocking(False)

    def watch(self) -> None:
        """Begin to watch; the main thread only can."""
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._listen, daemon=True, name="ctrl-c").start()

    def _listen(self) -> None:
        while True:
            if self._signals.recv(1)[0] == signal.SIGINT:
                timer = threading.Timer(GRACE, self._wait if self.keeps else leave)
                timer.daemon = True
                timer.start()
                self.keeps = False

    @staticmethod
    def _wait() -> None:
        _say(b"tacit: interrupted; what was done is measured and kept first (Ctrl-C again leaves it)\n")


interrupter = Interrupter()


def main() -> int:
    """Import the program and run it."""
    before = signal.signal(signal.SIGINT, _leave)
    from tacit.cli.main import main as program

    signal.signal(signal.SIGINT, before)
    interrupter.watch()
    return program()


if __name__ == "__main__":
    sys.exit(main())
