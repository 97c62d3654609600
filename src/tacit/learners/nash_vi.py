"""Optimistic value iteration on a joint model, with an equilibrium of each stage game. [Liu et al. 2021]

After n visits of (h, s, a), a joint, with mean rewards r̄ and next states P̂, and for every agent i,

    β = bonus·√(H²ι/n) + correction·H²Sι/n,   γ_i = (correction/H)·P̂(V̄_{h+1,i} − V̲_{h+1,i})
    Q̄_{h,i}(s, a) = min{r̄_i + P̂V̄_{h+1,i} + γ_i + β, H − h + 1},  Q̲_{h,i}(s, a) = max{r̄_i + P̂V̲_{h+1,i} − γ_i − β, 0}
    π_h(·|s) = equilibrium of the stage game (Q̄_{h,1}(s, ·), …, Q̄_{h,N}(s, ·))
    V̄_{h,i}(s) = E_π[Q̄_{h,i}(s, a)],  V̲_{h,i}(s) = E_π[Q̲_{h,i}(s, a)].

All agents play π. The returned policy is the π of least Δ = max_i (V̄_{1,i} − V̲_{1,i})(s_1) so far.

Information: centralized; one model of all actions and rewards.
Guarantee: with the theory's bonus, an ε-approximate cce or ce in general games, and with equilibrium = "nash" the
product of the marginals is an ε-Nash policy in zero-sum games of two agents.
Deviations: rewards are brought to [0, 1] and are means. The bonus is of Hoeffding's type; by default its constant is
small, and γ and the term of lower order are left out. One rule for all agents' upper values takes the place of the
source's pair (Q̄, Q̲) in zero-sum games, which it equals when r_2 = 1 − r_1. Plans are made after 5 % more episodes, not
after each. Stage games are solved to a tolerance (`stage_equilibrium.py`). s_1 is the mean over the first states met.
A discounted game is planned as the stretches that are played.
Read in: for two agents, the restatement by [Qiao, Wang 2024, Alg. 1]. That for more agents was not at hand, nor are
there numbers for the constants, which the source leaves open: preset = "theory" has 1 for both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, generics
from tacit.core.elementary import log
from tacit.core.records import NONNEGATIVE, capacity, index, records
from tacit.core.types import IntArray
from tacit.learners import joint_model, stage_equilibrium
from tacit.learners.model_central import BATCH
from tacit.learners.nash_q import correlated, count_joint, draw_joint, note
from tacit.learners.spec import Info, Learner, World, check_confidence, unit_rewards
from tacit.policies import MarkovPolicy


@dataclass(frozen=True)
class NashVI(Learner):
    """Optimistic value iteration on a joint model, with an equilibrium of each stage game.

    Parameters
    ----------
    equilibrium : {"cce", "ce", "nash"}
        Of the stage games, and what is returned; "nash" is for zero-sum games of two agents.
    bonus : float
        Constant of the bonus √(H²ι/n).
    correction : float
        Constant of γ, and of the term of lower order H²Sι/n.
    confidence : float
        The probability p in ι = log(S·ΠA·H·K/p).
    iota : float, optional
        ι itself.
    successors : int
        Next states of a joint action that are remembered, those that were met most.

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), "nash-vi", episodes=500).gap < 0.05
    True
    """

    equilibrium: str = "cce"
    bonus: float = 0.05
    correction: float = 0.0
    confidence: float = 0.01
    iota: float | None = None
    successors: int = 32

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.choice("equilibrium", self.equilibrium, ("cce", "ce", "nash"))
        for name in ("bonus", "correction"):
            check.real(name, getattr(self, name), least=0, most=1e100)
        check_confidence(self.confidence, self.iota)
        check.integer("successors", self.successors, least=1, most=1 << 20)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        needs = {"all agents", *(["zero-sum"] if self.equilibrium == "nash" else [])}
        return Info(self.equilibrium, needs=frozenset(needs))

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        size = world.states * math.prod(int(a) for a in world.actions) * world.horizon * world.scale.episodes
        return {**super().params(world), "iota": float(self.iota or log(size / self.confidence))}

    def init(self, world: World) -> NashVIState:
        """Make the state of all agents."""
        H, N, joint = world.horizon, world.agents, count_joint("nash-vi", world)
        fields = [
            *joint_model.fields(joint, self.successors, N),
            ("joint", NONNEGATIVE, capacity(joint)),  # π
            ("best", NONNEGATIVE, capacity(joint)),  # π of least Δ
            ("upper", NONNEGATIVE, N),  # V̄
            ("lower", NONNEGATIVE, N),  # V̲
            ("visits", NONNEGATIVE),
        ]
        cells = records((H + 1, world.states, 1), fields, "the model of all joint actions")
        cells["joint"][..., :joint] = cells["best"][..., :joint] = 1.0 / joint
        cells["upper"] = np.arange(H, -1, -1.0)[:, None, None, None]
        clock = records((1,), [("episodes", "i8"), ("due", "i8"), ("width", "f8")])
        clock["width"] = math.inf
        (low, scale), iota = unit_rewards(world), self.params(world)["iota"]
        return NashVIState(
            cells=cells,
            agents=records((N,), [("action", index(world.actions.max())), ("reward", "f8")]),
            clock=clock,
            scratch=stage_equilibrium.make_scratch(world.actions, joint),
            kind=stage_equilibrium.KINDS.index("cce" if self.equilibrium == "nash" else self.equilibrium),
            bonus=self.bonus * math.sqrt(H * H * iota),
            lower_order=self.correction * H * H * world.states * iota,
            correction=self.correction / H,
            reward_low=low,
            reward_scale=scale,
            actions=world.actions,
            joint=joint,
            horizon=H,
        )

    def plan(self, state: Any, states: int, *, quick: bool = False) -> MarkovPolicy | None:
        """Return the correlated policy of least Δ, where that is what is learned."""
        return correlated(state, "best", states) if self.equilibrium != "nash" else None


class NashVIState(NamedTuple):
    """The model, all agents' values in units of one step's span, the running step."""

    cells: Any  # [H+1, S, 1]
    agents: Any  # [N]  action, reward of the step
    clock: Any  # [1]  episodes, those after which a plan is due, width: least Δ
    scratch: stage_equilibrium.StageScratch
    kind: int  # of stage_equilibrium.KINDS
    bonus: float  # of 1/√n
    lower_order: float  # of 1/n
    correction: float
    reward_low: float
    reward_scale: float
    actions: IntArray  # [N]
    joint: int  # J
    horizon: int


@generics.act.implement(NashVIState)
def act(learner, i, h, s, u):
    """Draw from π."""
    return draw_joint(learner, learner.cells[h, s, 0].joint, 0.0, i, u)


@generics.policy.implement(NashVIState)
def policy(learner, i, h, s, out):
    """Write agent i's part of the π of least Δ."""
    stage_equilibrium.marginal(learner.cells[h, s, 0].best, learner.actions, learner.joint, i, out)


