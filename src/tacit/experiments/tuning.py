"""Better parameters for a learner on one game, by successive halving on the certificate. [Jamieson, Talwalkar 2016]

27 settings, spread evenly over the ranges that the learner declares (`Learner.tunable`), have a ninth of the budget
each; the best third of them have a third, and the best third of those the whole. The best of many is partly the
luckiest, so what it had on the way counts no more: in the end it meets the learner's defaults on seeds that neither has
seen, and it wins only if the 95 % bootstrap interval of the mean difference says so.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.display import Table, interval
from tacit.core.errors import TacitError
from tacit.experiments.comparison import Bench, Budget, Entry, Trial, seed_list
from tacit.experiments.dispatch import Batch, Failure
from tacit.experiments.progress import Progress
from tacit.experiments.results import Summary, summarize
from tacit.experiments.spec import Experiment, GameSpec, LearnerSpec
from tacit.games.tabular import TabularGame
from tacit.learners import REGISTRY
from tacit.learners.spec import Range

#: Seconds for all runs together where nothing else is asked for.
SECONDS = 120.0

#: Settings at first, the share of them that goes on, and seeds of each on the way.
SETTINGS, THIRD, SEEDS_ON_THE_WAY = 27, 3, 2
_ROUNDS = round(math.log(SETTINGS, THIRD))

Setting = Mapping[str, Any]


@dataclass(frozen=True)
class TunedSetting:
    """A setting, how far it came (1 is the whole budget), and the mean of its gaps there; infinite where it failed."""

    params: Setting
    share: float
    gap: float


@dataclass(frozen=True, eq=False)
class Tuned:
    """What tuning found.

    Attributes
    ----------
    game : TabularGame
    learner : str
    params : mapping
        What to use: the best setting if it beats the defaults, otherwise none.
    found : mapping
        The best setting.
    beats_default : bool
        Whether it does on fresh seeds, by the interval of `gain`.
    gain : Summary or None
        By how much its gap is smaller than that of the defaults, over fresh seeds; None if Ctrl-C came first.
    gap, default_gap : Summary or None
        Gaps on fresh seeds.
    tried : tuple of TunedSetting
        All settings, those that came furthest first.
    budget : Budget
        Of a whole run.
    seeds : sequence of int
        The fresh seeds.
    interrupted : bool

    Examples
    --------
    >>> import tacit
    >>> found = tacit.tune(tacit.make("stag-hunt"), "npg", episodes=10, seeds=2)
    >>> found.learner
    'npg'
    """

    game: TabularGame
    learner: str
    found: Setting
    gain: Summary | None
    gap: Summary | None
    default_gap: Summary | None
    tried: tuple[TunedSetting, ...]
    budget: Budget
    seeds: Sequence[int]
    interrupted: bool = False

    @property
    def beats_default(self) -> bool:
        """Whether the best setting beats the defaults beyond luck."""
        return self.gain is not None and self.gain.ci95[0] > 0

    @property
    def params(self) -> Setting:
        """What to use."""
        return self.found if self.beats_default else {}

    def experiment(
        self, game: str, params: Mapping[str, Any] | None = None, *, scripts: Sequence[str] = ()
    ) -> Experiment:
        """Return the experiment that runs the learner so, on a game by its name and parameters."""
        label = f"{self.learner}, {'tuned' if self.beats_default else 'default'}"
        return Experiment(
            name=f"{self.learner} tuned",
            episodes=self.budget.episodes,
            seconds=self.budget.seconds,
            games=(GameSpec(game, params or {}),),
            learners=(LearnerSpec(self.learner, self.params, label),),
            seeds=len(self.seeds),
            first_seed=self.seeds[0],
            scripts=tuple(str(Path(script).resolve()) for script in scripts),
        )

    def save(
        self, path: str | os.PathLike[str], game: str, params: Mapping[str, Any] | None = None, **more: Any
    ) -> None:
        """Write that experiment as a TOML file, which `tacit run` takes."""
        self.experiment(game, params, **more).save(path)

    def document(self) -> dict[str, Any]:
        """Return what `tacit tune --json` prints."""
        return {
            "learner": self.learner,
            "params": dict(self.params),
            "found": dict(self.found),
            "beats_default": self.beats_default,
            "gap": None if self.gap is None else self.gap.data(),
            "default_gap": None if self.default_gap is None else self.default_gap.data(),
            "gain": None if self.gain is None else self.gain.data(),
            "each_run": {"episodes": self.budget.episodes, "seconds": self.budget.seconds},
            "seed_list": list(self.seeds),
            "tried": [{"params": dict(one.params), "share": one.share, "gap": one.gap} for one in self.tried],
            "interrupted": self.interrupted,
        }

    def __repr__(self) -> str:
        lines = [f"{self.learner} on {self.game!r}: {len(self.tried)} settings, {self.budget} a whole run"]
        shown = [one for one in self.tried if one.share == self.tried[0].share][:5]
        rows = [(words(one.params), f"{one.gap:.4g}") for one in shown]
        lines.append(str(Table("", ("the best of them", "gap on the way"), rows)))
        if self.gain is None or self.gap is None or self.default_gap is None:
            lines.append("interrupted before the best was compared with the defaults on fresh seeds")
            return "\n".join(lines)
        lines.append(
            f"on {self.gain.count} fresh seeds: gap {self.gap.mean:.4g}, with the defaults "
            f"{self.default_gap.mean:.4g}, so smaller by {interval(self.gain.mean, *self.gain.ci95)} (95 % interval)"
        )
        lines.append(
            f"use {words(self.found)}"
            if self.beats_default
            else "that does not beat the defaults beyond luck: keep them"
        )
        if self.budget.episodes is None:
            lines.append("stopped by the clock: on another machine the numbers differ")
        return "\n".join(lines)


def tune(
    game: Any,
    learner: str,
    *,
    seconds: float | None = None,
    episodes: int | None = None,
    seeds: int = 5,
    seed: int = 0,
    certify: bool | None = None,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Tuned:
    """Look for better parameters of a learner on one game, and compare the best with the defaults on fresh seeds.

    Parameters
    ----------
    game : TabularGame
    learner : str
        A name from `tacit learners`; what is tuned are the parameters for which it declares a range.
    seconds : float, optional
        Time for all runs together, compilation left out; 120 if neither this nor `episodes` is given. What is found in
        it depends on the machine.
    episodes : int, optional
        Episodes of a whole run, instead. All runs together have 18 + 2·seeds times as many.
    seeds, seed : int
        Fresh seeds for the comparison with the defaults, at least 2, and the first of them.
    certify, workers, progress
        As for `tacit.compare`.

    Returns
    -------
    Tuned

    Examples
    --------
    >>> import tacit
    >>> found = tacit.tune(tacit.make("chicken"), "npg", episodes=20, seeds=2)
    >>> sorted(found.found), len(found.tried)
    (['eta'], 27)
    """
    if check.integer("seeds", seeds) == 1:
        raise TacitError("seeds is 1; the comparison with the defaults needs at least 2")
    fresh = seed_list(seeds, seed)
    bench = Bench(game, episodes, seconds, default=SECONDS, certify=certify, workers=workers, progress=progress)
    spread = settings(learner, SETTINGS, seed)
    each = bench.share(_ROUNDS * SEEDS_ON_THE_WAY * THIRD + 2 * seeds)  # whole ones, since every round costs the same
    tried: dict[int, TunedSetting] = {}
    error: Failure | None = None
    left, interrupted = list(range(len(spread))), False
    for round_ in range(_ROUNDS):
        share = float(THIRD) ** (round_ + 1 - _ROUNDS)
        numbers = seed_list(SEEDS_ON_THE_WAY, fresh[-1] + 1 + SEEDS_ON_THE_WAY * round_)
        trials = [Trial(str(k), learner, spread[k], number) for k in left for number in numbers]
        batch = bench.run(trials, each.part(share))
        error, interrupted = next(iter(batch.failures.values()), error), batch.interrupted
        tried |= {k: TunedSetting(spread[k], share, gap) for k, gap in _means(left, batch).items()}
        if interrupted:
            break
        left = sorted(left, key=lambda k: (tried[k].gap, k))[: max(1, len(left) // THIRD)]
    order = sorted(tried, key=lambda k: (-tried[k].share, tried[k].gap, k))
    if not order:
        raise KeyboardInterrupt
    best = tried[order[0]]
    if math.isinf(best.gap) and error is not None:
        raise TacitError(error.sentence)
    done = partial(
        Tuned, bench.game, learner, best.params, tried=tuple(tried[k] for k in order), budget=each, seeds=fresh
    )
    if not interrupted:
        both: dict[str, Setting] = {"best": best.params, "old": {}}
        batch = bench.run([Trial(which, learner, params, k) for k in fresh for which, params in both.items()], each)
    if interrupted or batch.interrupted:
        return done(None, None, None, interrupted=True)
    for failure in batch.failures.values():
        raise TacitError(failure.sentence)
    gaps = [one.gap for one in batch.done.values()]
    new, old = np.array(gaps[::2]), np.array(gaps[1::2])
    return done(summarize(old - new), summarize(new), summarize(old))


def settings(learner: str, count: int, seed: int) -> list[Setting]:
    """Return settings of a learner that are spread evenly over its ranges (a Latin hypercube), the same for a seed.

    >>> len(settings("npg", 5, 0)), settings("npg", 5, 0) == settings("npg", 5, 0)
    (5, True)
    """
    known = REGISTRY.parameters(learner)
    ranges: dict[str, Range] = {key: one for key, one in REGISTRY.make(learner).tunable.items() if key in known}
    if not ranges:
        raise TacitError(f"{learner} declares no parameters to tune (tunable); see `tacit learners`")
    rng = np.random.default_rng(seed)
    places = {key: (rng.permutation(count) + rng.random(count)) / count for key in ranges}
    found = [{key: ranges[key].at(float(places[key][k])) for key in ranges} for k in range(count)]
    return [one for k, one in enumerate(found) if one not in found[:k]]


def words(params: Setting) -> str:
    """Return parameters as `--set` takes them."""
    return " ".join(f"{key}={value}" for key, value in params.items())


def _means(which: Sequence[int], batch: Batch[Entry]) -> dict[int, float]:
    """Return the mean gaps of the settings of which all seeds have ended; infinite where one failed."""
    gaps = dict.fromkeys(batch.failures, math.inf)
    gaps |= {job: one.gap for job, one in batch.done.items() if one.ended != "interrupted"}
    found = {}
    for place, k in enumerate(which):
        own = [gaps[job] for job in range(SEEDS_ON_THE_WAY * place, SEEDS_ON_THE_WAY * (place + 1)) if job in gaps]
        if len(own) == SEEDS_ON_THE_WAY:
            found[k] = statistics.fmean(own)
    return found
