"""Radios that share channels with a licensed user.

Source: N. Abramson, "The ALOHA system", 1970, for the chance that a packet gets through where n radios send at random
times in slots; the licensed user who moves among the channels is that of opportunistic spectrum access, Q. Zhao,
L. Tong, A. Swami and Y. Chen, 2007.
"""

from __future__ import annotations

import numpy as np

from tacit.core import check, limits
from tacit.core.types import FloatArray, IntArray
from tacit.games.count import CountGame, check_size


def Spectrum(
    *, agents: int = 8, channels: int = 4, horizon: int = 5, occupied: float = 0.2, move: float = 0.3
) -> CountGame:
    """Radios choose channels, collide on them, and avoid the licensed user's. [Abramson 1970]

    In each slot a radio sends with probability p = min(1, channels/agents), and its packet gets through if nobody else
    on the channel sends: with n radios on it the reward is (1 − p)^(n−1), and `occupied` times that on the channel
    where the licensed user is. That channel is the state; with probability `move` the licensed user takes another.

    Parameters
    ----------
    agents, channels, horizon : int
    occupied : float
        What is left of the reward on the licensed user's channel.
    move : float
        Probability that the licensed user takes another channel.

    Returns
    -------
    CountGame

    Examples
    --------
    >>> from tacit.games import Spectrum
    >>> Spectrum(agents=100)
    CountGame('spectrum': 100 agents, 4 states, 4 actions each, horizon 5, rewards in [0.00351465, 1])
    """
    agents = limits.integer("agents", agents)
    channels = limits.integer("channels", channels, least=2, most=limits.ACTIONS)
    check_size(agents, channels, channels, load=True, scores=(0, 0))
    occupied, move = check.real("occupied", occupied, least=0, most=1), check.real("move", move, least=0, most=1)
    sends = min(1.0, channels / agents)

    def reward(h: int, s: int, a: int, n: IntArray) -> FloatArray:
        powers = np.cumprod(np.append(1.0, np.full(n.max(), 1 - sends)))  # np.power differs from processor to processor
        through: FloatArray = powers[n - 1]
        return occupied * through if a == s else through

    def wander(h: int, s: int, x: IntArray) -> FloatArray:
        row = np.full(channels, move / (channels - 1))
        row[s] = 1 - move
        same: FloatArray = np.multiply.outer(row, np.ones_like(x, dtype=float))
        return same

    return CountGame(
        reward,
        wander,
        np.full(channels, 1 / channels),
        horizon,
        agents=agents,
        actions=channels,
        load=True,
        stationary=True,
        scores=[0] * channels,  # the licensed user minds nobody
        name="spectrum",
        state_names=[f"channel {c} taken" for c in range(channels)],
        action_names=[f"channel {c}" for c in range(channels)],
    )
