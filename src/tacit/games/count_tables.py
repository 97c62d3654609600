"""A counting game as kernels see it: tables over sums of scores, and room for the distributions of such sums."""

from __future__ import annotations

from typing import NamedTuple

from tacit.core import generics, sampling
from tacit.core.types import FloatArray, IntArray


class CountTables(NamedTuple):
    """What kernels read of a counting game.

    A statistic q of a joint action is X_q = Σ_i scores[q, a_i]: the load of an action, a weighted count, or all counts
    at once as the digits of one number.
    """

    scores: IntArray  # [Q, A]
    sizes: IntArray  # [Q]  X_q goes from 0 to sizes[q] − 1
    steps: IntArray  # [Q, A]  the different scores of a statistic, ascending
    different: IntArray  # [Q]  how many there are
    group: IntArray  # [Q, A]  which of them is the action's
    reward_statistic: IntArray  # [A]  what the reward of an action depends on
    reward_first: IntArray  # [H or 1 × S × A]  where its table begins
    reward: FloatArray  # [entries]
    weight: FloatArray  # [N, A]
    transition_statistic: int
    transition: FloatArray  # [H or 1 × S, S, X]  probabilities of the next state
    cumulative: FloatArray  # [H or 1 × S, X, S]  the same, added up
    start_state: IntArray  # [states with positive initial probability]
    start_cumulative: FloatArray
    actions: IntArray  # [N]
    horizon: int
    states: int
    transition_stride: int  # rows from one step to the next, 0 where all steps are the same
    reward_stride: int
    load: IntArray  # [A]  room: how many chose each action
    total: IntArray  # [Q]  room: X_q
    once: IntArray  # [N]  ones: each agent stands for itself
    chance: FloatArray  # [N, A]  room: each agent's distribution over the different scores
    sums: FloatArray  # [levels, 2, X + 2]  room: distributions of sums
    span: IntArray  # [levels, 3]  room: where they are positive, and which of the two rows holds them
    todo: IntArray  # [2·levels, 5]  room
    own_reward: FloatArray  # [N, A]  room: each agent's expected reward of each own action
    own_next: FloatArray  # [N, A, S]  room: and the distribution of the next state


pick = generics.jitable(sampling.pick)


@generics.start.implement(CountTables)
def start(game, u):
    """Draw the first state."""
    return game.start_state[pick(game.start_cumulative, 0, len(game.start_state), u)]


@generics.place.implement(CountTables)
def place(game, h, s, actions):
    """Count who chose what, and compute the statistics."""
    for a in range(len(game.load)):
        game.load[a] = 0
    for i in range(len(game.actions)):
        game.load[actions[i]] += 1
    for q in range(len(game.total)):
        total = 0
        for a in range(len(game.load)):
            total += game.load[a] * game.scores[q, a]
        game.total[q] = total
    return h, s, actions


@generics.advance.implement(CountTables)
def advance(game, token, u):
    """Draw the next state."""
    h, s, _ = token
    row = game.cumulative[h * game.transition_stride + s, game.total[game.transition_statistic]]
    return pick(row, 0, game.states, u)


@generics.reward.implement(CountTables)
def reward(game, i, token):
    """Look up the reward of the own action at the own statistic."""
    h, s, actions = token
    a = actions[i]
    first = game.reward_first[(h * game.reward_stride + s) * len(game.load) + a]
    return game.weight[i, a] * game.reward[first + game.total[game.reward_statistic[a]]]
