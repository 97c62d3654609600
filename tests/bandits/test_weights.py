"""The distributions that bandits keep, against the formulas they stand for, computed anew from the whole history."""

from __future__ import annotations

import math

import arena
import numpy as np
import pytest

from tacit.bandits import AdaTsallis, Exp3IX, Setting, Swap, TsallisINF, WeightedFTRL
from tacit.core import generics


def softmax(x: np.ndarray) -> np.ndarray:
    weight = np.exp(x - x.max(axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("A", [2, 10, 100])
@pytest.mark.parametrize("bandit", [Exp3IX(), Exp3IX(implicit=1.0), Exp3IX(implicit=0.0)], ids=["γ=η/2", "γ=η", "exp3"])
@pytest.mark.parametrize("scale", [1.0, 30.0], ids=["unit losses", "large losses"])
def test_exp3_is_the_softmax_of_its_losses(bandit: Exp3IX, A: int, scale: float):
    """One exponential a round, over ten thousand rounds, is the softmax of −η·L to the digits that η·L has."""
    T, iota = 10_000, 5.0
    losses = scale * arena.stochastic(T, A, 3)
    game = arena.arena(bandit, losses, copies=1, seed=8, iota=iota)
    eta = math.sqrt(iota / (A * T))
    probs, played = game.probs[0], game.played[0]
    rounds = np.arange(T)
    estimate = np.zeros((T, A))
    estimate[rounds, played] = losses[rounds, played] / (probs[rounds, played] + bandit.implicit * eta)
    total = eta * np.cumsum(estimate, axis=0)
    assert np.abs(softmax(-total)[:-1] - probs[1:]).max() < 10 * np.spacing(total.max())
    assert (probs[0] == 1 / A).all()


def test_renewal_happens_in_that_test():
    """The running sum is renewed when it falls below 1/2: the reference must have moved."""
    game = arena.arena(Exp3IX(), arena.stochastic(10_000, 2, 3), copies=1, seed=8, iota=5.0)
    assert game.cells[0, 0].reference > 0


@pytest.mark.parametrize("horizon", [1, 3, 6])
def test_weighted_ftrl_is_its_formula(horizon: int):
    """μ_{t+1} ∝ exp(−(η_t/w_t)·Σ_j w_j·ℓ_j), with w_t = α_t/Π_{j≤t}(1 − α_j) spelled out."""
    T, A, H = 60, 4, horizon
    losses = np.random.default_rng(1).random((T, A))
    game = arena.arena(WeightedFTRL(), losses, copies=1, seed=2, horizon=H)
    alpha = [(H + 1) / (H + t) for t in range(1, T + 1)]
    w, product = [], 1.0
    for t in range(1, T + 1):
        if t >= 2:
            product *= 1 - alpha[t - 1]
        w.append(alpha[t - 1] / product)
    total = np.zeros(A)
    for t in range(1, T):
        eta = math.sqrt(H * math.log(A) / (A * t))
        a, p = game.played[0, t - 1], game.probs[0, t - 1]
        total[a] += w[t - 1] * losses[t - 1, a] / (p[a] + eta)
        np.testing.assert_allclose(game.probs[0, t], softmax(-eta / w[t - 1] * total), rtol=1e-11)


@pytest.mark.parametrize("A", [2, 5, 10])
@pytest.mark.parametrize("kind", ["stochastic", "switching", "alternating"])
def test_weighted_regret_is_small(kind: str, A: int):
    """Σ_j α_T^j·(⟨p_j, ℓ_j⟩ − ℓ_j(a*)) ≤ 10·√(H·A·ι/T), ι = log(A·T/p), p = 1e-4; for one seed of each."""
    T, H = 8000, 3
    losses = getattr(arena, kind)(T, A, 7)
    game = arena.arena(WeightedFTRL(), losses, copies=20, seed=3, horizon=H)
    j = np.arange(1, T + 1)
    share = np.prod([(j + m) / (T + m) for m in range(H + 1)], axis=0)  # Σ_{i≤j} α_T^i
    weights = np.diff(share, prepend=0.0)
    assert abs(weights.sum() - 1) < 1e-12
    regret = np.einsum("t,cta,ta->c", weights, game.probs, losses) - (weights @ losses).min()
    even = weights @ losses.mean(axis=1) - (weights @ losses).min()
    assert regret.max() <= 10 * math.sqrt(H * A * math.log(A * T / 1e-4) / T)
    if kind == "stochastic":
        assert regret.mean() < even / 2


@pytest.mark.parametrize("A", [2, 5, 30])
def test_tsallis_meets_its_optimality_condition(A: int):
    """2/(η_t·√μ(a)) − L(a) is the same for all actions, with L from the whole history, and Σ μ = 1."""
    T = 3000
    losses = arena.stochastic(T, A, 5)
    game = arena.arena(TsallisINF(), losses, copies=1, seed=4)
    probs, played = game.probs[0], game.played[0]
    assert np.abs(probs.sum(axis=1) - 1).max() < 1e-14
    assert (probs > 0).all()
    rounds = np.arange(T)
    estimate = np.zeros((T, A))
    estimate[rounds, played] = losses[rounds, played] / probs[rounds, played]
    L = np.cumsum(estimate, axis=0)[:-1]
    eta = 2 / np.sqrt(np.arange(2, T + 1))[:, None]
    level = 2 / (eta * np.sqrt(probs[1:])) - L
    spread = level.max(axis=1) - level.min(axis=1)
    assert (spread < 1e-9 * (1 + np.abs(L).max(axis=1))).all()
    assert (probs[0] == 1 / A).all()


@pytest.mark.parametrize("bandit", [Exp3IX(), WeightedFTRL(), TsallisINF(), AdaTsallis(), Swap()], ids=repr)
def test_chance_is_an_entry_of_spread_to_the_bit(bandit):
    """Losses are divided by the very number that a record keeps."""
    params, cells = bandit.make(Setting(np.array([3, 2]), 10, 2, 1.0))
    rng, out = np.random.default_rng(0), np.zeros(3)
    for _ in range(50):
        for cell, size in zip(cells[0], (3, 2), strict=True):
            generics.probs(params, cell, out)
            assert [generics.prob(params, cell, a) for a in range(size)] == out[:size].tolist()
            a = int(generics.draw(params, cell, rng.random()))
            generics.update(params, cell, a, rng.random(), generics.prob(params, cell, a))
