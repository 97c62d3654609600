"""Learners, each in a file of its own.

A new learner is one file here and one line in the table below, or an entry point of the group `tacit.learners`. A
Python class with `act` and `learn` can be registered as it is (see `plain.py`).
"""

from __future__ import annotations

from typing import Any

from tacit.core.registry import Registry
from tacit.learners.adaptive_v import AdaptiveV
from tacit.learners.mixed import Mixed
from tacit.learners.model import ModelIndependent
from tacit.learners.model_central import ModelCentral
from tacit.learners.model_seeded import ModelSeeded
from tacit.learners.npg import NPG
from tacit.learners.pg_adaptive import PGAdaptive
from tacit.learners.pg_exact import PGExact
from tacit.learners.pg_storm import PGStorm
from tacit.learners.plain import plain_factory
from tacit.learners.q_independent import QIndependent
from tacit.learners.spec import Learner, World, theorem_iota
from tacit.learners.stage_v import StageV
from tacit.learners.turns import Portfolio
from tacit.learners.ucb import UCB
from tacit.learners.v_learning import VLearning

REGISTRY: Registry[Learner] = Registry("learner", adopt=plain_factory)
REGISTRY.add("portfolio", Portfolio)
REGISTRY.add(
    "adaptive-v-cce",
    AdaptiveV,
    about="Adaptive V-learning for a coarse correlated equilibrium: nothing to choose.",
    fixed={"equilibrium": "cce"},
)
REGISTRY.add(
    "adaptive-v-ce",
    AdaptiveV,
    about="Adaptive V-learning for a correlated equilibrium: nothing to choose.",
    fixed={"equilibrium": "ce"},
)
_THEORY = {"step": "theory", "loss": "normalized", "confidence": 0.01}
REGISTRY.add(
    "stage-v-cce",
    StageV,
    about="Stage-based V-learning for a coarse correlated equilibrium. [Mao2022, Alg. 1]",
    fixed={"swap": False},
    **{"bonus": 6.0, **_THEORY, "bandit": "exp3-ix", "iota": None},
)
REGISTRY.add(
    "stage-v-ce",
    StageV,
    about="Stage-based V-learning for a correlated equilibrium, with a bandit of swap regret. [Mao2022, Alg. 6]",
    fixed={"swap": True},
    **{"bonus": 11.0, **_THEORY, "bandit": "swap", "iota": None},
)
REGISTRY.add("v-learning", VLearning)
REGISTRY.add("model-independent", ModelIndependent)
REGISTRY.add("model-central", ModelCentral)
REGISTRY.add("model-seeded", ModelSeeded)
REGISTRY.add("pg-adaptive", PGAdaptive)
REGISTRY.add("pg-exact", PGExact)
REGISTRY.add("pg-storm", PGStorm)
REGISTRY.add(
    "pg-sgd",
    PGStorm,
    about="Independent stochastic policy gradient without momentum: what STORM improves on.",
    fixed={"momentum": 1.0, "own_ratio": False, "b": 1.0},
)
REGISTRY.add("npg", NPG)
REGISTRY.add(
    "ucb-central",
    UCB,
    about='The paper\'s "Centralized" benchmark: optimistic Q-learning on the joint action.',
    fixed={"central": True},
)
REGISTRY.add(
    "ucb-independent",
    UCB,
    about='The paper\'s "Independent" benchmark: optimistic Q-learning by each agent as if it were alone.',
    fixed={"central": False},
)
REGISTRY.add("q-independent", QIndependent)

#: What learns where nothing else is asked for and there are no joint tables of moderate size.
DEFAULT = "adaptive-v-cce"

__all__ = [
    "DEFAULT",
    "NPG",
    "REGISTRY",
    "UCB",
    "AdaptiveV",
    "Learner",
    "Mixed",
    "ModelCentral",
    "ModelIndependent",
    "ModelSeeded",
    "PGAdaptive",
    "PGExact",
    "PGStorm",
    "Portfolio",
    "QIndependent",
    "StageV",
    "VLearning",
    "World",
    "theorem_iota",
]


def __getattr__(name: str) -> Any:
    """Return what functions of names made before, such as `stage_v_cce`; for one release."""
    if name in (
        "adaptive_v_cce",
        "adaptive_v_ce",
        "stage_v_cce",
        "stage_v_ce",
        "pg_sgd",
        "ucb_central",
        "ucb_independent",
    ):
        return REGISTRY.factory(name.replace("_", "-"))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
