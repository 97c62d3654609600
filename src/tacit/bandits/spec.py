"""What a bandit is: a frozen description that makes the state of many cells at once.

A cell is one bandit problem, e.g. agent i at (h, s). A new bandit is one file: parameters (a frozen dataclass that
derives from `Bandit`), a state (a NamedTuple of arrays that declares their axes, see `core/axes.py`), and its kernels
`draw`, `spread`, `chance`, `feed`, `restart`, which touch no other cell than the one they are given.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

from tacit.core.types import FloatArray, IntArray


class Cells(NamedTuple):
    """The cells that a bandit is to serve.

    Attributes
    ----------
    actions : int array [N]
        Each agent's number of actions.
    number : int
        Cells of each agent, C.
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
    >>> from tacit.bandits import Cells
    >>> cells = Cells(np.array([2, 3]), number=4, rounds=10, horizon=1, iota=1.0, step=None)
    >>> cells.agents, cells.most
    (2, 3)
    """

    actions: IntArray  # [N]  actions of each agent
    number: int  # cells of each agent
    rounds: int  # rounds that every cell expects at first
    horizon: int  # H of the game, for bandits whose rates depend on it
    iota: float  # the logarithmic factor of the theory
    step: float | None  # constant of the step size, or None for the theory's
    swap: bool = False  # whether these cells are the copies within a bandit of swap regret

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    @property
    def most(self) -> int:
        """The largest number of actions: the width of arrays over actions."""
        return int(self.actions.max())


@runtime_checkable
class Bandit(Protocol):
    """A bandit algorithm with its parameters: a frozen dataclass derives from this and overrides what differs.

    Examples
    --------
    >>> import tacit
    >>> tacit.Exp3IX().regret, tacit.Swap().regret
    ('external', 'swap')
    """

    @property
    def regret(self) -> str:
        """Which regret it keeps small: "external" (learns a cce) or "swap" (learns a ce)."""
        return "external"

    def init(self, cells: Cells) -> Any:
        """Return the state of all cells, a NamedTuple of arrays, ready for their first round."""
        raise NotImplementedError


def is_bandit(value: object) -> TypeGuard[Bandit]:
    """Return whether something is a bandit, and not the class of one."""
    return isinstance(value, Bandit) and not isinstance(value, type)


def rate(cells: Cells, theory: FloatArray) -> FloatArray:
    """Return η·√rounds for each agent: the theory's, or step/√A_i."""
    chosen: FloatArray = theory if cells.step is None else cells.step / np.sqrt(cells.actions)
    return chosen
