"""The price of not talking: gap and welfare against episodes, by what agents see of each other.

    python benchmarks/information.py talking    # six held-out games
    python benchmarks/information.py paper      # the paper's own tasks

writes docs/information-TARGET.json and docs/figures/information-TARGET.png. Each point is a run of its own, with three
seeds, and the gap is that of its answer, `run.gap`: exact, or a certificate of a cce for those who learn cce.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

import tacit
from games import GAMES
from tacit.figures.style import COLORS, save_figure, styled, title

DOCS = Path(__file__).parent.parent / "docs"

LEARNERS = {
    "published": "stage-v-cce",
    "alone": "adaptive-v-cce",
    "alone, with a model": "model-independent",
    "central": "model-central",
}

TALKING = (
    "zero-sum S4 A2 H6",
    "general S3 A2 H4",
    "team S4 A3 H6",
    "potential S2 A4 H6",
    "sparse S6 A2 H6",
    "penalty H4",
)
TARGETS = {
    "talking": {name: GAMES[name].make for name in TALKING},
    "paper": {
        "matrix team": lambda: tacit.make("matrix-team"),
        "GoodState": lambda: tacit.make("good-state"),
        "BoxPushing H = 3": lambda: tacit.make("box-pushing", horizon=3),
        "BoxPushing H = 5": lambda: tacit.make("box-pushing", horizon=5),
    },
}
EPISODES, SEEDS = (100, 1000, 10_000), 3


def measure(target: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, make in TARGETS[target].items():
        game = make()
        even = float(tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).values.sum())
        room = float(tacit.solve(game, "optimum").values.sum()) - even
        for label, learner in LEARNERS.items():
            for episodes in EPISODES:
                for seed in range(SEEDS):
                    run = tacit.learn(game, learner, episodes=episodes, seed=seed, points=1)
                    welfare = 100 * (float(run.values.sum()) - even) / room if room > 1e-9 else None
                    row = {"game": name, "learner": label, "episodes": episodes, "seed": seed}
                    rows.append({**row, "gap": 100 * run.gap / run.uniform_gap, "welfare": welfare})
            print(name, label, [round(row["gap"], 3) for row in rows[-SEEDS:]], file=sys.stderr, flush=True)
    return rows


#: How each class of learners is drawn.
LOOKS = {
    "published": {"color": COLORS["black"], "linestyle": ":"},
    "alone": {"color": COLORS["blue"], "linestyle": "-"},
    "alone, with a model": {"color": COLORS["sky"], "linestyle": "-"},
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


def draw(target: str, rows: list[dict[str, object]]) -> None:
    games = len(TARGETS[target])
    with styled():
        figure, axes = plt.subplots(
            2, games, figsize=(2.3 * games + 0.6, 4.4), sharex=True, sharey="row", squeeze=False
        )
        lines = draw_information(rows, axes)
        figure.legend(handles=lines, loc="outside lower center", ncols=len(lines))
        save_figure(figure, DOCS / "figures" / f"information-{target}.png")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    (target,) = sys.argv[1:]
    place = DOCS / f"information-{target}.json"
    place.write_text(json.dumps(measure(target), indent=0) + "\n", encoding="utf-8")
    draw(target, json.loads(place.read_text(encoding="utf-8")))
