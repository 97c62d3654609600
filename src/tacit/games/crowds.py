"""Crowds: counting games of any number of agents.

Sources. Congestion on parallel links: R. W. Rosenthal, "A class of games possessing pure-strategy Nash equilibria",
International Journal of Game Theory 2, 1973: who shares a link pays a latency that depends on how many do. The state,
and what traffic does to it, are ours, after the Markov congestion games of Q. Cui, Z. Xiong, M. Fazel and S. Du,
"Learning in congestion games with bandit feedback", 2022. Radios that share channels with a licensed user: N. Abramson,
"The ALOHA system", 1970, for the chance that a packet gets through where n radios send at random times in slots; the
licensed user who moves among the channels is that of opportunistic spectrum access, Q. Zhao, L. Tong, A. Swami and
Y. Chen, 2007. The El Farol bar: W. B. Arthur, "Inductive reasoning and bounded rationality", American Economic Review
84, 1994, and as the minority game D. Challet and Y.-C. Zhang, "Emergence of cooperation and organization in an
evolutionary game", 1997; the state, how much room there is, is ours. Distancing: S. Leonardos, W. Overman, I. Panageas
and G. Piliouras, "Global convergence of multi-agent policy gradient in Markov potential games", 2021; there discounted,
here with a finite horizon.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core import check, memory
from tacit.core.types import FloatArray
from tacit.games.count import CountGame, check_size, count_vectors
from tacit.games.exact import Successors
from tacit.games.tabular import TabularGame, check_axes


def congestion(
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
    >>> import tacit
    >>> tacit.make("congestion", agents=1000)
    CountGame('congestion': 1000 agents, 3 states, 2 actions each, horizon 5, rewards in [-2, -0.001])
    """
    agents = check.integer("agents", agents)
    links = check.integer("links", links, least=2, most=check.ACTIONS)
    states = check.integer("states", states)
    check_size(agents, links, states, load=True, scores=(0, 1))
    damage = check.real("damage", damage, least=0)
    wear, repair = check.real("wear", wear, least=0, most=1), check.real("repair", repair, least=0, most=1)

    share = np.arange(agents + 1) / agents
    rewards = [
        [-(j / (2 * links - 2) + (1 + damage * s if j == 0 else 1.0) * share) for j in range(links)]
        for s in range(states)
    ]
    moves = np.zeros((states, agents + 1, states))
    for s in range(states):
        worse = wear * share if s + 1 < states else 0 * share
        better = repair * (1 - share) * (1 - worse) if s > 0 else 0 * share
        for s_next, prob in ((s + 1, worse), (s - 1, better), (s, 1 - worse - better)):
            if 0 <= s_next < states:
                moves[s, :, s_next] = prob
    return CountGame(
        [rewards],
        moves[None],
        [1.0] + [0.0] * (states - 1),
        horizon,
        agents=agents,
        actions=links,
        load=True,
        scores=[1] + [0] * (links - 1),
        name="congestion",
        state_names=[f"damage {s}" for s in range(states)],
        action_names=[f"link {j}" for j in range(links)],
    )


