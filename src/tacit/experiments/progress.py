"""How far an experiment is: the events of all its runs, summed up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tacit.engine import Advanced, Event, Finished, Noted
from tacit.experiments.plan import RunSpec


@dataclass(frozen=True)
class Progress:
    """Runs and episodes, done and in all; None where a gap or the clock ends runs."""

    done: int
    runs: int
    episodes: int
    total: int | None


class ProgressWatch:
    """Sums up the events of all runs."""

    def __init__(
        self,
        runs: Sequence[RunSpec],
        stored: Collection[str],
        progress: Callable[[Progress], None] | None,
        note: Callable[[str], None] | None,
    ) -> None:
        self.specs: Sequence[RunSpec] = runs
        self._runs, self._progress, self._note = runs, progress, note
        self._episodes = {spec.hash: spec.episodes if spec.hash in stored and not spec.open else 0 for spec in runs}
        self._done = set(stored)
        self._total = None if any(spec.open for spec in runs) else sum(spec.episodes for spec in runs)

    def __call__(self, index: int, event: Event) -> None:
        """Take in an event of the run with this index among `specs`."""
        key = self.specs[index].hash
        if isinstance(event, Advanced):
            self._episodes[key] = event.done
        elif isinstance(event, Finished) and event.ended != "interrupted":
            self._done.add(key)
            self._episodes[key] = event.done if self._total is None else self.specs[index].episodes
        elif isinstance(event, Noted) and self._note is not None:
            self._note(event.text)
        if self._progress is not None:
            episodes = sum(self._episodes.values())
            self._progress(Progress(len(self._done), len(self._runs), episodes, self._total))
