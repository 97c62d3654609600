"""What happens during a run, as a stream of events. Whoever shows or stores something watches it."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError, brief

#: One row of a curve: episode, reward, value, gap and more, by name; numbers, but for the word of `ended`.
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Started:
    """A run begins, or resumes from a checkpoint with the rows it had.

    Attributes
    ----------
    game, learner : str
        What people call them.
    seed : int
    episodes, done : int
        To be played in all, and played by an earlier process.
    rows : sequence of mappings
        Rows of the curve so far.
    horizon : int
        Steps of an episode.

    Examples
    --------
    >>> import tacit
    >>> seen = []
    >>> run = tacit.learn(tacit.make("stag-hunt"), "pg-exact", episodes=5, progress=seen.append)
    >>> type(seen[0]).__name__
    'Started'
    """

    game: str
    learner: str
    seed: int
    episodes: int  # to be played in all
    done: int = 0  # by an earlier process
    rows: Sequence[Row] = ()  # of the curve so far
    horizon: int = field(default=1, compare=False)  # steps of an episode


@dataclass(frozen=True)
class Advanced:
    """Episodes were played.

    Attributes
    ----------
    done, total : int
        Episodes that were played, and all that may be.

    Examples
    --------
    >>> from tacit.engine import Advanced
    >>> Advanced(10, 100).done
    10
    """

    done: int
    total: int


@dataclass(frozen=True)
class Measured:
    """A window of episodes ended with these rewards, values and gaps.

    Attributes
    ----------
    row : mapping
        The new row of the curve: episode, reward, value, gap, …

    Examples
    --------
    >>> from tacit.engine import Measured
    >>> Measured({"episode": 10, "gap": 0.5}).row["gap"]
    0.5
    """

    row: Row


@dataclass(frozen=True)
class Noted:
    """Something that people should know.

    Attributes
    ----------
    text : str
        A sentence for people.
    urgent : bool
        Before learning: what was guessed of an environment. `tacit.learn` logs it as a warning, so that it is seen.

    Examples
    --------
    >>> from tacit.engine import Noted
    >>> Noted("states are numbered as they are met").text
    'states are numbered as they are met'
    """

    text: str
    urgent: bool = False


@dataclass(frozen=True)
class Finished:
    """The run ended after `done` episodes, for the reason in `ended` (see `Run.ended`).

    Attributes
    ----------
    done : int
        Episodes that were played.
    ended : str
        What ended the run.

    Examples
    --------
    >>> import tacit
    >>> seen = []
    >>> run = tacit.learn(tacit.make("stag-hunt"), "pg-exact", episodes=5, progress=seen.append)
    >>> type(seen[-1]).__name__
    'Finished'
    """

    done: int
    ended: str


Event = Started | Advanced | Measured | Noted | Finished

#: Called with every event; raising KeyboardInterrupt ends the run as Ctrl-C does, with what was done.
Watcher = Callable[[Event], None]

log = logging.getLogger("tacit")


def log_event(event: Event) -> None:
    """Log an event: measurements and progress as debug, the rest as info."""
    log.log(logging.DEBUG if isinstance(event, Advanced | Measured) else logging.INFO, "%s", event)


def show_urgent(event: Event) -> None:
    """Log what was guessed before learning as a warning, so that people see it."""
    if isinstance(event, Noted) and event.urgent:
        log.warning("%s", event.text)


def show_progress() -> bool:
    """Return whether a terminal or a notebook shows stderr. TACIT_PROGRESS=0 says that none does."""
    watched = "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())
    return watched and os.environ.get("TACIT_PROGRESS") != "0"


#: Seconds between two states of the line, before the first too: short runs show none.
_BETWEEN = 0.5


class ProgressLine:
    """Shows on one line of stderr how far a run is.

    Examples
    --------
    >>> from tacit.engine.events import ProgressLine, Started
    >>> with ProgressLine() as line:
    ...     line(Started("chicken", "npg", seed=0, episodes=10))
    """

    def __enter__(self) -> ProgressLine:
        self._began = self._last = time.monotonic()
        self._name, self._rest, self._width, self._first = "", "", 0, 0
        return self

    def __exit__(self, *error: object) -> None:
        self._write("")

    def __call__(self, event: Event) -> None:
        """Show an event."""
        match event:
            case Started():
                self._name, self._first = f"{event.game} | {event.learner}", event.done
                self._began = time.monotonic()
            case Measured(row):
                gap = row.get("gap", float("nan"))
                self._rest = f"reward {row['reward']:.4g}" + (f", gap {gap:.3g}" if gap == gap else "")
            case Advanced(done, total) if time.monotonic() - self._last >= _BETWEEN and done > self._first:
                self._last = time.monotonic()
                share = "" if total >= check.EPISODES else f" {100 * done / total:3.0f} %"
                left = (self._last - self._began) * (total - done) / (done - self._first)
                time_left = "" if total >= check.EPISODES else f"{left:.0f} s left"
                facts = filter(None, [f"{done:,} episodes", self._rest, time_left])
                self._write(f"{self._name}{share}  {', '.join(facts)}")
            case Noted(text, urgent):
                self._write("" if urgent else text)  # others write what is urgent
            case Finished(done):
                self._write(f"{self._name}  {done:,} episodes, measuring")

    def _write(self, text: str) -> None:
        """Write over the line."""
        if text or self._width:
            sys.stderr.write(f"\r{text[:110]:<{self._width}}" + ("" if text else "\r"))
            sys.stderr.flush()
            self._width = min(len(text), 110)


def to_all(*watchers: Watcher | None) -> Watcher:
    """Return one watcher that hands every event to all of these that are there."""
    callables = [watcher for watcher in watchers if watcher is not None]
    for watcher in callables:
        if not callable(watcher):
            raise TacitError(f"progress must be a function of an event; got {brief(watcher)}")

    def watch(event: Event) -> None:
        for watcher in callables:
            watcher(event)

    return watch
