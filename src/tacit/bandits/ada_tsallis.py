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
from typing import Annotated, NamedTuple

import numpy as np

from tacit.bandits.rows import drawn, jotted, shared
from tacit.bandits.spec import Bandit, Cells
from tacit.core import check, generics
from tacit.core.types import FloatArray, IntArray


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

    def init(self, cells: Cells) -> AdaTsallisState:
        """Make the state of all cells; a step constant c stands for λ = (largest loss)·√α/c."""
        grid = (cells.agents, cells.number)
        return AdaTsallisState(
            loss=np.zeros((*grid, cells.most)),
            prob=np.ones((*grid, cells.most)) / cells.actions[:, None, None],
            temperature=np.zeros(grid),
            minimum=np.zeros(grid),
            moved=np.zeros(grid),
            headroom=np.zeros(grid),
            last_headroom=np.zeros(grid),
            largest=np.zeros(grid),
            round=np.zeros(grid, dtype=np.int64),
            until=np.zeros(grid, dtype=np.int64),
            memory=float(self.memory * cells.horizon),
            implicit=float(self.implicit),
            step=0.0 if cells.step is None else float(cells.step),
            actions=cells.actions,
        )


class AdaTsallisState(NamedTuple):
    """Losses and distributions of all cells."""

    loss: Annotated[FloatArray, "N C A"]  # L
    prob: Annotated[FloatArray, "N C A", ">= 0"]  # μ
    temperature: Annotated[FloatArray, "N C"]  # λ
    minimum: Annotated[FloatArray, "N C"]  # Φ(L; λ)
    moved: Annotated[FloatArray, "N C"]  # Δ
    headroom: Annotated[FloatArray, "N C"]  # largest gain of this window
    last_headroom: Annotated[FloatArray, "N C"]  # and of the last one
    largest: Annotated[FloatArray, "N C"]  # largest loss in absolute value
    round: Annotated[IntArray, "N C"]  # t
    until: Annotated[IntArray, "N C"]  # round in which the next window begins
    memory: float  # c
    implicit: float  # γ·√(A/α)
    step: float  # constant of a fixed step, or 0 for AdaFTRL's
    actions: Annotated[IntArray, "N"]


generics.jot_cell.implement(AdaTsallisState)(jotted)


@generics.restart.implement(AdaTsallisState)
def restart(bandit, i, c, rounds):
    """Forget everything."""
    for b in range(bandit.actions[i]):
        bandit.loss[i, c, b] = 0.0
        bandit.prob[i, c, b] = 1.0 / bandit.actions[i]
    bandit.temperature[i, c] = 0.0
    bandit.minimum[i, c] = 0.0
    bandit.moved[i, c] = 0.0
    bandit.headroom[i, c] = 0.0
    bandit.last_headroom[i, c] = 0.0
    bandit.largest[i, c] = 0.0
    bandit.round[i, c] = 0
    bandit.until[i, c] = 0


@generics.draw.implement(AdaTsallisState)
def draw(bandit, i, c, u):
    """Draw from μ."""
    return drawn(bandit.prob[i, c], 1.0, bandit.actions[i], u)


@generics.chance.implement(AdaTsallisState)
def chance(bandit, i, c, a):
    """Return μ(a)."""
    return bandit.prob[i, c, a]


@generics.spread.implement(AdaTsallisState)
def spread(bandit, i, c, out):
    """Write μ."""
    shared(bandit.prob[i, c], 1.0, bandit.actions[i], out)


@generics.feed.implement(AdaTsallisState)
def feed(bandit, i, c, a, loss, prob):
    """Add the loss estimates, charge what it cost to have moved, and solve for the next round's μ."""
    n = bandit.actions[i]
    bandit.round[i, c] += 1
    t = bandit.round[i, c]
    look(bandit, i, c, t, loss)
    largest = bandit.largest[i, c]
    if n == 1 or largest == 0.0:
        return
    alpha = (bandit.memory + 1.0) / (bandit.memory + t)
    gamma = bandit.implicit * math.sqrt(alpha / n)
    headroom = max(bandit.headroom[i, c], bandit.last_headroom[i, c])
    paid = 0.0
    for b in range(n):
        mu = bandit.prob[i, c, b]
        estimate = -headroom * gamma / (mu + gamma) if headroom > 0.0 else 0.0
        if b == a:
            estimate += loss / (prob + gamma)
        paid += mu * estimate
        bandit.loss[i, c, b] += alpha * (estimate - bandit.loss[i, c, b])
    least = 1e-9 * largest
    if bandit.step > 0.0:
        before = y = temperature = largest * math.sqrt(alpha) / bandit.step
    else:
        before = max((1.0 - alpha) * bandit.temperature[i, c], least)
        reached, y = minimum(bandit.loss[i, c], before, n, bandit.prob[i, c], before)
        delta = max(alpha * paid - (reached - (1.0 - alpha) * bandit.minimum[i, c]), 0.0)
        bandit.moved[i, c] = (1.0 - alpha) * bandit.moved[i, c] + delta
        temperature = bandit.moved[i, c] / (2.0 * (math.sqrt(n) - 1.0))
    temperature = max(temperature, least)
    bandit.temperature[i, c] = temperature
    near = y * (temperature / before)  # where y would be if losses had grown like the temperature
    bandit.minimum[i, c], _ = minimum(bandit.loss[i, c], temperature, n, bandit.prob[i, c], near)


@generics.lean.implement(AdaTsallisState)
def lean(bandit, i, c, target, rounds, scale):
    """Begin with losses whose leader is the target, λ = scale·√α, and as much as that implies for having moved."""
    n = bandit.actions[i]
    bandit.round[i, c] = int(rounds)
    if n == 1:
        return
    temperature = scale * math.sqrt((bandit.memory + 1.0) / (bandit.memory + rounds))
    mean = 0.0
    for b in range(n):
        bandit.loss[i, c, b] = temperature / math.sqrt(target[b])
        mean += target[b] * bandit.loss[i, c, b]
    for b in range(n):
        bandit.loss[i, c, b] -= mean  # losses are measured from a baseline
    bandit.temperature[i, c] = temperature
    bandit.moved[i, c] = temperature * 2.0 * (math.sqrt(n) - 1.0)
    bandit.minimum[i, c], _ = minimum(bandit.loss[i, c], temperature, n, bandit.prob[i, c], temperature)


@generics.regret.implement(AdaTsallisState)
def regret(bandit, i, c):
    """Return 2Δ, the bound on the weighted regret for the estimated losses."""
    return 2.0 * bandit.moved[i, c]


@generics.jitable
def look(bandit, i, c, t, loss):
    """Keep the largest gain of this window and of the last, and the largest loss in absolute value."""
    if t >= bandit.until[i, c]:
        bandit.last_headroom[i, c] = bandit.headroom[i, c]
        bandit.headroom[i, c] = 0.0
        bandit.until[i, c] = t + max(4, int(t / (bandit.memory + 1.0)))
    bandit.headroom[i, c] = max(bandit.headroom[i, c], -loss)
    bandit.largest[i, c] = max(bandit.largest[i, c], abs(loss))


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
