"""Tsallis-INF that tunes itself, for losses of any sign, scale and origin.

Follow the regularised leader over a discounted mean of loss estimates, with the step of AdaFTRL. In round t, with
c = memory·H and A actions,

    α = (c+1)/(c+t),  γ = implicit·√(α/A)                                          [Jin, Liu, Wang, Yu 2021: α]
    ℓ̂(b) = 1{b = a}·loss/(prob + γ) − u·γ/(μ(b) + γ)                                [Neu 2015: γ]
    δ = α·⟨μ, ℓ̂⟩ − (Φ((1−α)·L + α·ℓ̂; (1−α)·λ) − Φ((1−α)·L; (1−α)·λ)) ≥ 0            [Orabona, Pál 2018: AdaFTRL]
    L ← (1−α)·L + α·ℓ̂,  Δ ← (1−α)·Δ + δ,  λ ← Δ/(2·(√A − 1))
    μ ← argmin_μ ⟨μ, L⟩ − 2λ·Σ_b √μ(b), whose minimum is Φ(L; λ)                     [Zimmert, Seldin 2021: Tsallis-INF]

u, the headroom, is the largest gain −loss (or 0) that the cell has seen in this and in the last window of rounds.
Losses are best measured from a baseline, e.g. the mean loss: then L is a mean of how much better or worse than usual
each action is, with the variance of that alone. Implicit exploration pulls an action that is hardly played towards −u:
it looks good until it is tried. For losses ≥ 0 there is no headroom, and the estimate is that of [Neu 2015]. λ needs no
range: δ is the price of having moved, so λ falls as fast as the losses permit, and multiplying all losses by a number
changes no distribution (up to rounding).

Guarantees: for ℓ̂ as the losses, Σ_t w_t·⟨μ_t − e_b, ℓ̂_t⟩ ≤ 2·Δ·Σ_t w_t for every b, with the weights w_t that α implies
[Orabona, Pál 2018, in the proof of AdaFTRL's regret]. What is not proven here: how small Δ is when the losses are
estimated (the known bounds for Tsallis-INF fix the step in advance), and the bias of implicit exploration with signed
losses. `tests/bandits` measures the regret.

Deviations: λ is at least 1e-9 of the largest loss. In a copy within a bandit of swap regret, prob is the chance of the
whole bandit while μ is the copy's own proposal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import Bandit, Setting, play_probs
from tacit.core import check, generics
from tacit.core.memory import lock
from tacit.core.records import FIXED, NONNEGATIVE, Fields
from tacit.core.types import FloatArray

#: How near to 1 the probabilities must add up before the last step, after which they do to 1e-15.
CLOSE = 1e-5


@dataclass(frozen=True)
class AdaTsallis(Bandit):
    """Self-tuning Tsallis-INF. It needs to know neither the rounds, nor ι, nor the range of the losses.

    Parameters
    ----------
    memory : float
        c/H, the forgetting of old losses: 0 remembers all alike, 1 forgets as fast as V-learning's values.
    implicit : float
        Implicit exploration γ, in units of √(α/A).

    Examples
    --------
    >>> import tacit
    >>> from tacit.bandits import AdaTsallis
    >>> tacit.learners.StageV(bandit=AdaTsallis(memory=1.0)).info.learns
    'cce'
    """

    memory: float = 0.1
    implicit: float = 0.1

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.real("memory", self.memory, least=0)
        check.real("implicit", self.implicit, least=0)

    def fields(self, actions: int) -> Fields:
        """Return what a cell remembers."""
        return [
            ("prob", NONNEGATIVE, actions),  # μ
            ("loss", "f8", actions),  # L
            ("temperature", "f8"),  # λ
            ("minimum", "f8"),  # Φ(L; λ)
            ("moved", "f8"),  # Δ
            ("headroom", "f8"),  # largest gain of this window
            ("last_headroom", "f8"),  # and of the last one
            ("largest", "f8"),  # largest loss in absolute value
            ("rounds", "i8"),  # t
            ("until", "i8"),  # round in which the next window begins
            ("actions", FIXED),
        ]

    def init(self, cells: Any, setting: Setting) -> AdaTsallisParams:
        """Begin evenly; a step constant c stands for λ = (largest loss)·√α/c."""
        cells["prob"] = 1.0 / setting.actions[:, None]
        cells["actions"] = setting.actions
        return AdaTsallisParams(
            memory=float(self.memory * setting.horizon),
            implicit=float(self.implicit),
            step=0.0 if setting.step is None else float(setting.step),
            per_move=lock(0.5 / np.maximum(np.sqrt(np.arange(setting.actions.max() + 1)) - 1.0, 1e-9)),
        )


class AdaTsallisParams(NamedTuple):
    """What kernels read besides their cell."""

    memory: float  # c
    implicit: float  # γ·√(A/α)
    step: float  # constant of a fixed step, or 0 for AdaFTRL's
    per_move: FloatArray  # [A+1]  1/(2·(√n − 1)) for n actions


@generics.restart.implement(AdaTsallisParams)
def restart(bandit, cell, rounds):
    """Forget everything."""
    for b in range(cell.actions):
        cell.loss[b] = 0.0
        cell.prob[b] = 1.0 / cell.actions
    cell.temperature = 0.0
    cell.minimum = 0.0
    cell.moved = 0.0
    cell.headroom = 0.0
    cell.last_headroom = 0.0
    cell.largest = 0.0
    cell.rounds = 0
    cell.until = 0


play_probs(AdaTsallisParams)


@generics.update.implement(AdaTsallisParams)
def update(bandit, cell, a, loss, prob):
    """Add loss estimates, charge the cost of moving, and solve for the next μ."""
    n = min(cell.actions, len(cell.prob))  # the compiler knows the latter, and unrolls
    cell.rounds += 1
    t = cell.rounds
    look(bandit, cell, t, loss)
    largest = cell.largest
    if n == 1 or largest == 0.0:
        return
    share = (bandit.memory + 1.0) / ((bandit.memory + t) * n)
    alpha, gamma = share * n, bandit.implicit * math.sqrt(share)
    pull = -gamma * max(cell.headroom, cell.last_headroom)
    gain = loss / (prob + gamma)
    paid, roots, cubes, push = 0.0, 0.0, 0.0, 0.0
    for b in range(n):
        mu = cell.prob[b]
        estimate = pull / (mu + gamma)
        if b == a:
            estimate += gain
        paid += mu * estimate
        if n > 2:
            root = math.sqrt(mu)
            roots += root
            cubes += mu * root
            push += mu * root * estimate
        cell.loss[b] += alpha * (estimate - cell.loss[b])
    keep, coldest = 1.0 - alpha, 1e-9 * largest
    before = max(keep * cell.temperature, coldest)
    stay = alpha * paid + keep * cell.minimum
    if n == 2:
        temperature = cool(bandit, cell, alpha, stay - solve_two(cell.loss, before)[0], coldest)
        cell.minimum, cell.prob[0], cell.prob[1] = solve_two(cell.loss, temperature)
        cell.temperature = temperature
        return
    least = smallest(cell.loss, n)
    if bandit.step > 0.0:
        temperature = y = cool(bandit, cell, alpha, 0.0, coldest)
    else:
        last = -cell.minimum - cell.temperature * roots  # x of the round before
        y = keep * last - (alpha / cubes) * push + least  # and now, to the first order in the estimates
        y, total, slope, _, inverses = balance(cell.loss, least, n, before, y)
        off, per = total - 1.0, 1.0 / (slope * before)
        rest = 0.5 * off * before * per
        price = (stay - least + y - 0.5 * off * rest) + before * before * inverses
        temperature = cool(bandit, cell, alpha, price, coldest)
        y = (y + rest) + (temperature - before) * (per * total)
    cell.temperature = temperature
    cell.minimum = minimum(cell.loss, least, n, temperature, y, cell.prob)


@generics.jitable
def cool(bandit, cell, alpha, price, coldest):
    """Charge the price δ of having moved, and return the next λ."""
    if bandit.step > 0.0:
        return max(cell.largest * math.sqrt(alpha) / bandit.step, coldest)
    cell.moved = (1.0 - alpha) * cell.moved + max(price, 0.0)
    return max(cell.moved * bandit.per_move[cell.actions], coldest)


@generics.regret.implement(AdaTsallisParams)
def regret(bandit, cell):
    """Return 2Δ, the bound on the weighted regret for the estimated losses."""
    return 2.0 * cell.moved


@generics.jitable
def look(bandit, cell, t, loss):
    """Keep the largest gains of two windows, and the largest absolute loss."""
    if t >= cell.until:
        cell.last_headroom = cell.headroom
        cell.headroom = 0.0
        cell.until = t + max(4, int(t / (bandit.memory + 1.0)))
    cell.headroom = max(cell.headroom, -loss)
    cell.largest = max(cell.largest, abs(loss))


@generics.jitable
def smallest(loss, n):
    """Return the least of n losses."""
    least = loss[0]
    for b in range(1, n):
        least = min(least, loss[b])
    return least


@generics.jitable
def balance(loss, least, n, temperature, y):
    """Find y with S(y) = Σ μ near 1. Return y, S, Σ μ/(x+L), Σ μ/(x+L)² and Σ 1/(x+L).

    μ(b) = (λ/(x + L(b)))², where x = y − min L is the multiplier of Σ μ = 1, and y lies between λ and λ·√n. Newton's
    method for 1/√S, which is concave and nearly a line, finds it from anywhere [Moré, Sorensen 1983]; where it begins
    with what follows to the first order from the round before, it is mostly there.
    """
    y = min(max(y, temperature), n * temperature)
    total, slope, curve, inverses = 1.0, 1.0, 0.0, 0.0
    for _ in range(100):
        total, slope, curve, inverses = 0.0, 0.0, 0.0, 0.0
        for b in range(n):
            inverse = 1.0 / (y + (loss[b] - least))
            root = temperature * inverse
            mu = root * root
            total += mu
            slope += mu * inverse
            curve += mu * inverse * inverse
            inverses += inverse
        if abs(total - 1.0) <= CLOSE:
            break
        y = max(y + total * (math.sqrt(total) - 1.0) / slope, temperature)
    return y, total, slope, curve, inverses


@generics.jitable
def minimum(loss, least, n, temperature, y, out):
    """Write μ = argmin ⟨μ, L⟩ − 2λ·Σ √μ into `out`, and return the minimum Φ(L; λ) = max_x −x − λ²·Σ 1/(x + L).

    After `balance` a step of the third order is left.
    """
    y, total, slope, curve, inverses = balance(loss, least, n, temperature, y)
    off, per = total - 1.0, 1.0 / slope
    rest = 0.5 * off * per
    value = least - y - temperature * temperature * inverses + 0.5 * off * rest
    y += rest + 1.5 * curve * per * rest * rest
    for b in range(n):
        root = temperature / (y + (loss[b] - least))
        out[b] = root * root
    return value


@generics.jitable
def solve_two(loss, temperature):
    """Return the minimum Φ(L; λ) for two actions, and their μ.

    With d = L(1) − L(0) and r = √(λ² + d²), Σ μ = 1 is solved by x = (√((λ+r)·(3λ+r)) − L(0) − L(1))/2. No branch waits
    for it, so processors go on with the next agent meanwhile: three quarters of the time that `minimum` takes.
    """
    apart = loss[1] - loss[0]
    norm = math.sqrt(temperature * temperature + apart * apart)
    near, far = temperature + norm, 3.0 * temperature + norm
    inverse, mean = 1.0 / near, math.sqrt(near * far)
    value = 0.5 * (loss[0] + loss[1] - far * inverse * mean)
    worst = mean + abs(apart)  # 2·(x + L) of the worse action; times that of the other it is 2λ·near
    root, other = 0.5 * worst * inverse, 2.0 * temperature / worst
    better, worse = root * root, other * other
    return value, better if apart >= 0.0 else worse, worse if apart >= 0.0 else better
