"""Adaptive V-learning for cce and ce: no hyperparameters.

V-learning with a rate [Jin, Liu, Wang, Yu 2021], without a bonus, and with a bandit that tunes itself. At the
t-th visit of (h, s), with a the own action, r the own reward, s' the next state,

    x = r + V_{h+1}(s')
    the bandit of (h, s) is updated with the loss V_h(s) − x
    m_h(s) ← (1 − α_t)·m_h(s) + α_t·x,  α_t = (H+1)/(H+t)
    V_h(s) = (1 − d)·m_h(s) + d·U_h,  d = (o/(o+t))²,  o = optimism.

U_h is the best return of any episode so far from step h on. A state that was hardly visited has nearly that value:
otherwise agents do not learn what lies behind states that they visit early, with others who do not play well yet. The
value is the bandit's baseline, so that values far from 0 and values that drift add no variance. Rewards have any units
and any range. The bandit is AdaTsallis (cce), or Blum and Mansour's reduction over it (ce). The certified policy is
that of V-learning, with the rate (H+1)/(H+t).

Guarantees: the certificate is exact whatever the agents do. That the gap falls to zero is not proven for this learner:
V has no bonus, so it need not be an upper bound on the value of deviations, and AdaTsallis has no proven regret for
estimated losses. `benchmarks/efficiency.py` measures it.

Deviations from V-learning: no bonus, no cap, no normalisation of losses; V̲ is not kept. The agent's own estimate of
its gap, where there is no certificate, is the mean over episodes of the regrets along the path, each as the bandit
there estimates its own: an estimate, and no bound. The reward range only sets the unit of that.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits import AdaTsallis, Bandit, Setting, Swap
from tacit.core import check, generics
from tacit.core.records import capacity, record, records
from tacit.learners import spec, v_base
from tacit.learners.spec import Info, Learner, World, check_steps, make_cells, player


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
    step : "auto" or float
        The bandits tune their own step, or c in λ = (largest loss)·√α/c.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> from tacit.learners import AdaptiveV
    >>> AdaptiveV().info.learns, AdaptiveV("ce").info.learns
    ('cce', 'ce')
    """

    equilibrium: str = "cce"
    _: KW_ONLY
    memory: float = 0.1
    implicit: float = 0.1
    optimism: float = 5.0
    step: float | str = "auto"
    steps: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.choice("equilibrium", self.equilibrium, ["cce", "ce"])
        AdaTsallis(self.memory, self.implicit)
        check.real("optimism", self.optimism, least=0)
        spec.take_step_constant(self.step, "auto")
        check_steps(self.steps)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(self.equilibrium, "certified", averaging="rate", reward_scale_free=True)

    def init(self, world: World) -> AdaptiveVState:
        """Make the state of all agents."""
        N, H = world.agents, world.horizon
        base = AdaTsallis(self.memory, self.implicit)
        bandit: Bandit = Swap(base) if self.equilibrium == "ce" else base
        fields = record(bandit.fields(capacity(world.actions.max())))
        values = [("value", "f8"), ("visits", "i8")]
        cells, players, sharing = make_cells(self.steps, world, [("bandit", fields)], values)
        by_step = records((H, N), [("reward", "f8"), ("best_return", "f8")])
        by_step["best_return"] = -np.inf
        step = spec.take_step_constant(self.step, "auto")
        params = bandit.init(players["bandit"], Setting(world.actions, H, H, 1.0, step))
        return AdaptiveVState(
            cells=cells,
            players=sharing,
            steps=by_step,
            agents=records((N,), [("bound_sum", "f8")]),
            bandit=params,
            optimism=float(self.optimism),
            unit=spec.unit_rewards(world)[1],
            horizon=H,
        )


class AdaptiveVState(NamedTuple):
    """All agents' values, in the units of the rewards."""

    cells: Any  # [H, S, N]  value: m, the mean over visits; visits: t
    players: Any  # whose bandit is where
    steps: Any  # [H, N]  reward: of the running episode; best_return: the most that an episode so far brought from here
    agents: Any  # [N]  bound_sum: Σ_k Σ_h (estimated regret at s_h^k), in units of the span of rewards
    bandit: Any
    optimism: float  # o, visits
    unit: float  # 1/span
    horizon: int


generics.act.implement(AdaptiveVState)(v_base.act)
generics.policy.implement(AdaptiveVState)(v_base.policy)
generics.averaging.implement(AdaptiveVState)(v_base.averaging)


@generics.learn.implement(AdaptiveVState)
def learn(learner, i, h, s, a, r, s_next):
    """Update the bandit with the loss, and move the value."""
    cell = learner.cells[h, s, i]
    H = learner.horizon
    learner.steps[h, i].reward = r
    x = r
    if h + 1 < H:
        x += optimistic_value(learner, learner.cells[h + 1, s_next, i], i, h + 1, r)
    before = optimistic_value(learner, cell, i, h, r) if learner.optimism > 0.0 or cell.visits > 0 else x
    bandit = player(learner.players, learner.cells, i, h, s).bandit
    prob = generics.prob(learner.bandit, bandit, a)
    generics.update(learner.bandit, bandit, a, before - x, prob)
    learner.agents[i].bound_sum += generics.regret(learner.bandit, bandit) * learner.unit
    t = cell.visits + 1
    cell.visits = t
    cell.value += (H + 1.0) / (H + t) * (x - cell.value)
    if h == H - 1:
        close(learner, i)


@generics.jitable
def optimistic_value(learner, cell, i, h, r):
    """Return V: the mean over visits, optimistic where they are few."""
    t = cell.visits
    if t == 0:
        return unseen(learner, i, h, r)
    doubt = learner.optimism / (learner.optimism + t)
    doubt *= doubt
    return cell.value + doubt * (unseen(learner, i, h, r) - cell.value) if doubt > 0.0 else cell.value


@generics.jitable
def unseen(learner, i, h, r):
    """Return the optimistic value of a state at step h. In the first episode, the reward r for every step left."""
    best = learner.steps[h, i].best_return
    return best if best > -math.inf else (learner.horizon - h) * r


@generics.jitable
def close(learner, i):
    """Keep the best return from every step on, at the end of an episode."""
    total = 0.0
    for j in range(learner.horizon):
        step = learner.steps[learner.horizon - 1 - j, i]
        total += step.reward
        step.best_return = max(step.best_return, total)
