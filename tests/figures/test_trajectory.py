"""Trajectories: how mixed actions move while agents learn."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.figures.pictures import trajectory


def test_trajectories_are_those_of_the_loop():
    """The end of a trajectory is the last iterate of a run with the same seed."""
    game = tacit.make("chicken")
    path = trajectory(game, "stage-v-cce", episodes=50, points=5, seed=3, iota=1.0)
    assert path.probs[0].shape == (6, 1, 1, 2)
    run = tacit.learn(game, "stage-v-cce", episodes=50, seed=3, iota=1.0)
    for i in range(2):
        np.testing.assert_array_equal(path.probs[i][-1], run.last.probs[i])
    np.testing.assert_allclose(path.probs[0].sum(axis=-1), 1)
    mean = np.mean([np.outer(*(own[k, 0, 0] for own in path.probs)) for k in range(6)], axis=0)
    np.testing.assert_allclose(path.counts, mean)


@pytest.mark.parametrize("learner", ["npg", "ucb-central"])  # exact, and of all agents at once
def test_exact_and_centralized_learners_have_trajectories(learner: str):
    game = tacit.make("stag-hunt", discount=0.5)
    path = trajectory(game, learner, episodes=20, points=4)
    assert len(path.probs) == 2
    np.testing.assert_allclose(path.probs[1].sum(axis=-1), 1)
    assert path.counts.sum() == pytest.approx(1)


def test_fictitious_play_cycles_in_shapleys_game():
    ends = {
        name: trajectory(tacit.make(name), "fictitious-play", episodes=3000, points=3000).probs[0][300:, 0, 0]
        for name in ("shapley", "rock-paper-scissors")
    }
    away = {name: np.abs(path - 1 / 3).max(axis=1) for name, path in ends.items()}
    assert away["shapley"].min() > 0.1
    assert away["rock-paper-scissors"][-1] < 0.05


def test_replicator_keeps_its_constant_and_best_responses_go_straight():
    """The replicator dynamics of a zero-sum game keep Σ x* log x + Σ y* log y; a best reply attracts in a line."""
    path = trajectory(tacit.make("matching-pennies"), "replicator", episodes=2000, points=2000)
    constant = sum(np.log(probs[:, 0, 0]).sum(axis=1) for probs in path.probs)
    assert np.ptp(constant) < 1e-3 * abs(constant).max()
    assert np.ptp(path.probs[0][:, 0, 0, 0]) > 0.2  # it moves
    dilemma = tacit.make("prisoners-dilemma")
    line = trajectory(dilemma, "best-response", episodes=200, points=200).probs[0][:, 0, 0, 0]
    np.testing.assert_allclose(line, line[0] * 0.98 ** np.arange(201), atol=1e-12)
    with pytest.raises(tacit.TacitError, match="replicator must have a two-player game"):
        trajectory(tacit.make("good-state"), "replicator")
