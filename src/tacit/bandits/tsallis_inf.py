"""Tsallis-INF: follow the regularised leader with the 1/2-Tsallis entropy. [Zimmert, Seldin 2021, Alg. 1-2, Thm 1]

    η_t = 2/√t, μ(a) = 4/(η_t·(L(a) − x))² with x such that Σ μ = 1, L(a) ← L(a) + loss/prob

Expected regret ≤ 4·√(A·T) + 1 against any adversary, logarithmic against stochastic losses.

Deviations: x is found by Newton's method from min L − 2/η, where Σ μ ≥ 1: from there it falls monotonically to the
root.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.bandits.spec import Bandit, Setting, play_probs
from tacit.core import generics
from tacit.core.records import FIXED, NONNEGATIVE, Fields


@dataclass(frozen=True)
class TsallisINF(Bandit):
    """Tsallis-INF with importance-weighted losses; it needs to know neither the rounds nor ι.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.StageV(bandit=tacit.bandits.TsallisINF()).bandit
    TsallisINF()
    """

    def fields(self, actions: int) -> Fields:
        """Return what a cell remembers."""
        return [
            ("prob", NONNEGATIVE, actions),  # μ
            ("loss", "f8", actions),  # L
            ("rounds", "i8"),  # t
            ("actions", FIXED),
        ]

    def init(self, cells: Any, setting: Setting) -> TsallisINFParams:
        """Begin evenly; a step constant c stands for η_t = c/√t."""
        cells["prob"] = 1.0 / setting.actions[:, None]
        cells["actions"] = setting.actions
        return TsallisINFParams(2.0 if setting.step is None else float(setting.step))


class TsallisINFParams(NamedTuple):
    """What kernels read besides their cell."""

    rate: float  # η_t·√t


@generics.restart.implement(TsallisINFParams)
def restart(bandit, cell, rounds):
    """Forget the losses."""
    for a in range(cell.actions):
        cell.loss[a] = 0.0
        cell.prob[a] = 1.0 / cell.actions
    cell.rounds = 0


play_probs(TsallisINFParams)


@generics.update.implement(TsallisINFParams)
def update(bandit, cell, a, loss, prob):
    """Add the importance-weighted loss and solve for the next round's μ."""
    cell.loss[a] += loss / prob
    cell.rounds += 1
    eta = bandit.rate / math.sqrt(cell.rounds + 1)
    n = cell.actions
    least = cell.loss[0]
    for b in range(1, n):
        least = min(least, cell.loss[b])
    x = least - 2.0 / eta
    for _ in range(100):
        total = 0.0
        slope = 0.0
        for b in range(n):
            root = 2.0 / (eta * (cell.loss[b] - x))
            total += root * root
            slope += root * root * root
        move = (total - 1.0) / (eta * slope)
        x -= move
        if move <= 1e-14 * (least - x):
            break
    total = 0.0
    for b in range(n):
        root = 2.0 / (eta * (cell.loss[b] - x))
        cell.prob[b] = root * root
        total += root * root
    for b in range(n):
        cell.prob[b] /= total
