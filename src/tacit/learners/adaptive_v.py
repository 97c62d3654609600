"""Adaptive V-learning, for cce and ce, without a parameter to choose.

V-learning with a rate [Jin, Liu, Wang, Yu 2021], stripped of its bonus and given a bandit that tunes itself. At the
t-th visit of (h, s), with a the own action, r the own reward, s' the next state,

    x = r + V_{h+1}(s')
    the bandit of (h, s) is fed the loss V_h(s) − x
    m_h(s) ← (1 − α_t)·m_h(s) + α_t·x,  α_t = (H+1)/(H+t)
    V_h(s) = (1 − d)·m_h(s) + d·U_h,  d = (o/(o+t))²,  o = optimism.

U_h is the most that any episode so far brought from step h on. A state that was hardly visited is worth nearly that,
and its worth rises when U_h does: without this agents do not learn what lies behind states that they come upon early,
by chance, with others who do not play well yet. The value is the bandit's baseline: what it learns from is how much
better or worse than usual a visit was, so that values far from 0 and values that drift add no variance. Rewards are
taken as they come, in any units and of any range. The bandit is
AdaTsallis (cce), or Blum and Mansour's reduction over it (ce). The certified policy is that of V-learning, with the
rate (H+1)/(H+t).

Guarantees: the certificate is exact whatever the agents do. That the gap falls to zero is not proven for this learner:
V has no bonus, so it need not be an upper bound on the value of deviations, and AdaTsallis has no proven regret for
estimated losses. `benchmarks/efficiency.py` measures it.

Deviations from V-learning: no bonus, no cap, no normalisation of losses; V̲ is not kept. The agent's own estimate of
its gap, where there is no certificate, is the mean over episodes of the regrets along the path, each as the bandit
there estimates its own: an estimate, and no bound. The reward range an agent is told only sets the unit of that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from tacit.bandits import AdaTsallis, Bandit, Cells, Swap
from tacit.core import check, generics
from tacit.core.layout import at
from tacit.core.types import FloatArray, IntArray
from tacit.learners import spec, v_base, warm
from tacit.learners.spec import Learner, Start, World
from tacit.learners.tunable import Range, Span


@dataclass(frozen=True)
class AdaptiveV(Learner):
    """Adaptive V-learning for a cce, or with `equilibrium="ce"` for a ce. The other parameters are for ablations.

    Parameters
    ----------
    equilibrium : {"cce", "ce"}
        What is learnt.
    memory : float
        How fast the bandits forget, as a share of the rate at which the values do.
    implicit : float
        Implicit exploration of the bandits.
    optimism : float
        Visits in which a state is still in doubt, and counts for the best return so far; 0 for none.
    baseline : bool
        Measure losses from the value of the state, or from 0.
    step : "auto" or float
        The bandits tune their own step, or c in λ = (largest loss)·√α/c.
    start : "uniform", "random" or MarkovPolicy
        What the bandits begin with (`warm.py`).
    start_visits : float
        For how many visits of each state a starting policy counts.

    Examples
    --------
    >>> from tacit.learners import AdaptiveV
    >>> AdaptiveV().equilibrium, AdaptiveV("ce").equilibrium
    ('cce', 'ce')
    """

    output: ClassVar[str] = "certified"
    rule: ClassVar[str] = "rate"
    tunable: ClassVar[Mapping[str, Range]] = {
        "memory": Span(0.01, 1.0),
        "implicit": Span(0.01, 1.0),
        "optimism": Span(0.1, 20.0),
    }
    rangeless: ClassVar[bool] = True

    equilibrium: str = "cce"
    _: KW_ONLY
    memory: float = 0.1
    implicit: float = 0.1
    optimism: float = 5.0
    baseline: bool = True
    step: float | str = "auto"
    start: Start = "uniform"
    start_visits: float = warm.VISITS

    def __post_init__(self) -> None:
        check.choice("equilibrium", self.equilibrium, ["cce", "ce"])
        AdaTsallis(self.memory, self.implicit)
        check.real("optimism", self.optimism, least=0)
        check.flag("baseline", self.baseline)
        spec.checked_start(self.start)
        check.real("start_visits", self.start_visits, least=1, most=1e12)
        if isinstance(self.step, str):
            check.choice("step", self.step, ["auto"])
        else:
            spec.checked_step(self.step)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {
            "equilibrium": self.equilibrium,
            "memory": self.memory,
            "implicit": self.implicit,
            "optimism": self.optimism,
            "baseline": self.baseline,
            "step": self.step,
            **warm.told(self.start, self.start_visits),
        }

    @property
    def instead(self) -> str:
        """What to try where its result is not good, in words."""
        return "try more episodes, or `tacit compare` for all learners that fit"

    def bound_sum(self, state: Any) -> FloatArray:
        """Return the agents' own estimates of their gaps, summed over episodes."""
        found: FloatArray = state.bound_sum
        return found

    def init(self, world: World) -> AdaptiveVState:
        """Make the state of all agents."""
        N, H, S = world.agents, world.horizon, world.states
        base = AdaTsallis(self.memory, self.implicit)
        bandit: Bandit = Swap(base) if self.equilibrium == "ce" else base
        step = None if isinstance(self.step, str) else float(self.step)
        fresh = bandit.init(Cells(world.actions, world.cells, H, H, 1.0, step))
        low, high = world.reward_range
        return AdaptiveVState(
            bandit=warm.warmed(fresh, world, self.start_visits, high - low if high > low else 1.0),
            value=np.zeros((N, H + 1, S)),
            visits=np.zeros((N, world.cells), dtype=np.int64),
            rewards=np.zeros((N, H)),
            best_return=np.full((N, H + 1), -np.inf),
            bound_sum=np.zeros(N),
            optimism=float(self.optimism),
            baseline=float(self.baseline),
            unit=spec.unit_rewards(world)[1],
            horizon=H,
            states=S,
        )


