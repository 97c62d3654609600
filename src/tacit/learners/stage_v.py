"""Stage-based V-learning, for cce and ce. [Mao2022, Alg. 1 and Alg. 6]

They are one learner with two bandits: of external regret (cce) or swap regret (ce). At each (h, s) the visits form
stages of lengths e_1 = H, e_{j+1} = ⌊(1+1/H)·e_j⌋. Within a stage a bandit plays on the losses

    [H − h + 1 − (r + V̄_{h+1}(s'))]/H,

and at its end, after ň visits,

    V̄_h(s) ← min{mean(r + V̄_{h+1}) + b, H − h + 1},  V̲_h(s) ← max{mean(r + V̲_{h+1}) − b, 0},
    b = bonus·√(H²·A·ι/ň) (cce),  bonus·√(H²·A²·ι/ň) (ce),

and the bandit starts anew. What the agent knows of its gap after K episodes is (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k); when that
is a bound, `own_bound.py` says.

Deviations: ř and v̌ are kept as one sum. Rewards are brought to [0, 1] by the game's reward range; with loss = "raw" the
losses are multiplied by H and the span of the rewards. V̲, which the paper defines for its analysis, is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from tacit.bandits import Bandit, Exp3IX, Swap
from tacit.core import generics
from tacit.core.layout import at
from tacit.core.types import FloatArray, IntArray
from tacit.learners import spec, v_base
from tacit.learners.spec import World


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

    Examples
    --------
    >>> import tacit
    >>> tacit.StageV(bonus=0.1).equilibrium, tacit.StageV(bandit="swap").equilibrium
    ('cce', 'ce')
    """

    rule: ClassVar[str] = "stage"

    @cached_property
    def guaranteed(self) -> bool:
        """Whether the theorem covers these parameters, apart from ι."""
        bandit = Swap() if self.equilibrium == "ce" else Exp3IX()
        large = self._bonus >= v_base.BONUS[self.equilibrium]
        return self._bandit == bandit and large and self.step == "theory" and self.loss == "normalized"

    def init(self, world: World) -> StageVState:
        """Make the state of all agents."""
        grid = (world.agents, world.cells)
        return StageVState(
            **self.common(world, horizon_power=2),
            upper_sum=np.zeros(grid),
            lower_sum=np.zeros(grid),
            length=np.full(grid, world.horizon),
        )


class StageVState(NamedTuple):
    """All agents' values and stages; rewards and values in units of one step's span."""

    bandit: Any
    upper: Annotated[FloatArray, "N H+1 S"]  # V̄
    lower: Annotated[FloatArray, "N H+1 S"]  # V̲
    upper_sum: Annotated[FloatArray, "N C"]  # Σ (r + V̄_{h+1}) in the stage
    lower_sum: Annotated[FloatArray, "N C"]  # Σ (r + V̲_{h+1}) in the stage
    visits: Annotated[IntArray, "N C"]  # Ň: visits in the stage
    length: Annotated[IntArray, "N C"]  # Ť: length of the stage
    bound_sum: Annotated[FloatArray, "N"]  # Σ_k (V̄_1 − V̲_1)(s_1^k)
    bonus: Annotated[FloatArray, "N"]  # b·√ň
    loss_scale: float
    reward_low: float
    reward_scale: float
    horizon: int
    states: int


generics.act.implement(StageVState)(v_base.act)
generics.weigh.implement(StageVState)(v_base.weigh)
generics.jot.implement(StageVState)(v_base.jot)


@generics.pace.implement(StageVState)
def pace(learner, h, s):
    """Return the running mean within a stage, in force when it ends."""
    n = learner.visits[0, generics.cell(h, s, learner.states)] + 1
    return 1.0 / n, n == learner.length[0, generics.cell(h, s, learner.states)]


@generics.learn.implement(StageVState)
def learn(learner, i, h, s, a, r, s_next):
    """Feed the bandit, and at the end of a stage renew the values. [Mao2022, Alg. 1, l. 5-16]"""
    c = generics.cell(h, s, learner.states)
    above, below = v_base.ahead(learner, i, h, s, r, s_next)
    here = at(learner, i, c)
    here.upper_sum[i, c] += above
    here.lower_sum[i, c] += below
    v_base.feed(learner, i, h, c, a, above)
    n = here.visits[i, c] + 1
    here.visits[i, c] = n
    if n == here.length[i, c]:
        bonus = learner.bonus[i] / math.sqrt(n)
        learner.upper[i, h, s] = min(here.upper_sum[i, c] / n + bonus, learner.horizon - h)
        learner.lower[i, h, s] = max(here.lower_sum[i, c] / n - bonus, 0.0)
        here.upper_sum[i, c] = 0.0
        here.lower_sum[i, c] = 0.0
        here.visits[i, c] = 0
        here.length[i, c] = n + n // learner.horizon
        generics.restart(at(learner.bandit, i, c), i, c, here.length[i, c])


def stage_v_cce(
    *,
    bonus: float = 6.0,
    step: float | str = "theory",
    loss: str = "normalized",
    confidence: float = 0.01,
    bandit: Bandit | str = "exp3-ix",
    iota: float | None = None,
) -> StageV:
    """Stage-based V-learning for a coarse correlated equilibrium. [Mao2022, Alg. 1]

    Parameters
    ----------
    bonus : float
    step : "theory" or float
    loss : {"normalized", "raw"}
    confidence, iota : float
    bandit : Bandit or name
        See `StageV`.

    Returns
    -------
    StageV

    Examples
    --------
    >>> from tacit.learners import stage_v_cce
    >>> stage_v_cce(bonus=0.1).bonus
    0.1
    """
    return StageV(bandit=bandit, bonus=bonus, step=step, loss=loss, confidence=confidence, iota=iota)


def stage_v_ce(
    *,
    bonus: float = 11.0,
    step: float | str = "theory",
    loss: str = "normalized",
    confidence: float = 0.01,
    bandit: Bandit | str = "swap",
    iota: float | None = None,
) -> StageV:
    """Stage-based V-learning for a correlated equilibrium; a bandit of external regret is made one of swap regret.

    [Mao2022, Alg. 6]

    Parameters
    ----------
    bonus : float
    step : "theory" or float
    loss : {"normalized", "raw"}
    confidence, iota : float
    bandit : Bandit or name
        See `StageV`.

    Returns
    -------
    StageV

    Examples
    --------
    >>> from tacit.learners import stage_v_ce
    >>> stage_v_ce(bandit="tsallis-inf").equilibrium
    'ce'
    """
    made = spec.checked_bandit(bandit, swap=True)
    return StageV(bandit=made, bonus=bonus, step=step, loss=loss, confidence=confidence, iota=iota)
