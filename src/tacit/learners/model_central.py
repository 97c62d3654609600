"""All agents share one model of the world while they learn, and plan on it together; afterwards each plays alone.

What was played, paid and met in a state is counted for every joint action a. After every batch of episodes (5 % of
those played, at least 50) all agents plan on the counts, in sweeps backwards over the steps, with predictive regret
matching⁺ at every (h, s) that was met:

    E_i(s, a) = r̄_i(s, a) + Σ_{s'} P̂(s'|s, a)·V_{i,h+1}(s'), where n < 30 visits made it (n·E_i + 0.1·G_i)/(n + 0.1)
    Q_i(a_i) = E_{a_-i ~ π}[E_i(s, a)],  V_i = Σ_{a_i} π_i(a_i)·Q_i(a_i),  D(a_i) = Q_i(a_i) − V_i
    R ← max(R + D, 0),  π_i ∝ max(R + D, 0)     [Farina, Kroer, Sandholm 2021]

- Optimism: what was never tried is worth G_i, the best return of agent i so far. So play goes where nobody was.
- News: while all returns are equal, every second episode is for what is not known: all agents take the joint action of
  largest U(s, a) = 1/(1 + n)² + Σ_{s'} P̂(s'|s, a)·max U_{h+1}(s', ·), the first term for n < 5 visits. So a reward at
  the end of a long way is found. (In every tenth episode after that it made soccer worse.)
- Steps: counts are shared by all steps until the data say that steps differ: one sum of squared
  differences of next states and mean rewards, six standard deviations above what chance does (`steps_differ`). From
  then on each step has its own. Where counts of each step would take more than 128 MB there are none of them.
- While learning, each agent takes an even action with probability min(0.3, (1 + k/50)^−0.34).
- The answer is an equilibrium of the model, computed by `tacit.solve` on the counts: of the kind that is asked for, and
  of largest welfare among those that it finds; large models by 200 sweeps. It is the candidate "planned", beside the
  last iterate and the average of the iterates.

Agents that learn so see each other's actions and rewards: a simulator, or a place to train in. What they answer with
needs nothing of it: a product policy for nash, a common seed for cce and ce.

Guarantees: with all (s, a) visited ever more often the model tends to the game, and its equilibria to the game's. How
far the answer is from an equilibrium is computed exactly where the game has tables. Otherwise it is bounded by the
counts of each step, with probability 0.99 (`evaluation/confidence.py`), which takes many episodes to say anything;
large models are measured by play (`run.exploit`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.rows import pick
from tacit.core import check, generics
from tacit.core.elementary import pow
from tacit.core.errors import TacitError
from tacit.core.records import NONNEGATIVE, Fields, capacity, index, records
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation import confidence
from tacit.evaluation.solve import solve
from tacit.games.successors import from_entries
from tacit.games.tabular import TabularGame
from tacit.learners import joint_model
from tacit.learners.joint_model import count_move, count_reward, count_visit, match_ahead
from tacit.learners.spec import Learner, World
from tacit.policies import MarkovPolicy

#: Joint actions up to which there is a model of them.
JOINT = 4096
#: Sweeps of a plan, and episodes of a batch: at least so many, and one for so many played; where MANY plans cost more
#: than `CREDIT`, one for fewer.
SWEEPS, FEWEST, SHARE, LARGE_SHARE, MANY = 3, 50, 20, 5, 100
#: Products of a plan that take as long as playing one step, and those that are not waited for: about two seconds.
PRODUCTS, CREDIT = 100.0, 1e9
#: Exploration is min(MOST, (1 + k/PATIENCE)^DECAY).
MOST, PATIENCE, DECAY = 0.3, 50.0, -0.34
#: Visits from which on counts are believed, and what optimism counts before.
BELIEVED, OPTIMISM = 30.0, 0.1
#: While all returns are equal, one in so many episodes is for what is not known; what was tried so often is known, and
#: less news than this is none.
OFTEN, KNOWN, LITTLE = 2, 5.0, 0.01
#: Standard deviations of chance from which on steps differ; where differences are cut off, and visits that count.
DIFFER, CUT, ENOUGH = 6.0, 16.0, 5.0
#: What differs by less than this share is the same.
ROUNDING = 1e-9
#: Numbers of a model up to which it is solved exactly where that is possible; above, by so many sweeps.
EXACT, ROUNDS = 20_000, 200
#: Bytes up to which each step has counts of its own; above, there are only those of all steps together.
EACH = 1 << 27
#: Counts of next states up to which gaps are bounded by them.
BOUNDED = 20_000_000


@dataclass(frozen=True)
class ModelCentral(Learner):
    """All agents share one model of the joint actions and plan on it together.

    Parameters
    ----------
    equilibrium : {"nash", "cce", "ce"}
        What the answer is: a product policy, or one that agents follow by a common seed.
    successors : int
        Next states of a joint action that are remembered, those that were met most. It bounds the memory:
        8·successors bytes for each joint action, state and step, and one more.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("good-state"), "model-central", episodes=1000)
    >>> run.gap, run.values.round(2)
    (0.0, array([45.5, 45.5]))
    """

    equilibrium: str = "nash"
    successors: int = 32

    def __post_init__(self) -> None:
        check.choice("equilibrium", self.equilibrium, ("nash", "cce", "ce"))
        check.integer("successors", self.successors, least=1, most=1 << 20)

    @property
    def central(self) -> bool:
        """It sees all agents' actions and rewards."""
        return True

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
        return float(state.clock["exploration"][0])

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {"equilibrium": self.equilibrium, "successors": self.successors}

    def init(self, world: World) -> CentralModel:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        joint = math.prod(int(size) for size in world.actions)
        if joint > JOINT:
            raise TacitError(
                f"model-central counts joint actions, of which there are {joint:,}; it takes {JOINT:,} at most, "
                "and model-independent any number"
            )
        fields = joint_model.fields(joint_model.rows_for(joint), self.successors, N)
        each = (H + 1) * S * records((1,), fields).nbytes <= EACH
        model = records((H + 1 if each else 1, S, 1), fields, "the model of all joint actions")
        cells = records((H + 1, S, N), cell_fields(A))
        for i, size in enumerate(world.actions):
            cells["prob"][:H, :, i, :size] = cells["average"][:H, :, i, :size] = 1.0 / size
        clock = records((1,), clock_fields(S))
        clock["due"], clock["exploration"] = FEWEST, MOST
        return CentralModel(
            cells=cells,
            model=model,
            met=records((1, S, 1), [("rank", index(S)), ("state", index(S))]),
            agents=records((N,), agent_fields(A)),
            clock=clock,
            worth=np.zeros((N, joint)),
            q=np.zeros((N, A)),
            play=np.zeros((N, A)),
            digit=np.zeros(N, dtype=np.int64),
            left=np.ones(N + 1),
            actions=world.actions,
            horizon=H,
            continues=world.continues,
        )

    def plan(self, state: Any, states: int) -> MarkovPolicy:
        """Return an equilibrium of the model, for the first so many states."""
        game = model_game(state)
        if state.continues < 1.0:
            game = without_end(game, state.continues)
        small = game.horizon * game.states * game.joint_actions <= EXACT
        found = solve(game, self.equilibrium, method="auto" if small else "learn", rounds=ROUNDS)
        policy = found.policy if state.continues == 1.0 else found.policy.stretch()
        probs = [own[:, :states] for own in policy.probs]
        return MarkovPolicy(probs if policy.product else probs[0])

    def bound_gaps(
        self, state: Any, policy: MarkovPolicy, *, reward_range: tuple[float, float], states: float, noisy: bool
    ) -> FloatArray | None:
        """Return bounds on a policy's gaps [N] from the counts of each step; None for large models."""
        if len(state.model) == 1 or state.model["count"].size > BOUNDED:
            return None
        return confidence.bound_gaps(
            counts_of(state, policy.states),
            policy,
            self.equilibrium,
            reward_range=reward_range,
            states=states,
            noisy=noisy,
        )


