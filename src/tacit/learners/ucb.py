"""The paper's benchmarks: optimistic stage-based Q-learning, one learner for all agents or one for each.

"Centralized" controls the joint action; in "Independent" each agent runs the same on its own action, as if it were
alone. [Mao2022, app:simulations] The algorithm is UCB-ADVANTAGE [Zhang, Zhou, Ji 2020, Alg. 1] with bonuses of
Hoeffding type: visits of each (h, s, a) form stages of lengths H, ⌊(1+1/H)·H⌋, …, and at the end of a stage of ň
visits, n in all,

    Q ← min{ r̄ + mean_stage(V_{h+1}) + b̄,  r̄ + mean_all(V^ref_{h+1}) + mean_stage(V_{h+1} − V^ref_{h+1}) + b,  Q },
    b̄ = 2·bonus·√(H²ι/ň),  b = 2·bonus·(√(H²ι/n) + √(H²ι/ň)),  V = max_a Q,

with greedy actions. V^ref(s) is V(s) as of the visit of (h, s) with number `reference`, and H − h + 1 before. Without a
reference the second term falls away: stage-based UCB-H.

Deviations: ties between best actions are broken at random. Rewards are brought to [0, 1] by the reward range, and
enter by their mean in the stage, since to an independent learner they look random. ι = log(2/p).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, generics, memory
from tacit.core.elementary import log
from tacit.core.memory import lock
from tacit.core.records import Fields, capacity, index, records
from tacit.core.types import IntArray
from tacit.learners.joint_model import part
from tacit.learners.spec import Info, Learner, World, check_confidence, check_steps, make_cells, player, unit_rewards


@dataclass(frozen=True)
class UCB(Learner):
    """Optimistic stage-based Q-learning.

    Parameters
    ----------
    central : bool
        One learner for the joint action and the total reward, instead of one for each agent.
    bonus : float
        Constant of the bonuses; 1 is the theory's.
    reference : int or None
        Visits of a state after which its reference value is fixed; None leaves the reference out.
    confidence : float
        The probability p in ι = log(2/p).
    iota : float, optional
        ι itself.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.UCB(central=True, bonus=0.02).central
    True
    """

    central: bool = False
    bonus: float = 1.0
    reference: int | None = 1000
    confidence: float = 0.01
    iota: float | None = None
    steps: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.flag("central", self.central)
        check.real("bonus", self.bonus, least=0, most=1e100)
        if self.reference is not None:
            check.integer("reference", self.reference, least=1)
        check_confidence(self.confidence, self.iota)
        check_steps(self.steps)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(needs=frozenset({"all agents"} if self.central else ()))

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {**super().params(world), "iota": self._iota}

    @property
    def _iota(self) -> float:
        return float(log(2 / self.confidence)) if self.iota is None else float(self.iota)

    def init(self, world: World) -> UCBState | CentralState:
        """Make the state of all agents, or of the one that controls them."""
        low, scale = unit_rewards(world)
        if not self.central:
            return self._state(world, world.actions, low, scale)
        joint = math.prod(int(a) for a in world.actions)
        memory.require(memory.floats(7, world.cells, joint), "the central learner's tables over joint actions")
        step = records((1,), [("joint", index(joint)), ("total", "f8")])
        return CentralState(self._state(world, lock(np.array([joint])), low, scale), step, world.actions)

    def _state(self, world: World, actions: IntArray, low: float, scale: float) -> UCBState:
        H = world.horizon
        player_fields = fields(capacity(actions.max()))
        cells, players, sharing = make_cells(
            self.steps, world._replace(actions=actions), player_fields, [], beyond=True
        )
        ahead = np.arange(H, -1, -1.0)[:, None, None] if len(players) > 2 else np.array([H, 0.0])[:, None, None]
        players["Q"], players["V"], players["reference"], players["length"] = ahead[..., None], ahead, ahead, H
        return UCBState(
            cells=cells,
            players=sharing,
            fix_at=0 if self.reference is None else int(self.reference),
            bonus=2.0 * self.bonus * math.sqrt(H**2 * self._iota),
            reward_low=low,
            reward_scale=scale,
            actions=actions,
            horizon=H,
        )


def fields(actions: int) -> Fields:
    """Return what a cell remembers; rewards and values in units of one step's span."""
    return [
        ("Q", "f8", actions),
        ("V", "f8"),
        ("reference", "f8"),  # V^ref
        ("met", "i8"),  # visits of the state
        ("length", "i8", actions),  # of the running stage
        ("visits", "i8", actions),  # ň: in the running stage
        ("seen", "i8", actions),  # n: in all
        ("value_sum", "f8", actions),  # Σ V_{h+1} in the stage
        ("gain_sum", "f8", actions),  # Σ (V_{h+1} − V^ref_{h+1}) in the stage
        ("reference_sum", "f8", actions),  # Σ V^ref_{h+1} in all
        ("reward_sum", "f8", actions),  # Σ r in the stage
    ]


