"""One column of the curves of several seeds: a line in the middle, with a band around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.drawing.curves import Series, aligned, draw_series
from tacit.experiments import Outcome
from tacit.experiments.trials import Entry

__all__ = ["aligned", "plot_band"]


def plot_band(runs: Sequence[Outcome | Entry], column: str, *, ax: Any, band: str = "sd", **look: Any) -> Any:
    """Draw a column over seeds and return the line; see `drawing.curves.draw_series`. `look` goes to `ax.plot`."""
    label = str(look.pop("label", ""))
    x, y = aligned([run.curve for run in runs], column)
    return draw_series(Series(label, x, y, look, positive=column.startswith("gap")), ax=ax, band=band)
