"""How far an experiment is: the events of all its runs, summed up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tacit.engine import Advanced, Event, Finished, Measured, Noted, Started
from tacit.engine.events import Scouted
from tacit.experiments.plan import RunSpec


@dataclass(frozen=True)
class Progress:
    """Runs and episodes, done and in all."""

    done: int
    runs: int
    episodes: int
    total: int
    steps: int = 0  # of environments, so far
    reward: float | None = None  # of agent 0, in the last windows of the runs in progress, on average


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
        self._episodes = {spec.hash: spec.episodes if spec.hash in stored else 0 for spec in runs}
        self._done = set(stored)
        self._total = sum(spec.episodes for spec in runs)
        self._horizon: dict[str, int] = {}
        self._reward: dict[str, float] = {}

    def __call__(self, index: int, event: Event) -> None:
        """Take in an event of the run with this index among `specs`."""
        key = self.specs[index].hash
        if isinstance(event, Started):
            self._horizon[key] = event.horizon
        elif isinstance(event, Measured):
            self._reward[key] = float(event.row["reward"])
        elif isinstance(event, Advanced):
            self._episodes[key] = event.done
        elif isinstance(event, Finished) and event.ended != "interrupted":
            self._done.add(key)
            self._episodes[key] = self.specs[index].episodes
        elif isinstance(event, Noted | Scouted) and self._note is not None:
            self._note(event.text)
        if self._progress is not None:
            episodes = sum(self._episodes.values())
            steps = sum(self._episodes[key] * horizon for key, horizon in self._horizon.items())
            reward = sum(self._reward.values()) / len(self._reward) if self._reward else None
            self._progress(Progress(len(self._done), len(self._runs), episodes, self._total, steps, reward))
