"""Exact references by backward induction: the best total reward, and equilibria of the stage games at every (h, s).

An equilibrium of each stage game, with the values of what follows as payoffs, is an equilibrium of the whole game:
no deviation at a single (h, s) pays, hence none at several.

A discounted game has one stage for each state, followed by itself: its stages are solved again and again with the
values of what was found as payoffs, until the exact gap is rounding. For the optimum that is Howard's policy iteration;
of zero-sum games, where what follows is valued by the first player's best response, Shapley's iteration as Hoffman and
Karp [1966] made it quick; both converge. Where (coarse) correlated equilibria do not settle, and for Nash equilibria,
which need not, the logit path through all stages takes their place. What settles is an equilibrium, and not the best of
all: since every ce is a cce, those are looked for too where a cce is wanted, and the better one is the answer. Every
equilibrium comes with its exact gap.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.core import check, memory
from tacit.core.display import Document, cell_text, count, exact
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.evaluation import bimatrix, logit, stage_game
from tacit.evaluation.gaps import Evaluation, evaluate, in_words
from tacit.evaluation.values import deviations, largest_return, policy_values
from tacit.games.exact import ExactGame, with_tables
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy

CONCEPTS = ("optimum", "cce", "ce", "nash")

#: What may be gained by leaving a mixed equilibrium of a stage, in units of the range of payoffs. Paths of games that
#: are not degenerate end at rounding.
_MOST_GAP = 1e-6

#: The same for equilibria of discounted games, in units of the span of returns, and rounds until they are given up.
_SETTLED, _ROUNDS = 1e-10, 40

#: Numbers of zero-sum stage games that are solved together.
_TOGETHER = 1_000_000

#: Seconds between two lines of progress, and after which the time that the exact way takes is foreseen.
_EVERY_SECONDS, _FORESEEN = 5.0, 0.5

#: Is called with how many stages are solved, and of how many.
Report = Callable[[int, int], None]

#: `find(h, payoffs [N, S, A_1, …, A_N], report)` returns what is played: a table [S, A_i] for each agent, or one,
#: [S, A_1, …, A_N]; `report` is called with how many states are solved.
Find = Callable[[int, FloatArray, Callable[[int], None]], Sequence[FloatArray]]


class NotExact(TacitError):
    """There is no exact way, or it takes longer than allowed."""


class Clock:
    """How long a solution takes: shown now and then, and limited."""

    def __init__(self, seconds: float | None, progress: Callable[[str], None] | None) -> None:
        self._seconds, self._progress = seconds, progress
        self._began = self._told = time.monotonic()

    def up(self) -> bool:
        """Return whether the time is used up."""
        return self._seconds is not None and time.monotonic() - self._began >= self._seconds

    def tell(self, line: str) -> None:
        """Show a line."""
        if self._progress is not None:
            self._progress(line)

    def now_and_then(self, line: str) -> None:
        """Show a line, if the last one was a while ago."""
        if time.monotonic() - self._told >= _EVERY_SECONDS:
            self._told = time.monotonic()
            self.tell(line)

    def stage(self, done: int, total: int) -> None:
        """Note how many stage games are solved exactly; raise as soon as all of them will take too long."""
        self.now_and_then(f"{done:,} of {total:,} stage games are solved")
        passed = time.monotonic() - self._began
        if (
            self._seconds is not None
            and passed > min(_FORESEEN, self._seconds)
            and passed * total > self._seconds * done
        ):
            raise NotExact(f"{total:,} stage games take {in_words(passed * total / done)} to solve exactly")


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution of a game, exact or with its exact gap.

    Attributes
    ----------
    concept : {"optimum", "cce", "ce", "nash"}
    policy : MarkovPolicy
    values : array [N]
        Expected return of each agent from the initial distribution.
    V : array [N, H + 1, S]
        Expected return of each agent from step h on; of a discounted game [N, 2, S], twice the same.
    method : str
        How it was found, in words.
    game : TabularGame or CountGame
    gap : float
        How far it is from what was asked for: 0 where it is exact.
    evaluation : Evaluation or None
        Of an approximate solution, and of every equilibrium of a discounted game, its values and exact gaps.
    ended : {"", "tolerance", "rounds", "seconds", "interrupted"}
        What ended the sweeps that found an approximate solution; "" where there were none.

    Examples
    --------
    >>> import tacit
    >>> tacit.solve(tacit.make("good-state", horizon=2), "optimum").V[0, 0].round(2).tolist()
    [9.5, 4.5]
    """

    concept: str
    policy: MarkovPolicy
    values: FloatArray
    V: FloatArray = field(repr=False)
    method: str = "backward induction"
    game: ExactGame | None = field(default=None, repr=False)
    evaluation: Evaluation | None = None
    ended: str = ""

    @property
    def gap(self) -> float:
        """The exact gap of an approximate solution; 0 of an exact one."""
        return 0.0 if self.evaluation is None else self.evaluation.gap

    def show(self, *, everything: bool = False, limit: int | None = 40) -> Document:
        """Show the policy, as `MarkovPolicy.show` does, and what it is worth to each agent."""
        shown = self.policy.show(self.game, everything=everything, limit=limit)
        values = ", ".join(f"agent {i} {cell_text(exact(float(v)))}" for i, v in enumerate(self.values[:20]))
        more = f" and {len(self.values) - 20} more" if len(self.values) > 20 else ""
        return replace(shown, title=f"{self.concept}: {shown.title}", parts=[*shown.parts, f"values: {values}{more}"])

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def solve_stages(
    game: ExactGame,
    concept: str,
    *,
    weights: Sequence[float] | None = None,
    objective: str = "welfare",
    select: str = "welfare",
    report: Report = lambda done, total: None,
) -> Solution:
    """Solve each stage game, backwards from the last step, as `tacit.solve` says; `report` is called after each.

    >>> import tacit
    >>> solve_stages(tacit.make("chicken"), "ce").values.round(9)
    array([5.25, 5.25])
    """
    game = with_tables(game)
    w = _check_weights(weights, game.agents)
    if concept == "optimum":
        return _optimum(game, concept, w)
    if concept == "nash" and weights is not None:
        raise TacitError("weights choose among equilibria, which 'nash' does not; leave them out or solve for 'ce'")
    if concept != "nash":
        if objective != "welfare" and weights is not None:
            raise TacitError(f"weights are of the objective 'welfare', and this one is {objective!r}; give one of them")
        find = _find_correlated(concept, w, objective)
        program = "convex program" if objective == "entropy" else "linear program"
        method = f"{_say_where(game, program)}; objective: {objective}"
    elif select == "welfare" and (game.rewards == game.rewards[:1]).all():
        return replace(_optimum(game, concept, w), method="the optimum of a team")
    elif _is_zero_sum(game):
        find, method = _find_zero_sum, f"{_say_where(game, 'linear program')}; a zero-sum game"
    elif game.discount is None:
        return _select_in_each_state(game, select, report)
    elif select != "welfare":
        raise TacitError(f"select is {select!r}; one equilibrium of a discounted game is found, so leave select out")
    else:
        return _follow_path(game, concept)
    if game.discount is None:
        return _walk_back(game, concept, find, report, method)
    if concept == "nash":
        return _settle(game, concept, find, report, method) or _follow_path(game, concept)
    finds = [find]
    if concept == "cce" and stage_game.fits(game.actions, "ce"):
        finds.append(_find_correlated("ce", w, objective))
    worth = _judge_by(objective, w)
    tried = [_settle(game, concept, one, report, method, worth) for one in finds]
    settled = [one for one in tried if one is not None]
    if not settled and objective != "welfare":
        raise NotExact(f"no {concept} with the objective {objective!r} settles")
    if None in tried and objective == "welfare":
        try:
            settled.append(_follow_path(game, concept))
        except NotExact:
            if not settled:
                raise
    return max(settled, key=lambda one: worth(one.values))


