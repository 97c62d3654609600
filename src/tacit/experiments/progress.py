"""How far an experiment is: the events of all its runs, summed up, and when it will be done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tacit.core import check
from tacit.engine import Advanced, Event, Finished, Measured, Noted, Started
from tacit.engine.events import Compiling, Scouted
from tacit.options import Options


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
    """Sums up the events of runs, each by its number; of a run it knows the kind, by which rates are told, and options.

    A run that a checkpoint or a dead worker interrupted begins again; one that was read from disk just ends.
    """

    def __init__(
        self,
        runs: Sequence[tuple[str, Options]],
        progress: Callable[[Progress], None] | None,
        note: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._progress, self._note, self._clock = check.function("progress", progress), note, clock
        self._kinds, self._options = [kind for kind, _ in runs], [options for _, options in runs]
        self._lengths = [0 if one.open else one.most for one in self._options]  # of open ones nobody knows it
        self._total = None if any(one.open for one in self._options) else sum(self._lengths)
        self._episodes = [0] * len(runs)
        self._played = 0  # their sum
        self._done, self._failed = set[int](), set[int]()
        self._running: dict[int, _Run] = {}
        self._horizon: dict[int, int] = {}
        self._reward: dict[int, float] = {}
        self._waiting: Counter[str] = Counter()  # episodes of runs that have not begun, by kind
        for kind, length in zip(self._kinds, self._lengths, strict=True):
            self._waiting[kind] += length
        self._spent: dict[str, tuple[float, int]] = {}  # seconds and episodes of runs that are over, by kind

    def began(self, k: int, where: str) -> None:
        """Take note that a run has begun, or begun again."""
        self.end(k, None)
        self._running[k] = _Run(where)
        self._waiting[self._kinds[k]] -= self._lengths[k]
        self._show()

    def __call__(self, k: int, event: Event) -> None:
        """Take in an event of a run."""
        match event:
            case Started():
                if k not in self._running:  # nobody has said where
                    self.began(k, "")
                self._horizon[k] = event.horizon
                self._running[k].since, self._running[k].before = self._clock(), event.done
                self._count(k, event.done)
            case Measured(row):
                self._reward[k] = float(row["reward"])
            case Advanced(done):
                self._count(k, done)
            case Finished(ended=ended) if ended != "interrupted":
                self._complete(k)
            case Noted(text) | Scouted(text) | Compiling(text):
                self.note(text)
        self._show()

    def end(self, k: int, good: bool | None) -> None:
        """Take note that a run is done, has failed, or (None) has to begin again."""
        one, kind = self._running.pop(k, None), self._kinds[k]
        if one is not None and one.since is not None:
            seconds, episodes = self._spent.get(kind, (0.0, 0))
            self._spent[kind] = (seconds + self._clock() - one.since, episodes + self._episodes[k] - one.before)
        if good is None:
            if one is not None:
                self._waiting[kind] += self._lengths[k]
                self._count(k, 0)
        else:
            (self._done if good else self._failed).add(k)
            self._complete(k)  # of one that failed nothing is left to do
            if one is None:
                self._waiting[kind] -= self._lengths[k]
        self._show()

    def note(self, text: str) -> None:
        """Pass on what people should know."""
        if self._note is not None:
            self._note(text)

    def _complete(self, k: int) -> None:
        """Count all episodes of a run that is over; of an open one, those that were played."""
        if not self._options[k].open:
            self._count(k, self._lengths[k])

    def _count(self, k: int, episodes: int) -> None:
        self._played += episodes - self._episodes[k]
        self._episodes[k] = episodes

    def _show(self) -> None:
        if self._progress is None:
            return
        left, unknown = self._left()
        self._progress(
            Progress(
                done=len(self._done),
                runs=len(self._kinds),
                episodes=self._played,
                total=self._total,
                failed=len(self._failed),
                running=Counter(one.where.partition(":")[0] for one in self._running.values()),
                left=left,
                unknown=unknown,
                share=None if self._total is not None else self._share(),
                steps=sum(self._episodes[k] * horizon for k, horizon in self._horizon.items()),
                reward=sum(self._reward.values()) / len(self._reward) if self._reward else None,
            )
        )

    def _share(self) -> float:
        """Return how far all runs are together: each by its seconds or by its episodes, whichever is further."""
        found = float(len(self._done) + len(self._failed))
        for k, one in self._running.items():
            if one.since is not None:
                seconds = self._options[k].seconds
                passed = 0.0 if seconds is None else (self._clock() - one.since) / seconds
                found += min(1.0, max(passed, self._episodes[k] / self._options[k].most))
        return found / len(self._kinds)

    def _left(self) -> tuple[float | None, int]:
        """Return the seconds that are left, and the kinds of run of which nothing is known yet."""
        if self._total is None:
            return None, 0
        now = self._clock()
        spent = dict(self._spent)
        for k, one in self._running.items():
            if one.since is not None and self._episodes[k] > one.before:
                seconds, episodes = spent.get(self._kinds[k], (0.0, 0))
                spent[self._kinds[k]] = (seconds + now - one.since, episodes + self._episodes[k] - one.before)
        rates = {kind: seconds / episodes for kind, (seconds, episodes) in spent.items() if episodes > 0}
        ahead = Counter({kind: count for kind, count in self._waiting.items() if count > 0})
        longest = 0.0
        for k in self._running:
            remaining = self._lengths[k] - self._episodes[k]
            ahead[self._kinds[k]] += remaining
            longest = max(longest, remaining * rates.get(self._kinds[k], 0.0))
        unknown = sum(count > 0 and kind not in rates for kind, count in ahead.items())
        if not rates:
            return None, unknown
        work = sum(count * rates.get(kind, 0.0) for kind, count in ahead.items())
        return max(work / max(len(self._running), 1), longest), unknown
