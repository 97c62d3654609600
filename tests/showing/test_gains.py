"""The deviation table: its shares add up to the exact gap, for every kind of policy and game."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.evaluation import evaluate


def random_game(seed: int, **sizes: int) -> tacit.TabularGame:
    return tacit.make("random-general-sum", seed=seed, **{"horizon": 3, "states": 3, **sizes})


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("correlated", "kind"), [(False, "nash"), (True, "cce"), (True, "ce")])
def test_shares_add_up(seed: int, correlated: bool, kind: str):
    game = random_game(seed)
    policy = tacit.MarkovPolicy.random(game, seed=seed, correlated=correlated)
    table = tacit.deviation_table(game, policy, gap=kind)
    gaps = evaluate(game, policy, gap=kind).gaps
    np.testing.assert_allclose(np.maximum(table.sums, 0), gaps, atol=1e-12)
    listed = np.bincount(table.terms["agent"], table.terms["share"], minlength=game.agents)
    np.testing.assert_allclose(listed, table.sums, atol=1e-9)
    np.testing.assert_allclose(table.terms["chance"] * table.terms["gain"], table.terms["share"], atol=1e-15)
    if kind != "cce":
        assert table.terms["share"].min() >= 0


def test_one_swap_by_hand():
    """In chicken, told to yield with (yield, yield) alone, each gains 1 by daring instead."""
    game = tacit.make("chicken")
    both_yield = np.zeros((1, 1, 2, 2))
    both_yield[0, 0, 0, 0] = 1
    data = tacit.deviation_table(game, tacit.MarkovPolicy(both_yield), gap="ce").data()
    assert [(t["agent"], t["instead_of"], t["play"], t["gain"], t["share"]) for t in data["terms"]] == [
        (0, "yield", "dare", 1.0, 1.0),
        (1, "yield", "dare", 1.0, 1.0),
    ]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("learner", "kind"), [("stage-v-cce", "cce"), ("stage-v-ce", "ce"), ("v-learning", "cce")])
def test_certified_policies(learner: str, kind: str):
    """The bound of a certified policy is taken apart too, and adds up to what evaluation finds."""
    game = random_game(1, horizon=2)
    policy = tacit.learn(game, learner, episodes=400, seed=2).candidates["average"].policy
    for one in (
        policy,
        type(policy)(
            policy.visited,
            policy.stored,
            actions=policy.actions,
            states=policy.states,
            rule=policy.rule,
            start="recent",
        ),
    ):
        table = tacit.deviation_table(game, one, gap=kind)
        found = evaluate(game, one, gap=kind)
        np.testing.assert_allclose(np.maximum(table.sums, 0), found.gaps, atol=1e-9)
        assert not table.exact


def test_counting_games():
    game = tacit.make("congestion", agents=5, horizon=2)
    policy = tacit.MarkovPolicy.random(game, seed=3)
    table = tacit.deviation_table(game, policy)
    np.testing.assert_allclose(table.sums, evaluate(game, policy).gaps, atol=1e-12)
    np.testing.assert_allclose(table.sums, tacit.deviation_table(game.tabular(), policy).sums, atol=1e-12)


def test_nobody_gains_in_equilibrium():
    game = tacit.make("rock-paper-scissors")
    shown = tacit.deviation_table(game, tacit.solve(game, "nash").policy).show()
    assert "nobody gains by deviating" in str(shown)
