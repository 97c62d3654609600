"""Every learner on the same 52 games: the exact gap and the welfare of what it returns by its own rule.

    python benchmarks/leaderboard.py                        all of it: 20,000 episodes, 3 seeds
    python benchmarks/leaderboard.py --seeds 1 --only ogda  the first seed of one learner
    python benchmarks/leaderboard.py --report               only write the page and the figure from what was measured

Every run has its whole budget. Finished runs are kept in docs/leaderboard.json and never run again, so the command can
be killed and repeated. The page goes to docs/leaderboard.md and the figure to docs/figures/leaderboard.png.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import tacit
from games import GAMES
from tacit.figures import COLORS, styled
from tacit.learners import REGISTRY, THEORY

DOCS = Path(__file__).parent.parent / "docs"
EPISODES = 20_000
#: Iterations of learners that follow exact gradients: what they take from the tables is no play.
ITERATIONS = 500


class Setting(NamedTuple):
    learner: str
    params: dict[str, Any]
    rule: str  # the candidate that the algorithm itself returns


def _settings() -> dict[str, Setting]:
    """Return all rows: learners with their defaults, and with the published constants where those differ."""
    rows = {}
    for name in REGISTRY:
        rule = {"certified": "average", "average": "recent", "last": "last"}[REGISTRY.make(name).info.returns]
        if name.startswith("adaptive-v"):
            rule = "recent"  # the policy that begins with what the last episode left behind
        if name == "model-central":
            rule = "planned"
        rows[name] = Setting(name, {}, "" if name == "portfolio" else rule)
    for name, params in PRACTICAL.items():
        rows[f"{name}, practical"] = Setting(name, params, rows[name].rule)
    for name in THEORY:
        rows[f"{name}, published"] = Setting(name, {"preset": "theory"}, rows[name].rule)
    return rows


#: Settings that common use gives where a learner's defaults are the theory's.
PRACTICAL: dict[str, dict[str, Any]] = {
    "stage-v-cce": {"bonus": 0.05, "step": 0.2, "loss": "raw"},
    "v-learning": {"bonus": 0.05},
    "ucb-independent": {"bonus": 0.1},
    "ucb-central": {"bonus": 0.1},
    "pg-storm": {"eta": 1e-3, "momentum": 0.1},
}


#: What an agent must know: the color and the words of the figure.
CLASSES = {
    "decentralized": "blue",
    "common clock or seed": "green",
    "centralized": "black",
    "from the tables": "orange",
    "selected with the exact gap": "red",
}


def class_of(name: str) -> str:
    """Return what an agent of a learner must know."""
    needs = REGISTRY.make(name).info.needs
    if name == "portfolio":
        return "selected with the exact gap"
    if "tables" in needs:
        return "from the tables"
    if "all agents" in needs:
        return "centralized"
    return "common clock or seed" if needs & {"clock", "seed"} else "decentralized"


def measure(game: tacit.TabularGame, setting: Setting, seed: int) -> dict[str, Any]:
    """Return gaps, over the uniform policy's, and welfare of what is returned by its own rule and of the best."""
    uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    began = time.process_time()
    episodes = ITERATIONS if class_of(setting.learner) == "from the tables" else EPISODES
    run = tacit.learn(game, setting.learner, episodes=episodes, seed=seed, points=1, **setting.params)
    own = run.candidates[setting.rule] if setting.rule in run.candidates else run.candidates[run.chosen]
    return {
        "gap": round(float(own.gap) / uniform, 6),
        "source": own.gaps.source,
        "best": round(min(float(one.gap) for one in run.candidates.values()) / uniform, 6),
        "welfare": round(float(np.sum(own.values)), 6),
        "seconds": round(time.process_time() - began, 2),
    }


class Store:
    """What has been measured, in one JSON file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def put(self, key: str, value: Any) -> None:
        """Keep a value, and write the file anew."""
        self.rows[key] = value
        lines = (f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(self.rows[k])}" for k in sorted(self.rows))
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        os.replace(fresh, self.path)

    def runs(self, label: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the games and measures of a row's runs."""
        keys = ((name, self.rows.get(f"{label} | {name} | {seed}")) for name in GAMES for seed in range(100))
        return [(name, run) for name, run in keys if run is not None and "gap" in run]

    def normalized(self, game: str, welfare: float) -> float | None:
        """Return normalized welfare, 0 for the uniform policy and 1 for the optimum; None where rewards cancel out."""
        uniform, best = self.rows[f"welfare | {game}"]
        return (welfare - uniform) / (best - uniform) if best - uniform > 1e-6 * max(1.0, abs(best)) else None


class Row(NamedTuple):
    label: str
    information: str
    games: int
    runs: int
    gap: float  # geometric mean of the gap by its own rule
    solved: float  # share of runs below 3 %
    best: float  # geometric mean of the best candidate's
    welfare: float  # median
    seconds: float


