"""Each agent models the world as if it were alone in it, plans on its model, and matches regrets.

An agent counts how often its own action a in state s led to s', and what it was paid: one model for all steps, in which
the data of episode k weigh w = k, so that what others did long ago counts for little. After every batch of episodes
(2 % of those played, at least 10) it plans by backward induction, and moves its policy at every (h, s) that it has met:

    Q_h(s, a) = (n·(r̄(s, a) + Σ_{s'} P̂(s'|s, a)·V_{h+1}(s')) + w·G) / (n + w),   V_h(s) = Σ_a π_h(a|s)·Q_h(s, a)
    R_h(s, a) ← max(0, R_h(s, a) + Q_h(s, a) − V_h(s)),   π_h(a|s) ∝ R_h(s, a)          [Tammelin 2014: regret matching⁺]

n is the weight of the visits of (s, a), and G the best return so far: what was never tried is worth that, as if by one
visit. While it learns, an agent takes an even action with probability min(1/2, (1 + k/50)^−0.34); what it answers with
leaves that out. Beside the last policy it answers with an average of its iterates, the e-th with the weight e.

An agent uses its state, its own actions and its own rewards, in any units and of any range.

Guarantees: none are proven for this learner. The world of one agent changes as others learn, and the steps of others
differ though the model does not: where equilibria are pure, both pass; where they mix, the gap stays on a plateau.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.rows import pick, share
from tacit.core import check, generics
from tacit.core.elementary import pow
from tacit.core.records import NONNEGATIVE, Fields, capacity, records
from tacit.core.types import FloatArray, IntArray
from tacit.learners.spec import Learner, World

#: Episodes before an agent plans again: at least so many, and one for so many played.
FEWEST, SHARE = 10, 50
#: Products of a plan, for each step, that take as long as playing one step: planning never takes longer than playing.
PRODUCTS = 60
#: Exploration is min(MOST, (1 + k/PATIENCE)^−POWER).
MOST, PATIENCE, POWER = 0.5, 50.0, 0.34


@dataclass(frozen=True)
class ModelIndependent(Learner):
    """Agents that model and plan, each as if it were alone: nothing to choose.

    Parameters
    ----------
    successors : int
        Next states of a state that an agent remembers, those that were met most and last. It bounds the memory of the
        model: 8·successors·(A + 1) bytes for each state and agent, where A is 4, 8, 16, ….

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("good-state"), "model-independent", episodes=2000)
    >>> run.gap, run.values.round(2)
    (0.0, array([45.5, 45.5]))
    """

    successors: int = 64

    def __post_init__(self) -> None:
        check.integer("successors", self.successors, least=1, most=1 << 20)

    @property
    def rangeless(self) -> bool:
        """Rewards enter as they are."""
        return True

    @property
    def recent(self) -> bool:
        """It averages its iterates."""
        return True

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {"successors": self.successors}

    def init(self, world: World) -> ModelState:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        cells = records((H, S, N), cell_fields(A))
        for i, size in enumerate(world.actions):
            cells["prob"][:, :, i, :size] = cells["average"][:, :, i, :size] = 1.0 / size
        agents = records((N,), agent_fields())
        agents["weight"], agents["due"], agents["exploration"] = 1.0, FEWEST, MOST
        return ModelState(
            cells=cells,
            model=records((1, S, N), model_fields(A, self.successors), "the agents' models of the world"),
            values=records((1, S, N), [("value", "f8"), ("following", "f8")]),
            agents=agents,
            q=np.zeros(A),
            actions=world.actions,
            horizon=H,
        )


def cell_fields(actions: int) -> Fields:
    """Return what an agent remembers at a step and state."""
    return [
        ("prob", NONNEGATIVE, actions),  # π
        ("regret", NONNEGATIVE, actions),  # R
        ("average", NONNEGATIVE, actions),  # of the iterates
    ]


def model_fields(actions: int, successors: int) -> Fields:
    """Return what an agent remembers of a state, at all steps; weights are sums of w."""
    return [
        ("met", "i8"),  # whether the state was met
        ("state", "i8"),  # of the k-th record: the k-th state that was met
        ("seen", NONNEGATIVE, actions),  # weight of all visits
        ("reward", "f8", actions),  # sum of w·r
        ("moved", NONNEGATIVE, actions),  # weight of the visits that a next state followed
        ("successors", "i8"),  # next states that were met
        ("next", "i8", successors),
        ("count", NONNEGATIVE, (successors, actions)),  # weight of the visits that they followed
    ]


def agent_fields() -> Fields:
    """Return what an agent remembers besides."""
    return [
        ("episodes", "i8"),  # k
        ("due", "i8"),  # the episode after which it plans
        ("plans", "i8"),  # e
        ("met", "i8"),  # states that were met
        ("work", "i8"),  # products of a plan, for each step
        ("weight", "f8"),  # w
        ("exploration", NONNEGATIVE),
        ("gained", "f8"),  # rewards of the running episode
        ("best", "f8"),  # G
    ]


class ModelState(NamedTuple):
    """All agents' policies and models."""

    cells: Any  # [H, S, N]
    model: Any  # [1, S, N]
    values: Any  # [1, S, N]  V of a step and of the one after it, while planning
    agents: Any  # [N]
    q: FloatArray  # [A]  scratch
    actions: IntArray  # [N]
    horizon: int


