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
    table = tacit.evaluation.deviation_table(game, policy, gap=kind)
    gaps = evaluate(game, policy, gap=kind).gaps
    np.testing.assert_allclose(np.maximum(table.sums, 0), gaps, atol=1e-12)
    listed = np.bincount(table.terms["agent"], table.terms["share"], minlength=game.agents)
    np.testing.assert_allclose(listed, table.sums, atol=1e-9)
    np.testing.assert_allclose(table.terms["prob"] * table.terms["gain"], table.terms["share"], atol=1e-15)
    if kind != "cce":
        assert table.terms["share"].min() >= 0


def test_one_swap_by_hand():
    """In chicken, told to yield with (yield, yield) alone, each gains 1 by daring instead."""
    game = tacit.make("chicken")
    both_yield = np.zeros((1, 1, 2, 2))
    both_yield[0, 0, 0, 0] = 1
    data = tacit.evaluation.deviation_table(game, tacit.MarkovPolicy(both_yield), gap="ce").data()
    assert [(t["agent"], t["instead_of"], t["play"], t["gain"], t["share"]) for t in data["terms"]] == [
        (0, "yield", "dare", 1.0, 1.0),
        (1, "yield", "dare", 1.0, 1.0),
    ]


def test_a_recorded_policy_is_refused():
    game = random_game(1, horizon=2)
    policy = tacit.learn(game, "stage-v-cce", episodes=40).candidates["average"].policy
    with pytest.raises(tacit.TacitError, match="MarkovPolicy"):
        tacit.evaluation.deviation_table(game, policy)


def test_counting_games():
    game = tacit.make("congestion", agents=5, horizon=2)
    policy = tacit.MarkovPolicy.random(game, seed=3)
    table = tacit.evaluation.deviation_table(game, policy)
    np.testing.assert_allclose(table.sums, evaluate(game, policy).gaps, atol=1e-12)
    np.testing.assert_allclose(table.sums, tacit.evaluation.deviation_table(game.tabular(), policy).sums, atol=1e-12)


def test_nobody_gains_in_equilibrium():
    game = tacit.make("rock-paper-scissors")
    shown = tacit.evaluation.deviation_table(game, tacit.solve(game, "nash").policy).show()
    assert "nobody gains by deviating" in str(shown)
