"""Each agent models the world as if alone, plans, and plays a smooth best response.

An agent counts how often its own action a in state s led to s', and what it was paid: one model for all steps. A step
of episode k has the weight w = k², so that what others did long ago counts for little, and importance weights 1/(p·A),
where p ≥ 1/(5·A) is the probability of the action. After every episode the agent plans backwards along its path, and
after every batch (1 % of the episodes played, at least 10) at every (h, s) that it met. With e = 1000/(1000 + k), S the
number of states met, and G the best return so far,

    Q̂_h(s, a) = (n·(r̄(s, a) + γ·Σ_{s'} P̂(s'|s, a)·V_{h+1}(s')) + o·G) / (n + o),   o = S·e²·w
    Q_h(s, a) = Q̂_h(s, a) + D_h(s, a) / (n_h + 10·w),   V_h(s) = Σ_a π_h(a|s)·Q_h(s, a)
    π_h(a|s) ∝ exp(Q_h(s, a)/λ),   λ = 2.7·(1 − √e)·σ_h(s)/√n(s)

- Optimism: what was never tried has the value G, as if by S visits at first.
- Residuals: D sums weight·(r + γ·V_{h+1}(s') − Q̂_h(s, a)) over the visits of (h, s, a), of weight n_h: others, and
  perhaps the game, differ from step to step, though the model does not.
- Leniency: a step that brought more than Q̂ has 1 + 20·e³ times the weight, since others still explore. [Panait, Tuyls
  2007]
- Smoothing: σ² is the mean of (r + γ·V_{h+1}(s') − V_h(s))² and n(s) counts visits: the regularised leader with a step
  that falls as 1/√n. It begins greedy, and so settles on one of several pure equilibria.

While learning, an agent draws a uniform action with probability min(1/2, (1 + k/m)^−0.6), m = max(50, 4·S). It returns
the last π, and the average of the iterates with the weights w. Discounted games have one table for all steps. In play
that never resets an episode is 1/(1 − γ) periods, and G the largest reward over 1 − γ. An agent uses its state, its own
actions and its own rewards, in any units. Nothing is proven.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import pick, share
from tacit.core import check, generics
from tacit.core.elementary import exp, pow
from tacit.core.records import NONNEGATIVE, Fields, capacity, records
from tacit.core.types import FloatArray, IntArray
from tacit.learners import batches
from tacit.learners.spec import Info, Learner, World

#: Full plans are made after so many episodes, and one in so many of those played.
FEWEST, BATCH = 10, 100
#: Exploration is min(1/2, (1 + k/m)^-0.6), where m is 50, or so many for each state that was met.
PATIENCE = 4.0
#: Importance weights are at most so large.
IMPORTANT = 5.0
#: Visits of (h, s, a) after which half of their residual is believed.
DOUBT = 10.0
#: Episodes after which e is 1/2.
FADED = 1000.0
#: At first, what was better than expected counts for 1 + LENIENT times as much.
LENIENT = 20.0
#: λ in units of σ/√n, at last.
WARM = 2.7


@dataclass(frozen=True)
class ModelIndependent(Learner):
    """Agents that model and plan, each as if it were alone: no hyperparameters.

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
    info = Info("nash", "average", reward_scale_free=True)
    endless = True

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.integer("successors", self.successors, least=1, most=1 << 20)

    def explores(self, state: Any, i: int) -> float:
        """Return the probability of a uniform action now."""
        return float(state.agents["exploration"][i])

    def init(self, world: World) -> ModelState:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        discounted = world.continues < 1.0 or world.discount is not None
        cells = records((1 if discounted else H + 1, S, N), cell_fields(A))
        for i, size in enumerate(world.actions):
            cells["prob"][:H, :, i, :size] = cells["average"][:H, :, i, :size] = 1.0 / size
        agents = records((N,), agent_fields())
        agents["exploration"], agents["best"] = 0.5, -np.inf
        return ModelState(
            cells=cells,
            model=records((1, S, N), model_fields(A, self.successors), "the agents' models of the world"),
            agents=agents,
            window=batches.make_window(world, A, length=world.scale.horizon),
            q=np.zeros(A),
            actions=world.actions,
            discount=world.continues if world.discount is None else world.discount,
            over=S - 1 if world.continues < 1.0 else -1,
        )


def cell_fields(actions: int) -> Fields:
    """Return what an agent remembers at a step and state."""
    return [
        ("prob", NONNEGATIVE, actions),  # π
        ("average", NONNEGATIVE, actions),  # of the iterates
        ("value", "f8"),  # V
        ("model", "f8", actions),  # Q̂
        ("residual", "f8", actions),  # D
        ("weight", NONNEGATIVE, actions),  # n_h
        ("visits", NONNEGATIVE),  # Σ w
        ("squares", NONNEGATIVE),  # Σ w·(r + γ·V_{h+1}(s') − V_h(s))²
        ("planned", "i8"),  # k of the last plan here
    ]


