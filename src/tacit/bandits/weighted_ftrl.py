"""Follow the regularised leader for a weighted regret. [Jin, Liu, Wang, Yu 2021; Mao2022, rmk:learning_rate]

    α_t = (H+1)/(H+t), w_t = α_t/Π_{j=2..t}(1 − α_j)
    η_t = γ_t = √(H·ln A/(A·t))   (as a copy within a bandit of swap regret: √(H·ln A/t))
    μ_{t+1}(a) ∝ exp(−(η_t/w_t)·Σ_{j≤t} w_j·loss_j(a)/(prob_j + γ_j))

Deviations: w_t grows like t^H and would overflow; the sum is kept divided by w_t, which changes by
w_{t−1}/w_t = α_{t−1}·(1 − α_t)/α_t = (t − 1)/(H + t − 1) from round to round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import Bandit, Setting, play_weights, rate
from tacit.core import generics
from tacit.core.elementary import exp, log_each
from tacit.core.records import FIXED, NONNEGATIVE, Fields


@dataclass(frozen=True)
class WeightedFTRL(Bandit):
    """The bandit of V-learning.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.VLearning().bandit
    WeightedFTRL()
    """

    def fields(self, actions: int) -> Fields:
        """Return what a cell remembers."""
        return [
            ("weight", NONNEGATIVE, actions),  # exp(−η_t·(loss − its minimum))
            ("loss", "f8", actions),  # Σ_j (w_j/w_t)·loss_j/(prob_j + γ_j)
            ("total", "f8"),
            ("rounds", "i8"),  # t
            ("actions", FIXED),
            ("rate", "f8"),  # η_t·√t
        ]

    def init(self, cells: Any, setting: Setting) -> WeightedFTRLParams:
        """Weigh all actions alike; a step constant c stands for η_t = c/√(A·t)."""
        theory = np.sqrt(setting.horizon * log_each(setting.actions) / (1 if setting.swap else setting.actions))
        cells["weight"] = 1.0
        cells["total"] = cells["actions"] = setting.actions
        cells["rate"] = rate(setting, theory)
        return WeightedFTRLParams(setting.horizon)


class WeightedFTRLParams(NamedTuple):
    """What kernels read besides their cell."""

    horizon: int


@generics.restart.implement(WeightedFTRLParams)
def restart(bandit, cell, rounds):
    """Forget the losses."""
    for a in range(cell.actions):
        cell.loss[a] = 0.0
        cell.weight[a] = 1.0
    cell.total = cell.actions
    cell.rounds = 0


play_weights(WeightedFTRLParams)


@generics.update.implement(WeightedFTRLParams)
def update(bandit, cell, a, loss, prob):
    """Discount the past, add the loss estimate, and weigh all actions anew. Their step size has changed."""
    cell.rounds += 1
    t = cell.rounds
    eta = cell.rate / math.sqrt(t)
    n = cell.actions
    decay = (t - 1.0) / (bandit.horizon + t - 1.0)
    for b in range(n):
        cell.loss[b] *= decay
    cell.loss[a] += loss / (prob + eta)
    least = cell.loss[0]
    for b in range(1, n):
        least = min(least, cell.loss[b])
    total = 0.0
    for b in range(n):
        weight = exp(eta * (least - cell.loss[b]))
        cell.weight[b] = weight
        total += weight
    cell.total = total
