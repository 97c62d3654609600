"""Statistics over seeds; see `core/statistics.py`."""

from __future__ import annotations

from tacit.core.statistics import RESAMPLES, Summary, summarize

__all__ = ["RESAMPLES", "Summary", "summarize"]