def cell_fields(actions: int) -> Fields:
    """Return what is remembered of an agent at a step and state."""
    return [
        ("prob", NONNEGATIVE, actions),  # π
        ("regret", NONNEGATIVE, actions),  # R
        ("average", NONNEGATIVE, actions),  # of the iterates
        ("value", "f8"),  # V
        ("news", NONNEGATIVE),  # the most that can be brought from here on, by the last plan; kept by the first agent
    ]


def agent_fields(actions: int) -> Fields:
    """Return what is remembered of an agent."""
    return [
        ("action", index(actions)),
        ("reward", "f8"),
        ("gained", "f8"),  # rewards of the running episode
        ("best", "f8"),  # G
        ("worst", "f8"),  # the least return so far
    ]


def clock_fields(states: int) -> Fields:
    """Return what is remembered besides."""
    return [
        ("episodes", "i8"),  # k
        ("sweeps", "i8"),
        ("due", "i8"),  # k of the next plan
        ("met", index(states + 1)),  # states that were met
        ("work", "f8"),  # products of a sweep, for each step
        ("spent", "f8"),  # those of all sweeps
        ("exploration", NONNEGATIVE),
        ("differ", index(2)),  # whether each step has its own model
        ("paid", index(2)),  # whether returns of an agent differed
        ("news", NONNEGATIVE),  # the most that an episode can bring, by the last plan
        ("seeks", index(2)),  # whether this episode is for what is not known
    ]