class UCBState(NamedTuple):
    """All learners' tables."""

    cells: Any  # [H+1, S, N]
    players: Any  # whose Q is where
    fix_at: int  # visits after which the reference is fixed, 0 for no reference
    bonus: float  # 2·bonus·√(H²ι)
    reward_low: float
    reward_scale: float
    actions: IntArray  # [N]
    horizon: int


@generics.jitable
def best(row, n):
    """Return the largest of a row's first n values, and its count."""
    top = row[0]
    count = 1
    for a in range(1, n):
        if row[a] > top:
            top = row[a]
            count = 1
        elif row[a] == top:
            count += 1
    return top, count


@generics.jitable
def draw_greedily(Q, n, exploration, u):
    """Draw a best action, or with the probability of exploration a uniform one."""
    top, count = best(Q, n)
    for a in range(n):
        u -= exploration / n
        if Q[a] == top:
            u -= (1.0 - exploration) / count
        if u < 0.0:
            return a
    return n - 1


@generics.act.implement(UCBState)
def act(learner, i, h, s, u):
    """Take the best action, one of them at random if there are several."""
    n, Q = learner.actions[i], player(learner.players, learner.cells, i, h, s).Q
    top, count = best(Q, n)
    left = int(u * count)
    chosen = 0
    for a in range(n):
        if Q[a] == top:
            chosen = a
            if left == 0:
                break
            left -= 1
    return chosen


@generics.policy.implement(UCBState)
@generics.jitable
def policy(learner, i, h, s, out):
    """Write the greedy policy."""
    n, Q = learner.actions[i], player(learner.players, learner.cells, i, h, s).Q
    top, count = best(Q, n)
    for a in range(n):
        out[a] = 1.0 / count if Q[a] == top else 0.0


@generics.learn.implement(UCBState)
def learn(learner, i, h, s, a, r, s_next):
    """Gather the stage; at its end lower Q, never raise it. [Zhang, Zhou, Ji 2020, Alg. 1]"""
    cell = player(learner.players, learner.cells, i, h, s)
    following = player(learner.players, learner.cells, i, h + 1, s_next)
    cell.reward_sum[a] += (r - learner.reward_low) * learner.reward_scale
    cell.value_sum[a] += following.V
    cell.gain_sum[a] += following.V - following.reference
    cell.reference_sum[a] += following.reference
    n = cell.visits[a] + 1
    cell.visits[a] = n
    cell.seen[a] += 1
    if n == cell.length[a]:
        reward = cell.reward_sum[a] / n
        near = learner.bonus / math.sqrt(n)
        q = min(cell.Q[a], reward + cell.value_sum[a] / n + near)
        if learner.fix_at > 0:
            m = cell.seen[a]
            split = cell.reference_sum[a] / m + cell.gain_sum[a] / n
            q = min(q, reward + split + learner.bonus / math.sqrt(m) + near)
        cell.Q[a] = q
        cell.V, _ = best(cell.Q, learner.actions[i])
        cell.visits[a] = 0
        cell.value_sum[a] = 0.0
        cell.gain_sum[a] = 0.0
        cell.reward_sum[a] = 0.0
        cell.length[a] = n + n // learner.horizon
    cell.met += 1
    if cell.met == learner.fix_at:
        cell.reference = cell.V


class CentralState(NamedTuple):
    """One learner over joint actions, and the step in progress."""

    inner: UCBState  # of a single agent
    step: Any  # [1]  joint: the joint action; total: rewards of the step so far
    actions: IntArray  # [N]


@generics.act.implement(CentralState)
def act_central(learner, i, h, s, u):
    """Let the first agent's turn choose for all."""
    if i == 0:
        learner.step[0].joint = generics.act(learner.inner, 0, h, s, u)
        learner.step[0].total = 0.0
    return part(learner.step[0].joint, learner.actions, i)


@generics.policy.implement(CentralState)
def policy_central(learner, i, h, s, out):
    """Write agent i's part of the first best joint action."""
    Q = player(learner.inner.players, learner.inner.cells, 0, h, s).Q
    top, _ = best(Q, learner.inner.actions[0])
    joint = 0
    while Q[joint] < top:
        joint += 1
    for a in range(learner.actions[i]):
        out[a] = 1.0 if a == part(joint, learner.actions, i) else 0.0


@generics.learn.implement(CentralState)
def learn_central(learner, i, h, s, a, r, s_next):
    """Learn once all rewards of the step are in, from their mean."""
    step, last = learner.step[0], len(learner.actions) - 1
    step.total += r
    if i == last:
        generics.learn(learner.inner, 0, h, s, step.joint, step.total / (last + 1), s_next)
