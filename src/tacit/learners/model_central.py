"""All agents share one model of the joint actions, and plan on it together.

Rewards and next states are counted for every state and joint action a. After every batch of episodes (5 % of those
played, and as many as take as long to play as a plan) all agents plan on the counts in a sweep backwards over the steps
(`joint_model.py`): predictive regret matching⁺ on the values of the joint actions, the best return so far for
those that were never tried. Steps share their counts until there is evidence that they differ.

- Exploration: every fifth episode goes where least is known. All agents take the joint action of largest

      U_h(s, a) = 1/(1 + n)² + Σ_{s'} P̂(s'|s, a)·max_b U_{h+1}(s', b),   the first term for n < 10 visits.

  So a reward at the end of a long path is found, and deviations are tried. In other episodes each agent takes a uniform
  action with probability min(0.3, (1 + k/50)^−0.34).
- The returned policy is an equilibrium of the model as a game, by `tacit.solve`: of the kind that is asked for, and of
  largest welfare among those that it finds; large models by 200 sweeps. It is the candidate "planned", beside the last
  iterate. For rows of the curve small models are solved whenever there are twice as many episodes.

While learning, all actions and rewards are shared: a simulator, or centralized training. The returned policy needs none
of it: a product policy for nash, a common seed for cce and ce. Discounted games have one table for all steps. In play
that never resets an episode is 1/(1 − γ) periods, and the best return the largest reward over 1 − γ.

Guarantees: with all (s, a) visited ever more often the model tends to the game, and its equilibria to the game's.
Ablation: docs/research/ablation.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.bandits.spec import pick, share
from tacit.core import check, generics
from tacit.core.elementary import log, pow
from tacit.core.errors import TacitError
from tacit.core.records import NONNEGATIVE, Fields, capacity, index, records
from tacit.core.types import IntArray
from tacit.evaluation.solve import solve
from tacit.learners import joint_model
from tacit.learners.joint_model import LIMIT, Scratch
from tacit.learners.spec import Info, Learner, World
from tacit.policies import MarkovPolicy

#: Joint actions up to which there is a model of them.
JOINT = 4096
#: Plans are made when the episodes have grown by one in so many.
BATCH = 20
#: Joint actions of all agents and states that are planned in the time of playing one step.
PLANNED = 15
#: One in so many episodes goes where least is known.
SEEKS = 5
#: What was tried so often is known.
KNOWN = 10.0
#: Entries of a model up to which it is solved exactly where that is possible; a quarter of that for rows of the curve.
EXACT = 20_000
#: Bytes up to which each step has counts of its own.
EACH = 1 << 27


@dataclass(frozen=True)
class ModelCentral(Learner):
    """All agents share one model of the joint actions and plan on it together.

    Parameters
    ----------
    equilibrium : {"nash", "cce", "ce"}
        What is returned: a product policy, or one that agents follow by a common seed.
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
    endless = True

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.choice("equilibrium", self.equilibrium, ("nash", "cce", "ce"))
        check.integer("successors", self.successors, least=1, most=1 << 20)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(self.equilibrium, needs=frozenset({"all agents"}), reward_scale_free=True)

    def explores(self, state: Any, i: int) -> float:
        """Return the probability of a uniform action now."""
        return float(state.clock["exploration"][0])

    def init(self, world: World) -> CentralModel:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        joint = math.prod(int(size) for size in world.actions)
        if joint > JOINT:
            raise TacitError(f"model-central takes at most {JOINT:,} joint actions; got {joint:,}")
        discounted, endless = world.continues < 1.0 or world.discount is not None, world.discount is not None
        window = world.scale.horizon if endless else H
        fields = joint_model.fields(joint, self.successors, N)
        each = not discounted and (H + 1) * S * records((1,), fields).nbytes <= EACH
        cells = records((1 if discounted else H + 1, S, N), cell_fields(A))
        for i, size in enumerate(world.actions):
            cells["prob"][:H, :, i, :size] = 1.0 / size
        clock = records((1,), [*clock_fields(S), ("passed", index(window if endless else 1))])
        clock["exploration"] = 0.3
        agents = records((N,), agent_fields(A))
        agents["low"], agents["high"] = math.inf, -math.inf
        agents["best"] = -math.inf
        return CentralModel(
            cells=cells,
            model=records((H + 1 if each else 1, S, 1), fields, "the model of all joint actions"),
            agents=agents,
            clock=clock,
            scratch=joint_model.make_scratch(N, joint, A),
            actions=world.actions,
            joint=joint,
            horizon=window,
            discount=world.continues if world.discount is None else world.discount,
            over=S - 1 if world.continues < 1.0 else -1,
            endless=int(endless),
        )

    def plan(self, state: Any, states: int, *, quick: bool = False) -> MarkovPolicy | None:
        """Return an equilibrium of the model, for the first so many states. With `quick` only of a small model."""
        size = state.horizon * state.model.shape[1] * state.joint
        if quick and size > EXACT // 4:
            return None
        game = joint_model.model_game(state)
        policy = solve(game, self.equilibrium, method="auto" if size <= EXACT else "learn", rounds=200).policy
        probs = [table[:, :states] for table in policy.probs]
        return MarkovPolicy(probs if policy.product else probs[0])


