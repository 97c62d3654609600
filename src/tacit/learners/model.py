"""Each agent models the world as if it were alone in it, plans on its model, and plays a smooth best response.

An agent counts how often its own action a in state s led to s', and what it was paid: one model for all steps. A step
of episode k has the weight k²/(p·A), so that what others did long ago counts for little; p is the probability with
which one of A actions was taken, at least 1/(5·A). After every episode the agent plans by backward induction at the
(h, s) that it passed, and after every batch of episodes (0.5 % of those played, at least 10, and as many as a plan
takes in time) at every (h, s) that it has met. With w the k² of the last batch, e = 1000/(1000 + k), S the number of
states that were met, between 5 and 60, and o = S·e²·w,

    Q̂_h(s, a) = (n·(r̄(s, a) + Σ_{s'} P̂(s'|s, a)·V_{h+1}(s')) + o·G) / (n + o)
    Q_h(s, a) = Q̂_h(s, a) + D_h(s, a) / (n_h + d·w),   V_h(s) = Σ_a π_h(a|s)·Q_h(s, a)
    π_h(a|s) ∝ exp(Q_h(s, a)/λ) where that is above e^{−10} of the largest,   λ = 2·(1 − √e)·σ_h(s)/√n(s)

- Importance: what an action brought is divided by its probability, as bandits do. Otherwise the mean of an action that
  was left for a while is one of old times, and all agents circle together.
- Smooth best responses: σ² is the mean of (r + V_{h+1}(s') − V_h(s))² over the visits of (h, s), and n(s) the number of
  visits of s that weights of k² are worth, (Σ k²)²/Σ k⁴. Q is a mean over the visits already, so this follows the
  regularised leader with a step that falls as 1/√n; it begins greedy, and settles on a pure equilibrium within tens of
  episodes where games are small. Matching regrets on Q adds such means up once more: where equilibria mix that circles
  for good.
- Optimism: n is the weight of the visits of (s, a), and G the best return so far. What was never tried is worth that,
  as if by S visits at first: where there are more states, more has to be tried before it is found.
- Doubt: D is the sum of weight·(r + V_{h+1}(s') − Q̂_h(s, a)) over the visits of (h, s, a), of weight n_h, with V and Q̂
  of the plan before. Others, and perhaps the game, differ from step to step, though the model does not. How much is
  estimated at every batch: by chance D² would be about (2/3)·σ²·n_h·w, and what it is beyond that is n_h²·τ². Half of
  D/n_h is believed after d = (2/3)·σ²/τ² visits, at least 3 and at most 100, with means of σ² and τ² over (h, s, a).
- Leniency: a step that brought more than expected, r + V_{h+1}(s') > Q̂_h(s, a), has 1 + 20·e³ times the weight. Others
  are still exploring at first, and what they spoil says little about one's own action. [Panait, Tuyls 2007, for
  Q-learning]
- While it learns, an agent takes an even action with probability min(1/2, (1 + k/m)^{−3/5}), where m is four times the
  number of states that it has met, at least 50. What it answers with leaves that out: the last π, and an average of the
  iterates, which moves by 2.5·b/k where (h, s) was planned b episodes ago.

In stretches of a discounted game there is one table for all steps, planned by three sweeps after every batch (2 % of
the episodes played) and followed by matching regrets:

    R(s, a) ← max(0, R(s, a) + Q(s, a) − V(s)),  π(a|s) ∝ R(s, a)                    [Tammelin 2014: regret matching⁺]
    Q(s, a) = M(s, a) + (G − M(s, a))·(w/(n + w))²,  M(s, a) = r̄(s, a) + γ·Σ_{s'} P̂(s'|s, a)·V(s'),  w = k⁸

with G the best reward so far over 1 − γ, without doubt, leniency of 1 + 20·(1000/(1000 + k))², the average over about
the last half of the episodes, and exploration of min(1/2, 1/√(1 + k/m)), where m is twice the number of states.

An agent uses its state, its own actions and its own rewards, in any units and of any range.

Guarantees: none are proven for this learner. The world of one agent changes as others learn. Where there are pure
equilibria π mostly ends in one, at a gap near zero, and often in the best; where equilibria mix it circles around one,
and the average comes closer to it.
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
from tacit.learners.spec import Learner, World

#: Episodes of a batch: at least so many, and one for so many played; of discounted games.
FEWEST, SHARE, DISCOUNTED_SHARE = 10, 200, 50
#: Products of a plan, for each step, that take as long as playing one step; and episodes that a plan need not wait for.
PRODUCTS, CREDIT = 50.0, 2000.0
#: Exploration is min(MOST, (1 + k/m)^−LESS), where m is PATIENCE, or PER_STATE for each state that was met.
MOST, LESS, PATIENCE, PER_STATE = 0.5, 0.6, 50.0, 4.0
#: In discounted games it is min(MOST, 1/√(1 + k/m)), with fewer for each state.
DISCOUNTED_PER_STATE = 2.0
#: λ in units of σ/√n: at last, and 0 at first, when agents settle on one of several equilibria.
WARM = 2.0
#: The weight of a step is that of an action of at least this share of an even one's probability.
RARELY = 0.2
#: What is worse than the best by so many λ is left to exploration.
RARE = 10.0
#: Visits of (h, s, a) after which half of what they brought beside the model is believed: between these.
LEAST_DOUBT, MOST_DOUBT = 3.0, 100.0
#: Of discounted games: sweeps of a plan, and the average of the iterates is over one of so many of the episodes.
SWEEPS, LATE = 3, 2.0
#: What differs by less than this share is the same.
ROUNDING = 1e-9
#: Episodes after which e is 1/2; at first, what was better than expected counts for 1 + LENIENT times as much.
FADED, LENIENT = 1000.0, 20.0
#: At first, the best return counts for as many visits as states were met, within these bounds.
LEAST_OPTIMISM, MOST_OPTIMISM = 5.0, 60.0
#: The average's weight of an episode grows with k to this power less one.
FORGET = 2.5


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

    def explores(self, state: Any, i: int) -> float:
        """Return the probability of an even action now."""
        return float(state.agents["exploration"][i])

    def init(self, world: World) -> ModelState:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        model = records((1, S, N), model_fields(A, self.successors), "the agents' models of the world")
        cells = records((1 if world.continues < 1.0 else H + 1, S, N), cell_fields(A))
        for i, size in enumerate(world.actions):
            cells["prob"][:H, :, i, :size] = cells["average"][:H, :, i, :size] = 1.0 / size
        agents = records((N,), agent_fields())
        agents["weight"], agents["due"], agents["exploration"] = 1.0, FEWEST, MOST
        agents["lenience"], agents["doubt"] = 1.0 + LENIENT, MOST_DOUBT
        return ModelState(
            cells=cells,
            model=model,
            agents=agents,
            path=records((H, N), [("state", "i8")]),
            q=np.zeros(A),
            actions=world.actions,
            horizon=H,
            continues=world.continues,
        )


def cell_fields(actions: int) -> Fields:
    """Return what an agent remembers at a step and state."""
    return [
        ("prob", NONNEGATIVE, actions),  # π
        ("regret", NONNEGATIVE, actions),  # R, of discounted games
        ("average", NONNEGATIVE, actions),  # of the iterates
        ("value", "f8"),  # V
        ("model", "f8", actions),  # Q̂
        ("doubt", "f8", actions),  # D
        ("weight", NONNEGATIVE, actions),  # n_h
        ("visits", NONNEGATIVE),  # Σ k²
        ("surprise", NONNEGATIVE),  # Σ k²·(r + V_{h+1}(s') − V_h(s))²
        ("at", "i8"),  # k of the last plan here
    ]


def model_fields(actions: int, successors: int) -> Fields:
    """Return what an agent remembers of a state, at all steps."""
    return [
        ("rank", "i8"),  # 1 for the state that was met first, 0 for one that was not met
        ("state", "i8"),  # in the k-th record: the state that was met after k others
        ("visits", NONNEGATIVE),  # Σ k²
        ("squares", NONNEGATIVE),  # Σ k⁴
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
        ("plans", "i8"),  # p
        ("before", "i8"),  # k of the last plan
        ("due", "i8"),  # k of the next plan
        ("met", "i8"),  # states that were met
        ("known", "i8"),  # those of them that the last plan knew
        ("work", "f8"),  # products of a plan, for each step
        ("spent", "f8"),  # those of all plans
        ("weight", "f8"),  # w
        ("doubt", NONNEGATIVE),  # d
        ("lenience", "f8"),  # how many times as much counts what was better than expected
        ("exploration", NONNEGATIVE),
        ("gained", "f8"),  # rewards of the running episode
        ("best", "f8"),  # G
    ]


class ModelState(NamedTuple):
    """All agents' policies and models."""

    cells: Any  # [H+1, S, N]; [1, S, N] in a discounted game
    model: Any  # [1, S, N]
    agents: Any  # [N]
    path: Any  # [H, N]  states of the running episode
    q: FloatArray  # [A]  scratch
    actions: IntArray  # [N]
    horizon: int
    continues: float  # γ in stretches of a discounted game, whose last state is "over"; otherwise 1


