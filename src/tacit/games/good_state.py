"""GoodState: a two-state team that has to keep agreeing on one joint action. [Mao2022, tbl:2]"""

from __future__ import annotations

import numpy as np

from tacit.core import check
from tacit.games.tabular import TabularGame


def GoodState(*, horizon: int = 10, slip: float = 0.1, start: str = "s0") -> TabularGame:
    """Two states, two agents: (a0, b1) leads to the good state, everything else to the bad one.

    Parameters
    ----------
    horizon : int
        Steps in an episode; the paper plays 10.
    slip : float
        Probability of going to the other state than intended (the paper's ε = 0.1).
    start : {"s0", "s1", "uniform"}
        First state; the paper does not give it.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import GoodState
    >>> GoodState()
    TabularGame('good-state': 2 agents, 2 states, 2×2 actions, horizon 10, rewards in [-2, 5])
    """
    slip = check.real("slip", slip, least=0, most=1)
    check.choice("start", start, ["s0", "s1", "uniform"])
    to_good = np.full((2, 2), slip)
    to_good[0, 1] = 1 - slip
    transitions = np.empty((1, 2, 2, 2, 2))
    transitions[..., 0] = to_good
    transitions[..., 1] = 1 - to_good
    team = np.array([[[-2, 5], [2, -2]], [[0, 0], [0, 0]]], dtype=float)
    initial = {"s0": [1.0, 0.0], "s1": [0.0, 1.0], "uniform": [0.5, 0.5]}[start]
    return TabularGame(
        transitions,
        np.stack([team, team])[:, None],
        initial,
        horizon,
        name="good-state",
        state_names=["s0", "s1"],
        action_names=[["a0", "a1"], ["b0", "b1"]],
    )
