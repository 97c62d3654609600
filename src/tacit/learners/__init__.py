"""Learners, each in a file of its own.

A new learner is one file here and one line in the table below, or an entry point of the group `tacit.learners`. A
Python class with `act` and `learn` can be registered as it is (see `plain.py`).
"""

from __future__ import annotations

from tacit.core.registry import Registry
from tacit.learners.adaptive_v import AdaptiveV, adaptive_v_cce, adaptive_v_ce
from tacit.learners.mixed import Mixed
from tacit.learners.model import ModelIndependent
from tacit.learners.model_seeded import ModelSeeded
from tacit.learners.npg import NPG
from tacit.learners.pg_adaptive import PGAdaptive
from tacit.learners.pg_exact import PGExact
from tacit.learners.pg_storm import PGStorm, pg_sgd
from tacit.learners.plain import plain_factory
from tacit.learners.q_independent import QIndependent
from tacit.learners.spec import Learner, World, theorem_iota
from tacit.learners.stage_v import StageV, stage_v_cce, stage_v_ce
from tacit.learners.ucb import UCB, ucb_central, ucb_independent
from tacit.learners.v_learning import VLearning

REGISTRY: Registry[Learner] = Registry("learner", adopt=plain_factory)
REGISTRY.add("adaptive-v-cce", adaptive_v_cce)
REGISTRY.add("adaptive-v-ce", adaptive_v_ce)
REGISTRY.add("stage-v-cce", stage_v_cce)
REGISTRY.add("stage-v-ce", stage_v_ce)
REGISTRY.add("v-learning", VLearning)
REGISTRY.add("model-independent", ModelIndependent)
REGISTRY.add("model-seeded", ModelSeeded)
REGISTRY.add("pg-adaptive", PGAdaptive)
REGISTRY.add("pg-exact", PGExact)
REGISTRY.add("pg-storm", PGStorm)
REGISTRY.add("pg-sgd", pg_sgd)
REGISTRY.add("npg", NPG)
REGISTRY.add("ucb-central", ucb_central)
REGISTRY.add("ucb-independent", ucb_independent)
REGISTRY.add("q-independent", QIndependent)

#: What learns where nothing else is asked for.
DEFAULT = "adaptive-v-cce"

__all__ = [
    "DEFAULT",
    "NPG",
    "REGISTRY",
    "UCB",
    "AdaptiveV",
    "Learner",
    "Mixed",
    "ModelIndependent",
    "ModelSeeded",
    "PGAdaptive",
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
