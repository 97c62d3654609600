"""Experiments: games × learners × seeds from a TOML file, run as jobs, stored on disk, and their statistics."""

from __future__ import annotations

from tacit.experiments.comparison import Comparison, compare
from tacit.experiments.dispatch import run_all
from tacit.experiments.progress import Progress
from tacit.experiments.results import Group, Outcome, Results, Summary, summarize
from tacit.experiments.runner import learn_seeds, run_experiment, run_job
from tacit.experiments.spec import Experiment, GameSpec, LearnerSpec, RunSpec
from tacit.experiments.tuning import Tuned, tune

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
    "Tuned",
    "compare",
    "learn_seeds",
    "run_all",
    "run_experiment",
    "run_job",
    "summarize",
    "tune",
]
