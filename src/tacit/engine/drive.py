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
    engine: Engine,
    output: Output,
    curve: Curve,
    *,
    watch: Watcher,
    checkpoint: Checkpoint | None = None,
    gap: float | None = None,
    seconds: float | None = None,
) -> str:
    """Play until the run is over; all that was done is in the arguments. Return what ended it.

    That is "episodes" when the curve is complete, "gap" or "seconds" when the measured gap or the time spent learning
    has reached its limit, "tolerance" when the learner itself has finished, or "interrupted".
    """
    ended = ""
    with Interrupts() as interrupts:

        def emit(event: Event) -> None:
            try:
                watch(event)
            except KeyboardInterrupt:
                interrupts.pending = True

        while not ended:
            until = output.look(engine, curve.done)
            curve.add(engine.advance(curve.next_chunk(engine.chunk, until)))
            if curve.full or engine.finished:
                row = curve.close(output.measure(engine, curve.done))
                emit(Measured(row))
                ended = "gap" if gap is not None and row["gap"] <= gap else ""
            emit(Advanced(curve.done, curve.episodes))
            if engine.finished:
                ended = "tolerance"
            elif curve.done == curve.episodes:
                ended = "episodes"
            elif engine.failure is not None or (not ended and interrupts.pending):
                ended = "interrupted"
            elif not ended and seconds is not None and engine.seconds >= seconds:
                ended = "seconds"
            if checkpoint is not None and not ended:
                checkpoint.offer()
    if checkpoint is not None and ended == "interrupted" and engine.failure is None:
        checkpoint.save()  # after a failure agents have learned from a part of an episode; the last file stays
    if curve.open:
        emit(Measured(curve.close(output.measure(engine, curve.done))))
    return ended


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
