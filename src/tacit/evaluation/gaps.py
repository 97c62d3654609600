"""How far a Markov policy is from an equilibrium, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.display import Cell, Document, Table, number
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.behaviour import behaviour
from tacit.evaluation.certificate import bound_source
from tacit.evaluation.certified import certified_bound
from tacit.evaluation.values import (
    Play,
    backward,
    choose,
    deviations,
    forward,
    largest_return,
    occupancy,
    shift_rewards,
    steps,
    tables,
)
from tacit.games.exact import ExactGame, check_exact, seconds_over_joint_actions
from tacit.games.showing import action_names, state_name
from tacit.policies.markov import MarkovPolicy, check_policy
from tacit.policies.recorded import RecordedPolicy

#: Rounding that a gap may show below zero, relative to the largest return in absolute value.
ROUNDING = 1e-9

#: What takes more seconds than this by the estimate (several times as long on a busy machine) is left out after Ctrl-C.
_QUICK = 0.2

_UNIFORM_GAPS: WeakKeyDictionary[ExactGame, float] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The values of a policy, and what each agent could gain by deviating from it.

    Attributes
    ----------
    values : array [N]
        Expected return from the initial distribution.
    gaps : array [N]
        Gain of each agent's best deviation: exact for a Markov policy and in a game of one step, else an upper bound.
    gap : float
        The largest of them.
    kind : {"nash", "cce", "ce"}
    exact : bool
        Whether the gaps are exact; the values always are.
    subgame_gap : float or None
        The largest gain of any agent from any step and state on, reached or not; 0 for a Markov perfect equilibrium.
        None for a recorded policy, which has a hidden index.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("matching-pennies")
    >>> tacit.evaluate(game, tacit.MarkovPolicy.deterministic([[[0]], [[0]]], [2, 2])).gaps
    array([0., 2.])
    """

    values: FloatArray
    gaps: FloatArray
    gap: float
    kind: str
    exact: bool
    subgame_gap: float | None = field(default=None, repr=False)


def evaluate(game: ExactGame, policy: MarkovPolicy | RecordedPolicy, *, gap: str | None = None) -> Evaluation:
    """Evaluate a policy by backward induction. `tacit.evaluate` does so too, and takes more kinds of policies.

    Exact for Markov policies and games of one step; otherwise the gaps of recorded ones are upper bounds.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy, RecordedPolicy
    gap : {"nash", "cce", "ce"}, optional
        Which deviations count; by default nash for a product policy and cce for a correlated one.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.evaluation import evaluate
    >>> game = tacit.make("chicken")
    >>> evaluate(game, tacit.MarkovPolicy(np.array([[[[1/3, 1/3], [1/3, 0]]]])), gap="ce")
    Evaluation(values=array([5., 5.]), gaps=array([0., 0.]), gap=0.0, kind='ce', exact=True)
    """
    game, least = shift_rewards(check_exact(game))
    subgame = None
    if isinstance(policy, RecordedPolicy):
        kind, exact = "cce" if gap is None else gap, bound_source(game) == "exact"
        values, gaps = certified_bound(game, policy, kind)
    else:
        check_policy(policy)
        kind, exact = ("nash" if policy.product else "cce") if gap is None else gap, True
        best = deviations(game, policy, kind)
        values = dot(best.V[:, 0], game.initial)
        gaps = dot(best.best[:, 0], game.initial) - values
        subgame = max(float((best.best - best.V).max()), 0.0)
    # an agent that ignores a correlated draw may do worse than one that follows it; it then follows: a gain of zero
    may_lose = kind == "cce" and not policy.product
    if not may_lose and gaps.min() < -ROUNDING * largest_return(game):  # no assert: it must hold under python -O too
        raise RuntimeError(f"a gap came out negative ({gaps.min()}): a defect of tacit, please report it")
    gaps = np.maximum(gaps, 0.0)
    return Evaluation(values + least * game.effective_horizon, gaps, float(gaps.max()), kind, exact, subgame)


def evaluate_returned(game: ExactGame, policy: MarkovPolicy, *, gap: str | None = None) -> Evaluation:
    """Evaluate a policy as it is returned. One of a stretch counts as a stationary policy of the discounted game."""
    return evaluate(game, policy, gap=gap) if game.endless is None else merge_steps(game, policy, gap=gap)[1]


