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
from typing import Annotated, NamedTuple

import numpy as np

from tacit.bandits.rows import drawn, jotted, shared
from tacit.bandits.spec import Bandit, Cells, rate
from tacit.core import generics
from tacit.core.elementary import exp, log, log_each
from tacit.core.types import FloatArray, IntArray


@dataclass(frozen=True)
class WeightedFTRL(Bandit):
    """The bandit of V-learning.

    Examples
    --------
    >>> import tacit
    >>> tacit.VLearning().bandit
    WeightedFTRL()
    """

    def init(self, cells: Cells) -> WeightedFTRLState:
        """Make the state of all cells; a step constant c stands for η_t = c/√(A·t)."""
        grid = (cells.agents, cells.number)
        theory = np.sqrt(cells.horizon * log_each(cells.actions) / (1 if cells.swap else cells.actions))
        return WeightedFTRLState(
            loss=np.zeros((*grid, cells.most)),
            weight=np.ones((*grid, cells.most)),
            total=np.ones(grid) * cells.actions[:, None],
            round=np.zeros(grid, dtype=np.int64),
            rate=rate(cells, theory),
            horizon=cells.horizon,
            actions=cells.actions,
        )


class WeightedFTRLState(NamedTuple):
    """Discounted losses and weights of all cells."""

    loss: Annotated[FloatArray, "N C A"]  # Σ_j (w_j/w_t)·loss_j/(prob_j + γ_j)
    weight: Annotated[FloatArray, "N C A"]  # exp(−η_t·(loss − its minimum))
    total: Annotated[FloatArray, "N C"]
    round: Annotated[IntArray, "N C"]  # t
    rate: Annotated[FloatArray, "N"]  # η_t·√t
    horizon: int
    actions: Annotated[IntArray, "N"]


generics.jot_cell.implement(WeightedFTRLState)(jotted)


@generics.restart.implement(WeightedFTRLState)
def restart(bandit, i, c, rounds):
    """Forget the losses."""
    for a in range(bandit.actions[i]):
        bandit.loss[i, c, a] = 0.0
        bandit.weight[i, c, a] = 1.0
    bandit.total[i, c] = bandit.actions[i]
    bandit.round[i, c] = 0


@generics.draw.implement(WeightedFTRLState)
def draw(bandit, i, c, u):
    """Draw in proportion to the weights."""
    return drawn(bandit.weight[i, c], bandit.total[i, c], bandit.actions[i], u)


@generics.chance.implement(WeightedFTRLState)
def chance(bandit, i, c, a):
    """Return μ(a)."""
    return bandit.weight[i, c, a] * (1.0 / bandit.total[i, c])


@generics.spread.implement(WeightedFTRLState)
def spread(bandit, i, c, out):
    """Write μ."""
    shared(bandit.weight[i, c], bandit.total[i, c], bandit.actions[i], out)


@generics.lean.implement(WeightedFTRLState)
def lean(bandit, i, c, target, rounds, scale):
    """Begin with losses whose weights are the target; losses are normalised, whatever their scale."""
    n = bandit.actions[i]
    bandit.round[i, c] = int(rounds)
    if n == 1:
        return
    eta = bandit.rate[i] / math.sqrt(rounds)
    most = target[0]
    for b in range(1, n):
        most = max(most, target[b])
    for b in range(n):
        bandit.loss[i, c, b] = log(most / target[b]) / eta
        bandit.weight[i, c, b] = target[b] / most
    bandit.total[i, c] = 1.0 / most


@generics.feed.implement(WeightedFTRLState)
def feed(bandit, i, c, a, loss, prob):
    """Discount the past, add the loss estimate, and weigh all actions anew: their step size has changed."""
    bandit.round[i, c] += 1
    t = bandit.round[i, c]
    eta = bandit.rate[i] / math.sqrt(t)
    n = bandit.actions[i]
    decay = (t - 1.0) / (bandit.horizon + t - 1.0)
    for b in range(n):
        bandit.loss[i, c, b] *= decay
    bandit.loss[i, c, a] += loss / (prob + eta)
    least = bandit.loss[i, c, 0]
    for b in range(1, n):
        least = min(least, bandit.loss[i, c, b])
    total = 0.0
    for b in range(n):
        weight = exp(eta * (least - bandit.loss[i, c, b]))
        bandit.weight[i, c, b] = weight
        total += weight
    bandit.total[i, c] = total
