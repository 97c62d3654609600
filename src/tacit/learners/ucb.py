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
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from tacit.core import check, generics, memory
from tacit.core.elementary import log
from tacit.core.ownership import locked
from tacit.core.types import FloatArray, IntArray
from tacit.learners.greedy import best
from tacit.learners.spec import Learner, World, checked_common, unit_rewards
from tacit.learners.tunable import Choice, Range, Span


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

    Examples
    --------
    >>> import tacit
    >>> tacit.UCB(central=True, bonus=0.02).central
    True
    """

    tunable: ClassVar[Mapping[str, Range]] = {"bonus": Span(0.0001, 1.0), "reference": Choice(1000, 100, None)}

    central: bool = False
    bonus: float = 1.0
    reference: int | None = 1000
    confidence: float = 0.01
    iota: float | None = None

    def __post_init__(self) -> None:
        check.flag("central", self.central)
        check.real("bonus", self.bonus, least=0, most=1e100)
        if self.reference is not None:
            check.integer("reference", self.reference, least=1)
        checked_common(self.confidence, self.iota)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {
            "bonus": self.bonus,
            "reference": self.reference,
            "confidence": self.confidence,
            "iota": self._iota,
        }

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
        return CentralState(
            inner=self._state(world, locked(np.array([joint])), low, scale),
            digits=np.zeros(world.agents, dtype=np.int64),
            total=np.zeros(1),
            joint=np.zeros(1, dtype=np.int64),
            actions=world.actions,
        )

    def _state(self, world: World, actions: IntArray, low: float, scale: float) -> UCBState:
        N, H, S, A = len(actions), world.horizon, world.states, int(actions.max())
        ahead = np.arange(H, -1, -1.0)
        cells = np.repeat(ahead[:H], S)
        return UCBState(
            Q=np.ones((N, world.cells, A)) * cells[:, None],
            V=np.ones((N, H + 1, S)) * ahead[:, None],
            reference=np.ones((N, H + 1, S)) * ahead[:, None],
            length=np.full((N, world.cells, A), H),
            visits=np.zeros((N, world.cells, A), dtype=np.int64),
            seen=np.zeros((N, world.cells, A), dtype=np.int64),
            met=np.zeros((N, world.cells), dtype=np.int64),
            value_sum=np.zeros((N, world.cells, A)),
            gain_sum=np.zeros((N, world.cells, A)),
            reference_sum=np.zeros((N, world.cells, A)),
            reward_sum=np.zeros((N, world.cells, A)),
            fix_at=0 if self.reference is None else int(self.reference),
            bonus=2.0 * self.bonus * math.sqrt(H**2 * self._iota),
            reward_low=low,
            reward_scale=scale,
            actions=actions,
            horizon=H,
            states=S,
        )


class UCBState(NamedTuple):
    """All learners' tables; rewards and values in units of one step's span."""

    Q: Annotated[FloatArray, "N C A"]
    V: Annotated[FloatArray, "N H+1 S"]
    reference: Annotated[FloatArray, "N H+1 S"]  # V^ref
    length: Annotated[IntArray, "N C A"]  # of the running stage
    visits: Annotated[IntArray, "N C A"]  # ň: in the running stage
    seen: Annotated[IntArray, "N C A"]  # n: in all
    met: Annotated[IntArray, "N C"]  # visits of the state
    value_sum: Annotated[FloatArray, "N C A"]  # Σ V_{h+1} in the stage
    gain_sum: Annotated[FloatArray, "N C A"]  # Σ (V_{h+1} − V^ref_{h+1}) in the stage
    reference_sum: Annotated[FloatArray, "N C A"]  # Σ V^ref_{h+1} in all
    reward_sum: Annotated[FloatArray, "N C A"]  # Σ r in the stage
    fix_at: int  # visits after which the reference is fixed, 0 for no reference
    bonus: float  # 2·bonus·√(H²ι)
    reward_low: float
    reward_scale: float
    actions: Annotated[IntArray, "N"]
    horizon: int
    states: int


@generics.act.implement(UCBState)
def act(learner, i, h, s, u):
    """Take the best action, one of them at random if there are several."""
    c = generics.cell(h, s, learner.states)
    top, count = best(learner.Q[i, c], learner.actions[i])
    left = int(u * count)
    chosen = 0
    for a in range(learner.actions[i]):
        if learner.Q[i, c, a] == top:
            chosen = a
            if left == 0:
                break
            left -= 1
    return chosen


@generics.weigh.implement(UCBState)
def weigh(learner, i, h, s, out):
    """Write the greedy policy."""
    c = generics.cell(h, s, learner.states)
    top, count = best(learner.Q[i, c], learner.actions[i])
    for a in range(learner.actions[i]):
        out[a] = 1.0 / count if learner.Q[i, c, a] == top else 0.0


@generics.learn.implement(UCBState)
def learn(learner, i, h, s, a, r, s_next):
    """Gather the stage; at its end lower Q, never raise it. [Zhang, Zhou, Ji 2020, Alg. 1]"""
    c = generics.cell(h, s, learner.states)
    v = learner.V[i, h + 1, s_next]
    ref = learner.reference[i, h + 1, s_next]
    learner.reward_sum[i, c, a] += (r - learner.reward_low) * learner.reward_scale
    learner.value_sum[i, c, a] += v
    learner.gain_sum[i, c, a] += v - ref
    learner.reference_sum[i, c, a] += ref
    n = learner.visits[i, c, a] + 1
    learner.visits[i, c, a] = n
    learner.seen[i, c, a] += 1
    if n == learner.length[i, c, a]:
        reward = learner.reward_sum[i, c, a] / n
        near = learner.bonus / math.sqrt(n)
        q = min(learner.Q[i, c, a], reward + learner.value_sum[i, c, a] / n + near)
        if learner.fix_at > 0:
            m = learner.seen[i, c, a]
            split = learner.reference_sum[i, c, a] / m + learner.gain_sum[i, c, a] / n
            q = min(q, reward + split + learner.bonus / math.sqrt(m) + near)
        learner.Q[i, c, a] = q
        learner.V[i, h, s], _ = best(learner.Q[i, c], learner.actions[i])
        learner.visits[i, c, a] = 0
        learner.value_sum[i, c, a] = 0.0
        learner.gain_sum[i, c, a] = 0.0
        learner.reward_sum[i, c, a] = 0.0
        learner.length[i, c, a] = n + n // learner.horizon
    learner.met[i, c] += 1
    if learner.met[i, c] == learner.fix_at:
        learner.reference[i, h, s] = learner.V[i, h, s]


class CentralState(NamedTuple):
    """One learner over joint actions, and the step in progress."""

    inner: UCBState  # of a single agent
    digits: Annotated[IntArray, "N"]  # the joint action in parts
    total: Annotated[FloatArray, "1"]  # rewards of the step so far
    joint: Annotated[IntArray, "1"]
    actions: Annotated[IntArray, "N"]


@generics.jitable
def split(learner, joint):
    """Write a joint action into its parts, the last agent fastest."""
    for k in range(len(learner.actions)):
        i = len(learner.actions) - 1 - k
        learner.digits[i] = joint % learner.actions[i]
        joint //= learner.actions[i]


@generics.act.implement(CentralState)
def act_central(learner, i, h, s, u):
    """Let the first agent's turn choose for all."""
    if i == 0:
        learner.joint[0] = generics.act(learner.inner, 0, h, s, u)
        learner.total[0] = 0.0
        split(learner, learner.joint[0])
    return learner.digits[i]


