"""All agents share one model of the world while they learn, and plan on it together; afterwards each plays alone.

What was played, paid and met in a state is counted for every joint action a. After every batch of episodes (5 % of
those played, at least 50, and as many as take as long to play as a plan takes) all agents plan on the counts, in a
sweep backwards over the steps, with predictive regret matching⁺ at every (h, s) that was met (`joint_model.py`):

    E_i(s, a) = r̄_i(s, a) + Σ_{s'} P̂(s'|s, a)·V_{i,h+1}(s'), where n < 30 visits made it (n·E_i + 0.1·G_i)/(n + 0.1)
    Q_i(a_i) = E_{a_-i ~ π}[E_i(s, a)],  V_i = Σ_{a_i} π_i(a_i)·Q_i(a_i),  D(a_i) = Q_i(a_i) − V_i
    R ← max(R + D, 0),  π_i ∝ max(R + D, 0)     [Farina, Kroer, Sandholm 2021]

- Optimism: what was never tried is worth G_i, the best return of agent i so far. So play goes where nobody was.
- News: every second episode while all returns are equal, and every fifth after that, is for what is not known: all
  agents take the joint action of largest U(s, a) = 1/(1 + n)² + Σ_{s'} P̂(s'|s, a)·max U_{h+1}(s', ·), the first term
  for n < 10 visits that a next state followed. So a reward at the end of a long way is found, beside smaller ones that
  are near too, and what would be gained off the beaten track is known.
- Steps: counts are shared by all steps until those of each step foretell next states or rewards better, by a likelihood
  ratio of 1000. Where counts of each step would take more than 128 MB there are none of them.
- While learning, each agent takes an even action with probability min(0.3, (1 + k/50)^−0.34).
- The answer is an equilibrium of the model, computed by `tacit.solve` on the counts: of the kind that is asked for, and
  of largest welfare among those that it finds; large models by 200 sweeps. It is the candidate "planned", beside the
  last iterate. For rows of the curve small models are solved whenever there are twice as many episodes.

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

from tacit.bandits.spec import pick
from tacit.core import check, generics
from tacit.core.errors import TacitError
from tacit.core.records import NONNEGATIVE, Fields, capacity, index, records
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation import confidence
from tacit.evaluation.solve import solve
from tacit.games.successors import from_entries
from tacit.games.tabular import TabularGame
from tacit.learners import joint_model
from tacit.learners.joint_model import (
    LIMIT,
    Scratch,
    compare_move,
    compare_reward,
    count_move,
    explored,
    hope,
    match_ahead,
    meet,
    respond,
    rewards_differ,
    state_met,
    value_joint_actions,
)
from tacit.learners.spec import Learner, World
from tacit.policies import MarkovPolicy

#: Joint actions up to which there is a model of them.
JOINT = 4096
#: Episodes of a batch: at least so many, and one for so many played.
FEWEST, SHARE = 50, 20
#: Products of a plan that take as long as playing one step, and how many a joint action takes beside its next states.
PRODUCTS, WORK = 60.0, 4.0
#: Exploration at most, and the visits that the best return counts for.
MOST, OPTIMISM = 0.3, 0.1
#: One in so many episodes is for what is not known, while all returns are equal and after that.
OFTEN, LATER = 2, 5
#: What was tried so often is known, and less news than this is none.
KNOWN, LITTLE = 10.0, 0.01
#: Numbers of a model up to which it is solved exactly where that is possible; above, by so many sweeps.
EXACT, ROUNDS = 20_000, 200
#: Those up to which it is solved again and again for rows of the curve, each time in some tenths of a second at most.
QUICK = 5_000
#: Bytes and steps up to which each step has counts of its own; above, there are only those of all steps together.
EACH, STEPS = 1 << 27, 1000
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
        fields = [*joint_model.MET, *joint_model.fields(joint_model.rows_for(joint), self.successors, N)]
        stationary = world.continues < 1.0  # a discounted game is the same at all steps of a stretch
        each = not stationary and H <= STEPS and (H + 1) * S * records((1,), fields).nbytes <= EACH
        model = records((H + 1 if each else 1, S, 1), fields, "the model of all joint actions")
        cells = records((H + 1, S, N), cell_fields(A))
        for i, size in enumerate(world.actions):
            cells["prob"][:H, :, i, :size] = 1.0 / size
        clock = records((1,), clock_fields(S))
        clock["due"], clock["exploration"] = FEWEST, MOST
        agents = records((N,), agent_fields(A))
        agents["low"], agents["high"] = 1e300, -1e300
        return CentralModel(
            cells=cells,
            model=model,
            agents=agents,
            clock=clock,
            scratch=joint_model.make_scratch(S, N, joint, N, A),
            actions=world.actions,
            rows=joint,
            horizon=H,
            continues=world.continues,
        )

    def plan(self, state: Any, states: int, *, quick: bool = False) -> MarkovPolicy | None:
        """Return an equilibrium of the model, for the first so many states; with `quick` only of a small model."""
        if quick and state.horizon * state.model.shape[1] * state.rows > QUICK:
            return None
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
        *joint_model.ERRORS,
    ]


def clock_fields(states: int) -> Fields:
    """Return what is remembered besides."""
    return [
        ("episodes", "i8"),  # k
        ("due", "i8"),  # k of the next plan
        ("met", index(states + 1)),  # states that were met
        ("links", "f8"),  # next states of joint actions
        ("spent", "f8"),  # products of all sweeps, for each step
        ("exploration", NONNEGATIVE),
        ("differ", index(2)),  # whether each step has its own model
        ("apart", "f8"),  # evidence of that in next states
        ("paid", index(2)),  # whether returns of an agent differed
        ("news", NONNEGATIVE),  # the most that an episode can bring, by the last plan
        ("seeks", index(2)),  # whether this episode is for what is not known
    ]


class CentralModel(NamedTuple):
    """The model, and all agents' policies."""

    cells: Any  # [H+1, S, N]
    model: Any  # [H+1, S, 1]  of each step; the last, or the only one, of all steps together
    agents: Any  # [N]
    clock: Any  # [1]
    scratch: Scratch
    actions: IntArray  # [N]
    rows: int  # J
    horizon: int
    continues: float  # γ in stretches of a discounted game, whose last state is "over"; otherwise 1


