"""Recorded policies with their hidden index averaged out: tables with the same values, and gaps of their own."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.evaluation.behaviour import markov_table

GAME = tacit.make("random-general-sum", states=3, actions=3, horizon=3, seed=1)


@pytest.mark.parametrize("start", ["average", "recent"])
@pytest.mark.parametrize("learner", ["stage-v-cce", "adaptive-v-cce"])  # by stages, and by rates
def test_the_table_is_what_the_policy_does(learner: str, start: str):
    """`behaviour` follows the index too, in other code; the values are those that the certificate has."""
    run = tacit.learn(GAME, learner, episodes=400, seed=1)
    one = run.candidates[start]
    table = markov_table(GAME, one.policy, visits=10**6)
    np.testing.assert_allclose(table.probs[0], tacit.evaluation.behaviour(GAME, one.policy).joint, atol=1e-12)
    np.testing.assert_allclose(tacit.evaluate(GAME, table).values, one.values, atol=1e-9)
    some = markov_table(GAME, one.policy, visits=40)
    assert 0 < np.abs(some.probs[0] - table.probs[0]).max() < 0.2


def test_some_visits_of_each_stage():
    policy = tacit.learn(GAME, "stage-v-ce", episodes=300, visits_per_stage=2).candidates["recent"].policy
    table = markov_table(GAME, policy)
    np.testing.assert_allclose(table.probs[0], tacit.evaluation.behaviour(GAME, policy).joint, atol=1e-12)


def test_in_zero_sum_games_the_product_has_at_most_the_sum_of_the_gaps():
    rewards = np.random.default_rng(3).random((1, 1, 3, 3, 3))
    game = tacit.TabularGame(
        np.random.default_rng(4).dirichlet(np.ones(3), (1, 3, 3, 3)), np.concatenate([rewards, 1 - rewards]), 0, 4
    )
    run = tacit.learn(game, "adaptive-v-cce", episodes=2000)
    table, product = run.candidates["markov"], run.candidates["product"]
    assert product.gap <= table.gaps.upper.sum() + 1e-12
    assert product.policy.product
    assert (run.chosen, run.candidates[run.chosen].table) in (("markov", True), ("product", True))
    assert f"Markov, from {run.chosen}" in str(run)