def _find_correlated(concept: str, weights: FloatArray, objective: str) -> Find:
    """Return how to find the cce or ce of each stage that is best by an objective."""
    return _in_each_state(lambda h, s, payoffs: [stage_game.find_correlated(payoffs, concept, weights, objective)])


def _judge_by(objective: str, weights: FloatArray) -> Callable[[FloatArray], float]:
    """Return what values [N] are worth by an objective; by entropy all are worth the same.

    >>> [_judge_by(rule, np.ones(2))(np.array([1.0, 4.0])) for rule in ("welfare", "egalitarian", "agent:1")]
    [5.0, 1.0, 4.0]
    """
    if objective == "welfare":
        return lambda values: float(dot(weights, values))
    if objective == "entropy":
        return lambda values: 0.0
    if objective == "egalitarian":
        return lambda values: float(values.min())
    return lambda values: float(values[int(objective.removeprefix("agent:"))])


def _is_zero_sum(game: TabularGame) -> bool:
    total, (low, high) = game.rewards.sum(axis=0), game.reward_range
    return game.agents == 2 and bool(np.ptp(total.reshape(len(total), -1), axis=1).max() <= 1e-12 * (high - low))


def _optimum(game: TabularGame, concept: str, weights: FloatArray) -> Solution:
    if game.discount is not None:
        return _iterate_policies(game, concept, weights)
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the optimum")
    choices = np.zeros((game.horizon, game.states), dtype=np.int64)
    every = np.arange(game.states)
    for h in reversed(range(game.horizon)):
        flat = game.joint_payoffs(h, V[:, h + 1]).reshape(game.agents, game.states, -1)
        choices[h] = np.tensordot(weights, flat, axes=1).argmax(axis=1)
        V[:, h] = flat[:, every, choices[h]]
    policy = MarkovPolicy.deterministic(np.unravel_index(choices, game.actions), game.actions)
    return _make_solution(game, concept, policy, V, "backward induction")


