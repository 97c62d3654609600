"""What learning returns."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import call_hook, check
from tacit.core.display import Document, drop_noise, number
from tacit.core.errors import TacitError, brief
from tacit.core.registry import require
from tacit.core.types import FloatArray, IntArray
from tacit.engine import conclusion
from tacit.evaluation import deviation_table, uniform_gap
from tacit.evaluation.gaps import evaluate_returned
from tacit.evaluation.proof import Proof, prove
from tacit.evaluation.solve import useful_optimum
from tacit.games.atlas import recommend
from tacit.games.exact import ExactGame, as_exact
from tacit.games.protocol import Game, count_steps
from tacit.games.tabular import as_tables
from tacit.policies import MarkovPolicy, RecordedPolicy

#: A gap is close to the smallest if it is larger by at most this share of the uniform policy's gap, or of the smallest.
OF_UNIFORM, OF_SMALLEST = 0.02, 0.1
#: Where a preference is given, up to this share of the uniform policy's gap.
TOLERANCE = 0.1
#: Values count as equal within this share of the largest.
_EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class Gaps:
    """Bounds on what each agent can gain by deviating, in the game's units.

    Attributes
    ----------
    kind : {"cce", "ce", "nash"}
        Which deviations count.
    upper : array [N]
        Upper bounds.
    source : {"exact", "certificate", "model-free", "estimate", "none"}
        The exact gap (of a Markov policy, or over one step); an upper bound from the game's tables; each
        agent's confidence bound from V̄ and V̲, which holds with the theorem's probability since its parameters, ι among
        them, are the theorem's; estimates (1/K)·Σ(V̄_1 − V̲_1) with other parameters, which are no bounds; or nothing
        is known.
    most : float
        The horizon, or 1/(1 − γ), times the span of the rewards: no gap is larger.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.engine import Gaps
    >>> Gaps("cce", np.array([0.1, 0.3]), "certificate", most=7.0).size
    '≤ 0.3'
    """

    kind: str
    upper: FloatArray
    source: str
    most: float = math.inf

    @classmethod
    def unknown(cls, kind: str, agents: int) -> Gaps:
        """Return gaps marked unknown."""
        return cls(kind, np.full(agents, np.nan), "none")

    @property
    def informative(self) -> bool:
        """Whether the largest gap is known any better than that it is at most `most`."""
        return self.source == "exact" or bool(self.upper.max() < self.most * (1 - 1e-12))

    @property
    def gap(self) -> float:
        """The largest upper bound."""
        return float(self.upper.max())

    def __str__(self) -> str:
        if self.source == "none":
            return "no gap measured"
        return f"{self.kind} gap{f' {self.size}' if self.informative else ': no information yet'} ({self.source})"

    @property
    def size(self) -> str:
        """The largest gap with its sign: "= 0.1", "≤ 0.1" or "≈ 0.1"."""
        if self.source == "none":
            return "not known"
        return f"{conclusion.gap_sign(self.source)} {self.gap:.4g}"


#: Gaps, and values [N] where they are known.
Verdict = tuple[Gaps, FloatArray | None]


class Candidate:
    """A policy that a run can return; gaps and values are computed on first use.

    Parameters
    ----------
    policy : policy or None
        None where the run did not keep it.
    judge : callable or None
        Returns gaps and values, where they are not known yet.
    verdict : (Gaps, array [N] or None), optional
        Gaps and values that are known.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("chicken"), "adaptive-v-cce", episodes=200)
    >>> sorted(run.candidates), run.candidates["last"].gaps.source
    (['average', 'last', 'markov', 'product', 'recent'], 'exact')
    """

    def __init__(
        self,
        policy: RecordedPolicy | MarkovPolicy | None,
        judge: Callable[[], Verdict] | None,
        verdict: Verdict | None = None,
    ) -> None:
        self._policy, self._judge, self._verdict = policy, judge, verdict

    @classmethod
    def with_gaps(cls, gaps: Gaps, values: FloatArray | None = None, policy: Any = None) -> Candidate:
        """Return a candidate of known gaps and values, with its policy where that is kept."""
        return cls(policy, None, (gaps, values))

    @classmethod
    def with_exact_gaps(cls, policy: MarkovPolicy, tables: ExactGame | None, kind: str = "nash") -> Candidate:
        """Return a Markov policy with its exact gaps and values, where there are tables.

        A product policy's nash gaps are its gaps of every kind.
        """
        return cls(policy, partial(_evaluate, policy, tables, kind))

    def with_policy(self, policy: RecordedPolicy | MarkovPolicy | None) -> Candidate:
        """Return the same gaps and values with a policy, or without."""
        return Candidate(policy, self._judge, self._verdict)

    def __repr__(self) -> str:
        policy = "not kept" if self._policy is None else repr(self._policy)
        gap = "" if self._verdict is None else f", {self.gaps.kind} gap {self.gaps.size}"
        return f"Candidate({policy}{gap})"

    def _judged(self) -> Verdict:
        if self._verdict is None:
            assert self._judge is not None
            self._verdict = self._judge()
        return self._verdict

    @property
    def measured(self) -> bool:
        """Whether gaps and values have been computed, or marked unknown."""
        return self._verdict is not None

    @property
    def gaps(self) -> Gaps:
        """What each agent can gain by deviating from it."""
        return self._judged()[0]

    @property
    def values(self) -> FloatArray | None:
        """Its exact values [N], where they are known."""
        return self._judged()[1]

    @property
    def gap(self) -> float:
        """The largest upper bound of all agents."""
        return self.gaps.gap

    @property
    def table(self) -> bool:
        """Whether it is a table, which needs no record."""
        return isinstance(self._policy, MarkovPolicy)

    @property
    def policy(self) -> RecordedPolicy | MarkovPolicy:
        """The policy itself."""
        if self._policy is None:
            raise TacitError("this run kept no record (keep=False), so it has no certified policy")
        return self._policy


class Candidates(dict[str, Candidate]):
    """The candidates of a run by name. Its `repr` is a table of those whose gaps have been computed."""

    def __missing__(self, name: object) -> Candidate:
        raise KeyError(f"no candidate {brief(name)}; this run has {', '.join(self)}")

    def __repr__(self) -> str:
        measured = {name: one for name, one in self.items() if one.measured}
        scale = max((one.gaps.most for one in measured.values() if math.isfinite(one.gaps.most)), default=0.0)
        rows = [
            (name, one.gaps.source, one.gap, None if one.values is None else one.values.tolist())
            for name, one in measured.items()
        ]
        others = [f"not evaluated yet: {', '.join(self.keys() - measured)}"] if len(self) > len(measured) else []
        return "\n".join([str(conclusion.candidate_table(rows, scale)), *others])


def _evaluate(policy: MarkovPolicy, tables: ExactGame | None, kind: str) -> tuple[Gaps, FloatArray | None]:
    if tables is None:
        return Gaps.unknown(kind, policy.agents), None
    evaluation = evaluate_returned(tables, policy, gap=None if policy.product else kind)
    low, high = tables.reward_range
    return Gaps(kind, evaluation.gaps, "exact", most=tables.effective_horizon * (high - low)), evaluation.values


def objective(values: FloatArray, prefer: str | int | None) -> float:
    """Return the sum of values [N], for "egalitarian" the least, or an agent's own.

    >>> [objective(np.array([1.0, 3.0]), prefer) for prefer in ("welfare", "egalitarian", 1)]
    [4.0, 1.0, 3.0]
    """
    if isinstance(prefer, int):
        return float(values[prefer])
    return float(values.min() if prefer == "egalitarian" else values.sum())


def choose(
    candidates: Mapping[str, Candidate],
    uniform: Callable[[], float],
    *,
    target: float | None = None,
    prefer: str | int | None = None,
) -> str:
    """Return the name of the candidate to return.

    That is the one with the smallest gap, unless all agents prefer another whose gap is close to it: then the one with
    the smallest gap of those that are close and to which no close one is preferred. With `prefer` it is, of those that
    are close, the one whose values less its gaps have the largest objective. Of equal gaps, the one that is listed
    last. A table replaces another kind of policy whose gap is not smaller by more than a tenth, where values that
    differ by less than a tenth of that gap count as equal.

    Parameters
    ----------
    candidates : mapping of Candidate
        The candidates, by name.
    uniform : callable
        Returns the gap of the uniform policy; called only where it decides.
    target : float, optional
        A gap that the run was to reach: where a candidate has, no larger one is close.
    prefer : {"welfare", "egalitarian"} or int, optional
        By what candidates are compared; a gap is then close if it exceeds the smallest by at most a tenth of the
        uniform policy's.

    Examples
    --------
    >>> import numpy as np
    >>> figures = {"average": (0.0, 96.8), "last": (0.27, 118.3)}
    >>> candidates = {name: Candidate.with_gaps(Gaps("cce", np.full(2, gap), "certificate"), np.full(2, value))
    ...               for name, (gap, value) in figures.items()}
    >>> choose(candidates, lambda: 20.7), choose(candidates, lambda: 5.0), choose(candidates, lambda: 20.7, target=0.1)
    ('last', 'average', 'average')
    """
    best = _choose_any(candidates, uniform, target, prefer)
    if candidates[best].table:
        return best
    gap = candidates[best].gap
    limit = (1 + OF_SMALLEST) * gap
    if target is not None and gap <= target:
        limit = min(limit, target)
    close = [name for name, one in candidates.items() if one.table and one.gap <= limit]
    equal = [name for name in close if not _is_preferred(candidates[best], candidates[name], OF_SMALLEST * gap)]
    if prefer is not None:
        least = net_objective(candidates[best], prefer) - OF_SMALLEST * gap
        equal = [name for name in equal if net_objective(candidates[name], prefer) >= least]
    return min(equal, key=lambda name: candidates[name].gap, default=best)


def _choose_any(
    candidates: Mapping[str, Candidate],
    uniform: Callable[[], float],
    target: float | None,
    prefer: str | int | None,
) -> str:
    """Return the candidate to return, whatever kind of policy it is."""
    position = {name: k for k, name in enumerate(candidates)}
    ranked = sorted(candidates, key=lambda name: (candidates[name].gap, -position[name]))
    first = candidates[ranked[0]]
    if prefer is None and not any(_is_preferred(one, first) for one in candidates.values()):
        return ranked[0]
    limit = limit_gap(first.gap, uniform, OF_UNIFORM if prefer is None else TOLERANCE)
    if target is not None and first.gap <= target:
        limit = min(limit, target)
    close = [name for name in ranked if candidates[name].gap <= limit]
    if prefer is not None:
        return max(close, key=lambda name: net_objective(candidates[name], prefer))
    members = [candidates[name] for name in close]
    return next(name for name in close if not any(_is_preferred(other, candidates[name]) for other in members))


def limit_gap(smallest: float, uniform: Callable[[], float], share: float) -> float:
    """Return up to which gap one is close to the smallest."""
    return smallest + max(share * uniform(), OF_SMALLEST * smallest)


def net_objective(one: Candidate, prefer: str | int | None) -> float:
    """Return the objective of a candidate's values less its gaps."""
    return -math.inf if one.values is None else objective(one.values - one.gaps.upper, prefer)


