"""Q-learning of joint actions, with the value of a stage game for the maximum. [Littman 1994; Hu, Wellman 2003]

    Q_{h,i}(s, a) ← Q_{h,i}(s, a) + α_n·(r_i + Val_i(Q_{h+1}(s', ·)) − Q_{h,i}(s, a)),   a joint,

where Val is the agents' values in an equilibrium of the stage game with payoffs Q(s', ·):

- operator = "nash": a Nash equilibrium [Hu, Wellman 2003];
- "minimax": the same of a zero-sum game of two agents, max_x min_y x·Q·y [Littman 1994];
- "friend": Val_i = max_a Q_i(s', a), as if all others helped [Littman 2001];
- "correlated": a correlated equilibrium [Greenwald, Hall 2003].

Information: centralized; one learner sees all actions and rewards, and draws joint actions.
Guarantee: with every (s, a) visited for ever, Q converges to the game's: for "minimax" always, for "friend" in teams,
for "nash" if all stage games met have an equilibrium that is a global optimum or a saddle and these are used.
Deviations: one table for each step of a finite horizon. Stage games are solved in the loop to a stated tolerance by
`stage_equilibrium.py`; a Nash equilibrium that is not deterministic is approximated outside zero-sum games. Of
correlated equilibria there is no choice by welfare as in the source's four variants. α_n = (H + 1)/(H + n) after n
visits, or a constant; exploration draws a uniform joint action with probability ε.
Read in: for "nash" the abstract, and the Julia code of a textbook [Kochenderfer, Wheeler, Wray 2022], which has
α_n = 1/√n; the other operators are as they are commonly stated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import pick
from tacit.core import check, generics
from tacit.core.errors import TacitError
from tacit.core.records import NONNEGATIVE, capacity, index, records
from tacit.core.types import IntArray
from tacit.learners import joint_model, stage_equilibrium
from tacit.learners.model_central import JOINT
from tacit.learners.spec import Info, Learner, World
from tacit.learners.stage_equilibrium import StageScratch
from tacit.policies import MarkovPolicy

#: The kind of stage equilibrium of each operator.
OPERATORS = {"nash": "nash", "minimax": "nash", "friend": "friend", "correlated": "ce"}


@dataclass(frozen=True)
class NashQ(Learner):
    """Q-learning of joint actions, with the value of a stage game for the maximum.

    Parameters
    ----------
    operator : {"nash", "minimax", "friend", "correlated"}
        Which equilibrium of the stage games; "minimax" is for zero-sum games of two agents.
    step : float, optional
        Constant step size; (H + 1)/(H + n) after n visits if not given.
    exploration : float
        Probability ε of a uniform joint action.

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), "nash-q", episodes=2000).gap
    0.0
    """

    operator: str = "nash"
    step: float | None = None
    exploration: float = 0.1

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.choice("operator", self.operator, [*OPERATORS])
        if self.step is not None:
            check.real("step", self.step, least=0, most=1)
        check.real("exploration", self.exploration, least=0, most=1)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        needs = {"all agents", *(["zero-sum"] if self.operator == "minimax" else [])}
        return Info("ce" if self.operator == "correlated" else "nash", needs=frozenset(needs))

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets: it does."""
        return True

    def explores(self, state: Any, i: int) -> float:
        """Return the probability ε of a uniform joint action."""
        return self.exploration

    def init(self, world: World) -> NashQState:
        """Make the state of all agents."""
        joint, discounted = count_joint("nash-q", world), world.continues < 1.0 or world.discount is not None
        fields = [
            ("Q", "f8", (world.agents, capacity(joint))),
            ("visits", "i8", capacity(joint)),
            ("joint", NONNEGATIVE, capacity(joint)),  # the stage game's equilibrium
            ("value", "f8", world.agents),
        ]
        cells = records((1 if discounted else world.horizon + 1, world.states, 1), fields)
        cells["joint"][..., :joint] = 1.0 / joint
        return NashQState(
            cells=cells,
            agents=records((world.agents,), [("action", index(world.actions.max())), ("reward", "f8")]),
            scratch=stage_equilibrium.make_scratch(world.actions, joint),
            kind=stage_equilibrium.KINDS.index(OPERATORS[self.operator]),
            step=-1.0 if self.step is None else float(self.step),
            exploration=float(self.exploration),
            actions=world.actions,
            joint=joint,
            horizon=world.horizon,
            effective_horizon=float(world.scale.horizon),
            over=world.states - 1 if world.continues < 1.0 else -1,
            discount=1.0 if world.discount is None else world.discount,
        )

    def plan(self, state: Any, states: int, *, quick: bool = False) -> MarkovPolicy | None:
        """Return the correlated policy of the stage games, where that is what is learned."""
        return correlated(state, "joint", states) if self.operator == "correlated" else None