@generics.weigh.implement(ModelState)
def weigh(learner, i, h, s, out):
    """Write π with exploration."""
    n, explored = learner.actions[i], learner.agents[i].exploration
    prob = learner.cells[h, s, i].prob
    for a in range(n):
        out[a] = (1.0 - explored) * prob[a] + explored / n


@generics.answer.implement(ModelState)
def answer(learner, i, h, s, recent, out):
    """Write π, or the average of the iterates."""
    cell, n = learner.cells[h, s, i], learner.actions[i]
    if recent:
        share(cell.average, 1.0, n, out)
    else:
        share(cell.prob, 1.0, n, out)


@generics.act.implement(ModelState)
def act(learner, i, h, s, u):
    """Draw evenly with the probability of exploration, and otherwise from π."""
    n, explored = learner.actions[i], learner.agents[i].exploration
    if u < explored:
        return min(int(u / explored * n), n - 1)
    return pick(learner.cells[h, s, i].prob, 1.0, n, (u - explored) / (1.0 - explored))


@generics.learn.implement(ModelState)
def learn(learner, i, h, s, a, r, s_next):
    """Count the step; after the last of a batch, plan."""
    me = learner.agents[i]
    meet(learner, i, s)
    here = learner.model[0, s, i]
    here.seen[a] += me.weight
    here.reward[a] += me.weight * r
    me.gained = me.gained + r if h > 0 else r
    if h + 1 < learner.horizon:
        meet(learner, i, s_next)
        count(learner, i, here, a, s_next)
        return
    me.best = max(me.best, me.gained) if me.episodes > 0 else me.gained
    me.episodes += 1
    if me.episodes >= me.due:
        plan(learner, i)


@generics.jitable
def meet(learner, i, s):
    """Take a state in that was not met before."""
    here = learner.model[0, s, i]
    if here.met == 0:
        me = learner.agents[i]
        here.met = 1
        learner.model[0, me.met, i].state = s
        me.met += 1
        me.work += 2 * learner.actions[i]


@generics.jitable
def count(learner, i, here, a, s_next):
    """Count a next state; where there is no room for another, forget the one of least weight."""
    me, n = learner.agents[i], learner.actions[i]
    here.moved[a] += me.weight
    for k in range(here.successors):
        if here.next[k] == s_next:
            here.count[k, a] += me.weight
            return
    k = here.successors
    if k < len(here.next):
        here.successors = k + 1
        me.work += n
    else:
        k = lightest(here, n)
        for b in range(n):
            here.moved[b] -= here.count[k, b]
            here.count[k, b] = 0.0
    here.next[k] = s_next
    here.count[k, a] = me.weight


@generics.apart
def lightest(here, n):
    """Return the successor of least weight."""
    found, least = 0, np.inf
    for k in range(here.successors):
        weight = 0.0
        for b in range(n):
            weight += here.count[k, b]
        if weight < least:
            found, least = k, weight
    return found


@generics.apart
def plan(learner, i):
    """Plan backwards over the steps, match regrets at every state that was met, and begin the next batch."""
    me = learner.agents[i]
    me.plans += 1
    rate = 2.0 / (me.plans + 1.0)
    most = learner.model.shape[1]
    for h in range(learner.horizon - 1, -1, -1):
        for k in range(min(me.met, most)):
            s = min(learner.model[0, k, i].state, most - 1)
            evaluate(learner, i, s, h + 1 == learner.horizon)
            learner.values[0, s, i].value = match(learner.cells[h, s, i], learner.q, learner.actions[i], rate)
        for k in range(min(me.met, most)):
            value = learner.values[0, min(learner.model[0, k, i].state, most - 1), i]
            value.following = value.value
    me.weight = me.episodes + 1.0
    me.exploration = min(MOST, pow(1.0 + me.episodes / PATIENCE, -POWER))
    me.due = me.episodes + max(FEWEST, me.episodes // SHARE, me.work // PRODUCTS)


@generics.jitable
def evaluate(learner, i, s, last):
    """Write Q at a state into the scratch, where what follows is worth `following`."""
    me, here, q, n = learner.agents[i], learner.model[0, s, i], learner.q, learner.actions[i]
    most = learner.model.shape[1] - 1
    for a in range(n):
        q[a] = 0.0
    if not last:
        for k in range(here.successors):
            following = learner.values[0, min(here.next[k], most), i].following
            for a in range(n):
                q[a] += here.count[k, a] * following
    for a in range(n):
        tried = here.seen[a] if last else here.moved[a]
        if tried > 0.0:
            mean = here.reward[a] / here.seen[a] + q[a] / tried
            q[a] = (tried * mean + me.weight * me.best) / (tried + me.weight)
        else:
            q[a] = me.best


@generics.jitable
def match(cell, q, n, rate):
    """Match regrets of n actions worth q, average the policy, and return what it was worth before."""
    value = 0.0
    for a in range(n):
        value += cell.prob[a] * q[a]
    total = 0.0
    for a in range(n):
        regret = max(0.0, cell.regret[a] + q[a] - value)
        cell.regret[a] = regret
        total += regret
    for a in range(n):
        cell.prob[a] = cell.regret[a] / total if total > 0.0 else 1.0 / n
        cell.average[a] += rate * (cell.prob[a] - cell.average[a])
    return value
