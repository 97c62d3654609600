"""One figure of stored runs: a row for each game, reward on the left and gap on the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from tacit.core.types import FloatArray
from tacit.experiments import summarize
from tacit.experiments.groups import Group
from tacit.report.style import COLORS, styled

#: What a band can be, with what the legend says of it.
BANDS = {"sd": "one standard deviation either side", "ci95": "95 % bootstrap interval of the mean"}
#: Gaps below this share of the largest are not shown.
_LEAST = 1e-5
#: Characters of text that fit into the width of a figure.
_WIDTH = 130
_LINES = ("-", "--", ":", "-.")


def results_figure(groups: Sequence[Group], *, band: str = "sd") -> Figure:
    """Draw groups of runs; the same learner has the same colour everywhere, and one entry of the legend below."""
    games = list(dict.fromkeys(group.game for group in groups))
    learners = list(dict.fromkeys(group.learner for group in groups))
    looks = {name: _look(k) for k, name in enumerate(learners)}
    entries: dict[str, Any] = {}
    with styled():
        figure = Figure(figsize=(10, 0.8 + 3.2 * len(games) + 0.25 * len(learners)))
        for row, game in zip(figure.subplots(len(games), 2, squeeze=False), games, strict=True):
            held = [group for group in groups if group.game == game]
            for group in held:
                look = looks[group.learner]
                line = plot_column(group, "reward", ax=row[0], band=band, **look)
                entries.setdefault(f"{group.learner} ({_seeds(group)})", line)
                plot_column(group, "gap", ax=row[1], band=band, **look)
            _dress(row, game, held)
        figure.legend(
            entries.values(),
            entries.keys(),
            loc="outside lower center",
            ncols=max(1, _WIDTH // (max(map(len, entries)) + 8)),
            title=f"mean over seeds; band: {BANDS[band]}",
        )
    return figure


def plot_column(group: Group, column: str, *, ax: Any, band: str = "sd", **look: Any) -> Any:
    """Draw the mean of a column over seeds with its band; return the line, or None where nothing was measured."""
    x, y = aligned([one.curve for one in group.runs], column)
    if np.isnan(y).any():
        return ax.plot([], [], **look)[0]
    mean, low, high = y.mean(axis=0), *_edges(y, band)
    if column == "gap":  # on a logarithmic axis a band must not reach below what any seed has
        low = np.maximum(low, y.min(axis=0))
    (line,) = ax.plot(x, mean, **look)
    if len(y) > 1:
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    return line


def aligned(curves: Sequence[npt.NDArray[Any]], column: str) -> tuple[FloatArray, FloatArray]:
    """Return the episodes of all curves, and each one's column there; one that ended early keeps its last value."""
    x = np.unique(np.concatenate([curve["episode"] for curve in curves]))
    places = [np.searchsorted(curve["episode"], x, side="right") - 1 for curve in curves]
    rows = [curve[column][np.maximum(place, 0)] for curve, place in zip(curves, places, strict=True)]
    return x, np.stack(rows)


def _edges(y: FloatArray, band: str) -> tuple[FloatArray, FloatArray]:
    mean = y.mean(axis=0)
    if len(y) == 1:
        return mean, mean
    if band == "ci95":
        pairs = np.array([summarize(at).ci95 for at in y.T])
        return pairs[:, 0], pairs[:, 1]
    std = y.std(axis=0, ddof=1)
    return mean - std, mean + std


def _look(k: int) -> dict[str, str]:
    colors = list(COLORS.values())
    return {"color": colors[k % len(colors)], "linestyle": _LINES[k // len(colors) % len(_LINES)]}


def _seeds(group: Group) -> str:
    return "1 seed" if len(group.runs) == 1 else f"{len(group.runs)} seeds"


def _dress(row: Any, game: str, groups: Sequence[Group]) -> None:
    bounds = [one.gap for group in groups for one in group.runs if one.gap is not None]
    sure = {"exact": "", "estimate": " (estimate)"}
    kinds = " and ".join(sorted({gap.kind + sure.get(gap.source, " (bound)") for gap in bounds}))
    row[0].set(xlabel="episode", ylabel="reward in an episode, agent 0", title=f"{game}: reward while learning")
    row[0].xaxis.set_major_formatter(EngFormatter(sep=""))
    row[1].set(xlabel="episode", ylabel=f"gap: {kinds}", title=f"{game}: largest gap of all agents")
    drawn = np.concatenate([[0.0], *(line.get_ydata() for line in row[1].lines)])
    if drawn.max() > 0:
        row[1].set(xscale="log", yscale="log")
        least = max(drawn[drawn > 0].min(), drawn.max() * _LEAST)  # what is zero but for rounding hides the rest
        row[1].set_ylim(least / 1.5, row[1].get_ylim()[1])
    else:
        row[1].text(0.5, 0.5, "no gap was measured", transform=row[1].transAxes, ha="center")
