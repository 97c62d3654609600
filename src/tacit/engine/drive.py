"""THE while-loop of a run: play a chunk, measure, write the curve, checkpoint, listen to Ctrl-C, tell the watchers.

Engines differ only in how they advance, outputs only in what they measure.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from tacit.core.types import FloatArray
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.curve import Curve
from tacit.engine.events import Advanced, Event, Measured, Watcher, log
from tacit.engine.protocols import Engine, Output

#: Seconds that a chunk takes at most, unless a single episode takes longer: Ctrl-C is heard between two of them.
CHUNK_SECONDS = 0.5

#: Seconds after Ctrl-C in which a run most often has ended; after them people are told what it waits for.
PATIENCE = 2.0
WAITING = "Ctrl-C: the run ends after this episode; Ctrl-C again leaves the episode out and keeps those before it"


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

    That is "episodes" when the curve is complete, "gap" when the gap is small enough and the output certifies it,
    "seconds" when time is up, "tolerance" when the learner itself has finished, "memory" when there is no room for
    more episodes, or "interrupted".
    """
    ended, clock = "", Clock(engine, curve, seconds)
    with Interrupts(message=WAITING) as interrupts:

        def emit(event: Event) -> None:
            try:
                watch(event)
            except KeyboardInterrupt:
                interrupts.pending = True

        while not ended:
            until = output.look(engine, curve.done)
            if until is not None and until <= curve.done:
                ended = "memory"
                break
            measured = clock.affords_row()
            curve.add(clock.play(curve.next_chunk(clock.chunk(), until, row=measured)))
            row = None
            if engine.finished or curve.done == curve.episodes or (curve.full and measured):
                row = clock.measure(lambda: curve.close(output.measure(engine, curve.done)))
            else:
                curve.widen()
            if engine.finished:
                ended = "tolerance"
            elif row is not None and gap is not None and output.certifies and row["gap"] <= gap:
                ended = "gap"
            elif curve.done == curve.episodes:
                ended = "episodes"
            elif engine.failure is not None:
                ended = "interrupted"
            elif engine.full:
                ended = "memory"
            elif clock.up():
                ended = "seconds"
            if row is not None:
                emit(Measured(curve.last_row(ended)))
            emit(Advanced(curve.done, curve.episodes))
            if not ended and interrupts.pending:
                ended = "interrupted"
            if checkpoint is not None and not ended:
                checkpoint.offer()
    output.interrupted = ended == "interrupted" and engine.failure is None
    if checkpoint is not None and output.interrupted:
        checkpoint.save()  # after a failure agents have learned from a part of an episode; the last file stays
    if curve.open:
        curve.close(output.measure(engine, curve.done))
        emit(Measured(curve.last_row(ended)))
    return ended


class Clock:
    """The time of a run: what it had learned for when it was resumed, and what has passed since its first chunk.

    Before that, kernels are compiled.
    """

    def __init__(self, engine: Engine, curve: Curve, seconds: float | None) -> None:
        self._engine, self._curve, self._seconds = engine, curve, seconds
        self._began: float | None = None
        self._warm = False
        self._before, self._done, self._measuring = engine.seconds, curve.done, 0.0
        self._chunk = 1

    def play(self, episodes: int) -> FloatArray:
        """Play a chunk, and learn from how long that took how large the next one may be."""
        began = time.perf_counter()
        returns = self._engine.advance(episodes)
        seconds = time.perf_counter() - began
        aim = int(episodes * CHUNK_SECONDS / (2 * max(seconds, 1e-9)))
        self._chunk = max(1, min(4 * self._chunk, aim, self._engine.chunk))
        return returns

    def up(self) -> bool:
        """Return whether the run has had its time."""
        return self._seconds is not None and self._before + self._time >= self._seconds

    @property
    def _time(self) -> float:
        if self._began is None:
            self._began = time.perf_counter()
        return time.perf_counter() - self._began

    def measure(self, close: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Measure a row, and note how long that took."""
        before = self._time
        row = close()
        if self._warm:  # the first one compiles and imports
            self._measuring += self._time - before
        self._warm = True
        return row

    def affords_row(self) -> bool:
        """Return whether a row may be measured now: that takes a tenth of the time, or half where that is short."""
        return self._seconds is None or 2 * self._measuring <= self._time or 10 * self._measuring <= self._seconds

    def chunk(self) -> int:
        """Return how many episodes to play at most before the clock and Ctrl-C are looked at again."""
        if self._seconds is None:
            return self._chunk
        left = max(self._seconds - self._before - self._time, 0.0)
        rate = (self._curve.done - self._done) / max(self._time, 1e-9)
        soon = left if self.affords_row() else min(left, self._measuring)  # then a row can be afforded again
        return max(1, min(self._chunk, int(soon * rate)))


class Interrupts:
    """While it is entered, the first Ctrl-C only sets `pending`, and soon `message` is logged; a second interrupts.

    So a run ends between two chunks, where everything that was done is consistent. In other threads than the main one,
    which signals never reach, it does nothing.
    """

    def __init__(self, *, message: str = "") -> None:
        self.pending = False
        self._before: Any = None
        self._slow = threading.Timer(PATIENCE, log.warning, [message]) if message else None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._slow is not None:
            self._slow.cancel()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pending = True
        signal.signal(signal.SIGINT, self._before)
        if self._slow is not None:
            self._slow.daemon = True
            self._slow.start()