@generics.weigh.implement(CentralState)
def weigh_central(learner, i, h, s, out):
    """Write agent i's part of the first best joint action."""
    c = h * learner.inner.states + s
    top, _ = best(learner.inner.Q[0, c], learner.inner.actions[0])
    joint = 0
    while learner.inner.Q[0, c, joint] < top:
        joint += 1
    size = learner.actions[i]
    for j in range(i + 1, len(learner.actions)):
        joint //= learner.actions[j]
    for a in range(size):
        out[a] = 1.0 if a == joint % size else 0.0


@generics.learn.implement(CentralState)
def learn_central(learner, i, h, s, a, r, s_next):
    """Learn once all rewards of the step are in, from their mean."""
    learner.total[0] += r
    last = len(learner.actions) - 1
    if i == last:
        generics.learn(learner.inner, 0, h, s, learner.joint[0], learner.total[0] / (last + 1), s_next)


def ucb_central(
    *, bonus: float = 1.0, reference: int | None = 1000, confidence: float = 0.01, iota: float | None = None
) -> UCB:
    """The paper's "Centralized" benchmark: optimistic Q-learning on the joint action."""
    return UCB(central=True, bonus=bonus, reference=reference, confidence=confidence, iota=iota)


def ucb_independent(
    *, bonus: float = 1.0, reference: int | None = 1000, confidence: float = 0.01, iota: float | None = None
) -> UCB:
    """The paper's "Independent" benchmark: optimistic Q-learning by each agent as if it were alone."""
    return UCB(bonus=bonus, reference=reference, confidence=confidence, iota=iota)
