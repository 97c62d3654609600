"""Congestion on parallel links, with a road that wears out under traffic.

Source: R. W. Rosenthal, "A class of games possessing pure-strategy Nash equilibria", International Journal of Game
Theory 2, 1973: who shares a link pays a latency that depends on how many do. The state, and what traffic does to it,
are ours, after the Markov congestion games of Q. Cui, Z. Xiong, M. Fazel and S. Du, "Learning in congestion games with
bandit feedback", 2022.
"""

from __future__ import annotations

import numpy as np

from tacit.core import check, limits
from tacit.core.types import FloatArray, IntArray
from tacit.games.count import CountGame, check_size


def Congestion(
    *,
    agents: int = 20,
    links: int = 2,
    states: int = 3,
    horizon: int = 5,
    damage: float = 0.5,
    wear: float = 0.8,
    repair: float = 0.6,
) -> CountGame:
    """Drivers choose among parallel links; the fast one wears out under traffic. [Rosenthal 1973]

    With a share x of all agents on link j, each of them pays the latency j/(2·links − 2) + x, and on link 0 in state s
    (1 + damage·s)·x instead. Link 0 gets worse by one state with probability wear·x_0, and better with probability
    repair·(1 − x_0). The first state is the best.

    Parameters
    ----------
    agents, links, states, horizon : int
    damage, wear, repair : float
        How much slower link 0 is in each worse state, and how readily it gets worse and better.

    Returns
    -------
    CountGame

    Examples
    --------
    >>> from tacit.games import Congestion
    >>> Congestion(agents=1000)
    CountGame('congestion': 1000 agents, 3 states, 2 actions each, horizon 5, rewards in [-2, -0.001])
    """
    agents = limits.integer("agents", agents)
    links = limits.integer("links", links, least=2, most=limits.ACTIONS)
    states = limits.integer("states", states)
    check_size(agents, links, states, load=True, scores=(0, 1))
    damage = check.real("damage", damage, least=0)
    wear, repair = check.real("wear", wear, least=0, most=1), check.real("repair", repair, least=0, most=1)

    def reward(h: int, s: int, a: int, n: IntArray) -> FloatArray:
        slope = 1 + damage * s if a == 0 else 1.0
        return -(a / (2 * links - 2) + slope * (n / agents))

    def move(h: int, s: int, x: IntArray) -> FloatArray:
        share = x / agents
        worse = wear * share if s + 1 < states else 0 * share
        better = repair * (1 - share) * (1 - worse) if s > 0 else 0 * share
        return np.stack(
            [(t == s + 1) * worse + (t == s - 1) * better + (t == s) * (1 - worse - better) for t in range(states)]
        )

    return CountGame(
        reward,
        move,
        [1.0] + [0.0] * (states - 1),
        horizon,
        agents=agents,
        actions=links,
        load=True,
        stationary=True,
        scores=[1] + [0] * (links - 1),
        name="congestion",
        state_names=[f"damage {s}" for s in range(states)],
        action_names=[f"link {j}" for j in range(links)],
    )