def merge_steps(game: ExactGame, policy: MarkovPolicy, *, gap: str | None = None) -> tuple[MarkovPolicy, Evaluation]:
    """Return a stretch's policy as a stationary one of the discounted game, with its evaluation.

    The tables of all steps are averaged with weights γ^h, or the first one is taken, which looks furthest ahead:
    whichever has the smaller exact gap. What is the same at all steps is taken as it is.

    >>> import tacit
    >>> stretch = tacit.make("chicken", discount=0.9).to_random_horizon()
    >>> merge_steps(stretch, tacit.MarkovPolicy.uniform(stretch))[0]
    MarkovPolicy(product, 2 agents, 1 state, 2×2 actions, the same at every step)
    """
    endless = game.endless
    if endless is None:
        raise TacitError(f"game must be a stretch of a discounted game; got {game!r}")
    S = endless.states
    choices = [[probs[:1, :S] for probs in policy.probs]]
    if any((probs[:, :S] != first).any() for probs, first in zip(policy.probs, choices[0], strict=True)):
        weight = endless.discount ** np.arange(game.horizon)
        choices.insert(0, [_average_steps(probs[:, :S], weight) for probs in policy.probs])
    evaluated = []
    for probs in choices:
        merged = MarkovPolicy(probs if policy.product else probs[0])
        evaluated.append((merged, evaluate(endless, merged, gap=None if policy.product else gap)))
    return min(evaluated, key=lambda pair: pair[1].gap)


