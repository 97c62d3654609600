"""Which learner? All that fit a game, each for the same budget, ranked by what is proven of their best policies.

A trial is a learner and a seed for a budget, judged by its policy. The judge is a proof: the exact gap of a Markov
policy, or the certificate of a recorded one. So a game that is too large to certify is refused.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.display import Document, Table, count, drop_noise
from tacit.core.errors import TacitError, brief
from tacit.engine import Run, Watcher
from tacit.engine.curve import table
from tacit.engine.outputs.recorded import CERTIFY_JOINT_ACTIONS
from tacit.environments.adapters import is_environment
from tacit.evaluation import uniform_gap
from tacit.evaluation.solve import welfare_range
from tacit.experiments.dispatch import Batch, Failure, run_all
from tacit.experiments.progress import Progress, ProgressWatch
from tacit.games.gymnasium import read_table
from tacit.games.protocol import is_game
from tacit.games.tabular import TabularGame, as_tables
from tacit.learners import REGISTRY, resolve
from tacit.learning import run_learner
from tacit.options import Options

#: A run has arrived when its gap is at most this share of the gap of uniform play.
SHARE = 0.1


@dataclass(frozen=True)
class Budget:
    """How long each run may take: so many episodes, or so many seconds."""

    episodes: int | None
    seconds: float | None

    def part(self, share: float) -> Budget:
        """Return a share of it."""
        if self.episodes is not None:
            return Budget(max(1, round(self.episodes * share)), None)
        assert self.seconds is not None
        return Budget(None, self.seconds * share)

    def __str__(self) -> str:
        return f"{self.seconds:.3g} s" if self.episodes is None else f"{self.episodes:,} episodes"


@dataclass(frozen=True)
class Trial:
    """A learner with its parameters, what it is called, and a seed."""

    label: str
    learner: Any
    params: Mapping[str, Any]
    seed: int


@dataclass(frozen=True, eq=False)
class Entry:
    """What became of a trial.

    Attributes
    ----------
    candidate : str
        Which of the run's candidates is its policy; the gap is of that one.
    gap : float
        Its exact gap or certificate, the largest of all agents.
    kind, source : str
        As `tacit.engine.Gaps` has them.
    values : list [N]
        Its exact values.
    seconds : float
        Learning time.
    arrival : int or None
        Episodes from which on the gap was at most a tenth of that of uniform play; measured at the rows of the curve.
    learns_from : str
        "own play", "joint play" (one learner for all agents) or "tables" (exact gradients: episodes are iterations).
    curve : structured array
        `episode` and `gap`, of what would have been the policy then.
    """

    trial: Trial
    candidate: str
    gap: float
    kind: str
    source: str
    values: list[float]
    episodes: int
    seconds: float
    ended: str
    arrival: int | None
    params: Mapping[str, Any]
    learns_from: str
    curve: npt.NDArray[Any] = field(repr=False)


def seed_list(seeds: int, seed: int) -> list[int]:
    """Return seeds s, s+1, …"""
    count = check.integer("seeds", seeds)
    first = check.integer("seed", seed, of="first_seed")
    return list(range(first, first + count))


class Bench:
    """A game on which learners are tried, with the gap of uniform play, the budget, and how many run at once.

    Where time is the budget one runs at a time, so that none slows another; otherwise as many as there are cores.
    Without episodes and seconds, `default` seconds are the budget.
    """

    def __init__(
        self,
        game: Any,
        episodes: int | None,
        seconds: float | None,
        *,
        default: float,
        certify: bool | None,
        workers: int | None,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        if episodes is not None and seconds is not None:
            raise TacitError("episodes and seconds are both given; give one of them")
        if episodes is None and seconds is None:
            seconds = default
        Options(episodes, seconds=seconds)  # checks them
        if workers is not None:
            check.integer("workers", workers)
        self.game = certifiable(game, certify)
        self.uniform_gap = uniform_gap(self.game)
        self._budget, self._progress = Budget(episodes, seconds), progress
        self._workers = 1 if workers is None and episodes is None else workers

    def share(self, runs: int) -> Budget:
        """Return the budget of each of so many runs: episodes are for each of them, seconds for all together."""
        at_once = self._workers or 1
        return self._budget if self._budget.seconds is None else self._budget.part(at_once / max(runs, at_once))

    def run(self, trials: Sequence[Trial], each: Budget, done: Callable[[Entry], None] | None = None) -> Batch[Entry]:
        """Run trials; `done` is called with their entries as they come."""
        # With gap=0 the rows of the curve are a tenth apart, and a run that is perfect is over.
        asked = Options(each.episodes, certify=True, gap=0.0, seconds=each.seconds)
        items = [(one, replace(asked, seed=one.seed)) for one in trials]
        watch = ProgressWatch([(one.label, options) for one, options in items], self._progress)

        def end(k: int, found: Entry | Failure) -> None:
            match found:
                case Entry():
                    watch.end(k, True)
                    if done is not None:
                        done(found)
                case _:
                    watch.end(k, False)

        return run_all(self._judge, items, workers=self._workers, watch=watch, done=end)

    def _judge(self, item: tuple[Trial, Options], watch: Watcher | None) -> Entry:
        """Run a trial, keep what it is judged by, and let go of the rest."""
        trial, options = item
        made = resolve(trial.learner, trial.params, self.game.name)[1]
        learns_from = "tables" if made.exact else "joint play" if made.central else "own play"
        run = run_learner(self.game, trial.learner, trial.params, options, watch=watch)
        return judge(run, trial, self.uniform_gap, learns_from)


def certifiable(game: Any, certify: bool | None) -> TabularGame:
    """Return the game if gaps in it can be certified, and say why not otherwise."""
    if certify is not None and not check.flag("certify", certify):
        raise TacitError("certify is False; learners are ranked by certified gaps, so leave it out")
    game = read_table(game) or game
    if not is_game(game) and not is_environment(game):
        raise TacitError(f"game is {brief(game)}; it must be a TabularGame, as from tacit.make or tacit.load")
    tables = as_tables(game)
    if tables is None:
        raise TacitError(f"{brief(game)} has no tables, so there is no certified gap by which learners can be ranked")
    if tables.joint_actions > CERTIFY_JOINT_ACTIONS and not certify:
        raise TacitError(
            f"{game!r} has {tables.joint_actions:,} joint actions; above {CERTIFY_JOINT_ACTIONS:,} gaps are certified "
            f"only on request, since that is slow: certify=True, or --certify yes"
        )
    return tables


def judge(run: Run, trial: Trial, even: float, learns_from: str) -> Entry:
    """Judge a run by its policy."""
    best = run.candidates[run.chosen]
    if best.gaps.source not in ("exact", "certificate"):
        raise TacitError(f"{trial.label} has no certified gap")
    gaps = np.fmin.accumulate(run.curve["gap"]) if "best" in run.candidates else run.curve["gap"].copy()
    gaps[-1] = best.gap
    curve = table([{"episode": k, "gap": gap} for k, gap in zip(run.curve["episode"].tolist(), gaps, strict=True)])
    values = best.values if best.values is not None else np.full(run.game.agents, np.nan)
    return Entry(
        trial=trial,
        candidate=run.chosen,
        gap=best.gap,
        kind=best.gaps.kind,
        source=best.gaps.source,
        values=np.asarray(values).tolist(),
        episodes=run.episodes,
        seconds=run.seconds,
        ended=run.ended,
        arrival=arrival(curve["episode"], gaps, SHARE * even),
        params=run.params,
        learns_from=learns_from,
        curve=curve,
    )


def arrival(episodes: npt.NDArray[Any], gaps: npt.NDArray[Any], small: float) -> int | None:
    """Return the episode from which on all gaps are small, None if the last is not: an iterate may come and go.

    >>> arrival(np.array([10, 20, 30, 40]), np.array([0.05, 0.3, 0.1, 0.02]), 0.1)
    30
    """
    above = np.flatnonzero(~(gaps <= small))
    there = int(above[-1]) + 1 if len(above) else 0
    return int(episodes[there]) if there < len(episodes) else None


#: Seconds for all runs together where nothing else is asked for.
SECONDS = 60.0

HEADS = (
    *("", "learner", "gap", "worst", "of uniform", "kind", "policy", "welfare", "of best"),
    *("episodes", "seconds", "to 10 %", "learns from"),
)


@dataclass(frozen=True, eq=False)
class ComparedLearner:
    """A learner's place in a comparison, over its seeds.

    Attributes
    ----------
    gap, worst : float
        Mean and largest gap of the runs' policies (`run.policy`).
    kind, source, candidate : str
        Of those gaps, and which candidates they are of; several are joined by a slash.
    value : list [N]
        Mean exact values of these policies; `welfare` is their sum.
    episodes, seconds : float
        Means over seeds; seconds of learning.
    arrival : float or None
        Episodes until the gap was at most 10 % of that of uniform play and stayed there, the median over seeds; None if
        fewer than half of them came so far.
    learns_from : str
        "own play", "joint play" (one learner for all agents) or "tables" (exact gradients: episodes are iterations).
    entries : tuple of Entry
        The runs.
    """

    rank: int
    learner: str
    gap: float
    worst: float
    kind: str
    source: str
    candidate: str
    value: list[float]
    episodes: float
    seconds: float
    arrival: float | None
    learns_from: str
    entries: tuple[Entry, ...]

    @property
    def welfare(self) -> float:
        """The sum of the agents' values."""
        return float(sum(self.value))

    def document(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "rank": self.rank,
            "learner": self.learner,
            "gap": {
                "kind": self.kind,
                "source": self.source,
                "mean": self.gap,
                "max": self.worst,
                "per_seed": [one.gap for one in self.entries],
            },
            "candidate": self.candidate,
            "value": self.value,
            "welfare": self.welfare,
            "seconds": self.seconds,
            "episodes": self.episodes,
            "episodes_done": [one.episodes for one in self.entries],
            "episodes_to_10_percent": self.arrival,
            "seed_list": [one.trial.seed for one in self.entries],
            "ended": [one.ended for one in self.entries],
            "learns_from": self.learns_from,
            "params": dict(self.entries[0].params),
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Learners on one game, the best first.

    Attributes
    ----------
    game : TabularGame
    uniform_gap : float
        The gap of uniform play.
    budget : Budget
        Of each run.
    seeds : int
        Runs of each learner.
    rows : tuple of ComparedLearner
        The best first.
    left_out : dict
        Learners that do not fit or failed, and why.
    interrupted : bool
    welfare_range : (float, float) or None
        The least and the largest total of all agents, where that is known quickly: 0 and 100 % "of best".

    Examples
    --------
    >>> import tacit
    >>> found = tacit.compare(tacit.make("stag-hunt"), ["npg", "pg-exact"], episodes=20, seeds=1)
    >>> [row.kind for row in found.rows]
    ['nash', 'nash']
    """

    game: TabularGame
    uniform_gap: float
    budget: Budget
    seeds: int
    rows: tuple[ComparedLearner, ...]
    left_out: Mapping[str, str]
    interrupted: bool = False
    welfare_range: tuple[float, float] | None = None

    def welfare_share(self, total: float) -> float | None:
        """Return where a total lies between the least (0) and the largest (1); None where all are the same."""
        least, most = self.welfare_range or (0.0, 0.0)
        return (total - least) / (most - least) if most - least > 1e-9 * max(abs(least), abs(most)) else None

    @property
    def best(self) -> ComparedLearner:
        """The first row."""
        return self.rows[0]

    def document(self) -> dict[str, Any]:
        """Return what `tacit compare --json` prints."""
        return {
            "horizon": self.game.horizon,
            "agents": self.game.agents,
            "seeds": self.seeds,
            "each_run": {"episodes": self.budget.episodes, "seconds": self.budget.seconds},
            "uniform_gap": self.uniform_gap,
            "welfare_range": self.welfare_range,
            "rows": [row.document() | {"welfare_share": self.welfare_share(row.welfare)} for row in self.rows],
            "left_out": dict(self.left_out),
            "interrupted": self.interrupted,
        }

    def __repr__(self) -> str:
        shown = self._shown()
        return "\n".join(map(str, [shown.title, *shown.parts]))

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()

    def _shown(self) -> Document:
        """Return the table, with what is said above and below it."""
        title = f"{self.game!r}: {self.budget} a run, {count(self.seeds, 'seed')}"
        lines: list[str | Table] = [Table("", HEADS, [self._cells(row) for row in self.rows], head=2)]
        if self.budget.episodes is None:
            lines.append("stopped by the clock: on another machine the numbers differ")
        lines += [f"left out: {name}: {why}" for name, why in self.left_out.items()]
        if self.interrupted:
            lines.append("interrupted: these are the runs that had begun")
        return Document(f"{title}; gap of uniform play {self.uniform_gap:.4g}", lines)

    def _cells(self, row: ComparedLearner) -> tuple[str, ...]:
        arrival = (
            f"{row.arrival:,.0f}" if row.arrival is not None else f"> {min(one.episodes for one in row.entries):,}"
        )
        scale = max(self.uniform_gap, *map(abs, row.value))
        gap, worst, welfare = drop_noise([row.gap, row.worst, row.welfare], scale)
        share = f"{100 * gap / self.uniform_gap:.3g} %" if self.uniform_gap > 0 else "—"
        numbers = (f"{gap:.4g}", f"{worst:.4g}", share)
        best = self.welfare_share(row.welfare)
        what = (row.kind, row.candidate, f"{welfare:.4g}", "—" if best is None else f"{100 * best:.3g} %")
        size = (f"{row.episodes:,.0f}", f"{row.seconds:.2f}", arrival, row.learns_from)
        return (str(row.rank), row.learner, *numbers, *what, *size)


def compare(
    game: Any,
    learners: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    seconds: float | None = None,
    episodes: int | None = None,
    seeds: int = 3,
    seed: int = 0,
    certify: bool | None = None,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    watch: Callable[[Comparison], None] | None = None,
) -> Comparison:
    """Let learners learn a game, each for the same budget, and rank them by the gap that is proven of the best policy.

    Parameters
    ----------
    game : TabularGame
        Or a Gymnasium environment with a transition table.
    learners : list or mapping, optional
        Names from `tacit learners`, pairs (name, parameters) or learner objects; a mapping gives them labels. All
        registered ones if not given. Those that do not fit the game are left out, with a sentence that says why.
    seconds : float, optional
        Time for all runs together, shared evenly, compilation left out; 60 if neither this nor `episodes` is given.
        How far learners come in it depends on the machine.
    episodes : int, optional
        Episodes of each run, instead.
    seeds, seed : int
        How many runs each learner has, and the first seed.
    certify : bool, optional
        True for games of more than 1024 joint actions, where certificates are slow.
    workers : int, optional
        Runs at once. One if not given and time is the budget, so that none slows another; otherwise the cores.
    progress : callable, optional
        Called with a `tacit.experiments.Progress` now and then.
    watch : callable, optional
        Called with the comparison so far whenever a run has ended.

    Returns
    -------
    Comparison
        Interrupted by Ctrl-C, with the runs that had begun.

    Examples
    --------
    >>> import tacit
    >>> found = tacit.compare(tacit.make("chicken"), ["npg", "pg-exact"], episodes=50, seeds=1)
    >>> len(found.rows), found.best.kind, found.best.gap < found.uniform_gap
    (2, 'nash', True)
    """
    numbers = seed_list(seeds, seed)
    bench = Bench(game, episodes, seconds, default=SECONDS, certify=certify, workers=workers, progress=progress)
    named = _by_label(learners, bench.game.name)
    trials = [Trial(label, *chosen, number) for number in numbers for label, chosen in named.items()]
    each, totals = bench.share(len(trials)), welfare_range(bench.game)
    found: list[Entry] = []

    def show(entry: Entry) -> None:
        if watch is not None:
            found.append(entry)
            watch(_rank(bench, each, seeds, found, {}, totals, interrupted=False))

    batch = bench.run(trials, each, show)
    left_out = {trials[k].label: one.sentence for k, one in batch.failures.items()}
    if not batch.done:
        if batch.interrupted or not left_out:
            raise KeyboardInterrupt
        raise TacitError("; ".join(f"{label}: {sentence}" for label, sentence in left_out.items()))
    return _rank(bench, each, seeds, list(batch.done.values()), left_out, totals, interrupted=batch.interrupted)


def _by_label(
    learners: Sequence[Any] | Mapping[str, Any] | None, game: str | None
) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    """Return learners and parameters by their labels; unknown names and wrong parameters raise."""
    if learners is None:
        return {name: (name, {}) for name in REGISTRY}
    known = f"at least one of {', '.join(REGISTRY)}"
    given: list[tuple[Any, Any]]
    match learners:
        case {**named}:
            given = list(named.items())
        case _:
            given = [(None, one) for one in check.list_of("learners", learners, known)]
    if not given:
        raise TacitError(f"learners is {brief(learners)}; it must be a list of {known}")
    found: dict[str, tuple[Any, Mapping[str, Any]]] = {}
    for label, one in given:
        learner, params = one, dict[str, Any]()
        match one:
            case [first, {**own}]:
                learner, params = first, {str(key): value for key, value in own.items()}
        name, _ = resolve(learner, params, game)
        settings = ", ".join(f"{key}={value}" for key, value in params.items())
        key = label or (f"{name} ({settings})" if settings else name)
        if key in found:
            raise TacitError(f"{key} is listed twice; leave one out")
        found[key] = (learner, params)
    return found


def _rank(
    bench: Bench,
    each: Budget,
    seeds: int,
    entries: Sequence[Entry],
    left_out: Mapping[str, str],
    totals: tuple[float, float] | None,
    *,
    interrupted: bool,
) -> Comparison:
    """Rank learners by the mean gap over seeds."""
    held: dict[str, list[Entry]] = {}
    for one in entries:
        held.setdefault(one.trial.label, []).append(one)
    order = sorted(held, key=lambda label: (statistics.fmean(one.gap for one in held[label]), label))
    rows = tuple(_row(rank, label, held[label]) for rank, label in enumerate(order, start=1))
    return Comparison(bench.game, bench.uniform_gap, each, seeds, rows, left_out, interrupted, totals)


def _row(rank: int, label: str, entries: Sequence[Entry]) -> ComparedLearner:
    gaps = [one.gap for one in entries]
    median = statistics.median([math.inf if one.arrival is None else one.arrival for one in entries])
    return ComparedLearner(
        rank=rank,
        learner=label,
        gap=statistics.fmean(gaps),
        worst=max(gaps),
        kind=_join(one.kind for one in entries),
        source=_join(one.source for one in entries),
        candidate=_join(one.candidate for one in entries),
        value=np.mean([one.values for one in entries], axis=0).tolist(),
        episodes=statistics.fmean(one.episodes for one in entries),
        seconds=statistics.fmean(one.seconds for one in entries),
        arrival=None if math.isinf(median) else median,
        learns_from=entries[0].learns_from,
        entries=tuple(entries),
    )


def _join(words: Any) -> str:
    return "/".join(sorted(set(words)))
