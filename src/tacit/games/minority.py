"""The El Farol bar, whose room depends on how the last nights went.

Source: W. B. Arthur, "Inductive reasoning and bounded rationality", American Economic Review 84, 1994, and as the
minority game D. Challet and Y.-C. Zhang, "Emergence of cooperation and organization in an evolutionary game", 1997. The
state, how much room there is, is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core import check, limits
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.games.count import CountGame


def Minority(
    *, agents: int = 21, room: Sequence[float] = (0.6, 0.5, 0.4), horizon: int = 5, change: float = 0.8
) -> CountGame:
    """Stay at home, or go to a bar that is fun unless too many go. [Arthur 1994]

    Staying pays 0. In state s, going pays 1 if at most a share room[s] of all agents goes, and −1 if more do. After a
    crowded night the next state is s + 1 with probability `change`, after one that was not s − 1; otherwise, and at the
    ends, it stays. The first state is 0.

    Parameters
    ----------
    agents, horizon : int
    room : sequence of float
        In each state, the share of all agents that has room.
    change : float
        Probability of a change of the state.

    Returns
    -------
    CountGame

    Examples
    --------
    >>> from tacit.games import Minority
    >>> Minority()
    CountGame('minority': 21 agents, 3 states, 2 actions each, horizon 5, rewards in [-1, 1])
    """
    agents = limits.integer("agents", agents)
    if isinstance(room, str) or not isinstance(room, Sequence | np.ndarray) or len(room) == 0:
        raise TacitError(f"room is {brief(room)}; it must be a list with a share of the agents for each state")
    shares = [check.real(f"room[{s}]", share, least=0, most=1) for s, share in enumerate(room)]
    change, states = check.real("change", change, least=0, most=1), len(shares)

    def reward(h: int, s: int, a: int, n: IntArray) -> FloatArray:
        return a * np.where(n <= shares[s] * agents, 1.0, -1.0)

    def turn(h: int, s: int, x: IntArray) -> FloatArray:
        crowded = x > shares[s] * agents
        to = np.where(crowded, min(s + 1, states - 1), max(s - 1, 0))
        each = np.arange(states).reshape(-1, *[1] * np.ndim(x))
        moved: FloatArray = change * (each == to) + (1 - change) * (each == s)
        return moved

    return CountGame(
        reward,
        turn,
        np.eye(states)[0],
        horizon,
        agents=agents,
        actions=2,
        load=True,
        stationary=True,
        scores=[0, 1],
        name="minority",
        state_names=[
            f"room for {share:g}" if shares.count(share) == 1 else f"state {s}" for s, share in enumerate(shares)
        ],
        action_names=["stay", "go"],
    )
