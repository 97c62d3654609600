"""Stages with a policy cover for a Markov cce: SPoCMAR. [Daskalakis, Golowich, Zhang 2022, Alg. 1 and 2]

A stage goes backwards over the steps h. At h fresh bandits play for K episodes behind each policy of the cover Π_h and
behind the uniform policy: the first h − 1 steps follow that policy, step h the bandit of its state. Bandits get

    loss = [H − r − V_{h+1}(s')]/H  where (h, s) is well visited,  [h − 1]/H elsewhere,

and after J rounds at (h, s)

    π̃_h(·|s) = the mean of the J joint actions that were played,
    V_h(s) = the mean of r + V_{h+1}(s') where (h, s) is well visited,  H − h + 1 elsewhere.

At the stage's end π̃ is played for some episodes. Every (h, s) that it met with frequency p or more becomes well visited
and has π̃ in its cover. If there is no new one, π̃ is returned.

Information: an agent's own actions and rewards, and a common seed, by which agents draw the same round of π̃.
Guarantee: an ε-approximate Markov cce, in time polynomial in the number of agents, for the source's K, N and p.
Deviations: rewards are brought to [0, 1]. After `memory` rounds at an (h, s) a bandit stops there, and after `stages`
stages the last π̃ is returned. Steps after h follow the π̃ of the stage, where the source acts arbitrarily. Once it has
ended, π̃ is played. The bandit is Exp3-IX, as the source suggests, with its own step size. Of stretches of a discounted
game there is a table for each step. The common bits are a hash of the seed, the episode and the step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits import Exp3IX, Setting
from tacit.core import check, generics
from tacit.core.records import NONNEGATIVE, capacity, index, record, records
from tacit.core.types import IntArray
from tacit.learners.model_central import JOINT
from tacit.learners.q_phases import hash_uniform
from tacit.learners.spec import Info, Learner, World, take_step_constant, unit_rewards
from tacit.policies import MarkovPolicy


@dataclass(frozen=True)
class Spocmar(Learner):
    """Stages with a policy cover for a Markov cce: SPoCMAR.

    Parameters
    ----------
    rounds : int
        K, the episodes of a step of a stage behind each policy of the cover.
    visits : int
        N, the episodes that estimate which states a policy visits.
    frequency : float
        p, the frequency from which on a state is well visited.
    memory : int
        Rounds that are remembered of a step and state in each stage.
    stages : int
        The most stages.
    step : "theory" or float
        η of the bandits, √(ι/(A·T)) with T = memory, or the number c in η = c/√(A·T).
    iota : float
        ι of that step size.
    common : int
        The common seed.

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), "spocmar", episodes=5000).gap < 0.3
    True
    """

    rounds: int = 1000
    visits: int = 100
    frequency: float = 0.05
    memory: int = 1000
    stages: int = 8
    step: float | str = 3.0
    iota: float = 1.0
    common: int = 0

    def __post_init__(self) -> None:
        check.plain_fields(self)
        for name, most in (("rounds", None), ("visits", None), ("memory", 1 << 20), ("stages", 1 << 10)):
            check.integer(name, getattr(self, name), least=1, most=most)
        check.integer("common", self.common, least=0, most=1 << 20)
        check.real("frequency", self.frequency, least=0, most=1)
        take_step_constant(self.step)
        check.positive("iota", self.iota)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info("cce", needs=frozenset({"seed"}))

    def init(self, world: World) -> SpocmarState:
        """Make the state of all agents."""
        H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
        bandit, spec = Exp3IX(), record(Exp3IX().fields(A))
        fields = [
            ("bandit", spec),
            ("added", index(self.stages + 1)),  # 1 + the stage whose policy covers it; 0 while it is not well visited
            ("value", NONNEGATIVE),  # V
            ("total", NONNEGATIVE),  # Σ (r + V_{h+1}) of the rounds
            ("met", "i8"),  # visits by π̃ at the stage's end
            ("prob", NONNEGATIVE, A),  # an agent's part of π̃ of the last complete stage
            ("rounds", index(self.memory + 1), self.stages),  # J of each stage
            ("actions", np.dtype("i2", metadata={"least": 0, "most": A - 1}), (self.stages, self.memory)),
        ]
        cells = records((H + 1, S, N), fields, "the rounds of all stages")
        for i, actions in enumerate(world.actions):
            cells["prob"][:, :, i, :actions] = 1.0 / actions
        clock = [
            ("episodes", "i8"),
            ("stage", index(self.stages)),  # q
            ("step", index(H + 1)),  # h, counted from 1; 0 while visits are estimated
            ("behind", index(self.stages + 1)),  # 1 + the stage whose policy leads to step h; 0 for the uniform policy
            ("count", "i8"),  # episodes of this part
            ("last", np.dtype("i8", metadata={"least": -1, "most": self.stages - 1})),  # the last complete stage
            ("done", index(2)),
        ]
        agents = records((N,), clock)  # all agents follow the schedule alike
        agents["step"], agents["last"] = H, -1
        low, scale = unit_rewards(world)
        return SpocmarState(
            cells=cells,
            steps=records((H, N), [("covers", index(2), self.stages)]),
            agents=agents,
            bandit=bandit.init(
                cells["bandit"], Setting(world.actions, self.memory, H, float(self.iota), take_step_constant(self.step))
            ),
            rounds=int(self.rounds),
            visits=int(self.visits),
            frequency=float(self.frequency),
            memory=int(self.memory),
            stages=int(self.stages),
            common=int(self.common),
            reward_low=low,
            reward_scale=scale,
            actions=world.actions,
            horizon=H,
        )

    def plan(self, state: Any, states: int, *, quick: bool = False) -> MarkovPolicy | None:
        """Return π̃ of the last stage that was completed, by the common seed; None before."""
        stage, sizes = int(state.agents["last"][0]), state.actions.tolist()
        if stage < 0 or math.prod(sizes) > JOINT:
            return None
        table = np.full((state.horizon, states, *sizes), 1.0 / math.prod(sizes))
        for h in range(state.horizon):
            for s in range(states):
                number = int(state.cells["rounds"][h, s, 0, stage])
                if number > 0:
                    played = state.cells["actions"][h, s, :, stage, :number]  # [N, J]
                    table[h, s] = 0.0
                    np.add.at(table[h, s], tuple(played), 1.0 / number)
        return MarkovPolicy(table)


class SpocmarState(NamedTuple):
    """All agents' bandits and rounds, and where they are in the schedule."""

    cells: Any  # [H+1, S, N]
    steps: Any  # [H, N]  covers: the stages whose policies cover a state of the step
    agents: Any  # [N]  episodes, and the clock
    bandit: Any
    rounds: int  # K
    visits: int  # N
    frequency: float  # p
    memory: int
    stages: int
    common: int
    reward_low: float
    reward_scale: float
    actions: IntArray  # [N]
    horizon: int


