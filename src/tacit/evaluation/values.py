"""Values of a Markov policy, and of each agent's best deviation from it.

All exact figures come from two passes over a game, of any kind. [Mao2022, eqn:value] The backward pass computes what
each action of an agent pays where the policy follows, and where a deviation follows; the forward pass, the occupancy.
Several policies may be evaluated at once: then all arrays have their axes in front.

A discounted game is one step that is followed by itself. What follows it is computed first (`settle`): V by elimination
from (I − γP_π)·V = r_π, the best deviation by policy iteration, both confirmed by value iteration, whose last change
bounds the error: at most 1e-12 of span/(1 − γ), or as near as rounding allows. Then the pass has its one step.

There are three kinds of deviations. [Mao2022, def:CCE and after]

- nash: the others play a product policy; the deviator faces an MDP.
- cce: the others play their marginal of a correlated policy; the deviator ignores its recommendation, again an MDP.
- ce: the deviator is recommended b and plays ψ(b); the best swap is chosen for each (h, s, b) alone, because a
  recommendation says nothing about later draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tacit.core import check, memory
from tacit.core.elementary import dot
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import ExactGame, Rows, check_exact, is_joint, stack_rows
from tacit.policies.base import Policy
from tacit.policies.markov import MarkovPolicy, check_policy

#: The rows that all play at a step.
Play = Callable[[int], Rows]


class Step(NamedTuple):
    """One step of the backward pass.

    Payoffs are of each agent's actions; of a correlated policy [..., N, S, A, A] as `ExactGame.payoffs` has them: the
    agent is recommended the first action and plays the second.
    """

    h: int
    rows: Rows
    payoffs: FloatArray  # [..., N, S, A]  where the policy follows
    V: FloatArray  # [..., N, S]  of the policy
    gains: FloatArray  # [..., N, S, A]  where the deviation follows
    best: FloatArray  # [..., N, S]  of the deviation; V where there is none


def prepare(game: ExactGame, policy: MarkovPolicy) -> tuple[ExactGame, Play]:
    """Check that a Markov policy fits a game. Return the game that evaluates it, and the rows of each step."""
    check_policy(policy)
    policy.check_fits(game)
    return (game, policy.at) if policy.product else (game.tabular(), lambda h: policy.at(h)[0])


def tables(probs: Sequence[FloatArray]) -> Play:
    """Return the rows of each step of the agents' tables [H, ..., S, A_i]."""
    return lambda h: [table[h] for table in probs]


def backward(
    game: ExactGame, rows_at: Play, kind: str | None = None, *, fixed: IntArray | None = None
) -> Iterator[Step]:
    """Yield steps from the last to the first, with values of policy and deviation.

    The deviation is the best of a kind, or plays fixed actions [N, H, S, B] where all draw independently: one for each
    recommended action, or B = 1. Both continuations are computed in one product with P, which is what costs.
    """
    following = None if game.discount is None else settle(game, rows_at(0), kind)
    for h in reversed(range(game.horizon)):
        rows = rows_at(h)
        both = game.payoffs(h, rows, following)
        payoffs, gains = (both, both) if following is None or kind is None else both
        V = average(payoffs, rows)
        if fixed is not None:
            best = _play_fixed(game, gains, fixed[:, h])
        else:
            best = V if kind is None else deviate(rows, gains, kind)
        yield Step(h, rows, payoffs, V, gains, best)
        following = V if kind is None else np.array([V, best])


def forward(game: ExactGame, rows_at: Play, initial: FloatArray | None = None) -> FloatArray:
    """Return the probability d_h(s) of being in s at step h, [..., H, S].

    In a discounted game it is the expected number of visits Σ_t γ^t·P(s_t = s), which add up to 1/(1 − γ).
    """
    memory.require(memory.floats(game.horizon, game.states), "the occupancy of the policy")
    d = [game.initial if initial is None else initial]
    if game.discount is not None:
        d = [count_visits(game, rows_at(0), d[0])]
    for h in range(game.horizon - 1):
        d.append(game.push(h, rows_at(h), d[-1]))
    return np.stack(np.broadcast_arrays(*d), axis=-2)


#: Games with their rewards shifted; None where they need not be.
_SHIFTED: WeakKeyDictionary[ExactGame, tuple[ExactGame, FloatArray] | None] = WeakKeyDictionary()


