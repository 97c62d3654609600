"""A game that is functions is tried before compiled code trusts it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import tacit
from tacit import kernels
from tacit.games.protocol import check_play


class Loose(NamedTuple):
    """Two states, of which `next_state` may be another, and a reward that may lie outside of its range."""

    horizon: int
    states: int
    actions: np.ndarray
    next_state: int
    pays: float


@kernels.initial_state.implement(Loose)
def initial_state(game, u):
    return 0


@kernels.joint_action.implement(Loose)
def joint_action(game, h, s, actions):
    return h


@kernels.next_state.implement(Loose)
def next_state(game, token, u):
    return game.next_state


@kernels.reward.implement(Loose)
def reward(game, i, token):
    return game.pays


class Made:
    name, agents, states, actions, horizon, reward_range, notes = "loose", 3, 2, (2, 2, 2), 3, (0.0, 1.0), ()

    def __init__(self, next_state: int, pays: float) -> None:
        self._given = (next_state, pays)

    def kernels(self) -> Loose:
        return Loose(3, 2, np.array([2, 2, 2]), *self._given)


def test_what_fits_is_taken():
    check_play(Made(1, 0.5))


@pytest.mark.parametrize("wrong", [2, -1, 10**9])
def test_a_state_that_is_not_there(wrong: int):
    with pytest.raises(tacit.TacitError, match=f"must return a whole number from 0 to 1; got {wrong}"):
        tacit.learn(Made(wrong, 0.5), "stage-v-cce", episodes=5)


def test_a_reward_out_of_range():
    with pytest.raises(tacit.TacitError, match="outside reward_range"):
        tacit.learn(Made(0, 7.0), "stage-v-cce", episodes=5)
