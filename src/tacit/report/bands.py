"""One column of the curves of several seeds: a line in the middle, with a band around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.types import FloatArray
from tacit.experiments import Outcome, summarize
from tacit.experiments.trials import Entry


def plot_band(runs: Sequence[Outcome | Entry], column: str, *, ax: Any, band: str = "sd", **look: Any) -> Any:
    """Draw a column over seeds and return the line; it is empty where nothing was measured.

    The band is "sd" (one standard deviation either side of the mean), "ci95" (the bootstrap interval of the mean) or
    "quartiles" (around the median). `look` goes to `ax.plot`.
    """
    x, y = aligned([run.curve for run in runs], column)
    if np.isnan(y).any():
        return ax.plot([], [], **look)[0]
    low, middle, high = _band(y, band)
    if column.startswith("gap"):  # on a logarithmic axis a band must not reach below what any seed has
        low = np.maximum(low, y.min(axis=0))
    (line,) = ax.plot(x, middle, **look)
    if len(y) > 1:
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    return line


def aligned(curves: Sequence[npt.NDArray[Any]], column: str) -> tuple[FloatArray, FloatArray]:
    """Return the episodes of all curves, and each one's column there; one that ended early keeps its last value."""
    x = np.unique(np.concatenate([curve["episode"] for curve in curves]))
    places = [np.searchsorted(curve["episode"], x, side="right") - 1 for curve in curves]
    rows = [curve[column][np.maximum(place, 0)] for curve, place in zip(curves, places, strict=True)]
    return x, np.stack(rows)


def _band(y: FloatArray, band: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lower edge, the line and the upper edge of values [seeds, x]."""
    if band == "quartiles":
        low, median, high = np.quantile(y, [0.25, 0.5, 0.75], axis=0)
        return low, median, high
    mean = y.mean(axis=0)
    if len(y) == 1:
        return mean, mean, mean
    if band == "ci95":
        low, high = np.array([summarize(at).ci95 for at in y.T]).T
        return low, mean, high
    std = y.std(axis=0, ddof=1)
    return mean - std, mean, mean + std
