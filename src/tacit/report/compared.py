"""One figure of a comparison: the gap of each learner's best policy over episodes, the best learner first."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tacit.drawing.style import look, name, plain, styled
from tacit.experiments.comparison import Comparison
from tacit.experiments.trials import SHARE
from tacit.report.bands import plot_band

#: Gaps below this share of that of uniform play are not shown.
_LEAST = 1e-5


def comparison_figure(found: Comparison) -> Figure:
    """Draw a comparison: mean over seeds, and a band of one standard deviation; a run that ended keeps its gap."""
    with styled():
        figure = Figure(figsize=(9, 5))
        ax = figure.subplots()
        for k, row in enumerate(found.rows):
            label = f"{row.rank}. {name(row.learner)} ({row.kind}): {row.gap:.3g}"
            plot_band(row.entries, "gap", ax=ax, label=label, **look(k))
        drawn = np.concatenate([[found.uniform_gap], *(line.get_ydata() for line in ax.lines)])
        if drawn.max() > 0:
            ax.set(xscale="log", yscale="log")
            least = max(drawn[drawn > 0].min(), drawn.max() * _LEAST)
            ax.set_ylim(least / 1.5, drawn.max() * 1.5)
            ax.axhline(found.uniform_gap, color="0.5", linewidth=1.0, label="uniform play")
            tenth = f"{100 * SHARE:.0f} % of it"
            ax.axhline(SHARE * found.uniform_gap, color="0.5", linewidth=1.0, linestyle=":", label=tenth)
        seeds = "1 seed" if found.seeds == 1 else f"{found.seeds} seeds"
        ax.set(xlabel="episode (iteration, where a learner follows exact gradients)", ylabel="gap of the best policy")
        ax.set_title(f"{name(found.game.name or 'a game')}: {found.budget} a run")
        legend = figure.legend(loc="outside right center", title=f"mean over {seeds} ± sd")
        plain(ax.title, *legend.get_texts())
    return figure
