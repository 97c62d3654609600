"""Curves over episodes: a line for each series, a band over its seeds, and axes on which a gap of zero is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.statistics import summarize
from tacit.core.types import FloatArray
from tacit.drawing.style import name, plain

#: What a band can be, with what the legend says of it.
BANDS = {
    "sd": "one standard deviation either side",
    "ci95": "95 % bootstrap interval of the mean",
    "quartiles": "quartiles around the median",
    "none": "none",
}
SCALES = ("log", "linear")

#: Gaps below this share of the largest are drawn between it and zero, on an axis that is linear there.
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Series:
    """One line: values [seeds, x] over episodes x, what the legend calls it, and how it looks."""

    label: str
    x: npt.NDArray[Any]
    y: FloatArray
    look: dict[str, Any] = field(default_factory=dict)
    positive: bool = False  # a gap: its band does not reach below what any seed has


def aligned(curves: Sequence[npt.NDArray[Any]], column: str) -> tuple[FloatArray, FloatArray]:
    """Return the episodes of all curves, and each one's column there; one that ended early keeps its last value."""
    x = np.unique(np.concatenate([curve["episode"] for curve in curves]))
    places = [np.searchsorted(curve["episode"], x, side="right") - 1 for curve in curves]
    rows = [curve[column][np.maximum(place, 0)] for curve, place in zip(curves, places, strict=True)]
    return x, np.stack(rows)


def draw_series(series: Series, *, ax: Any, band: str = "sd") -> Any:
    """Draw a series and return its line, which is empty where nothing was measured."""
    check.choice("band", band, BANDS)
    label = {"label": name(series.label)} if series.label else {}
    if np.isnan(series.y).any():
        return ax.plot([], [], **series.look, **label)[0]
    low, middle, high = band_of(series.y, band)
    if series.positive:
        low = np.maximum(low, series.y.min(axis=0))
    few = {"marker": "o", "markersize": 4} if len(series.x) == 1 else {}  # a line of one point would not be seen
    (line,) = ax.plot(series.x, middle, **few, **series.look, **label)
    if len(series.y) > 1 and band != "none":
        ax.fill_between(series.x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    return line


def band_of(y: FloatArray, band: str) -> tuple[FloatArray, FloatArray, FloatArray]:
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


def band_words(band: str) -> str:
    """Say what the line and the band over seeds are."""
    middle = "median" if band == "quartiles" else "mean"
    return f"{middle} over seeds" + ("" if band == "none" else f"; band: {BANDS[band]}")


def gap_axis(ax: Any, *, scale: str = "log") -> None:
    """Scale an axis of gaps: logarithmic, and linear just above zero, so that a gap of zero is on it.

    Where nothing is above zero the axis is linear; where nothing was measured it says so.
    """
    check.choice("scale", scale, SCALES)
    values = [np.asarray(line.get_ydata(), dtype=float) for line in ax.lines if len(line.get_ydata())]
    drawn = np.concatenate([*values, np.zeros(0)])
    if not len(drawn):
        ax.text(0.5, 0.5, "no gap was measured", transform=ax.transAxes, ha="center")
        return
    top = float(drawn.max())
    if scale == "linear" or top <= 0:
        ax.set_ylim(-0.03 * max(top, 1e-9), 1.08 * top if top > 0 else 1.0)
        return
    long = [np.asarray(line.get_xdata(), dtype=float) for line in ax.lines if len(line.get_xdata()) > 2]
    xs = np.concatenate([*long, np.zeros(0)])
    if len(xs) and xs.min() > 0 and xs.max() > 20 * xs.min():
        ax.set_xscale("log")
    least = max(float(drawn[drawn > 0].min()), _LEAST * top)
    if float(drawn.min()) >= least:  # nothing is zero
        ax.set_yscale("log")
        ax.set_ylim(least / 1.5, 1.5 * top)
        return
    threshold = 10.0 ** np.floor(np.log10(least))
    ax.set_yscale("symlog", linthresh=threshold, linscale=0.5)
    ax.set_ylim(-0.1 * threshold, 1.5 * top)
    ax.axhspan(-0.1 * threshold, threshold, color="0.5", alpha=0.08, linewidth=0)
    ax.annotate("linear to 0", (0.99, 0.02), xycoords="axes fraction", ha="right", fontsize=7, color="0.4")


def legend(ax: Any, *, title: str = "") -> None:
    """Draw the legend of labelled lines, whose texts are shown as they are."""
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        drawn = ax.legend(handles, labels, fontsize=8, title=title or None, title_fontsize=8, frameon=False)
        plain(*drawn.get_texts(), drawn.get_title())
