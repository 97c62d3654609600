"""The distancing game: agents gather at facilities until crowding sends them all into a costly state.

Source: S. Leonardos, W. Overman, I. Panageas and G. Piliouras, "Global convergence of multi-agent policy gradient in
Markov potential games", 2021; there discounted, here with a finite horizon.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core import check, memory
from tacit.core.types import FloatArray, IntArray
from tacit.games.count import CountGame
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame, check_axes

#: Joint actions up to which the game comes as tables unless it is asked for otherwise.
_MOST_JOINT = 2**20


def Distancing(
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
    >>> from tacit.games import Distancing
    >>> Distancing(agents=3, weights=[1, 2])
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
    safe = np.stack([np.take_along_axis(gain, own[None].astype(np.intp), axis=0)[0] for own in choices])
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
    def reward(h: int, s: int, a: int, n: IntArray) -> FloatArray:
        gain: FloatArray = worth[a] * n
        return gain if s == 0 else gain - penalty

    def crowding(h: int, s: int, counts: IntArray) -> IntArray:
        crowd = counts.max(axis=0)
        found: IntArray = np.asarray((2 if s == 0 else 4) * crowd > agents).astype(np.int64)
        return found

    return CountGame(
        reward,
        crowding,
        [0.5, 0.5],
        horizon,
        agents=agents,
        actions=len(worth),
        load=True,
        stationary=True,
        name="distancing",
        state_names=["safe", "distancing"],
        action_names=names,
    )
