"""Independent Q-learning backwards over each episode: the default in environments. [Watkins 1989; Lin 1992]

Each agent has one table over its own observations s, the same at all steps. After an episode it goes back over it, from
the last step, after which there is nothing, to the first:

    Q(s, a) ← Q(s, a) + rate·(r + max_b Q(s', b) − Q(s, a))

so that a reward reaches the whole episode at once. In episode k it explores uniformly with probability

    ε = max(least, 1 − (1 − least)·k/fall)  or, where nobody says how many episodes there will be,
    ε(s) = max(least, patience/(patience + n(s)))  by its own visits n(s) of the observation.

Beside the greedy policy it returns the average of the greedy policies at all visits, the n-th with weight n: where
equilibria mix, no greedy policy is one.

Information: own observation, action and reward; the number of episodes where it is given. Guarantee: none with several
agents. Deviations: an episode that ended early is learned from when the next one begins, or at the
horizon, where agents that are out stay in a state that pays nothing. What each constant is for, and what was tried, is
in docs/research/environments.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.bandits.spec import share
from tacit.core import check, generics
from tacit.core.records import NONNEGATIVE, capacity, index, records
from tacit.core.types import IntArray
from tacit.learners.spec import Info, Learner, World
from tacit.learners.ucb import best


@dataclass(frozen=True)
class QBackward(Learner):
    """Independent Q-learning backwards over each episode: the default in environments.

    Parameters
    ----------
    rate : float
        The constant step size.
    fall : float, optional
        Episodes in which exploration falls from 1 to its least; half of the run's if not given.
    patience : float
        Visits of an observation after which ε is 1/2, where nobody says how many episodes there will be.
    least : float
        Least probability of a uniform action.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.QBackward().info.reward_scale_free
    True
    """

    rate: float = 0.1
    fall: float | None = None
    patience: float = 100.0
    least: float = 0.02

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.positive("rate", self.rate, most=1)
        if self.fall is not None:
            check.positive("fall", self.fall)
        check.positive("patience", self.patience)
        check.real("least", self.least, least=0, most=1)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(returns="average", reward_scale_free=True)

    def init(self, world: World) -> QBackwardState:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        cell = [("Q", "f8", A), ("average", NONNEGATIVE, A), ("visits", "i8")]
        return QBackwardState(
            cells=records((1, S, N), cell),
            steps=records((H, N), [("s", index(world.numbers)), ("action", index(A)), ("reward", "f8")]),
            agents=records((N,), [("length", index(H + 1)), ("episode", "i8")]),
            rate=float(self.rate),
            fall=self._fall(world.scale.episodes),
            patience=float(self.patience),
            least=float(self.least),
            actions=world.actions,
            horizon=H,
        )

    def _fall(self, episodes: int) -> float:
        """Return the episodes in which exploration falls; 0 where it falls by visits."""
        if self.fall is None:
            return episodes / 2 if 1 < episodes < check.EPISODES else 0.0
        return float(self.fall)


class QBackwardState(NamedTuple):
    """All agents' tables, and the running episode."""

    cells: Any  # [1, S, N]  Q [A], average [A], visits
    steps: Any  # [H, N]  of the running episode: state, action, reward
    agents: Any  # [N]  length: steps of the running episode that were not learned from; episode: k
    rate: float
    fall: float
    patience: float
    least: float
    actions: IntArray  # [N]
    horizon: int


@generics.policy.implement(QBackwardState)
def policy(learner, i, h, s, out):
    """Write the greedy policy."""
    n, Q = learner.actions[i], learner.cells[0, s, i].Q
    top, count = best(Q, n)
    for a in range(n):
        out[a] = 1.0 / count if Q[a] == top else 0.0


@generics.average_policy.implement(QBackwardState)
def average_policy(learner, i, h, s, out):
    """Write the average of the greedy policies; uniform at a state that was never visited."""
    n, cell = learner.actions[i], learner.cells[0, s, i]
    if cell.visits == 0:
        for a in range(n):
            out[a] = 1.0 / n
    else:
        share(cell.average, 1.0, n, out)


@generics.act.implement(QBackwardState)
def act(learner, i, h, s, u):
    """Draw from the ε-greedy policy."""
    n, cell = learner.actions[i], learner.cells[0, s, i]
    epsilon = learner.patience / (learner.patience + cell.visits)
    if learner.fall > 0.0:
        epsilon = 1.0 - (1.0 - learner.least) * learner.agents[i].episode / learner.fall
    epsilon = max(epsilon, learner.least)
    top, count = best(cell.Q, n)
    for a in range(n):
        u -= epsilon / n
        if cell.Q[a] == top:
            u -= (1.0 - epsilon) / count
        if u < 0.0:
            return a
    return n - 1


@generics.learn.implement(QBackwardState)
def learn(learner, i, h, s, a, r, s_next):
    """Note the step; after the last one of an episode, learn backwards."""
    agent = learner.agents[i]
    if h == 0 and agent.length > 0:  # the episode before ended early
        learn_backwards(learner, i, agent)
    step = learner.steps[h, i]
    step.s = s
    step.action = a
    step.reward = r
    agent.length = h + 1
    if h == learner.horizon - 1:
        learn_backwards(learner, i, agent)
        agent.length = 0


@generics.jitable
def learn_backwards(learner, i, agent):
    """Move Q, and the average of the greedy policies, at every step of an episode from its end."""
    n, following = learner.actions[i], 0.0
    agent.episode += 1
    for k in range(agent.length):
        step = learner.steps[agent.length - 1 - k, i]
        cell = learner.cells[0, step.s, i]
        cell.Q[step.action] += learner.rate * (step.reward + following - cell.Q[step.action])
        following, count = best(cell.Q, n)
        cell.visits += 1
        weight = 2.0 / (cell.visits + 1.0)
        for a in range(n):
            greedy = 1.0 / count if cell.Q[a] == following else 0.0
            cell.average[a] += weight * (greedy - cell.average[a])
