"""Warm start of V-learners: where bandits begin, that it helps, and that what is certified stays true."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.learners import AdaptiveV

LEARNERS = [
    ("adaptive-v-cce", {}),
    ("adaptive-v-ce", {}),
    ("v-learning", {}),
    ("v-learning", {"equilibrium": "ce"}),
    ("v-learning", {"bandit": "tsallis-inf"}),
]


@pytest.mark.parametrize(("name", "params"), LEARNERS)
def test_bandits_begin_at_the_policy_with_the_weight_of_so_many_visits(name: str, params: dict):
    mu = np.random.default_rng(0).dirichlet(np.ones(3), (2, 4))
    sizes = {"states": 4, "actions": 3, "horizon": 2, "reward_range": (0, 1)}
    start = tacit.MarkovPolicy([mu])
    agent = tacit.agent(name, **sizes, start=start, start_visits=20, **params)
    np.testing.assert_allclose(agent.policy, (20 * mu + 1) / 23, atol=1e-9)
    before = agent.policy[0, 1].copy()
    for reward in (1.0, 0.0, 0.5):
        agent.learn(0, 1, 0, reward, 0)
        agent.learn(1, 0, 0, 1.0, None)
    moved = np.abs(agent.policy[0, 1] - before).max()
    assert 0 < moved < 0.3  # as old as it says: three visits of twenty


@pytest.mark.parametrize("name", ["adaptive-v-cce", pytest.param("adaptive-v-ce", marks=pytest.mark.slow)])
def test_a_wrong_start_is_left_again(name: str):
    """Each of two agents is paid for its own second action, and begins with the first."""
    paid = np.array([[[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    wrong = tacit.MarkovPolicy.deterministic([[[0]], [[0]]], [2, 2])
    run = tacit.learn(tacit.games.matrix_game(paid), name, episodes=4000, start=wrong)
    assert all(probs[0, 0, 1] > 0.9 for probs in run.last.probs)


def test_a_run_goes_on_from_another_and_is_certified_all_the_same():
    game = tacit.make("good-state", horizon=5)
    first = tacit.learn(game, "adaptive-v-cce", episodes=3000)
    cold, warm = (
        tacit.learn(game, "adaptive-v-cce", episodes=100, seed=1),
        tacit.learn(game, "adaptive-v-cce", episodes=100, seed=1, start=first),
    )
    assert warm.reward[0] > cold.reward[0] + 1
    assert warm.params["start_visits"] == 100
    assert "start" not in cold.params
    found = tacit.evaluate(game, warm.candidates["average"].policy, gap="cce")  # from the stored policy alone
    np.testing.assert_allclose(found.gaps, warm.candidates["average"].gaps.upper, atol=1e-9)


@pytest.mark.usefixtures("interpreted")
def test_only_the_agents_that_have_a_start_begin_there():
    game = tacit.make("chicken")
    start = tacit.MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2])
    team = [AdaptiveV(start=start), AdaptiveV()]
    run = tacit.learn(game, team, episodes=1)
    assert run.last.probs[0][0, 0, 0] > 0.9
    assert 0.3 < run.last.probs[1][0, 0, 0] < 0.7


def test_what_cannot_begin_there_says_so():
    game = tacit.make("chicken")
    with pytest.raises(tacit.TacitError, match="start"):
        tacit.learn(game, "stage-v-cce", episodes=1, start=tacit.MarkovPolicy.uniform(game))
    with pytest.raises(tacit.TacitError, match="no start 'elsewhere'"):
        tacit.learn(game, "adaptive-v-cce", episodes=1, start="elsewhere")
    with pytest.raises(tacit.TacitError, match="does not fit"):
        tacit.learn(game, "adaptive-v-cce", episodes=1, start=tacit.MarkovPolicy.uniform(tacit.make("good-state")))
