"""A tabular game as kernels see it: flat tables, one row for each step, state and joint action."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from tacit.core import generics
from tacit.core.compilation import compile_loop
from tacit.core.types import FloatArray, IntArray
from tacit.games import successors


class GameTables(NamedTuple):
    """What `start`, `place`, `advance` and `reward` read."""

    first: IntArray  # [rows + 1]  where the successors of a row begin
    state: npt.NDArray[np.int32]  # [entries]
    prob: FloatArray  # [entries]
    cumulative: FloatArray  # [entries]  within each row, ending in 1; each beside its state in memory
    rewards: FloatArray  # [N, rows]  those of a row side by side
    start_state: IntArray  # [states with positive initial probability]
    start_cumulative: FloatArray
    actions: IntArray  # [N]
    strides: tuple[int, ...] | IntArray  # [N]  joint actions from one action of agent i to the next
    horizon: int
    states: int
    joint_actions: int
    transition_stride: int  # rows from one step to the next, 0 where all steps are the same
    reward_stride: int
    width: int  # successors of every row; 0 where rows differ


pick = generics.jitable(successors.pick)


@generics.start.implement(GameTables)
def start(game, u):
    """Draw the first state."""
    return game.start_state[pick(game.start_cumulative, 0, len(game.start_state), u)]


@generics.place.implement(GameTables)
def place(game, h, s, actions):
    """Return the step, and the joint action's place among those of all states."""
    joint = 0
    for i in range(len(game.strides)):
        joint += actions[i] * game.strides[i]
    return h, s * game.joint_actions + joint


@generics.advance.implement(GameTables)
def advance(game, token, u):
    """Draw the next state."""
    h, joint = token
    row = max(h * game.transition_stride + joint, 0)
    first = row * game.width
    end = first + game.width
    if not game.width:
        first = game.first[row]
        end = game.first[row + 1]
    return np.int64(game.state[pick(game.cumulative, first, end, u)])


@generics.reward.implement(GameTables)
def reward(game, i, token):
    """Look up agent i's reward."""
    h, joint = token
    return game.rewards[i, h * game.reward_stride + joint]


#: Vectors that go through the table together: their sums stay in registers.
LANES = 8


def product(values: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return values [m, S] times matrix [rows, S] transposed, each sum in the order of the states."""
    ahead = np.zeros((len(values), len(matrix)))
    if numba.config.DISABLE_JIT:  # the same sums, state by state
        for s in range(matrix.shape[1]):
            ahead += values[:, s, None] * matrix[:, s]
        return ahead
    for begin in range(0, len(values), LANES):
        some = values[begin : begin + LANES]
        lanes = np.zeros((matrix.shape[1], LANES))
        lanes[:, : len(some)] = some.T
        compile_loop(multiply)(lanes, matrix, np.empty(LANES), ahead[begin : begin + LANES])
    return ahead


def multiply(lanes, matrix, sums, out):
    """Write matrix [rows, S] times lanes [S, 8] into out [m, rows], m ≤ 8."""
    for r in range(len(matrix)):
        row = matrix[r]
        a = b = c = d = e = f = g = h = 0.0
        for s in range(len(lanes)):
            p, v = row[s], lanes[s]
            a += p * v[0]
            b += p * v[1]
            c += p * v[2]
            d += p * v[3]
            e += p * v[4]
            f += p * v[5]
            g += p * v[6]
            h += p * v[7]
        sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] = a, b, c, d, e, f, g, h
        for k in range(len(out)):
            out[k, r] = sums[k]