class CentralModel(NamedTuple):
    """The model, and all agents' policies."""

    cells: Any  # [H+1, S, N]
    model: Any  # [H+1, S, 1]  of each step; the last, or the only one, of all steps together
    met: Any  # [1, S, 1]  rank: 1 for the state that was met first; state: the k-th that was met
    agents: Any  # [N]
    clock: Any  # [1]
    worth: FloatArray  # [N, J]  scratch: E
    q: FloatArray  # [N, A]  scratch
    play: FloatArray  # [N, A]  scratch: π at one step and state
    digit: IntArray  # [N]  scratch: a joint action
    left: FloatArray  # [N+1]  scratch
    actions: IntArray  # [N]
    horizon: int
    continues: float  # γ in stretches of a discounted game, whose last state is "over"; otherwise 1


generics.weigh.implement(CentralModel)(joint_model.weigh)
generics.average.implement(CentralModel)(joint_model.average)


@generics.act.implement(CentralModel)
def act(learner, i, h, s, u):
    """Draw evenly with the probability of exploration, and otherwise from π; or go where something is not known."""
    n, explored = learner.actions[i], learner.clock[0].exploration
    if learner.clock[0].seeks == 1:
        joint = seek(learner, h, s)[0]
        for k in range(len(learner.actions) - 1, i, -1):
            joint //= learner.actions[k]
        return joint % n
    if u < explored:
        return min(int(u / explored * n), n - 1)
    return pick(learner.cells[h, s, i].prob, 1.0, n, (u - explored) / (1.0 - explored))


@generics.learn.implement(CentralModel)
def learn(learner, i, h, s, a, r, s_next):
    """Hear of one agent; after the last, count the step, and after the last step of a batch, plan."""
    me, clock, N = learner.agents[i], learner.clock[0], len(learner.actions)
    me.action, me.reward = a, r
    me.gained = me.gained + r if h > 0 else r
    last = h + 1 == learner.horizon
    if last:
        me.best = max(me.best, me.gained) if clock.episodes > 0 else me.gained
        me.worst = min(me.worst, me.gained) if clock.episodes > 0 else me.gained
        clock.paid = 1 if me.best > me.worst else clock.paid
    if i == N - 1:
        joint = 0
        for k in range(N):
            joint = joint * learner.actions[k] + learner.agents[k].action
        meet(learner, s)
        if not last:
            meet(learner, s_next)
        every = len(learner.model) - 1
        if every > 0:
            count(learner, learner.model[h, s, 0], joint, last, s_next)
        clock.work += count(learner, learner.model[every, s, 0], joint, last, s_next)
        if last:
            clock.episodes += 1
            if clock.episodes >= clock.due:
                plan(learner)
            clock.seeks = 1 if clock.paid == 0 and clock.news > LITTLE and clock.episodes % OFTEN == 0 else 0


