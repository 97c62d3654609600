"""Learners, each in a file of its own.

A new learner is one file here and one line in the table below, or an entry point of the group `tacit.learners`.
"""

from __future__ import annotations

from tacit.bandits import Bandit
from tacit.core.registry import Registry
from tacit.learners.adaptive_v import AdaptiveV
from tacit.learners.npg import NPG
from tacit.learners.pg_exact import PGExact
from tacit.learners.pg_storm import PGStorm
from tacit.learners.q_independent import QIndependent
from tacit.learners.spec import Learner, Start, World, checked_bandit, theorem_iota
from tacit.learners.stage_v import StageV
from tacit.learners.ucb import UCB
from tacit.learners.v_learning import VLearning


def adaptive_v_cce(
    *,
    memory: float = 0.1,
    implicit: float = 0.1,
    optimism: float = 2.0,
    baseline: bool = True,
    step: float | str = "auto",
) -> AdaptiveV:
    """Adaptive V-learning for a coarse correlated equilibrium: nothing to choose."""
    return AdaptiveV("cce", memory=memory, implicit=implicit, optimism=optimism, baseline=baseline, step=step)


def adaptive_v_ce(
    *,
    memory: float = 0.1,
    implicit: float = 0.1,
    optimism: float = 2.0,
    baseline: bool = True,
    step: float | str = "auto",
) -> AdaptiveV:
    """Adaptive V-learning for a correlated equilibrium: nothing to choose."""
    return AdaptiveV("ce", memory=memory, implicit=implicit, optimism=optimism, baseline=baseline, step=step)


def stage_v_cce(
    *,
    bonus: float = 6.0,
    step: float | str = "theory",
    loss: str = "normalized",
    confidence: float = 0.01,
    bandit: Bandit | str = "exp3-ix",
    iota: float | None = None,
) -> StageV:
    """Stage-based V-learning for a coarse correlated equilibrium. [Mao2022, Alg. 1]"""
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
    """
    made = checked_bandit(bandit, swap=True)
    return StageV(bandit=made, bonus=bonus, step=step, loss=loss, confidence=confidence, iota=iota)


def pg_sgd(*, eta: float = 1e-4, exploration: float = 0.0, start: Start = "uniform") -> PGStorm:
    """Independent stochastic policy gradient without momentum: what STORM improves on."""
    return PGStorm(eta=eta, momentum=1.0, exploration=exploration, start=start)


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


REGISTRY: Registry[Learner] = Registry("learner")
REGISTRY.add("adaptive-v-cce", adaptive_v_cce)
REGISTRY.add("adaptive-v-ce", adaptive_v_ce)
REGISTRY.add("stage-v-cce", stage_v_cce)
REGISTRY.add("stage-v-ce", stage_v_ce)
REGISTRY.add("v-learning", VLearning)
REGISTRY.add("pg-exact", PGExact)
REGISTRY.add("pg-storm", PGStorm)
REGISTRY.add("pg-sgd", pg_sgd)
REGISTRY.add("npg", NPG)
REGISTRY.add("ucb-central", ucb_central)
REGISTRY.add("ucb-independent", ucb_independent)
REGISTRY.add("q-independent", QIndependent)

__all__ = [
    "NPG",
    "REGISTRY",
    "UCB",
    "AdaptiveV",
    "Learner",
    "PGExact",
    "PGStorm",
    "QIndependent",
    "StageV",
    "VLearning",
    "World",
    "adaptive_v_cce",
    "adaptive_v_ce",
    "stage_v_cce",
    "stage_v_ce",
    "theorem_iota",
]
