"""The oracle: values, best deviations, gaps and exact equilibria of tabular games. It never imports learners."""

from __future__ import annotations

from tacit.evaluation.behaviour import Behaviour, behaviour
from tacit.evaluation.equilibria import Equilibria, equilibria
from tacit.evaluation.gaps import (
    DeviationTable,
    Evaluation,
    deviation_table,
    evaluate,
    evaluate_iterates,
    l2_gap,
    lower_bounds,
    uniform_gap,
)
from tacit.evaluation.gradient import Gradient, Stationarity, policy_gradient, smoothness_constant, stationarity
from tacit.evaluation.paths import Path, PathGains, follow, path_gains, respond
from tacit.evaluation.potential import Potential, potential
from tacit.evaluation.proof import Proof, prove
from tacit.evaluation.solve import Solution, solve
from tacit.evaluation.theory import Mismatch, Smoothness, Theory, mismatch, smoothness, theory
from tacit.evaluation.values import (
    BestResponse,
    Deviations,
    PolicyValues,
    best_response,
    deviations,
    occupancy,
    policy_values,
)

__all__ = [
    "Behaviour",
    "BestResponse",
    "DeviationTable",
    "Deviations",
    "Equilibria",
    "Evaluation",
    "Gradient",
    "Mismatch",
    "Path",
    "PathGains",
    "PolicyValues",
    "Potential",
    "Proof",
    "Smoothness",
    "Solution",
    "Stationarity",
    "Theory",
    "behaviour",
    "best_response",
    "deviation_table",
    "deviations",
    "equilibria",
    "evaluate",
    "evaluate_iterates",
    "follow",
    "l2_gap",
    "lower_bounds",
    "mismatch",
    "occupancy",
    "path_gains",
    "policy_gradient",
    "policy_values",
    "potential",
    "prove",
    "respond",
    "smoothness",
    "smoothness_constant",
    "solve",
    "stationarity",
    "theory",
    "uniform_gap",
]
