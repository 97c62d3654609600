"""Environments: a run that begins where another ended, and rewards beyond those of the first episodes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tacit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from toys import Corridor, DropOut, Surprise


def learn(env, learner="adaptive-v-cce", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tacit.learn(env, learner, **options)


def test_states_keep_their_numbers_and_new_ones_are_met():
    first = learn(
        tacit.from_pettingzoo(Corridor(cells=3), horizon=3, reward_range=(-1, 10)), "pg-adaptive", episodes=60
    )
    known = [list(own.met) for own in first.game.observations]
    longer = learn(
        tacit.from_pettingzoo(Corridor(cells=6), horizon=3, reward_range=(-1, 10)),
        "pg-adaptive",
        episodes=60,
        start=first,
        seed=3,
    )
    for own, before in zip(longer.game.observations, known, strict=True):
        assert own.met[: len(before)] == before
    warm = learn(
        tacit.from_pettingzoo(Corridor(cells=3), horizon=3, reward_range=(-1, 10)),
        "pg-adaptive",
        episodes=1,
        start=first,
    )
    S = first.last.states
    for own, before in zip(warm.last.probs, first.last.probs, strict=True):
        np.testing.assert_allclose(own[:, :S], before, atol=1e-3)


def test_a_start_in_an_environment_whose_agents_drop_out():
    first = learn(DropOut(), "pg-adaptive", episodes=50)
    warm = learn(DropOut(), "pg-adaptive", episodes=1, start=first)
    for own, before in zip(warm.last.probs, first.last.probs, strict=True):
        np.testing.assert_allclose(own, before, atol=1e-3)


def test_a_reward_beyond_the_range_starts_only_learners_over_that_need_it():
    free = Surprise()
    run = learn(free, "adaptive-v-cce", episodes=100)
    assert any("rewards were met in [1, 50]" in note for note in run.notes)
    assert free.episodes == 100 + 20 + 20  # those that scout, and those that measure the result
    assert run.reward[0] == 50
    told = learn(
        tacit.from_pettingzoo(Surprise(), reward_range=(0, 50)), episodes=100
    )  # the range that was guessed changes nothing
    assert np.array_equal(run.last.probs[0], told.last.probs[0])
    bound = Surprise()
    again = learn(bound, "stage-v-cce", episodes=100)
    assert any("started over" in note for note in again.notes)
    assert bound.episodes > 120
