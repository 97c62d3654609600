"""A stationary game without the axis of steps, and a first state instead of a distribution."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.core.errors import TacitError


@pytest.mark.parametrize("actions", [(2,), (2, 3), (1, 1), (2, 2, 2)])
@pytest.mark.parametrize("states", [1, 2, 3])
def test_short_tables_are_long_ones(actions, states):
    rng, N = np.random.default_rng(0), len(actions)
    transitions = rng.dirichlet(np.ones(states), size=(states, *actions))
    rewards = rng.random((N, states, *actions))
    long = tacit.TabularGame(transitions[None], rewards[:, None], np.eye(states)[states - 1], 3)
    short = tacit.TabularGame(transitions, rewards, states - 1, 3)
    mixed = tacit.TabularGame(transitions[None], rewards, np.int64(states - 1), 3)
    assert long.digest == short.digest == mixed.digest
    assert short.rewards.shape == (N, 1, states, *actions)


@pytest.mark.parametrize("start", [2, -1, True, 0.0, "0"])
def test_a_wrong_first_state(start):
    with pytest.raises(TacitError, match="initial"):
        tacit.TabularGame(np.ones((2, 2, 2, 2)) / 2, np.zeros((2, 2, 2, 2)), start, 3)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2, 2, 2), (4, 2, 2, 2), (2,)])
def test_wrong_shapes_are_still_told(shape):
    with pytest.raises(TacitError, match="rewards has shape"):
        tacit.TabularGame(np.ones((2, 2, 2, 2)) / 2, np.zeros(shape), 0, 3)


@pytest.mark.parametrize("what", ["transition", "reward"])
def test_functions_of_other_parameters_are_told(what):
    given = {"transition": lambda s, actions: {s: 1.0}, "reward": lambda s, actions: 0.0}
    given |= {what: lambda s, actions, s_next: 0.0}
    with pytest.raises(tacit.TacitError, match=rf"{what} is a function of '\(s, actions, s_next\)'; it must be one of"):
        tacit.tabulate(**given, start=0, actions=[2], horizon=2)
