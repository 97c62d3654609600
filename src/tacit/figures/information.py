"""What agents reach with what they see: gap and welfare against episodes, a column for each game."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.figures.style import COLORS, title

#: How each class of learners is drawn.
LOOKS = {
    "published": {"color": COLORS["black"], "linestyle": ":"},
    "alone": {"color": COLORS["blue"], "linestyle": "-"},
    "alone, with a model": {"color": COLORS["sky"], "linestyle": "-"},
    "common seed": {"color": COLORS["orange"], "linestyle": "--"},
    "central": {"color": COLORS["red"], "linestyle": "-."},
}

#: Gaps below this share of uniform play's, in %, are drawn there.
_LEAST = 0.01


def draw_information(rows: Sequence[Mapping[str, Any]], axes: Any) -> list[Any]:
    """Draw the medians over seeds, with all seeds as a band; return the lines of the first game, for a legend.

    Parameters
    ----------
    rows : sequence of mappings
        One for each run: "game", "learner" (a key of `LOOKS`), "episodes", "gap" in % of uniform play's, and "welfare"
        in % of the way from uniform play's to the largest, or None.
    axes : array of axes [2, games]
        Gaps above, welfare below.
    """
    games = list(dict.fromkeys(row["game"] for row in rows))
    lines = []
    for k, game in enumerate(games):
        for r, (column, label) in enumerate({"gap": "gap, % of uniform play's", "welfare": "welfare, %"}.items()):
            ax = axes[r, k]
            for learner, look in LOOKS.items():
                own = [row for row in rows if (row["game"], row["learner"]) == (game, learner)]
                episodes = sorted({row["episodes"] for row in own})
                found = [
                    [row[column] for row in own if row["episodes"] == K and row[column] is not None] for K in episodes
                ]
                if not own or not all(found):
                    continue
                floor = _LEAST if column == "gap" else -math.inf
                low, middle, high = ([max(of(each), floor) for each in found] for of in (min, statistics.median, max))
                (line,) = ax.plot(episodes, middle, marker=".", label=learner, **look)
                ax.fill_between(episodes, low, high, color=look["color"], alpha=0.15, linewidth=0)
                if k == 0 and r == 0:
                    lines.append(line)
            ax.set_xscale("log")
            if column == "gap":
                ax.set_yscale("log")
                title(ax, game, fontsize=9)
            else:
                ax.set_xlabel("episodes")
                if not ax.lines:
                    ax.text(0.5, 0.5, "constant sum", ha="center", transform=ax.transAxes)
            if k == 0:
                ax.set_ylabel(label)
    return lines
