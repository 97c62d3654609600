"""Experiments: games × learners × seeds from a TOML file, run on threads, stored on disk, and their statistics."""

from __future__ import annotations

from tacit.experiments.outcome import Outcome
from tacit.experiments.runner import Results, run_experiment
from tacit.experiments.seeds import Batch, learn_seeds
from tacit.experiments.spec import Experiment, GameSpec, LearnerSpec
from tacit.experiments.statistics import Summary, summarize

__all__ = [
    "Batch",
    "Experiment",
    "GameSpec",
    "LearnerSpec",
    "Outcome",
    "Results",
    "Summary",
    "learn_seeds",
    "run_experiment",
    "summarize",
]
