"""A bandit: a frozen description of what one cell remembers and how it begins.

A cell is one bandit problem, e.g. agent i at (h, s), and has one record. A new bandit is one file: parameters (a frozen
dataclass that derives from `Bandit`), the parameters that kernels read (a NamedTuple of plain numbers), and its kernels
`draw`, `probs`, `prob`, `update`, `restart`, which are given the record of their cell.

Bandits whose cells have `weight` with its sum `total`, or `prob`, beside `actions`, get their `draw`, `prob` and
`probs` here: `play_weights(MyParams)`, `play_probs(MyParams)`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

from tacit.core import generics
from tacit.core.records import Fields, capacity, records
from tacit.core.types import FloatArray, IntArray


class Setting(NamedTuple):
    """What a bandit knows of the cells that it is to serve.

    Attributes
    ----------
    actions : int array [N]
        Each agent's number of actions.
    rounds : int
        How many rounds the first stage of a cell has, where that is known.
    horizon : int
    iota : float
        ι of the theory.
    step : float or None
        The number c in η = c/√(A·T); None for the theory's.
    swap : bool
        Whether the bandit is a copy within one of swap regret.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.bandits import Setting
    >>> Setting(np.array([2, 3]), rounds=10, horizon=1, iota=1.0).agents
    2
    """

    actions: IntArray  # [N]  actions of each agent
    rounds: int  # rounds that every cell expects at first
    horizon: int  # H of the game, for bandits whose rates depend on it
    iota: float  # the logarithmic factor of the theory
    step: float | None = None  # constant of the step size, or None for the theory's
    swap: bool = False  # whether these cells are the copies within a bandit of swap regret

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)


@runtime_checkable
class Bandit(Protocol):
    """A bandit algorithm with its parameters. A frozen dataclass derives from this and overrides what differs.

    Examples
    --------
    >>> import tacit
    >>> tacit.bandits.Exp3IX().regret, tacit.bandits.Swap().regret
    ('external', 'swap')
    """

    @property
    def regret(self) -> str:
        """Which regret it keeps small: "external" (learns a cce) or "swap" (learns a ce)."""
        return "external"

    def fields(self, actions: int) -> Fields:
        """Return the fields of a cell's record, with room for so many actions."""
        raise NotImplementedError

    def init(self, cells: Any, setting: Setting) -> Any:
        """Make records [..., N] ready for their first round. Return what kernels read besides, a NamedTuple."""
        raise NotImplementedError

    def make(self, setting: Setting, number: int = 1) -> tuple[Any, Any]:
        """Return a bandit as kernels take it, and cells [number, N] before their first round.

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> from tacit.kernels import prob
        >>> setting = tacit.kernels.Setting(np.array([2]), rounds=10, horizon=1, iota=1.0)
        >>> bandit, cells = tacit.bandits.Exp3IX().make(setting)
        >>> float(prob(bandit, cells[0, 0], 1))
        0.5
        """
        cells = records((number, setting.agents), self.fields(capacity(max(setting.actions))))
        return self.init(cells, setting), cells


def is_bandit(value: object) -> TypeGuard[Bandit]:
    """Return whether something is a bandit, and not the class of one."""
    return isinstance(value, Bandit) and not isinstance(value, type)


def rate(setting: Setting, theory: FloatArray) -> FloatArray:
    """Return η·√rounds for each agent: the theory's, or step/√A_i."""
    chosen: FloatArray = theory if setting.step is None else setting.step / np.sqrt(setting.actions)
    return chosen


# drawing from a row of weights or probabilities, and writing it out ---------------------------------------------------

#: Up to this many actions it is faster to go through all of them than to stop at the one drawn.
FEW = 8


@generics.jitable
def pick(weights, total, n, u):
    """Draw one of n actions in proportion to `weights`. They sum to `total`; u is the uniform number."""
    left = u * total
    if len(weights) <= FEW:  # without branches: where a draw ends cannot be predicted
        chosen = 0
        for a in range(min(n, len(weights)) - 1):
            left -= weights[a]
            if not left < 0.0:
                chosen += 1
        return chosen
    for a in range(n - 1):
        left -= weights[a]
        if left < 0.0:
            return a
    return n - 1


@generics.jitable
def share(weights, total, n, out):
    """Write the weights divided by their sum. There is room for n at least, by which the compiler unrolls the loop."""
    scale = 1.0 / total
    for a in range(min(n, len(weights))):
        out[a] = weights[a] * scale


def draw_weight(bandit, cell, u):
    """Draw in proportion to the weights."""
    return pick(cell.weight, cell.total, cell.actions, u)


def weight_prob(bandit, cell, a):
    """Return the share of a weight."""
    return cell.weight[a] * (1.0 / cell.total)


def weight_probs(bandit, cell, out):
    """Write the shares of all weights."""
    share(cell.weight, cell.total, cell.actions, out)


def play_weights(kind):
    """Let cells that keep weights draw, and say what they play."""
    generics.draw.implement(kind)(draw_weight)
    generics.prob.implement(kind)(weight_prob)
    generics.probs.implement(kind)(weight_probs)


def draw_prob(bandit, cell, u):
    """Draw from the probabilities."""
    return pick(cell.prob, 1.0, cell.actions, u)


def stored_prob(bandit, cell, a):
    """Return a probability."""
    return cell.prob[a]


def stored_probs(bandit, cell, out):
    """Write all probabilities."""
    share(cell.prob, 1.0, cell.actions, out)


def play_probs(kind):
    """Let cells that keep probabilities draw, and say what they play."""
    generics.draw.implement(kind)(draw_prob)
    generics.prob.implement(kind)(stored_prob)
    generics.probs.implement(kind)(stored_probs)
