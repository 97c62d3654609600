"""Games with one state: the normal form, played once or repeated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.ownership import Owned
from tacit.games.tabular import TabularGame


def matrix_game(
    payoffs: npt.ArrayLike,
    *,
    horizon: int = 1,
    name: str | None = None,
    action_names: Sequence[Sequence[str]] | None = None,
) -> TabularGame:
    """Make a one-state game from a payoff tensor [N, A_1, …, A_N], played `horizon` times.

    Parameters
    ----------
    payoffs : array [N, A_1, …, A_N]
    horizon : int
        How many times it is played.
    name, action_names : optional
        For people: a name, and for each agent the names of its actions.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> tacit.matrix_game([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    TabularGame(2 agents, 1 state, 2×2 actions, horizon 1, rewards in [-1, 1])
    """
    tensor = check.array("payoffs", payoffs)
    if tensor.ndim < 2 or tensor.shape[0] != tensor.ndim - 1 or 0 in tensor.shape:
        raise TacitError(
            f"payoffs has shape {tensor.shape}; it must be [N, A_1, …, A_N], an action axis for each agent"
        )
    agents, *actions = tensor.shape
    flat = tensor.reshape(agents, -1)
    check.finite("payoffs", flat, ["i", ("joint", tuple(actions))])
    return TabularGame(
        Owned(np.ones((1, 1, *actions, 1))),
        Owned(tensor.reshape(agents, 1, 1, *actions)),
        [1.0],
        horizon,
        name=name,
        action_names=action_names,
    )


def MatrixTeam(*, horizon: int = 1) -> TabularGame:
    """The 3×3 team of the paper, with two optimal equilibria and a safe one between them. [Mao2022, tbl:1]

    It is the penalty game of Claus and Boutilier (1998) with penalty −10.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import MatrixTeam
    >>> MatrixTeam().reward_range
    (-10.0, 10.0)
    """
    team = [[10, 0, -10], [0, 2, 0], [-10, 0, 10]]
    return matrix_game(
        [team, team],
        horizon=horizon,
        name="matrix-team",
        action_names=[["a0", "a1", "a2"], ["b0", "b1", "b2"]],
    )
