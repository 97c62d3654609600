"""Blum and Mansour's reduction over each bandit of external regret.

Seeds are fixed. The lemma fails with probability at most 3p for each of the copies: with p = 1e-4 a fresh seed would
give a false alarm with probability below 0.05 over all tests here, were the bound tight, which it is not.
"""

from __future__ import annotations

import math

import arena
import numpy as np
import pytest

from tacit.bandits import AdaTsallis, Exp3IX, Swap, TsallisINF, WeightedFTRL
from tacit.core.generics import probs

P = 1e-4
BASES = {
    "exp3-ix": Exp3IX(implicit=1.0),
    "tsallis-inf": TsallisINF(),
    "ada-tsallis": AdaTsallis(),
}


def rock_paper_scissors_walk(T: int, A: int) -> np.ndarray:
    """Losses under which playing well means following: the good action wanders round, so external regret is small but
    swapping pays for those who mix up the phases."""
    phase = np.arange(T) * 3 * A // T
    losses = np.full((T, A), 0.7)
    losses[np.arange(T), phase % A] = 0.2
    losses[np.arange(T), (phase + 1) % A] = 1.0
    return losses


@pytest.mark.parametrize(("A", "T"), [(2, 5_000), (5, 10_000), (10, 20_000)])
@pytest.mark.parametrize("kind", ["stochastic", "switching", "alternating", "walk"])
def test_the_lemma(kind: str, A: int, T: int):
    """10·√(A²·T·ι) with ι = log(A²/p), and the step of Alg. 6. [Mao2022, lemma:swap_regret]"""
    iota = math.log(A**2 / P)
    losses = rock_paper_scissors_walk(T, A) if kind == "walk" else getattr(arena, kind)(T, A, 7)
    game = arena.arena(Swap(), losses, copies=10, seed=1, iota=iota)
    regret = arena.swap_regret(game, losses)
    assert regret.min() > -1e-6
    assert regret.max() <= 10 * math.sqrt(A**2 * T * iota)
    # the bound is loose at these lengths; half of it, and half of what ignorance costs, is what is seen
    assert regret.max() <= 5 * math.sqrt(A**2 * T * iota)


@pytest.mark.parametrize("A", [2, 5])
@pytest.mark.parametrize("base", BASES)
def test_every_base_learns(base: str, A: int):
    T = 10_000
    losses = arena.stochastic(T, A, 7)
    game = arena.arena(Swap(BASES[base]), losses, copies=10, seed=2, iota=math.log(A))
    even = losses.mean(axis=1).sum() - losses.sum(axis=0).min()
    assert arena.swap_regret(game, losses).mean() < even / 3
    assert game.probs[:, -T // 10 :, -1].mean() > 0.6


def test_weighted_ftrl_as_base_learns():
    T = 10_000
    losses = arena.stochastic(T, 5, 7)
    game = arena.arena(Swap(WeightedFTRL()), losses, copies=10, seed=2, horizon=5)
    assert game.probs[:, -T // 10 :, -1].mean() > 0.5


@pytest.mark.parametrize("base", BASES)
def test_the_distribution_is_stationary(base: str):
    """p = Σ_b p(b)·q(·|b) with q from the copies, at the end of a run."""
    A = 5
    game = arena.arena(Swap(BASES[base]), arena.stochastic(500, A, 3), copies=3, seed=5, iota=1.0)
    for cell in game.cells[:, 0]:
        q = np.zeros((A, A))
        for b in range(A):
            probs(game.params.base, cell.copies[b], q[b])
        p = cell.prob[:A]
        assert np.abs(p @ q - p).max() < 1e-13
        assert abs(p.sum() - 1) < 1e-14


def test_swap_beats_external_on_swap_regret():
    """Why the reduction is there: on these losses a bandit of external regret alone leaves more to be swapped."""
    T, A = 20_000, 3
    losses = rock_paper_scissors_walk(T, A)
    swap = arena.arena(Swap(), losses, copies=10, seed=6, iota=math.log(A))
    plain = arena.arena(Exp3IX(), losses, copies=10, seed=6, iota=math.log(A))
    assert arena.swap_regret(swap, losses).mean() < arena.swap_regret(plain, losses).mean()