def summarize(store: Store) -> list[Row]:
    """Return all rows that were measured, by the gap of their own rule."""
    rows = []
    for label, setting in _settings().items():
        runs = store.runs(label)
        if not runs:
            continue
        gap, best = (np.array([max(run[key], 1e-4) for _, run in runs]) for key in ("gap", "best"))
        welfare = [share for name, run in runs if (share := store.normalized(name, run["welfare"])) is not None]
        rows.append(
            Row(
                label,
                class_of(setting.learner),
                len({name for name, _ in runs}),
                len(runs),
                float(np.exp(np.log(gap).mean())),
                float((gap <= 0.03).mean()),
                float(np.exp(np.log(best).mean())),
                float(np.median(welfare)) if welfare else float("nan"),
                float(np.mean([run["seconds"] for _, run in runs])),
            )
        )
    return sorted(rows, key=lambda row: row.gap)


def plot(rows: list[Row], path: Path) -> None:
    """Draw a dot for each algorithm: gap against welfare, colored by what an agent must know."""
    with styled():
        figure = Figure(figsize=(8.5, 5.0))
        axes = figure.subplots()
        for information, color in CLASSES.items():
            inside = [row for row in rows if row.information == information]
            axes.plot(
                [row.gap for row in inside],
                [row.welfare for row in inside],
                "o",
                color=COLORS.get(color, color),
                label=information,
            )
            for row in inside:
                axes.annotate(row.label, (row.gap, row.welfare), (4, 3), textcoords="offset points", fontsize=6)
        axes.set(
            xscale="log", xlabel="gap, share of the uniform policy's (geometric mean)", ylabel="normalized welfare"
        )
        axes.legend(fontsize=8, loc="lower left")
        figure.savefig(path)


TEXT = """# The leaderboard

Every learner of the registry on the {games} games of `benchmarks/games.py`, {episodes:,} episodes, {seeds}, every run
to its full budget; {iterations} iterations for learners that follow exact gradients from the tables.

- **gap**: the exact gap of what the algorithm returns by its own rule (last iterate, average, certified mixture), over
  the uniform policy's; geometric mean, gaps below 0.01 % count as that. No choice was made with the game's tables.
- **below 3 %**: the share of runs whose gap is at most 3 % of the uniform policy's.
- **best candidate**: the same for the best of the run's candidates, selected with the exact gap.
- **welfare**: normalized (0 = uniform policy, 1 = optimum), median over the games that have an optimum above it.

A row "published" has the source's constants, "practical" a setting of common use; the others have the defaults.
Learners made for zero-sum games or teams refuse the others: their rows have fewer games, and cannot be compared with
the rest.

![gap against welfare, a dot for each algorithm](figures/leaderboard.png)

| learner | information | games | runs | gap | below 3 % | best candidate | welfare | seconds a run |
|---|---|---|---|---|---|---|---|---|
{rows}

This page is written by `python benchmarks/leaderboard.py`; do not edit it by hand.
"""


def report(store: Store) -> None:
    """Write the page and its figure."""
    rows = summarize(store)
    plot(rows, DOCS / "figures" / "leaderboard.png")
    lines = [
        f"| {row.label} | {row.information} | {row.games} | {row.runs} | {row.gap:.2%} | {row.solved:.0%} | "
        f"{row.best:.2%} | {row.welfare:.2f} | {row.seconds:.1f} |"
        for row in rows
    ]
    most = max(row.runs // row.games for row in rows)
    seeds = "one seed" if most == 1 else f"up to {most} seeds"
    text = TEXT.format(games=len(GAMES), episodes=EPISODES, iterations=ITERATIONS, seeds=seeds, rows="\n".join(lines))
    (DOCS / "leaderboard.md").write_text(text, encoding="utf-8")


def main() -> None:
    settings = _settings()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=settings)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(DOCS / "leaderboard.json")
    for seed in range(0 if options.report else options.seeds):
        for name, entry in GAMES.items():
            game = entry.make()
            if f"welfare | {name}" not in store.rows:
                policies = tacit.MarkovPolicy.uniform(game), tacit.solve(game, "optimum").policy
                values = [float(tacit.evaluate(game, one, gap="cce").values.sum()) for one in policies]
                store.put(f"welfare | {name}", values)
            for label in options.only or settings:
                key = f"{label} | {name} | {seed}"
                if key in store.rows:
                    continue
                try:
                    measured = measure(game, settings[label], seed)
                except tacit.TacitError as error:
                    measured = {"refused": str(error)}
                store.put(key, measured)
                print(key, measured, flush=True)
    report(store)


if __name__ == "__main__":
    main()