def _is_preferred(one: Candidate, other: Candidate, least: float = 0.0) -> bool:
    """Return whether some agent gains more than `least`, and none loses."""
    if one.values is None or other.values is None:
        return False
    more = one.values - other.values
    equal = max(least, _EQUAL * max(float(np.abs(one.values).max()), float(np.abs(other.values).max())))
    return bool((more >= -equal).all() and (more > equal).any())


#: From this share of the gap of the uniform policy on, nothing was learned.
NO_BETTER = 0.9
#: A gap grows if from the second quarter of a run to the last it became so many times as large.
GROWS = 1.25
#: It stalls if it lost less than this share there, and ends above `SMALL` of that of the uniform policy.
STALLS, SMALL = 0.05, 0.1
#: Curves of fewer rows say nothing about the way.
ROWS = 10


class Advice(NamedTuple):
    """What is wrong, in one word, and a sentence."""

    kind: str  # "uniform", "grows", "stalls" or "blank"
    text: str


def advise(
    curve: npt.NDArray[Any],
    gap: float,
    uniform: float | None,
    most: float,
    *,
    informative: bool,
    instead: str,
    unit: str = "episodes",
) -> tuple[Advice, ...]:
    """Say what is wrong with a run, most telling first; nothing where nothing is.

    Parameters
    ----------
    curve : structured array
        With the columns episode and gap.
    gap : float
        The gap of the returned policy.
    uniform : float or None
        The gap of the uniform policy, where it is known.
    most : float
        No gap is larger.
    informative : bool
        Whether the gap is known any better than that.
    instead : str
        What to try.
    unit : str
        What the curve counts.
    """
    episodes = f"{int(curve['episode'][-1]):,} {unit}"
    if not informative:
        return (Advice("blank", f"after {episodes} the bound is still the trivial one; {instead}"),)
    advice = []
    if uniform is not None and uniform > 1e-9 * most and gap >= NO_BETTER * uniform:
        share = f"{100 * gap / uniform:.0f} % of its gap of {uniform:.4g}"
        advice.append(
            Advice(
                "uniform",
                f"after {episodes} the returned policy is no better than the uniform policy ({share}); {instead}",
            )
        )
    gaps = curve["gap"]
    small = SMALL * (most if uniform is None or uniform <= 1e-9 * most else uniform)
    if len(curve) < ROWS or not np.isfinite(gaps).all() or gap <= small:
        return tuple(advice)
    rows = len(curve)
    then, now = float(np.median(gaps[rows // 4 : rows // 2])), float(np.median(gaps[-rows // 4 :]))  # gaps fluctuate
    moved = f"it was {then:.4g} in the second quarter of the run and {now:.4g} in the last"
    if now > GROWS * then:
        advice.append(Advice("grows", f"the gap grows: {moved}; {instead}"))
    elif not advice and now > (1 - STALLS) * then:
        advice.append(Advice("stalls", f"the gap hardly moves: {moved}; {instead}"))
    return tuple(advice)


def _suggest(learner: str, kind: str, unit: str) -> str:
    """Return what to try where the result of a learner is not good."""
    default = "adaptive-v-ce" if kind == "ce" else "adaptive-v-cce"
    if unit == "periods":
        return f"try more periods, or episodes of {default}, which has no hyperparameters"
    other = "more episodes" if learner in ("portfolio", default) else f"{default}, which has no hyperparameters"
    return f"try {other}, or `tacit compare` for all learners that fit"


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run of learning.

    Attributes
    ----------
    game : TabularGame, or EnvironmentGame where there are no tables
    learner : str
    episodes, seed : int
        Episodes that were played, and the seed that everything random came from.
    last : MarkovPolicy
        The last iterate, a product policy.
    sampled : MarkovPolicy or None
        For policy gradients, an iterate drawn evenly from all: what their theorem is about.
    candidates : dict of Candidate
        What the run can return, by name.
    chosen : str
        The candidate that `policy`, `gaps` and `values` are of: where gaps are known the one with the smallest, unless
        all agents prefer another whose gap is larger by at most 2 % of the uniform policy's, or by a tenth of itself; a
        table (a Markov policy) unless another kind of policy is better by more than a tenth.
    reward : array [N]
        Mean return of each agent over the last tenth of the episodes.
    curve : structured array
        One row for each window of episodes: episode, reward, value, gap (of agent 0, agent 0, and the largest), and
        for each agent i reward_i, value_i, gap_i; value and gap are of what would have been returned then, tables
        of recorded policies left out, which are made at the end. Learners of
        certified policies add gap_average, gap_recent and gap_last, the largest of each candidate, those of Markov
        policies l2_gap, and the means over iterates average_value, average_gap and average_l2_gap: of all iterates in
        games of at most 64 numbers (steps × states × joint actions), of those at the points of the curve in larger
        ones; averaged says of how many. It opens in pandas and polars.
    params : mapping
        The learner's parameters in force.
    seconds : float
        Learning time, compilation left out.
    ended : {"episodes", "periods", "gap", "seconds", "tolerance", "still", "memory", "interrupted"}
        What ended it: all episodes were played, a limit given to `tacit.learn` or the learner's own was reached, memory
        had no room for more of the record, or Ctrl-C. Where "seconds" and "memory" end a run depends on the machine.
    notes : tuple of str
        What was found or decided during the run.
    warnings : tuple of str
        What `tacit.learn` has warned of.
    error : Exception or None
        What an environment failed with, which ended the run early; `raise_error` raises it.
    planned : int or None
        Episodes that were asked for.
    place : int or None
        Of play that never resets, whose `episodes` are periods: the state that it ended in.
    visits : int array [S] or None
        Of play that never resets: how many periods it was in each state.
    returns : dict or None
        In an environment: mean return over agents and both ends of its 95 % interval, of the returned "policy" and of
        "random" play on fresh episodes, and of the "first tenth" of training.
    causes : tuple of Advice
        In an environment: why the returned policy is no better than random play, where it is not.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("chicken"), "adaptive-v-cce", episodes=200, points=4)
    >>> run.ended, len(run.curve), run.gaps.kind
    ('episodes', 4, 'cce')
    """

    game: Game
    learner: str
    episodes: int
    seed: int
    last: MarkovPolicy
    candidates: Mapping[str, Candidate]
    chosen: str
    reward: FloatArray
    curve: npt.NDArray[Any]
    params: Mapping[str, Any]
    seconds: float
    ended: str
    sampled: MarkovPolicy | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    error: Exception | None = None
    planned: int | None = None
    place: int | None = None
    visits: IntArray | None = None
    returns: Mapping[str, tuple[float, float, float]] | None = None
    causes: tuple[Advice, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, Mapping) or self.chosen not in self.candidates:
            raise TacitError(f"chosen must be the name of one of the candidates; got {brief(self.chosen)}")
        object.__setattr__(self, "candidates", Candidates(self.candidates))
        for policy in (self.last, self.sampled, *(one._policy for one in self.candidates.values())):
            if policy is not None:
                policy.game = self.game  # for people: names, and what is reached

    def show(self, *, everything: bool = False, limit: int | None = 40) -> Document:
        """Show the run's policy and where its gap comes from, exactly. Of an environment, the policy alone.

        >>> import tacit
        >>> run = tacit.learn(tacit.make("prisoners-dilemma"), "npg", episodes=50, eta=0.5)
        >>> print(str(run.show()).splitlines()[0])
        Run('npg', 50 episodes, seed 0, nash gap = ... (exact))
        """
        shown = self.policy.show(everything=everything, limit=limit)
        parts: list[Any] = [shown.title, *shown.parts]
        data = {"run": repr(self), "policy": shown.data}
        if self.exact is not None and isinstance(self.policy, MarkovPolicy):
            gains = deviation_table(self.exact, self.policy, gap=self.gaps.kind).show()
            parts += [gains.title, *gains.parts]
            data["deviations"] = gains.data
        return Document(repr(self), parts, data)

    def plot(self, **options: Any) -> Any:
        """Draw the run's curve: reward and gap over episodes, or other columns of it.

        Parameters
        ----------
        ax : matplotlib axes, or as many as there are columns; optional
            New ones of pyplot if not given.
        columns : sequence of str, optional
            Columns of `run.curve`, e.g. ["gap_average", "gap_last"]: an axis for each, which says what
            kind of gap it is.
        agents : sequence of int, optional
            Draw a line for each of these agents.
        scale : {"log", "linear"}
            Of gaps; a logarithmic axis is linear just above zero, so that a gap of zero is on it.
        title, size : optional
            The title, and (width, height) in inches.
        style : {"screen", "paper"}
            For a paper: as wide as a column, small fonts, which PDF files embed.

        Returns
        -------
        axes
            One for a single column, otherwise an array of them.
        """
        return call_hook("plot_run", self, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a new directory, as experiments do. `tacit plot`, `report` and `evaluate` read it too.

        The returned policy and the last iterate are stored; of other candidates, gaps and values. A game with tables is
        stored beside them; of an environment, what was observed.

        >>> import pathlib, tempfile
        >>> import tacit
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "first"
        >>> tacit.learn("chicken", "npg", episodes=20).save(folder)
        >>> tacit.Run.load(folder).episodes
        20
        """
        call_hook("save_run", self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, game: Any = None) -> Run:
        """Read a run that `save` or an experiment wrote; nothing in it is executed.

        Parameters
        ----------
        path : path
            The run's directory.
        game : game, optional
            The game that was learned, where the directory neither holds nor names one of this package; or the
            environment, which `exploit` plays.
        """
        return call_hook("load_run", path, game)  # type: ignore[no-any-return]

    def to_frame(self) -> Any:
        """Return the curve as a pandas DataFrame, a row for each measurement, by episode.

        >>> import tacit
        >>> run = tacit.learn(tacit.make("chicken"), "npg", episodes=20, points=4)
        >>> run.to_frame().index.tolist()
        [5, 10, 15, 20]
        """
        return require("pandas", "pandas").DataFrame(self.curve).set_index("episode")

    def prove(self) -> Proof:
        """Prove the gap of the run's Markov policy, once. From then on `print(run)` says what was proven.

        >>> import tacit
        >>> run = tacit.learn(tacit.make("prisoners-dilemma"), "npg", episodes=50, eta=0.5)
        >>> bool(abs(run.prove().bound - run.gap) < 1e-9)
        True
        """
        return self._proof

    @cached_property
    def _proof(self) -> Proof:
        return prove(self.game, self.policy, gap=self.gaps.kind)

    def raise_error(self) -> None:
        """Raise what ended the run early, if an environment failed."""
        if self.error is not None:
            raise TacitError(f"after {self.episodes} episodes: {self.error}") from self.error

    def exploit(self, candidate: str | None = None, **options: Any) -> Any:
        """Train best responses against the run's policy, or another candidate, where it was learned.

        Returns what `tacit.exploit` returns, and takes its options: gains with intervals, and a lower bound on the gap.
        """
        if candidate is not None:
            check.choice("candidate", candidate, self.candidates)
        return call_hook("exploit", self.game, self.candidates[candidate or self.chosen].policy, **options)

    @property
    def unit(self) -> str:
        """What `episodes` counts: episodes, or periods of play that never resets."""
        return "episodes" if self.place is None else "periods"

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C, or an environment that failed, ended it early."""
        return self.ended == "interrupted"

    @property
    def policy(self) -> RecordedPolicy | MarkovPolicy:
        """What to play."""
        return self.candidates[self.chosen].policy

    @property
    def gaps(self) -> Gaps:
        """The equilibrium gap of `policy`, exact or bounded, for each agent."""
        return self.candidates[self.chosen].gaps

    @property
    def values(self) -> FloatArray | None:
        """Exact values of `policy` [N], where they are known."""
        return self.candidates[self.chosen].values

    @property
    def gap(self) -> float:
        """Upper bound on the gap of `policy`, the largest of all agents."""
        return self.gaps.gap

    @property
    def steps_per_second(self) -> float:
        """Environment steps over learning time."""
        steps = self.episodes * (count_steps(self.game) if self.place is None else 1)
        return steps / self.seconds if self.seconds > 0 else 0.0

    @property
    def exact(self) -> ExactGame | None:
        """The game, where policies can be evaluated exactly in it."""
        return as_exact(self.game)

    @cached_property
    def uniform_gap(self) -> float | None:
        """Exact nash gap of the uniform policy, where the game has tables."""
        return None if self.exact is None else uniform_gap(self.exact)

    @cached_property
    def optimum(self) -> float | None:
        """The largest welfare, where quickly known and not the same for every policy."""
        game = as_tables(self.game)
        return None if game is None else useful_optimum(game)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """What is wrong with the result, if anything is, and what to try."""
        if self.causes or self.gaps.source == "none":
            return self.causes
        uniform = self.uniform_gap if self.gaps.source in ("exact", "certificate") else None
        informative, most = self.gaps.informative, self.gaps.most
        instead = "; ".join(
            filter(None, [recommend(self.game, self.learner), _suggest(self.learner, self.gaps.kind, self.unit)])
        )
        return advise(self.curve, self.gap, uniform, most, informative=informative, instead=instead, unit=self.unit)

    def __repr__(self) -> str:
        cut, of = "", ""
        if self.interrupted:
            cut = ", interrupted" if self.error is None else ", interrupted by an error (run.error)"
            of = "" if self.planned is None else f" of {self.planned}"
        episodes = self.unit.removesuffix("s") if self.episodes == 1 and not of else self.unit
        gap = f", {self.gaps}" if self.candidates[self.chosen].measured else ""
        return f"Run({self.learner!r}, {self.episodes}{of} {episodes}, seed {self.seed}{cut}{gap})"

    def __str__(self) -> str:
        title = [self.game.name or type(self.game).__name__, self.learner, f"{self.episodes:,} {self.unit}"]
        title += [f"seed {self.seed}", *(["interrupted"] if self.interrupted else [])]
        facts = self._facts()
        if "_proof" in self.__dict__:  # checked, and rounded up
            facts["proven"] = f"gap ≤ {self._proof.size} (run.prove())"
        return conclusion.lay_out(title, facts, [advice.text for advice in self.advice])

    def _facts(self) -> dict[str, str]:
        """Return what `print(run)` says, one fact a line."""
        gaps, values, scale = self.gaps, self.values, self._scale
        facts = {conclusion.gap_label(gaps.kind): "not known" if gaps.source == "none" else conclusion.UNINFORMATIVE}
        if gaps.source != "none" and gaps.informative:
            size = conclusion.size_gap(gaps.source, drop_noise(gaps.gap, scale))
            facts[conclusion.gap_label(gaps.kind)] = conclusion.gap_fact(gaps.source, size, self.uniform_gap)
        if values is not None:
            exact, welfare = drop_noise(values.tolist(), scale), drop_noise(float(values.sum()), scale)
            facts["values"] = conclusion.values_fact(exact, number(welfare), self.optimum)
        else:
            facts["reward"] = conclusion.reward_fact(self.reward.tolist())
        if self.returns is not None:
            facts["return"] = conclusion.return_fact(self.returns)
        kind = conclusion.policy_kind(self.candidates[self.chosen]._policy)
        facts["policy"] = conclusion.policy_fact([kind], [self.chosen])
        sources = [one.gaps.source for one in self.candidates.values() if one.gaps.source != "none"]
        if len(sources) > 1:
            facts["selected"] = conclusion.selected_fact(sources)
        if self.ended not in ("episodes", "periods"):
            facts["stopped"] = conclusion.ENDED[self.ended] if self.error is None else str(self.error)
        facts["time"] = conclusion.time_fact(self.seconds, self.steps_per_second)
        return facts

    @property
    def _scale(self) -> float:
        """The size of rewards, values and gaps; what is far below it is rounding."""
        most = self.gaps.most if math.isfinite(self.gaps.most) else 0.0
        return max(
            most, float(np.abs(self.reward).max()), float(np.abs(0.0 if self.values is None else self.values).max())
        )