def count_joint(name: str, world: World) -> int:
    """Return the number of joint actions; raise where there are too many."""
    joint = math.prod(int(size) for size in world.actions)
    if joint > JOINT:
        raise TacitError(f"{name} takes at most {JOINT:,} joint actions; got {joint:,}")
    return joint


def correlated(state: Any, name: str, states: int) -> MarkovPolicy:
    """Return a field of the cells, distributions over joint actions, as a correlated policy."""
    table = state.cells[name][: state.horizon, :states, 0, : state.joint]
    table = table / table.sum(axis=2, keepdims=True)
    return MarkovPolicy(np.reshape(table, (*table.shape[:2], *state.actions.tolist())))


class NashQState(NamedTuple):
    """The tables of all agents, and the step in progress."""

    cells: Any  # [H+1, S, 1]; [1, S, 1] in a discounted game
    agents: Any  # [N]  action, reward of the step
    scratch: StageScratch
    kind: int  # of stage_equilibrium.KINDS
    step: float  # negative: (H + 1)/(H + n)
    exploration: float
    actions: IntArray  # [N]
    joint: int  # J
    horizon: int
    effective_horizon: float
    over: int  # the state after the end of a discounted game, -1 elsewhere
    discount: float  # γ of play that never resets, otherwise 1


@generics.jitable
def draw_joint(learner, joint, exploration, i, u):
    """Draw a joint action in the first agent's turn; return agent i's part."""
    if i == 0:
        J = learner.joint
        if u < exploration:
            chosen = min(int(u / exploration * J), J - 1)
        else:
            chosen = pick(joint, 1.0, J, (u - exploration) / max(1.0 - exploration, 1e-300))
        for k in range(len(learner.actions)):
            learner.agents[k].action = joint_model.part(chosen, learner.actions, k)
    return learner.agents[i].action


@generics.jitable
def note(learner, i, a, r):
    """Note agent i's action and reward; return the joint action once all are in, -1 before."""
    me, N = learner.agents[i], len(learner.actions)
    me.action, me.reward = a, r
    if i < N - 1:
        return -1
    joint = 0
    for k in range(N):
        joint = joint * learner.actions[k] + learner.agents[k].action
    return joint


@generics.act.implement(NashQState)
def act(learner, i, h, s, u):
    """Draw from the stage game's equilibrium, or a uniform joint action."""
    cell = learner.cells[min(h, len(learner.cells) - 1), s, 0]
    return draw_joint(learner, cell.joint, learner.exploration, i, u)


@generics.policy.implement(NashQState)
def policy(learner, i, h, s, out):
    """Write agent i's part of the stage game's equilibrium."""
    cell = learner.cells[min(h, len(learner.cells) - 1), s, 0]
    stage_equilibrium.marginal(cell.joint, learner.actions, learner.joint, i, out)


@generics.learn.implement(NashQState)
def learn(learner, i, h, s, a, r, s_next):
    """After the last agent's turn move Q, and solve the stage game again."""
    joint, last = note(learner, i, a, r), len(learner.cells) - 1
    cut = learner.over >= 0 and h + 1 == learner.horizon  # a stretch of a discounted game that did not end
    if joint >= 0 and s != learner.over and not cut:
        update(learner, learner.cells[min(h, last), s, 0], learner.cells[min(h + 1, last), s_next, 0], joint)


@generics.apart
def update(learner, cell, following, joint):
    """Move Q of a joint action, and solve the stage game."""
    n = cell.visits[joint] + 1
    cell.visits[joint] = n
    rate = learner.step
    if rate < 0.0:
        rate = (learner.effective_horizon + 1.0) / (learner.effective_horizon + n)
    w, N = learner.scratch, len(learner.actions)
    for i in range(N):
        target = learner.agents[i].reward + learner.discount * following.value[i]
        cell.Q[i, joint] += rate * (target - cell.Q[i, joint])
        for j in range(learner.joint):
            w.values[i, j] = cell.Q[i, j]
    stage_equilibrium.solve(w, learner.actions, learner.joint, learner.kind)
    for j in range(learner.joint):
        cell.joint[j] = w.joint[j]
    for i in range(N):
        value, best = 0.0, w.values[i, 0]
        for j in range(learner.joint):
            value += w.joint[j] * w.values[i, j]
            best = max(best, w.values[i, j])
        cell.value[i] = best if learner.kind == stage_equilibrium.FRIEND else value
