"""Progress on stderr: a live line on a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

_EVERY_SECONDS = 5.0


@contextmanager
def progress_on_stderr(title: str, runs: int) -> Iterator[Callable[[int, int, int], None]]:
    """Show runs done, episodes a second and the time left."""
    if not sys.stderr.isatty():
        yield _plain(title, runs)
        return
    columns = (TextColumn(title), BarColumn(), TextColumn("{task.fields[told]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=None, told="compiling, once for each kind of learner")
        told = _Told(runs)

        def show(done: int, episodes: int, total: int) -> None:
            bar.update(task, completed=episodes, total=total, told=told(done, episodes))

        yield show


def _plain(title: str, runs: int) -> Callable[[int, int, int], None]:
    told, last = _Told(runs), time.perf_counter()

    def show(done: int, episodes: int, total: int) -> None:
        nonlocal last
        line = told(done, episodes)
        if time.perf_counter() - last >= _EVERY_SECONDS:
            last = time.perf_counter()
            print(f"{title}: {100 * episodes / total:.0f} %, {line}", file=sys.stderr)

    return show


class _Told:
    """What is told of the progress; the clock starts when learning does, after compilation."""

    def __init__(self, runs: int) -> None:
        self.runs = runs
        self.began: float | None = None

    def __call__(self, done: int, episodes: int) -> str:
        if self.began is None:
            self.began = time.perf_counter()
            return f"{done}/{self.runs} runs"
        rate = episodes / max(time.perf_counter() - self.began, 0.1)
        return f"{done}/{self.runs} runs, {rate:,.0f} episodes/s"
