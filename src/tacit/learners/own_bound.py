"""What a V-learning agent knows of its own gap, and when that is a bound. [Mao2022, app:cce, app:ce]

The estimate is (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k). It is a bound, with probability 1 − p for all agents at once, if the
learner's parameters are the theorem's and ι is at least log(2·N·S·A_max·K·H/p) for the run that was played.

Deviations: the paper proves it for one fixed first state. Where first states are drawn, the gap is an average over
their distribution, and the sum is one over those that came. V̄_1 − V̲_1 lies in [0, H] and is settled before s_1^k is
drawn, so by Azuma and Hoeffding the average exceeds the sum by more than H·√(ι/(2K)) with probability e^{-ι} at most:
this is added. For N agents that makes p/(2·S·A_max·K·H), for which the proofs leave room: they count p/(4·N·S·H·K) for
means of rewards and values that are off by √(H²·ι/ň), which happens with probability e^{-2ι} only.
"""

from __future__ import annotations

import math

from tacit.core.types import FloatArray
from tacit.learners.spec import Learner, Scale, World

#: ι may fall short of the theorem's by rounding.
_ROUNDING = 1e-12


def judge(
    learner: Learner, world: World, total: FloatArray, episodes: int, *, drawn: bool, trusted: bool = True
) -> tuple[FloatArray, str]:
    """Return what agents know of their gaps, from their sums `total`, and whether it is a bound: "model-free".

    Otherwise, or where what they were told of the game is not to be `trusted`, it is an "estimate".
    """
    if trusted and is_bound(learner, world, world.scale._replace(episodes=episodes)):
        return bound(learner, world, total, episodes, drawn=drawn), "model-free"
    return estimate(total, episodes, world), "estimate"


def is_bound(learner: Learner, world: World, scale: Scale) -> bool:
    """Return whether the theorem covers a learner's parameters, and ι is as large as it needs for a run."""
    found = learner.factors(world, scale)
    return found is not None and found[0] >= found[1] * (1 - _ROUNDING)


def estimate(total: FloatArray, episodes: int, world: World) -> FloatArray:
    """Return (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k) in the game's units, from the sums `total` of one or more agents."""
    low, high = world.reward_range
    return total / episodes * (high - low)


def bound(learner: Learner, world: World, total: FloatArray, episodes: int, *, drawn: bool) -> FloatArray:
    """Return the bounds on the gaps, where first states are `drawn` or always the same."""
    found = estimate(total, episodes, world)
    if drawn:
        iota, _ = learner.factors(world, world.scale) or (0.0, 0.0)
        found = found + world.largest_gap * math.sqrt(iota / (2 * episodes))
    capped: FloatArray = found.clip(max=world.largest_gap)
    return capped
