"""Random games from a seed: general-sum, team and potential.

Rewards are uniform in [0, 1]. Transitions are Dirichlet(1, …, 1) over all states, or over `successors` of them drawn
without replacement, which makes games of many states possible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.core import check, memory
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.games.protocol import check_actions
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame, check_axes


def RandomGeneralSum(
    *,
    agents: int = 2,
    states: int = 2,
    actions: int | Sequence[int] = 2,
    horizon: int = 5,
    seed: int = 0,
    successors: int | None = None,
    stationary: bool = False,
) -> TabularGame:
    """Independent uniform rewards for each agent and Dirichlet transitions.

    Parameters
    ----------
    agents, states, horizon, seed : int
    actions : int or one int for each agent
    successors : int, optional
        Next states that a state and joint action can lead to; all of them if not given.
    stationary : bool
        The same rewards and transitions at every step.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import RandomGeneralSum
    >>> RandomGeneralSum(agents=3, actions=[2, 3, 2], seed=7)
    TabularGame('random-general-sum': 3 agents, 2 states, 2×3×2 actions, horizon 5, rewards in [0.00373424, 0.996771])
    """
    shape = _Shape("random-general-sum", agents, states, actions, horizon, seed, successors, stationary)
    rewards = shape.rng.random((shape.agents, shape.steps, shape.states, *shape.actions))
    return shape.game(rewards, shape.transitions())


def RandomTeam(
    *,
    agents: int = 2,
    states: int = 2,
    actions: int | Sequence[int] = 2,
    horizon: int = 5,
    seed: int = 0,
    successors: int | None = None,
    stationary: bool = False,
) -> TabularGame:
    """One uniform reward that all agents share, and Dirichlet transitions; parameters as random-general-sum.

    Parameters
    ----------
    agents, states, horizon, seed : int
    actions : int or one int for each agent
    successors : int, optional
    stationary : bool

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import RandomTeam
    >>> game = RandomTeam(seed=3)
    >>> bool((game.rewards[0] == game.rewards[1]).all())
    True
    """
    shape = _Shape("random-team", agents, states, actions, horizon, seed, successors, stationary)
    shared = shape.rng.random((1, shape.steps, shape.states, *shape.actions))
    return shape.game(np.repeat(shared, shape.agents, axis=0), shape.transitions())


def RandomPotential(
    *,
    agents: int = 2,
    states: int = 2,
    actions: int | Sequence[int] = 2,
    horizon: int = 5,
    seed: int = 0,
    successors: int | None = None,
    stationary: bool = False,
) -> TabularGame:
    """A Markov potential game that is not a team; parameters as random-general-sum.

    r_i(s, a) = (φ(s, a) + u_i(s, a_-i)) / 2 with transitions that no action changes: then
    Φ(π) = Σ_h E_{s ~ d_h} E_{a ~ π}[φ_h(s, a)] / 2 is a potential, for u_i does not depend on agent i.

    Parameters
    ----------
    agents, states, horizon, seed : int
    actions : int or one int for each agent
    successors : int, optional
    stationary : bool

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import RandomPotential
    >>> tacit.potential(RandomPotential(horizon=2)).holds
    True
    """
    shape = _Shape("random-potential", agents, states, actions, horizon, seed, successors, stationary)
    grid = (shape.steps, shape.states, *shape.actions)
    shared = shape.rng.random(grid)
    rewards = np.empty((shape.agents, *grid))
    for i in range(shape.agents):
        others = list(grid)
        others[2 + i] = 1
        rewards[i] = (shared + shape.rng.random(others)) / 2
    return shape.game(rewards, shape.transitions(by_action=False))


class _Shape:
    """The checked sizes of a random game, its generator, and what all three kinds share."""

    def __init__(
        self,
        name: str,
        agents: int,
        states: int,
        actions: int | Sequence[int],
        horizon: int,
        seed: int,
        successors: int | None,
        stationary: bool,
    ) -> None:
        self.name = name
        self.agents = check.integer("agents", agents)
        check_axes(self.agents)
        self.states = check.integer("states", states)
        self.horizon = check.integer("horizon", horizon)
        self.steps = 1 if check.flag("stationary", stationary) else self.horizon
        self.actions = check_actions(actions, self.agents)
        self.successors = self.states
        if successors is not None:
            self.successors = check.integer("successors", successors, least=1, most=self.states)
        self.rng = np.random.default_rng(check.integer("seed", seed))
        rows = self.steps * self.states * math.prod(self.actions)
        memory.require(memory.floats(rows, self.agents + 4 + 3 * self.successors), f"the {name} game")

    def transitions(self, by_action: bool = True) -> FloatArray | Successors:
        """Draw Dirichlet rows, one for each (h, s) and, unless told otherwise, joint action."""
        joint = math.prod(self.actions)
        rows = self.steps * self.states * (joint if by_action else 1)
        prob = self.rng.dirichlet(np.ones(self.successors), size=rows)
        prob /= prob.sum(axis=1, keepdims=True)
        if self.successors == self.states:
            prob = prob.reshape(self.steps, self.states, -1, self.states)
            shape = (self.steps, self.states, *self.actions, self.states)
            return np.broadcast_to(prob, (self.steps, self.states, joint, self.states)).reshape(shape)
        state = np.empty((rows, self.successors), dtype=np.int32)
        for row in state:
            row[:] = np.sort(self.rng.choice(self.states, self.successors, replace=False))
        if not by_action:
            prob, state = np.repeat(prob, joint, axis=0), np.repeat(state, joint, axis=0)
        first = np.arange(len(prob) + 1, dtype=np.int64) * self.successors
        return Successors(first, state.ravel(), prob.ravel())

    def game(self, rewards: FloatArray, transitions: FloatArray | Successors) -> TabularGame:
        """Put the game together; the first state is uniform."""
        initial = np.full(self.states, 1 / self.states)
        return TabularGame(Owned(transitions), Owned(rewards), Owned(initial), self.horizon, name=self.name)