def _iterate_policies(game: TabularGame, concept: str, weights: FloatArray) -> Solution:
    """Return the policy of largest total reward in a discounted game."""
    rounding = 1e-13 * largest_return(game) * float(np.abs(weights).sum())
    choices = np.zeros((1, game.states), dtype=np.int64)
    while True:
        policy = MarkovPolicy.deterministic(np.unravel_index(choices, game.actions), game.actions)
        V = policy_values(game, policy).V
        total = np.tensordot(weights, game.joint_payoffs(0, V[:, 1]).reshape(game.agents, game.states, -1), axes=1)
        better = total.max(axis=1) > np.take_along_axis(total, choices.T, axis=1)[:, 0] + rounding
        if not better.any():
            return _make_solution(game, concept, policy, V, "policy iteration")
        choices = np.where(better, total.argmax(axis=1), choices)


def _in_each_state(find_one: Callable[[int, int, FloatArray], Sequence[FloatArray]]) -> Find:
    """Solve the states of a step one after the other."""

    def find(h: int, payoffs: FloatArray, report: Callable[[int], None]) -> list[FloatArray]:
        each = []
        for s in range(payoffs.shape[1]):
            each.append(find_one(h, s, payoffs[:, s]))
            report(s + 1)
        return [np.stack(own) for own in zip(*each, strict=True)]

    return find