generics.weigh.implement(CentralModel)(joint_model.weigh)


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
        take_in(learner, s)
        if not last:
            take_in(learner, s_next)
        count(learner, h, s, joint, s_next)
        if last:
            clock.episodes += 1
            if clock.episodes >= clock.due:
                plan(learner)
            often = OFTEN if clock.paid == 0 else LATER
            clock.seeks = 1 if clock.news > LITTLE and clock.episodes % often == 0 else 0


@generics.jitable
def take_in(learner, s):
    """Take a state in that was not met before: all of it is news."""
    if meet(learner.model, 0, learner.clock[0], s):
        for h in range(learner.horizon):
            learner.cells[h, s, 0].news = 1.0


@generics.apart
def count(learner, h, s, joint, s_next):
    """Count a step of all agents, for itself and for all steps."""
    clock, N, last, steps = learner.clock[0], len(learner.actions), h + 1 == learner.horizon, len(learner.model)
    own, every = learner.model[min(h, steps - 1), s, 0], learner.model[steps - 1, s, 0]
    for k in range(N):
        me = learner.agents[k]
        me.low, me.high = min(me.low, me.reward), max(me.high, me.reward)
        compare_reward(me, own, every, joint, k, me.reward)
    if not last:
        clock.apart += compare_move(own, own.count, every, every.count, joint, s_next, clock.met)
    known = every.successors[joint]
    for level in range(0 if steps > 1 else 1, 2):
        here = own if level == 0 else every
        for k in range(N):
            here.reward[joint, k] += learner.agents[k].reward
        here.seen[joint] += 1.0
        if not last:
            count_move(here, joint, s_next, 1.0)
    clock.links += every.successors[joint] - known


