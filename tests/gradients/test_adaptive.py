"""pg-adaptive: a plain transcription of its formulas, any units of reward, and games that it has to get right.

Seeds are fixed. Of 100 other seeds each, GoodState ended above 45.39 in all; the thresholds here leave room below.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.evaluation import policy_values
from tacit.learners import PGAdaptive, World
from tacit.learners.spec import Scale


class Transcription:
    """One cell, with arrays over actions, from the formulas of the docstring."""

    def __init__(self, actions: int, horizon: int, spec: PGAdaptive) -> None:
        self.A, self.H, self.spec = actions, horizon, spec
        self.theta = np.full(actions, -math.log(actions))
        self.t, self.V, self.square, self.m = 0, 0.0, 0.0, 0.0

    @property
    def pi(self) -> np.ndarray:
        return np.exp(self.theta) / np.exp(self.theta).sum()

    def learn(self, a: int, G: float) -> None:
        self.t += 1
        H, t, eta = self.H, self.t, self.spec.eta
        if t == 1:
            self.V = G
            return
        x = G - self.V
        self.V += x * (H + 1) / (H + t)
        rho = (H + 1) / (H + t - 1)
        self.square = (1 - rho) * self.square + rho * x**2
        if self.square == 0:
            return
        y, share = x / math.sqrt(self.square), self.spec.leniency * 3000 / (3000 + t)
        y = (1 - share) * y if y < 0 else y + min(2 * share * max(y - 2, 0) ** 2, 20)
        self.m = (1 - rho) * self.m + rho * y
        p, gamma = self.pi[a], eta / 2
        self.theta[a] += eta * (y - self.m) / (p + gamma) * (1 - p) / (1 - p + gamma)
        self.theta = np.maximum(self.theta - self.theta.max(), math.log(self.spec.exploration / (self.A * t**0.5)))


@pytest.mark.parametrize("spec", [PGAdaptive(), PGAdaptive(eta=0.7, leniency=0.4, exploration=0.3)])
def test_the_kernels_are_the_formulas(spec: PGAdaptive):
    H, S, A = 3, 2, 3
    state = spec.init(World(S, np.array([A]), H, (0.0, 1.0), Scale(1, S, A, H, 1)))
    cells = [[Transcription(A, H, spec) for _ in range(S)] for _ in range(H)]
    rng, out = np.random.default_rng(0), np.zeros(A)
    for _ in range(300):
        visited = rng.integers(S, size=H)
        played, rewards = np.zeros(H, dtype=int), rng.standard_exponential(H) ** 2 - 1
        for h in range(H):
            played[h] = generics.act(state, 0, h, int(visited[h]), rng.random())
            rewards[h] += played[h]
            generics.learn(state, 0, h, int(visited[h]), int(played[h]), float(rewards[h]), 0)
        for h in range(H):
            cells[h][visited[h]].learn(int(played[h]), float(rewards[h:].sum()))
    for h in range(H):
        for s in range(S):
            generics.policy(state, 0, h, s, out)
            np.testing.assert_allclose(out, cells[h][s].pi, rtol=1e-8)
    assert max(cell.pi.max() for row in cells for cell in row) > 0.6  # they have learnt something


@pytest.mark.parametrize(("scale", "shift"), [(1024.0, 0.0), (2.0**-20, 0.0), (1.0, -3.0)])
def test_units_and_origin_of_rewards_do_not_matter(scale: float, shift: float):
    game = tacit.make("good-state", horizon=4)
    other = tacit.TabularGame(game.transitions, scale * game.rewards + shift, game.initial, game.horizon)
    one, two = (tacit.learn(g, "pg-adaptive", episodes=300, seed=1).last for g in (game, other))
    np.testing.assert_allclose(one.probs[0], two.probs[0], atol=1e-9)


def test_good_state():
    game = tacit.make("good-state")
    reached = [
        policy_values(game, tacit.learn(game, "pg-adaptive", episodes=5000, seed=seed, points=1).last).initial[0]
        for seed in range(5)
    ]
    assert min(reached) > 45.3
    assert np.mean(reached) >= 45.4


def test_box_pushing_is_better_than_independent_q_learning():
    for horizon, episodes in ((3, 3000), (5, 3000)):
        game = tacit.make("box-pushing", horizon=horizon)
        ends = {
            name: [
                policy_values(game, tacit.learn(game, name, episodes=episodes, seed=seed, points=1).last).initial[0]
                for seed in range(5)
            ]
            for name in ("pg-adaptive", "q-independent")
        }
        assert np.mean(ends["pg-adaptive"]) > np.mean(ends["q-independent"]) + 1


def test_distancing_of_four():
    game = tacit.make("distancing", agents=4, horizon=5)
    gaps = [tacit.learn(game, "pg-adaptive", episodes=30_000, seed=seed, points=1).gap for seed in range(3)]
    assert np.mean(gaps) < 0.5


@pytest.mark.slow
def test_distancing_of_eight():
    """85 % of the best welfare, where pg-storm learns next to nothing."""
    game = tacit.make("distancing", agents=8, horizon=10)
    ends = [
        tacit.evaluate(game, tacit.learn(game, "pg-adaptive", episodes=200_000, seed=s, certify=False, points=1).last)
        for s in range(5)
    ]
    assert np.mean([end.values.sum() for end in ends]) >= 0.85 * 1370
    assert np.mean([end.gap for end in ends]) <= 5


def test_equal_rewards_move_nothing():
    game = tacit.TabularGame(np.ones((1, 1, 2, 2, 1)), np.full((2, 1, 1, 2, 2), 0.1), [1.0], 3)
    run = tacit.learn(game, "pg-adaptive", episodes=500)
    np.testing.assert_allclose(run.last.probs[0], 0.5)


def test_one_action_is_no_trouble():
    game = tacit.TabularGame(np.ones((1, 1, 1, 2, 1)), np.arange(4.0).reshape(2, 1, 1, 1, 2), [1.0], 3)
    run = tacit.learn(game, "pg-adaptive", episodes=3000)
    np.testing.assert_array_equal(run.last.probs[0], 1.0)
    assert run.last.probs[1][0, 0, 1] > 0.99
