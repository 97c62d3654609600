"""Exp3 with implicit exploration. [Mao2022, Alg. 1, l. 8-10; Neu 2015]

    η = √(ι/(A·T)), γ = η/2   (as a copy within a bandit of swap regret: η = √(ι/T) [Mao2022, Alg. 6])
    L(a) ← L(a) + loss/(prob + γ) for the action played
    μ(a) ∝ exp(−η·L(a))

Deviations: none in what is computed. The weights exp(−η·L) are kept relative to a reference that follows the smallest
η·L, so that only the weight of the played action changes in a round: one exponential. When the sum of the weights falls
below 1/2, all are computed anew from η·L, which also keeps the error of the running sum at rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import Bandit, Setting, play_weights, rate
from tacit.core import check, generics
from tacit.core.elementary import exp
from tacit.core.records import FIXED, NONNEGATIVE, Fields


@dataclass(frozen=True)
class Exp3IX(Bandit):
    """Exp3 with implicit exploration γ = `implicit`·η.

    Parameters
    ----------
    implicit : float
        γ in units of η.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.StageV(bandit="exp3-ix").bandit == tacit.bandits.Exp3IX()
    True
    """

    implicit: float = 0.5

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.real("implicit", self.implicit, least=0)

    def fields(self, actions: int) -> Fields:
        """Return what a cell remembers."""
        return [
            ("weight", NONNEGATIVE, actions),  # exp(reference − loss)
            ("loss", "f8", actions),  # η·L
            ("total", "f8"),  # sum of the weights
            ("reference", "f8"),
            ("eta", NONNEGATIVE),  # step size of the running stage
            ("actions", FIXED),
            ("rate", "f8"),  # η·√rounds
        ]

    def init(self, cells: Any, setting: Setting) -> Exp3IXParams:
        """Weigh all actions alike."""
        theory = np.sqrt(setting.iota / (np.ones(setting.agents) if setting.swap else setting.actions))
        rates = rate(setting, theory)
        cells["weight"] = 1.0
        cells["total"] = cells["actions"] = setting.actions
        cells["eta"] = rates / math.sqrt(setting.rounds)
        cells["rate"] = rates
        return Exp3IXParams(float(self.implicit))


class Exp3IXParams(NamedTuple):
    """What kernels read besides their cell."""

    implicit: float  # γ/η


@generics.restart.implement(Exp3IXParams)
def restart(bandit, cell, rounds):
    """Weigh all actions alike and set the step size."""
    for a in range(cell.actions):
        cell.loss[a] = 0.0
        cell.weight[a] = 1.0
    cell.total = cell.actions
    cell.reference = 0.0
    cell.eta = cell.rate / math.sqrt(rounds)


play_weights(Exp3IXParams)


@generics.update.implement(Exp3IXParams)
def update(bandit, cell, a, loss, prob):
    """Add the loss estimate of the action played."""
    eta = cell.eta
    grown = cell.loss[a] + eta * loss / (prob + bandit.implicit * eta)
    cell.loss[a] = grown
    weight = exp(cell.reference - grown)
    total = cell.total + (weight - cell.weight[a])
    cell.weight[a] = weight
    cell.total = total
    if total < 0.5:
        renew(cell)


@generics.jitable
def renew(cell):
    """Compute all weights anew, relative to the smallest loss."""
    least = cell.loss[0]
    for a in range(1, cell.actions):
        least = min(least, cell.loss[a])
    total = 0.0
    for a in range(cell.actions):
        weight = exp(least - cell.loss[a])
        cell.weight[a] = weight
        total += weight
    cell.reference = least
    cell.total = total
