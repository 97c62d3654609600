"""The page and the picture of the atlas: each figure that others stated beside ours, and what learners reach.

    make atlas                             learn what is missing (ten minutes in all), then all three
    python benchmarks/atlas.py             all three, from docs/atlas.json as it is
    python benchmarks/atlas.py --learn     check all figures and learn what is missing first

The page is docs/atlas.md, the picture docs/figures/atlas.png: for each learner and game of which agents can do better
together, how far it ends from an equilibrium and from the best total. The table that runs give advice by is
src/tacit/games/atlas/reached.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

import tacit
from tacit.cli.listing import check_entry
from tacit.cli.options import finite
from tacit.core.display import drop_noise
from tacit.evaluation.gaps import uniform_gap
from tacit.evaluation.solve import welfare_range
from tacit.games.atlas import ENTRIES, REACHED, kind_of

DOCS = Path(__file__).parent.parent / "docs"
COUNTS = ("1000", "10000", "100000")
LABELS = {
    "portfolio": "portfolio, the default",
    "adaptive-v-cce": "adaptive-v-cce",
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
connected sets of them. "Read" says what was read of a row in the source's code or in another public text: the figure
itself ({figure} games); the game alone, whose figure is derived from its rules ({game}); or nothing, and both are
derived ({derived}).

{checks}

## What learners reach


The gap of a run's policy after {counts} episodes, with one seed, 0, and in brackets the total value after the last of
them. Gaps of {cce} are cce gaps, those of {nash} are nash gaps: columns of
different kinds are not compared. They are exact, or proven upper bounds where a V-learner's mixture over visits is the
policy of a game of several steps. Without a total value in brackets, the gap is what the agents know themselves: an
estimate of adaptive-v-cce, an upper bound of stage-v-cce. Uniform play has the nash gap in the second column. {missing}

{learned}

Soccer has pictures: `tacit draw atlas/soccer play --concept nash`.

## Which learner, where

![gap and welfare of five learners](figures/atlas.png)

*The price of anarchy of learning. For each learner and each of {pictured} games in which agents can do better together:
the gap of its policy after 100,000 episodes as a share of uniform play's (those outside of 1e-4 to 10 are drawn at the
edge), and the total value between the worst possible (0 %) and the best (100 %). Median of the total values:
{medians}.*

In this picture and in the table below, cce gaps (of {cce}) stand beside nash gaps (of the others). Every
nash equilibrium is a cce, but not the other way round, so these gaps do not rank learners of different kinds.

The same in numbers: on how many games the gap is at most a tenth of uniform play's, and in brackets the mean total
value. Games where uniform play is an equilibrium are left out. `tacit compare` ranks learners on one game, and the
advice after a run that does not come near names who did better here.

{reached}
"""