@generics.jitable
def lenience(learner, k):
    """Return how many times as much counts what was better than expected, after k episodes."""
    left = FADED / (FADED + k)
    return 1.0 + LENIENT * left * left * (left if learner.continues == 1.0 else 1.0)


@generics.jitable
def find_cell(learner, i, h, s):
    """Return what agent i remembers of a state at a step."""
    return learner.cells[h if learner.continues == 1.0 else 0, s, i]


@generics.weigh.implement(ModelState)
def weigh(learner, i, h, s, out):
    """Write π, which is the answer; `act` explores beyond it."""
    share(find_cell(learner, i, h, s).prob, 1.0, learner.actions[i], out)


@generics.average.implement(ModelState)
def average(learner, i, h, s, out):
    """Write the average of the iterates."""
    share(find_cell(learner, i, h, s).average, 1.0, learner.actions[i], out)


@generics.act.implement(ModelState)
def act(learner, i, h, s, u):
    """Draw evenly with the probability of exploration, and otherwise from π."""
    n, explored = learner.actions[i], learner.agents[i].exploration
    if u < explored:
        return min(int(u / explored * n), n - 1)
    return pick(find_cell(learner, i, h, s).prob, 1.0, n, (u - explored) / (1.0 - explored))


@generics.learn.implement(ModelState)
def learn(learner, i, h, s, a, r, s_next):
    """Count the step; after the last of a batch, plan."""
    me, last = learner.agents[i], h + 1 == learner.horizon
    if learner.continues == 1.0:
        learn_step(learner, i, h, s, a, r, s_next)
    elif s + 1 < learner.model.shape[1]:
        learn_move(learner, i, s, a, r, s_next, last)
    me.gained = me.gained + r if h > 0 else r
    if last:
        if learner.continues == 1.0:
            me.best = max(me.best, me.gained) if me.episodes > 0 else me.gained
        me.episodes += 1
        if me.episodes >= me.due:
            plan(learner, i)
        elif learner.continues == 1.0 and me.plans > 0:
            plan_path(learner, i)