def shift_rewards(game: ExactGame) -> tuple[ExactGame, FloatArray]:
    """Return the game in which gaps are computed, and what its rewards lack, [N].

    Rewards far from 0 are shifted by each agent's least: 1e12 is worth the same to all policies, and costs 12 digits.
    """
    if game not in _SHIFTED:
        _SHIFTED[game] = game.shift_rewards()
    return _SHIFTED[game] or (game, np.zeros(game.agents))


def largest_return(game: ExactGame) -> float:
    """Return the largest possible return, in absolute value: rounding is relative to it."""
    return game.effective_horizon * max(abs(game.reward_range[0]), abs(game.reward_range[1]), 1e-300)


def average(payoffs: FloatArray, rows: Rows) -> FloatArray:
    """Return the expected payoffs [..., N, S] of `rows`."""
    if is_joint(rows):
        followed: FloatArray = np.einsum("...aa->...", payoffs)  # recommended a, an agent plays a
        return followed
    mean: FloatArray = np.einsum("...nsa,...nsa->...ns", payoffs, stack_rows(rows))
    return mean


def deviate(rows: Rows, gains: FloatArray, kind: str) -> FloatArray:
    """Return what the best deviations of a kind get, [..., N, S]. Who draws independently learns nothing from it."""
    best: FloatArray = best_when_recommended(gains, kind) if is_joint(rows) else gains.max(axis=-1)
    return best


def choose(rows: Rows, gains: FloatArray, kind: str) -> IntArray:
    """Return the actions [..., N, S] of the best deviations. [N, S, A] by recommendation for ce and a joint draw."""
    ignores = is_joint(rows) and kind != "ce"
    chosen: IntArray = (gains.sum(axis=-2) if ignores else gains).argmax(axis=-1)
    return chosen


def best_when_recommended(gains: FloatArray, kind: str) -> FloatArray:
    """Return the best of payoffs [..., recommended, played]. Of ce by recommendation, else one for all."""
    best: FloatArray = gains.max(axis=-1).sum(axis=-1) if kind == "ce" else gains.sum(axis=-2).max(axis=-1)
    return best


def _play_fixed(game: ExactGame, gains: FloatArray, fixed: IntArray) -> FloatArray:
    """Return the payoffs [N, S] of fixed actions [N, S, B]. They are means over recommended actions, or one for all."""
    picked = np.take_along_axis(gains[:, :, None], fixed[..., None], axis=-1)[..., 0]
    possible = np.arange(fixed.shape[-1]) < np.array(game.actions)[:, None, None]
    mean: FloatArray = np.average(picked, axis=-1, weights=np.broadcast_to(possible, picked.shape))
    return mean


# what follows a step that is followed by itself -----------------------------------------------------------------------

#: States up to which values are eliminated, whatever the discount, and at most; of more, by iteration alone.
#: Measured: with 3000 states and γ = 0.95 elimination takes 15 times as long; iterations grow with 1/(1 − γ).
FEW, MOST = 300, 2000

#: Error of values in units of the largest difference of returns, and rounds of policy iteration at most.
_ERROR, _ROUNDS = 1e-12, 100


def settle(game: ExactGame, rows: Rows, kind: str | None) -> FloatArray:
    """Return the values [..., N, S] of `rows` for ever. With a deviation [2, ..., N, S].

    >>> import tacit
    >>> game = tacit.TabularGame([[[1.0], [1.0]]], [[[3.0, 4.0]]], 0, discount=0.75)
    >>> settle(game, [np.array([[1.0, 0.0]])], "nash").ravel().round(9).tolist()
    [12.0, 16.0]
    """

    def after(following: FloatArray) -> FloatArray:
        payoffs = game.payoffs(0, rows, following)
        if kind is None:
            return average(payoffs, rows)
        return np.array([average(payoffs[0], rows), deviate(rows, payoffs[1], kind)])

    paid = average(game.payoffs(0, rows, None), rows)
    V = np.zeros_like(paid)
    if _eliminates(game):
        V = _eliminate(walk(game, rows)[..., None, :, :], paid)
    following = V if kind is None else np.array([V, _improve(game, rows, V, kind)])
    low, high = game.reward_range
    return iterate(after, following, _ERROR * (high - low))


def iterate(renew: Callable[[FloatArray], FloatArray], values: FloatArray, tolerance: float) -> FloatArray:
    """Renew values until they change by at most a tolerance, or by rounding alone. It then is no less than before."""
    last = np.inf
    while True:
        renewed = renew(values)
        change = float(np.abs(renewed - values).max())
        values = renewed
        if change <= tolerance or change >= last:
            return values
        last = change


def _eliminates(game: ExactGame) -> bool:
    """Return whether elimination is quicker than iteration."""
    return game.states <= min(max(FEW, 10 * game.effective_horizon), MOST)


