"""Distributed Q-learning, for deterministic teams. [Lauer, Riedmiller 2000]

    q_h(s, a) ← max{q_h(s, a), r + max_{a'} q_{h+1}(s', a')},

and the greedy action at (h, s) becomes a only when this raises max_{a'} q_h(s, a'), so that the agents, who cannot see
each other, keep to the joint action that first reached the best value.

Information: an agent's own actions and rewards, and the least reward that there is, from which q begins.
Guarantee: optimal in teams with deterministic rewards and transitions, if every joint action is tried again and again.
Deviations: one table for each step of a finite horizon, where the source discounts; in a discounted game the target is
r + γ·max q, and steps that end a stretch of play are left out: they are not the game's. Exploration is ε-greedy.
Read in: the abstract, for the guarantee; update and rule of change are as later authors cite them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, generics
from tacit.core.records import capacity, index
from tacit.core.types import IntArray
from tacit.learners import ucb
from tacit.learners.spec import Info, Learner, World, check_steps, make_cells, player


@dataclass(frozen=True)
class QDistributed(Learner):
    """Distributed Q-learning, for deterministic teams.

    Parameters
    ----------
    exploration : float
        Probability ε of a uniform action.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("matrix-team"), "q-distributed", episodes=500).values
    array([10., 10.])
    """

    exploration: float = 0.1
    steps: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.real("exploration", self.exploration, least=0, most=1)
        check_steps(self.steps)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(needs=frozenset({"common rewards"}))

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets: it does."""
        return True

    def explores(self, state: Any, i: int) -> float:
        """Return the probability ε of a uniform action."""
        return self.exploration

    def init(self, world: World) -> QDistributedState:
        """Make the state of all agents."""
        H, A = world.horizon, world.actions.max()
        fields = [("Q", "f8", capacity(A)), ("greedy", index(A))]
        cells, players, sharing = make_cells(self.steps, world, fields, [], beyond=True)
        gamma = world.continues if world.discount is None else world.discount
        if gamma < 1.0:
            left = np.full(len(players) - 1, 1.0 / (1.0 - gamma))
        else:
            left = np.arange(H, H - len(players) + 1, -1.0)
        players["Q"][:-1] = (world.reward_range[0] * left)[:, None, None, None]
        stretches = world.continues < 1.0
        return QDistributedState(
            cells=cells,
            players=sharing,
            exploration=float(self.exploration),
            discount=gamma,
            over=world.states - 1 if stretches else -1,
            last=H - 1 if stretches else -1,
            actions=world.actions,
        )


class QDistributedState(NamedTuple):
    """All agents' tables and greedy actions."""

    cells: Any  # [H+1, S, N]  Q [A], greedy
    players: Any  # whose Q is where
    exploration: float
    discount: float
    over: int  # the state after a stretch of a discounted game; -1 for none
    last: int  # the step at which a stretch is cut off; -1 for none
    actions: IntArray  # [N]


@generics.policy.implement(QDistributedState)
def policy(learner, i, h, s, out):
    """Write the greedy action's distribution."""
    for a in range(learner.actions[i]):
        out[a] = 0.0
    out[player(learner.players, learner.cells, i, h, s).greedy] = 1.0


@generics.act.implement(QDistributedState)
def act(learner, i, h, s, u):
    """Draw from the ε-greedy policy."""
    if u < learner.exploration:
        return min(int(u / learner.exploration * learner.actions[i]), learner.actions[i] - 1)
    return player(learner.players, learner.cells, i, h, s).greedy


@generics.learn.implement(QDistributedState)
def learn(learner, i, h, s, a, r, s_next):
    """Raise q, never lower it; follow what raises the best value. [Lauer, Riedmiller 2000]"""
    if s_next == learner.over or h == learner.last:
        return
    n, cell = learner.actions[i], player(learner.players, learner.cells, i, h, s)
    ahead, _ = ucb.best(player(learner.players, learner.cells, i, h + 1, s_next).Q, n)
    best, _ = ucb.best(cell.Q, n)
    target = r + learner.discount * ahead
    cell.Q[a] = max(cell.Q[a], target)
    if target > best:
        cell.greedy = a