def model_fields(actions: int, successors: int) -> Fields:
    """Return what an agent remembers of a state, at all steps."""
    return [
        ("rank", "i8"),  # 1 for the state that was met first, 0 for one that was not met
        ("state", "i8"),  # in the k-th record: the state that was met after k others
        ("visits", "i8"),  # n(s)
        ("seen", NONNEGATIVE, actions),  # weight of all visits
        ("reward", "f8", actions),  # Σ weight·r
        ("moved", NONNEGATIVE, actions),  # weight of the visits that a next state followed
        ("successors", "i8"),  # next states that were met
        ("next", "i8", successors),
        ("count", NONNEGATIVE, (successors, actions)),  # weight of the visits that they followed
    ]


def agent_fields() -> Fields:
    """Return what an agent remembers besides."""
    return [
        ("episodes", "i8"),  # k
        ("due", "i8"),  # k of the next full plan
        ("met", "i8"),  # states that were met
        ("planned", "i8"),  # those of them that were planned
        ("exploration", NONNEGATIVE),
        ("gained", "f8"),  # rewards of the running episode
        ("best", "f8"),  # G
    ]


class ModelState(NamedTuple):
    """All agents' policies and models."""

    cells: Any  # [H+1, S, N]; [1, S, N] in a discounted game
    model: Any  # [1, S, N]
    agents: Any  # [N]
    window: batches.Window  # of the running episode
    q: FloatArray  # [A]  scratch
    actions: IntArray  # [N]
    discount: float  # γ
    over: int  # the state after the end of a discounted game, -1 elsewhere


@generics.jitable
def cell_at(learner, i, h, s):
    """Return what agent i remembers at (h, s)."""
    return learner.cells[min(h, len(learner.cells) - 1), s, i]


@generics.jitable
def faded(k):
    """Return e."""
    return FADED / (FADED + k)


@generics.policy.implement(ModelState)
def policy(learner, i, h, s, out):
    """Write π; `act` explores beyond it."""
    share(cell_at(learner, i, h, s).prob, 1.0, learner.actions[i], out)


@generics.average_policy.implement(ModelState)
def average_policy(learner, i, h, s, out):
    """Write the average of the iterates."""
    share(cell_at(learner, i, h, s).average, 1.0, learner.actions[i], out)


@generics.act.implement(ModelState)
def act(learner, i, h, s, u):
    """Draw uniformly with the probability of exploration, and otherwise from π."""
    n, explored = learner.actions[i], learner.agents[i].exploration
    if u < explored:
        return min(int(u / explored * n), n - 1)
    return pick(cell_at(learner, i, h, s).prob, 1.0, n, (u - explored) / (1.0 - explored))


@generics.learn.implement(ModelState)
def learn(learner, i, h, s, a, r, s_next):
    """Count the step; after the last one of an episode, plan."""
    me, endless = learner.agents[i], learner.window.endless == 1
    batches.note(learner.window, i, h, s, a)
    last = batches.fills(learner.window, i, h, r)
    me.gained = r / (1.0 - learner.discount) if endless else me.gained + r if h > 0 else r
    if s != learner.over:
        count_step(learner, i, h, s, a, r, s_next, (last and not endless) or s_next == learner.over)
    if last or endless:
        me.best = max(me.best, me.gained)
    if last:
        me.episodes += 1
        if me.episodes >= me.due:
            plan(learner, i)
        else:
            plan_path(learner, i)


@generics.jitable
def count_step(learner, i, h, s, a, r, s_next, ended):
    """Count a step in the model, and what it brought beside the model."""
    me, n = learner.agents[i], learner.actions[i]
    cell, here = cell_at(learner, i, h, s), learner.model[0, s, i]
    k = me.episodes + 1.0
    weight = k * k
    meet(learner, i, s)
    if not ended:
        meet(learner, i, s_next)
    if here.rank <= me.planned and (learner.over < 0 or not ended):  # an end by discounting says nothing
        x = r
        if not ended:
            planned = learner.model[0, s_next, i].rank <= me.planned
            x += learner.discount * (cell_at(learner, i, h + 1, s_next).value if planned else me.best)
        here.visits += 1
        cell.visits += weight
        cell.squares += weight * (x - cell.value) * (x - cell.value)
        weight *= min(IMPORTANT, 1.0 / (n * (1.0 - me.exploration) * cell.prob[a] + me.exploration))
        if x - cell.model[a] > 1e-9 * abs(cell.model[a]):
            e = faded(me.episodes)
            weight *= 1.0 + LENIENT * e * e * e
        cell.residual[a] += weight * (x - cell.model[a])
        cell.weight[a] += weight
    here.seen[a] += weight
    here.reward[a] += weight * r
    if not ended:
        count_move(here, a, n, s_next, weight)


