"""What V-learners share: a bandit at every (h, s), parameters and checks.

What an agent knows of its own gap is (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k). [Mao2022, app:cce, app:ce] It is a bound, with
probability 1 − p for all agents at once, if the learner's parameters are the theorem's and ι is at least
log(2·N·S·A_max·K·H/p) for the run that was played.

Deviations: the paper proves that for one fixed first state. Where first states are drawn, the gap is an average over
their distribution, and the sum is one over those that came. V̄_1 − V̲_1 lies in [0, H] and is settled before s_1^k is
drawn, so by Azuma and Hoeffding the average exceeds the sum by more than H·√(ι/(2K)) with probability e^{-ι} at most:
this is added. For N agents that makes p/(2·S·A_max·K·H), for which the proofs leave room: they count p/(4·N·S·H·K) for
means of rewards and values that are off by √(H²·ι/ň), which happens with probability e^{-2ι} only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from tacit.bandits import Bandit, Exp3IX, Setting
from tacit.core import check, generics
from tacit.core.records import Fields, capacity, record, records
from tacit.core.types import FloatArray
from tacit.learners import spec
from tacit.learners.spec import Learner, Scale, World, make_cells, player

#: The constant of the bonus in the theory.
BONUS = {"cce": 6.0, "ce": 11.0}


@dataclass(frozen=True, kw_only=True)
class VLearner(Learner):
    """Agents that keep bounds on their values, and play a bandit on them.

    Parameters
    ----------
    bonus : float, optional
        Constant of the bonus; 6 for cce and 11 for ce if not given, as in the theory.
    step : "theory" or float
        η as the theory has it, or the number c in η = c/√(A_i·T), with T the length of the stage or the visits so far.
    loss : {"normalized", "raw"}
        Losses as printed, or in the game's units: neither divided by H nor by the span of the rewards.
    confidence : float
        The probability p in ι = log(2·N·S·A_max·K·H/p).
    iota : float, optional
        ι itself, for an agent that does not know N, A_max and K. With a smaller one than the theorem's, agents' own
        bounds are estimates.
    bandit : Bandit or name
        What plays at every (h, s).
    """

    bonus: float | None = None
    step: float | str = "theory"
    loss: str = "normalized"
    confidence: float = 0.01
    iota: float | None = None
    bandit: Bandit | str = field(default_factory=Exp3IX)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        object.__setattr__(self, "bandit", spec.take_bandit(self.bandit, swap=self.swap))
        if self.bonus is not None:
            check.real("bonus", self.bonus, least=0, most=1e100)
        spec.take_step_constant(self.step)
        check.choice("loss", self.loss, ["normalized", "raw"])
        spec.check_confidence(self.confidence, self.iota)

    def factors(self, world: World, scale: Scale) -> tuple[float, float] | None:
        """Return ι, and ι as its theorem needs it for a run of this scale. None where no theorem covers its parameters.

        If ι is as large, agents' own bounds hold.
        """
        return None

    def log_factor(self, world: World) -> float:
        """Return ι as given, or as the theorem has it for the run."""
        return spec.theorem_iota(world.scale, self.confidence) if self.iota is None else float(self.iota)

    @property
    def equilibrium(self) -> str:
        """Cce or ce, by the bandit's regret."""
        return "ce" if self._bandit.regret == "swap" else "cce"

    @property
    def swap(self) -> bool:
        """Whether a bandit of external regret is made one of swap regret."""
        return self.equilibrium == "ce"

    @property
    def _bandit(self) -> Bandit:
        return cast(Bandit, self.bandit)  # a name was resolved

    @property
    def _bonus(self) -> float:
        return BONUS[self.equilibrium] if self.bonus is None else float(self.bonus)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {
            "bandit": repr(self.bandit),
            "bonus": self._bonus,
            "step": self.step,
            "loss": self.loss,
            "confidence": self.confidence,
            "iota": self.log_factor(world),
        }

    def common(self, world: World, horizon_power: int, fields: Fields) -> dict[str, Any]:
        """Return the fields that the states of both learners have; the bonus grows with √(H^horizon_power).

        `fields` are those of a cell that are not common.
        """
        N, H = world.agents, world.horizon
        iota = self.log_factor(world)
        bandit = record(self._bandit.fields(capacity(world.actions.max())))
        cells, players, sharing = make_cells(self.steps, world, [("bandit", bandit)], [*VALUES, *fields], beyond=True)
        cells["upper"] = np.arange(H, -1, -1.0)[:, None, None]
        setting = Setting(world.actions, H, H, iota, spec.take_step_constant(self.step))
        actions_power = 2 if self.equilibrium == "ce" else 1
        agents = records((N,), [("bound_sum", "f8"), ("bonus", "f8")])
        agents["bonus"] = self._bonus * np.sqrt(H**horizon_power * world.actions**actions_power * iota)
        low, scale = spec.unit_rewards(world)
        return {
            "cells": cells,
            "players": sharing,
            "agents": agents,
            "bandit": self._bandit.init(players["bandit"], setting),
            "loss_scale": (world.largest_gap if self.loss == "raw" else 1.0) / H,
            "reward_low": low,
            "reward_scale": scale,
            "horizon": H,
        }


