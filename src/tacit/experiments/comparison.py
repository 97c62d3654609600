"""Which learner? Results of one game and one budget, ranked by gap.

In an environment learners are ranked by the return of the returned policy, with what trained responses gain.
"""

from __future__ import annotations

import contextlib
import math
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.display import Document, Table, count, drop_noise
from tacit.core.errors import TacitError, brief
from tacit.engine.events import log
from tacit.environments.adapters import environment, is_environment, name_of
from tacit.environments.choosing import FEWEST
from tacit.environments.measuring import PlayedEvaluation, evaluate_by_play, exploit, with_interval
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
from tacit.policies import MarkovPolicy

#: The target gap, as a share of the uniform policy's.
TARGET = 0.1

#: Seconds for all runs together where no budget is given.
SECONDS = 60.0


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Learners of one game, ranked by mean gap; in an environment, by mean return.

    Attributes
    ----------
    title : str
        The game and the budget, in words.
    rows : list of dict
        What is known of each learner, as plain values, the best first.
    shown : Table
        The same for people.
    facts : dict
        What holds for all rows. With tables: the uniform policy's gap, and the least and largest welfare.
    left_out : dict
        Learners that do not fit the game or failed, and why.
    interrupted : bool
        Whether Ctrl-C ended it early.
    results : Results, optional
        The runs; none of an environment.

    Examples
    --------
    >>> import tacit
    >>> comparison = tacit.compare(tacit.make("stag-hunt"), ["npg", "pg-exact"], episodes=20, seeds=1)
    >>> [row["gap"]["kind"] for row in comparison.rows]
    ['nash', 'nash']
    """

    title: str
    rows: list[dict[str, Any]]
    shown: Table
    facts: dict[str, Any]
    left_out: dict[str, str]
    interrupted: bool
    results: Results | None = None

    def document(self) -> dict[str, Any]:
        """Return what `tacit compare --json` prints."""
        return {**self.facts, "rows": self.rows, "left_out": self.left_out, "interrupted": self.interrupted}

    def table(self) -> Document:
        """Return the ranking for people."""
        lines: list[str | Table] = [self.shown]
        lines += [f"left out: {name}: {why}" for name, why in self.left_out.items()]
        lines += ["interrupted: these are the runs that had begun"] * self.interrupted
        return Document(self.title, lines, self.document)

    def __repr__(self) -> str:
        return str(self.table())


COLUMNS = (
    *("", "learner", "gap", "worst", "of uniform", "kind", "policy", "welfare", "of best"),
    *("episodes", "seconds", "to 10 %", "learns from"),
)


def _rank_by_gap(game: TabularGame, results: Results) -> Comparison:
    """Return results ranked by mean gap, the smallest first."""
    groups = [group for group in results.groups if all(map(_is_proven, group.outcomes))]
    groups.sort(key=lambda group: (statistics.fmean(map(gap_of, group.outcomes)), group.learner))
    unproven = [group.learner for group in results.groups if group not in groups]
    left_out = dict.fromkeys(unproven, "it has no exact or certified gap")
    left_out |= {one.spec.label: one.sentence for one in results.failures}
    if not groups:
        raise TacitError("; ".join(f"{label}: {why}" for label, why in left_out.items()))
    uniform, welfare = uniform_gap(game), welfare_range(game)
    rows = [_row(rank, group, game, uniform, welfare) for rank, group in enumerate(groups, start=1)]
    seeds, options = max(len(group.outcomes) for group in groups), groups[0].outcomes[0].spec.options
    budget = f"{options.episodes:,} episodes a run"
    if options.open:
        budget = f"{options.seconds:.3g} s a run, so the numbers depend on the machine"
    facts = {
        "horizon": game.horizon,
        "agents": game.agents,
        "seeds": seeds,
        "each_run": {"episodes": None if options.open else options.episodes, "seconds": options.seconds},
        "uniform_gap": uniform,
        "welfare_range": welfare,
    }
    title = f"{game!r}: {budget}, {count(seeds, 'seed')}; gap of the uniform policy {uniform:.4g}"
    shown = Table("", COLUMNS, [_cells(row, uniform) for row in rows], head=2)
    return Comparison(title, rows, shown, facts, left_out, results.interrupted, results)


def _row(
    rank: int, group: Group, game: TabularGame, uniform: float, welfare: tuple[float, float] | None
) -> dict[str, Any]:
    """Return what is known of one learner."""
    runs = group.outcomes
    gaps = [gap_of(one) for one in runs]
    times = [hitting_time(one, TARGET * uniform) for one in runs]
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
        "welfare_share": welfare_share(float(values.sum()), *welfare or (0.0, 0.0)),
        "seconds": statistics.fmean(one.seconds for one in runs),
        "episodes": statistics.fmean(one.episodes for one in runs),
        "episodes_done": [one.episodes for one in runs],
        "episodes_to_10_percent": None if math.isinf(median) else median,
        "seed_list": [one.spec.seed for one in runs],
        "ended": [one.ended for one in runs],
        "learns_from": learns_from(runs[0].spec.learner, game),
        "params": dict(runs[0].params),
    }


def _cells(row: Mapping[str, Any], uniform: float) -> tuple[str, ...]:
    gap, worst, welfare = drop_noise(
        [row["gap"]["mean"], row["gap"]["max"], row["welfare"]], max(uniform, *map(abs, row["value"]))
    )
    of_uniform = f"{100 * gap / uniform:.3g} %" if uniform > 0 else "—"
    of_best = "—" if row["welfare_share"] is None else f"{100 * row['welfare_share']:.3g} %"
    time = row["episodes_to_10_percent"]
    hitting = f"> {min(row['episodes_done']):,}" if time is None else f"{time:,.0f}"
    numbers = (f"{gap:.4g}", f"{worst:.4g}", of_uniform, row["gap"]["kind"], row["candidate"])
    size = (f"{row['episodes']:,.0f}", f"{row['seconds']:.2f}", hitting, row["learns_from"])
    return (str(row["rank"]), row["learner"], *numbers, f"{welfare:.4g}", of_best, *size)


def welfare_share(welfare: float, least: float, most: float) -> float | None:
    """Return where a welfare lies between the least (0) and the largest (1). None where all are equal."""
    return (welfare - least) / (most - least) if most - least > 1e-9 * max(abs(least), abs(most)) else None


def gap_of(one: Outcome) -> float:
    """Return the largest gap of the returned policy over agents."""
    return math.nan if one.gap is None else max(one.gap.upper)


def _is_proven(one: Outcome) -> bool:
    return one.gap is not None and one.gap.source in ("exact", "certificate")


def hitting_time(one: Outcome, target: float) -> int | None:
    """Return the first measured episode at which the gap was at most the target. None if it never was."""
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
) -> Comparison:
    """Rank learners that have the same budget: by gap, in an environment by return.

    Parameters
    ----------
    game : TabularGame or str
        Or a name as on the command line, a GameSpec, or an environment, in which learners are ranked by the return of
        their policies in fresh episodes, with what trained best responses gain. What that takes is said beforehand.
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
    Comparison
        Interrupted by Ctrl-C, with the runs that had begun.

    Examples
    --------
    >>> import tacit
    >>> comparison = tacit.compare(tacit.make("chicken"), ["npg", "pg-exact"], episodes=50, seeds=1)
    >>> len(comparison.rows), comparison.rows[0]["gap"]["mean"] < comparison.facts["uniform_gap"]
    (2, True)
    """
    if episodes is not None and seconds is not None:
        raise TacitError("one of episodes and seconds must be given; got both")
    game = GameSpec(game) if isinstance(game, str) else game
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
    return _rank_by_gap(tables, results)


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


def _enter(game: Any) -> contextlib.AbstractContextManager[Any]:
    """Return an environment for a block. One that is named is made, and closed in the end."""
    return game.enter() if isinstance(game, NamedEnvironment) else contextlib.nullcontext(game)


def compare_by_play(
    game: Any,
    specs: Sequence[LearnerSpec],
    *,
    episodes: int | None,
    seeds: int,
    seed: int,
    progress: Callable[[Progress], None] | None,
) -> Comparison:
    """Let learners learn in an environment, and rank them by their returns in fresh episodes. See `tacit.compare`."""
    episodes = check.integer("episodes", EPISODES if episodes is None else episodes)
    seeds = check.integer("seeds", seeds)
    with _enter(game) as env:
        agents = len(environment(env).names)
        name = name_of(getattr(env, "env", env))
    plays = max(episodes // SHARE, LEAST)
    measuring = max(episodes // SHARE, 2 * FEWEST) + plays * (3 + 3 * agents)
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
                rows.append(_measure(env, spec, label, range(seed, seed + seeds), episodes, plays, first=not rows))
        except TacitError as error:
            left_out[label] = str(error)
        except KeyboardInterrupt:
            if not rows:
                raise
            interrupted = True
            break
        if progress is not None:
            done = (k + 1) * seeds
            progress(Progress(done, runs, done * episodes, runs * episodes, failed=len(left_out) * seeds))
    if not rows:
        raise TacitError("; ".join(f"{label}: {why}" for label, why in left_out.items()))
    random = rows[0].pop("random")
    rows.sort(key=lambda row: -row["return"][0])
    shown = Table("", PLAYED_COLUMNS, [_played_cells(rank, row) for rank, row in enumerate(rows, start=1)], head=2)
    facts = {"budget": budget, "random": random}
    title = f"{name}: {budget}; random play {with_interval(*random)}"
    return Comparison(title, rows, shown, facts, left_out, interrupted)


def _played_cells(rank: int, row: dict[str, Any]) -> tuple[str, ...]:
    value, least = with_interval(*row["return"]), f"{min(row['per_seed']):.4g}"
    training = "/".join(row["training"]) or "—"
    return str(rank), row["learner"], value, least, f"{row['gain']:.3g}", training, f"{row['seconds']:.2f}"


def _measure(
    env: Any, spec: LearnerSpec, label: str, seeds: range, episodes: int, plays: int, *, first: bool
) -> dict[str, Any]:
    """Return what is known of one learner: all are measured in the same episodes. With the first, random play is."""
    every, random, gains, training, seconds = [], [], [], set[str](), 0.0
    for seed in seeds:
        run = run_learner(env, spec.learner or spec.name, spec.params, Options(episodes, seed))
        run.raise_error()
        if run.interrupted:
            raise KeyboardInterrupt
        if first:
            uniform = MarkovPolicy.uniform(run.game)
            uniform.observations = run.last.observations
            random.append(evaluate_by_play(run.game, uniform, episodes=plays, seed=seed))
        played = evaluate_by_play(env, run, episodes=plays, seed=seed)
        responses = exploit(env, run, episodes=plays, plays=plays, seed=seed)
        every.append(played)
        gains.append(float(np.nanmax(responses.gains)))
        training |= set(responses.training)
        seconds += run.seconds / len(seeds)
    return {
        "learner": label,
        "return": _average(every),
        "per_seed": [float(played.values.mean()) for played in every],
        "gain": float(np.mean(gains)),
        "training": sorted(training - {""}),
        "seconds": seconds,
    } | ({"random": _average(random)} if first else {})


def _average(every: Sequence[PlayedEvaluation]) -> list[float]:
    """Return the mean return over agents and seeds, and its interval."""
    return [float(np.mean([getattr(one, name) for one in every])) for name in ("values", "low", "high")]
