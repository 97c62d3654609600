"""Stage-based V-learning, for cce and ce. [Mao2022, Alg. 1 and Alg. 6]

They are one learner with two bandits: of external regret (cce) or swap regret (ce). At each (h, s) the visits form
stages of lengths e_1 = H, e_{j+1} = ⌊(1+1/H)·e_j⌋. Within a stage a bandit plays on the losses

    [H − h + 1 − (r + V̄_{h+1}(s'))]/H,

and at its end, after ň visits,

    V̄_h(s) ← min{mean(r + V̄_{h+1}) + b, H − h + 1},  V̲_h(s) ← max{mean(r + V̲_{h+1}) − b, 0},
    b = bonus·√(H²·A·ι/ň) (cce),  bonus·√(H²·A²·ι/ň) (ce),

and the bandit starts anew. What the agent knows of its gap after K episodes is (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k); when that
is a bound, `v_base.py` says.

Deviations: ř and v̌ are kept as one sum. Rewards are brought to [0, 1] by the game's reward range; with loss = "raw" the
losses are multiplied by H and the span of the rewards. V̲, which the paper defines for its analysis, is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from tacit.bandits import Exp3IX, Swap
from tacit.core import generics
from tacit.core.records import Fields
from tacit.learners import v_base
from tacit.learners.spec import Info, Scale, World, theorem_iota


@dataclass(frozen=True, kw_only=True)
class StageV(v_base.VLearner):
    """Stage-based V-learning; with a bandit of swap regret it learns a ce, otherwise a cce.

    Parameters
    ----------
    bonus : float, optional
        Constant of the bonus; 6 for cce and 11 for ce if not given, as in the theory.
    step : "theory" or float
        η as the theory has it, or the number c in η = c/√(A_i·T), with T the length of the stage.
    loss : {"normalized", "raw"}
        Losses as printed, or in the game's units: neither divided by H nor by the span of the rewards.
    confidence : float
        The probability p in ι = log(2·N·S·A_max·K·H/p).
    iota : float, optional
        ι itself, for an agent that does not know N, A_max and K.
    bandit : Bandit or name
        What plays at every (h, s).
    swap : bool
        Make a bandit of external regret one of swap regret.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.StageV(bonus=0.1).info.learns, tacit.learners.StageV(bandit="swap").info.learns
    ('cce', 'ce')
    """

    swap: bool = field(default=False, repr=False, compare=False)
    steps = None  # each restarts its bandits with its own stages: they share nothing

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(self.equilibrium, "certified")

    def factors(self, world: World, scale: Scale) -> tuple[float, float] | None:
        """Return ι, and ι as the theorem needs it, where that covers the other parameters."""
        return (self.log_factor(world), theorem_iota(scale, self.confidence)) if self._covered else None

    @cached_property
    def _covered(self) -> bool:
        """Whether the theorem covers these parameters, apart from ι."""
        bandit = Swap() if self.equilibrium == "ce" else Exp3IX()
        large = self._bonus >= v_base.BONUS[self.equilibrium]
        return self._bandit == bandit and large and self.step == "theory" and self.loss == "normalized"

    def init(self, world: World) -> StageVState:
        """Make the state of all agents."""
        state = StageVState(**self.common(world, horizon_power=2, fields=STAGE))
        state.cells["length"] = world.horizon
        return state


#: What a cell remembers of its stage.
STAGE: Fields = [
    ("length", "i8"),  # Ť: length of the stage; `visits` is Ň, visits in the stage
    ("upper_sum", "f8"),  # Σ (r + V̄_{h+1}) in the stage
    ("lower_sum", "f8"),  # Σ (r + V̲_{h+1}) in the stage
]


class StageVState(NamedTuple):
    """All agents' values and stages; rewards and values in units of one step's span."""

    cells: Any  # [H+1, S, N]  v_base.VALUES and STAGE
    players: Any  # whose bandit is where
    agents: Any  # [N]  bound_sum: Σ_k (V̄_1 − V̲_1)(s_1^k); bonus: b·√ň
    bandit: Any
    loss_scale: float
    reward_low: float
    reward_scale: float
    horizon: int


generics.act.implement(StageVState)(v_base.act)
generics.policy.implement(StageVState)(v_base.policy)


@generics.averaging.implement(StageVState)
def averaging(learner, h, s):
    """Return the running mean within a stage, in force when it ends."""
    cell = learner.cells[h, s, 0]
    n = cell.visits + 1
    return 1.0 / n, n == cell.length


@generics.learn.implement(StageVState)
def learn(learner, i, h, s, a, r, s_next):
    """Update the bandit, and at the end of a stage renew the values. [Mao2022, Alg. 1, l. 5-16]"""
    cell = learner.cells[h, s, i]
    above, below = v_base.ahead(learner, i, h, s, r, s_next)
    cell.upper_sum += above
    cell.lower_sum += below
    v_base.update_bandit(learner, i, h, s, a, above)
    n = cell.visits + 1
    cell.visits = n
    if n == cell.length:
        bonus = learner.agents[i].bonus / math.sqrt(n)
        cell.upper = min(cell.upper_sum / n + bonus, learner.horizon - h)
        cell.lower = max(cell.lower_sum / n - bonus, 0.0)
        cell.upper_sum = 0.0
        cell.lower_sum = 0.0
        cell.visits = 0
        cell.length = n + n // learner.horizon
        generics.restart(learner.bandit, cell.bandit, cell.length)