@generics.jitable
def learn_step(learner, i, h, s, a, r, s_next):
    """Count a step of a finite game, and what it brought beside the model."""
    me, cell, here = learner.agents[i], learner.cells[h, s, i], learner.model[0, s, i]
    weight, last = me.weight, h + 1 == learner.horizon
    learner.path[h, i].state = s
    here.visits += weight
    here.squares += weight * weight
    n = learner.actions[i]
    weight /= max(n * (1.0 - me.exploration) * cell.prob[a] + me.exploration, RARELY)
    meet(learner, i, s)
    if not last:
        meet(learner, i, s_next)
    if here.rank <= me.known:
        foreseen = last or learner.model[0, s_next, i].rank <= me.known
        x = r + (learner.cells[h + 1, s_next, i].value if foreseen else me.best)
        cell.visits += me.weight
        cell.surprise += me.weight * (x - cell.value) * (x - cell.value)
        more = x - cell.model[a]
        if more > ROUNDING * abs(cell.model[a]):
            weight *= me.lenience
        cell.doubt[a] += weight * more
        cell.weight[a] += weight
    here.seen[a] += weight
    here.reward[a] += weight * r
    if not last:
        count(learner, i, here, a, s_next, weight)


@generics.jitable
def learn_move(learner, i, s, a, r, s_next, last):
    """Count a step of a discounted game; where a stretch ends nobody knows what would have followed."""
    me, cell, here = learner.agents[i], learner.cells[0, s, i], learner.model[0, s, i]
    weight, ended, best = me.weight, last or s_next + 1 == learner.model.shape[1], r / (1.0 - learner.continues)
    me.best = max(me.best, best) if me.met > 0 else best
    meet(learner, i, s)
    if not ended:
        meet(learner, i, s_next)
        if here.rank <= me.known and learner.model[0, s_next, i].rank <= me.known:
            more = r + learner.continues * learner.cells[0, s_next, i].value - cell.model[a]
            if more > ROUNDING * abs(cell.model[a]):
                weight *= me.lenience
        count(learner, i, here, a, s_next, weight)
    here.seen[a] += weight
    here.reward[a] += weight * r


