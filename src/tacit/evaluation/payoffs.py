"""What each agent expects at one (h, s) of a tabular game: of all that they play, and of each own action.

First the payoffs of every joint action, r_i + P·V_i and r_i + P·V†_i for all agents beside each other: they change only
when a value of the next step does, so small games keep them from visit to visit. Then the agents are contracted one by
one, the last first: what is left after agent j is

    X(a_1 … a_{j-1}) = Σ_a μ_j(a)·X(a_1 … a_{j-1}, a),  and agent j itself gets  q_j(a) += μ_1⋯μ_{j-1}·X_j(…, a).

So a visit costs about one multiplication for each agent and joint action, and joint actions in which two agents play
with probability 0 cost none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from tacit.core import generics, memory
from tacit.core.lanes import pairs, plain, put
from tacit.core.memory import lock
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import ExactGame
from tacit.games.tabular import as_tables
from tacit.games.tabular_kernels import GameTables

#: Payoffs are kept from visit to visit where they take at most this many bytes: they should stay in a core's cache.
KEPT_BYTES = 1 << 20


class Payoffs(NamedTuple):
    """The payoffs of joint actions, those of staying before those of leaving, and room for what is left of them."""

    rewards: FloatArray  # [rows, N]  of the game, agents beside each other
    table: FloatArray  # [C or 1, joint actions, 2·N]
    made: IntArray  # [C]  changes of the next step's values when the table was made
    changes: IntArray  # [H+1]  of the values of each step, from 1 on
    left: FloatArray  # [joint actions without the last agent's, 2·N]  where agents are many
    chance: FloatArray  # [1 + A_1 + A_1·A_2 + …]  of the first agents' joint actions, likewise


def payoffs(game: ExactGame) -> Payoffs:
    """Make room for the payoffs of a game; a counting game has no use for it."""
    N, H, C = game.agents, game.horizon, game.horizon * game.states
    rewards, joint, first = np.zeros((0, N)), 0, [1]
    tables = as_tables(game)
    if tables is not None:
        memory.require(tables.rewards.nbytes, "the rewards, a second time for the certificate")
        rewards, joint = np.ascontiguousarray(tables.rewards.reshape(N, -1).T), game.joint_actions
        first = [math.prod(game.actions[:j]) for j in range(N)]
    kept = memory.floats(C, joint, 2 * N) <= KEPT_BYTES
    return Payoffs(
        rewards=lock(rewards),
        table=memory.zeros((C if kept else 1, joint, 2 * N), "the payoffs"),
        made=np.zeros(C, dtype=np.int64),
        changes=np.ones(H + 1, dtype=np.int64),
        left=np.zeros((first[-1], 2 * N)),
        chance=np.zeros(sum(first)),
    )


def _fill_few(seats, table, rewards, game, h, s, V, best):
    """Compute all agents' payoffs of a joint action at once."""
    N = len(seats)
    row = h * game.transition_stride + s * game.joint_actions
    reward_row = h * game.reward_stride + s * game.joint_actions
    last = h == game.horizon - 1
    for joint in range(game.joint_actions):
        found = pairs(seats)
        for i in range(N):
            found = put(found, i, rewards[plain(reward_row + joint), i])
            found = put(found, N + i, rewards[plain(reward_row + joint), i])
        if not last:
            for k in range(game.first[plain(row + joint)], game.first[plain(row + joint + 1)]):
                p, s_next = game.prob[plain(k)], plain(game.state[plain(k)])
                for i in range(N):
                    found = put(found, i, found[i] + p * V[s_next, i])
                for i in range(N):
                    found = put(found, N + i, found[N + i] + p * best[s_next, i])
        for i in range(2 * N):
            table[joint, i] = found[i]


def _fill_many(seats, table, rewards, game, h, s, V, best):
    """Compute one agent's payoffs after the other's."""
    N = len(seats)
    row = h * game.transition_stride + s * game.joint_actions
    reward_row = h * game.reward_stride + s * game.joint_actions
    last = h == game.horizon - 1
    for joint in range(game.joint_actions):
        begin, end = game.first[plain(row + joint)], game.first[plain(row + joint + 1)]
        if last:
            end = begin
        for i in range(N):
            stay = rewards[plain(reward_row + joint), i]
            leave = stay
            for k in range(begin, end):
                p, s_next = game.prob[plain(k)], plain(game.state[plain(k)])
                stay += p * V[s_next, i]
                leave += p * best[s_next, i]
            table[joint, i] = stay
            table[joint, N + i] = leave


