"""Many copies of one bandit on the same losses, in a compiled loop."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits import Bandit, Setting
from tacit.core.compilation import compile_loop
from tacit.core.generics import draw, prob, probs, update


def play(bandit, cells, losses, uniform, plays, played):
    """Run copy c = 0, 1, … on losses [T, A]; write its distributions plays [C, T, A] and actions played [C, T]."""
    for c in range(len(played)):
        for t in range(len(losses)):
            cell = cells[c, 0]
            a = draw(bandit, cell, uniform[c, t])
            probs(bandit, cell, plays[c, t])
            update(bandit, cell, a, losses[t, a], prob(bandit, cell, a))
            played[c, t] = a


class Game(NamedTuple):
    params: Any
    cells: np.ndarray  # [C, 2]
    probs: np.ndarray  # [C, T, A]
    played: np.ndarray  # [C, T]


def arena(bandit: Bandit, losses: np.ndarray, *, copies: int, seed: int, iota: float = 1.0, horizon: int = 1) -> Game:
    T, A = losses.shape
    sizes = np.array(
        [A, max(A, 10)]
    )  # nobody plays the second: cells have room for ten actions, and one loop does for all
    params, cells = bandit.make(Setting(sizes, T, horizon, iota), copies)
    plays, played = np.zeros((copies, T, A)), np.zeros((copies, T), dtype=np.int64)
    uniform = np.random.default_rng(seed).random((copies, T))
    compile_loop(play, params)(params, cells, losses, uniform, plays, played)
    return Game(params, cells, plays, played)


def stochastic(T: int, A: int, seed: int, gap: float = 0.3) -> np.ndarray:
    """Coin flips; the last action is better than the others by `gap`."""
    mean = np.full(A, 0.5 + gap / 2)
    mean[-1] -= gap
    return (np.random.default_rng(seed).random((T, A)) < mean).astype(float)


def alternating(T: int, A: int, seed: int) -> np.ndarray:
    """Losses that turn over each round, with one action slightly ahead in the end."""
    losses = ((np.arange(T)[:, None] + np.arange(A)) % 2).astype(float)
    losses[:: max(T // 50, 1), 0] = 0.0
    return losses


def switching(T: int, A: int, seed: int) -> np.ndarray:
    """The best action changes five times; over all rounds action 0 is best."""
    losses = np.full((T, A), 0.8)
    edges = np.linspace(0, T, 7).astype(int)
    for j, (begin, end) in enumerate(itertools.pairwise(edges)):
        losses[begin:end, 0 if j % 2 == 0 else 1 + j % (A - 1)] = 0.1
    return losses


def planned(bandit: Bandit, T: int, A: int, iota: float) -> np.ndarray:
    """Made against the learner ahead of time: what a dry run with another seed would most likely play costs 1."""
    dry = arena(bandit, stochastic(T, A, 99, gap=0.2), copies=1, seed=98, iota=iota).probs[0]
    losses = (dry == dry.max(axis=1, keepdims=True)).astype(float)
    losses[:, A - 1] *= 0.5
    return losses


def regret_of_play(game: Game, losses: np.ndarray) -> np.ndarray:
    """Σ_t loss(played) − min_a Σ_t loss(a), for each copy."""
    cost = losses[np.arange(len(losses)), game.played].sum(axis=1)
    return cost - losses.sum(axis=0).min()


def regret_of_distributions(game: Game, losses: np.ndarray) -> np.ndarray:
    """Σ_t ⟨p_t, loss_t⟩ − min_a Σ_t loss(a), for each copy."""
    return np.einsum("cta,ta->c", game.probs, losses) - losses.sum(axis=0).min()


def swap_regret(game: Game, losses: np.ndarray) -> np.ndarray:
    """max_F Σ_t ⟨p_t, loss_t⟩ − ⟨F⋄p_t, loss_t⟩, for each copy: the best F is found for each action alone."""
    swapped = np.einsum("ctb,ta->cba", game.probs, losses)  # what b would have cost as a
    return np.einsum("cbb->c", swapped) - swapped.min(axis=2).sum(axis=1)