def cell_fields(actions: int) -> Fields:
    """Return what is remembered of an agent at a step and state."""
    return [
        ("prob", NONNEGATIVE, actions),  # π
        ("regret", NONNEGATIVE, actions),  # R
        ("value", "f8"),  # V
        ("news", NONNEGATIVE),  # max_b U_h(s, b) by the last plan; of the first agent
    ]


def agent_fields(actions: int) -> Fields:
    """Return what is remembered of an agent."""
    return [
        ("action", index(actions)),
        ("reward", "f8"),
        ("gained", "f8"),  # rewards of the running episode
        ("best", "f8"),  # G
        *joint_model.ERRORS,
    ]


def clock_fields(states: int) -> Fields:
    """Return what is remembered besides."""
    return [
        ("episodes", "i8"),  # k
        ("due", "i8"),  # k of the next plan
        ("met", index(states + 1)),  # states that were met
        ("exploration", NONNEGATIVE),
        ("differ", index(2)),  # whether each step has its own model
        ("apart", "f8"),  # evidence of that in next states
        ("news", NONNEGATIVE),  # the largest U
        ("seeks", index(2)),  # whether this episode goes where least is known
    ]


class CentralModel(NamedTuple):
    """The model, and all agents' policies."""

    cells: Any  # [H+1, S, N]; [1, S, N] in a discounted game
    model: Any  # [H+1, S, 1]  of each step; the last, or the only one, of all steps together
    agents: Any  # [N]
    clock: Any  # [1]
    scratch: Scratch
    actions: IntArray  # [N]
    joint: int  # J
    horizon: int
    discount: float  # γ
    over: int  # the state after the end of a discounted game, -1 elsewhere
    endless: int  # 1 where play never resets, and an episode is a window of 1/(1 − γ) periods; otherwise 0


@generics.jitable
def cell_at(learner, i, h, s):
    """Return what is remembered of agent i at (h, s)."""
    return learner.cells[min(h, len(learner.cells) - 1), s, i]


@generics.jitable
def counts_at(learner, h, s):
    """Return the counts of the step where steps differ, otherwise of all steps."""
    last = len(learner.model) - 1
    return learner.model[min(h, last) if learner.clock[0].differ == 1 else last, s, 0]


@generics.policy.implement(CentralModel)
def policy(learner, i, h, s, out):
    """Write π; `act` explores beyond it."""
    share(cell_at(learner, i, h, s).prob, 1.0, learner.actions[i], out)


@generics.act.implement(CentralModel)
def act(learner, i, h, s, u):
    """Go where least is known; otherwise explore, or draw from π."""
    n, explored = learner.actions[i], learner.clock[0].exploration
    if learner.clock[0].seeks == 1:
        return joint_model.part(seek(learner, h, s)[0], learner.actions, i)
    if u < explored:
        return min(int(u / explored * n), n - 1)
    return pick(cell_at(learner, i, h, s).prob, 1.0, n, (u - explored) / (1.0 - explored))