@generics.jitable
def seek(learner, h, s):
    """Return the joint action that brings most news by what is counted now, and how much."""
    last, found, most = h + 1 == learner.horizon, 0, -1.0
    every = len(learner.model) - 1
    here = learner.model[h if learner.clock[0].differ == 1 and every > 0 else every, s, 0]
    for j in range(learner.worth.shape[1]):
        seen, news = here.seen[j], 0.0
        if not last and here.moved[j] > 0.0:
            for k in range(min(here.successors[j], here.next.shape[1])):
                s_next = min(here.next[j, k], learner.model.shape[1] - 1)
                news += float(here.count[j, k]) * learner.cells[h + 1, s_next, 0].news
            news /= here.moved[j]
        if seen < KNOWN:
            news += 1.0 / ((1.0 + seen) * (1.0 + seen))
        if news > most:
            found, most = j, news
    return found, most


@generics.jitable
def meet(learner, s):
    """Take a state in that was not met before."""
    if learner.met[0, s, 0].rank == 0:
        clock = learner.clock[0]
        learner.met[0, min(clock.met, learner.met.shape[1] - 1), 0].state = s
        clock.met += 1
        learner.met[0, s, 0].rank = 1
        for h in range(learner.horizon):
            learner.cells[h, s, 0].news = 1.0


@generics.jitable
def count(learner, here, joint, last, s_next):
    """Count a step of all agents; return by how many products that makes a sweep longer, for each step."""
    N = len(learner.actions)
    more = 4.0 * N if here.seen[joint] == 0.0 else 0.0
    for k in range(N):
        count_reward(here, joint, k, learner.agents[k].reward, 1.0)
    count_visit(here, joint, 1.0)
    if not last:
        known = here.successors[joint]
        count_move(here, joint, s_next, 1.0)
        more += N * (here.successors[joint] - known)
    return more