def _improve(game: ExactGame, rows: Rows, V: FloatArray, kind: str) -> FloatArray:
    """Return the values of the best deviation by policy iteration. V itself where only iteration will do."""
    if not _eliminates(game):
        return V
    best, before = V, np.zeros(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        gains = game.payoffs(0, rows, best)
        choices = choose(rows, gains, kind)
        if np.array_equal(choices, before):
            break
        before = choices
        each = [with_deviation(rows, i, actions) for i, actions in enumerate(np.moveaxis(choices, V.ndim - 2, 0))]
        paid = np.stack([average(game.payoffs(0, new, None), new)[..., i, :] for i, new in enumerate(each)], axis=-2)
        best = _eliminate(np.stack([walk(game, new) for new in each], axis=-3), paid)
    return best


def with_deviation(rows: Rows, i: int, choices: IntArray) -> Rows:
    """Return `rows` where agent i plays `choices` [..., S] instead, or [S, A] by recommended action."""
    if not is_joint(rows):
        pure = np.zeros(np.broadcast_shapes(rows[i].shape, (*choices.shape, 1)))
        np.put_along_axis(pure, choices[..., None], 1.0, axis=-1)
        return [pure if j == i else other for j, other in enumerate(rows)]
    recommended = np.moveaxis(rows, 1 + i, 1)
    played, every = np.zeros_like(recommended), np.arange(len(recommended))
    for b in range(recommended.shape[1]):
        played[every, choices if choices.ndim == 1 else choices[:, b]] += recommended[:, b]
    return np.moveaxis(played, 1, 1 + i)


def walk(game: ExactGame, rows: Rows) -> FloatArray:
    """Return the transitions [..., S, S] from state to state where all play `rows`, discounted."""
    memory.require(memory.floats(2, game.states, game.states), "the transitions between states")
    return game.walk(rows)


def count_visits(game: ExactGame, rows: Rows, initial: FloatArray) -> FloatArray:
    """Return the expected visits [..., S] from an initial distribution, discounted."""
    visits: FloatArray = initial
    if _eliminates(game):
        onward = walk(game, rows)
        visits = _eliminate(np.swapaxes(onward, -1, -2), np.broadcast_to(initial, onward.shape[:-1]))
    tolerance = _ERROR / game.effective_horizon / game.states  # so that the changes of all states add up to no more
    return iterate(lambda visits: initial + game.push(0, rows, visits), visits, tolerance)


def _eliminate(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve (I − matrix)·x = right for matrices [..., S, S] and right sides [..., S]."""
    system: Any = np.eye(matrix.shape[-1]) - matrix
    x: FloatArray = np.linalg.solve(system, right[..., None])[..., 0]
    return x


# of one policy, all steps ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PolicyValues:
    """Values of a policy in a game.

    Attributes
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    V : array [N, H + 1, S]
        Expected reward from step h on; at the end zero, or in a discounted game, which has one step, the same again.

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import policy_values
    >>> game = tacit.make("stag-hunt", horizon=2)
    >>> policy_values(game, tacit.MarkovPolicy.deterministic([[[0]], [[0]]], game.actions)).V[0].tolist()
    [[8.0], [4.0], [0.0]]
    """

    game: ExactGame
    policy: MarkovPolicy
    V: FloatArray

    @property
    def initial(self) -> FloatArray:
        """Value of each agent from the initial distribution, [N]."""
        start: FloatArray = dot(self.V[:, 0], self.game.initial)
        return start

    def Q(self, agent: int, h: int) -> FloatArray:
        """Return agent i's value of each joint action at step h, [S, A_1, …, A_N]."""
        i = check.integer("agent", agent, least=0, most=self.game.agents - 1)
        h = check.integer("h", h, least=0, most=self.game.horizon - 1)
        q: FloatArray = self.game.tabular().joint_payoffs(h, self.V[[i], h + 1], agents=[i])[0]
        return q


def policy_values(game: ExactGame, policy: MarkovPolicy) -> PolicyValues:
    """Compute the values of a policy by backward induction.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy

    Returns
    -------
    PolicyValues

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import policy_values
    >>> game = tacit.make("matching-pennies")
    >>> policy_values(game, tacit.MarkovPolicy.uniform(game)).initial
    array([0., 0.])
    """
    backwards = backward(*prepare(game, policy))
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the policy")
    for step in backwards:
        V[:, step.h] = step.V
    return PolicyValues(game, policy, follow_on(game, V))


def follow_on(game: ExactGame, V: FloatArray) -> FloatArray:
    """Write into values [N, H + 1, S] what follows the last step of a discounted game."""
    if game.discount is not None:
        V[:, 1] = V[:, 0]
    return V


def occupancy(game: ExactGame, policy: MarkovPolicy) -> FloatArray:
    """Return the probability d_h(s) of being in s at step h, [H, S].

    In a discounted game it is [1, S], the expected number of visits Σ_t γ^t·P(s_t = s): they add up to 1/(1 − γ).

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy

    Returns
    -------
    array [H, S]

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import occupancy
    >>> game = tacit.make("good-state", horizon=2)
    >>> occupancy(game, tacit.MarkovPolicy.uniform(game)).round(2).tolist()
    [[1.0, 0.0], [0.3, 0.7]]
    """
    return forward(*prepare(game, policy))


KINDS = ("nash", "cce", "ce")


@dataclass(frozen=True)
class Deviations:
    """The values of a policy beside those of each agent's best deviation from it.

    Attributes
    ----------
    kind : {"nash", "cce", "ce"}
    V : array [N, H + 1, S]
        Values of the policy.
    best : array [N, H + 1, S]
        Values of each agent's best deviation.
    choices : tuple of int arrays, one for each agent
        The deviation: an action [H, S], or for the ce gap of a correlated policy an action for each recommended one,
        [H, S, A_i].

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import deviations
    >>> game = tacit.make("prisoners-dilemma")
    >>> deviations(game, tacit.MarkovPolicy.uniform(game), "nash").choices[0].tolist()
    [[1]]
    """

    kind: str
    V: FloatArray
    best: FloatArray
    choices: tuple[IntArray, ...]


def deviations(game: ExactGame, policy: MarkovPolicy, kind: str) -> Deviations:
    """Compute values and best deviations of all agents in one backward pass.

    Both continuations are averaged over next states in one product with P, which is what costs.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    kind : {"nash", "cce", "ce"}
        Which deviations count.

    Returns
    -------
    Deviations

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import deviations
    >>> game = tacit.make("matching-pennies")
    >>> best = deviations(game, tacit.MarkovPolicy.uniform(game), "nash")
    >>> bool((best.best == best.V).all())
    True
    """
    backwards = steps(game, policy, kind)
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the policy")
    best = np.zeros_like(V)
    by_step = []
    for step in backwards:
        V[:, step.h], best[:, step.h] = step.V, step.best
        by_step.append(choose(step.rows, step.gains, kind))
    choices = np.stack(by_step[::-1], axis=1)  # [N, H, S], or [N, H, S, A]
    swaps = choices.ndim == 4
    return Deviations(
        kind,
        follow_on(game, V),
        follow_on(game, best),
        tuple(actions[..., :a] if swaps else actions for actions, a in zip(choices, game.actions, strict=True)),
    )


def steps(game: ExactGame, policy: MarkovPolicy, kind: str) -> Iterator[Step]:
    """Yield the steps of the backward pass over a policy and the best deviations."""
    prepared = prepare(game, policy)
    check_kind(policy, kind)
    return backward(*prepared, kind)


def check_kind(policy: Policy, kind: str) -> None:
    """Raise unless a policy has a gap of this kind."""
    check.choice("gap", kind, KINDS)
    if kind == "nash" and not policy.product:
        raise TacitError("gap must be 'cce' or 'ce' for a correlated policy; got 'nash', which needs a product policy")


@dataclass(frozen=True)
class BestResponse:
    """One agent's best response to the others' policies.

    Attributes
    ----------
    actions : int array [H, S]
    V : array [H + 1, S]
        Its value from step h on.
    value : float
        Its value from the initial distribution.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("stag-hunt")
    >>> tacit.evaluation.best_response(game, tacit.MarkovPolicy.deterministic([[[0]], [[0]]], game.actions), 0).value
    4.0
    """

    actions: IntArray
    V: FloatArray
    value: float


def best_response(game: ExactGame, policy: MarkovPolicy, agent: int) -> BestResponse:
    """Compute one agent's best response; to a correlated policy, one that ignores recommendations.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    agent : int

    Returns
    -------
    BestResponse

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> tacit.evaluation.best_response(game, tacit.MarkovPolicy.uniform(game), 0).actions
    array([[1]])
    """
    check_exact(game)
    i = check.integer("agent", agent, least=0, most=game.agents - 1)
    best = deviations(game, policy, "cce")
    return BestResponse(best.choices[i], best.best[i], float(dot(best.best[i, 0], game.initial)))
