"""Independent Q-learning backwards over each episode, with two tables: the default in environments.
[Watkins 1989; Lin 1992; Peng, Williams 1996]

Each agent has two tables over its own observations s, the same at all steps, and learns both from every episode, from
its last step, after which there is nothing, to its first. With T the target of the step after,

    one-step:    target = r + max_b Q(s', b)                      step size: rate
    λ-returns:   target = r + (1 − λ)·max_b Q(s', b) + λ·T        step size: max(rate, 1/n(s, a))

One-step targets do not suffer from what was explored later, by itself or by others; λ-returns do not add up the errors
of a maximum over noisy values, and need no Markov state. Which matters more, an agent finds out: it follows the tables
by turns, ε-greedily, and after `fall` episodes only the one with the higher mean of its own recent returns. In episode
k it explores with probability

    ε = max(least, first − (first − least)·k/fall)  or, where nobody says how many episodes there will be,
    ε(s) = max(least, patience/(patience + n(s)))   by its own visits n(s) of the observation, with turns for ever.

With more episodes the step size is smaller, √(2.5/fall), so that values average over more of them.

Beside the greedy policy of the better table it returns the average of the greedy policies that it followed, the n-th
visit with weight n: where equilibria mix, no greedy policy is one.

Information: own observation, action and reward; the number of episodes where it is given. Guarantee: none with several
agents. Deviations: an episode that ended early is learned from when the next one begins, or at the horizon, where
agents that are out stay in a state that pays nothing. docs/research/environments.md has what was tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.bandits.spec import share
from tacit.core import check, generics
from tacit.core.records import NONNEGATIVE, capacity, index, records
from tacit.core.types import IntArray
from tacit.learners.spec import Info, Learner, World
from tacit.learners.ucb import best, draw_greedily


@dataclass(frozen=True)
class QBackward(Learner):
    """Independent Q-learning backwards over each episode, with two tables: the default in environments.

    Parameters
    ----------
    rate : float, optional
        The least step size; √(2.5/fall) if not given, .1 where nobody says how many episodes there will be.
    trace : float
        The weight λ of what followed, against what was expected, in the second table.
    fall : float, optional
        Episodes in which exploration falls to its least; half of the run's if not given.
    first, least : float
        First and least probability of a uniform action.
    patience : float
        Visits of an observation after which ε is 1/2, where nobody says how many episodes there will be.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.QBackward().info.reward_scale_free
    True
    """

    rate: float | None = None
    trace: float = 0.8
    fall: float | None = None
    first: float = 1.0
    least: float = 0.02
    patience: float = 100.0

    def __post_init__(self) -> None:
        check.plain_fields(self)
        if self.rate is not None:
            check.positive("rate", self.rate, most=1)
        check.real("trace", self.trace, least=0, most=1)
        if self.fall is not None:
            check.positive("fall", self.fall)
        check.real("first", self.first, least=0, most=1)
        check.real("least", self.least, least=0, most=1)
        check.positive("patience", self.patience)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(returns="average", reward_scale_free=True)

    def init(self, world: World) -> QBackwardState:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        cell = [("Q", "f8", (2, A)), ("tries", "i8", A), ("average", NONNEGATIVE, A)]
        episodes = world.scale.episodes if 1 < world.scale.episodes < check.EPISODES else 0
        fall = 0.5 * episodes if self.fall is None else float(self.fall)
        rate = min(math.sqrt(2.5 / fall), 1.0) if fall > 0.0 else 0.1
        agent = [("length", index(H + 1)), ("episode", "i8"), ("table", index(2)), ("mean", "f8", 2)]
        return QBackwardState(
            cells=records((1, S, N), [*cell, ("visits", "i8")]),
            steps=records((H, N), [("s", index(world.numbers)), ("action", index(A)), ("reward", "f8")]),
            agents=records((N,), agent),
            rate=rate if self.rate is None else float(self.rate),
            trace=float(self.trace),
            fall=fall,
            first=float(self.first),
            least=float(self.least),
            patience=float(self.patience),
            actions=world.actions,
            horizon=H,
        )


class QBackwardState(NamedTuple):
    """All agents' tables, and the running episode."""

    cells: Any  # [1, S, N]  Q of both tables [2, A], tries [A], average [A], visits
    steps: Any  # [H, N]  of the running episode: state, action, reward
    agents: Any  # [N]  length: steps that were not learned from; episode: k; table in use; mean return with each [2]
    rate: float
    trace: float
    fall: float
    first: float
    least: float
    patience: float
    actions: IntArray  # [N]
    horizon: int


@generics.jitable
def better(agent):
    """Return the table with the higher mean return."""
    return 1 if agent.mean[1] > agent.mean[0] else 0


@generics.policy.implement(QBackwardState)
def policy(learner, i, h, s, out):
    """Write the greedy policy of the better table."""
    n, Q = learner.actions[i], learner.cells[0, s, i].Q[better(learner.agents[i])]
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
    """Draw from the ε-greedy policy of the table in use."""
    agent, cell = learner.agents[i], learner.cells[0, s, i]
    epsilon = learner.patience / (learner.patience + cell.visits)
    if learner.fall > 0.0:
        epsilon = learner.first - (learner.first - learner.least) * agent.episode / learner.fall
    return draw_greedily(cell.Q[agent.table], learner.actions[i], max(epsilon, learner.least), u)


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
    """Learn both tables at every step of an episode from its end, and choose the table of the next episode."""
    n, total, target = learner.actions[i], 0.0, 0.0
    ahead, ahead_traced = 0.0, 0.0  # the values of the step after
    for k in range(agent.length):
        step = learner.steps[agent.length - 1 - k, i]
        cell, a = learner.cells[0, step.s, i], step.action
        one_step, traced = cell.Q[0], cell.Q[1]
        one_step[a] += learner.rate * (step.reward + ahead - one_step[a])
        ahead, _ = best(one_step, n)
        cell.tries[a] += 1
        target = step.reward + (1.0 - learner.trace) * ahead_traced + learner.trace * target
        traced[a] += max(learner.rate, 1.0 / cell.tries[a]) * (target - traced[a])
        ahead_traced, _ = best(traced, n)
        total += step.reward
        followed = cell.Q[agent.table]
        top, count = best(followed, n)
        cell.visits += 1
        weight = 2.0 / (cell.visits + 1.0)
        for b in range(n):
            greedy = 1.0 / count if followed[b] == top else 0.0
            cell.average[b] += weight * (greedy - cell.average[b])
    agent.episode += 1
    # a table is followed in every other episode: of `fall` the last eighth counts most
    window = learner.fall / 16.0 if learner.fall > 0.0 else learner.patience
    weight = max(1.0 / ((agent.episode + 1) // 2), min(1.0 / window, 1.0))
    agent.mean[agent.table] += weight * (total - agent.mean[agent.table])
    turns = learner.fall == 0.0 or agent.episode < learner.fall
    agent.table = agent.episode % 2 if turns else better(agent)
