"""Progress on stderr: a live line on a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from tacit.cli import options
from tacit.core.display import printable

if TYPE_CHECKING:
    from tacit.experiments import Progress as RunProgress

_EVERY_SECONDS = 5.0
_TITLE = 80  # characters
_RATE_SECONDS = 10.0  # the rate is that of the last seconds
_PLACES = 6  # machines that are named


class Shown:
    """Call it with a `Progress`; `say` prints a line beside it, each text once."""

    def __init__(self, show: Callable[[str, float, int], None], say: Callable[[str], None]) -> None:
        self._show, self._say = show, say
        self._said: set[str] = set()
        self._seen: deque[tuple[float, int, int]] = deque()

    def say(self, text: str) -> None:
        """Print a line beside the progress."""
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    def __call__(self, at: RunProgress) -> None:
        """Show runs done, failed and running, episodes a second and the time left."""
        now = time.perf_counter()
        self._seen.append((now, at.episodes, at.steps))
        while now - self._seen[0][0] > _RATE_SECONDS and len(self._seen) > 2:
            self._seen.popleft()
        text = f"{at.done}/{at.runs} runs"
        text += f", {at.failed} failed" if at.failed else ""
        text += _running(at.running)
        text += f", {at.episodes:,} episodes" if at.total is None else ""
        if at.total is not None and at.episodes >= at.total:
            text += ", storing results" if at.done + at.failed < at.runs else ""
        else:
            seconds, played = now - self._seen[0][0], at.episodes - self._seen[0][1]
            if seconds > 0 and played > 0:
                steps = (at.steps - self._seen[0][2]) / seconds
                text += f", {played / seconds:,.0f} episodes/s"
                text += f" ({steps:,.0f} steps/s)" if steps > 0 else ""  # not everything that is watched counts steps
            if at.left is not None:
                text += f", {'at least ' if at.unknown else ''}{_clock(at.left)} left"
        if at.reward is not None and at.done + at.failed < at.runs:
            text += f", reward {at.reward:.4g}"
        if at.total is None:
            self._show(text, at.done / at.runs if at.share is None else at.share, 1)
        else:
            self._show(text, at.episodes, at.total)


def _running(running: Mapping[str, int]) -> str:
    """Say how many runs take place, and where if there are several machines.

    >>> _running({"node1": 2, "node2": 1}), _running({"node1": 2})
    (', 3 running (node1: 2, node2: 1)', ', 2 running')
    """
    if not running:
        return ""
    places = [f"{where}: {count}" for where, count in sorted(running.items())]
    more = f", and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
    named = f" ({', '.join(places[:_PLACES])}{more})" if len(places) > 1 else ""
    return f", {sum(running.values())} running{named}"


@contextmanager
def _line(title: str, told: str = "") -> Iterator[tuple[Callable[[str, float, int], None], Callable[[str], None]]]:
    """Give two functions: one shows what is told, how much is done and of how much; the other prints a line beside it.

    On a terminal what is shown is a live line, which begins with `told`; elsewhere a plain line now and then.
    """
    name = printable(title, _TITLE)
    if not sys.stderr.isatty():
        yield _plain(name), options.tell
        return
    columns = [TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[told]}")]
    console = Console(file=sys.stderr, highlight=False)
    with Progress(columns[0], BarColumn(), columns[1], console=console, transient=True) as bar:
        task = bar.add_task(name, total=None, told=told)

        def show(told: str, done: float, total: int) -> None:
            bar.update(task, completed=done, total=total, told=told)

        def say(line: str) -> None:
            bar.console.print("tacit:", Text(printable(line)), soft_wrap=True)

        yield show, say


@contextmanager
def progress_on_stderr(title: str) -> Iterator[Shown]:
    """Show how far runs are."""
    with _line(title, "compiling, once for each kind of learner") as functions:
        yield Shown(*functions)


@contextmanager
def steps_on_stderr(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show what is being done, how many are done, and of how many."""
    with _line(title) as (show, _):
        yield lambda what, done, total: show(printable(what, 200), done, total)


@contextmanager
def count_on_stderr(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how many of some things are done, and about how long the rest will take."""
    begun = time.perf_counter()

    def left(done: int) -> str:
        text = f"{done}/{total} runs"
        seconds = time.perf_counter() - begun
        return f"{text}, {_clock(seconds / done * (total - done))} left" if 0 < done < total else text

    with steps_on_stderr(title) as show:
        yield lambda done: show(left(done), done, max(total, 1))


def _plain(title: str) -> Callable[[str, float, int], None]:
    last = time.perf_counter()

    def show(told: str, done: float, total: int) -> None:
        nonlocal last
        if time.perf_counter() - last >= _EVERY_SECONDS:
            last = time.perf_counter()
            print(f"{title}: {100 * done / total:.0f} %, {told}", file=sys.stderr, flush=True)

    return show


def _clock(seconds: float) -> str:
    """Return a time as people say it.

    >>> _clock(59), _clock(61), _clock(7322)
    ('59 s', '1 min 01 s', '2 h 02 min')
    """
    s = round(seconds)
    if s < 60:
        return f"{s} s"
    return f"{s // 60} min {s % 60:02d} s" if s < 3600 else f"{s // 3600} h {s % 3600 // 60:02d} min"
