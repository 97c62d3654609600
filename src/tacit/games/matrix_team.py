"""The matrix team of the paper's first experiment. [Mao2022, tbl:1]"""

from __future__ import annotations

from tacit.games.matrix import matrix_game
from tacit.games.tabular import TabularGame


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
