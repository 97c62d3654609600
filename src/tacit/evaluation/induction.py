"""Backward and forward induction over any game: the two passes that all exact figures come from. [Mao2022, eqn:value]

Backwards, the game is asked what each own action pays where the policy follows, and where a deviation follows;
forwards, where play goes. Policies may come many at once: then everything has their axes in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.types import FloatArray
from tacit.games.contraction import stack_rows
from tacit.games.exact import ExactGame, Rows
from tacit.policies.markov import MarkovPolicy, check_policy

#: What all play at a step.
Play = Callable[[int], Rows]

#: What a deviation gets [..., N, S] at a step, from the payoffs of own actions where it goes on.
Deviate = Callable[[int, FloatArray], FloatArray]


class Step(NamedTuple):
    """One step of the backward pass.

    Payoffs are of own actions, and of a correlated policy [..., N, S, A, A] as `ExactGame.payoffs` has them: told the
    first action, the agent plays the second.
    """

    h: int
    rows: Rows
    payoffs: FloatArray  # [..., N, S, A]  where the policy follows
    V: FloatArray  # [..., N, S]  of the policy
    gains: FloatArray  # [..., N, S, A]  where the deviation follows
    best: FloatArray  # [..., N, S]  of the deviation; V where there is none


def prepare(game: ExactGame, policy: MarkovPolicy) -> tuple[ExactGame, Play]:
    """Check that a Markov policy fits a game; return the game as it answers for it, and what is played at each step."""
    check_policy(policy)
    policy.check_fits(game)
    return (game, policy.at) if policy.product else (game.tabular(), lambda h: policy.at(h)[0])


def tables(probs: Sequence[FloatArray]) -> Play:
    """Return what tables [H, ..., S, A_i], one for each agent, play at each step."""
    return lambda h: [own[h] for own in probs]


def backward(game: ExactGame, rows_at: Play, deviate: Deviate | None = None) -> Iterator[Step]:
    """Yield the steps from the last to the first, with the values of what is played and of a deviation from it.

    Both continuations are asked for at once, which is what costs.
    """
    following: FloatArray | None = None
    for h in reversed(range(game.horizon)):
        rows = rows_at(h)
        found = game.payoffs(h, rows, following)
        stay, leave = (found, found) if following is None or deviate is None else found
        V = average(stay, rows)
        best = V if deviate is None else deviate(h, leave)
        yield Step(h, rows, stay, V, leave, best)
        following = V if deviate is None else np.array([V, best])


def forward(game: ExactGame, rows_at: Play, initial: FloatArray | None = None) -> FloatArray:
    """Return the probability d_h(s) of being in s at step h, [..., H, S]."""
    memory.require(memory.floats(game.horizon, game.states), "the occupancy of the policy")
    there = [game.initial if initial is None else initial]
    for h in range(game.horizon - 1):
        there.append(game.push(h, rows_at(h), there[-1]))
    return np.stack(np.broadcast_arrays(*there), axis=-2)


def largest_return(game: ExactGame) -> float:
    """Return what the return of an episode is at most, in absolute value: rounding is relative to it."""
    return game.horizon * max(abs(game.reward_range[0]), abs(game.reward_range[1]), 1e-300)


def average(payoffs: FloatArray, rows: Rows) -> FloatArray:
    """Return what `rows` bring, [..., N, S], of the payoffs of own actions."""
    if isinstance(rows, np.ndarray):
        followed: FloatArray = np.einsum("...aa->...", payoffs)  # whoever is told a plays a
        return followed
    mean: FloatArray = np.einsum("...nsa,...nsa->...ns", payoffs, stack_rows(rows))
    return mean


def best_action(h: int, gains: FloatArray) -> FloatArray:
    """Deviate by the best action."""
    top: FloatArray = gains.max(axis=-1)
    return top


def ignore_draw(h: int, gains: FloatArray) -> FloatArray:
    """Deviate from a joint draw by the best action, whatever one is told."""
    top: FloatArray = gains.sum(axis=-2).max(axis=-1)
    return top


def swap(h: int, gains: FloatArray) -> FloatArray:
    """Deviate from a joint draw by the best action for each that one is told."""
    top: FloatArray = gains.max(axis=-1).sum(axis=-1)
    return top


def deviation(product: bool, kind: str) -> Deviate:
    """Return the best deviation of a kind: who draws independently learns nothing from its own draw."""
    return best_action if product else swap if kind == "ce" else ignore_draw
