"""Q-learning backwards over each episode and policy gradient, in turn: the default in environments.
[Watkins 1989; Lin 1992; Peng, Williams 1996]

Each agent has two tables and a policy over its own observations s, the same at all steps. The tables learn from every
episode, from its last step, after which there is nothing, to its first. With T the target of the step after,

    one-step:    target = r + max_b Q(s', b)                      step size: rate
    λ-returns:   target = r + (1 − λ)·max_b Q(s', b) + λ·T        step size: max(rate, 1/n(s, a))

One-step targets do not suffer from what was explored later, by itself or by others; λ-returns do not add up the errors
of a maximum over noisy values, and need no Markov state. The policy ascends as in `pg-adaptive`, in the episodes in
which it is followed: it reaches equilibria that greedy play does not, where episodes are many. Which is best, an agent
finds out: it follows the three by turns, the tables ε-greedily, and after 5/4·fall episodes only the one with the
highest mean of its own recent returns, of least exploration. In episode k, with x = min(max(k/fall − 1, 0), 1),

    ε = max(least, first − (first − least)·k/fall)        rate = √(2.5/fall)·(1 − (1 − settle)·x)

Where nobody says how many episodes there will be, rate is .1, rounds of turns alternate with as many episodes of the
best, and ε = max(least, patience/(patience + n(s))) by the agent's own visits n(s) of the observation. Beside the best
it returns the average of what it followed, the n-th visit with weight n: where equilibria mix, no greedy policy is one.

Information: own observation, action and reward; the number of episodes where it is given. Guarantee: none with several
agents. Deviations: an episode that ended early is learned from when the next one begins, or at the horizon, where
agents that are out stay in a state that pays nothing. docs/research/environments.md has what was tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.bandits.spec import pick, share
from tacit.core import check, generics
from tacit.core.records import NONNEGATIVE, capacity, index, records
from tacit.core.types import IntArray
from tacit.learners import pg_adaptive
from tacit.learners.pg_adaptive import PGAdaptive
from tacit.learners.spec import Info, Learner, World, starting_point
from tacit.learners.ucb import best, draw_greedily

#: Turns go on for so many times `fall`, so that what is compared in the end was played with least exploration.
TURNS = 1.25


@dataclass(frozen=True)
class QBackward(Learner):
    """Q-learning backwards over each episode and policy gradient, in turn: the default in environments.

    Parameters
    ----------
    rate : float, optional
        The least step size: √(2.5/fall) if not given, .1 where nobody says how many episodes there will be.
    settle : float
        The share of the least step size that is left after 2·fall episodes.
    trace : float
        The weight λ of what followed, against what was expected, in the second table.
    fall : float, optional
        Episodes in which exploration falls to its least; half of the run's if not given.
    first, least : float
        First and least probability of a uniform action.
    patience : float
        Visits of an observation after which ε is 1/2, where nobody says how many episodes there will be.
    eta : float
        Step size of the policy gradient, in units of the standard deviation of the rewards to go.
    members : int
        How many take turns: 1 for the one-step table alone, 2 for both tables, 3 for the policy gradient too.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.QBackward().info.reward_scale_free
    True
    """

    rate: float | None = None
    settle: float = 0.1
    trace: float = 0.8
    fall: float | None = None
    first: float = 1.0
    least: float = 0.02
    patience: float = 100.0
    eta: float = 0.1
    members: int = 3

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
        check.positive("eta", self.eta, most=1e100)
        check.real("settle", self.settle, least=0, most=1)
        check.integer("members", self.members, least=1, most=3)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(returns="average", reward_scale_free=True)

    def init(self, world: World) -> QBackwardState:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        cell = [("Q", "f8", (2, A)), ("tries", "i8", A), ("average", NONNEGATIVE, A), ("visits", "i8")]
        ascent = records((1, S, N), [*pg_adaptive.fields(A), *pg_adaptive.VALUES])
        ascent["prob"] = starting_point(world)[:1]
        episodes = world.scale.episodes if 1 < world.scale.episodes < check.EPISODES else 0
        fall = 0.5 * episodes if self.fall is None else float(self.fall)
        rate = min(math.sqrt(2.5 / fall), 1.0) if fall > 0.0 else 0.1
        agent = [("length", index(H + 1)), ("episode", "i8"), ("followed", index(3)), ("mean", "f8", 3)]
        gradient = PGAdaptive(eta=self.eta)
        return QBackwardState(
            cells=records((1, S, N), cell),
            ascent=ascent,
            steps=records((H, N), [("s", index(world.numbers)), ("action", index(A)), ("reward", "f8")]),
            agents=records((N,), agent),
            rate=rate if self.rate is None else float(self.rate),
            settle=float(self.settle),
            trace=float(self.trace),
            fall=fall,
            first=float(self.first),
            least=float(self.least),
            patience=float(self.patience),
            eta=float(gradient.eta),
            leniency=gradient.leniency,
            exploration=gradient.exploration,
            members=int(self.members),
            actions=world.actions,
            horizon=H,
        )


class QBackwardState(NamedTuple):
    """All agents' tables and policies, and the running episode."""

    cells: Any  # [1, S, N]  Q of both tables [2, A], tries [A], average [A], visits
    ascent: Any  # [1, S, N]  of the policy gradient
    steps: Any  # [H, N]  of the running episode: state, action, reward
    agents: Any  # [N]  length: steps that were not learned from; episode: k; followed: 0, 1 a table, 2 the gradient;
    #                   mean return with each [3]
    rate: float
    settle: float
    trace: float
    fall: float
    first: float
    least: float
    patience: float
    eta: float  # this and the next two of the policy gradient
    leniency: float
    exploration: float
    members: int
    actions: IntArray  # [N]
    horizon: int


