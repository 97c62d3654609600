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
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from tacit.bandits.exp3_ix import Exp3IX
from tacit.bandits.rows import drawn, jotted, shared
from tacit.bandits.spec import Bandit, Cells, is_bandit
from tacit.core import generics
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray


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
    >>> tacit.StageV(bandit=tacit.Swap(tacit.TsallisINF())).equilibrium
    'ce'
    """

    regret: ClassVar[str] = "swap"

    base: Bandit = field(default_factory=lambda: Exp3IX(implicit=1.0))

    def __post_init__(self) -> None:
        if not is_bandit(self.base) or self.base.regret != "external":
            raise TacitError(f"base is {self.base!r}; it must be a bandit of external regret")

    def init(self, cells: Cells) -> SwapState:
        """Make the state of all cells."""
        most = cells.most
        grid = (cells.agents, cells.number)
        return SwapState(
            base=self.base.init(cells._replace(number=cells.number * most, swap=True)),
            prob=np.ones((*grid, most)) / cells.actions[:, None, None],
            proposals=np.zeros((cells.agents, most, most)),
            width=most,
            actions=cells.actions,
        )


class SwapState(NamedTuple):
    """The copies and the distributions of all cells."""

    base: Any  # state of the base bandit, cell c·A + b for copy b of cell c
    prob: Annotated[FloatArray, "N C A", ">= 0"]  # p
    proposals: Annotated[FloatArray, "N A A"]  # room for q of one cell
    width: int  # A
    actions: Annotated[IntArray, "N"]


generics.jot_cell.implement(SwapState)(jotted)


@generics.restart.implement(SwapState)
def restart(bandit, i, c, rounds):
    """Restart all copies."""
    for b in range(bandit.actions[i]):
        generics.restart(bandit.base, i, c * bandit.width + b, rounds)
        bandit.prob[i, c, b] = 1.0 / bandit.actions[i]


@generics.draw.implement(SwapState)
def draw(bandit, i, c, u):
    """Draw from p."""
    return drawn(bandit.prob[i, c], 1.0, bandit.actions[i], u)


@generics.chance.implement(SwapState)
def chance(bandit, i, c, a):
    """Return p(a)."""
    return bandit.prob[i, c, a]


@generics.spread.implement(SwapState)
def spread(bandit, i, c, out):
    """Write p."""
    shared(bandit.prob[i, c], 1.0, bandit.actions[i], out)


@generics.lean.implement(SwapState)
def lean(bandit, i, c, target, rounds, scale):
    """Let all copies propose the target, of which it then is the stationary distribution."""
    for b in range(bandit.actions[i]):
        generics.lean(bandit.base, i, c * bandit.width + b, target, rounds, scale * target[b])
        bandit.prob[i, c, b] = target[b]


@generics.feed.implement(SwapState)
def feed(bandit, i, c, a, loss, prob):
    """Charge every copy its share, and find the stationary distribution of the new proposals."""
    n = bandit.actions[i]
    for b in range(n):
        cell = c * bandit.width + b
        generics.feed(bandit.base, i, cell, a, bandit.prob[i, c, b] * loss, prob)
        generics.spread(bandit.base, i, cell, bandit.proposals[i, b])
    stationary(bandit.proposals[i], n, bandit.prob[i, c])


@generics.regret.implement(SwapState)
def regret(bandit, i, c):
    """Return the sum over the copies, where the base estimates its own."""
    total = 0.0
    for b in range(bandit.actions[i]):
        total += generics.regret(bandit.base, i, c * bandit.width + b)
    return total


@generics.jitable
def stationary(q, n, out):
    """Write the stationary distribution of the n×n stochastic matrix q into `out`; q is overwritten. (GTH)"""
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