@generics.policy.implement(SpocmarState)
def policy(learner, i, h, s, out):
    """Write agent i's part of π̃ of the last complete stage; the uniform policy before."""
    for a in range(learner.actions[i]):
        out[a] = learner.cells[h, s, i].prob[a]


@generics.act.implement(SpocmarState)
def act(learner, i, h, s, u):
    """Follow the cover, the bandit or π̃; draw uniformly where there is nothing to follow."""
    me, cell = learner.agents[i], learner.cells[h, s, i]
    if me.done == 0 and h + 1 == me.step:
        return generics.draw(learner.bandit, cell.bandit, u)
    stage = me.last if me.done == 1 else me.stage
    if me.done == 0 and h + 1 < me.step:
        stage = me.behind - 1
    number = cell.rounds[max(stage, 0)] if stage >= 0 else 0
    if number == 0:
        return min(int(u * learner.actions[i]), learner.actions[i] - 1)
    shared = hash_uniform(0.0, me.episodes * learner.horizon + h, learner.common)
    return int(cell.actions[max(stage, 0), min(int(shared * number), number - 1)])


@generics.learn.implement(SpocmarState)
def learn(learner, i, h, s, a, r, s_next):
    """Play a round or count a visit; after the last step move on."""
    me, cell = learner.agents[i], learner.cells[h, s, i]
    if me.done == 0 and me.step == 0:
        cell.met += 1
    elif me.done == 0 and h + 1 == me.step and cell.rounds[me.stage] < learner.memory:
        n = cell.rounds[me.stage]
        value = (r - learner.reward_low) * learner.reward_scale + learner.cells[h + 1, s_next, i].value
        loss = (learner.horizon - value) / learner.horizon if cell.added > 0 else h / learner.horizon
        generics.update(learner.bandit, cell.bandit, a, loss, generics.prob(learner.bandit, cell.bandit, a))
        cell.actions[me.stage, n] = a
        cell.rounds[me.stage] = n + 1
        cell.total += value
    if h == learner.horizon - 1:
        me.episodes += 1
        if me.done == 0:
            move_on(learner, i)


@generics.apart
def move_on(learner, i):
    """End a part of the schedule that has had its episodes, and begin the next."""
    me, states = learner.agents[i], learner.cells.shape[1]
    me.count += 1
    if me.count < (learner.visits if me.step == 0 else learner.rounds):
        return
    me.count = 0
    if me.step == 0:
        end_stage(learner, i)
        return
    h = me.step - 1
    for stage in range(me.behind, me.stage):  # the next policy of the cover
        if learner.steps[h, i].covers[stage] == 1:
            me.behind = stage + 1
            return
    for s in range(states):
        cell = learner.cells[h, s, i]
        n = cell.rounds[me.stage]
        cell.value = cell.total / n if cell.added > 0 and n > 0 else learner.horizon - h
    me.behind = 0
    me.step = h
    begin_step(learner, i)


@generics.apart
def begin_step(learner, i):
    """Begin with fresh bandits at the step."""
    me = learner.agents[i]
    for s in range(learner.cells.shape[1]):
        if me.step > 0:
            cell = learner.cells[me.step - 1, s, i]
            cell.total = 0.0
            cell.rounds[me.stage] = 0
            generics.restart(learner.bandit, cell.bandit, learner.memory)


@generics.apart
def end_stage(learner, i):
    """Add what π̃ visits to the well-visited states; end, or begin the next stage."""
    me, fresh = learner.agents[i], False
    for h in range(learner.horizon):
        for s in range(learner.cells.shape[1]):
            cell = learner.cells[h, s, i]
            if cell.added == 0 and cell.met > 0 and cell.met >= learner.frequency * learner.visits:
                cell.added = me.stage + 1
                learner.steps[h, i].covers[me.stage] = 1
                fresh = True
            cell.met = 0
            number = cell.rounds[me.stage]
            for a in range(learner.actions[i]):
                cell.prob[a] = 1.0 / learner.actions[i] if number == 0 else 0.0
            for j in range(number):
                cell.prob[cell.actions[me.stage, j]] += 1.0 / number
    me.last = me.stage
    if not fresh or me.stage + 1 == learner.stages:
        me.done = 1
        return
    me.stage += 1
    me.step = learner.horizon
    begin_step(learner, i)
