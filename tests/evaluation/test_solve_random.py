"""What solve returns is an equilibrium, on many random games; and welfare is ordered as it must be."""

from __future__ import annotations

import numpy as np
import pytest

import tacit

SIZES = [(2, 2), (2, 3), (3, 3), (2, 2, 2), (3, 2, 2), (2, 2, 2, 2)]


def random_game(seed: int) -> tacit.TabularGame:
    actions = SIZES[seed % len(SIZES)]
    return tacit.make(
        "random-general-sum", agents=len(actions), actions=actions, states=1 + seed % 3, horizon=1 + seed % 2, seed=seed
    )


@pytest.mark.parametrize("block", range(10))
def test_two_hundred_random_games(block: int):
    for seed in range(20 * block, 20 * block + 20):
        game = random_game(seed)
        welfare = {}
        for concept in ("cce", "ce"):
            found = tacit.solve(game, concept)
            checked = tacit.evaluate(game, found.policy, gap=concept)
            assert checked.gap <= 1e-8, f"seed {seed}, {concept}"
            assert np.allclose(checked.values, found.values, atol=1e-10)
            welfare[concept] = found.values.sum()
        if game.horizon == 1:  # over several steps each stage is optimal for its own continuation only
            assert welfare["cce"] >= welfare["ce"] - 1e-8
        assert tacit.solve(game).values.sum() >= max(welfare.values()) - 1e-8


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("concept", ["cce", "ce"])
def test_the_unit_of_the_rewards_does_not_matter(scale: float, concept: str):
    for seed in range(6):
        game = random_game(seed)
        scaled = tacit.TabularGame(game.transitions, scale * game.rewards, game.initial, game.horizon)
        found = tacit.solve(scaled, concept)
        assert tacit.evaluate(scaled, found.policy, gap=concept).gap <= 1e-8 * scale
        assert found.values.sum() == pytest.approx(scale * tacit.solve(game, concept).values.sum(), rel=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_zero_sum_nash(seed: int):
    actions = [(2, 2), (3, 2), (4, 4), (1, 3)][seed % 4]
    base = tacit.make("random-general-sum", actions=actions, states=3, horizon=3, seed=seed)
    row = base.rewards[0]
    game = tacit.TabularGame(base.transitions, np.stack([row, -row]), base.initial, 3)
    found = tacit.solve(game, "nash")
    assert found.policy.product
    checked = tacit.evaluate(game, found.policy)
    assert checked.kind == "nash"
    assert checked.gap <= 1e-8
    assert np.allclose(checked.values, found.values, atol=1e-10)
    assert found.values.sum() == pytest.approx(0, abs=1e-10)
    for concept in ("ce", "cce"):  # all equilibria of a zero-sum game have its value
        assert np.allclose(tacit.solve(game, concept).values, found.values, atol=1e-7)


@pytest.mark.parametrize("agents", [1, 2, 3, 4])
def test_team_nash(agents: int):
    game = tacit.make("random-team", agents=agents, actions=2, states=3, horizon=4, seed=agents)
    found = tacit.solve(game, "nash")
    assert tacit.evaluate(game, found.policy).gap <= 1e-12
    assert np.allclose(found.values, tacit.solve(game, "optimum").values)
    for concept in ("cce", "ce"):
        assert np.allclose(tacit.solve(game, concept).values, found.values, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "nash"),
    [
        ("chicken", [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[2 / 3, 1 / 3], [2 / 3, 1 / 3]]]),
        ("battle-of-the-sexes", [[[1, 0], [1, 0]], [[0, 1], [0, 1]], [[2 / 3, 1 / 3], [1 / 3, 2 / 3]]]),
        ("stag-hunt", [[[1, 0], [1, 0]], [[0, 1], [0, 1]], [[3 / 4, 1 / 4], [3 / 4, 1 / 4]]]),
        ("prisoners-dilemma", [[[0, 1], [0, 1]]]),
        ("shapley", [[[1 / 3, 1 / 3, 1 / 3]] * 2]),
    ],
)
def test_welfare_is_ordered_cce_ce_nash(name: str, nash: list[list[list[float]]]):
    game = tacit.make(name)
    ce, cce = (tacit.solve(game, concept).values.sum() for concept in ("ce", "cce"))
    assert cce >= ce - 1e-9
    for own in nash:
        found = tacit.evaluate(game, tacit.MarkovPolicy([[[p]] for p in own]))
        assert found.gap <= 1e-14
        assert ce >= found.values.sum() - 1e-9


def test_weights_choose_among_equilibria():
    game = tacit.make("battle-of-the-sexes")
    assert tacit.solve(game, "ce", weights=[1, 0]).values.tolist() == pytest.approx([2, 1], abs=1e-9)
    assert tacit.solve(game, "ce", weights=[0, 1]).values.tolist() == pytest.approx([1, 2], abs=1e-9)


def test_a_game_in_which_nothing_matters_is_solved():
    game = tacit.TabularGame(np.ones((1, 1, 2, 2, 1)), np.full((2, 1, 1, 2, 2), 3.0), [1], 2)
    for concept in ("optimum", "cce", "ce", "nash"):
        assert tacit.solve(game, concept).values.tolist() == [6, 6]
