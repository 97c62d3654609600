"""Experiments from TOML files: runs as jobs, stored on disk, and their statistics."""

from __future__ import annotations

from tacit.experiments.comparison import Comparison, compare
from tacit.experiments.results import Group, Outcome, Results, Summary, summarize
from tacit.experiments.runner import Progress, run_experiment
from tacit.experiments.spec import Experiment, GameSpec, LearnerSpec, RunSpec

__all__ = [
    "Comparison",
    "Experiment",
    "GameSpec",
    "Group",
    "LearnerSpec",
    "Outcome",
    "Progress",
    "Results",
    "RunSpec",
    "Summary",
    "compare",
    "run_experiment",
    "summarize",
]