def _average_steps(table: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the mean [1, S, …] of tables [T or 1, S, …] by the weight [T] of their steps."""
    if len(table) == 1:
        return table
    mean: FloatArray = np.einsum("h,hsa->sa", weight, table.reshape(*table.shape[:2], -1))
    mean /= mean.sum(axis=1, keepdims=True)
    return mean.reshape(1, *table.shape[1:])


def lower_bounds(game: ExactGame, policy: RecordedPolicy) -> FloatArray:
    """Return lower bounds [N] on the cce and ce gaps of a recorded policy. One fixed deviation gains them, exactly.

    The deviation is each agent's best response to what the others play on average at each step and state, played
    whatever the hidden index is. What any deviation gains is a lower bound on the cce gap; and on the ce gap too, since
    who may swap recommendations may also ignore them.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : RecordedPolicy

    Returns
    -------
    array [N]

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import lower_bounds
    >>> game = tacit.make("chicken")
    >>> policy = tacit.learn(game, "adaptive-v-cce", episodes=500).candidates["average"].policy
    >>> bool((lower_bounds(game, policy) <= tacit.evaluate(game, policy).gaps + 1e-12).all())
    True
    """
    average = behaviour(game, policy)
    mean = MarkovPolicy(list(average.marginals) if average.joint is None else average.joint)
    fixed = np.stack(deviations(game, mean, "cce").choices)  # [N, H, S]
    lower: FloatArray = np.maximum(certified_bound(game, policy, "cce", fixed=fixed)[1], 0.0)
    return lower


def uniform_gap(game: ExactGame) -> float:
    """Return the exact gap of the uniform policy, of whichever kind. For product policies they are the same.

    It is computed once for each game; of a stretch it is that of the discounted game.

    Parameters
    ----------
    game : TabularGame or CountGame

    Returns
    -------
    float

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import uniform_gap
    >>> uniform_gap(tacit.make("matching-pennies")), uniform_gap(tacit.make("prisoners-dilemma"))
    (0.0, 0.75)
    """
    if check_exact(game) not in _UNIFORM_GAPS:
        _UNIFORM_GAPS[game] = evaluate_returned(game, MarkovPolicy.uniform(game)).gap
    return _UNIFORM_GAPS[game]


def l2_gap(game: ExactGame, policy: MarkovPolicy, *, tie: float = 1e-9) -> float:
    """Return the squared L² distance of each agent's policy to its best response, summed. [Mao2022, eqn:gap]

    Generalised to Markov games as Σ_i Σ_h E_{s ~ d_h} ‖π_{h,i}(·|s) − π†_{h,i}(·|s)‖², with d the occupancy of π. Of a
    stretch it is that of the stationary policy in the discounted game.

    Deviations: where several actions are best, the nearest distribution over them counts, for otherwise a mixed
    equilibrium would be at a distance from itself. Weighting by the occupancy makes the gap zero exactly where the
    nash gap is.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
        A product policy.
    tie : float
        Actions count as equally good within this fraction of the span of returns.

    Returns
    -------
    float

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("rock-paper-scissors")
    >>> tacit.evaluation.l2_gap(game, tacit.MarkovPolicy.uniform(game))
    0.0
    """
    check_exact(game)
    check_policy(policy, product="the L² gap")
    tie = check.real("tie", tie, least=0)
    policy.check_fits(game)
    if game.endless is not None:
        game, policy = game.endless, merge_steps(game, policy)[0]
    return float(_measure(game, policy.at, tie).l2_gaps)


class IterateMeasures(NamedTuple):
    """Of n policies."""

    values: FloatArray  # [n, N]
    gaps: FloatArray  # [n, N]
    l2_gaps: FloatArray  # [n]


def evaluate_iterates(game: ExactGame, table: FloatArray) -> IterateMeasures:
    """Evaluate many product policies at once, the iterates of a run. Each has a value, a nash gap and an L² gap.

    Parameters
    ----------
    game : TabularGame or CountGame
    table : array [n, N, H, S, A]
        The policies, padded to the largest number of actions A.

    Returns
    -------
    IterateMeasures
        Value [n, N], nash gap [n, N] and L² gap [n] of each policy.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.evaluation import evaluate_iterates
    >>> found = evaluate_iterates(tacit.make("matching-pennies"), np.full((1, 2, 1, 1, 2), 0.5))
    >>> found._fields
    ('values', 'gaps', 'l2_gaps')
    """
    check_exact(game)
    shape = game.agents, game.horizon, game.states, max(game.actions)
    if not isinstance(table, np.ndarray) or table.dtype.kind != "f" or table.shape[1:] != shape:
        raise TacitError(f"table must be an array [n, {', '.join(map(str, shape))}] of numbers; got {brief(table)}")
    rows = [np.ascontiguousarray(np.moveaxis(table[:, i, :, :, :a], 1, 0)) for i, a in enumerate(game.actions)]
    return _measure(game, tables(rows), 1e-9)


def _measure(game: ExactGame, rows_at: Play, tie: float) -> IterateMeasures:
    """Return values, nash gaps and L² gaps of independent agents. Axes in front are kept."""
    game, least = shift_rewards(game)
    slack = tie_slack(game, tie)
    d = forward(game, rows_at)
    away: FloatArray = np.zeros(d.shape[:-2])
    for step in backward(game, rows_at, "nash"):
        for i, row in enumerate(step.rows):
            far = distances_to_best(row, step.gains[..., i, :, : row.shape[-1]], slack)
            away = away + np.einsum("...s,...s->...", d[..., step.h, :], far)
    values = dot(step.V, game.initial)
    gaps = np.maximum(dot(step.best, game.initial) - values, 0.0)
    return IterateMeasures(values + least * game.effective_horizon, gaps, away)


def tie_slack(game: ExactGame, tie: float) -> float:
    """Return the difference in payoff up to which actions count as equally good."""
    low, high = game.reward_range
    return game.effective_horizon * max(tie * (high - low), 1e-12 * max(abs(low), abs(high)))  # the second is rounding


def distances_to_best(row: FloatArray, payoffs: FloatArray, slack: float) -> FloatArray:
    """Return squared distances [..., S] of distributions [..., S, A] to the nearest best response."""
    good = payoffs >= payoffs.max(axis=-1, keepdims=True) - slack
    # the nearest point of that face spreads the missing mass m evenly: m²/|face| from it, and what lies off
    off = np.where(good, 0.0, row)
    away: FloatArray = (off**2).sum(axis=-1) + off.sum(axis=-1) ** 2 / good.sum(axis=-1)
    return away


# how long an evaluation takes, from the operations that it needs: known before it begins


def seconds_to_evaluate(game: ExactGame, policy: MarkovPolicy | RecordedPolicy) -> float:
    """Return roughly how long `evaluate` takes.

    >>> import tacit
    >>> game = tacit.make("chicken")
    >>> seconds_to_evaluate(game, tacit.MarkovPolicy.uniform(game)) < 0.01
    True
    """
    if isinstance(policy, MarkovPolicy):
        visits, joint = game.horizon * game.states, not policy.product
    else:
        visits, joint = max(record.visit_count for record in policy.records), False
    return seconds_over_joint_actions(game, visits) if joint else game.seconds_to_answer(visits)


def in_words(seconds: float) -> str:
    """Say how long something takes.

    >>> in_words(1), in_words(90), in_words(300), in_words(20_000)
    ('about a second', 'about 90 s', 'about 5 min', 'about 6 h')
    """
    if seconds < 2:
        return "about a second"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.0f} h"


def is_quick(game: ExactGame, policy: MarkovPolicy | RecordedPolicy) -> bool:
    """Return whether there is time to evaluate a policy even after Ctrl-C."""
    return seconds_to_evaluate(game, policy) <= _QUICK


def check_cost(seconds: float, most: float, what: str) -> None:
    """Raise where something takes longer than is allowed, and say how to allow it.

    >>> check_cost(300.0, 60.0, "its exact evaluation")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: its exact evaluation takes about 5 min; --seconds 600 allows it
    """
    if seconds > most:
        raise TacitError(f"{what} takes {in_words(seconds)}; --seconds {2 * seconds:.0f} allows it")


# a gap taken apart ----------------------------------------------------------------------------------------------------


#: How many evaluations taking a gap apart is worth.
APART = 3

#: One term of a gap.
TERM = np.dtype(
    [
        ("agent", np.int64),
        ("step", np.int64),
        ("state", np.int64),
        ("instead_of", np.int64),
        ("play", np.int64),
        ("prob", np.float64),  # of being there, and of playing `instead_of` or having it recommended
        ("gain", np.float64),  # each time
        ("share", np.float64),  # of the gap: prob times gain
    ]
)

#: Terms below this share of the largest return are rounding, and left out.
_NEGLIGIBLE = 1e-12


@dataclass(frozen=True, eq=False)
class DeviationTable:
    """A gap taken apart: who gains what by playing what instead of what, and where.

    For a policy π and agent i's best deviation, with Q†(a) the value of playing a and deviating afterwards, the gap is

        gap_i = Σ_h Σ_s d_h(s) Σ_b π_i(b | s) · (Q†(a*) − Q†(b)),

    d the probability of being in s at step h under π, a* what the deviation plays there. With a correlated policy the
    payoffs are those given that b was recommended. Terms of a nash or ce gap are never negative; those of a cce gap can
    be, because who ignores recommendations plays one action whatever is recommended.

    Attributes
    ----------
    game : TabularGame or CountGame
    kind : {"nash", "cce", "ce"}
    gaps : array [N]
        As `tacit.evaluate` has them.
    sums : array [N]
        The sum of each agent's terms: the gap, or below zero where a cce gap is zero because who ignores
        recommendations does worse.
    terms : structured array
        agent, step, state, instead_of, play, prob, gain, share: the largest share first. It opens in pandas.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> found = tacit.evaluation.deviation_table(game, tacit.MarkovPolicy.deterministic([[[1]], [[1]]], [2, 2]))
    >>> found.gaps.tolist()
    [0.0, 0.0]
    """

    game: ExactGame
    kind: str
    gaps: FloatArray
    sums: FloatArray
    terms: npt.NDArray[Any]

    def show(self, *, limit: int | None = 12) -> Document:
        """Show the largest terms; None shows all."""
        most = len(self.terms) if limit is None else check.integer("limit", limit, least=1)
        rows = [self._row(term) for term in self.terms[:most]]
        gap = f"{self.kind} gap = {number(float(self.gaps.max()))}"
        title = f"who gains by deviating: {gap} (exact), the largest of {self.game.agents} agents"
        parts: list[str | Table] = []
        if rows:
            caption = "gain: each time; share: gain times probability. An agent's shares add up to its gap"
            if self.game.discount is not None:
                caption += "; prob: expected visits, discounted"
            played = "recommended" if self.kind != "nash" else "instead of"
            columns = ["agent", "step", "state", played, "play", "prob", "gain", "share"]
            parts.append(Table(caption, columns, rows, head=3))
        else:
            parts.append("nobody gains by deviating")
        left = len(self.terms) - len(rows)
        if left:
            parts.append(f"{left:,} smaller terms are not shown; limit=None, or --all on the command line, shows all")
        negative = [i for i in range(self.game.agents) if self.sums[i] < -1e-9 * largest_return(self.game)]
        if negative:
            named = ", ".join(f"agent {i} {number(float(-self.sums[i]))}" for i in negative[:6])
            parts.append(f"ignoring recommendations costs: {named}; the gap of these agents is 0")
        return Document(title, parts, lambda: self.data(limit=limit))

    def data(self, *, limit: int | None = None) -> dict[str, Any]:
        """Return the table as JSON has it."""
        terms = self.terms if limit is None else self.terms[:limit]
        return {
            "kind": self.kind,
            "max": float(self.gaps.max()),
            "per_agent": self.gaps.tolist(),
            "sums": self.sums.tolist(),
            "terms": [dict(zip(TERM.names or (), self._row(term), strict=True)) for term in terms],
            "terms_not_shown": len(self.terms) - len(terms),
        }

    def _row(self, t: Any) -> list[Cell]:
        names = action_names(self.game, int(t["agent"]))
        where: list[Cell] = [int(t["agent"]), int(t["step"]), state_name(self.game, int(t["state"]))]
        return [*where, names[t["instead_of"]], names[t["play"]], *(float(t[k]) for k in ("prob", "gain", "share"))]

    def __repr__(self) -> str:
        return str(self.show())


def deviation_table(game: ExactGame, policy: MarkovPolicy, *, gap: str | None = None) -> DeviationTable:
    """Take a policy's gap apart. Each term says who gains what by playing what instead of what, and where.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    gap : {"nash", "cce", "ce"}, optional
        As for `tacit.evaluate`.

    Returns
    -------
    DeviationTable

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> tacit.evaluation.deviation_table(game, tacit.MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2]))
    who gains by deviating: nash gap = 1 (exact), the largest of 2 agents
    <BLANKLINE>
    gain: each time; share: gain times probability. An agent's shares add up to its gap
    agent  step  state  instead of  play    prob  gain  share
        0     0  0      cooperate   defect     1     1      1
    """
    check_exact(game)
    if not isinstance(policy, MarkovPolicy):
        raise TacitError(f"policy must be a MarkovPolicy, as run.candidates['markov'].policy is; got {brief(policy)}")
    evaluation = evaluate(game, policy, gap=gap)
    shifted, _ = shift_rewards(game)
    terms = np.concatenate([np.zeros(0, dtype=TERM), *_markov_terms(shifted, policy, evaluation.kind)])
    sums = np.zeros(game.agents)
    np.add.at(sums, terms["agent"], terms["share"])
    terms = terms[np.abs(terms["share"]) > _NEGLIGIBLE * largest_return(shifted)]
    order = np.lexsort((terms["state"], terms["step"], terms["agent"], -terms["share"]))
    return DeviationTable(game, evaluation.kind, evaluation.gaps, sums, terms[order])


def _markov_terms(game: ExactGame, policy: MarkovPolicy, kind: str) -> list[npt.NDArray[Any]]:
    d = occupancy(game, policy)
    pieces = []
    for step in steps(game, policy, kind):
        there, chosen = d[step.h][:, None], choose(step.rows, step.gains, kind)
        for i, size in enumerate(game.actions):
            probs = policy.marginal(i)[step.h if policy.steps > 1 else 0]
            if policy.product:
                q, play = step.gains[i, :, :size], chosen[i][:, None]
                gain = probs * (np.take_along_axis(q, play, axis=1) - q)
            else:
                q = step.gains[i, :, :size, :size]  # [S, b, a]
                play = np.broadcast_to(chosen[i, :, :size] if kind == "ce" else chosen[i][:, None], q.shape[:2])
                gain = np.take_along_axis(q, play[..., None], axis=2)[..., 0] - np.diagonal(q, axis1=1, axis2=2)
            pieces.append(_terms(i, step.h, there * probs, there * gain, play))
    return pieces


def _terms(i: int, h: int, prob: FloatArray, share: FloatArray, play: IntArray, s: int = 0) -> npt.NDArray[Any]:
    """Return the terms of one agent and step, [S, b], that are not nothing."""
    state, instead = np.nonzero(share)
    terms = np.zeros(len(state), dtype=TERM)
    terms["agent"], terms["step"], terms["state"], terms["instead_of"] = i, h, s + state, instead
    terms["play"] = np.broadcast_to(play, share.shape)[state, instead]
    terms["prob"], terms["share"] = prob[state, instead], share[state, instead]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms["gain"] = np.where(terms["prob"] > 0, terms["share"] / terms["prob"], 0.0)
    return terms
