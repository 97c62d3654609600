"""The page and the picture of the atlas, from what `tacit atlas --learn K --out docs/atlas.json` found.

    make atlas                     learn what is missing, up to 100000 episodes (an hour or two), then both
    python benchmarks/atlas.py     both, from the data as they are

The page is docs/atlas.md, the picture docs/figures/atlas.png: for each learner and game of which agents can do better
together, how far it ends from an equilibrium and from the best total.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
COUNTS = ("1000", "10000", "100000")
LABELS = {
    "adaptive-v-cce": "adaptive-v-cce, the default",
    "stage-v-cce": "stage-v-cce, the paper's",
    "model-independent": "model-independent",
    "q-independent": "q-independent",
}

HEAD = """\
# The atlas

{games} games whose values, equilibria or numbers of equilibria were stated by others: {figures} figures, each with its
source and what `tacit.solve`, `tacit.equilibria` or `tacit.evaluate` gives. {agree} of {figures} agree, to 1e-9 or to
the digits that were stated{besides}. {markov} of the games have several states and steps. Rules are rewritten;
`tacit show atlas/NAME` shows them as tables.

```sh
tacit atlas                            # the games, and who stated what of them
tacit atlas kuhn-poker prism-until-4   # stated and ours, side by side
tacit atlas --check                    # of all games
tacit run atlas/soccer                 # a game of the atlas is a game like any other
make atlas                             # this page, with what learners reach
```

## What was stated, and what ours is

A question is a concept, with the rule that selects one of several equilibria: the largest total, if none is named.
One number is the total of all agents, several are one for each. "play:0" is what agent 0 plays first; "gap" is the
nash gap of the equilibrium that was stated, "values" what it pays; "equilibria" counts the extreme ones, "sets" the
connected sets of them.

{checks}

## What learners reach

The certified gap of a run's policy after {counts} episodes, with one seed, 0, and in brackets the total value after
the last of them. V-learners' gaps are upper bounds of cce gaps, the others' are exact nash gaps, so columns of
different kinds are not compared. Uniform play has the nash gap in the second column. {missing}

{learned}

## Which learner, where

![gap and welfare of four learners](figures/atlas.png)

*For each learner and each of {pictured} games in which agents can do better together: the gap of its policy after
10,000 episodes as a share of uniform play's (those outside of 1e-4 to 10 are drawn at the edge), and the total value
between the worst possible (0 %) and the best (100 %). Median of the total values: {medians}.*
"""


def main() -> None:
    data = json.loads((DOCS / "atlas.json").read_text(encoding="utf-8"))
    shared = pictured(data)
    draw(shared, DOCS / "figures" / "atlas.png")
    (DOCS / "atlas.md").write_text(page(data, shared), encoding="utf-8")


def page(data: dict[str, Any], shared: dict[str, list[tuple[float, float]]]) -> str:
    """Return the page as text."""
    found = [figure for one in data.values() for figure in one["figures"]]
    off = [name for name, one in data.items() if not all(figure["agrees"] for figure in one["figures"])]
    unlearned = sum("learned" not in one for one in data.values())
    medians = ", ".join(f"{learner} {median([w for _, w in points]):.0f} %" for learner, points in shared.items())
    return HEAD.format(
        games=len(data),
        figures=len(found),
        agree=sum(figure["agrees"] for figure in found),
        besides=f"; the others are of {', '.join(off)}" if off else "",
        markov=sum(one["size"]["states"] > 1 and (one["size"]["horizon"] or 2) > 1 for one in data.values()),
        checks=table(["game", "source", "question", "stated", "ours", "note"], check_rows(data)),
        counts=", ".join(f"{int(count):,}" for count in COUNTS if measured(data, count)),
        missing=f"{unlearned} games were not learned yet; `make atlas` does." if unlearned else "",
        learned=table(["game", "uniform", *LABELS], learned_rows(data)),
        pictured=max(map(len, shared.values()), default=0),
        medians=medians,
    )


def measured(data: dict[str, Any], count: str) -> bool:
    """Return whether any run has so many episodes."""
    return any(count in runs for one in data.values() for runs in one.get("learned", {}).values())


def median(numbers: list[float]) -> float:
    """Return the upper median."""
    return sorted(numbers)[len(numbers) // 2] if numbers else float("nan")


def check_rows(data: dict[str, Any]) -> list[list[str]]:
    """Return a row for each figure."""
    rows = []
    for name, one in data.items():
        for k, figure in enumerate(one["figures"]):
            first = [f"`{name}`", one["source"]] if k == 0 else ["", ""]
            ours = numbers(figure["ours"]) + ("" if figure["agrees"] else f" (off by {figure['off']:.3g})")
            rows.append([*first, figure["question"], numbers(figure["stated"]), ours, figure["note"]])
    return rows


def learned_rows(data: dict[str, Any]) -> list[list[str]]:
    """Return a row for each game that was learned."""
    rows = []
    for name, one in data.items():
        if "learned" in one:
            cells = [runs_in_words(one["learned"].get(learner, {})) for learner in LABELS]
            rows.append([f"`{name}`", f"{one['game']['uniform_gap']:.3g}", *cells])
    return rows


def runs_in_words(runs: dict[str, Any]) -> str:
    """Write the gaps of one learner's runs, and the last one's total value."""
    done = [runs[count] for count in COUNTS if runs.get(count, {}).get("gap") is not None]
    if not done:
        return "–"
    gaps = ", ".join(f"{run['gap']:.2g}" for run in done)
    if done[-1]["values"] is None:
        return gaps
    total = sum(done[-1]["values"])
    return f"{gaps} ({total if abs(total) > 1e-9 else 0:.3g})"


def numbers(found: Any) -> str:
    """Write one number, or several."""
    several = found if isinstance(found, list) else [found]
    if len(several) > 3 and len(set(several)) == 1:
        return f"{several[0]:.9g} for each"
    return " ".join(f"{abs(one) if abs(one) < 1e-12 else one:.9g}" for one in several)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def pictured(data: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Return, for each learner, its gap and total value in games whose total is not constant."""
    points: dict[str, list[tuple[float, float]]] = {learner: [] for learner in LABELS}
    for one in data.values():
        game = one.get("game", {"best": 0.0, "worst": 0.0, "uniform_gap": 0.0})
        span = game["best"] - game["worst"]
        for learner, runs in one.get("learned", {}).items():
            run = runs.get("10000", {})
            if span > 1e-9 and game["uniform_gap"] > 1e-9 and run.get("gap") is not None and run["values"]:
                welfare = 100 * (sum(run["values"]) - game["worst"]) / span
                points[learner].append((min(max(run["gap"] / game["uniform_gap"], 1e-4), 10.0), welfare))
    return points


def draw(points: dict[str, list[tuple[float, float]]], place: Path) -> None:
    """Draw a panel for each learner, since the points of several would hide each other."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(points), figsize=(11, 3.2), sharex=True, sharey=True, layout="constrained")
    colors = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
    for ax, (learner, own), color in zip(axes, points.items(), colors, strict=True):
        ax.scatter([gap for gap, _ in own], [welfare for _, welfare in own], s=14, alpha=0.5, color=color, linewidths=0)
        ax.set_xscale("log")
        ax.set_xlim(7e-5, 15)
        ax.set_ylim(-3, 103)
        ax.set_title(LABELS[learner], fontsize=9)
        ax.grid(alpha=0.3)
        ax.set_xlabel("gap / uniform play's gap", fontsize=8)
    axes[0].set_ylabel("total value, % from worst to best", fontsize=8)
    figure.savefig(place, dpi=110)


if __name__ == "__main__":
    main()