#: What a cell of both learners remembers; there are cells after the last step, where nothing is to come.
VALUES: Fields = [
    ("upper", "f8"),  # V̄
    ("lower", "f8"),  # V̲
    ("visits", "i8"),
]


def act(learner, i, h, s, u):
    """Ask the bandit of (h, s). [Mao2022, Alg. 1, l. 6]"""
    return generics.draw(learner.bandit, player(learner.players, learner.cells, i, h, s).bandit, u)


def policy(learner, i, h, s, out):
    """Write μ_{h,i}(·|s)."""
    generics.probs(learner.bandit, player(learner.players, learner.cells, i, h, s).bandit, out)


def averaging(learner, h, s):
    """Return α_t = (H+1)/(H+t), in force at once: for learners with this rate."""
    t = learner.cells[h, s, 0].visits + 1
    return (learner.horizon + 1.0) / (learner.horizon + t), True


@generics.jitable
def ahead(learner, i, h, s, r, s_next):
    """Return r + V̄_{h+1}(s') and r + V̲_{h+1}(s'). Sum up the bound at the first step."""
    if h == 0:
        first = learner.cells[0, s, i]
        learner.agents[i].bound_sum += first.upper - first.lower
    r = (r - learner.reward_low) * learner.reward_scale
    following = learner.cells[h + 1, s_next, i]
    return r + following.upper, r + following.lower


@generics.jitable
def update_bandit(learner, i, h, s, a, above):
    """Update the bandit with the loss [H − h + 1 − (r + V̄_{h+1})]/H."""
    bandit = player(learner.players, learner.cells, i, h, s).bandit
    prob = generics.prob(learner.bandit, bandit, a)
    generics.update(learner.bandit, bandit, a, (learner.horizon - h - above) * learner.loss_scale, prob)


# what an agent knows of its own gap -----------------------------------------------------------------------------------

#: ι may fall short of the theorem's by rounding.
_ROUNDING = 1e-12


def bound_sum(state: Any) -> FloatArray | None:
    """Return Σ_k (V̄_1 − V̲_1) of the agents [N] in a state. None where they keep no bounds of their own."""
    agents = getattr(state, "agents", None)
    return agents["bound_sum"] if agents is not None and "bound_sum" in (agents.dtype.names or ()) else None


def judge(
    learner: Learner, world: World, total: FloatArray, episodes: int, *, drawn: bool, trusted: bool = True
) -> tuple[FloatArray, str]:
    """Return what agents know of their gaps, and whether it is a bound: "model-free".

    Otherwise, or where the range of rewards is not `trusted`, it is an "estimate".
    """
    if trusted and is_bound(learner, world, world.scale._replace(episodes=episodes)):
        return bound(learner, world, total, episodes, drawn=drawn), "model-free"
    return estimate(total, episodes, world), "estimate"


def is_bound(learner: Learner, world: World, scale: Scale) -> bool:
    """Return whether the theorem covers a learner's parameters, with ι large enough."""
    factors = learner.factors(world, scale) if isinstance(learner, VLearner) else None
    return factors is not None and factors[0] >= factors[1] * (1 - _ROUNDING)


def estimate(total: FloatArray, episodes: int, world: World) -> FloatArray:
    """Return (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k) in the game's units, from its sums."""
    low, high = world.reward_range
    return total / episodes * (high - low)


def bound(learner: Learner, world: World, total: FloatArray, episodes: int, *, drawn: bool) -> FloatArray:
    """Return the bounds on the gaps, where first states are `drawn` or always the same."""
    bounds = estimate(total, episodes, world)
    if drawn:
        iota, _ = (isinstance(learner, VLearner) and learner.factors(world, world.scale)) or (0.0, 0.0)
        bounds = bounds + world.largest_gap * math.sqrt(iota / (2 * episodes))
    capped: FloatArray = bounds.clip(max=world.largest_gap)
    return capped
