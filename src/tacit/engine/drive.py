"""THE while-loop of a run: play a chunk, measure, write the curve, checkpoint, listen to Ctrl-C, tell the watchers.

Engines differ only in how they advance, outputs only in what they measure.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from tacit.engine.checkpoint import Checkpoint
from tacit.engine.curve import Curve
from tacit.engine.events import Advanced, Event, Measured, Watcher
from tacit.engine.protocols import Engine, Output


def drive(
    engine: Engine, output: Output, curve: Curve, *, watch: Watcher, checkpoint: Checkpoint | None = None
) -> None:
    """Play until the curve is complete, the learner has finished, or Ctrl-C; all that was done is in the arguments."""
    with Interrupts() as interrupts:

        def emit(event: Event) -> None:
            try:
                watch(event)
            except KeyboardInterrupt:
                interrupts.pending = True

        while curve.done < curve.episodes and not engine.finished and not interrupts.pending:
            until = output.look(engine, curve.done)
            curve.add(engine.advance(curve.next_chunk(engine.chunk, until)))
            if curve.full or engine.finished:
                emit(Measured(curve.close(output.measure(engine, curve.done))))
            emit(Advanced(curve.done, curve.episodes))
            if checkpoint is not None and not engine.finished:
                checkpoint.offer()
    if curve.done == 0:
        raise KeyboardInterrupt
    output.look(engine, curve.done)
    if checkpoint is not None and curve.done < curve.episodes and not engine.finished:
        checkpoint.save()
    if curve.open:
        emit(Measured(curve.close(output.measure(engine, curve.done))))


class Interrupts:
    """While it is entered, the first Ctrl-C only sets `pending`; a second one interrupts at once.

    So a run ends between two chunks, where everything that was done is consistent. In other threads than the main one,
    which signals never reach, it does nothing.
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