@generics.jitable
def best_of(agent, members):
    """Return what had the highest mean return: a table, 0 or 1, or the policy gradient, 2."""
    best = 0
    for j in range(1, members):
        if agent.mean[j] > agent.mean[best]:
            best = j
    return best


@generics.policy.implement(QBackwardState)
def policy(learner, i, h, s, out):
    """Write the policy with the highest mean return: the greedy one of a table, or that of the gradient."""
    n, j = learner.actions[i], best_of(learner.agents[i], learner.members)
    if j == 2:
        share(learner.ascent[0, s, i].prob, 1.0, n, out)
        return
    Q = learner.cells[0, s, i].Q[j]
    top, count = best(Q, n)
    for a in range(n):
        out[a] = 1.0 / count if Q[a] == top else 0.0


@generics.average_policy.implement(QBackwardState)
def average_policy(learner, i, h, s, out):
    """Write the average of what was followed; uniform at a state that was never visited."""
    n, cell = learner.actions[i], learner.cells[0, s, i]
    if cell.visits == 0:
        for a in range(n):
            out[a] = 1.0 / n
    else:
        share(cell.average, 1.0, n, out)


@generics.act.implement(QBackwardState)
def act(learner, i, h, s, u):
    """Draw from the policy of the gradient, or the ε-greedy one of a table."""
    agent, cell, n = learner.agents[i], learner.cells[0, s, i], learner.actions[i]
    if agent.followed == 2:
        return pick(learner.ascent[0, s, i].prob, 1.0, n, u)
    epsilon = learner.patience / (learner.patience + cell.visits)
    if learner.fall > 0.0:
        epsilon = learner.first - (learner.first - learner.least) * agent.episode / learner.fall
    return draw_greedily(cell.Q[agent.followed], n, max(epsilon, learner.least), u)


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
    """Learn at every step of an episode from its end, and choose what is followed in the next episode."""
    n, to_go, target = learner.actions[i], 0.0, 0.0
    ahead, ahead_traced = 0.0, 0.0  # the values of the step after
    rate = learner.rate
    if learner.fall > 0.0:
        rate *= 1.0 - (1.0 - learner.settle) * min(max(agent.episode / learner.fall - 1.0, 0.0), 1.0)
    for k in range(agent.length):
        step = learner.steps[agent.length - 1 - k, i]
        cell, a = learner.cells[0, step.s, i], step.action
        one_step, traced = cell.Q[0], cell.Q[1]
        one_step[a] += rate * (step.reward + ahead - one_step[a])
        ahead, _ = best(one_step, n)
        cell.tries[a] += 1
        target = step.reward + (1.0 - learner.trace) * ahead_traced + learner.trace * target
        traced[a] += max(rate, 1.0 / cell.tries[a]) * (target - traced[a])
        ahead_traced, _ = best(traced, n)
        to_go += step.reward
        cell.visits += 1
        weight = 2.0 / (cell.visits + 1.0)
        if agent.followed == 2:
            ascent = learner.ascent[0, step.s, i]
            pg_adaptive.ascend(learner, ascent, n, a, pg_adaptive.signal(learner, ascent, to_go), ascent.visits)
            for b in range(n):
                cell.average[b] += weight * (ascent.prob[b] - cell.average[b])
        else:
            followed = cell.Q[agent.followed]
            top, count = best(followed, n)
            for b in range(n):
                greedy = 1.0 / count if followed[b] == top else 0.0
                cell.average[b] += weight * (greedy - cell.average[b])
    agent.episode += 1
    m = learner.members  # each is followed in every m-th episode, and the last fall/8 episodes count most
    window = learner.fall / (8.0 * m) if learner.fall > 0.0 else learner.patience
    weight = max(1.0 / ((agent.episode + m - 1) // m), min(1.0 / window, 1.0))
    agent.mean[agent.followed] += weight * (to_go - agent.mean[agent.followed])
    turns = agent.episode < TURNS * learner.fall if learner.fall > 0.0 else agent.episode // m % 2 == 0
    agent.followed = agent.episode % m if turns else best_of(agent, m)