@generics.jitable
def meet(learner, i, s):
    """Take a state in that was not met before."""
    here = learner.model[0, s, i]
    if here.rank == 0:
        me = learner.agents[i]
        learner.model[0, min(me.met, learner.model.shape[1] - 1), i].state = s
        me.met += 1
        me.work += 2 * learner.actions[i]
        here.rank = me.met


@generics.jitable
def count(learner, i, here, a, s_next, weight):
    """Count a next state; where there is no room for another, forget the one of least weight."""
    n, most = learner.actions[i], len(here.next)
    here.moved[a] += weight
    k = 0
    while k < min(here.successors, most) and here.next[k] != s_next:
        k += 1
    if k == here.successors and k < most:
        here.successors = k + 1
        learner.agents[i].work += n
    elif k == most:
        k = lightest(here, n)
        for b in range(n):
            here.moved[b] = max(0.0, here.moved[b] - here.count[k, b])
            here.count[k, b] = 0.0
    here.next[k] = s_next
    here.count[k, a] += weight


@generics.apart
def lightest(here, n):
    """Return the successor of least weight."""
    found, least = 0, np.inf
    for k in range(len(here.next)):
        weight = 0.0
        for b in range(n):
            weight += here.count[k, b]
        if weight < least:
            found, least = k, weight
    return found