@generics.jitable
def meet(learner, i, s):
    """Take a state in that was not met before."""
    me, here = learner.agents[i], learner.model[0, s, i]
    if here.rank == 0:
        learner.model[0, min(me.met, learner.model.shape[1] - 1), i].state = s
        me.met += 1
        here.rank = me.met


@generics.jitable
def count_move(here, a, n, s_next, weight):
    """Count a next state. Where there is no capacity for another, forget the one of least weight."""
    most = len(here.next)
    here.moved[a] += weight
    k = 0
    while k < min(here.successors, most) and here.next[k] != s_next:
        k += 1
    if k == here.successors and k < most:
        here.successors = k + 1
    elif k == most:
        k = least_visited(here, n)
        for b in range(n):
            here.moved[b] = max(0.0, here.moved[b] - here.count[k, b])
            here.count[k, b] = 0.0
    here.next[k] = s_next
    here.count[k, a] += weight


@generics.apart
def least_visited(here, n):
    """Return the successor of least weight."""
    rarest, least = 0, np.inf
    for k in range(len(here.next)):
        weight = 0.0
        for b in range(n):
            weight += here.count[k, b]
        if weight < least:
            rarest, least = k, weight
    return rarest


@generics.apart
def plan(learner, i):
    """Plan backwards at every state that was met, and begin a batch."""
    me, states, k = learner.agents[i], learner.model.shape[1], learner.agents[i].episodes
    for h in range(min(len(learner.window.steps), len(learner.cells)) - 1, -1, -1):
        for j in range(min(me.met, states)):
            plan_cell(learner, i, h, min(learner.model[0, j, i].state, states - 1))
    me.planned = me.met
    me.exploration = min(0.5, pow(1.0 + k / max(50.0, PATIENCE * me.met), -0.6))
    me.due = k + max(FEWEST, k // BATCH, me.met // FEWEST)


@generics.apart
def plan_path(learner, i):
    """Plan backwards along the path of an episode: as much work as playing it."""
    for h in range(len(learner.window.steps) - 1, -1, -1):
        s = min(learner.window.steps[h, i].s, learner.model.shape[1] - 1)
        if s != learner.over:
            plan_cell(learner, i, h, s)


@generics.jitable
def plan_cell(learner, i, h, s):
    """Write Q at (h, s), play a smooth best response there, and move the average."""
    cell, here, k = cell_at(learner, i, h, s), learner.model[0, s, i], learner.agents[i].episodes
    evaluate(learner, i, h, s)
    noise = math.sqrt(cell.squares / cell.visits / here.visits) if cell.visits > 0.0 else np.inf
    rate = 1.0 - pow(cell.planned / k, 3.0)
    respond(cell, learner.q, learner.actions[i], WARM * (1.0 - math.sqrt(faded(k))) * noise, rate)
    cell.planned = k


@generics.jitable
def evaluate(learner, i, h, s):
    """Write Q at (h, s) into the scratch."""
    me, cell, here = learner.agents[i], cell_at(learner, i, h, s), learner.model[0, s, i]
    q, n = learner.q, learner.actions[i]
    for a in range(n):
        q[a] = 0.0
    for k in range(min(here.successors, len(here.next))):
        value = cell_at(learner, i, h + 1, min(here.next[k], learner.model.shape[1] - 1)).value
        for a in range(n):
            q[a] += here.count[k, a] * value
    weight = float(me.episodes) * me.episodes
    optimism = me.met * faded(me.episodes) * faded(me.episodes) * weight
    for a in range(n):
        cell.model[a] = me.best
        if here.seen[a] > 0.0:
            mean = here.reward[a] / here.seen[a] + learner.discount * q[a] / max(here.moved[a], 1e-300)
            cell.model[a] += (mean - me.best) * here.seen[a] / (here.seen[a] + optimism)
        q[a] = cell.model[a] + cell.residual[a] / (cell.weight[a] + DOUBT * weight)


@generics.jitable
def respond(cell, q, n, temperature, rate):
    """Play a smooth best response where n actions are worth q, and move the average."""
    best, least = q[0], q[0]
    for a in range(1, n):
        best, least = max(best, q[a]), min(least, q[a])
    temperature = max(temperature, 1e-9 * max(abs(best), abs(least)))
    total = 0.0
    for a in range(n):
        worse = (best - q[a]) / temperature if q[a] < best else 0.0
        cell.prob[a] = exp(-worse) if worse < 36.0 else 0.0  # below rounding
        total += cell.prob[a]
    cell.value = 0.0
    for a in range(n):
        cell.prob[a] /= total
        cell.average[a] += rate * (cell.prob[a] - cell.average[a])
        cell.value += cell.prob[a] * q[a]
