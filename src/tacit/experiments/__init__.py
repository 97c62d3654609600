"""Experiments: runs over seeds, and their statistics."""

from __future__ import annotations

from tacit.experiments.seeds import Batch, learn_seeds
from tacit.experiments.statistics import Summary, summarize

__all__ = ["Batch", "Summary", "learn_seeds", "summarize"]