@generics.apart
def plan(learner, i):
    """Plan, move the policy at every state that was met, and begin the next batch."""
    me, k = learner.agents[i], learner.agents[i].episodes
    me.plans += 1
    me.lenience = lenience(learner, k)
    if learner.continues == 1.0:
        me.doubt = misfit(learner, i)
        me.weight = float(k) * k
        plan_steps(learner, i)
    else:
        square = float(k) * k
        me.weight = square * square * square * square
        plan_moves(learner, i, min(1.0, LATE * (k - me.before) / k))
    me.before, me.known = k, me.met
    if learner.continues == 1.0:
        me.exploration = min(MOST, pow(1.0 + k / max(PATIENCE, PER_STATE * me.met), -LESS))
    else:
        me.exploration = min(MOST, 1.0 / math.sqrt(1.0 + k / max(PATIENCE, DISCOUNTED_PER_STATE * me.met)))
    cost = me.work if learner.continues == 1.0 else SWEEPS * (1.0 - learner.continues) * me.work
    me.spent += cost
    paid = int((me.spent + cost) / PRODUCTS - CREDIT)  # by playing so many episodes
    me.due = max(paid, k + max(FEWEST, k // (SHARE if learner.continues == 1.0 else DISCOUNTED_SHARE)))


@generics.jitable
def plan_steps(learner, i):
    """Plan backwards over the steps, at every state that was met."""
    me, states = learner.agents[i], learner.model.shape[1]
    for h in range(learner.horizon - 1, -1, -1):
        for k in range(min(me.met, states)):
            plan_cell(learner, i, h, min(learner.model[0, k, i].state, states - 1))


@generics.apart
def plan_path(learner, i):
    """Plan backwards over the states of an episode: as much work as playing it."""
    for h in range(learner.horizon - 1, -1, -1):
        plan_cell(learner, i, h, min(learner.path[h, i].state, learner.model.shape[1] - 1))


@generics.jitable
def plan_cell(learner, i, h, s):
    """Plan at (h, s): play a smooth best response there, and move the average by the episodes since the last time."""
    me, cell = learner.agents[i], learner.cells[h, s, i]
    k = me.episodes
    left = FADED / (FADED + k)
    visits = min(max(LEAST_OPTIMISM, me.met), MOST_OPTIMISM)
    evaluate(learner, i, h, s, visits * left * left * me.weight)
    warmth, rate = WARM * (1.0 - math.sqrt(left)), min(1.0, FORGET * (k - cell.at) / k)
    respond(cell, learner.model[0, s, i], learner.q, learner.actions[i], warmth, rate)
    cell.at = k


@generics.jitable
def misfit(learner, i):
    """Return after how many visits of (h, s, a) half of what they brought beside the model is believed: d."""
    me, states = learner.agents[i], learner.model.shape[1]
    found, noise, visits, cases = 0.0, 0.0, 0.0, 0
    for h in range(learner.horizon):
        for k in range(min(me.met, states)):
            cell = learner.cells[h, min(learner.model[0, k, i].state, states - 1), i]
            for a in range(learner.actions[i]):
                if cell.weight[a] > 0.0:
                    found += cell.doubt[a] * cell.doubt[a] / (cell.weight[a] * me.weight)
                    noise += cell.surprise / cell.visits / 1.5
                    visits += cell.weight[a] / me.weight
                    cases += 1
    if found <= noise:
        return MOST_DOUBT
    return min(max(noise * visits / (cases * (found - noise)), LEAST_DOUBT), MOST_DOUBT)


@generics.jitable
def plan_moves(learner, i, rate):
    """Plan in sweeps over the states of a discounted game, which begin with the values of the plan before."""
    me, states = learner.agents[i], learner.model.shape[1]
    for sweep in range(SWEEPS):
        for k in range(min(me.met, states)):
            s = min(learner.model[0, k, i].state, states - 1)
            expect(learner, i, s)
            if sweep + 1 < SWEEPS:
                settle(learner.cells[0, s, i], learner.q, learner.actions[i])
            else:
                match(learner.cells[0, s, i], learner.q, learner.actions[i], rate)


@generics.jitable
def evaluate(learner, i, h, s, optimism):
    """Write Q at (h, s) into the scratch."""
    me, cell, here = learner.agents[i], learner.cells[h, s, i], learner.model[0, s, i]
    q, n = learner.q, learner.actions[i]
    last, states = h + 1 == learner.horizon, learner.model.shape[1]
    for a in range(n):
        q[a] = 0.0
    if not last:
        for k in range(min(here.successors, len(here.next))):
            value = learner.cells[h + 1, min(here.next[k], states - 1), i].value
            for a in range(n):
                q[a] += here.count[k, a] * value
    for a in range(n):
        tried = here.seen[a] if last else here.moved[a]
        cell.model[a] = me.best
        if tried > 0.0:
            mean = here.reward[a] / here.seen[a] + q[a] / tried
            cell.model[a] += (mean - me.best) * tried / (tried + optimism)
        q[a] = cell.model[a] + cell.doubt[a] / (cell.weight[a] + me.doubt * me.weight)


@generics.jitable
def expect(learner, i, s):
    """Write Q at a state of a discounted game into the scratch."""
    me, cell, here = learner.agents[i], learner.cells[0, s, i], learner.model[0, s, i]
    q, n, states = learner.q, learner.actions[i], learner.model.shape[1]
    for a in range(n):
        q[a] = 0.0
    for k in range(min(here.successors, len(here.next))):
        value = learner.cells[0, min(here.next[k], states - 1), i].value
        for a in range(n):
            q[a] += here.count[k, a] * value
    for a in range(n):
        cell.model[a] = me.best
        if here.moved[a] > 0.0:
            mean = here.reward[a] / here.seen[a] + learner.continues * q[a] / here.moved[a]
            rare = me.weight / (here.seen[a] + me.weight)
            cell.model[a] = mean + (me.best - mean) * rare * rare
        q[a] = cell.model[a]


@generics.jitable
def respond(cell, here, q, n, warmth, rate):
    """Play a smooth best response where n actions are worth q, and move the average."""
    best, least = q[0], q[0]
    for a in range(1, n):
        best, least = max(best, q[a]), min(least, q[a])
    temperature = best - least  # before anything is known
    if cell.visits > 0.0:
        temperature = warmth * math.sqrt(cell.surprise / cell.visits * here.squares) / here.visits
    temperature = max(temperature, ROUNDING * max(abs(best), abs(least)))
    total = 0.0
    for a in range(n):
        worse = (best - q[a]) / temperature if q[a] < best else 0.0
        cell.prob[a] = exp(-worse) if worse < RARE else 0.0
        total += cell.prob[a]
    cell.value = 0.0
    for a in range(n):
        cell.prob[a] /= total
        cell.average[a] += rate * (cell.prob[a] - cell.average[a])
        cell.value += cell.prob[a] * q[a]


@generics.jitable
def settle(cell, q, n):
    """Write down and return what π is worth, where n actions are worth q."""
    value = 0.0
    for a in range(n):
        value += cell.prob[a] * q[a]
    cell.value = value
    return value


@generics.jitable
def match(cell, q, n, rate):
    """Match regrets of n actions that are worth q, and move the average."""
    value = settle(cell, q, n)
    total = 0.0
    for a in range(n):
        cell.regret[a] = max(0.0, cell.regret[a] + q[a] - value)
        total += cell.regret[a]
    for a in range(n):
        cell.prob[a] = cell.regret[a] / total if total > 0.0 else 1.0 / n
        cell.average[a] += rate * (cell.prob[a] - cell.average[a])
