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

from tacit.bandits.rows import play_probs
from tacit.bandits.spec import Bandit, Setting
from tacit.core import check, generics
from tacit.core.records import FIXED, NONNEGATIVE, Fields


@dataclass(frozen=True)
class AdaTsallis(Bandit):
    """Self-tuning Tsallis-INF; it needs to know neither the rounds, nor ι, nor the range of the losses.

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
    >>> tacit.StageV(bandit=AdaTsallis(memory=1.0)).equilibrium
    'cce'
    """

    memory: float = 0.1
    implicit: float = 0.1

    def __post_init__(self) -> None:
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
        )


class AdaTsallisParams(NamedTuple):
    """What kernels read besides their cell."""

    memory: float  # c
    implicit: float  # γ·√(A/α)
    step: float  # constant of a fixed step, or 0 for AdaFTRL's


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


@generics.feed.implement(AdaTsallisParams)
def feed(bandit, cell, a, loss, prob):
    """Add the loss estimates, charge what it cost to have moved, and solve for the next round's μ."""
    n = cell.actions
    cell.rounds += 1
    t = cell.rounds
    look(bandit, cell, t, loss)
    largest = cell.largest
    if n == 1 or largest == 0.0:
        return
    alpha = (bandit.memory + 1.0) / (bandit.memory + t)
    gamma = bandit.implicit * math.sqrt(alpha / n)
    headroom = max(cell.headroom, cell.last_headroom)
    paid = 0.0
    for b in range(n):
        mu = cell.prob[b]
        estimate = -headroom * gamma / (mu + gamma) if headroom > 0.0 else 0.0
        if b == a:
            estimate += loss / (prob + gamma)
        paid += mu * estimate
        cell.loss[b] += alpha * (estimate - cell.loss[b])
    least = 1e-9 * largest
    if bandit.step > 0.0:
        before = y = temperature = largest * math.sqrt(alpha) / bandit.step
    else:
        before = max((1.0 - alpha) * cell.temperature, least)
        reached, y = minimum(cell.loss, before, n, cell.prob, before)
        delta = max(alpha * paid - (reached - (1.0 - alpha) * cell.minimum), 0.0)
        cell.moved = (1.0 - alpha) * cell.moved + delta
        temperature = cell.moved / (2.0 * (math.sqrt(n) - 1.0))
    temperature = max(temperature, least)
    cell.temperature = temperature
    near = y * (temperature / before)  # where y would be if losses had grown like the temperature
    cell.minimum, _ = minimum(cell.loss, temperature, n, cell.prob, near)


@generics.lean.implement(AdaTsallisParams)
def lean(bandit, cell, target, rounds, scale):
    """Begin with losses whose leader is the target, λ = scale·√α, and as much as that implies for having moved."""
    n = cell.actions
    cell.rounds = int(rounds)
    if n == 1:
        return
    temperature = scale * math.sqrt((bandit.memory + 1.0) / (bandit.memory + rounds))
    mean = 0.0
    for b in range(n):
        cell.loss[b] = temperature / math.sqrt(target[b])
        mean += target[b] * cell.loss[b]
    for b in range(n):
        cell.loss[b] -= mean  # losses are measured from a baseline
    cell.temperature = temperature
    cell.moved = temperature * 2.0 * (math.sqrt(n) - 1.0)
    cell.minimum, _ = minimum(cell.loss, temperature, n, cell.prob, temperature)


@generics.regret.implement(AdaTsallisParams)
def regret(bandit, cell):
    """Return 2Δ, the bound on the weighted regret for the estimated losses."""
    return 2.0 * cell.moved


@generics.jitable
def look(bandit, cell, t, loss):
    """Keep the largest gain of this window and of the last, and the largest loss in absolute value."""
    if t >= cell.until:
        cell.last_headroom = cell.headroom
        cell.headroom = 0.0
        cell.until = t + max(4, int(t / (bandit.memory + 1.0)))
    cell.headroom = max(cell.headroom, -loss)
    cell.largest = max(cell.largest, abs(loss))


@generics.jitable
def minimum(loss, temperature, n, out, y):
    """Write μ = argmin ⟨μ, L⟩ − 2λ·Σ √μ into `out`; return the minimum Φ(L; λ) and y.

    μ(b) = (λ/(y + L(b) − min L))² with y ≥ λ such that S(y) = Σ μ = 1. Newton's method for 1/√S, which is concave and
    nearly a line, finds it in one to four steps from any y ≥ λ. [Moré, Sorensen 1983]
    """
    least = loss[0]
    for b in range(1, n):
        least = min(least, loss[b])
    total, roots = 1.0, 0.0
    for _ in range(100):
        total, slope, roots = 0.0, 0.0, 0.0
        for b in range(n):
            inverse = 1.0 / (y + (loss[b] - least))
            root = temperature * inverse
            out[b] = root * root
            total += out[b]
            slope += out[b] * inverse
            roots += root
        if abs(total - 1.0) <= 1e-15 * (100 + n):
            break
        y = max(y + total * (math.sqrt(total) - 1.0) / slope, temperature)
    scale = 1.0 / total
    value = least - 2.0 * temperature * roots * math.sqrt(scale)
    for b in range(n):
        out[b] *= scale
        value += out[b] * (loss[b] - least)
    return value, y
