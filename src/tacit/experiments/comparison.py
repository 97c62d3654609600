"""Which learner? An experiment with one game and one budget, and its results ranked by exact or certified gaps.

In an environment learners are ranked by the return of the returned policy, with what trained responses gain.
"""

from __future__ import annotations

import contextlib
import math
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.display import Document, Table, count, drop_noise
from tacit.core.errors import TacitError, brief
from tacit.engine.events import log
from tacit.environments.adapters import environment, is_environment, name_of
from tacit.environments.measuring import evaluate_by_play, exploit, with_interval
from tacit.environments.pettingzoo import NamedEnvironment
from tacit.evaluation import uniform_gap
from tacit.evaluation.solve import welfare_range
from tacit.experiments.results import Group, Outcome, Results
from tacit.experiments.runner import Progress, run_experiment
from tacit.experiments.spec import Experiment, GameSpec, LearnerSpec, make_game
from tacit.games.gymnasium import read_table
from tacit.games.protocol import is_game
from tacit.games.tabular import TabularGame, as_tables
from tacit.learners import PPO, REGISTRY, resolve
from tacit.learning import run_learner
from tacit.options import Options

#: The target gap, as a share of the uniform policy's.
TARGET = 0.1

#: Seconds for all runs together where no budget is given.
SECONDS = 60.0

COLUMNS = (
    *("", "learner", "gap", "worst", "of uniform", "kind", "policy", "welfare", "of best"),
    *("episodes", "seconds", "to 10 %", "learns from"),
)