@generics.learn.implement(NashVIState)
def learn(learner, i, h, s, a, r, s_next):
    """Count the step of all agents; after the last one of a batch, plan."""
    joint = note(learner, i, a, (r - learner.reward_low) * learner.reward_scale)
    if joint >= 0:
        cell, clock = learner.cells[h, s, 0], learner.clock[0]
        cell.visits += 1.0
        joint_model.count_rewards(cell, joint, learner.agents)
        if h + 1 < learner.horizon:
            joint_model.count_move(cell, joint, s_next)
        else:
            clock.episodes += 1
            if clock.episodes >= clock.due:
                sweep(learner)
                clock.due = clock.episodes + 1 + clock.episodes // BATCH


@generics.apart
def sweep(learner):
    """Plan backwards over the steps; keep the policy of the least Δ so far."""
    S, clock, width = learner.cells.shape[1], learner.clock[0], 0.0
    for h in range(learner.horizon - 1, -1, -1):
        for s in range(S):
            solve_cell(learner, h, s)
    for i in range(len(learner.actions)):
        total = 0.0
        for s in range(S):
            cell = learner.cells[0, s, 0]
            total += cell.visits * (cell.upper[i] - cell.lower[i])
        width = max(width, total / clock.episodes)
    if width <= clock.width:
        clock.width = width
        for h in range(learner.horizon):
            for s in range(S):
                for j in range(learner.joint):
                    learner.cells[h, s, 0].best[j] = learner.cells[h, s, 0].joint[j]


@generics.jitable
def bounds(learner, cell, h, j, i):
    """Return Q̄_i and Q̲_i of a joint action, vacuous where it was not tried."""
    n, most, above, below = cell.seen[j], float(learner.horizon - h), 0.0, 0.0
    if n == 0.0:
        return most, 0.0
    for k in range(min(cell.successors[j], cell.next.shape[1])):
        following = learner.cells[h + 1, min(cell.next[j, k], learner.cells.shape[1] - 1), 0]
        above += float(cell.count[j, k]) * following.upper[i]
        below += float(cell.count[j, k]) * following.lower[i]
    above, below = above / max(cell.moved[j], 1.0), below / max(cell.moved[j], 1.0)  # nothing follows the last step
    mean, gamma = cell.reward[j, i] / n, learner.correction * (above - below)
    first, second = learner.bonus / math.sqrt(n), learner.lower_order / n
    return min(mean + above + gamma + first + second, most), max(mean + below - gamma - (first + second), 0.0)


@generics.apart
def solve_cell(learner, h, s):
    """Write π, V̄ and V̲ at a step and state that was visited."""
    cell, w = learner.cells[h, s, 0], learner.scratch
    if cell.visits == 0.0:
        return
    for j in range(learner.joint):
        for i in range(len(learner.actions)):
            w.values[i, j] = bounds(learner, cell, h, j, i)[0]
    stage_equilibrium.solve(w, learner.actions, learner.joint, learner.kind)
    for i in range(len(learner.actions)):
        cell.upper[i], cell.lower[i] = 0.0, 0.0
        for j in range(learner.joint):
            cell.joint[j] = w.joint[j]
            cell.upper[i] += w.joint[j] * w.values[i, j]
            cell.lower[i] += w.joint[j] * bounds(learner, cell, h, j, i)[1]