@generics.learn.implement(CentralModel)
def learn(learner, i, h, s, a, r, s_next):
    """Note one agent's step. After the last agent's, count it, and after the last step of a batch, plan."""
    me, clock, N = learner.agents[i], learner.clock[0], len(learner.actions)
    me.action, me.reward = a, r
    endless, last = learner.endless == 1, h + clock.passed + 1 == learner.horizon
    me.gained = r / (1.0 - learner.discount) if endless else me.gained + r if h > 0 else r
    if last or endless:
        me.best = max(me.best, me.gained)
    if i == N - 1:
        if s != learner.over:
            count_step(learner, h, s, s_next, (last and not endless) or s_next == learner.over)
        clock.passed = 0 if last else clock.passed + learner.endless
        if last:
            clock.episodes += 1
            if clock.episodes >= clock.due:
                plan(learner)
            clock.seeks = 1 if clock.news > 1.0 / (KNOWN * KNOWN) and clock.episodes % SEEKS == 0 else 0


@generics.apart
def count_step(learner, h, s, s_next, ended):
    """Count a step of all agents, for itself and for all steps."""
    clock, N, steps = learner.clock[0], len(learner.actions), len(learner.model)
    joint = 0
    for i in range(N):
        joint = joint * learner.actions[i] + learner.agents[i].action
    take_in(learner, s)
    if not ended:
        take_in(learner, s_next)
    step, every = learner.model[min(h, steps - 1), s, 0], learner.model[steps - 1, s, 0]
    for i in range(N):
        me = learner.agents[i]
        me.low, me.high = min(me.low, me.reward), max(me.high, me.reward)
        joint_model.compare_reward(me, step, every, joint, i, me.reward)
    if not ended:
        by_step = joint_model.predict(step, joint, s_next, 1.0 / clock.met)
        clock.apart += log(by_step / joint_model.predict(every, joint, s_next, 1.0 / clock.met))
    for level in range(0 if steps > 1 else 1, 2):
        here = step if level == 0 else every
        joint_model.count_rewards(here, joint, learner.agents)
        if not ended:
            joint_model.count_move(here, joint, s_next)


@generics.jitable
def take_in(learner, s):
    """Take a state in that was not met before: nothing of it is known."""
    if joint_model.meet(learner.model, learner.clock[0], s):
        for h in range(min(learner.horizon, len(learner.cells))):
            learner.cells[h, s, 0].news = 1.0


@generics.apart
def seek(learner, h, s):
    """Return the joint action of largest U by what is counted now, and U."""
    last, chosen, most, here = h + 1 == learner.horizon, 0, -1.0, counts_at(learner, h, s)
    for j in range(learner.joint):
        tried, news = here.seen[j] if last else here.moved[j], 0.0
        if not last and here.moved[j] > 0.0:
            for k in range(min(here.successors[j], here.next.shape[1])):
                s_next = min(here.next[j, k], learner.model.shape[1] - 1)
                news += float(here.count[j, k]) * cell_at(learner, 0, h + 1, s_next).news
            news *= learner.discount / here.moved[j]
        if tried < KNOWN:
            news += 1.0 / ((1.0 + tried) * (1.0 + tried))
        if news > most:
            chosen, most = j, news
    return chosen, most


@generics.apart
def plan(learner):
    """Sweep backwards over the steps, and begin the next batch."""
    clock, N, states = learner.clock[0], len(learner.actions), learner.model.shape[1]
    if len(learner.model) > 1:
        clock.differ = 1 if clock.apart > LIMIT else 0
        for i in range(N):
            clock.differ = 1 if joint_model.rewards_differ(learner.agents[i]) else clock.differ
    clock.news = 0.0
    for sweep in range(learner.horizon - 1, -1, -1):
        h = 0 if learner.endless == 1 else sweep
        for k in range(min(clock.met, states)):
            s = min(learner.model[0, k, 0].state, states - 1)
            joint_model.value_joint_actions(learner, counts_at(learner, h, s), h)
            joint_model.respond(learner, h, s)
            for i in range(N):
                cell = cell_at(learner, i, h, s)
                cell.value = joint_model.match_ahead(cell.regret, cell.prob, learner.scratch.q[i], learner.actions[i])
            first = cell_at(learner, 0, h, s)
            first.news = seek(learner, h, s)[1]
            clock.news = max(clock.news, first.news)
    clock.exploration = min(0.3, pow(1.0 + clock.episodes / 50.0, -0.34))
    batch = max(clock.episodes // BATCH, N * clock.met * learner.joint // PLANNED)
    clock.due = clock.episodes + 1 + batch
