"""Exact references by backward induction: the best total reward, and equilibria of the stage games at every (h, s).

An equilibrium of each stage game, with the values of what follows as payoffs, is an equilibrium of the whole game:
no deviation at a single (h, s) pays, hence none at several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tacit.core import check, memory
from tacit.core.display import Document, cell_text, exact
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.ownership import Owned
from tacit.core.types import FloatArray
from tacit.evaluation import bimatrix, logit, stage_game
from tacit.evaluation.gaps import Evaluation, evaluate
from tacit.games.exact import ExactGame, with_tables
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy

CONCEPTS = ("optimum", "cce", "ce", "nash")

#: What may be gained by leaving a mixed equilibrium of a stage, in units of the range of payoffs. Paths of games that
#: are not degenerate end at rounding.
_MOST_GAP = 1e-6

#: Is called with how many stages are solved, and of how many.
Report = Callable[[int, int], None]


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
        Expected return of each agent from step h on.
    method : str
        How it was found, in words.
    game : TabularGame or CountGame
    gap : float
        How far it is from what was asked for: 0 where it is exact.
    evaluation : Evaluation or None
        Of an approximate solution, its values and exact gaps.
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
    V: FloatArray
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
    report: Report | None = None,
) -> Solution:
    """Solve each stage game, backwards from the last step, as `tacit.solve` says; `report` is called after each.

    >>> import tacit
    >>> solve_stages(tacit.make("chicken"), "ce").values.round(9)
    array([5.25, 5.25])
    """
    game = with_tables(game)
    w = _check_weights(weights, game.agents)
    if concept == "nash":
        if weights is not None:
            raise TacitError("weights choose among equilibria, which 'nash' does not; leave them out or solve for 'ce'")
        return _solve_nash(game, select, report)
    if concept == "optimum":
        return _optimum(game, w, concept)
    if objective != "welfare" and weights is not None:
        raise TacitError(f"weights are of the objective 'welfare', and this one is {objective!r}; give one of them")

    def find(h: int, s: int, payoffs: FloatArray) -> list[FloatArray]:
        return [stage_game.find_correlated(payoffs, concept, w, objective)]

    program = "convex program" if objective == "entropy" else "linear program"
    return _walk_back(game, concept, find, report, f"{_say_where(game, program)}; objective: {objective}")


def _optimum(game: TabularGame, weights: FloatArray, concept: str) -> Solution:
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the optimum")
    choices = np.zeros((game.horizon, game.states), dtype=np.int64)
    every = np.arange(game.states)
    for h in reversed(range(game.horizon)):
        payoffs = game.joint_payoffs(h, V[:, h + 1])
        flat = payoffs.reshape(game.agents, game.states, -1)
        choices[h] = np.tensordot(weights, flat, axes=1).argmax(axis=1)
        V[:, h] = flat[:, every, choices[h]]
    tables = np.unravel_index(choices, game.actions)
    return _make_solution(game, concept, MarkovPolicy.deterministic(tables, game.actions), V)


def _walk_back(
    game: TabularGame,
    concept: str,
    find: Callable[[int, int, FloatArray], Sequence[FloatArray]],
    report: Report | None,
    method: str = "",
) -> Solution:
    """Solve the stages from the last step to the first.

    `find(h, s, payoffs [N, A_1, …, A_N])` returns what is played: a distribution for each agent, or one joint one.
    """
    shapes = [(a,) for a in game.actions] if concept == "nash" else [game.actions]
    probs = [memory.zeros((game.horizon, game.states, *shape), "the equilibrium") for shape in shapes]
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the equilibrium")
    for h in reversed(range(game.horizon)):
        payoffs = game.joint_payoffs(h, V[:, h + 1])
        for s in range(game.states):
            found = find(h, s, payoffs[:, s])
            for table, own in zip(probs, found, strict=True):
                table[h, s] = own
            V[:, h, s] = _worth(payoffs[:, s], found)
            if report is not None:
                report((game.horizon - 1 - h) * game.states + s + 1, game.horizon * game.states)
    policy = MarkovPolicy([Owned(own) for own in probs] if concept == "nash" else Owned(probs[0]))
    return replace(_make_solution(game, concept, policy, V), method=method)


def _worth(payoffs: FloatArray, rows: Sequence[FloatArray]) -> FloatArray:
    """Return what distributions bring each agent, independent ones or one joint one, of payoffs [N, A_1, …, A_N]."""
    if len(rows) == 1:
        return np.tensordot(payoffs, rows[0], axes=rows[0].ndim)
    for own in reversed(rows):
        payoffs = payoffs @ own
    return payoffs


def _solve_nash(game: TabularGame, select: str, report: Report | None) -> Solution:
    if (game.rewards == game.rewards[:1]).all() and select == "welfare":
        return replace(_optimum(game, np.ones(game.agents), "nash"), method="the optimum of a team")
    total = game.rewards.sum(axis=0)
    span = game.reward_range[1] - game.reward_range[0]
    if game.agents != 2 or np.ptp(total.reshape(len(total), -1), axis=1).max() > 1e-12 * span:
        return _solve_general(game, select, report)

    def find(h: int, s: int, payoffs: FloatArray) -> Sequence[FloatArray]:
        return stage_game.zero_sum(payoffs[0])

    return _walk_back(game, "nash", find, report, f"{_say_where(game, 'linear program')}; a zero-sum game")


class NoExactNash(TacitError):
    """No Nash equilibrium of a stage game is found: none is in pure actions, and it is too large or its paths fail."""


def _solve_general(game: TabularGame, select: str, report: Report | None) -> Solution:
    """Select a Nash equilibrium of each stage game: of all where it is small and of two players, else of pure ones.

    Where there are no pure ones, it is the one at the end of the logit path.
    """
    small = bimatrix.fits(game.actions)
    mixed_stages = 0

    def find(h: int, s: int, payoffs: FloatArray) -> list[FloatArray]:
        nonlocal mixed_stages
        if small:
            found = bimatrix.extreme_equilibria(payoffs if h + 1 == game.horizon else _round(payoffs))
            mixed = [found.rows, found.columns]
        elif pure := bimatrix.pure_equilibria(payoffs):
            mixed = [np.eye(a)[[joint[i] for joint in pure]] for i, a in enumerate(game.actions)]
        else:
            mixed_stages += 1
            return _logit(h, s, payoffs)
        each = [list(rows) for rows in zip(*mixed, strict=True)]
        if len(each) == 1:
            return each[0]
        return each[stage_game.select_best(np.stack([_worth(payoffs, rows) for rows in each]), select)[0]]

    found = _walk_back(game, "nash", find, report)
    once = (game.states, game.horizon) == (1, 1)
    where = "of the game" if once else "of each stage game, backwards from the last step"
    way = f"{'all extreme equilibria' if small else 'the pure equilibria'} {where}; selected by: {select}"
    if not mixed_stages:
        return replace(found, method=way)
    path = "the end of the logit path, polished by Newton's method"
    way = path if once else f"{way}; of {mixed_stages:,} stages without pure ones {path}"
    return replace(found, method=way, evaluation=evaluate(game, found.policy, gap="nash"))


def _logit(h: int, s: int, payoffs: FloatArray) -> list[FloatArray]:
    """Return an equilibrium of a stage that has none in pure actions."""
    where = f"the stage game at step {h} in state {s} has no equilibrium in pure actions"
    if not logit.fits(payoffs.shape[1:]):
        raise NoExactNash(f"{where}, and is too large for mixed ones")
    found = logit.equilibrium(payoffs)
    if found.gap > _MOST_GAP:
        raise NoExactNash(f"{where}, and no path leads to a mixed one")
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
    return what if (game.states, game.horizon) == (1, 1) else f"{what}s, backwards from the last step"


def _make_solution(game: TabularGame, concept: str, policy: MarkovPolicy, V: FloatArray) -> Solution:
    policy.game = game
    return Solution(concept, policy, dot(V[:, 0], game.initial), V, game=game)


def _check_weights(weights: Sequence[float] | None, agents: int) -> FloatArray:
    if weights is None:
        return np.ones(agents)
    w = check.array("weights", weights)
    if w.shape != (agents,) or not np.isfinite(w).all():
        raise TacitError(f"weights is {brief(weights)}; it must be {agents} finite numbers, one for each agent")
    return w
