"""Bandits on losses made against them, random and switching: measured regret against the published bounds.

Seeds are fixed, so a run always gives the same answer. For a fresh seed the bounds in expectation are held by the mean
of 40 copies with room to spare (the mean plus four standard errors is compared); the bound with high probability is
asked of every copy, each of which may miss it with probability 1e-5: over all 480 copies a false alarm has probability
below 0.005.
"""

from __future__ import annotations

import math

import arena
import numpy as np
import pytest

from tacit.bandits import AdaTsallis, Bandit, Exp3IX, TsallisINF

T = 4000
COPIES = 40
DELTA = 1e-5
LOSSES = ["alternating", "stochastic", "switching", "planned"]


def losses_of(kind: str, bandit: Bandit, A: int, iota: float) -> np.ndarray:
    if kind == "planned":
        return arena.planned(bandit, T, A, iota)
    return getattr(arena, kind)(T, A, 7)


@pytest.mark.parametrize("A", [2, 5, 10])
@pytest.mark.parametrize("kind", LOSSES)
def test_exp3_ix_with_high_probability(kind: str, A: int):
    """The argument of [Neu 2015, Thm 1] with η = √(ι/(A·T)), γ = η/2, ι = log(2A/δ).

    (ln A + ln(2A/δ))/η + η·A·T + ln(2/δ) ≤ (2 + ln A/ι)·√(A·T·ι) + ι.
    """
    iota = math.log(2 * A / DELTA)
    losses = losses_of(kind, Exp3IX(), A, iota)
    game = arena.arena(Exp3IX(), losses, copies=COPIES, seed=1, iota=iota)
    bound = (2 + math.log(A) / iota) * math.sqrt(A * T * iota) + iota
    assert arena.regret_of_play(game, losses).max() <= bound
    assert bound <= 5 * math.sqrt(A * T * iota)  # what is left of 6√(A·ι/n) in lemma:bonus after Azuma-Hoeffding


@pytest.mark.parametrize("A", [2, 5, 10])
@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("bandit", [Exp3IX(implicit=0.0), TsallisINF()], ids=["exp3", "tsallis-inf"])
def test_bounds_in_expectation(bandit: Bandit, kind: str, A: int):
    iota = 2 * math.log(A)  # without implicit exploration, the step of Exp3
    bound = math.sqrt(T * A * iota) if isinstance(bandit, Exp3IX) else 4 * math.sqrt(A * T) + 1
    losses = losses_of(kind, bandit, A, 1.0)
    regret = arena.regret_of_distributions(arena.arena(bandit, losses, copies=COPIES, seed=2, iota=iota), losses)
    assert regret.mean() + 4 * regret.std() / math.sqrt(COPIES) <= bound


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
@pytest.mark.parametrize("shift", [0.0, -0.5])
@pytest.mark.parametrize("A", [2, 5, 10])
@pytest.mark.parametrize("kind", LOSSES)
def test_ada_tsallis_is_within_twice_the_bound_of_tsallis_inf(kind: str, A: int, shift: float, scale: float):
    """It has no proven bound; with all losses remembered alike it is held to 8·√(A·T), in any units and of any sign."""
    bandit = AdaTsallis(memory=0.0)
    losses = losses_of(kind, bandit, A, 1.0)
    game = arena.arena(bandit, (losses + shift) * scale, copies=COPIES, seed=2)
    regret = arena.regret_of_distributions(game, losses)
    assert regret.mean() + 4 * regret.std() / math.sqrt(COPIES) <= 8 * math.sqrt(A * T)


@pytest.mark.parametrize("A", [2, 5, 10])
@pytest.mark.parametrize(
    "bandit", [Exp3IX(), TsallisINF(), AdaTsallis()], ids=["exp3-ix", "tsallis-inf", "ada-tsallis"]
)
def test_they_learn_at_all(bandit: Bandit, A: int):
    """Less than half the regret of playing evenly, and at the end mostly the best action."""
    losses = arena.stochastic(T, A, 7)
    game = arena.arena(bandit, losses, copies=COPIES, seed=3, iota=math.log(A))
    even = losses.mean(axis=1).sum() - losses.sum(axis=0).min()
    assert arena.regret_of_distributions(game, losses).mean() < even / 2
    assert game.probs[:, -T // 10 :, -1].mean() > 0.6


def test_tsallis_gains_logarithmically_on_random_losses():
    """[Zimmert, Seldin 2021]: twice the rounds add a constant; on these losses √T would add forty percent."""
    long = arena.stochastic(16 * T, 2, 5)
    game = arena.arena(TsallisINF(), long, copies=10, seed=4)
    short, whole = (
        np.einsum("cta,ta->c", game.probs[:, :n], np.tile([0.65, 0.35], (n, 1))).mean() - 0.35 * n for n in (T, 16 * T)
    )
    assert short > 0
    assert whole < 2 * short
