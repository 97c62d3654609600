"""Zero-sum stage games, many at once, against linear programs: random, degenerate and badly scaled ones."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.evaluation import stage_game
from tacit.evaluation.stage_game import maximin, solve_zero_sum

RNG = np.random.default_rng(7)
SHAPES = [(2, 2), (3, 5), (6, 4), (12, 12)]


def make(kind: str, shape: tuple[int, int]) -> np.ndarray:
    if kind == "normal":
        return RNG.normal(size=(40, *shape))
    if kind == "ties":
        return RNG.integers(-1, 2, (40, *shape)).astype(float)
    return RNG.normal(size=(40, *shape)) * 10.0 ** RNG.integers(-8, 8, (40, *shape))


def gains(payoffs: np.ndarray) -> np.ndarray:
    """Return what deviations bring, in units of the range of each game."""
    x, y = solve_zero_sum(payoffs)
    for own in (x, y):
        assert (own >= 0).all()
        assert np.allclose(own.sum(axis=1), 1, rtol=0, atol=1e-14)
    gain = np.einsum("sab,sb->sa", payoffs, y).max(axis=1) - np.einsum("sa,sab->sb", x, payoffs).min(axis=1)
    return gain / np.maximum(np.ptp(payoffs.reshape(len(payoffs), -1), axis=1), 1e-300)


@pytest.mark.parametrize("kind", ["normal", "ties", "scales"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_deviation_pays(kind: str, shape: tuple[int, int]):
    assert gains(make(kind, shape)).max() < 1e-9  # HiGHS, which solves what the tableau cannot, is exact to 1e-10


def test_values_are_those_of_linear_programs():
    payoffs = make("normal", (4, 3))
    x, y = solve_zero_sum(payoffs)
    for payoff, row, column in zip(payoffs[:10], x, y, strict=False):
        assert (maximin(payoff) @ payoff).min() == pytest.approx(row @ payoff @ column, abs=1e-9)


def test_tableaus_that_fail_are_replaced(monkeypatch: pytest.MonkeyPatch):
    payoffs = make("normal", (3, 3))[:5]
    monkeypatch.setattr(stage_game, "_pivot", lambda m: (np.full((len(m), 3), 1 / 3), np.full((len(m), 3), np.nan)))
    assert gains(payoffs).max() < 1e-9


@pytest.mark.parametrize("concept", ["cce", "ce"])
def test_where_one_agent_moves_it_takes_its_best(concept: str):
    rewards = np.zeros((2, 1, 1, 3, 2))
    rewards[0] += np.array([1.0, 2.0, 2.0])[:, None]
    rewards[1] += np.array([9.0, 0.0, 1.0])[:, None]  # the largest total is no equilibrium
    game = tacit.TabularGame(np.ones((1, 1, 3, 2, 1)), rewards, 0, 1)
    assert tacit.solve(game, concept).values.tolist() == [2.0, 1.0]
    assert tacit.solve(game, concept, weights=[0, -1]).values.tolist() == [2.0, 0.0]
