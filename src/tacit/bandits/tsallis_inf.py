"""Tsallis-INF: follow the regularised leader with the 1/2-Tsallis entropy. [Zimmert, Seldin 2021, Alg. 1-2, Thm 1]

    η_t = 2/√t, μ(a) = 4/(η_t·(L(a) − x))² with x such that Σ μ = 1, L(a) ← L(a) + loss/prob

Expected regret ≤ 4·√(A·T) + 1 against any adversary, logarithmic against stochastic losses.

Deviations: x is found by Newton's method from min L − 2/η, where Σ μ ≥ 1: from there it falls monotonically to the
root.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from tacit.bandits.rows import drawn, jotted, shared
from tacit.bandits.spec import Bandit, Cells
from tacit.core import generics
from tacit.core.types import FloatArray, IntArray


@dataclass(frozen=True)
class TsallisINF(Bandit):
    """Tsallis-INF with importance-weighted losses; it needs to know neither the rounds nor ι.

    Examples
    --------
    >>> import tacit
    >>> tacit.StageV(bandit=tacit.TsallisINF()).bandit
    TsallisINF()
    """

    def init(self, cells: Cells) -> TsallisINFState:
        """Make the state of all cells; a step constant c stands for η_t = c/√t."""
        grid = (cells.agents, cells.number)
        return TsallisINFState(
            loss=np.zeros((*grid, cells.most)),
            prob=np.ones((*grid, cells.most)) / cells.actions[:, None, None],
            round=np.zeros(grid, dtype=np.int64),
            rate=2.0 if cells.step is None else float(cells.step),
            actions=cells.actions,
        )


class TsallisINFState(NamedTuple):
    """Losses and distributions of all cells."""

    loss: Annotated[FloatArray, "N C A"]  # L
    prob: Annotated[FloatArray, "N C A", ">= 0"]  # μ
    round: Annotated[IntArray, "N C"]  # t
    rate: float  # η_t·√t
    actions: Annotated[IntArray, "N"]


generics.jot_cell.implement(TsallisINFState)(jotted)


@generics.restart.implement(TsallisINFState)
def restart(bandit, i, c, rounds):
    """Forget the losses."""
    for a in range(bandit.actions[i]):
        bandit.loss[i, c, a] = 0.0
        bandit.prob[i, c, a] = 1.0 / bandit.actions[i]
    bandit.round[i, c] = 0


@generics.draw.implement(TsallisINFState)
def draw(bandit, i, c, u):
    """Draw from μ."""
    return drawn(bandit.prob[i, c], 1.0, bandit.actions[i], u)


@generics.chance.implement(TsallisINFState)
def chance(bandit, i, c, a):
    """Return μ(a)."""
    return bandit.prob[i, c, a]


@generics.spread.implement(TsallisINFState)
def spread(bandit, i, c, out):
    """Write μ."""
    shared(bandit.prob[i, c], 1.0, bandit.actions[i], out)


@generics.lean.implement(TsallisINFState)
def lean(bandit, i, c, target, rounds, scale):
    """Begin with losses whose leader is the target; losses are normalised, whatever their scale."""
    bandit.round[i, c] = int(rounds)
    eta = bandit.rate / math.sqrt(rounds + 1.0)
    for b in range(bandit.actions[i]):
        bandit.loss[i, c, b] = 2.0 / (eta * math.sqrt(target[b]))
        bandit.prob[i, c, b] = target[b]


@generics.feed.implement(TsallisINFState)
def feed(bandit, i, c, a, loss, prob):
    """Add the importance-weighted loss and solve for the next round's μ."""
    bandit.loss[i, c, a] += loss / prob
    bandit.round[i, c] += 1
    eta = bandit.rate / math.sqrt(bandit.round[i, c] + 1)
    n = bandit.actions[i]
    least = bandit.loss[i, c, 0]
    for b in range(1, n):
        least = min(least, bandit.loss[i, c, b])
    x = least - 2.0 / eta
    for _ in range(100):
        total = 0.0
        slope = 0.0
        for b in range(n):
            root = 2.0 / (eta * (bandit.loss[i, c, b] - x))
            total += root * root
            slope += root * root * root
        move = (total - 1.0) / (eta * slope)
        x -= move
        if move <= 1e-14 * (least - x):
            break
    total = 0.0
    for b in range(n):
        root = 2.0 / (eta * (bandit.loss[i, c, b] - x))
        bandit.prob[i, c, b] = root * root
        total += root * root
    for b in range(n):
        bandit.prob[i, c, b] /= total