@generics.jitable
def view(learner, h, s):
    """Return what is planned on: counts of the step where steps differ, otherwise those of all steps."""
    every = len(learner.model) - 1
    return learner.model[h if learner.clock[0].differ == 1 and every > 0 else every, s, 0]


@generics.apart
def seek(learner, h, s):
    """Return the joint action that brings most news by what is counted now, and how much."""
    last, found, most, here = h + 1 == learner.horizon, 0, -1.0, view(learner, h, s)
    for j in range(learner.rows):
        tried, news = here.seen[j] if last else here.moved[j], 0.0
        if not last and here.moved[j] > 0.0:
            for k in range(min(here.successors[j], here.next.shape[1])):
                s_next = min(here.next[j, k], learner.model.shape[1] - 1)
                news += float(here.count[j, k]) * learner.cells[h + 1, s_next, 0].news
            news /= here.moved[j]
        if tried < KNOWN:
            news += 1.0 / ((1.0 + tried) * (1.0 + tried))
        if news > most:
            found, most = j, news
    return found, most


@generics.apart
def plan(learner):
    """Sweep backwards over the steps, and begin the next batch."""
    clock, N = learner.clock[0], len(learner.actions)
    if len(learner.model) > 1:
        clock.differ = 1 if clock.apart > LIMIT else 0
        for i in range(N):
            clock.differ = 1 if rewards_differ(learner.agents[i]) else clock.differ
    clock.news = 0.0
    for d in range(learner.horizon):
        for k in range(min(clock.met, learner.model.shape[1])):
            h, s = learner.horizon - 1 - d, state_met(learner.model, 0, k)
            move(learner, d, s)
            learner.cells[h, s, 0].news = seek(learner, h, s)[1]
            clock.news = max(clock.news, learner.cells[h, s, 0].news)
    clock.exploration = explored(clock.episodes, MOST)
    work = N * (WORK * clock.met * learner.rows + clock.links)
    clock.spent += work
    paid = int((clock.spent + work) / PRODUCTS)  # by playing so many episodes
    clock.due = max(paid, clock.episodes + max(FEWEST, clock.episodes // SHARE))


@generics.jitable
def move(learner, d, s):
    """Let all agents move in a state d steps before the last, by what their actions are worth there."""
    h, N, room = learner.horizon - 1 - d, len(learner.actions), learner.scratch
    value_joint_actions(learner, view(learner, h, s), d, 0, 0, N, 1)
    for i in range(N):
        hope(learner, i, learner.agents[i].best, OPTIMISM)
        for a in range(learner.actions[i]):
            room.play[i, a] = learner.cells[h, s, i].prob[a]
    respond(learner, N, 0, 1, True)
    for i in range(N):
        cell = learner.cells[h, s, i]
        room.values[d % 2, s, i] = match_ahead(cell.regret, cell.prob, room.q[i], learner.actions[i], 0.0)


def model_game(state: CentralModel) -> TabularGame:
    """Return what the counts say as a game.

    What was not tried at a step is taken from other steps; what was never tried in a state pays, and leads to, what the
    joint actions that were tried there did on average; a state that was never met leads to itself and pays nothing.
    """
    N, J, H, S = len(state.actions), state.rows, state.horizon, state.model.shape[1]
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
    J, H = state.rows, state.horizon
    held = {name: state.model[name][:H, :states, 0, :J] for name in ("seen", "reward", "next", "count", "successors")}
    whole = (held["successors"] < held["next"].shape[-1])[..., None] & (held["next"] < states)
    order = np.full(states, states + 1)
    met = state.model["state"][0, : int(state.clock["met"][0]), 0]
    order[met[met < states]] = np.flatnonzero(met < states) + 1
    return confidence.Counts(
        starts=held["seen"][0].sum(axis=1),
        seen=held["seen"],
        rewards=held["reward"],
        onward=np.where(whole, held["next"], 0),
        moved=np.where(whole, held["count"], 0.0).astype(float),
        order=order,
    )
