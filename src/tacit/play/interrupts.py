"""Ctrl-C at a moment of our choosing: between two chunks, where everything that was done is whole."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """While it is entered, the first Ctrl-C only sets `pending`; a second one interrupts at once.

    In other threads than the main one, which signals never reach, it does nothing.
    """

    def __init__(self) -> None:
        self.pending = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pending = True
        signal.signal(signal.SIGINT, self._before)
