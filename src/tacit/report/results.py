"""One figure of stored runs: a row for each game, reward on the left and gap on the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from tacit.experiments.results import Group
from tacit.report.bands import plot_band
from tacit.report.style import COLORS, name, plain, styled

#: What a band can be, with what the legend says of it.
BANDS = {"sd": "one standard deviation either side", "ci95": "95 % bootstrap interval of the mean"}
#: Gaps below this share of the largest are not shown.
_LEAST = 1e-5
#: Characters of text that fit into the width of a figure.
_WIDTH = 130
_LINES = ("-", "--", ":", "-.")


def results_figure(groups: Sequence[Group], *, band: str = "sd", candidate: str = "best") -> Figure:
    """Draw groups of runs; the same learner has the same colour everywhere, and one entry of the legend below.

    The gap is that of the best candidate at every time, or of one of them: "average", "latest" or "last". Learners
    without candidates have only the one gap.
    """
    games = list(dict.fromkeys(group.game for group in groups))
    learners = list(dict.fromkeys(group.learner for group in groups))
    looks = {learner: look(k) for k, learner in enumerate(learners)}
    entries: dict[tuple[str, str], tuple[str, Any]] = {}
    with styled():
        figure = Figure(figsize=(10, 0.8 + 3.2 * len(games) + 0.25 * len(learners)))
        for row, game in zip(figure.subplots(len(games), 2, squeeze=False), games, strict=True):
            held = [group for group in groups if group.game == game]
            for group in held:
                own = looks[group.learner]
                line = plot_band(group.outcomes, "reward", ax=row[0], band=band, **own)
                label = f"{name(group.learner)} ({_seeds(group)})"
                entries.setdefault((group.learner, _seeds(group)), (label, line))
                plot_band(group.outcomes, _gap_column(group, candidate), ax=row[1], band=band, **own)
                _mark_ends(group, row[1], own["color"])
            _dress(row, game, held, candidate)
        labels = [label for label, _ in entries.values()]
        legend = figure.legend(
            [line for _, line in entries.values()],
            labels,
            loc="outside lower center",
            ncols=max(1, _WIDTH // (max(map(len, labels)) + 8)),
            title=f"mean over seeds; band: {BANDS[band]}",
        )
        plain(*legend.get_texts())
    return figure


def look(k: int) -> dict[str, str]:
    """Return how the k-th line looks."""
    colors = list(COLORS.values())
    return {"color": colors[k % len(colors)], "linestyle": _LINES[k // len(colors) % len(_LINES)]}


def _whose(candidate: str) -> str:
    return "" if candidate == "best" else f', candidate "{candidate}"'


def _mark_ends(group: Group, ax: Any, color: str) -> None:
    """Mark the gap at which runs were to stop, and where each was certified to have it."""
    target = group.outcomes[0].spec.gap
    if target is not None and target > 0:
        ax.axhline(target, color=color, linewidth=0.8, linestyle=":")
    for one in group.outcomes:
        if one.ended == "gap":
            ax.plot(one.curve["episode"][-1], one.curve["gap"][-1], "o", color=color, markersize=4)


def _seeds(group: Group) -> str:
    return "1 seed" if len(group.outcomes) == 1 else f"{len(group.outcomes)} seeds"


def _gap_column(group: Group, candidate: str) -> str:
    held = all(f"gap_{candidate}" in (one.curve.dtype.names or ()) for one in group.outcomes)
    return f"gap_{candidate}" if held else "gap"


def _dress(row: Any, game: str, groups: Sequence[Group], candidate: str) -> None:
    bounds = [one.gap for group in groups for one in group.outcomes if one.gap is not None]
    sure = {"exact": "", "estimate": " (estimate)"}
    kinds = " and ".join(sorted({gap.kind + sure.get(gap.source, " (bound)") for gap in bounds}))
    row[0].set(xlabel="episode", ylabel="reward in an episode, agent 0", title=f"{name(game)}: reward while learning")
    row[0].xaxis.set_major_formatter(EngFormatter(sep=""))
    stopped = ", ● stopped" if any(one.ended == "gap" for group in groups for one in group.outcomes) else ""
    title = f"{name(game)}: largest gap of all agents{_whose(candidate)}{stopped}"
    row[1].set(xlabel="episode", ylabel=f"gap: {kinds}", title=title)
    plain(row[0].title, row[1].title)
    drawn = np.concatenate([[0.0], *(line.get_ydata() for line in row[1].lines)])
    if drawn.max() > 0:
        row[1].set(xscale="log", yscale="log")
        least = max(drawn[drawn > 0].min(), drawn.max() * _LEAST)  # what is zero but for rounding hides the rest
        row[1].set_ylim(least / 1.5, row[1].get_ylim()[1])
    else:
        row[1].text(0.5, 0.5, "no gap was measured", transform=row[1].transAxes, ha="center")
