"""Exact solutions by backward induction. The largest total reward, and equilibria of the stage games at every (h, s).

An equilibrium of each stage game, with the values of what follows as payoffs, is an equilibrium of the whole game:
no deviation at a single (h, s) pays, hence none at several.

A discounted game has one stage for each state, followed by itself: its stages are solved again and again with the
values of the last solution as payoffs, until the exact gap is rounding. For the optimum that is Howard's policy
iteration; of zero-sum games, where what follows is valued by the first player's best response, Shapley's iteration as
Hoffman and Karp [1966] made it quick; both converge. (Coarse) correlated equilibria may not settle, and Nash equilibria
are found by the logit path through all stages.

What is best in each stage need not be best in the whole game. Every nash equilibrium is a ce and every ce a cce, so
those are computed too where they are cheap, and the best of all is returned.

Payoffs of an agent matter only up to a shift and a factor of its own: rewards far from 0 are shifted by each agent's
least, and tolerances are relative to each agent's span.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.display import count
from tacit.core.elementary import dot
from tacit.core.errors import TacitError
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.evaluation import bimatrix, logit, stage_game
from tacit.evaluation.gaps import evaluate
from tacit.evaluation.values import deviations, largest_return, policy_values
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy

#: The largest gap of a mixed equilibrium of a stage, in units of the range of payoffs. Paths of games that are not
#: degenerate end at rounding.
_MOST_GAP = 1e-6

#: The same for equilibria of discounted games, in units of the span of returns, and rounds until they are given up.
_SETTLED, _ROUNDS = 1e-10, 40

#: A nash equilibrium is computed beside a ce or cce where it takes a second at most: where the bases of all stage games
#: (of more than two players ten times the products of a logit path), or the actions of all players in all states of a
#: discounted game, are at most so many.
_FEW_BASES, _FEW_ACTIONS = 100_000, 200

#: Numbers of zero-sum stage games that are solved together.
_TOGETHER = 1_000_000

#: Called with how many stages are solved, and of how many.
Report = Callable[[int, int], None]

#: `solve_step(h, payoffs [N, S, A_1, …, A_N], report)` returns the policy of a step: [S, A_i] for each agent, or one
#: array [S, A_1, …, A_N]; `report` is called with how many states are solved.
SolveStep = Callable[[int, FloatArray, Callable[[int], None]], Sequence[FloatArray]]


#: `solve_state(h, s, payoffs [N, A_1, …, A_N])` does the same for one state.
SolveState = Callable[[int, int, FloatArray], Sequence[FloatArray]]


class NotExact(TacitError):
    """There is no exact way, or it takes longer than allowed."""


class Solved(NamedTuple):
    """A policy, its values [N, H + 1, S], and the algorithm in words."""

    policy: MarkovPolicy
    V: FloatArray
    method: str


class StageGames:
    """The stage games of a game whose rewards are shifted. `least` [N] is what was subtracted at each step."""

    def __init__(self, game: TabularGame, least: FloatArray, report: Report) -> None:
        self.game, self._report = game, report
        self.spans = np.ptp(game.rewards.reshape(game.agents, -1), axis=1)  # [N]
        self._offset = least - least.min()  # what is left of the shift where agents are compared with each other

    def _value(self, solved: Solved, objective: str, weights: FloatArray) -> float:
        """Return the value of a solution by an objective."""
        values = dot(solved.V[:, 0], self.game.initial) + self._offset * self.game.effective_horizon
        if objective == "welfare":
            return float(dot(weights, values))
        return float(values.min() if objective == "egalitarian" else values[int(objective.removeprefix("agent:"))])

    # the optimum

    def optimum(self, weights: FloatArray) -> Solved:
        """Return the policy of largest total reward."""
        game = self.game
        if game.discount is not None:
            return self._iterate_policies(weights)
        V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the optimum")
        choices = np.zeros((game.horizon, game.states), dtype=np.int64)
        every = np.arange(game.states)
        for h in reversed(range(game.horizon)):
            flat = game.joint_payoffs(h, V[:, h + 1]).reshape(game.agents, game.states, -1)
            choices[h] = np.tensordot(weights, flat, axes=1).argmax(axis=1)
            V[:, h] = flat[:, every, choices[h]]
        policy = MarkovPolicy.deterministic(np.unravel_index(choices, game.actions), game.actions)
        return Solved(policy, V, "backward induction")

    def _iterate_policies(self, weights: FloatArray) -> Solved:
        """Return the policy of largest total reward in a discounted game."""
        game = self.game
        rounding = 1e-13 * largest_return(game) * float(np.abs(weights).sum())
        choices = np.zeros((1, game.states), dtype=np.int64)
        while True:
            policy = MarkovPolicy.deterministic(np.unravel_index(choices, game.actions), game.actions)
            V = policy_values(game, policy).V
            total = np.tensordot(weights, game.joint_payoffs(0, V[:, 1]).reshape(game.agents, game.states, -1), axes=1)
            better = total.max(axis=1) > np.take_along_axis(total, choices.T, axis=1)[:, 0] + rounding
            if not better.any():
                return Solved(policy, V, "policy iteration")
            choices = np.where(better, total.argmax(axis=1), choices)

    # equilibria

    def nash(self, objective: str) -> Solved:
        """Return a Nash equilibrium. That of a team is its optimum, of a zero-sum game its minimax solution."""
        game = self.game
        if objective == "welfare" and (game.rewards == game.rewards[:1]).all():
            return self.optimum(np.ones(game.agents))._replace(method="the optimum of a team")
        if self._is_zero_sum():
            method = f"{_say_where(game, 'linear program')}; a zero-sum game"
            if game.discount is None:
                return self._walk_back("nash", _solve_zero_sum, method)
            return self._settle("nash", _solve_zero_sum, method, None) or self._follow_path("nash")
        if game.discount is None:
            return self._select_in_each_state(objective)
        if objective != "welfare":
            raise TacitError(f"objective must be 'welfare' for 'nash' in a discounted game; got {objective!r}")
        return self._follow_path("nash")

    def correlated(self, concept: str, weights: FloatArray, objective: str) -> Solved:
        """Return the best equilibrium, by an objective, of a concept and stronger ones."""

        def value(solved: Solved) -> float:
            return self._value(solved, objective, weights)

        best: Solved | None = None
        for stronger in ("cce", "ce", "nash") if concept == "cce" else ("ce", "nash"):
            if best is not None and self._is_best(value(best), objective, weights):
                break
            try:
                solved = self._solve_stronger(concept, stronger, weights, objective, value, needed=best is None)
            except NotExact:
                if best is None:
                    raise
                break
            best = _better(best, solved, value)
        if best is None:
            raise NotExact(f"no {concept} with the objective {objective!r} settles")
        return best

    def _solve_stronger(
        self,
        concept: str,
        stronger: str,
        weights: FloatArray,
        objective: str,
        value: Callable[[Solved], float],
        *,
        needed: bool,
    ) -> Solved | None:
        """Return an equilibrium of a stronger concept. None where there is none, or none cheap and it is not needed."""
        game = self.game
        if stronger == "nash":
            wanted = objective == "welfare" if needed else self._nash_is_cheap()
            return self._nash_as(concept, objective) if wanted else None
        if stronger != concept and not stage_game.fits(game.actions, stronger):
            return None
        solve_step = _solve_each_state(self._correlated_state(stronger, weights, objective))
        method = f"{_say_where(game, 'linear program')}; objective: {objective}"
        if game.discount is None:
            return self._walk_back(concept, solve_step, method)
        return self._settle(concept, solve_step, method, value)

    def _is_best(self, value: float, objective: str, weights: FloatArray) -> bool:
        """Return whether no other equilibrium can have a larger value by an objective.

        None has where the program of each state sees the whole game, none has more than the optimum, and all
        equilibria of a zero-sum game have the same values.
        """
        game = self.game
        if (game.discount is None and game.horizon == 1) or self._is_zero_sum():
            return True
        if objective == "egalitarian":
            return False
        if objective != "welfare":
            weights = np.eye(game.agents)[int(objective.removeprefix("agent:"))]
        return value >= self._value(self.optimum(weights), "welfare", weights) - 1e-9 * largest_return(game)

    def _nash_is_cheap(self) -> bool:
        game = self.game
        if game.discount is not None:
            return game.states * sum(game.actions) <= _FEW_ACTIONS and logit.fits_stationary(game)
        two = game.agents == 2
        stage = math.comb(sum(game.actions), game.actions[0]) if two else 10 * game.agents**2 * game.joint_actions
        return stage * game.states * game.horizon <= _FEW_BASES

    def _nash_as(self, concept: str, objective: str) -> Solved:
        """Return a Nash equilibrium as a cce or ce."""
        if self.game.discount is not None:
            return self._follow_path(concept)
        solved = self._select_in_each_state(objective)
        joint = np.stack([solved.policy.joint(h) for h in range(self.game.horizon)])
        return Solved(_make_policy(concept, [joint]), solved.V, f"{solved.method}: a nash equilibrium")

    def _is_zero_sum(self) -> bool:
        total = self.game.rewards.sum(axis=0)
        changes = float(np.ptp(total.reshape(len(total), -1), axis=1).max())
        return self.game.agents == 2 and changes <= 1e-12 * float(self.spans.min())

    def _correlated_state(self, concept: str, weights: FloatArray, objective: str) -> SolveState:
        """Return how to solve a stage for the best cce or ce."""

        def solve_state(h: int, s: int, payoffs: FloatArray) -> list[FloatArray]:
            offset = self._offset * self._steps_left(h)
            return [stage_game.find_correlated(payoffs, concept, weights, objective, offset)]

        return solve_state

    def _steps_left(self, h: int) -> float:
        return self.game.horizon - h if self.game.discount is None else self.game.effective_horizon

    def _walk_back(self, concept: str, solve_step: SolveStep, method: str) -> Solved:
        """Solve the stages from the last step to the first."""
        game = self.game
        shapes = [(a,) for a in game.actions] if concept == "nash" else [game.actions]
        probs = [memory.zeros((game.horizon, game.states, *shape), "the equilibrium") for shape in shapes]
        V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the equilibrium")
        for h in reversed(range(game.horizon)):

            def count_stages(done: int, before: int = (game.horizon - 1 - h) * game.states) -> None:
                self._report(before + done, game.horizon * game.states)

            payoffs = game.joint_payoffs(h, V[:, h + 1])
            rows = solve_step(h, payoffs, count_stages)
            for table, row in zip(probs, rows, strict=True):
                table[h] = row
            V[:, h] = _expect(payoffs, rows)
        return Solved(_make_policy(concept, probs), V, method)

    def _settle(
        self, concept: str, solve_step: SolveStep, method: str, value: Callable[[Solved], float] | None
    ) -> Solved | None:
        """Solve the stages of a discounted game until their solution follows itself.

        Where they do not settle, the best equilibrium on the way; None if there was none.
        """
        game, zero_sum = self.game, value is None
        V = np.zeros((game.agents, game.states))
        enough = _SETTLED * self.spans * game.effective_horizon  # [N]
        best: Solved | None = None
        for round_ in range(_ROUNDS if not zero_sum else 100 * _ROUNDS):
            payoffs = game.joint_payoffs(0, V)
            policy = _make_policy(concept, [table[None] for table in solve_step(0, payoffs, lambda done: None)])
            at = deviations(game, policy, concept)
            settled = zero_sum or bool((np.abs(at.V[:, 0] - V).max(axis=1) <= enough).all())
            if ((at.best - at.V).max(axis=(1, 2)) <= enough).all():  # from every state
                ending = f"{'settled' if settled else 'the best met'} in {count(round_ + 1, 'round')}"
                solved = Solved(policy, at.V, f"{method}; {ending}")
                if settled:
                    return solved
                assert value is not None
                best = _better(best, solved, value)
            V = np.stack([at.best[0, 0], -at.best[0, 0]]) if zero_sum else at.V[:, 0]
            self._report(round_ + 1, round_ + 2)  # nobody knows how many rounds it takes
        return best

    def _follow_path(self, concept: str) -> Solved:
        """Return the Nash equilibrium of a discounted game at the end of the logit path. It is a cce and a ce too."""
        game = self.game
        if not logit.fits_stationary(game):
            raise NotExact("the game is too large for the logit path")
        policy = _make_policy("nash", [rows[None] for rows in logit.stationary_equilibrium(game)])
        gaps = evaluate(game, policy, gap="nash").gaps
        if (gaps > _MOST_GAP * self.spans).any():
            raise NotExact(f"the logit path leads to no equilibrium, but to a nash gap of {gaps.max():.3g}")
        method = "the end of the logit path through all states, polished by Newton's method"
        if concept != "nash":
            policy, method = _make_policy(concept, [policy.joint(0)[None]]), f"{method}: a nash equilibrium"
        return Solved(policy, policy_values(game, policy).V, method)

    def _select_in_each_state(self, objective: str) -> Solved:
        """Select a Nash equilibrium of each stage game. A small one of two players offers all, others the pure ones.

        Where there are no pure ones, it is the one at the end of the logit path.
        """
        game = self.game
        small = bimatrix.fits(game.actions)
        mixed_stages = 0

        def solve_state(h: int, s: int, payoffs: FloatArray) -> list[FloatArray]:
            nonlocal mixed_stages
            if small:
                mixed = bimatrix.extreme_equilibria(payoffs if h + 1 == game.horizon else _round(payoffs)).rows
            elif pure := bimatrix.pure_equilibria(payoffs):
                mixed = [np.eye(a)[[joint[i] for joint in pure]] for i, a in enumerate(game.actions)]
            else:
                mixed_stages += 1
                return _solve_by_logit(h, s, payoffs)
            each = [list(rows) for rows in zip(*mixed, strict=True)]
            if len(each) == 1:
                return each[0]
            several = np.broadcast_to(payoffs[:, None], (len(payoffs), len(each), *payoffs.shape[1:]))
            values = _expect(several, mixed).T + self._offset * self._steps_left(h)
            return each[stage_game.select_best(values, objective)[0]]

        once = (game.states, game.horizon) == (1, 1)
        where = "of the game" if once else "of each stage game, backwards from the last step"
        method = f"{'all extreme equilibria' if small else 'the pure equilibria'} {where}; selected by: {objective}"
        solved = self._walk_back("nash", _solve_each_state(solve_state), method)
        if not mixed_stages:
            return solved
        path = "the end of the logit path, polished by Newton's method"
        return solved._replace(
            method=path if once else f"{method}; of {mixed_stages:,} stages without pure ones {path}"
        )


def _better(one: Solved | None, other: Solved | None, value: Callable[[Solved], float]) -> Solved | None:
    """Return the solution of larger value, the first where both are the same."""
    if one is None or other is None:
        return one or other
    return other if value(other) > value(one) else one


def _solve_each_state(solve_state: SolveState) -> SolveStep:
    """Solve the states of a step one after the other."""

    def solve_step(h: int, payoffs: FloatArray, report: Callable[[int], None]) -> list[FloatArray]:
        each = []
        for s in range(payoffs.shape[1]):
            each.append(solve_state(h, s, payoffs[:, s]))
            report(s + 1)
        return [np.stack(rows) for rows in zip(*each, strict=True)]

    return solve_step


def _solve_zero_sum(h: int, payoffs: FloatArray, report: Callable[[int], None]) -> list[FloatArray]:
    """Solve many states of a step together."""
    states = payoffs.shape[1]
    block, blocks = max(1, _TOGETHER // payoffs[0, 0].size), []
    for start in range(0, states, block):
        blocks.append(stage_game.solve_zero_sum(payoffs[0, start : start + block]))
        report(min(start + block, states))
    return [np.concatenate(rows) for rows in zip(*blocks, strict=True)]


def _solve_by_logit(h: int, s: int, payoffs: FloatArray) -> list[FloatArray]:
    """Return an equilibrium of a stage that has none in pure actions."""
    where = f"the stage game at step {h} in state {s} has no equilibrium in pure actions"
    if not logit.fits(payoffs.shape[1:]):
        raise NotExact(f"{where}, and is too large for mixed ones")
    ending = logit.equilibrium(payoffs)
    if ending.gap > _MOST_GAP:
        raise NotExact(f"{where}, and no path leads to a mixed one")
    return ending.rows


def _expect(payoffs: FloatArray, tables: Sequence[FloatArray]) -> FloatArray:
    """Return each agent's expected payoff [N, S], of payoffs [N, S, A_1, …, A_N], under tables as of `SolveStep`."""
    if len(tables) == 1:
        payoffs, tables = payoffs.reshape(*payoffs.shape[:2], -1), [tables[0].reshape(len(tables[0]), -1)]
    for rows in reversed(tables):
        payoffs = np.einsum("is...a,sa->is...", payoffs, rows)
    return payoffs


def _round(payoffs: FloatArray) -> FloatArray:
    """Round to 12 digits of each agent's largest. Values of what follows must not tell equal payoffs apart.

    >>> _round(np.array([[1e9, 0.1 + 0.2], [0.1 + 0.2, 0.3]])).tolist()
    [[1000000000.0, 0.3], [0.3, 0.3]]
    """
    rounded = np.empty_like(payoffs)
    for i, payoff in enumerate(payoffs):
        largest = float(np.abs(payoff).max())
        rounded[i] = payoff if largest == 0 else np.round(payoff, min(11 - math.floor(math.log10(largest)), 300))
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
    return MarkovPolicy([Owned(table) for table in tables] if concept == "nash" else Owned(tables[0]))