def spectrum(
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
    >>> import tacit
    >>> tacit.make("spectrum", agents=100)
    CountGame('spectrum': 100 agents, 4 states, 4 actions each, horizon 5, rewards in [0.00351465, 1])
    """
    agents = check.integer("agents", agents)
    channels = check.integer("channels", channels, least=2, most=check.ACTIONS)
    check_size(agents, channels, channels, load=True, scores=(0, 0))
    occupied, move = check.real("occupied", occupied, least=0, most=1), check.real("move", move, least=0, most=1)
    sends = min(1.0, channels / agents)

    through = np.cumprod(np.append(1.0, np.full(agents, 1 - sends)))  # np.power differs from processor to processor
    rewards = np.tile(np.roll(through, 1), (channels, channels, 1))  # [s, a, n], where n − 1 others are on the channel
    rewards[range(channels), range(channels)] *= occupied
    wander = np.full((channels, channels), move / (channels - 1))
    np.fill_diagonal(wander, 1 - move)
    return CountGame(
        rewards[None],
        wander[None, :, None],
        np.full(channels, 1 / channels),
        horizon,
        agents=agents,
        actions=channels,
        load=True,
        scores=[0] * channels,  # the licensed user minds nobody
        name="spectrum",
        state_names=[f"channel {c} taken" for c in range(channels)],
        action_names=[f"channel {c}" for c in range(channels)],
    )


def minority(
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
    >>> import tacit
    >>> tacit.make("minority")
    CountGame('minority': 21 agents, 3 states, 2 actions each, horizon 5, rewards in [-1, 1])
    """
    agents = check.integer("agents", agents)
    each = check.list_of("room", room, "shares of the agents, one for each state", least=1)
    shares = [check.real(f"room[{s}]", share, least=0, most=1) for s, share in enumerate(each)]
    change, states = check.real("change", change, least=0, most=1), len(shares)

    n = np.arange(agents + 1)
    rewards, moves = np.zeros((states, 2, agents + 1)), np.zeros((states, agents + 1, states))
    for s, most in enumerate(shares):
        crowded = n > most * agents
        rewards[s, 1] = np.where(crowded, -1.0, 1.0)
        moves[s, n, np.where(crowded, min(s + 1, states - 1), max(s - 1, 0))] = change
        moves[s, :, s] += 1 - change
    return CountGame(
        rewards[None],
        moves[None],
        np.eye(states)[0],
        horizon,
        agents=agents,
        actions=2,
        load=True,
        scores=[0, 1],
        name="minority",
        state_names=[
            f"room for {share:g}" if shares.count(share) == 1 else f"state {s}" for s, share in enumerate(shares)
        ],
        action_names=["stay", "go"],
    )


#: Joint actions up to which the game comes as tables unless it is asked for otherwise.
_MOST_JOINT = 2**20


def distancing(
    *,
    agents: int = 8,
    weights: Sequence[float] = (1, 2, 4, 6),
    horizon: int = 10,
    penalty: float = 100,
    form: str = "auto",
) -> TabularGame | CountGame:
    """Agents like company at a facility, but crowding leads to the distancing state. [Leonardos et al. 2021]

    An agent at facility j with n_j agents gets w_j·n_j in the safe state, and w_j·n_j − penalty in the distancing
    state. Safe leads to distancing iff some facility has more than N/2 agents; distancing leads to safe iff none has
    more than N/4. The first state is uniform. `form` is "tables" over joint actions, "counts", or "auto": tables up to
    a million joint actions.

    Parameters
    ----------
    agents, horizon : int
    weights : sequence of float
        What each facility is worth.
    penalty : float
    form : {"auto", "tables", "counts"}

    Returns
    -------
    TabularGame or CountGame

    Examples
    --------
    >>> import tacit
    >>> tacit.make("distancing", agents=3, weights=[1, 2])
    TabularGame('distancing': 3 agents, 2 states, 2×2×2 actions, horizon 10, rewards in [-99, 6])
    """
    agents = check.integer("agents", agents)
    penalty = check.real("penalty", penalty)
    each = check.list_of("weights", weights, "numbers, one for each facility", least=1)
    worth = np.array([check.real(f"weights[{j}]", w) for j, w in enumerate(each)])
    facilities = len(worth)
    names = [f"facility {j}" for j in range(facilities)]
    by_counts = facilities**agents > _MOST_JOINT
    if check.choice("form", form, ["auto", "tables", "counts"]) == "counts" or (form == "auto" and by_counts):
        return _counting(agents, worth, horizon, penalty, names)
    joint = facilities**agents
    # rewards, the count of each facility, and the successor lists with their offsets
    size = memory.floats(2 * agents + facilities + 8, joint)
    memory.require(size, f"the distancing game with {agents} agents at {facilities} facilities")

    check_axes(agents)
    shape = (facilities,) * agents
    choices = np.indices(shape, dtype=np.int32).reshape(agents, joint)
    counts = np.stack([(choices == j).sum(axis=0) for j in range(facilities)])  # [facilities, joint]
    gain = worth[:, None] * counts
    safe = np.stack([np.take_along_axis(gain, chosen[None].astype(np.intp), axis=0)[0] for chosen in choices])
    crowd = counts.max(axis=0)
    s_next = np.concatenate([2 * crowd > agents, 4 * crowd > agents]).astype(np.int32)
    return TabularGame(
        Successors(np.arange(2 * joint + 1), s_next, np.ones(2 * joint)),
        np.stack([safe, safe - penalty], axis=1).reshape(agents, 1, 2, *shape),
        [0.5, 0.5],
        horizon,
        name="distancing",
        state_names=["safe", "distancing"],
        action_names=[names] * agents,
    )


def _counting(agents: int, worth: FloatArray, horizon: int, penalty: float, names: list[str]) -> CountGame:
    crowd = count_vectors(agents, len(worth)).max(axis=1)
    moves = np.eye(2)[np.stack([2 * crowd > agents, 4 * crowd > agents]).astype(np.int64)]  # [s, counts, s_next]
    gain = worth[:, None] * np.arange(agents + 1)
    return CountGame(
        np.stack([gain, gain - penalty])[None],
        moves[None],
        [0.5, 0.5],
        horizon,
        agents=agents,
        actions=len(worth),
        load=True,
        name="distancing",
        state_names=["safe", "distancing"],
        action_names=names,
    )
