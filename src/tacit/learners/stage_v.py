"""Stage-based V-learning, for cce and ce. [Mao2022, Alg. 1 and Alg. 6]

They are one learner with two bandits: of external regret (cce) or swap regret (ce). At each (h, s) the visits form
stages of lengths e_1 = H, e_{j+1} = ⌊(1+1/H)·e_j⌋. Within a stage a bandit plays on the losses

    [H − h + 1 − (r + V̄_{h+1}(s'))]/H,

and at its end, after ň visits,

    V̄_h(s) ← min{mean(r + V̄_{h+1}) + b, H − h + 1},  V̲_h(s) ← max{mean(r + V̲_{h+1}) − b, 0},
    b = bonus·√(H²·A·ι/ň) (cce),  bonus·√(H²·A²·ι/ň) (ce),

and the bandit starts anew. The agent's own bound on its gap after K episodes is (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k).

Deviations: ř and v̌ are kept as one sum. Rewards are brought to [0, 1] by the game's reward range; with loss = "raw" the
losses are multiplied by H and the span of the rewards. V̲, which the paper defines for its analysis, is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits import Bandit, Cells, Exp3IX, Swap
from tacit.core import check, generics
from tacit.core.types import FloatArray, IntArray
from tacit.learners import spec
from tacit.learners.spec import World


@dataclass(frozen=True)
class StageV:
    """Stage-based V-learning; with a bandit of swap regret it learns a ce, otherwise a cce.

    Parameters
    ----------
    bandit : Bandit or name
    bonus : float, optional
        Constant of the bonus; 6 for cce and 11 for ce if not given, as in the theory.
    step : "theory" or float
        η as the theory has it, or the number c in η = c/√(A_i·Ť).
    loss : {"normalized", "raw"}
        Losses as printed, or in the game's units: neither divided by H nor by the span of the rewards.
    confidence : float
        The probability p in ι = log(2·N·S·A_max·K·H/p).
    iota : float, optional
        ι itself, for an agent that does not know N, A_max and K.
    """

    bandit: Bandit | str = field(default_factory=Exp3IX)
    bonus: float | None = None
    step: float | str = "theory"
    loss: str = "normalized"
    confidence: float = 0.01
    iota: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandit", spec.checked_bandit(self.bandit, swap=False))
        if self.bonus is not None:
            check.real("bonus", self.bonus, least=0, most=1e100)
        spec.checked_step(self.step)
        check.choice("loss", self.loss, ["normalized", "raw"])
        spec.checked_common(self.confidence, self.iota)

    @property
    def equilibrium(self) -> str:
        """Cce or ce, by the bandit's regret."""
        return "ce" if self._bandit.regret == "swap" else "cce"

    @property
    def output(self) -> str:
        """A certified policy over stages."""
        return "stage"

    @property
    def guaranteed(self) -> bool:
        """Whether the theorem covers these parameters, so that each agent's own bound holds."""
        bandit = Swap() if self.equilibrium == "ce" else Exp3IX()
        least = {"cce": 6.0, "ce": 11.0}[self.equilibrium]
        return self._bandit == bandit and self._bonus >= least and self.step == "theory" and self.loss == "normalized"

    @property
    def _bandit(self) -> Bandit:
        assert not isinstance(self.bandit, str)
        return self.bandit

    @property
    def _bonus(self) -> float:
        return {"cce": 6.0, "ce": 11.0}[self.equilibrium] if self.bonus is None else float(self.bonus)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {
            "bandit": repr(self.bandit),
            "bonus": self._bonus,
            "step": self.step,
            "loss": self.loss,
            "confidence": self.confidence,
            "iota": world.iota,
        }

    def init(self, world: World) -> StageVState:
        """Make the state of all agents."""
        H, S, grid = world.horizon, world.states, (world.agents, world.cells)
        cells = Cells(world.actions, world.cells, H, H, world.iota, spec.checked_step(self.step))
        low, scale = spec.unit_rewards(world)
        power = 2 if self.equilibrium == "ce" else 1
        ahead = np.arange(H, -1, -1.0)[:, None]
        return StageVState(
            bandit=self._bandit.init(cells),
            upper=np.ones((world.agents, H + 1, S)) * ahead,
            lower=np.zeros((world.agents, H + 1, S)),
            upper_sum=np.zeros(grid),
            lower_sum=np.zeros(grid),
            visits=np.zeros(grid, dtype=np.int64),
            length=np.full(grid, H),
            bound_sum=np.zeros(world.agents),
            bonus=self._bonus * np.sqrt(H**2 * world.actions**power * world.iota),
            loss_scale=(spec.raw_scale(world) if self.loss == "raw" else 1.0) / H,
            reward_low=low,
            reward_scale=scale,
            horizon=H,
            states=S,
        )


