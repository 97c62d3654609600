"""Curves over episodes: a line for each series, a band over its seeds, and axes on which a gap of zero is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.types import FloatArray
from tacit.experiments.results import gap_words, summarize
from tacit.figures import style
from tacit.figures.style import axes_for, legend, look, name, styled

if TYPE_CHECKING:
    from tacit.engine import Run
    from tacit.experiments import Outcome


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


#: Numbers that are aligned at once; of more, some episodes are left out.
AT_ONCE = 20_000_000


def align(curves: Sequence[npt.NDArray[Any]], column: str) -> tuple[npt.NDArray[Any], FloatArray]:
    """Return the episodes of all curves, and each one's column there [curves, x].

    A curve that ended early keeps its last value; before its first there is nan.
    """
    x = np.unique(np.concatenate([curve["episode"] for curve in curves]))
    stride = -(-len(x) * len(curves) // AT_ONCE)
    if stride > 1:
        x = np.union1d(x[::stride], x[-1:])
    places = [np.searchsorted(curve["episode"], x, side="right") - 1 for curve in curves]
    rows = [curve[column][np.maximum(place, 0)] for curve, place in zip(curves, places, strict=True)]
    return x, np.where(np.stack(places) < 0, np.nan, np.stack(rows))


def draw_series(series: Series, *, ax: Any, band: str = "sd") -> Any:
    """Draw a series where all its seeds were measured, and return its line, which is empty where none was."""
    check.choice("band", band, BANDS)
    label = {"label": name(series.label)} if series.label else {}
    measured = ~np.isnan(series.y).any(axis=0)
    if not measured.any():
        return ax.plot([], [], **series.look, **label)[0]
    x, y = series.x[measured], series.y[:, measured]
    low, middle, high = band_of(y, band)
    if series.positive:
        low = np.maximum(low, y.min(axis=0))
    few = {"marker": "o", "markersize": 4} if len(x) == 1 else {}  # a line of one point would not be seen
    (line,) = ax.plot(x, middle, **{**few, **series.look}, **label)
    if len(y) > 1 and band != "none":
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
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


def episode_axis(ax: Any) -> None:
    """Let an axis of episodes have few ticks with short labels: 12.5k instead of 12500."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    ax.set_xlabel("episode")
    if ax.get_xscale() == "linear":
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 2.5, 5, 10]))
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))


def gap_axis(ax: Any, *, scale: str = "log", kind: str = "") -> None:
    """Scale an axis of gaps: logarithmic, and linear just above zero, so that a gap of zero is on it.

    Where nothing is above zero the axis is linear; where no gap (of this kind) was measured it says so.
    """
    check.choice("scale", scale, SCALES)
    values = [np.asarray(line.get_ydata(), dtype=float) for line in ax.lines if len(line.get_ydata())]
    gaps = np.concatenate([*values, np.zeros(0)])
    if not len(gaps):
        ax.text(0.5, 0.5, f"no {f'{kind} ' if kind else ''}gap was measured", transform=ax.transAxes, ha="center")
        return
    top = float(gaps.max())
    if scale == "linear" or top <= 0:
        highest = 1.08 * top if top > 0 else 1.0
        ax.set_ylim(-0.03 * highest, highest)
        return
    long = [np.asarray(line.get_xdata(), dtype=float) for line in ax.lines if len(line.get_xdata()) > 2]
    xs = np.concatenate([*long, np.zeros(0)])
    if len(xs) and xs.min() > 0 and xs.max() > 20 * xs.min():
        ax.set_xscale("log")
    least = max(float(gaps[gaps > 0].min()), _LEAST * top)
    if float(gaps.min()) >= least:  # nothing is zero
        ax.set_yscale("log")
        ax.set_ylim(least / 1.5, 1.5 * top)
        return
    threshold = 10.0 ** np.floor(np.log10(least))
    ax.set_yscale("symlog", linthresh=threshold, linscale=0.5)
    ax.set_ylim(-0.1 * threshold, 1.5 * top)
    ax.axhspan(-0.1 * threshold, threshold, color="0.5", alpha=0.08, linewidth=0)
    ax.annotate("linear to 0", (0.99, 0.02), xycoords="axes fraction", ha="right", fontsize=7, color="0.4")


def plot_band(runs: Sequence[Outcome], column: str, *, ax: Any, band: str = "sd", **look: Any) -> Any:
    """Draw a column over seeds and return the line; see `draw_series`. `look` goes to `ax.plot`."""
    label = str(look.pop("label", ""))
    x, y = align([run.curve for run in runs], column)
    return draw_series(Series(label, x, y, look, positive=column.startswith("gap")), ax=ax, band=band)


def plot_run(
    run: Run,
    *,
    ax: Any,
    columns: Sequence[str] | None,
    agents: Sequence[int] | None,
    scale: str,
    title: str | None,
    size: tuple[float, float] | None,
) -> Any:
    """Draw columns of a run's curve; see `Run.plot`."""
    names = [name for name in run.curve.dtype.names or () if name not in ("episode", "ended")]
    shown = check.list_of("columns", columns, "names of columns") if columns is not None else _usual(run)
    for column in shown:
        check.choice("column", column, names)
    with styled():
        axes = axes_for(ax, len(shown), size)
        for panel, column in zip(axes, shown, strict=True):
            _draw(run, column, panel, agents, scale, title)
    return axes[0] if len(axes) == 1 and (ax is not None or columns is not None) else axes


def _usual(run: Run) -> list[str]:
    measured = [name for name in ("reward", "gap") if name in (run.curve.dtype.names or ())]
    return [name for name in measured if not np.isnan(run.curve[name]).all()] or ["reward"]


def _draw(run: Run, column: str, ax: Any, agents: Sequence[int] | None, scale: str, title: str | None) -> None:
    lines = {column: run.learner}
    if agents is not None:
        lines = {f"{column}_{i}": f"agent {i}" for i in check.list_of("agents", agents, "numbers of agents")}
        for part in lines:
            check.choice("column of an agent", part, run.curve.dtype.names or ())
    gap = column.startswith("gap") or column.endswith("gap")
    kind = _kind(run, column) if gap else ""
    for k, (part, label) in enumerate(lines.items()):
        words = f"{label}, {kind}" if kind else label
        y = run.curve[part].astype(float)[None]
        draw_series(Series(words, run.curve["episode"], y, look(k), positive=gap), ax=ax, band="none")
    ax.set_ylabel(f"{column.replace('_', ' ')}{f': {kind}' if kind else ''}")
    style.title(ax, title if title is not None else f"{run.game.name or 'a game'}: {column.replace('_', ' ')}")
    if gap:
        gap_axis(ax, scale=scale)
    episode_axis(ax)
    legend(ax)


def _kind(run: Run, column: str) -> str:
    """Return what kind of gap a column is."""
    candidate = column.removeprefix("gap_").removeprefix("average_")
    if column.startswith("gap_") and candidate in run.candidates:
        gaps = run.candidates[candidate].gaps
        return gap_words(gaps.kind, gaps.source)
    if "l2" in column:
        return "L²"
    return gap_words(run.gaps.kind, run.gaps.source) if run.gaps.source != "none" else ""
