"""What a bandit is: a frozen description that says what one cell remembers, and how it begins.

A cell is one bandit problem, e.g. agent i at (h, s), and has one record. A new bandit is one file: parameters (a frozen
dataclass that derives from `Bandit`), the parameters that kernels read (a NamedTuple of plain numbers), and its kernels
`draw`, `spread`, `chance`, `feed`, `restart`, which are given the record of their cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

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

    def fields(self, actions: int) -> Fields:
        """Return the fields of a cell's record, with room for so many actions."""
        raise NotImplementedError

    def init(self, cells: Any, setting: Setting) -> Any:
        """Make records [..., N] ready for their first round; return what kernels read besides, a NamedTuple."""
        raise NotImplementedError

    def make(self, setting: Setting, number: int = 1) -> tuple[Any, Any]:
        """Return a bandit as kernels take it, and so many cells [number, N] that are ready for their first round.

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> from tacit.kernels import chance
        >>> bandit, cells = tacit.Exp3IX().make(tacit.kernels.Setting(np.array([2]), rounds=10, horizon=1, iota=1.0))
        >>> float(chance(bandit, cells[0, 0], 1))
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