class StageVState(NamedTuple):
    """All agents' values and stages; rewards and values in units of one step's span."""

    bandit: Any
    upper: FloatArray  # [N, H+1, S]  V̄
    lower: FloatArray  # [N, H+1, S]  V̲
    upper_sum: FloatArray  # [N, C]  Σ (r + V̄_{h+1}) in the stage
    lower_sum: FloatArray  # [N, C]  Σ (r + V̲_{h+1}) in the stage
    visits: IntArray  # [N, C]  Ň: visits in the stage
    length: IntArray  # [N, C]  Ť: length of the stage
    bound_sum: FloatArray  # [N]  Σ_k (V̄_1 − V̲_1)(s_1^k)
    bonus: FloatArray  # [N]  b·√ň
    loss_scale: float
    reward_low: float
    reward_scale: float
    horizon: int
    states: int


@generics.act.implement(StageVState)
def act(learner, i, h, s, u):
    """Ask the bandit of (h, s). [Mao2022, Alg. 1, l. 6]"""
    return generics.draw(learner.bandit, i, h * learner.states + s, u)


@generics.weigh.implement(StageVState)
def weigh(learner, i, h, s, out):
    """Write μ_{h,i}(·|s)."""
    generics.spread(learner.bandit, i, h * learner.states + s, out)


@generics.pace.implement(StageVState)
def pace(learner, h, s):
    """Return the running mean within a stage, in force when it ends."""
    n = learner.visits[0, h * learner.states + s] + 1
    return 1.0 / n, n == learner.length[0, h * learner.states + s]


@generics.learn.implement(StageVState)
def learn(learner, i, h, s, a, r, s_next):
    """Feed the bandit, and at the end of a stage renew the values. [Mao2022, Alg. 1, l. 5-16]"""
    c = h * learner.states + s
    if h == 0:
        learner.bound_sum[i] += learner.upper[i, 0, s] - learner.lower[i, 0, s]
    r = (r - learner.reward_low) * learner.reward_scale
    ahead = r + learner.upper[i, h + 1, s_next]
    learner.upper_sum[i, c] += ahead
    learner.lower_sum[i, c] += r + learner.lower[i, h + 1, s_next]
    steps_left = learner.horizon - h
    prob = generics.chance(learner.bandit, i, c, a)
    generics.feed(learner.bandit, i, c, a, (steps_left - ahead) * learner.loss_scale, prob)
    n = learner.visits[i, c] + 1
    learner.visits[i, c] = n
    if n == learner.length[i, c]:
        bonus = learner.bonus[i] / math.sqrt(n)
        learner.upper[i, h, s] = min(learner.upper_sum[i, c] / n + bonus, steps_left)
        learner.lower[i, h, s] = max(learner.lower_sum[i, c] / n - bonus, 0.0)
        learner.upper_sum[i, c] = 0.0
        learner.lower_sum[i, c] = 0.0
        learner.visits[i, c] = 0
        learner.length[i, c] = n + n // learner.horizon
        generics.restart(learner.bandit, i, c, learner.length[i, c])
