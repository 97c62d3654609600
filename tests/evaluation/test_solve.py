"""Solutions do not depend on units: constants added to rewards, and factors; stronger concepts are never worth more."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from oracles.rational import rational_gaps
from tacit.evaluation import stages


def draw_game(seed: int, agents: int = 2, **length: float) -> tacit.TabularGame:
    rng = np.random.default_rng(seed)
    actions, states = (2, 3, 2)[:agents], 3
    steps = length.get("horizon", 1)
    moves = rng.dirichlet(np.ones(states), (steps, states, *actions))
    return tacit.TabularGame(moves, rng.normal(size=(agents, steps, states, *actions)), 0, **length)


def change(game: tacit.TabularGame, add: float = 0.0, factors: tuple[float, ...] = (1.0, 1.0)) -> tacit.TabularGame:
    scale = np.reshape(factors, (-1, *[1] * (game.rewards.ndim - 1)))
    length = {"horizon": game.horizon} if game.discount is None else {"discount": game.discount}
    return tacit.TabularGame(game.transitions, scale * game.rewards + add, game.initial, **length)


CHANGES = [(1e8, (1, 1)), (1e11, (1, 1)), (1e12, (1, 1)), (-1e12, (1, 1)), (0.0, (1, 1e-12)), (0.0, (1e12, 1))]


@pytest.mark.parametrize(("add", "factors"), CHANGES)
def test_gaps_of_nash_are_true_in_all_units(add: float, factors: tuple[float, float]):
    for seed in range(4):
        game = change(draw_game(seed, horizon=3), add, factors)
        found = tacit.solve(game, "nash")
        true = np.array([float(gap) for gap in rational_gaps(game, found.policy)]) / factors
        assert true.max() < 1e-10
        assert np.allclose(found.evaluation.gaps / factors, true, rtol=0, atol=1e-13)
        assert found.gap == tacit.evaluate(game, found.policy).gap
        assert found.exact


@pytest.mark.parametrize(("add", "factors"), CHANGES)
def test_gaps_of_any_policy_are_true_in_all_units(add: float, factors: tuple[float, float]):
    rng = np.random.default_rng(1)
    for seed in range(4):
        game = change(draw_game(seed, horizon=3), add, factors)
        policy = tacit.MarkovPolicy([rng.dirichlet(np.ones(a), (3, 3)) for a in game.actions])
        true = np.array([float(gap) for gap in rational_gaps(game, policy)])
        assert np.allclose(tacit.evaluate(game, policy).gaps / factors, true / factors, rtol=1e-12)
        terms = tacit.evaluation.deviation_table(game, policy)
        assert np.allclose(terms.sums / factors, true / factors, rtol=1e-12)


@pytest.mark.parametrize("concept", ["cce", "ce", "nash"])
@pytest.mark.parametrize("length", [{"horizon": 3}, {"discount": 0.8}], ids=["finite", "discounted"])
def test_adding_a_constant_adds_it_to_the_values(concept: str, length: dict[str, float]):
    for seed in range(3):
        game = draw_game(seed, **length)
        game = change(game, 0.0, (1 / 4, 1 / 4))
        plain = tacit.solve(game, concept)
        for add in (2.0**20, 2.0**30):
            moved = tacit.solve(change(game, add), concept)
            assert moved.exact
            assert moved.gap <= 1e-8
            assert np.allclose(moved.values - add * game.effective_horizon, plain.values, rtol=0, atol=1e-6)


def test_the_least_reward_is_compared_between_agents_as_given():
    """Agent 1 gets 1e6 more, so agent 0 is always the one that gets least."""
    for concept in ("ce", "cce"):
        for seed in range(4):
            game = draw_game(seed, horizon=2)
            richer = tacit.TabularGame(
                game.transitions, game.rewards + np.reshape([0, 1e6], (2, 1, 1, 1, 1)), game.initial, 2
            )
            least = tacit.solve(richer, concept, objective="egalitarian").values
            assert least[0] == pytest.approx(tacit.solve(game, concept, objective="agent:0").values[0], abs=1e-6)


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_units_do_not_change_the_selected_equilibrium(factor: float):
    game = tacit.make("stag-hunt")
    scaled = tacit.TabularGame(game.transitions, factor * game.rewards, game.initial, 1)
    assert tacit.solve(scaled, "nash").values / factor == pytest.approx(tacit.solve(game, "nash").values)


def test_a_solution_above_its_tolerance_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stages, "_round", lambda payoffs: np.round(payoffs, 1))
    found = tacit.solve(draw_game(1, horizon=3), "nash")
    assert not found.exact
    assert "not exact" in found.method
    assert found.gap == tacit.evaluate(found.game, found.policy).gap > 1e-3


@pytest.mark.parametrize(
    ("seed", "agents", "length"),
    [
        *[(seed, 2, {"horizon": 3}) for seed in (0, 1, 2, 28, 39)],
        *[(seed, 3, {"horizon": 3}) for seed in (7, 15, 20, 39)],
        *[(seed, 2, {"discount": 0.9}) for seed in (0, 1, 2, 149)],
    ],
)
def test_stronger_concepts_are_never_worth_more(seed: int, agents: int, length: dict[str, float]):
    game = draw_game(seed, agents, **length)
    nash, ce, cce = (tacit.solve(game, concept).values.sum() for concept in ("nash", "ce", "cce"))
    assert nash <= ce + 1e-8
    assert ce <= cce + 1e-8
