"""V-learning with α_t = (H+1)/(H+t), the method that stage-based V-learning simplifies. [Jin, Liu, Wang, Yu 2021]

At the t-th visit of (h, s) [Mao2022, eqn:jin]

    Ṽ ← (1 − α_t)·Ṽ + α_t·(r + V̄_{h+1}(s') + β_t),  V̄ = min{Ṽ, H − h + 1},
    β_t = bonus·√(H³·A·ι/t) (cce),  bonus·√(H³·A²·ι/t) (ce),

and a bandit for the weighted regret plays on the losses of the stage-based learner.

Deviations: the constant of β_t is "some absolute constant" in the source; here it is `bonus`, with the defaults of the
stage-based learner, so no parameters are known to be covered by the theorem. V̲ is kept as there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.bandits import Bandit, WeightedFTRL
from tacit.core import check, generics
from tacit.core.records import Fields
from tacit.learners import v_base
from tacit.learners.spec import Info, World, check_steps


@dataclass(frozen=True)
class VLearning(v_base.VLearner):
    """V-learning for a cce, or with `equilibrium="ce"` for a ce.

    Parameters
    ----------
    equilibrium : {"cce", "ce"}
        What is learnt; for a ce, a bandit of external regret is made one of swap regret.
    bonus : float, optional
        Constant of the bonus; that of the theory if not given.
    step : "theory" or float
        η as the theory has it, or the number c in η = c/√(A_i·T), with T the visits so far.
    loss : {"normalized", "raw"}
        Losses as printed, or in the game's units: neither divided by H nor by the span of the rewards.
    confidence : float
        The probability p in ι = log(2·N·S·A_max·K·H/p).
    iota : float, optional
        ι itself, for an agent that does not know N, A_max and K.
    bandit : Bandit or name
        What plays at every (h, s).
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.VLearning("ce").bandit.regret
    'swap'
    """

    equilibrium: str = "cce"
    bandit: Bandit | str = field(default_factory=WeightedFTRL, kw_only=True)
    steps: str | None = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        check.choice("equilibrium", self.equilibrium, ["cce", "ce"])
        super().__post_init__()
        check_steps(self.steps)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(self.equilibrium, "certified", averaging="rate")

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        shared = {} if self.steps is None else {"steps": self.steps}
        return {"equilibrium": self.equilibrium, **super().params(world), **shared}

    def init(self, world: World) -> VLearningState:
        """Make the state of all agents."""
        return VLearningState(**self.common(world, horizon_power=3, fields=MEANS))


#: What a cell remembers besides values and visits, which are t.
MEANS: Fields = [
    ("upper_mean", "f8"),  # Ṽ
    ("lower_mean", "f8"),  # its lower counterpart
]


class VLearningState(NamedTuple):
    """All agents' values; rewards and values in units of one step's span."""

    cells: Any  # [H+1, S, N]  v_base.VALUES and MEANS
    players: Any  # whose bandit is where
    agents: Any  # [N]  bound_sum: Σ_k (V̄_1 − V̲_1)(s_1^k); bonus: β_t·√t
    bandit: Any
    loss_scale: float
    reward_low: float
    reward_scale: float
    horizon: int


generics.act.implement(VLearningState)(v_base.act)
generics.policy.implement(VLearningState)(v_base.policy)
generics.averaging.implement(VLearningState)(v_base.averaging)


@generics.learn.implement(VLearningState)
def learn(learner, i, h, s, a, r, s_next):
    """Move the values and update the bandit. [Mao2022, eqn:jin]"""
    cell = learner.cells[h, s, i]
    above, below = v_base.ahead(learner, i, h, s, r, s_next)
    t = cell.visits + 1
    cell.visits = t
    alpha = (learner.horizon + 1.0) / (learner.horizon + t)
    bonus = learner.agents[i].bonus / math.sqrt(t)
    cell.upper_mean += alpha * (above + bonus - cell.upper_mean)
    cell.lower_mean += alpha * (below - bonus - cell.lower_mean)
    cell.upper = min(cell.upper_mean, learner.horizon - h)
    cell.lower = max(cell.lower_mean, 0.0)
    v_base.update_bandit(learner, i, h, s, a, above)
