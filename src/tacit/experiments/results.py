"""Outcomes of runs, just learned or read from disk, and the results of an experiment.

The results of an experiment are outcomes by game and learner, with names that distinguish them, and statistics over
seeds: mean, standard deviation, and a bootstrap interval from a fixed seed.
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from tacit import games
from tacit.core import call_hook, check, files
from tacit.core.display import Cell, Document, Table, count, drop_noise, interval
from tacit.core.errors import TacitError
from tacit.engine import Run, conclusion
from tacit.engine.run import Advice, Candidate, Gaps
from tacit.environments.pettingzoo import PREFIX
from tacit.evaluation import evaluate
from tacit.evaluation.gaps import is_quick
from tacit.evaluation.solve import useful_optimum, welfare_range
from tacit.experiments.spec import GameSpec, RunSpec, same_game
from tacit.games.exact import ExactGame, as_exact
from tacit.games.protocol import count_steps

RESAMPLES = 10_000


@dataclass(frozen=True)
class Summary:
    """Mean, sample standard deviation (n − 1) and 95 % bootstrap interval of the mean.

    Attributes
    ----------
    mean, std : float
    ci95 : (float, float)
    count : int

    Examples
    --------
    >>> from tacit.experiments import summarize
    >>> summarize([1.0, 2.0, 3.0]).count
    3
    """

    mean: float
    std: float
    ci95: tuple[float, float]
    count: int

    def data(self) -> dict[str, Any]:
        """Return it as JSON documents have it."""
        return {"mean": self.mean, "std": self.std, "ci95": list(self.ci95)}


def summarize(values: npt.ArrayLike) -> Summary:
    """Summarize one number for each seed.

    Parameters
    ----------
    values : array [n]

    Returns
    -------
    Summary

    Examples
    --------
    >>> from tacit.experiments import summarize
    >>> summarize([1.0, 2.0, 3.0]).mean
    2.0
    """
    x = check.array("values", values)
    if x.ndim != 1 or not len(x):
        raise TacitError(f"values must be one number for each seed; got shape {x.shape}")
    if len(x) == 1:
        return Summary(float(x[0]), 0.0, (float(x[0]), float(x[0])), 1)
    from scipy.stats import bootstrap  # it takes longer to import than all the rest

    bootstrapped = bootstrap((x,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(0))
    low, high = bootstrapped.confidence_interval
    return Summary(float(x.mean()), float(x.std(ddof=1)), (float(low), float(high)), len(x))


Kind = Literal["nash", "cce", "ce"]
#: Where gaps come from, the surest first.
Source = Literal["exact", "certificate", "model-free", "estimate"]
SOURCES = get_args(Source)
#: What ends runs.
Ended = Literal["episodes", "periods", "gap", "seconds", "tolerance", "still", "memory", "interrupted"]
#: Numbers of a file, whose bounds msgspec checks.
Count = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
Size = Annotated[float, msgspec.Meta(ge=0, le=1e300)]


def gap_words(kind: str, source: str) -> str:
    """Return a gap's kind with how sure it is.

    >>> gap_words("cce", "certificate"), gap_words("nash", "exact"), gap_words("cce", "estimate")
    ('cce bound', 'exact nash', 'cce estimate')
    """
    return f"exact {kind}" if source == "exact" else f"{kind} {sureness(source)}"


def sureness(source: str) -> str:
    """Return what a legend adds to a gap that is not exact.

    >>> sureness("exact"), sureness("certificate"), sureness("estimate")
    ('', 'bound', 'estimate')
    """
    return {"exact": "", "estimate": "estimate"}.get(source, "bound")


@dataclass(frozen=True)
class GapOutcome:
    """Gaps of a policy as `tacit.engine.Gaps` has them; no gap is larger than `most`. Its values, where known."""

    kind: Kind
    source: Source
    upper: list[float]
    most: Size | None = None
    informative: bool = True
    value: list[float] | None = None

    @classmethod
    def of(cls, candidate: Candidate) -> GapOutcome | None:
        """Take what is stored of a candidate; nothing where no gap is known."""
        gaps, values = candidate.gaps, candidate.values
        if gaps.source == "none":
            return None
        most = gaps.most if math.isfinite(gaps.most) else None
        value = None if values is None else np.asarray(values).tolist()
        kind, source = cast("Kind", gaps.kind), cast("Source", gaps.source)
        return cls(kind, source, gaps.upper.tolist(), most, gaps.informative, value)

    def restore(self, policy: Any) -> Candidate:
        """Return the candidate, with its policy where that is stored."""
        gaps = Gaps(self.kind, np.array(self.upper), self.source, math.inf if self.most is None else self.most)
        return Candidate.with_gaps(gaps, None if self.value is None else np.array(self.value), policy)


@dataclass(frozen=True, repr=False)
class Outcome:
    """A run that is over; the only form in which runs are stored.

    Attributes
    ----------
    spec : RunSpec
        What was run.
    game : str
        The game in words.
    horizon, agents : int
    params : dict
        The learner's parameters in force.
    curve : structured array
        As `Run.curve`.
    interrupted : bool
        Whether Ctrl-C ended it.
    episodes : int
        Episodes done; fewer than `spec.options.episodes` where it ended early.
    ended : str
        What ended it, as `Run.ended` says.
    reward : list [N]
        Mean returns over the last tenth of the episodes.
    value : list [N] or None
        Exact values of the policy, or of the last iterate where those are not known; none without tables.
    chosen : str
        Which of the run's candidates the policy is.
    gap : GapOutcome or None
    candidates : dict of GapOutcome
        The gaps and values of all candidates whose gaps are known.
    uniform_gap : float or None
        The exact nash gap of uniform play, where the gap is exact or certified.
    advice : tuple of Advice
        What is wrong, and what to try.
    notes : tuple of str
        What was found or decided during the run.
    seconds : float
        Learning time.
    where : str
        The machine and the kind of its processor.
    learned : int
        Episodes that were played just now, rather than read from disk.
    policy : str
        What kind of policy was returned.
    span : (float, float)
        When the run began just now, and when learning ended.
    place, visits : int and list [S], or None
        Of play that never resets: the state that it ended in, and the periods in each state.
    returns : dict or None
        In an environment, as `Run.returns`.
    error : str
        What an environment failed with, and when, where that ended the run; "" otherwise.

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> [one] = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),)).run().outcomes
    >>> one.episodes, one.ended, one.gap.kind
    (10, 'episodes', 'nash')
    """

    spec: RunSpec
    game: str
    horizon: Count
    agents: Count
    episodes: Count
    reward: list[float]
    value: list[float] | None
    chosen: str
    gap: GapOutcome | None
    params: dict[str, Any]
    notes: tuple[str, ...]
    seconds: Size
    curve: npt.NDArray[Any]
    candidates: dict[str, GapOutcome] = field(default_factory=dict)
    uniform_gap: Size | None = None
    advice: tuple[Advice, ...] = ()
    ended: Ended = "episodes"
    interrupted: bool = False
    learned: int = 0
    span: tuple[float, float] = (0.0, 0.0)
    where: str = ""
    policy: str = ""
    place: int | None = None
    visits: list[int] | None = None
    returns: dict[str, tuple[float, float, float]] | None = None
    error: str = ""

    @property
    def label(self) -> str:
        """What people call the learner."""
        return self.spec.label

    def __repr__(self) -> str:
        text = f"{self.label!r} on {self.spec.game.name!r}, seed {self.spec.seed}, {self.episodes} episodes"
        if self.gap is not None:
            text += f", {self.gap.kind} gap {conclusion.gap_sign(self.gap.source)} {max(self.gap.upper):.4g}"
        return f"Outcome({text})"


def outcome(spec: RunSpec, run: Run, *, learned: int, span: tuple[float, float]) -> Outcome:
    """Take from a run what is reported and stored of it."""
    values = run.values
    candidates = {name: GapOutcome.of(one) for name, one in run.candidates.items()}
    if values is None and run.exact is not None and (not run.interrupted or is_quick(run.exact, run.last)):
        values = evaluate(run.exact, run.last).values
    same = ("episodes", "chosen", "notes", "seconds", "curve", "advice", "ended", "interrupted", "place")
    return Outcome(
        spec=spec,
        game=repr(run.game),
        horizon=count_steps(run.game),
        agents=run.game.agents,
        reward=run.reward.tolist(),
        value=None if values is None else np.asarray(values).tolist(),
        gap=candidates[run.chosen],
        params=dict(run.params),
        candidates={name: gap for name, gap in candidates.items() if gap is not None},
        uniform_gap=None if run.gaps.source not in ("exact", "certificate") else run.uniform_gap,
        policy=conclusion.policy_kind(run.candidates[run.chosen]._policy),
        learned=learned,
        span=span,
        where=_machine(),
        visits=None if run.visits is None else run.visits.tolist(),
        returns=None if run.returns is None else dict(run.returns),
        error="" if run.error is None else f"after {run.episodes} episodes: {run.error}",
        **{name: getattr(run, name) for name in same},
    )


@cache
def _machine() -> str:
    """Name this machine and its processor. The last bits of a result may depend on it."""
    kind = platform.processor() or platform.machine()
    with contextlib.suppress(OSError, StopIteration):  # Linux only
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        kind = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{platform.node()}, {kind}"


@dataclass(frozen=True)
class FailedRun:
    """A run that raised, and its sentence."""

    spec: RunSpec
    sentence: str


@dataclass(frozen=True, repr=False)
class Group:
    """Runs of one game with one learner over seeds, and what people call them.

    Attributes
    ----------
    game, learner : str
    outcomes : list of Outcome

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> small = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),), seeds=2)
    >>> [group.learner for group in small.run().groups]
    ['npg']
    """

    game: str
    learner: str
    outcomes: list[Outcome]

    def __repr__(self) -> str:
        return f"Group({self.learner!r} on {self.game!r}, {count(len(self.outcomes), 'seed')})"

    def summary(self, *, interrupted: bool = False) -> dict[str, Any]:
        """Return what `tacit run --json` prints of it."""
        runs, first = self.outcomes, self.outcomes[0]
        reward = summarize([one.reward[0] for one in runs])
        wall, speed = _speed(runs)
        values = [one.value for one in runs if one.value is not None]
        welfare = summarize([sum(value) for value in values]).data() if values else None
        return {
            "game": first.spec.game.name,
            "learner": first.spec.learner.name,
            "episodes": max(one.episodes for one in runs) if first.spec.options.open else first.spec.options.episodes,
            "horizon": first.horizon,
            "agents": first.agents,
            "seeds": len(runs),
            "seed_list": [one.spec.seed for one in runs],
            "reward": reward.data(),
            "rewards": np.mean([one.reward for one in runs], axis=0).tolist(),
            "value": np.mean(values, axis=0).tolist() if values else None,
            "values": [one.value for one in runs],
            "welfare": welfare,
            "optimum": self.optimum,
            "gap": self._gap(),
            "returns": self._returns(),
            "advice": self.advice(),
            "candidates": self._candidates(),
            "chosen": [one.chosen for one in runs],
            "steps_per_second": speed * (first.horizon if first.spec.options.periods is None else 1),
            "wall_seconds": wall,
            "params": first.params,
            "interrupted": interrupted,
            "episodes_done": [one.episodes for one in runs],
            "ended": [one.ended for one in runs],
            "limits": {"gap": first.spec.options.gap, "seconds": first.spec.options.seconds}
            | ({} if first.spec.options.still is None else {"still": first.spec.options.still}),
        }

    @cached_property
    def exact(self) -> ExactGame | None:
        """The game with tables. None where making it would run code that a file names."""
        spec = self.outcomes[0].spec
        if spec.game.name.startswith(PREFIX) or games.is_code(spec.game.name):
            return None
        try:
            return as_exact(same_game(spec))
        except TacitError:  # a file that is no longer there
            return None

    @cached_property
    def optimum(self) -> float | None:
        """The largest total reward of all agents, where it is quickly known."""
        totals = None if self.exact is None else welfare_range(self.exact)
        return None if totals is None else totals[1]

    def __str__(self) -> str:
        runs, first, summary = self.outcomes, self.outcomes[0], self.summary()
        many = len(runs) > 1
        seeds = f"seeds {', '.join(map(str, ranges(summary['seed_list'])))}" if many else f"seed {first.spec.seed}"
        done = [min(summary["episodes_done"]), max(summary["episodes_done"])]
        episodes = " to ".join(f"{number:,}" for number in dict.fromkeys(done))
        unit = "episodes" if first.spec.options.periods is None else "periods"
        title = [self.game, self.learner, f"{episodes} {unit}", seeds]
        title += ["interrupted"] if any(one.interrupted for one in runs) else []
        return conclusion.lay_out(title, self._facts(summary), self.advice())

    def _facts(self, summary: dict[str, Any]) -> dict[str, str]:
        """Return what `tacit run` says, one fact a line, as `print(run)` does of one run."""
        runs, first, gap = self.outcomes, self.outcomes[0], summary["gap"]
        facts = {"gap": "not known"}
        if gap is not None:
            informative = [max(one.gap.upper) for one in runs if one.gap is not None and one.gap.informative]
            facts = {conclusion.gap_label(gap["kind"]): conclusion.UNINFORMATIVE}
            if informative:
                size = conclusion.size_gap(gap["source"], drop_noise(float(np.mean(informative)), self.scale))
                uniform = next((one.uniform_gap for one in runs if one.uniform_gap is not None), None)
                facts = {conclusion.gap_label(gap["kind"]): conclusion.gap_fact(gap["source"], size, uniform)}
                if len(runs) > 1:
                    worst = f"{drop_noise(max(informative), self.scale):.4g}"
                    known = "" if len(informative) == len(runs) else f"; known in {len(informative)} of them"
                    facts["seeds"] = f"gaps and values are means over {len(runs)}; worst gap {worst}{known}"
        if summary["value"] is not None:
            exact = drop_noise({key: summary[key] for key in ("value", "welfare")}, self.scale)
            welfare = interval(exact["welfare"]["mean"], *exact["welfare"]["ci95"])
            optimum = None if self.exact is None else useful_optimum(self.exact)
            facts["values"] = conclusion.values_fact(exact["value"], welfare, optimum)
        else:
            facts["reward"] = conclusion.reward_fact(summary["rewards"])
        if summary["returns"] is not None:
            facts["return"] = conclusion.return_fact(summary["returns"])
        facts["policy"] = conclusion.policy_fact([one.policy or "policy" for one in runs], [one.chosen for one in runs])
        sources = [one["source"] for one in summary["candidates"].values()]
        if len(sources) > 1:
            facts["selected"] = conclusion.selected_fact(sources)
        ends = Counter(one.ended for one in runs)
        if not set(ends) <= {"episodes", "periods"}:
            times = {ended: "" if len(ends) == 1 else f" ({number} of {len(runs)})" for ended, number in ends.items()}
            facts["stopped"] = "; ".join(f"{conclusion.ENDED[ended]}{times[ended]}" for ended in ends)
        facts["time"] = conclusion.time_fact(
            first.seconds if len(runs) == 1 else summary["wall_seconds"], summary["steps_per_second"]
        )
        return facts

    def candidates(self) -> Table:
        """Return the candidates as a table, with means over seeds."""
        rows = [(name, one["source"], one["mean"], one["value"]) for name, one in self._candidates().items()]
        return conclusion.candidate_table(rows, self.scale)

    @property
    def scale(self) -> float:
        """The size of rewards and values; what is far below it is rounding."""
        sizes = [size for one in self.outcomes for size in (*one.reward, *(one.value or ()))]
        return float(max(abs(size) for size in [*sizes, *(one.gap.most or 0.0 for one in self.outcomes if one.gap)]))

    def advice(self) -> list[str]:
        """Return advice, each kind once, with the number of seeds it is for."""
        texts_by_kind: dict[tuple[str, int], list[str]] = {}
        for one in self.outcomes:
            for k, (kind, text) in enumerate(one.advice):
                texts_by_kind.setdefault((kind, k), []).append(text)
        return [f"{texts[0]}{_others(len(texts), len(self.outcomes))}" for texts in texts_by_kind.values()]

    def gap_kind(self) -> tuple[str, str]:
        """Return the kind and the source of the gaps. Where seeds differ, the weakest source counts; "" for none."""
        gaps = [one.gap for one in self.outcomes if one.gap is not None]
        weakest = max(gaps, key=lambda gap: SOURCES.index(gap.source), default=None)
        return ("", "") if weakest is None else (weakest.kind, weakest.source)

    def _gap(self) -> dict[str, Any] | None:
        gaps = [one.gap for one in self.outcomes if one.gap is not None]
        if not gaps:
            return None
        shares = [
            max(one.gap.upper) / one.uniform_gap for one in self.outcomes if one.gap is not None and one.uniform_gap
        ]
        return {
            **_sizes(gaps),
            "per_agent": np.array([gap.upper for gap in gaps]).mean(axis=0).tolist(),
            "informative": all(gap.informative for gap in gaps),
            "of_uniform": float(np.mean(shares)) if shares else None,
        }

    def _returns(self) -> dict[str, list[float]] | None:
        """Return what the policy, random play and early training earned, with intervals: means over seeds."""
        every = [one.returns for one in self.outcomes if one.returns is not None]
        return {name: np.mean([one[name] for one in every], axis=0).tolist() for name in every[0]} if every else None

    def _candidates(self) -> dict[str, Any]:
        names = dict.fromkeys(name for one in self.outcomes for name in one.candidates)
        candidates = {}
        for name in names:
            gaps = [one.candidates[name] for one in self.outcomes if name in one.candidates]
            values = [gap.value for gap in gaps if gap.value is not None]
            candidates[name] = {**_sizes(gaps), "value": np.mean(values, axis=0).tolist() if values else None}
        return candidates


def ranges(numbers: Sequence[int]) -> list[str]:
    """Return numbers in writing, those that follow each other as a range.

    >>> ranges([0, 1, 2, 7])
    ['0 to 2', '7']
    """
    runs: list[list[int]] = []
    for one in sorted(numbers):
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]


def _sizes(gaps: Sequence[GapOutcome]) -> dict[str, Any]:
    """Return kind, source and size of gaps over seeds; where sources differ, the weakest."""
    largest = [max(gap.upper) for gap in gaps]
    weakest = max((gap.source for gap in gaps), key=SOURCES.index)
    return {
        "kind": gaps[0].kind,
        "source": weakest,
        "mean": float(np.mean(largest)),
        "max": float(max(largest)),
    }


def _speed(runs: Sequence[Outcome]) -> tuple[float, float]:
    """Return the seconds in which runs took place, and their episodes a second of learning.

    Of these seconds, as large a part was learning as of all runs, each from its beginning to its end; the rest was
    compiling and measuring.
    """
    fresh = [one for one in runs if one.learned]
    if not fresh:  # all was read from disk: report the speed of then
        return 0.0, sum(one.episodes for one in runs) / max(sum(one.seconds for one in runs), 1e-9)
    wall = _duration([one.span for one in fresh])
    lengths = [end - begin for begin, end in (one.span for one in fresh)]
    learning = [one.seconds * one.learned / max(one.episodes, 1) for one in fresh]
    share = sum(map(min, learning, lengths)) / max(sum(lengths), 1e-9)
    return wall, sum(one.learned for one in fresh) / max(wall * share, 1e-9)


def _duration(spans: Sequence[tuple[float, float]]) -> float:
    """Return for how long at least one of some runs went on.

    >>> _duration([(0, 2), (1, 3), (7, 8)])
    4.0
    """
    total, until = 0.0, -math.inf
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return total


def _others(with_it: int, seeds: int) -> str:
    if seeds == 1:
        return ""
    return f" (this or the like in {'every seed' if with_it == seeds else f'{with_it} of {seeds} seeds'})"


@dataclass(frozen=True, repr=False)
class Results:
    """The runs of an experiment by game, learner and seed, and those that failed.

    Attributes
    ----------
    outcomes : list of Outcome
    failures : list of FailedRun
    interrupted : bool

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> small = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),), seeds=2)
    >>> results = small.run()
    >>> len(results.outcomes), results.failures
    (2, [])
    """

    outcomes: list[Outcome]
    failures: list[FailedRun]
    interrupted: bool

    @cached_property
    def groups(self) -> list[Group]:
        """The outcomes by game and learner."""
        return group_outcomes(self.outcomes)

    @classmethod
    def load(cls, *places: str | os.PathLike[str]) -> Results:
        """Read stored runs. A directory is that of one run, or of many (`out` of an experiment).

        They come in the order of the experiment that made them.
        """
        from tacit.experiments import store  # it builds on this file

        outcomes: list[Outcome] = []
        loaded: set[Any] = set()
        for place in places:
            runs = {run.resolve(): run for run in store.directories(files.path(place))}
            outcomes += sorted((store.load(run) for key, run in runs.items() if key not in loaded), key=_place)
            loaded |= set(runs)
        return cls(outcomes, [], False)

    def frame(self) -> Any:
        """Return all curves as one pandas DataFrame. A row is a measurement of an agent in a run.

        Columns are game, learner, label, parameters and game_parameters (JSON), seed, episode, agent, reward, value,
        gap, kind and source. pandas is not installed with tacit: pip install 'tacit-marl[pandas]'.
        """
        from tacit.experiments.tables import frame

        return frame(self.outcomes)

    def table(self, *, by: str | None = None) -> Document:
        """Rank learners on each game, with intervals over seeds and tests of each pair.

        Parameters
        ----------
        by : {"gap", "reward", "value", "welfare"}, optional
            What is ranked: the smallest largest gap of all agents, agent 0's largest reward at the end or value, or the
            largest sum of all agents' values. The gap, where all learners have one, else the reward.

        Returns
        -------
        Document
            Means with 95 % bootstrap intervals; p-values are of Mann–Whitney tests, corrected by Holm for the number of
            pairs of a game.
        """
        from tacit.experiments.tables import ranking

        return ranking(self.groups, by=by)

    def to_latex(self, *, by: str | None = None) -> str:
        """Return `table` for a paper: LaTeX with the package booktabs, one tabular for each game.

        Parameters
        ----------
        by : {"gap", "reward", "value", "welfare"}, optional
            What is ranked, as for `table`.
        """
        from tacit.experiments.tables import latex

        return latex(self.table(by=by))

    def rate(self) -> Document:
        """Fit the slope of log gap over log episode, with a 95 % interval.

        Rows with a gap of zero are left out. A slope of −1/2 is the rate of the theorems.

        Returns
        -------
        Document
            `data["rates"]` has game, learner, seeds and slope (mean, std, ci95) of each group.
        """
        from tacit.experiments.tables import rates

        return rates(self.groups)

    def __repr__(self) -> str:
        return str(self._stored()) if self.outcomes else self._title

    @property
    def _title(self) -> str:
        text = f"Results of {count(len(self.outcomes), 'run')}"
        text += f", {len(self.failures)} failed" if self.failures else ""
        return f"{text}, interrupted" if self.interrupted else text

    def _stored(self) -> Document:
        """Return stored numbers as a table. Of each group, the smallest and the largest over seeds."""
        rows: list[list[Cell]] = []
        for group in self.groups:
            runs = group.outcomes
            kind, source = group.gap_kind()
            gaps = [max(one.gap.upper) for one in runs if one.gap is not None]
            ends = [_span(numbers, group.scale) for numbers in (gaps, [sum(one.value) for one in runs if one.value])]
            what = gap_words(kind, source) if kind else ""
            rows.append([group.game, group.learner, len(runs), _span([one.episodes for one in runs]), *ends, what])
        columns = ["game", "learner", "seeds", "episodes", "gap", "welfare", "kind of gap"]
        note = "from the smallest to the largest of the seeds; .table() ranks them by means, with intervals and tests"
        return Document(self._title, [Table("", columns, rows, head=2), note], {})

    def plot(self, *, ax: Any = None, size: tuple[float, float] | None = None, **options: Any) -> Any:
        """Draw reward and gap over episodes. A row is a game, a line a learner, with a band over seeds.

        Parameters
        ----------
        ax : array of matplotlib axes, optional
            A row for each game, in it one for rewards and one for each kind of gap, in the order in which the learners
            have them; new ones of pyplot if not given. Nash gaps, which are of product policies, are drawn with cce
            gaps. Exact gaps and bounds share an axis; bounds are dashed, estimates dotted.
        size : (float, float), optional
            Width and height in inches.
        style : {"screen", "paper"}
            For a paper: as wide as a column, small fonts, which PDF files embed.
        columns : sequence of {"reward", "value", "gap", "l2_gap"}
        agents : sequence of int
            A line for each of these agents instead of agent 0, or the largest gap.
        scale : {"log", "linear"}
            Of gaps; a logarithmic axis is linear just above zero, so that a gap of zero is on it.
        band : {"sd", "ci95", "quartiles", "none"}
        title : str

        Returns
        -------
        array of axes [games, panels]
        """
        return call_hook("plot_groups", self.groups, ax=ax, size=size, **options)


def _span(numbers: Sequence[float], scale: float = 0.0) -> str:
    """Return the smallest and the largest number in writing.

    >>> _span([0.5, 0.25]), _span([20_000, 20_000]), _span([])
    ('0.25 to 0.5', '20,000', '—')
    """
    ends = [min(numbers), max(numbers)] if numbers else []
    written = [f"{end:,}" if isinstance(end, int) else f"{drop_noise(end, scale):.4g}" for end in ends]
    return " to ".join(dict.fromkeys(written)) or "—"


def _place(one: Outcome) -> tuple[float, int]:
    """Return where a run stands in its experiment."""
    return (math.inf if one.spec.position is None else one.spec.position, one.spec.seed)


def group_outcomes(outcomes: Sequence[Outcome]) -> list[Group]:
    """Sort outcomes by game and learner. Those that differ in a parameter are named by it."""
    games: dict[str, tuple[GameSpec, Mapping[str, Any]]] = {}
    learners: dict[str, tuple[str, Mapping[str, Any]]] = {}
    runs: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        spec = one.spec
        game = (spec.game, spec.game.params)
        limits = {key: getattr(spec.options, key) for key in ("episodes", "points", "gap", "seconds")}
        learner = (spec.label, {**spec.learner.params, **limits})
        game_key = f"{spec.game.name} {spec.game.params} {spec.tables}"
        learner_key = f"{learner} {spec.learner.name} {spec.options.certify}"
        games[game_key], learners[learner_key] = game, learner
        runs.setdefault((game_key, learner_key), []).append(one)
    called = game_names([game for game, _ in games.values()])
    labelled = [(name, params) for name, (_, params) in zip(called, games.values(), strict=True)]
    shown = dict(zip(games, _number_equal(distinguish(labelled)), strict=True))
    names = dict(zip(learners, distinguish(list(learners.values())), strict=True))
    return [Group(shown[game], names[learner], members) for (game, learner), members in runs.items()]


def game_names(games: Sequence[GameSpec]) -> list[str]:
    """Return the labels of games. One whose label another has too is called by its name."""
    names_by_label: dict[str, set[str]] = {}
    for game in games:
        names_by_label.setdefault(game.label or game.name, set()).add(game.name)
    return [game.label if game.label and len(names_by_label[game.label]) == 1 else game.name for game in games]


def _number_equal(names: Sequence[str]) -> list[str]:
    """Return names, those that occur more than once with their number.

    >>> _number_equal(["mine", "chicken", "mine"])
    ['mine #1', 'chicken', 'mine #2']
    """
    totals, numbers = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        numbers[name] += 1
        numbered.append(f"{name} #{numbers[name]}" if totals[name] > 1 else name)
    return numbered


def distinguish(named: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return names; those that are the same, with the parameters in which they differ.

    >>> distinguish([("npg", {"eta": 0.1}), ("npg", {"eta": 0.2}), ("pg-storm", {"eta": 0.1})])
    ['npg (eta=0.1)', 'npg (eta=0.2)', 'pg-storm']
    """
    names = []
    for name, params in named:
        others = [more for other, more in named if other == name]
        differ = [key for key in params if any(more.get(key) != params[key] for more in others)]
        names.append(f"{name} ({', '.join(f'{key}={params[key]}' for key in differ)})" if differ else name)
    return names
