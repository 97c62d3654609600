"""A leading 1 means "the same at every step" and is never copied H times."""

from __future__ import annotations

import numpy as np
import pytest

import tacit


@pytest.fixture
def game() -> tacit.TabularGame:
    rng = np.random.default_rng(3)
    return tacit.TabularGame(
        rng.dirichlet(np.ones(4), (1, 4, 2, 3)), rng.random((2, 1, 4, 2, 3)), np.full(4, 0.25), 1000
    )


def test_the_arrays_keep_their_single_step(game: tacit.TabularGame):
    assert game.transitions.shape == (1, 4, 2, 3, 4)
    assert game.rewards.shape == (2, 1, 4, 2, 3)
    assert game.transition_steps == 1
    assert game.successors.rows == 4 * 6


def test_every_step_shows_the_same_memory(game: tacit.TabularGame):
    assert np.shares_memory(game.step_rewards(0), game.step_rewards(999))
    assert np.shares_memory(game.step_rewards(500), game.rewards)


def test_evaluation_leaves_no_copy_for_each_step_behind(game: tacit.TabularGame):
    tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))
    held = [value for value in vars(game).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in held) <= 4 * game.transitions.nbytes
    assert len(game._step_matrices) == 1


@pytest.mark.parametrize("which", ["transitions", "rewards"])
def test_one_array_may_change_with_the_step_and_the_other_not(which: str):
    rng = np.random.default_rng(4)
    arrays = {"transitions": rng.dirichlet(np.ones(2), (1, 2, 2)), "rewards": rng.random((1, 1, 2, 2))}
    axis = 0 if which == "transitions" else 1
    stacked = {**arrays, which: np.repeat(arrays[which], 5, axis=axis)}
    one, many = (tacit.TabularGame(**a, initial=[1, 0], horizon=5) for a in (arrays, stacked))
    policy = tacit.MarkovPolicy.uniform(one)
    assert np.allclose(tacit.evaluate(one, policy).values, tacit.evaluate(many, policy).values, atol=1e-13)
