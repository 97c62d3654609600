"""The oracle: values, best deviations, gaps and exact equilibria of tabular games. It never imports learners."""

from __future__ import annotations

from tacit.evaluation.deviations import BestResponse, Deviations, best_response, deviations
from tacit.evaluation.gaps import Evaluation, evaluate, l2_gap
from tacit.evaluation.solve import Solution, solve
from tacit.evaluation.values import PolicyValues, occupancy, policy_values

__all__ = [
    "BestResponse",
    "Deviations",
    "Evaluation",
    "PolicyValues",
    "Solution",
    "best_response",
    "deviations",
    "evaluate",
    "l2_gap",
    "occupancy",
    "policy_values",
    "solve",
]
