"""The oracle: values, best deviations, gaps and exact equilibria of tabular games. It never imports learners."""

from __future__ import annotations

from tacit.evaluation.behaviour import Behaviour, behaviour
from tacit.evaluation.deviations import BestResponse, Deviations, best_response, deviations
from tacit.evaluation.equilibria import Equilibria, equilibria
from tacit.evaluation.gains import DeviationTable, deviation_table
from tacit.evaluation.gaps import Evaluation, evaluate, evaluate_iterates, l2_gap, uniform_gap
from tacit.evaluation.gradient import Gradient, policy_gradient
from tacit.evaluation.mismatch import Mismatch, mismatch
from tacit.evaluation.potential import Potential, potential
from tacit.evaluation.smooth import Smoothness, smoothness
from tacit.evaluation.solve import Solution, solve
from tacit.evaluation.stationarity import Stationarity, smoothness_constant, stationarity
from tacit.evaluation.theory import Theory, theory
from tacit.evaluation.values import PolicyValues, occupancy, policy_values

__all__ = [
    "Behaviour",
    "BestResponse",
    "DeviationTable",
    "Deviations",
    "Equilibria",
    "Evaluation",
    "Gradient",
    "Mismatch",
    "PolicyValues",
    "Potential",
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
    "l2_gap",
    "mismatch",
    "occupancy",
    "policy_gradient",
    "policy_values",
    "potential",
    "smoothness",
    "smoothness_constant",
    "solve",
    "stationarity",
    "theory",
    "uniform_gap",
]
