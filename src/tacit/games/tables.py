"""A tabular game as kernels see it: flat tables, one row for each step, state and joint action."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import generics, sampling
from tacit.core.types import FloatArray, IntArray

if TYPE_CHECKING:
    from tacit.games.tabular import TabularGame


class GameTables(NamedTuple):
    """What `start`, `advance` and `reward` read."""

    first: IntArray  # [rows + 1]  where the successors of a row begin
    state: npt.NDArray[np.int32]  # [entries]
    prob: FloatArray  # [entries]
    cumulative: FloatArray  # [entries]  within each row, ending in 1
    rewards: FloatArray  # [N, rows]
    start_state: IntArray  # [states with positive initial probability]
    start_cumulative: FloatArray
    actions: IntArray  # [N]
    horizon: int
    states: int
    joint_actions: int
    transition_stride: int  # rows from one step to the next, 0 where all steps are the same
    reward_stride: int


def tables(game: TabularGame) -> GameTables:
    """Lay a game out for the kernels; large arrays are shared with it, not copied."""
    block = game.states * game.joint_actions
    support = np.flatnonzero(game.initial)
    successors = game.successors
    return GameTables(
        first=successors.first,
        state=successors.state,
        prob=successors.prob,
        cumulative=game.cumulative,
        rewards=game.rewards.reshape(game.agents, -1),
        start_state=support,
        start_cumulative=sampling.cumulate_rows(game.initial[support], np.array([0, len(support)])),
        actions=np.array(game.actions),
        horizon=game.horizon,
        states=game.states,
        joint_actions=game.joint_actions,
        transition_stride=block if game.transition_steps > 1 else 0,
        reward_stride=block if game.rewards.shape[1] > 1 else 0,
    )


pick = generics.jitable(sampling.pick)


@generics.start.implement(GameTables)
def start(game, u):
    """Draw the first state."""
    return game.start_state[pick(game.start_cumulative, 0, len(game.start_state), u)]


@generics.advance.implement(GameTables)
def advance(game, h, s, joint, u):
    """Draw the next state."""
    row = h * game.transition_stride + s * game.joint_actions + joint
    return np.int64(game.state[pick(game.cumulative, game.first[row], game.first[row + 1], u)])


@generics.reward.implement(GameTables)
def reward(game, i, h, s, joint):
    """Look up agent i's reward."""
    return game.rewards[i, h * game.reward_stride + s * game.joint_actions + joint]
