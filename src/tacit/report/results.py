"""One figure of stored runs: a row for each game, reward on the left and gaps on the right, one axis for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from tacit.drawing.curves import BANDS
from tacit.drawing.style import look, styled
from tacit.experiments.plotting import draw_groups, draw_legend, panels, size_of
from tacit.experiments.results import Group

__all__ = ["BANDS", "look", "results_figure"]


def results_figure(
    groups: Sequence[Group],
    *,
    band: str = "sd",
    candidate: str = "best",
    columns: Sequence[str] = ("reward", "gap"),
    size: tuple[float, float] | None = None,
    **options: Any,
) -> Figure:
    """Draw groups of runs; the same learner has the same colour everywhere, and one entry of the legend below.

    Options are those of `tacit.experiments.plotting.draw_groups`: agents, scale, title.
    """
    shown = panels(groups, columns, candidate)
    games = len(dict.fromkeys(group.game for group in groups))
    with styled():
        figure = Figure(figsize=size or size_of(groups, len(shown)))
        axes = figure.subplots(games, len(shown), squeeze=False)
        entries = draw_groups(groups, axes, columns=columns, band=band, candidate=candidate, **options)
        draw_legend(figure, entries, band=band)
    return figure