class Ranking:
    """What is shown as a table: as text, and in notebooks."""

    def table(self) -> Document:
        """Return the ranking for people."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self.table())


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Ranking):
    """The results of several learners on one game, ranked by mean gap.

    Attributes
    ----------
    game : TabularGame
    results : Results
    uniform_gap : float
        The gap of the uniform policy.
    welfare_range : (float, float) or None
        The least and the largest sum of all agents' values, where quickly computed.

    Examples
    --------
    >>> import tacit
    >>> comparison = tacit.compare(tacit.make("stag-hunt"), ["npg", "pg-exact"], episodes=20, seeds=1)
    >>> [row["gap"]["kind"] for row in comparison.rows]
    ['nash', 'nash']
    """

    game: TabularGame
    results: Results
    uniform_gap: float
    welfare_range: tuple[float, float] | None

    @cached_property
    def groups(self) -> list[Group]:
        """The runs of each learner, the smallest mean gap first."""
        proven = [group for group in self.results.groups if all(map(_is_proven, group.outcomes))]
        return sorted(proven, key=lambda group: (statistics.fmean(map(gap_of, group.outcomes)), group.learner))

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it early."""
        return self.results.interrupted

    @property
    def best(self) -> Group:
        """The runs of the learner with the smallest mean gap."""
        return self.groups[0]

    @property
    def left_out(self) -> dict[str, str]:
        """Learners that do not fit the game or failed, and why."""
        unproven = [group.learner for group in self.results.groups if group not in self.groups]
        failed = {one.spec.label: one.sentence for one in self.results.failures}
        return {**dict.fromkeys(unproven, "it has no exact or certified gap"), **failed}

    def welfare_share(self, welfare: float) -> float | None:
        """Return where a welfare lies between the least (0) and the largest (1); None where all are equal."""
        least, most = self.welfare_range or (0.0, 0.0)
        return (welfare - least) / (most - least) if most - least > 1e-9 * max(abs(least), abs(most)) else None

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """What is known of each learner, as plain values, the best first."""
        return [self._row(rank, group) for rank, group in enumerate(self.groups, start=1)]

    def _row(self, rank: int, group: Group) -> dict[str, Any]:
        runs = group.outcomes
        gaps = [gap_of(one) for one in runs]
        times = [hitting_time(one, TARGET * self.uniform_gap) for one in runs]
        median = statistics.median(math.inf if one is None else one for one in times)
        values = np.mean([one.value or [math.nan] * one.agents for one in runs], axis=0)
        kind, source = group.gap_kind()
        sizes = {"mean": statistics.fmean(gaps), "max": max(gaps), "per_seed": gaps}
        return {
            "rank": rank,
            "learner": group.learner,
            "gap": {"kind": kind, "source": source, **sizes},
            "candidate": "/".join(sorted({one.chosen for one in runs})),
            "value": values.tolist(),
            "welfare": float(values.sum()),
            "welfare_share": self.welfare_share(float(values.sum())),
            "seconds": statistics.fmean(one.seconds for one in runs),
            "episodes": statistics.fmean(one.episodes for one in runs),
            "episodes_done": [one.episodes for one in runs],
            "episodes_to_10_percent": None if math.isinf(median) else median,
            "seed_list": [one.spec.seed for one in runs],
            "ended": [one.ended for one in runs],
            "learns_from": learns_from(runs[0].spec.learner, self.game),
            "params": dict(runs[0].params),
        }

    def document(self) -> dict[str, Any]:
        """Return what `tacit compare --json` prints."""
        spec = self.best.outcomes[0].spec
        return {
            "horizon": self.game.horizon,
            "agents": self.game.agents,
            "seeds": max(len(group.outcomes) for group in self.groups),
            "each_run": {"episodes": None if spec.open else spec.episodes, "seconds": spec.seconds},
            "uniform_gap": self.uniform_gap,
            "welfare_range": self.welfare_range,
            "rows": self.rows,
            "left_out": self.left_out,
            "interrupted": self.results.interrupted,
        }

    @property
    def budget(self) -> str:
        """The budget of each run, in words."""
        spec = self.best.outcomes[0].spec
        return f"{spec.seconds:.3g} s a run" if spec.open else f"{spec.episodes:,} episodes a run"

    def table(self) -> Document:
        """Return the ranking for people."""
        seeds = count(max(len(group.outcomes) for group in self.groups), "seed")
        title = f"{self.game!r}: {self.budget}, {seeds}; gap of the uniform policy {self.uniform_gap:.4g}"
        lines: list[str | Table] = [Table("", COLUMNS, [self._cells(row) for row in self.rows], head=2)]
        if self.best.outcomes[0].spec.open:
            lines.append("stopped by the clock: on another machine the numbers differ")
        lines += [f"left out: {name}: {why}" for name, why in self.left_out.items()]
        if self.results.interrupted:
            lines.append("interrupted: these are the runs that had begun")
        return Document(title, lines, self.document)

    def _cells(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        scale = max(self.uniform_gap, *map(abs, row["value"]))
        gap, worst, welfare = drop_noise([row["gap"]["mean"], row["gap"]["max"], row["welfare"]], scale)
        of_uniform = f"{100 * gap / self.uniform_gap:.3g} %" if self.uniform_gap > 0 else "—"
        of_best = "—" if row["welfare_share"] is None else f"{100 * row['welfare_share']:.3g} %"
        time = row["episodes_to_10_percent"]
        hitting = f"> {min(row['episodes_done']):,}" if time is None else f"{time:,.0f}"
        numbers = (f"{gap:.4g}", f"{worst:.4g}", of_uniform, row["gap"]["kind"], row["candidate"])
        size = (f"{row['episodes']:,.0f}", f"{row['seconds']:.2f}", hitting, row["learns_from"])
        return (str(row["rank"]), row["learner"], *numbers, f"{welfare:.4g}", of_best, *size)


def gap_of(one: Outcome) -> float:
    """Return the largest gap of the returned policy over agents."""
    return math.nan if one.gap is None else max(one.gap.upper)


def _is_proven(one: Outcome) -> bool:
    return one.gap is not None and one.gap.source in ("exact", "certificate")


def hitting_time(one: Outcome, target: float) -> int | None:
    """Return the first measured episode at which the gap was at most the target; None if it never was."""
    reached = one.curve["episode"][one.curve["gap"] <= target]
    if len(reached):
        return int(reached[0])
    return one.episodes if gap_of(one) <= target else None


def learns_from(spec: LearnerSpec, game: TabularGame) -> str:
    """Return "own play", "joint play" (one learner for all agents) or "tables" (exact gradients)."""
    learner = resolve(spec.learner or spec.name, spec.params, game.name)[1]
    if "tables" in learner.info.needs:
        return "tables"
    return "joint play" if "all agents" in learner.info.needs else "own play"


def compare(
    game: Any,
    learners: Sequence[Any] | None = None,
    *,
    seconds: float | None = None,
    episodes: int | None = None,
    seeds: int = 3,
    seed: int = 0,
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison | PlayedComparison:
    """Rank learners that have the same budget: by their gaps, or by returns in an environment.

    Parameters
    ----------
    game : TabularGame
        Or a GameSpec, or an environment, in which learners are ranked by the return of their policies in fresh
        episodes, with what trained best responses gain. What that takes is said beforehand.
    learners : list, optional
        Names from `tacit learners`, learners, or `LearnerSpec` objects with parameters and labels. All registered ones
        if not given. Those that do not fit the game are left out, with the reason.
    seconds : float, optional
        Time for all runs together, shared evenly, compilation left out; 60 if neither this nor `episodes` is given.
        How far learners come in it depends on the machine.
    episodes : int, optional
        Episodes of each run, instead; in environments 1,000 if not given.
    seeds, seed : int
        How many runs each learner has, and the first seed.
    workers : int, optional
        Runs at once. One if not given and time is the budget, so that none slows another; otherwise the cores.
    out : path, optional
        Where runs are stored, and resumed from; the game must be a GameSpec.
    progress : callable, optional
        Called with a `tacit.experiments.Progress` now and then.

    Returns
    -------
    Comparison, or PlayedComparison of an environment
        Interrupted by Ctrl-C, with the runs that had begun.

    Examples
    --------
    >>> import tacit
    >>> comparison = tacit.compare(tacit.make("chicken"), ["npg", "pg-exact"], episodes=50, seeds=1)
    >>> len(comparison.rows), comparison.rows[0]["gap"]["mean"] < comparison.uniform_gap
    (2, True)
    """
    if episodes is not None and seconds is not None:
        raise TacitError("episodes and seconds are both given; give one of them")
    there = make_game(game) if isinstance(game, GameSpec) else game
    if isinstance(there, NamedEnvironment) or (is_environment(there) and read_table(there) is None):
        if seconds is not None or out is not None:
            raise TacitError("seconds and out are for games with tables; an environment is compared by episodes")
        specs = _learner_specs(learners, None)
        return compare_by_play(there, specs, episodes=episodes, seeds=seeds, seed=seed, progress=progress)
    tables = _tables(there)
    named = game if isinstance(game, GameSpec) else GameSpec(tables.name or type(tables).__name__, game=tables)
    specs = _learner_specs(learners, tables.name)
    if episodes is None:
        seconds = check.positive("seconds", SECONDS if seconds is None else seconds)
        workers = 1 if workers is None else check.integer("workers", workers)
        runs = check.integer("seeds", seeds) * len(specs)
        seconds *= min(workers, runs) / runs
    experiment = Experiment("comparison", episodes, [named], specs, seeds, seed, seconds=seconds, certify=True)
    results = run_experiment(experiment, out=out, on="threads", workers=workers, progress=progress)
    comparison = Comparison(tables, results, uniform_gap(tables), welfare_range(tables))
    if not comparison.groups:
        raise TacitError("; ".join(f"{label}: {why}" for label, why in comparison.left_out.items()))
    return comparison


def _tables(game: Any) -> TabularGame:
    """Return the tables of a game, in which gaps can be certified."""
    game = read_table(game) or game
    if not is_game(game) and not is_environment(game):
        raise TacitError(f"game must be a TabularGame, as from tacit.make or tacit.load; got {brief(game)}")
    tables = as_tables(game)
    if tables is None:
        raise TacitError(f"{brief(game)} has no tables, so there is no certified gap by which learners can be ranked")
    return tables


def _learner_specs(learners: Sequence[Any] | None, game: str | None) -> list[LearnerSpec]:
    """Return learners with their labels; unknown names and wrong parameters raise."""
    if learners is None:
        return [LearnerSpec(name) for name in REGISTRY if not isinstance(REGISTRY.make(name), PPO)]  # needs an extra
    specs: list[LearnerSpec] = []
    for learner in check.list_of("learners", learners, f"learners, as {', '.join(REGISTRY)}", least=1):
        spec = learner if isinstance(learner, LearnerSpec) else LearnerSpec(resolve(learner, {}, game)[0])
        if not isinstance(learner, LearnerSpec | str):
            spec = replace(spec, learner=learner)
        resolve(spec.learner or spec.name, spec.params, game)
        if spec in specs:
            raise TacitError(f"{spec.label or spec.name} is listed twice; leave one out, or give it another label")
        specs.append(spec)
    return specs


# in an environment ---------------------------------------------------------------------------------------------------

#: Episodes of each run where none are given.
EPISODES = 1_000

#: A returned policy is played in a fifth as many episodes as it was learned in, and so is each trained response.
SHARE, LEAST = 5, 20

PLAYED_COLUMNS = ("", "learner", "return", "least", "responses gain", "training", "seconds")


@dataclass(frozen=True, eq=False, repr=False)
class PlayedComparison(Ranking):
    """The results of several learners in one environment, ranked by mean return.

    Attributes
    ----------
    game, budget : str
        The environment, and what was played, in words.
    rows : list of dict
        What is known of each learner, the best first: the mean return over agents and seeds with an interval, the least
        of any seed, and what trained responses gain, the largest of all agents, as the mean over seeds.
    left_out : dict
        Learners that do not fit the environment or failed, and why.
    interrupted : bool
    """

    game: str
    budget: str
    rows: list[dict[str, Any]]
    left_out: dict[str, str]
    interrupted: bool = False

    def document(self) -> dict[str, Any]:
        """Return what `tacit compare --json` prints."""
        names = ("budget", "rows", "left_out", "interrupted")
        return {name: getattr(self, name) for name in names}

    def table(self) -> Document:
        """Return the ranking for people."""
        cells = [self._cells(rank, row) for rank, row in enumerate(self.rows, start=1)]
        lines: list[str | Table] = [Table("", PLAYED_COLUMNS, cells, head=2)]
        lines += [f"left out: {name}: {why}" for name, why in self.left_out.items()]
        lines += ["interrupted: these are the learners that were done"] * self.interrupted
        return Document(f"{self.game}: {self.budget}", lines, self.document)

    def _cells(self, rank: int, row: dict[str, Any]) -> tuple[str, ...]:
        value, least = with_interval(*row["return"]), f"{min(row['per_seed']):.4g}"
        training = "/".join(row["training"]) or "—"
        return str(rank), row["learner"], value, least, f"{row['gain']:.3g}", training, f"{row['seconds']:.2f}"


@contextlib.contextmanager
def _enter(game: Any) -> Iterator[Any]:
    """Give an environment: one that is named is made, and closed in the end."""
    if isinstance(game, NamedEnvironment):
        with game.enter() as env:
            yield env
    else:
        yield game


def compare_by_play(
    game: Any,
    specs: Sequence[LearnerSpec],
    *,
    episodes: int | None,
    seeds: int,
    seed: int,
    progress: Callable[[Progress], None] | None,
) -> PlayedComparison:
    """Let learners learn in an environment, and rank them by their returns in fresh episodes; see `tacit.compare`."""
    episodes = check.integer("episodes", EPISODES if episodes is None else episodes)
    seeds = check.integer("seeds", seeds)
    with _enter(game) as env:
        agents = len(environment(env).names)
        name = name_of(getattr(env, "env", env))
    plays = max(episodes // SHARE, LEAST)
    measuring = plays * (2 + 3 * agents)
    runs = len(specs) * seeds
    budget = f"{episodes:,} episodes a run, {count(seeds, 'seed')}; at most {measuring:,} more to measure each"
    total = f"{runs * (episodes + measuring):,} episodes in all"
    log.warning("%s: %s; %s, %s", name, budget, count(runs, "run"), total)
    rows: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    interrupted = False
    for k, spec in enumerate(specs):
        label = spec.label or spec.name
        try:
            with _enter(game) as env:
                rows.append(_measure(env, spec, label, range(seed, seed + seeds), episodes, plays))
        except TacitError as error:
            left_out[label] = str(error)
        except KeyboardInterrupt:
            interrupted = True
            break
        if progress is not None:
            done = (k + 1) * seeds
            progress(Progress(done, runs, done * episodes, runs * episodes, failed=len(left_out) * seeds))
    if not rows:
        raise TacitError("; ".join(f"{label}: {why}" for label, why in left_out.items()) or "interrupted")
    rows.sort(key=lambda row: -row["return"][0])
    return PlayedComparison(name, budget, rows, left_out, interrupted)


def _measure(env: Any, spec: LearnerSpec, label: str, seeds: range, episodes: int, plays: int) -> dict[str, Any]:
    """Return what is known of one learner: all are measured in the same episodes."""
    values, low, high, gains, training, seconds = [], [], [], [], set(), 0.0
    for seed in seeds:
        run = run_learner(env, spec.learner or spec.name, spec.params, Options(episodes, seed))
        run.raise_error()
        played = evaluate_by_play(env, run, episodes=plays, seed=seed)
        responses = exploit(env, run, episodes=plays, plays=plays, seed=seed)
        values.append(float(played.values.mean()))
        low.append(played.low.mean())
        high.append(played.high.mean())
        gains.append(float(np.nanmax(responses.gains)))
        training |= set(responses.training)
        seconds += run.seconds / len(seeds)
    return {
        "learner": label,
        "return": [float(np.mean(one)) for one in (values, low, high)],
        "per_seed": values,
        "gain": float(np.mean(gains)),
        "training": sorted(training - {""}),
        "seconds": seconds,
    }