@generics.apart
def plan(learner):
    """Sweep backwards over the steps, and begin the next batch."""
    clock, states = learner.clock[0], learner.met.shape[1]
    if clock.differ == 0 and len(learner.model) > 1:
        clock.differ = steps_differ(learner)
    for _ in range(SWEEPS):
        clock.sweeps += 1
        rate = 3.0 / (clock.sweeps + 2.0)
        for h in range(learner.horizon - 1, -1, -1):
            for k in range(min(clock.met, states)):
                s = min(learner.met[0, k, 0].state, states - 1)
                expect(learner, h, s)
                move(learner, h, s, rate)
    if clock.paid == 0:
        foresee_news(learner)
    clock.exploration = min(MOST, pow(1.0 + clock.episodes / PATIENCE, DECAY))
    cost = SWEEPS * clock.work  # of a plan, for each step
    clock.spent += cost
    paid = int((clock.spent + cost - CREDIT / learner.horizon) / PRODUCTS)  # by playing so many episodes
    part = SHARE if MANY * cost * learner.horizon <= CREDIT else LARGE_SHARE
    clock.due = max(paid, clock.episodes + max(FEWEST, clock.episodes // part))


@generics.apart
def foresee_news(learner):
    """Plan for what is not known."""
    clock, states = learner.clock[0], learner.met.shape[1]
    clock.news = 0.0
    for h in range(learner.horizon - 1, -1, -1):
        for k in range(min(clock.met, states)):
            s = min(learner.met[0, k, 0].state, states - 1)
            learner.cells[h, s, 0].news = seek(learner, h, s)[1]
            clock.news = max(clock.news, learner.cells[h, s, 0].news)


@generics.jitable
def expect(learner, h, s):
    """Write E, what each joint action at (h, s) is worth to each agent, into the scratch."""
    N, last = len(learner.actions), h + 1 == learner.horizon
    states = learner.met.shape[1]
    every = len(learner.model) - 1
    here = learner.model[h if learner.clock[0].differ == 1 and every > 0 else every, s, 0]
    for j in range(learner.worth.shape[1]):
        tried = here.seen[j] if last else here.moved[j]
        for i in range(N):
            learner.worth[i, j] = 0.0
        if not last:
            for k in range(min(here.successors[j], here.next.shape[1])):
                s_next, times = min(here.next[j, k], states - 1), float(here.count[j, k])
                for i in range(N):
                    learner.worth[i, j] += times * learner.cells[h + 1, s_next, i].value
        for i in range(N):
            best = learner.agents[i].best
            if tried > 0.0:
                mean = here.reward[j, i] / here.seen[j] + learner.worth[i, j] / tried
                learner.worth[i, j] = mean
                if tried < BELIEVED:
                    learner.worth[i, j] += (best - mean) * OPTIMISM / (tried + OPTIMISM)
            else:
                learner.worth[i, j] = best


@generics.jitable
def move(learner, h, s, rate):
    """Let all agents move at (h, s) by what their actions are worth there."""
    N, play, digit, left, q = len(learner.actions), learner.play, learner.digit, learner.left, learner.q
    for i in range(N):
        digit[i] = 0
        for a in range(learner.actions[i]):
            q[i, a] = 0.0
            play[i, a] = learner.cells[h, s, i].prob[a]
    for j in range(learner.worth.shape[1]):
        for i in range(N):  # the chance of what the agents before i do
            left[i + 1] = left[i] * play[i, digit[i]]
        right = 1.0
        for k in range(N):
            i = N - 1 - k
            q[i, digit[i]] += left[i] * right * learner.worth[i, j]
            right *= play[i, digit[i]]
        i = N - 1
        while i >= 0:
            digit[i] += 1
            if digit[i] < learner.actions[i]:
                break
            digit[i] = 0
            i -= 1
    for i in range(N):
        cell, n = learner.cells[h, s, i], learner.actions[i]
        for a in range(n):
            cell.average[a] += rate * (cell.prob[a] - cell.average[a])
        cell.value = match_ahead(cell.regret, cell.prob, learner.q[i], n, 0.0)


@generics.apart
def steps_differ(learner):
    """Return whether next states or rewards of the same joint action differ from step to step by more than chance.

    Were the n visits of a joint action dealt to the steps at random, n_h of them to step h, the share of its most
    frequent next state and its mean rewards there would have the variance σ²·(1 − n_h/n)/n_h. So the squares of their
    standardized differences have the mean 1 or, cut off at `CUT`, less, and a variance below `CUT`.
    """
    H, N, states = learner.horizon, len(learner.actions), learner.met.shape[1]
    total, number, between, within = 0.0, 0.0, 0.0, 0.0
    for k in range(min(learner.clock[0].met, states)):
        s = min(learner.met[0, k, 0].state, states - 1)
        whole = learner.model[H, s, 0]
        for j in range(learner.worth.shape[1]):
            most = 0
            for m in range(min(whole.successors[j], whole.next.shape[1])):
                if whole.count[j, m] > whole.count[j, most]:
                    most = m
            for h in range(H):
                here = learner.model[h, s, 0]
                if here.moved[j] >= ENOUGH and here.moved[j] < whole.moved[j]:
                    p = float(whole.count[j, most]) / whole.moved[j]
                    more = joint_model.chance(here, j, whole.next[j, most]) - p
                    number += p < 1.0
                    total += standardize(more, p * (1.0 - p), here.moved[j], whole.moved[j])
                if here.seen[j] >= ENOUGH and here.seen[j] < whole.seen[j]:
                    for i in range(N):
                        more = here.reward[j, i] / here.seen[j] - whole.reward[j, i] / whole.seen[j]
                        if whole.square[j, i] > ROUNDING * whole.reward[j, i] * whole.reward[j, i] / whole.seen[j]:
                            number += 1
                            between += here.seen[j] * more * more
                            within += here.square[j, i]
                            total += standardize(more, whole.square[j, i] / whole.seen[j], here.seen[j], whole.seen[j])
    if between > 0.0 and within <= ROUNDING * between:  # rewards without noise
        return 1
    return 1 if total - number > DIFFER * math.sqrt(CUT * number) else 0


@generics.jitable
def standardize(more, variance, n, of):
    """Return the square of a mean's difference in units of its variance, where n of so many were drawn, cut off."""
    if variance <= 0.0:
        return 0.0
    return min(more * more * n / (variance * (1.0 - n / of)), CUT)


def model_game(state: CentralModel) -> TabularGame:
    """Return what the counts say as a game.

    What was not tried at a step is taken from other steps; what was never tried in a state pays, and leads to, what the
    joint actions that were tried there did on average; a state that was never met leads to itself and pays nothing.
    """
    (N, J), H, S = state.worth.shape, state.horizon, state.model.shape[1]
    held = {name: state.model[name][:, :, 0, :J] for name in ("seen", "moved", "reward", "next", "count")}
    counts = np.where(held["next"] < S, held["count"], 0.0).astype(float)
    if state.clock["differ"][0] and len(state.model) > 1:
        tried, led = (held[name][:H] > 0 for name in ("seen", "moved"))
        seen = np.where(tried, held["seen"][:H], held["seen"][H])
        reward = np.where(tried[..., None], held["reward"][:H], held["reward"][H])
        following = np.where(led[..., None], held["next"][:H], held["next"][H])
        counts = np.where(led[..., None], counts[:H], counts[H])
    else:
        seen, reward, following, counts = held["seen"][-1:], held["reward"][-1:], held["next"][-1:], counts[-1:]
    steps = len(seen)
    mean = reward.sum(axis=2) / np.maximum(seen.sum(axis=2), 1.0)[..., None]  # [steps, S, N]
    rewards = np.where(seen[..., None] > 0, reward / np.maximum(seen, 1.0)[..., None], mean[:, :, None])
    h, s, j, k = np.nonzero(counts)
    onward, weight = following[h, s, j, k], counts[h, s, j, k]
    pooled = from_entries(h * S + s, onward, weight, steps * S)  # from each state, whatever was done there
    unknown = counts.sum(axis=3) == 0
    cell = np.nonzero(unknown)[0] * S + np.nonzero(unknown)[1]  # of each row that never led anywhere
    number = np.diff(pooled.first)[cell]
    entry = (
        np.repeat(pooled.first[cell], number) + np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    )
    rows = np.arange(seen.size).reshape(seen.shape)
    stuck = np.flatnonzero(unknown.ravel())[number == 0]
    moves = from_entries(
        np.concatenate([rows[h, s, j], np.repeat(np.flatnonzero(unknown.ravel()), number), stuck]),
        np.concatenate([onward, pooled.state[entry], stuck // J % S]),
        np.concatenate([weight, pooled.prob[entry], np.ones(len(stuck))]),
        seen.size,
    )
    total = np.repeat(np.add.reduceat(moves.prob, moves.first[:-1]), np.diff(moves.first))
    shape = (N, steps, S, *state.actions.tolist())
    table = np.moveaxis(rewards, -1, 0).reshape(shape)
    return TabularGame(moves._replace(prob=moves.prob / total), table, np.ones(S) / S, H)


def without_end(game: TabularGame, discount: float) -> TabularGame:
    """Return the discounted game of which a stretch is given: without the last state, "over"."""
    S, J = game.states - 1, game.joint_actions
    first, state, prob = game.successors
    row = np.repeat(np.arange(len(first) - 1), np.diff(first))
    goes_on = (row < S * J) & (state < S)
    stuck = np.setdiff1d(np.arange(S * J), row[goes_on])
    moves = from_entries(
        np.concatenate([row[goes_on], stuck]),
        np.concatenate([state[goes_on], stuck // J]),
        np.concatenate([prob[goes_on], np.ones(len(stuck))]),
        S * J,
    )
    total = np.repeat(np.add.reduceat(moves.prob, moves.first[:-1]), np.diff(moves.first))
    moves = moves._replace(prob=moves.prob / total)
    return TabularGame(moves, game.rewards[:, :, :S], np.ones(S) / S, discount=discount)


def counts_of(state: CentralModel, states: int) -> confidence.Counts:
    """Return what was counted at each step in the first so many states; nothing where next states were forgotten."""
    J, H = state.worth.shape[1], state.horizon
    held = {name: state.model[name][:H, :states, 0, :J] for name in ("seen", "reward", "next", "count", "successors")}
    whole = (held["successors"] < held["next"].shape[-1])[..., None] & (held["next"] < states)
    order = np.full(states, states + 1)
    met = state.met["state"][0, : int(state.clock["met"][0]), 0]
    order[met[met < states]] = np.flatnonzero(met < states) + 1
    return confidence.Counts(
        starts=held["seen"][0].sum(axis=1),
        seen=held["seen"],
        rewards=held["reward"],
        onward=np.where(whole, held["next"], 0),
        moved=np.where(whole, held["count"], 0.0).astype(float),
        order=order,
    )
