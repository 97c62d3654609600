"""No swap regret from any bandit without external regret. [Mao2022, Alg. 5; Blum, Mansour 2007]

One copy of the base bandit for each action b; copy b proposes q(·|b), is charged the share p(b) of every loss, and p is
the stationary distribution of the proposals: p = Σ_b p(b)·q(·|b). With Exp3-IX of γ = η as base this is Alg. 5, and the
bandit of Alg. 6.

Deviations: [Mao2022, Alg. 6] prints the indicator I{a_h = a}; as in Alg. 5 the charge goes to the column of the action
that was played. The stationary distribution comes from the algorithm of Grassmann, Taksar and Heyman, which subtracts
nothing and so loses no digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacit.bandits.exp3_ix import Exp3IX
from tacit.bandits.spec import Bandit, Setting, is_bandit, play_probs
from tacit.core import generics
from tacit.core.errors import TacitError
from tacit.core.records import FIXED, NONNEGATIVE, Fields, record
from tacit.core.types import FloatArray


@dataclass(frozen=True)
class Swap(Bandit):
    """Blum and Mansour's reduction over a `base` of small external regret.

    Parameters
    ----------
    base : Bandit
        A bandit of small external regret.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.StageV(bandit=tacit.bandits.Swap(tacit.bandits.TsallisINF())).info.learns
    'ce'
    """

    regret: ClassVar[str] = "swap"

    base: Bandit = field(default_factory=lambda: Exp3IX(implicit=1.0))

    def __post_init__(self) -> None:
        if not is_bandit(self.base) or self.base.regret != "external":
            raise TacitError(f"base must be a bandit of external regret; got {self.base!r}")

    def fields(self, actions: int) -> Fields:
        """Return what a cell remembers."""
        return [
            ("prob", NONNEGATIVE, actions),  # p
            ("actions", FIXED),
            ("copies", record(self.base.fields(actions)), actions),  # copy b of the base bandit for action b
        ]

    def init(self, cells: Any, setting: Setting) -> SwapParams:
        """Begin evenly, and so do the copies."""
        cells["prob"] = 1.0 / setting.actions[:, None]
        cells["actions"] = setting.actions
        copies = cells["copies"]
        width = copies.shape[-1]
        base = self.base.init(np.moveaxis(copies, -1, 0), setting._replace(swap=True))
        return SwapParams(base, np.zeros((width, width)))


class SwapParams(NamedTuple):
    """What kernels read besides their cell."""

    base: Any  # the same of the base bandit
    proposals: FloatArray  # [A, A]  scratch for q of one cell


@generics.restart.implement(SwapParams)
def restart(bandit, cell, rounds):
    """Restart all copies."""
    for b in range(cell.actions):
        generics.restart(bandit.base, cell.copies[b], rounds)
        cell.prob[b] = 1.0 / cell.actions


play_probs(SwapParams)


@generics.update.implement(SwapParams)
def update(bandit, cell, a, loss, prob):
    """Charge every copy its share, and find the stationary distribution of the new proposals."""
    n = cell.actions
    for b in range(n):
        copy = cell.copies[b]
        generics.update(bandit.base, copy, a, cell.prob[b] * loss, prob)
        generics.probs(bandit.base, copy, bandit.proposals[b])
    stationary(bandit.proposals, n, cell.prob)


@generics.regret.implement(SwapParams)
def regret(bandit, cell):
    """Return the sum over the copies, where the base estimates its own."""
    total = 0.0
    for b in range(cell.actions):
        total += generics.regret(bandit.base, cell.copies[b])
    return total


@generics.jitable
def stationary(q, n, out):
    """Write the stationary distribution of the n×n stochastic matrix q into `out`. The matrix is overwritten. (GTH)"""
    for k in range(n - 1, 0, -1):
        leaving = 0.0
        for j in range(k):
            leaving += q[k, j]
        leaving = max(leaving, 1e-290)  # an action that is never left
        for j in range(k):
            share = q[j, k] / leaving
            q[j, k] = share
            for m in range(k):
                q[j, m] += share * q[k, m]
    total = 1.0
    out[0] = 1.0
    for k in range(1, n):
        mass = 0.0
        for j in range(k):
            mass += out[j] * q[j, k]
        if mass > 1e100:  # keep what follows within range
            for j in range(k):
                out[j] /= mass
            total /= mass
            mass = 1.0
        out[k] = mass
        total += mass
    for k in range(n):
        out[k] /= total
