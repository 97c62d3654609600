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
from typing import Annotated, NamedTuple

import numpy as np

from tacit.bandits.rows import drawn, jotted, shared
from tacit.bandits.spec import Bandit, Cells, rate
from tacit.core import check, generics
from tacit.core.elementary import exp
from tacit.core.types import FloatArray, IntArray


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
    >>> tacit.StageV(bandit="exp3-ix").bandit == tacit.Exp3IX()
    True
    """

    implicit: float = 0.5

    def __post_init__(self) -> None:
        check.real("implicit", self.implicit, least=0)

    def init(self, cells: Cells) -> Exp3IXState:
        """Make the state of all cells."""
        theory = np.sqrt(cells.iota / (np.ones(cells.agents) if cells.swap else cells.actions))
        return make(cells, rate(cells, theory), self.implicit)


class Exp3IXState(NamedTuple):
    """Weights of all cells."""

    loss: Annotated[FloatArray, "N C A"]  # η·L
    weight: Annotated[FloatArray, "N C A", ">= 0"]  # exp(reference − loss)
    total: Annotated[FloatArray, "N C"]  # sum of the weights
    reference: Annotated[FloatArray, "N C"]
    eta: Annotated[FloatArray, "N C", ">= 0"]  # step size of the running stage
    rate: Annotated[FloatArray, "N"]  # η·√rounds
    implicit: float  # γ/η
    actions: Annotated[IntArray, "N"]


def make(cells: Cells, rates: FloatArray, implicit: float) -> Exp3IXState:
    """Allocate the state; other members of the family differ in their rates only."""
    grid = (cells.agents, cells.number)
    return Exp3IXState(
        loss=np.zeros((*grid, cells.most)),
        weight=np.ones((*grid, cells.most)),
        total=np.ones(grid) * cells.actions[:, None],
        reference=np.zeros(grid),
        eta=np.ones(grid) * rates[:, None] / math.sqrt(cells.rounds),
        rate=rates,
        implicit=float(implicit),
        actions=cells.actions,
    )


generics.jot_cell.implement(Exp3IXState)(jotted)


@generics.restart.implement(Exp3IXState)
def restart(bandit, i, c, rounds):
    """Weigh all actions alike and set the step size."""
    for a in range(bandit.actions[i]):
        bandit.loss[i, c, a] = 0.0
        bandit.weight[i, c, a] = 1.0
    bandit.total[i, c] = bandit.actions[i]
    bandit.reference[i, c] = 0.0
    bandit.eta[i, c] = bandit.rate[i] / math.sqrt(rounds)


@generics.draw.implement(Exp3IXState)
def draw(bandit, i, c, u):
    """Draw in proportion to the weights."""
    return drawn(bandit.weight[i, c], bandit.total[i, c], bandit.actions[i], u)


@generics.chance.implement(Exp3IXState)
def chance(bandit, i, c, a):
    """Return μ(a)."""
    return bandit.weight[i, c, a] * (1.0 / bandit.total[i, c])


@generics.spread.implement(Exp3IXState)
def spread(bandit, i, c, out):
    """Write μ."""
    shared(bandit.weight[i, c], bandit.total[i, c], bandit.actions[i], out)


@generics.feed.implement(Exp3IXState)
def feed(bandit, i, c, a, loss, prob):
    """Add the loss estimate of the action played."""
    eta = bandit.eta[i, c]
    grown = bandit.loss[i, c, a] + eta * loss / (prob + bandit.implicit * eta)
    bandit.loss[i, c, a] = grown
    weight = exp(bandit.reference[i, c] - grown)
    total = bandit.total[i, c] + (weight - bandit.weight[i, c, a])
    bandit.weight[i, c, a] = weight
    bandit.total[i, c] = total
    if total < 0.5:
        renew(bandit, i, c)


@generics.jitable
def renew(bandit, i, c):
    """Compute all weights anew, relative to the smallest loss."""
    least = bandit.loss[i, c, 0]
    for a in range(1, bandit.actions[i]):
        least = min(least, bandit.loss[i, c, a])
    total = 0.0
    for a in range(bandit.actions[i]):
        weight = exp(least - bandit.loss[i, c, a])
        bandit.weight[i, c, a] = weight
        total += weight
    bandit.reference[i, c] = least
    bandit.total[i, c] = total
