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
        H, A, stage = world.horizon, capacity(world.actions.max()), index(self.stages + 1)
        bandit, (low, scale) = Exp3IX(), unit_rewards(world)
        clock = [("episodes", "i8"), ("began", "i8"), ("step", index(H + 1)), ("stage", stage), ("behind", stage)]
        agents = records((world.agents,), [*clock, ("last", stage)])
        agents["stage"], agents["step"] = 1, H
        fields = [
            ("bandit", record(bandit.fields(A))),
            ("added", stage),
            ("value", NONNEGATIVE),
            ("met", "i8"),
            ("rounds", index(self.memory + 1), self.stages + 1),
            ("actions", np.dtype("i2", metadata={"least": 0, "most": A - 1}), (self.stages + 1, self.memory)),
        ]
        cells = records((H + 1, world.states, world.agents), fields, "the rounds of all stages")
        setting = Setting(world.actions, self.memory, H, float(self.iota), take_step_constant(self.step))
        return SpocmarState(
            cells=cells,
            agents=agents,
            bandit=bandit.init(cells["bandit"], setting),
            **{name: int(getattr(self, name)) for name in ("rounds", "visits", "common")},
            frequency=float(self.frequency),
            reward_low=low,
            reward_scale=scale,
            actions=world.actions,
            horizon=H,
        )

    def plan(self, state: Any, states: int, *, quick: bool = False) -> MarkovPolicy | None:
        """Return π̃ of the last stage that was completed, by the common seed; None before."""
        stage, sizes = int(state.agents["last"][0]), state.actions.tolist()
        if stage == 0 or math.prod(sizes) > JOINT:
            return None
        rounds = state.cells["rounds"][: state.horizon, :states, 0, stage]
        table = np.full((*rounds.shape, *sizes), 1.0 / math.prod(sizes))
        for h, s in np.argwhere(rounds > 0):
            played = state.cells["actions"][h, s, :, stage, : rounds[h, s]]  # [N, J]
            table[h, s] = 0.0
            np.add.at(table[h, s], tuple(played), 1.0 / rounds[h, s])
        return MarkovPolicy(table)


class SpocmarState(NamedTuple):
    """All agents' bandits and rounds, and where they are in the schedule, which all follow alike.

    Stages count from 1, and 0 stands for the uniform policy, of which there are no rounds. A cell has its bandit;
    added, the first stage whose policy visits it well, or 0; value, V, or while its step is played Σ (r + V_{h+1}) of
    the rounds; met, the visits by π̃ at the stage's end; and of each stage rounds, J, and the agent's actions in them.

    The clock has the episodes so far; stage, q; step, h counted from 1, or 0 while visits are estimated; behind, the
    stage whose policy leads to step h; began, the episodes before this part; last, the last stage that is over, which
    is `stage` when all is over.
    """

    cells: Any  # [H+1, S, N]  bandit, added, value, met, rounds [stages + 1], actions [stages + 1, memory]
    agents: Any  # [N]  episodes, began, step, stage, behind, last
    bandit: Any
    rounds: int  # K
    visits: int  # N
    frequency: float  # p
    common: int
    reward_low: float
    reward_scale: float
    actions: IntArray  # [N]
    horizon: int


@generics.policy.implement(SpocmarState)
def policy(learner, i, h, s, out):
    """Write agent i's part of π̃ of the last complete stage; the uniform policy where there is none."""
    stage, cell = learner.agents[i].last, learner.cells[h, s, i]
    number = cell.rounds[stage]
    for a in range(learner.actions[i]):
        out[a] = 1.0 / learner.actions[i] if number == 0 else 0.0
    for j in range(number):
        out[cell.actions[stage, j]] += 1.0 / number


@generics.act.implement(SpocmarState)
def act(learner, i, h, s, u):
    """Follow the cover, the bandit or π̃; draw uniformly where there is nothing to follow."""
    me, cell = learner.agents[i], learner.cells[h, s, i]
    if h + 1 == me.step:
        return generics.draw(learner.bandit, cell.bandit, u)
    stage = me.behind if h + 1 < me.step else me.stage
    number = cell.rounds[stage]
    if number == 0:
        return min(int(u * learner.actions[i]), learner.actions[i] - 1)
    shared = hash_uniform(0.0, me.episodes * learner.horizon + h, learner.common)
    return int(cell.actions[stage, min(int(shared * number), number - 1)])


@generics.learn.implement(SpocmarState)
def learn(learner, i, h, s, a, r, s_next):
    """Play a round or count a visit; after the last step move on."""
    me, cell = learner.agents[i], learner.cells[h, s, i]
    n = cell.rounds[me.stage]
    if me.step == 0:
        cell.met += 1
    elif h + 1 == me.step and n < cell.actions.shape[1]:
        value = (r - learner.reward_low) * learner.reward_scale + learner.cells[h + 1, s_next, i].value
        loss = (learner.horizon - value) / learner.horizon if cell.added > 0 else h / learner.horizon
        generics.update(learner.bandit, cell.bandit, a, loss, generics.prob(learner.bandit, cell.bandit, a))
        cell.actions[me.stage, n] = a
        cell.rounds[me.stage] = n + 1
        cell.value = value if n == 0 else cell.value + value
    if h == learner.horizon - 1:
        me.episodes += 1
        if me.last < me.stage and me.episodes - me.began >= (learner.visits if me.step == 0 else learner.rounds):
            me.began = me.episodes
            move_on(learner, i)


@generics.apart
def move_on(learner, i):
    """Go on with the next policy of the cover; after the last write V, and go a step back, or end the stage."""
    me, h, states = learner.agents[i], learner.agents[i].step - 1, learner.cells.shape[1]
    if me.step == 0:
        end_stage(learner, i)
        return
    for stage in range(me.behind + 1, me.stage):
        for s in range(states):
            if learner.cells[h, s, i].added == stage:
                me.behind = stage
                return
    for s in range(states):
        cell = learner.cells[h, s, i]
        n = cell.rounds[me.stage]
        cell.value = cell.value / n if cell.added > 0 and n > 0 else learner.horizon - h
        generics.restart(learner.bandit, cell.bandit, cell.actions.shape[1])  # for the next stage
    me.behind, me.step = 0, h


@generics.apart
def end_stage(learner, i):
    """Add what π̃ visits to the well-visited states; begin the next stage if that was news."""
    me, news = learner.agents[i], False
    for h in range(learner.horizon):
        for s in range(learner.cells.shape[1]):
            cell = learner.cells[h, s, i]
            if cell.added == 0 and cell.met > 0 and cell.met >= learner.frequency * learner.visits:
                cell.added, news = me.stage, True
            cell.met = 0
    me.last = me.stage
    if news and me.stage + 1 < len(cell.rounds):
        me.stage, me.step = me.stage + 1, learner.horizon
