"""V-learning with α_t = (H+1)/(H+t), the method that stage-based V-learning simplifies. [Jin, Liu, Wang, Yu 2021]

At the t-th visit of (h, s) [Mao2022, eqn:jin]

    Ṽ ← (1 − α_t)·Ṽ + α_t·(r + V̄_{h+1}(s') + β_t),  V̄ = min{Ṽ, H − h + 1},
    β_t = bonus·√(H³·A·ι/t) (cce),  bonus·√(H³·A²·ι/t) (ce),

and a bandit for the weighted regret plays on the losses of the stage-based learner.

Deviations: the constant of β_t is "some absolute constant" in the source; here it is `bonus`, with the defaults of the
stage-based learner. V̲ is kept as there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits import Bandit, Cells, WeightedFTRL
from tacit.core import check, generics
from tacit.core.types import FloatArray, IntArray
from tacit.learners import spec
from tacit.learners.spec import World


@dataclass(frozen=True)
class VLearning:
    """V-learning for a cce, or with `equilibrium="ce"` for a ce.

    Parameters
    ----------
    equilibrium : {"cce", "ce"}
    bonus, step, loss, confidence, iota
        As in `StageV`; a number c as step stands for η_t = c/√(A_i·t).
    """

    equilibrium: str = "cce"
    bonus: float | None = None
    step: float | str = "theory"
    loss: str = "normalized"
    confidence: float = 0.01
    iota: float | None = None
    bandit: Bandit | str = field(default_factory=WeightedFTRL)

    def __post_init__(self) -> None:
        check.choice("equilibrium", self.equilibrium, ["cce", "ce"])
        bandit = spec.checked_bandit(self.bandit, swap=self.equilibrium == "ce")
        object.__setattr__(self, "bandit", bandit)
        if self.bonus is not None:
            check.real("bonus", self.bonus, least=0, most=1e100)
        spec.checked_step(self.step)
        check.choice("loss", self.loss, ["normalized", "raw"])
        spec.checked_common(self.confidence, self.iota)

    @property
    def output(self) -> str:
        """A certified policy with the weights of the learning rate."""
        return "rate"

    @property
    def guaranteed(self) -> bool:
        """The source leaves the constant of the bonus open, so no parameters are known to be covered."""
        return False

    @property
    def _bonus(self) -> float:
        return {"cce": 6.0, "ce": 11.0}[self.equilibrium] if self.bonus is None else float(self.bonus)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {
            "equilibrium": self.equilibrium,
            "bandit": repr(self.bandit),
            "bonus": self._bonus,
            "step": self.step,
            "loss": self.loss,
            "confidence": self.confidence,
            "iota": world.iota,
        }

    def init(self, world: World) -> VLearningState:
        """Make the state of all agents."""
        H, S = world.horizon, world.states
        assert not isinstance(self.bandit, str)
        cells = Cells(world.actions, world.cells, H, H, world.iota, spec.checked_step(self.step))
        low, scale = spec.unit_rewards(world)
        power = 2 if self.equilibrium == "ce" else 1
        ahead = np.arange(H, -1, -1.0)[:, None]
        return VLearningState(
            bandit=self.bandit.init(cells),
            upper=np.ones((world.agents, H + 1, S)) * ahead,
            lower=np.zeros((world.agents, H + 1, S)),
            upper_mean=np.zeros((world.agents, world.cells)),
            lower_mean=np.zeros((world.agents, world.cells)),
            visits=np.zeros((world.agents, world.cells), dtype=np.int64),
            bound_sum=np.zeros(world.agents),
            bonus=self._bonus * np.sqrt(H**3 * world.actions**power * world.iota),
            loss_scale=(spec.raw_scale(world) if self.loss == "raw" else 1.0) / H,
            reward_low=low,
            reward_scale=scale,
            horizon=H,
            states=S,
        )


class VLearningState(NamedTuple):
    """All agents' values; rewards and values in units of one step's span."""

    bandit: Any
    upper: FloatArray  # [N, H+1, S]  V̄
    lower: FloatArray  # [N, H+1, S]  V̲
    upper_mean: FloatArray  # [N, C]  Ṽ
    lower_mean: FloatArray  # [N, C]  its lower counterpart
    visits: IntArray  # [N, C]  t
    bound_sum: FloatArray  # [N]  Σ_k (V̄_1 − V̲_1)(s_1^k)
    bonus: FloatArray  # [N]  β_t·√t
    loss_scale: float
    reward_low: float
    reward_scale: float
    horizon: int
    states: int


@generics.act.implement(VLearningState)
def act(learner, i, h, s, u):
    """Ask the bandit of (h, s)."""
    return generics.draw(learner.bandit, i, h * learner.states + s, u)


@generics.weigh.implement(VLearningState)
def weigh(learner, i, h, s, out):
    """Write μ_{h,i}(·|s)."""
    generics.spread(learner.bandit, i, h * learner.states + s, out)


@generics.pace.implement(VLearningState)
def pace(learner, h, s):
    """Return α_t, in force at once."""
    t = learner.visits[0, h * learner.states + s] + 1
    return (learner.horizon + 1.0) / (learner.horizon + t), True


@generics.learn.implement(VLearningState)
def learn(learner, i, h, s, a, r, s_next):
    """Move the values and feed the bandit. [Mao2022, eqn:jin]"""
    c = h * learner.states + s
    if h == 0:
        learner.bound_sum[i] += learner.upper[i, 0, s] - learner.lower[i, 0, s]
    r = (r - learner.reward_low) * learner.reward_scale
    ahead = r + learner.upper[i, h + 1, s_next]
    below = r + learner.lower[i, h + 1, s_next]
    t = learner.visits[i, c] + 1
    learner.visits[i, c] = t
    alpha = (learner.horizon + 1.0) / (learner.horizon + t)
    bonus = learner.bonus[i] / math.sqrt(t)
    learner.upper_mean[i, c] += alpha * (ahead + bonus - learner.upper_mean[i, c])
    learner.lower_mean[i, c] += alpha * (below - bonus - learner.lower_mean[i, c])
    steps_left = learner.horizon - h
    learner.upper[i, h, s] = min(learner.upper_mean[i, c], steps_left)
    learner.lower[i, h, s] = max(learner.lower_mean[i, c], 0.0)
    prob = generics.chance(learner.bandit, i, c, a)
    generics.feed(learner.bandit, i, c, a, (steps_left - ahead) * learner.loss_scale, prob)