def _find_zero_sum(h: int, payoffs: FloatArray, report: Callable[[int], None]) -> list[FloatArray]:
    """Solve many states of a step together."""
    states = payoffs.shape[1]
    block, found = max(1, _TOGETHER // payoffs[0, 0].size), []
    for start in range(0, states, block):
        found.append(stage_game.solve_zero_sum(payoffs[0, start : start + block]))
        report(min(start + block, states))
    return [np.concatenate(own) for own in zip(*found, strict=True)]


def _settle(
    game: TabularGame,
    concept: str,
    find: Find,
    report: Report,
    method: str,
    worth: Callable[[FloatArray], float] = np.sum,
) -> Solution | None:
    """Solve the stages of a discounted game until what is found follows itself.

    Where they do not settle, the equilibrium worth the most that was met on the way; None if there was none.
    """
    zero_sum = concept == "nash"  # of other games nash equilibria are found by the logit path
    V = np.zeros((game.agents, game.states))
    low, high = game.reward_range
    enough = _SETTLED * (high - low) * game.effective_horizon
    best: Solution | None = None
    for round_ in range(_ROUNDS if not zero_sum else 100 * _ROUNDS):
        payoffs = game.joint_payoffs(0, V)
        policy = _make_policy(concept, [table[None] for table in find(0, payoffs, lambda done: None)])
        found = deviations(game, policy, concept)
        settled = zero_sum or float(np.abs(found.V[:, 0] - V).max()) <= enough
        if float((found.best - found.V).max()) <= enough:  # from every state
            told = f"{method}; {'settled' if settled else 'the best met'} in {count(round_ + 1, 'round')}"
            now = _make_solution(game, concept, policy, found.V, told)
            best = now if settled or best is None or worth(now.values) > worth(best.values) else best
            if settled:
                break
        V = np.stack([found.best[0, 0], -found.best[0, 0]]) if zero_sum else found.V[:, 0]
        report(round_ + 1, _ROUNDS)
    return None if best is None else replace(best, evaluation=evaluate(game, best.policy, gap=concept))


def _follow_path(game: TabularGame, concept: str) -> Solution:
    """Return the Nash equilibrium of a discounted game at the end of the logit path, which is a cce and a ce too."""
    if not logit.fits_stationary(game):
        raise NotExact("the game is too large for the logit path")
    policy = _make_policy("nash", [own[None] for own in logit.stationary_equilibrium(game)])
    gap = evaluate(game, policy, gap="nash")
    low, high = game.reward_range
    if gap.gap > _MOST_GAP * (high - low):
        raise NotExact(f"the logit path leads to no equilibrium, but to a nash gap of {gap.gap:.3g}")
    method = "the end of the logit path through all states, polished by Newton's method"
    if concept != "nash":
        policy, method = _make_policy(concept, [policy.joint(0)[None]]), f"{method}: a nash equilibrium"
        gap = evaluate(game, policy, gap=concept)
    return replace(_make_solution(game, concept, policy, policy_values(game, policy).V, method), evaluation=gap)


def _walk_back(game: TabularGame, concept: str, find: Find, report: Report, method: str) -> Solution:
    """Solve the stages from the last step to the first."""
    shapes = [(a,) for a in game.actions] if concept == "nash" else [game.actions]
    probs = [memory.zeros((game.horizon, game.states, *shape), "the equilibrium") for shape in shapes]
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the equilibrium")
    for h in reversed(range(game.horizon)):

        def count_stages(done: int, before: int = (game.horizon - 1 - h) * game.states) -> None:
            report(before + done, game.horizon * game.states)

        payoffs = game.joint_payoffs(h, V[:, h + 1])
        found = find(h, payoffs, count_stages)
        for table, own in zip(probs, found, strict=True):
            table[h] = own
        V[:, h] = _worth(payoffs, found)
    return _make_solution(game, concept, _make_policy(concept, probs), V, method)


def _worth(payoffs: FloatArray, tables: Sequence[FloatArray]) -> FloatArray:
    """Return what each agent gets, [N, S], of payoffs [N, S, A_1, …, A_N], if all play by tables as of `Find`."""
    if len(tables) == 1:
        payoffs, tables = payoffs.reshape(*payoffs.shape[:2], -1), [tables[0].reshape(len(tables[0]), -1)]
    for own in reversed(tables):
        payoffs = np.einsum("is...a,sa->is...", payoffs, own)
    return payoffs


def _select_in_each_state(game: TabularGame, select: str, report: Report) -> Solution:
    """Select a Nash equilibrium of each stage game: of all where it is small and of two players, else of pure ones.

    Where there are no pure ones, it is the one at the end of the logit path.
    """
    small = bimatrix.fits(game.actions)
    mixed_stages = 0

    def find_one(h: int, s: int, payoffs: FloatArray) -> list[FloatArray]:
        nonlocal mixed_stages
        if small:
            mixed = bimatrix.extreme_equilibria(payoffs if h + 1 == game.horizon else _round(payoffs)).rows
        elif pure := bimatrix.pure_equilibria(payoffs):
            mixed = [np.eye(a)[[joint[i] for joint in pure]] for i, a in enumerate(game.actions)]
        else:
            mixed_stages += 1
            return _logit(h, s, payoffs)
        each = [list(rows) for rows in zip(*mixed, strict=True)]
        if len(each) == 1:
            return each[0]
        several = np.broadcast_to(payoffs[:, None], (len(payoffs), len(each), *payoffs.shape[1:]))
        return each[stage_game.select_best(_worth(several, mixed).T, select)[0]]

    once = (game.states, game.horizon) == (1, 1)
    where = "of the game" if once else "of each stage game, backwards from the last step"
    way = f"{'all extreme equilibria' if small else 'the pure equilibria'} {where}; selected by: {select}"
    found = _walk_back(game, "nash", _in_each_state(find_one), report, way)
    if not mixed_stages:
        return found
    path = "the end of the logit path, polished by Newton's method"
    way = path if once else f"{way}; of {mixed_stages:,} stages without pure ones {path}"
    return replace(found, method=way, evaluation=evaluate(game, found.policy, gap="nash"))


def _logit(h: int, s: int, payoffs: FloatArray) -> list[FloatArray]:
    """Return an equilibrium of a stage that has none in pure actions."""
    where = f"the stage game at step {h} in state {s} has no equilibrium in pure actions"
    if not logit.fits(payoffs.shape[1:]):
        raise NotExact(f"{where}, and is too large for mixed ones")
    found = logit.equilibrium(payoffs)
    if found.gap > _MOST_GAP:
        raise NotExact(f"{where}, and no path leads to a mixed one")
    return found.rows


def _round(payoffs: FloatArray) -> FloatArray:
    """Round to 12 digits of the largest: what follows is summed up in floats, which must not tell equal payoffs apart.

    >>> _round(np.array([0.1 + 0.2, 0.3])).tolist()
    [0.3, 0.3]
    """
    largest = float(np.abs(payoffs).max())
    rounded: FloatArray = payoffs if largest == 0 else np.round(payoffs, min(11 - math.floor(math.log10(largest)), 300))
    return rounded


def _say_where(game: TabularGame, what: str) -> str:
    """Say how often something is done: once, or at each step and state.

    >>> import tacit
    >>> _say_where(tacit.make("chicken"), "program"), _say_where(tacit.make("good-state"), "program")
    ('program', 'programs, backwards from the last step')
    """
    if game.discount is not None:
        return f"{what}s of all states"
    return what if (game.states, game.horizon) == (1, 1) else f"{what}s, backwards from the last step"


def _make_policy(concept: str, tables: Sequence[FloatArray]) -> MarkovPolicy:
    return MarkovPolicy([Owned(own) for own in tables] if concept == "nash" else Owned(tables[0]))


def _make_solution(game: TabularGame, concept: str, policy: MarkovPolicy, V: FloatArray, method: str) -> Solution:
    policy.game = game
    return Solution(concept, policy, dot(V[:, 0], game.initial), V, method, game)


def _check_weights(weights: Sequence[float] | None, agents: int) -> FloatArray:
    if weights is None:
        return np.ones(agents)
    w = check.array("weights", weights)
    if w.shape != (agents,) or not np.isfinite(w).all():
        raise TacitError(f"weights is {brief(weights)}; it must be {agents} finite numbers, one for each agent")
    return w