def update() -> None:
    """Check all figures anew, and let learners learn where that was not done before; one seed, 0."""
    place = DOCS / "atlas.json"
    data = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    for name, entry in ENTRIES.items():
        print(name, flush=True)
        one = data.setdefault(name, {})
        game = entry.make()
        sizes = {word: getattr(game, word) for word in ("agents", "states", "horizon")}
        one |= {"source": entry.source, "read": entry.read, "size": {**sizes, "actions": list(game.actions)}}
        one["figures"] = check_entry(entry, game)
        worst, best = welfare_range(game) or (None, None)
        one["game"] = {"kind": kind_of(game), "uniform_gap": uniform_gap(game), "best": best, "worst": worst}
        for learner in LABELS:
            runs = one.setdefault("learned", {}).setdefault(learner, {})
            for count in COUNTS:
                if count not in runs:
                    runs[count] = learn(game, learner, int(count))
        place.write_text(json.dumps(finite(data), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def learn(game: Any, learner: str, episodes: int) -> dict[str, Any]:
    """Return what a learner reaches."""
    try:
        run = tacit.learn(game, learner, episodes=episodes, seed=0)
    except tacit.TacitError as error:
        return {"error": str(error)}
    values = None if run.values is None else np.asarray(run.values).tolist()
    return {"kind": run.gaps.kind, "gap": float(run.gap), "values": values}


def main() -> None:
    if "--learn" in sys.argv:
        update()
    data = json.loads((DOCS / "atlas.json").read_text(encoding="utf-8"))
    shared, table = pictured(data), summarize(data)
    draw(shared, DOCS / "figures" / "atlas.png")
    (DOCS / "atlas.md").write_text(page(data, shared, table), encoding="utf-8")
    lines = [
        f'  "{kind}": {{\n' + ",\n".join(f'    "{n}": {json.dumps(row)}' for n, row in rows.items())
        for kind, rows in table.items()
    ]
    REACHED.write_text("{\n" + "\n  },\n".join(lines) + "\n  }\n}\n", encoding="utf-8")


def summarize(data: dict[str, Any]) -> dict[str, dict[str, tuple[int, int, float | None]]]:
    """Return, by kind of game and learner, on how many games it comes near, of how many, and the mean total value."""
    found: dict[str, dict[str, tuple[int, int, float | None]]] = {}
    for kind in ("zero-sum", "team", "mixed"):
        games = [
            one
            for one in data.values()
            if one.get("game", {}).get("kind") == kind and one["game"]["uniform_gap"] > 1e-9
        ]
        for learner in LABELS:
            runs = [(one["game"], one["learned"].get(learner, {}).get(COUNTS[-1], {})) for one in games]
            shares = [run["gap"] / game["uniform_gap"] for game, run in runs if run.get("gap") is not None]
            totals = [welfare(game, run) for game, run in runs if welfare(game, run) is not None]
            if shares:
                mean = None if kind == "zero-sum" or not totals else round(fmean(totals), 3)
                found.setdefault(kind, {})[learner] = (sum(share <= 0.1 for share in shares), len(shares), mean)
    return found


def welfare(game: dict[str, Any], run: dict[str, Any]) -> float | None:
    """Return where a run's total value lies between the worst (0) and the best (1); None where all are the same."""
    if game["best"] is None or game["best"] - game["worst"] <= 1e-9 or not run.get("values"):
        return None
    return float((sum(run["values"]) - game["worst"]) / (game["best"] - game["worst"]))


def page(data: dict[str, Any], shared: dict[str, list[tuple[float, float]]], reached: Any) -> str:
    """Return the page as text."""
    found = [figure for one in data.values() for figure in one["figures"]]
    off = [name for name, one in data.items() if not all(figure["agrees"] for figure in one["figures"])]
    unlearned = sum("learned" not in one for one in data.values())
    medians = ", ".join(f"{learner} {median([w for _, w in points]):.0f} %" for learner, points in shared.items())
    read = [one["read"] for one in data.values()]
    return HEAD.format(
        games=len(data),
        figures=len(found),
        agree=sum(figure["agrees"] for figure in found),
        besides=f"; the others are of {', '.join(off)}" if off else "",
        markov=sum(one["size"]["states"] > 1 and (one["size"]["horizon"] or 2) > 1 for one in data.values()),
        checks=table(["game", "source", "read", "question", "stated", "ours", "note"], check_rows(data)),
        counts=", ".join(f"{int(count):,}" for count in COUNTS if measured(data, count)),
        missing=f"{unlearned} games were not learned yet; `make atlas` does." if unlearned else "",
        learned=table(["game", "uniform", *LABELS], learned_rows(data)),
        pictured=max(map(len, shared.values()), default=0),
        figure=read.count("figure"),
        game=read.count("game"),
        derived=read.count(""),
        reached=table(["games", *LABELS], reached_rows(reached)),
        medians=medians,
        **{kind: listed(data, kind) for kind in ("cce", "nash")},
    )


def listed(data: dict[str, Any], kind: str) -> str:
    """Name the learners whose gaps are of a kind."""
    runs = [
        (learner, run) for one in data.values() for learner, by in one.get("learned", {}).items() for run in by.values()
    ]
    *most, last = [name for name in LABELS if (name, kind) in {(learner, run.get("kind")) for learner, run in runs}]
    return f"{', '.join(most)} and {last}"


def measured(data: dict[str, Any], count: str) -> bool:
    """Return whether any run has so many episodes."""
    return any(count in runs for one in data.values() for runs in one.get("learned", {}).values())


def reached_rows(reached: Any) -> list[list[str]]:
    """Return a row for each kind of game."""
    rows = []
    for kind, learners in reached.items():
        cells = []
        for learner in LABELS:
            near, games, total = learners.get(learner, (0, 0, None))
            cells.append(f"{near} of {games}" + ("" if total is None else f" ({100 * total:.0f} %)") if games else "–")
        rows.append([kind, *cells])
    return rows


def check_rows(data: dict[str, Any]) -> list[list[str]]:
    """Return a row for each figure."""
    rows = []
    for name, one in data.items():
        for k, figure in enumerate(one["figures"]):
            first = [f"`{name}`", one["source"], one["read"] or "–"] if k == 0 else ["", "", ""]
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
    gaps = ", ".join(f"{drop_noise(run['gap'], 1.0):.2g}" for run in done)
    if done[-1]["values"] is None:
        return gaps
    total = sum(done[-1]["values"])
    return f"{gaps} ({total if abs(total) > 1e-9 else 0:.3g})"


def numbers(found: Any) -> str:
    """Write one number, or several."""
    several = found if isinstance(found, list) else [found]
    if len(several) > 3 and len(set(several)) == 1:
        return f"{several[0]:.9g} for each"
    return " ".join(f"{drop_noise(one, 1.0):.9g}" for one in several)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def pictured(data: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Return, for each learner, its gap and total value in games whose total is not constant."""
    points: dict[str, list[tuple[float, float]]] = {learner: [] for learner in LABELS}
    for one in data.values():
        for learner, runs in one.get("learned", {}).items():
            game, run = one["game"], runs.get(COUNTS[-1], {})
            share = welfare(game, run)
            if share is not None and game["uniform_gap"] > 1e-9 and run.get("gap") is not None:
                points[learner].append((min(max(run["gap"] / game["uniform_gap"], 1e-4), 10.0), 100 * share))
    return points


def draw(points: dict[str, list[tuple[float, float]]], place: Path) -> None:
    """Draw a panel for each learner, since the points of several would hide each other."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(points), figsize=(12.5, 3.0), sharex=True, sharey=True, layout="constrained")
    colors = ("#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7")
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
