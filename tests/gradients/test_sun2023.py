"""The seeded team game of Sun et al. (NeurIPS 2023): independent ascent beside their recursions, written out."""

from __future__ import annotations

import numpy as np
import pytest

import tacit

ACTIONS, ETA = (3, 4, 5), 0.1


@pytest.mark.parametrize("learner", ["npg", "pg-exact"])
def test_ascent_follows_the_published_recursion(learner):
    rng = np.random.RandomState(10)
    reward = rng.uniform(0, 1, size=ACTIONS)
    start = [rng.uniform(0, 1, size=a) for a in ACTIONS]
    start = [own / own.sum() for own in start]
    game = tacit.TabularGame(np.ones((1, *ACTIONS, 1)), np.stack([reward] * 3)[:, None], 0, 1)
    policy = tacit.MarkovPolicy([own[None, None] for own in start])
    run = tacit.learn(game, learner, episodes=100, eta=ETA, start=policy)
    step = natural if learner == "npg" else projected
    for _ in range(100):
        q = payoffs(reward, start)
        start = [step(own, payoff) for own, payoff in zip(start, q, strict=True)]
    for own, expected in zip(run.last.probs, start, strict=True):
        np.testing.assert_allclose(own[0, 0], expected, atol=1e-13)
    gaps = tacit.evaluate(game, run.last).gaps.sum()
    assert gaps == pytest.approx({"npg": 0.17103960756, "pg-exact": 0.06471420868}[learner], abs=1e-10)


def payoffs(reward, rows):
    first, second, third = rows
    of = np.einsum
    return (
        of("abc,b,c->a", reward, second, third),
        of("abc,a,c->b", reward, first, third),
        of("abc,a,b->c", reward, first, second),
    )


def natural(own, payoff):
    weight = own * np.exp(ETA * (payoff - payoff @ own))
    return weight / weight.sum()


def projected(own, payoff):
    moved = own + ETA * (payoff - payoff @ own)
    low, high = moved.min() - 1, moved.max()  # Σ max(moved − t, 0) = 1, by bisection
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(moved - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(moved - low, 0)
