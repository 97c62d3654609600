"""Bounds from counts: how far frequencies are from the truth, means over all that is as near, and gaps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import tacit
from tacit.evaluation import confidence
from tacit.evaluation.confidence import Counts


def random_game(rng: np.random.Generator) -> tacit.TabularGame:
    moves = rng.dirichlet(np.full(3, 0.5), (2, 3, 2, 2))
    return tacit.TabularGame(moves, rng.random((2, 2, 3, 2, 2)), rng.dirichlet(np.ones(3)), 2)


def random_policy(rng: np.random.Generator, *, product: bool) -> tacit.MarkovPolicy:
    if product:
        return tacit.MarkovPolicy([rng.dirichlet(np.ones(2), (2, 3)) for _ in range(2)])
    return tacit.MarkovPolicy(rng.dirichlet(np.ones(4), (2, 3)).reshape(2, 3, 2, 2))


def count(game: tacit.TabularGame, visits: float, rng: np.random.Generator | None, *, noisy: bool = False) -> Counts:
    """What so many visits of everything show; the expected counts where there is no chance."""
    P, R = game.transitions.reshape(2, 3, 4, 3), np.moveaxis(game.rewards.reshape(2, 2, 3, 4), 0, -1)
    moved, starts, paid = visits * P, visits * game.initial, visits * R
    if rng is not None:
        moved, starts = (rng.multinomial(int(visits), p).astype(float) for p in (P, game.initial))
        paid = rng.binomial(int(visits), R).astype(float) if noisy else paid  # of rewards 0 and 1
    onward = np.broadcast_to(np.arange(3), P.shape)
    return Counts(starts, np.full((2, 3, 4), float(visits)), paid, onward, moved, np.arange(1, 4))


def test_frequencies_stay_as_near_as_stated_at_all_times():
    """2,000 sequences of 200 draws; all 200 times count. A bound of 0.2 with no slack would fail in 0.2 of them."""
    rng, truth = np.random.default_rng(0), np.array([0.6, 0.3, 0.1, 0.0])
    draws = np.eye(4)[rng.choice(4, p=truth, size=(2000, 200))]
    counts = np.cumsum(draws, axis=1)
    shares = counts / counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(shares > 0, shares * np.log(shares / truth), 0).sum(axis=-1)
    failed = (far > confidence.radius(counts, np.array(0.2), 0.25)).any(axis=1).mean()
    assert 0.002 < failed < 0.2


@pytest.mark.parametrize("near", [0.001, 0.1, 1.0])
def test_the_largest_mean_over_all_that_is_near(near: float):
    """Against the best ν to many digits, and against distributions that are as near, with an outcome not yet seen."""
    rng = np.random.default_rng(1)
    chance, values = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.9, 0.4])
    bound = confidence.largest_mean(chance, values, 0.0, 1.0, np.array(near))
    best = minimize_scalar(
        lambda x: 1 + np.exp(x) - np.exp((chance * np.log(1 + np.exp(x) - values)).sum() - near), bounds=(-40, 9)
    )
    assert best.fun - 1e-9 <= bound <= best.fun + 0.03
    others = rng.dirichlet(np.ones(4), 20_000)
    others = np.concatenate([0.9 * np.append(chance, 0) + 0.1 * others, others])
    distance = (chance * np.log(chance / others[:, :3])).sum(axis=1)
    means = others @ np.append(values, 1.0)
    assert means[distance <= near].max() <= bound


@pytest.mark.parametrize("kind", ["nash", "cce", "ce"])
def test_with_all_known_bounds_are_the_gaps(kind: str):
    rng = np.random.default_rng(2)
    for _ in range(3):
        game, policy = random_game(rng), random_policy(rng, product=kind == "nash")
        bound = confidence.bound_gaps(count(game, 1e12, None), policy, kind, reward_range=(0, 1), states=3, noisy=False)
        exact = tacit.evaluate(game, policy, gap=kind).gaps
        np.testing.assert_allclose(bound, exact, atol=2e-3)
        assert (bound >= exact - 1e-9).all()


@pytest.mark.parametrize("noisy", [False, True])
def test_bounds_hold_in_as_many_games_as_stated(noisy: bool):
    """In 210 games, four policies each; that one of them fails has a probability of at most a half for each game."""
    rng, failed, sizes = np.random.default_rng(3), 0, []
    for k in range(210):
        game, kind = random_game(rng), ("nash", "cce", "ce")[k % 3]
        counts = count(game, (3, 30, 3000)[k // 70], rng, noisy=noisy)
        wrong = False
        for _ in range(4):
            policy = random_policy(rng, product=kind == "nash")
            bound = confidence.bound_gaps(counts, policy, kind, reward_range=(0, 1), states=3, noisy=noisy, failure=0.5)
            exact = tacit.evaluate(game, policy, gap=kind).gaps
            wrong |= bool((bound < exact - 1e-9).any())
            sizes.append((bound - exact).max())
        failed += wrong
    assert failed <= 105 + 4 * np.sqrt(52)
    assert np.mean(sizes[-280:]) < (0.5 if noisy else 0.1)