def _contract_few(seats, table, held, cert, game):
    """Walk over the joint actions as over a tree, whose depth the compiler knows."""
    most = cert.first[0, 0].q.shape[1]
    for i in range(1, len(seats)):
        for a in range(min(game.actions[i], most)):
            cert.gain[i, a] = 0.0
    value = walk(seats, seats, table, cert.mu, cert.gain, game.actions, most, game.strides, 0, 1.0)
    for i in range(len(seats)):
        cert.value[i] = value[i]


def _leaf(left, seats, table, mu, gain, actions, most, strides, row, chance):
    """Return the payoffs of a joint action."""
    found = pairs(seats)
    for i in range(2 * len(seats)):
        found = put(found, i, table[plain(row), i])
    return found


def _node(left, seats, table, mu, gain, actions, most, strides, row, chance):
    """Contract the next agent, whose own actions lead to payoffs that count with the chance of the others before."""
    N = len(seats)
    j = N - len(left)
    stride = 1 if len(left) == 1 else strides[j]
    found = pairs(seats)
    for a in range(min(actions[j], most)):
        p = mu[j, a]
        if len(left) == 1 or p > 0.0 or chance > 0.0:
            below = walk(left[1:], seats, table, mu, gain, actions, most, strides, row + a * stride, chance * p)
            if j == 0:
                gain[j, a] = below[N + j]
            else:
                gain[j, a] += chance * below[N + j]
            for i in range(2 * N):
                found = put(found, i, found[i] + p * below[i])
    return found


def _contract_many(seats, table, held, cert, game):
    """Contract one agent after the other; `chance` holds level after level of the joint actions of the first agents."""
    N = len(seats)
    for i in range(N):
        for a in range(game.actions[i]):
            cert.gain[i, a] = 0.0
    held.chance[0] = 1.0
    begin, count = 0, 1  # of the level: joint actions of the agents before the one that is contracted
    for j in range(N - 1):
        for before in range(count):
            for a in range(game.actions[j]):
                below = begin + count + before * game.actions[j] + a
                held.chance[plain(below)] = held.chance[plain(begin + before)] * cert.mu[j, a]
        begin += count
        count *= game.actions[j]
    squeeze(table, held, cert, game, N, N - 1, begin, count)
    for back in range(1, N):
        j = N - 1 - back
        count //= game.actions[j]
        begin -= count
        squeeze(held.left, held, cert, game, N, j, begin, count)
    for i in range(N):
        cert.value[i] = held.left[0, i]


@generics.jitable
def squeeze(rows, held, cert, game, N, j, begin, count):
    """Contract agent j: from `rows` [count·A_j, 2·N] to `left` [count, 2·N], which may be the same."""
    for before in range(count):
        chance = held.chance[plain(begin + before)]
        out = held.left[plain(before)]
        for a in range(game.actions[j]):
            p = cert.mu[j, a]
            row = rows[plain(before * game.actions[j] + a)]
            cert.gain[j, a] += chance * row[N + j]
            if a == 0:
                for i in range(2 * N):
                    out[i] = p * row[i]
            elif p > 0.0:
                for i in range(2 * N):
                    out[i] += p * row[i]


def _dispatch(choose: Callable[[Any], Any]) -> Any:
    """Make a function that runs the kernel which its first argument chooses: by its value, or by its type for numba."""

    def run(first: Any, *rest: Any) -> Any:
        return choose(first)(first, *rest)

    overload(run, strict=False, jit_options=generics.OPTIONS)(lambda first, *rest: choose(first))
    return run


def _few(seats: Any) -> bool:
    """Return whether the compiler knows the number of agents."""
    return isinstance(seats, tuple | types.BaseTuple)


#: Compute the payoffs of all joint actions of (h, s) from the values of the next step [S, N].
fill = _dispatch(lambda seats: _fill_few if _few(seats) else _fill_many)
#: Write `cert.value` [N] and `cert.gain` [N, A] from the payoffs of all joint actions.
contract = _dispatch(lambda seats: _contract_few if _few(seats) else _contract_many)
#: Return the expected payoffs [2·N] below a node: where the agents before `left` play what leads to `row`.
walk = _dispatch(lambda left: _node if len(left) else _leaf)


@generics.confront.implement(GameTables)
def confront_tables(game, cert, seats, h, s):
    """Take expectations over the joint actions."""
    held, c = cert.payoffs, h * game.states + s
    kept = len(held.table) > 1
    table = held.table[plain(c if kept else 0)]
    stale = True
    if kept:
        changes = held.changes[plain(h + 1)]
        stale = held.made[plain(c)] != changes
        held.made[plain(c)] = changes
    if stale:
        fill(seats, table, held.rewards, game, h, s, cert.V[plain(h + 1)], cert.best[plain(h + 1)])
    contract(seats, table, held, cert, game)
