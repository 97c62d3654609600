"""How far an experiment is: the events of all its runs, summed up, and when it will be done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from tacit.core import check
from tacit.engine import Advanced, Event, Finished, Measured, Noted, Started
from tacit.engine.events import Compiling, Scouted
from tacit.experiments.spec import RunSpec


@dataclass(frozen=True)
class Progress:
    """Runs and episodes, done and in all.

    Attributes
    ----------
    done, runs : int
        Runs that are over, and all.
    episodes : int
        Episodes played in all runs.
    total : int or None
        Episodes of all runs; none where a gap or the clock ends some of them.
    failed : int
        Runs that failed.
    running : mapping
        How many runs take place where: by machine, or by what else the place says of its workers.
    left : float or None
        Seconds until all is done, from the rates of each game with each learner; none before anything is known.
    unknown : int
        Pairs of a game and a learner whose rate is not known yet: with any, `left` is the least that it will take.
    share : float or None
        Of the time or the episodes of all runs, where `total` is not known.
    steps : int
        Environment steps played so far.
    reward : float or None
        The last reward that was measured.

    Examples
    --------
    >>> from tacit.experiments import Progress
    >>> Progress(done=1, runs=4, episodes=100, total=400).failed
    0
    """

    done: int
    runs: int
    episodes: int
    total: int | None
    failed: int = 0
    running: Mapping[str, int] = field(default_factory=dict)
    left: float | None = None
    unknown: int = 0
    share: float | None = None
    steps: int = 0  # played so far
    reward: float | None = None  # of agent 0, in the last windows of the runs in progress, on average


@dataclass
class _Run:
    """A run that takes place just now."""

    where: str
    since: float | None = None  # it has played
    before: int = 0  # episodes that it began with


class ProgressWatch:
    """Sums up the events of all runs."""

    def __init__(
        self,
        runs: Sequence[RunSpec],
        stored: Collection[str],
        progress: Callable[[Progress], None] | None,
        note: Callable[[str], None] | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.specs: Sequence[RunSpec] = runs
        self._runs, self._progress = runs, check.function("progress", progress)
        self._note, self._clock = note, clock
        self._lengths = {spec.hash: 0 if spec.open else spec.episodes for spec in runs}  # of open ones nobody knows it
        self._episodes = {spec.hash: self._lengths[spec.hash] if spec.hash in stored else 0 for spec in runs}
        self._done, self._failed = set(stored), set[str]()
        self._open = {spec.hash for spec in runs if spec.open}
        self._total = None if self._open else sum(spec.episodes for spec in runs)
        self._played = sum(self._episodes.values())
        self._running: dict[str, _Run] = {}
        self._horizon: dict[str, int] = {}
        self._reward: dict[str, float] = {}
        self._kinds = {spec.hash: kind(spec) for spec in runs}
        self._waiting: Counter[str] = Counter()  # episodes of runs that have not begun, by kind
        for key, length in self._lengths.items():
            self._waiting[self._kinds[key]] += length - self._episodes[key]
        self._spent: dict[str, tuple[float, int]] = {}  # seconds and episodes of runs that are over, by kind

    def began(self, index: int, where: str) -> None:
        """Take note that a run has begun, or begun again."""
        spec = self.specs[index]
        self.end(index, None)
        self._running[spec.hash] = _Run(where)
        self._waiting[self._kinds[spec.hash]] -= self._lengths[spec.hash]
        self._show()

    def __call__(self, index: int, event: Event) -> None:
        """Take in an event of the run with this index among `specs`."""
        key = self.specs[index].hash
        one = self._running.get(key)
        match event:
            case Started():
                self._horizon[key] = event.horizon
                if one is not None:
                    one.since, one.before = self._clock(), event.done
                    self._count(key, event.done)
            case Measured(row):
                self._reward[key] = float(row["reward"])
            case Advanced(done):
                self._count(key, done)
            case Finished(ended=ended) if ended != "interrupted":
                self._complete(key)
            case Noted(text) | Scouted(text) | Compiling(text) if self._note is not None:
                self._note(text)
        self._show()

    def end(self, index: int, good: bool | None) -> None:
        """Take note that a run is done, has failed, or (None) has to begin again."""
        spec = self.specs[index]
        one, its = self._running.pop(spec.hash, None), self._kinds[spec.hash]
        if one is not None and one.since is not None:
            seconds, episodes = self._spent.get(its, (0.0, 0))
            played = self._episodes[spec.hash] - one.before
            self._spent[its] = (seconds + self._clock() - one.since, episodes + played)
        if good:
            self._done.add(spec.hash)
            self._complete(spec.hash)
        elif good is False:
            self._failed.add(spec.hash)
            self._complete(spec.hash)  # nothing of it is left to do
        elif one is not None:
            self._waiting[its] += self._lengths[spec.hash]
            self._count(spec.hash, 0)
        if one is None and good is not None:
            self._waiting[its] -= self._lengths[spec.hash]
        self._show()

    def note(self, text: str) -> None:
        """Pass on what people should know."""
        if self._note is not None:
            self._note(text)

    def _complete(self, key: str) -> None:
        """Count all episodes of a run that is over; of an open one, those that were played."""
        if key not in self._open:
            self._count(key, self._lengths[key])

    def _count(self, key: str, episodes: int) -> None:
        self._played += episodes - self._episodes[key]
        self._episodes[key] = episodes

    def _show(self) -> None:
        if self._progress is None:
            return
        left, unknown = self._left()
        where = Counter(one.where.partition(":")[0] for one in self._running.values())
        done, runs = len(self._done), len(self._runs)
        steps = sum(self._episodes[key] * horizon for key, horizon in self._horizon.items())
        reward = sum(self._reward.values()) / len(self._reward) if self._reward else None
        failed, played = len(self._failed), self._played
        share = None if self._total is not None else self._share()
        self._progress(Progress(done, runs, played, self._total, failed, where, left, unknown, share, steps, reward))

    def _share(self) -> float:
        """Return how far all runs are together: each by its seconds or by its episodes, whichever is further."""
        now, found = self._clock(), 0.0
        for spec in self._runs:
            one = self._running.get(spec.hash)
            if spec.hash in self._done or spec.hash in self._failed:
                found += 1.0
            elif one is not None and one.since is not None:
                passed = (now - one.since) / spec.seconds if spec.seconds is not None else 0.0
                found += min(1.0, max(passed, self._episodes[spec.hash] / spec.episodes))
        return found / len(self._runs)

    def _left(self) -> tuple[float | None, int]:
        """Return the seconds that are left, and the kinds of run of which nothing is known yet."""
        if self._open:
            return None, 0
        now = self._clock()
        spent = dict(self._spent)
        for key, one in self._running.items():
            if one.since is not None and self._episodes[key] > one.before:
                seconds, episodes = spent.get(self._kinds[key], (0.0, 0))
                spent[self._kinds[key]] = (seconds + now - one.since, episodes + self._episodes[key] - one.before)
        rates = {its: seconds / episodes for its, (seconds, episodes) in spent.items() if episodes > 0}
        ahead = Counter({its: count for its, count in self._waiting.items() if count > 0})
        longest = 0.0
        for key in self._running:
            remaining = self._lengths[key] - self._episodes[key]
            ahead[self._kinds[key]] += remaining
            longest = max(longest, remaining * rates.get(self._kinds[key], 0.0))
        unknown = sum(count > 0 and its not in rates for its, count in ahead.items())
        if not rates:
            return None, unknown
        work = sum(count * rates.get(its, 0.0) for its, count in ahead.items())
        return max(work / max(len(self._running), 1), longest), unknown


def kind(spec: RunSpec) -> str:
    """Name a game with a learner: what runs that differ in their seeds have in common."""
    return f"{spec.tables} {spec.game} {spec.learner} {spec.episodes}"