class AdaptiveVState(NamedTuple):
    """All agents' values, in the units of the rewards."""

    bandit: Any
    value: Annotated[FloatArray, "N H+1 S"]  # m, the mean over visits
    visits: Annotated[IntArray, "N C"]  # t
    rewards: Annotated[FloatArray, "N H"]  # of the running episode
    best_return: Annotated[FloatArray, "N H+1"]  # the most that an episode so far brought from step h on
    bound_sum: Annotated[FloatArray, "N"]  # Σ_k Σ_h (estimated regret at s_h^k), in units of the span of rewards
    optimism: float  # o, visits
    baseline: float  # 1 or 0
    unit: float  # 1/span
    horizon: int
    states: int


generics.act.implement(AdaptiveVState)(v_base.act)
generics.weigh.implement(AdaptiveVState)(v_base.weigh)
generics.jot.implement(AdaptiveVState)(v_base.jot)


@generics.pace.implement(AdaptiveVState)
def pace(learner, h, s):
    """Return α_t, in force at once."""
    t = learner.visits[0, generics.cell(h, s, learner.states)] + 1
    return (learner.horizon + 1.0) / (learner.horizon + t), True


@generics.learn.implement(AdaptiveVState)
def learn(learner, i, h, s, a, r, s_next):
    """Feed the bandit how much worse than usual this visit was, and move the value."""
    c = generics.cell(h, s, learner.states)
    H = learner.horizon
    learner.rewards[i, h] = r
    x = r
    if h + 1 < H:
        x += worth(learner, i, h + 1, s_next, r)
    before = worth(learner, i, h, s, r) if learner.optimism > 0.0 or learner.visits[i, c] > 0 else x
    bandit = at(learner.bandit, i, c)
    prob = generics.chance(bandit, i, c, a)
    generics.feed(bandit, i, c, a, learner.baseline * before - x, prob)
    learner.bound_sum[i] += generics.regret(bandit, i, c) * learner.unit
    t = learner.visits[i, c] + 1
    learner.visits[i, c] = t
    learner.value[i, h, s] += (H + 1.0) / (H + t) * (x - learner.value[i, h, s])
    if h == H - 1:
        close(learner, i)


@generics.jitable
def worth(learner, i, h, s, r):
    """Return the mean of what visits to a state brought, and with all the doubt that they leave the best return."""
    t = learner.visits[i, generics.cell(h, s, learner.states)]
    if t == 0:
        return unseen(learner, i, h, r)
    doubt = learner.optimism / (learner.optimism + t)
    doubt *= doubt
    mean = learner.value[i, h, s]
    return mean + doubt * (unseen(learner, i, h, r) - mean) if doubt > 0.0 else mean


@generics.jitable
def unseen(learner, i, h, r):
    """Return the optimistic value of a state at step h; in the first episode, the reward r for every step left."""
    best = learner.best_return[i, h]
    return best if best > -math.inf else (learner.horizon - h) * r


@generics.jitable
def close(learner, i):
    """Keep the best return from every step on, at the end of an episode."""
    total = 0.0
    for j in range(learner.horizon):
        h = learner.horizon - 1 - j
        total += learner.rewards[i, h]
        learner.best_return[i, h] = max(learner.best_return[i, h], total)


def adaptive_v_cce(
    *,
    memory: float = 0.1,
    implicit: float = 0.1,
    optimism: float = 5.0,
    baseline: bool = True,
    step: float | str = "auto",
    start: Start = "uniform",
    start_visits: float = warm.VISITS,
) -> AdaptiveV:
    """Adaptive V-learning for a coarse correlated equilibrium: nothing to choose.

    Parameters
    ----------
    memory, implicit, optimism : float
    baseline : bool
    step : "auto" or float
        For ablations; see `AdaptiveV`.
    start : "uniform", "random" or MarkovPolicy
    start_visits : float
        What to begin with, and how much it counts; see `AdaptiveV`.

    Returns
    -------
    AdaptiveV

    Examples
    --------
    >>> from tacit.learners import AdaptiveV, adaptive_v_cce
    >>> adaptive_v_cce() == AdaptiveV("cce")
    True
    """
    return AdaptiveV(
        "cce",
        memory=memory,
        implicit=implicit,
        optimism=optimism,
        baseline=baseline,
        step=step,
        start=start,
        start_visits=start_visits,
    )


def adaptive_v_ce(
    *,
    memory: float = 0.1,
    implicit: float = 0.1,
    optimism: float = 5.0,
    baseline: bool = True,
    step: float | str = "auto",
    start: Start = "uniform",
    start_visits: float = warm.VISITS,
) -> AdaptiveV:
    """Adaptive V-learning for a correlated equilibrium: nothing to choose.

    Parameters
    ----------
    memory, implicit, optimism : float
    baseline : bool
    step : "auto" or float
        For ablations; see `AdaptiveV`.
    start : "uniform", "random" or MarkovPolicy
    start_visits : float
        What to begin with, and how much it counts; see `AdaptiveV`.

    Returns
    -------
    AdaptiveV

    Examples
    --------
    >>> from tacit.learners import adaptive_v_ce
    >>> adaptive_v_ce().equilibrium
    'ce'
    """
    return AdaptiveV(
        "ce",
        memory=memory,
        implicit=implicit,
        optimism=optimism,
        baseline=baseline,
        step=step,
        start=start,
        start_visits=start_visits,
    )
