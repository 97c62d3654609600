"""What a policy does where: against play, and against the policy itself where it is Markov."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.evaluation import evaluate, occupancy, policy_values

GAME = tacit.make("random-general-sum", seed=5, horizon=3, states=3)


def test_markov_policies_are_themselves():
    policy = tacit.MarkovPolicy.random(GAME, seed=1, correlated=True)
    found = tacit.evaluation.behaviour(GAME, policy)
    np.testing.assert_allclose(found.reach, occupancy(GAME, policy))
    np.testing.assert_array_equal(found.joint, policy.probs[0])
    np.testing.assert_allclose(found.marginals[0], policy.marginal(0))


@pytest.mark.parametrize("learner", ["stage-v-cce", "v-learning"])
def test_certified_policies_are_averaged_exactly(learner: str):
    """The average has the value of the policy: rewards and transitions depend on step, state and joint action alone."""
    run = tacit.learn(GAME, learner, episodes=300, seed=1)
    for name in ("average", "recent"):
        policy = run.candidates[name].policy
        found = tacit.evaluation.behaviour(GAME, policy)
        np.testing.assert_allclose(found.reach.sum(axis=1), 1, atol=1e-12)
        seen = tacit.MarkovPolicy(np.ascontiguousarray(found.joint))
        np.testing.assert_allclose(
            policy_values(GAME, seen).initial, evaluate(GAME, policy).values, atol=1e-9, err_msg=name
        )
        np.testing.assert_allclose(occupancy(GAME, seen), found.reach, atol=1e-9)


@pytest.mark.usefixtures("interpreted")
def test_counting_games_agree_with_their_tables():
    game = tacit.make("congestion", agents=3, horizon=2)
    policy = tacit.learn(game, "stage-v-cce", episodes=100, seed=0).candidates["average"].policy
    found, tabular = tacit.evaluation.behaviour(game, policy), tacit.evaluation.behaviour(game.tabular(), policy)
    np.testing.assert_allclose(found.reach, tabular.reach, atol=1e-12)
    np.testing.assert_allclose(found.marginals[1], tabular.marginals[1], atol=1e-12)
