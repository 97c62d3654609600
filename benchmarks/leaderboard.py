"""Every learner on the same 52 games: the exact gap and the welfare of what it returns by its own rule.

    python benchmarks/leaderboard.py                        all of it: 20,000 episodes, 3 seeds
    python benchmarks/leaderboard.py --seeds 1 --only ogda  the first seed of one learner
    python benchmarks/leaderboard.py --report               only write the page and the figure from what was measured

Every run has its whole budget. Finished runs are kept in docs/leaderboard.json and never run again, so the command can
be killed and repeated. The page goes to docs/leaderboard.md and the figure to docs/figures/leaderboard.png.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

import tacit
from games import GAMES, Store
from tacit.figures import COLORS, styled
from tacit.learners import REGISTRY, THEORY
from tacit.learners.facts import information

DOCS = Path(__file__).parent.parent / "docs"
EPISODES, SEEDS = 20_000, 3
#: Episodes of the runs that the curves of some rows are drawn from.
MARKS = (100, 300, 1000, 3000, 10_000, EPISODES)
#: Iterations of learners that follow exact gradients: what they take from the tables is no play.
ITERATIONS = 200


class Setting(NamedTuple):
    learner: str
    params: dict[str, Any]
    rule: str  # the candidate that the algorithm itself returns


#: What learners return by their own rule, where that is not what `info.returns` names: the policy that begins with what
#: the last episode left behind; the policy itself, whose average only says whether it wins; the greedy policy; an
#: equilibrium of the model; the policy of least Δ; π̃, drawn by the common seed; an iterate drawn uniformly.
RULES = {
    **dict.fromkeys(("adaptive-v-cce", "adaptive-v-ce"), "recent"),
    **dict.fromkeys(("wolf-phc", "q-backward"), "last"),
    **dict.fromkeys(("model-central", "nash-vi", "spocmar", "nash-q, correlated"), "planned"),
    **dict.fromkeys(("pg-storm, published", "pg-two-timescale"), "sampled"),
}
#: Settings that common use or the source gives beside the defaults.
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "stage-v-cce, practical": ("stage-v-cce", {"bonus": 0.1, "step": 0.2, "loss": "raw"}),
    "stage-v-ce, practical": ("stage-v-ce", {"bonus": 0.1, "step": 0.2, "loss": "raw"}),
    "v-learning, practical": ("v-learning", {"bonus": 0.1, "step": 2.0, "loss": "raw", "bandit": "tsallis-inf"}),
    "ucb-independent, practical": ("ucb-independent", {"bonus": 0.1}),
    "ucb-central, practical": ("ucb-central", {"bonus": 0.1}),
    "pg-storm, practical": ("pg-storm", {"eta": 1e-3, "momentum": 0.1}),
    "npg, from play": ("npg", {"gradient": "sampled"}),
    "pg-q, from play": ("pg-q", {"gradient": "sampled"}),
    "ogda, from play": ("ogda", {"gradient": "sampled"}),
    "q-independent, decaying": ("q-independent", {"exploration": 1.0, "decay": 3e-4}),
    "q-independent, Boltzmann": ("q-independent", {"temperature": 1.0, "decay": 3e-4}),
    "q-hysteretic, lenient": ("q-hysteretic", {"leniency": 50.0}),
    "q-phases, aspiration": ("q-phases", {"aspiration": 20}),
    "q-smoothed, inner loop": ("q-smoothed", {"rule": "inner-loop"}),
    "nash-q, friend": ("nash-q", {"operator": "friend"}),
    "nash-q, correlated": ("nash-q", {"operator": "correlated"}),
}


def list_settings() -> dict[str, Setting]:
    """Return all rows: learners with their defaults, with the published constants where those differ, and others."""
    rows = {name: (name, {}) for name in REGISTRY if name != "ppo"}  # of networks, which have a page of their own
    rows |= {f"{name}, published": (name, {"preset": "theory"}) for name, params in THEORY.items() if params}
    return {label: Setting(*row, find_rule(label, row[0])) for label, row in (rows | OTHERS).items()}


def find_rule(label: str, learner: str) -> str:
    """Return the candidate that a row's algorithm returns; "" for what was selected with the exact gap."""
    if learner == "portfolio":
        return ""
    returns = {"certified": "average", "average": "recent", "last": "last"}[REGISTRY.make(learner).info.returns]
    return RULES.get(label, RULES.get(learner, returns))


def class_of(setting: Setting) -> str:
    """Return what an agent must know."""
    return "decentralized" if setting.params.get("gradient") == "sampled" else information(setting.learner)


def measure(game: tacit.TabularGame, setting: Setting, seed: int, episodes: int, uniform: float) -> dict[str, Any]:
    """Return gap, over the uniform policy's, and welfare of every candidate of a run."""
    began = time.process_time()
    if class_of(setting) == "from the tables":
        episodes = ITERATIONS
    run = tacit.learn(game, setting.learner, episodes=episodes, seed=seed, points=1, **setting.params)
    measured = {name: (one.gap, one.values) for name, one in run.candidates.items()}
    if run.sampled is not None:
        sampled = tacit.evaluate(game, run.sampled)
        measured["sampled"] = (sampled.gap, sampled.values)
    seconds = round(time.process_time() - began, 2)
    rounded = {
        name: [round(float(gap) / uniform, 6), round(float(np.sum(v)), 6)] for name, (gap, v) in measured.items()
    }
    return {"candidates": rounded, "chosen": run.chosen, "seconds": seconds}


#: The colors of the figures, by what an agent must know.
CLASSES = {
    "decentralized": "blue",
    "common clock or seed": "green",
    "centralized": "black",
    "from the tables": "orange",
    "selected with the exact gap": "red",
}


class Board(Store):
    """What has been measured of all rows."""

    @cached_property
    def games(self) -> list[str]:
        """The games that all learners have run or refused, with their defaults and the first seed."""
        keys = {name: [f"{label} | {name} | 0" for label in list_settings() if "," not in label] for name in GAMES}
        return [name for name, those in keys.items() if all(key in self.rows for key in those)]

    def runs(self, label: str, episodes: int = EPISODES, seeds: int = SEEDS) -> list[tuple[str, dict[str, Any]]]:
        """Return the games and measures of a row's runs, with the first so many seeds."""
        end = "" if episodes == EPISODES else f" | {episodes}"
        keys = ((name, f"{label} | {name} | {seed}{end}") for name in self.games for seed in range(seeds))
        return [(name, self.rows[key]) for name, key in keys if "candidates" in self.rows.get(key, ())]

    def normalized(self, game: str, welfare: float) -> float | None:
        """Return normalized welfare, 0 for the uniform policy and 1 for the optimum; None where rewards cancel out."""
        uniform, best = self.rows[f"welfare | {game}"]
        return (welfare - uniform) / (best - uniform) if best - uniform > 1e-6 * max(1.0, abs(best)) else None

    def summarize(self, label: str, setting: Setting, episodes: int = EPISODES, seeds: int = SEEDS) -> Row | None:
        """Return the means of a row; None where nothing was measured."""
        runs = self.runs(label, episodes, seeds)
        if not runs:
            return None
        own = [(name, returned(run, setting.rule)) for name, run in runs]
        held_out = [gap for name, (gap, _) in own if GAMES[name].half == "held-out"]
        shares = [share for name, (_, welfare) in own if (share := self.normalized(name, welfare)) is not None]
        return Row(
            label=label,
            information=class_of(setting),
            rule=WORDS.get(setting.rule, setting.rule),
            games=len({name for name, _ in runs}),
            runs=len(runs),
            gap=mean_gap(gap for _, (gap, _) in own),
            interval=bootstrap([(name, gap) for name, (gap, _) in own]),
            held_out=mean_gap(held_out) if held_out else math.nan,
            solved=float(np.mean([gap <= 0.03 for _, (gap, _) in own])),
            best=mean_gap(min(gap for gap, _ in run["candidates"].values()) for _, run in runs),
            welfare=float(np.median(shares)) if shares else math.nan,
            seconds=float(np.median([run["seconds"] for _, run in runs])),
            kinds={
                kind: mean_gap(gaps)
                for kind in KINDS
                if (gaps := [gap for name, (gap, _) in own if GAMES[name].kind == kind])
            },
        )


class Row(NamedTuple):
    label: str
    information: str
    rule: str
    games: int
    runs: int
    gap: float  # geometric mean of the gap by its own rule
    interval: tuple[float, float]  # 95 %, of that mean
    held_out: float  # the same over held-out games
    solved: float  # share of runs below 3 %
    best: float  # geometric mean of the best candidate's
    welfare: float  # median
    seconds: float  # median
    kinds: dict[str, float]  # geometric mean of the gap in games of a kind


KINDS = list(dict.fromkeys(entry.kind for entry in GAMES.values()))
#: The words for a rule.
WORDS = {"": "selected", "average": "mixture", "recent": "average", "sampled": "random iterate", "last": "last iterate"}


def returned(run: dict[str, Any], rule: str) -> list[float]:
    """Return gap and welfare of what a run returns by a rule; the last iterate where that was not made yet."""
    candidates = run["candidates"]
    name = run["chosen"] if rule == "" else rule
    return candidates[name if name in candidates else "last"]


def mean_gap(gaps: Iterable[float]) -> float:
    """Return the geometric mean, of gaps of at least 0.01 %."""
    return float(np.exp(np.mean([math.log(max(gap, 1e-4)) for gap in gaps])))


def bootstrap(gaps: list[tuple[str, float]], draws: int = 2000) -> tuple[float, float]:
    """Return the 95 % interval of the geometric mean: games are drawn with replacement, and seeds of each."""
    rng, names = np.random.default_rng(0), sorted({name for name, _ in gaps})
    logs = [[math.log(max(gap, 1e-4)) for other, gap in gaps if other == name] for name in names]
    counts = np.array([len(row) for row in logs])
    table = np.array([row + [math.nan] * (max(counts) - len(row)) for row in logs])
    games = rng.integers(len(names), size=(draws, len(names), 1))
    seeds = (rng.random((draws, len(names), max(counts))) * counts[games]).astype(int)
    low, high = np.exp(np.quantile(table[games, seeds].mean(axis=(1, 2)), [0.025, 0.975]))
    return float(low), float(high)


def plot_rows(rows: list[Row], path: Path) -> None:
    """Draw a dot for each learner, and a ring for its other settings: gap against welfare, colored by information."""
    with styled():
        figure = Figure(figsize=(9.0, 6.5))
        axes = figure.subplots()
        for information, color in CLASSES.items():
            for other in False, True:
                inside = [row for row in rows if row.information == information and is_named(row.label) != other]
                look = {"color": COLORS.get(color, color), "markerfacecolor": "none" if other else None}
                label = None if other else information
                axes.plot([row.gap for row in inside], [row.welfare for row in inside], "o", ms=4, label=label, **look)
        axes.plot([], [], "o", ms=4, color="gray", markerfacecolor="none", label="other settings")
        axes.set(xscale="log", xlabel="gap by its own rule, % of the uniform policy's (geometric mean of all runs)")
        axes.set_ylabel("normalized welfare (uniform policy 0, optimum 1; median)")
        axes.xaxis.set_major_formatter(lambda x, _: f"{100 * x:g}%")
        axes.legend(fontsize=8, loc="upper right")
        place_labels(axes, rows)
        figure.savefig(path)


def is_named(label: str) -> bool:
    """Return whether the figure names a row: learners with their defaults, and those that learn from play as well."""
    return "," not in label or label.endswith("from play")


def place_labels(axes: Any, rows: list[Row]) -> None:
    """Write each learner's name near its dot, where it covers no other name and no dot."""
    figure = axes.figure
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    dots = axes.transData.transform([(row.gap, row.welfare) for row in rows])
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in dots]
    taken.append(axes.get_legend().get_window_extent(renderer))
    frame = axes.get_window_extent(renderer)
    for row, (x, y) in sorted(zip(rows, dots, strict=True), key=lambda one: one[1][1]):
        if not is_named(row.label):
            continue
        color = COLORS.get(CLASSES[row.information], CLASSES[row.information])
        text = axes.annotate(row.label, (row.gap, row.welfare), fontsize=6.5, xytext=(0, 0), textcoords="offset points")
        box = text.get_window_extent(renderer)
        places = [
            (radius * math.cos(angle) - (box.width if math.cos(angle) < -0.3 else 0), radius * math.sin(angle) - 4)
            for radius in range(7, 200, 6)
            for angle in np.linspace(0, 2 * math.pi, 24, endpoint=False)
        ]
        for dx, dy in places:
            spot = Bbox.from_bounds(x + dx, y + dy, box.width, box.height)
            inside = frame.x0 < spot.x0 and spot.x1 < frame.x1 and frame.y0 < spot.y0 and spot.y1 < frame.y1
            if inside and not any(spot.overlaps(other) for other in taken):
                break
        taken.append(spot)
        text.set_position((dx * 72 / figure.dpi, dy * 72 / figure.dpi))
        nearest = min(max(x, spot.x0), spot.x1), min(max(y, spot.y0), spot.y1)
        if math.dist(nearest, (x, y)) > 12:
            end = axes.transData.inverted().transform(nearest)
            axes.plot([row.gap, end[0]], [row.welfare, end[1]], color=color, linewidth=0.4)


#: Of the curves: looks and words. What is selected with the exact gap is drawn apart.
CURVES: dict[str, tuple[str, str, str]] = {
    "stage-v-cce": ("red", "-", "as published (stage-v-cce)"),
    "adaptive-v-cce": ("sky", "-", "decentralized: adaptive-v-cce"),
    "model-independent": ("blue", "-", "decentralized: model-independent"),
    "portfolio": ("blue", ":", "the better of both, selected with the exact gap"),
    "model-central": ("black", "-", "centralized: model-central"),
}


def plot_curves(store: Board, path: Path) -> int:
    """Draw gap and welfare against episodes, by the agents' own rules; return how many seeds have all points."""
    settings = list_settings()
    ends = ["" if mark == EPISODES else f" | {mark}" for mark in MARKS]
    keys = [[f"{label} | {name} | {{}}{end}" for label in CURVES for end in ends] for name in GAMES]
    seeds = min(sum(key.format(seed) in store.rows for seed in range(SEEDS)) for those in keys for key in those)
    with styled():
        figure = Figure(figsize=(8.5, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        for label, (color, style, words) in CURVES.items():
            rows = [store.summarize(label, settings[label], episodes, seeds) for episodes in MARKS]
            line = {"color": COLORS.get(color, color), "linestyle": style, "label": words}
            left.plot(MARKS, [row.gap if row else math.nan for row in rows], **line)
            right.plot(MARKS, [row.welfare if row else math.nan for row in rows], **line)
        left.set(xscale="log", yscale="log", xlabel="episodes", ylabel="gap, % of the uniform policy's")
        right.set(xscale="log", xlabel="episodes", ylabel="normalized welfare", ylim=(None, 1.02))
        left.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g}%")
        figure.legend(*left.get_legend_handles_labels(), fontsize=8, loc="outside lower center", ncols=3)
        figure.savefig(path)
    return seeds


TEXT = """# The leaderboard

Every learner of the registry on {games} games of `benchmarks/games.py`, {episodes:,} episodes, {seeds}.{unfinished}
Every run has its whole budget. Learners that follow exact gradients from the tables have {iterations} iterations, and
one seed: they draw nothing. `ppo` learns networks and has [a page of its own](research/ppo.md).

- **gap**: the exact gap of what the algorithm itself returns, over the uniform policy's. Geometric mean over the runs;
  gaps below 0.01 % count as that. No choice was made with the game's tables, but in rows called "selected".
- **95 %**: the bootstrap interval of that mean; games are drawn with replacement, and seeds of each. All rows have the
  same games, so a difference between two rows can be certain where their intervals overlap.
- **returned**: what that is. "mixture" is the certified policy of V-learning, "average" the one that begins with what
  the last episode left behind, or the average of the iterates, "planned" an equilibrium of what was learned of the
  game, "random iterate" one that was drawn uniformly, as the theorem asks.
- **held-out**: the gap on the half of the games that was not looked at while tacit's own learners were designed, with
  the exceptions that [the limits](limits.md) name.
- **below 3 %**: the share of runs whose gap is at most 3 % of the uniform policy's.
- **best candidate**: the gap of the best of the run's candidates, selected with the exact gap.
- **welfare**: normalized (0 = uniform policy, 1 = optimum), median over runs in games whose rewards do not cancel out.

The gap is that of the equilibrium that a learner is made for. For ce (`adaptive-v-ce`, `stage-v-ce`,
`nash-q, correlated`) it is never smaller than for cce; for independent policies all three are equal.
A row "published" has the source's constants, "practical" a setting of common use, and the others the defaults, which
are the published ones for `stage-v`, `v-learning` and `ucb`. Rows that have a word of their own are:
{others}.

![gap against welfare, a dot for each row](figures/leaderboard.png)

{table}

Learners made for zero-sum games or teams refuse the others. These rows have fewer games, and the gap of
`adaptive-v-cce` in the same games beside theirs:

| learner | games | the others | gap | 95 % | below 3 % | adaptive-v-cce there |
|---|---|---|---|---|---|---|
{fewer}

## The gap by kind of game

{kinds}

## Gap and welfare against episodes

![gap and welfare against episodes](figures/episodes.png)

On the same games, {curves}. Left: the geometric mean of the gap by the agents' own rule. Right: the median of the
welfare. Each point is the end of runs of its own. The dotted line chooses with the game's tables among the candidates
of both decentralized learners, which share the episodes: it is `portfolio`, the default where there are tables.

This page is written by `python benchmarks/leaderboard.py`; do not edit it by hand.
"""

HEAD = """| learner | information | returned | gap | 95 % | held-out | below 3 % | best candidate | welfare | seconds |
|---|---|---|---|---|---|---|---|---|---|"""


def tabulate(rows: list[Row]) -> str:
    """Return a table of rows, by their gap."""
    lines = (
        f"| {row.label} | {row.information} | {row.rule} | {row.gap:.2%} | {show(row.interval)} | {row.held_out:.2%} | "
        f"{row.solved:.0%} | {row.best:.2%} | {row.welfare:.2f} | {row.seconds:.1f} |"
        for row in sorted(rows, key=lambda row: row.gap)
    )
    return "\n".join([HEAD, *lines])


def tabulate_kinds(rows: list[Row]) -> str:
    """Return the gaps of rows by kind of game."""
    lines = [f"| learner | {' | '.join(KINDS)} |", "|---" * (len(KINDS) + 1) + "|"]
    for row in sorted(rows, key=lambda row: row.gap):
        cells = (f"{row.kinds[kind]:.1%}" if kind in row.kinds else "" for kind in KINDS)
        lines.append(f"| {row.label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def show(interval: tuple[float, float]) -> str:
    """Return an interval in per cent."""
    return f"{100 * interval[0]:.2f} to {interval[1]:.2%}"


def report(store: Board) -> None:
    """Write the page and its figures."""
    settings = list_settings()
    rows = [row for label, setting in settings.items() if (row := store.summarize(label, setting)) is not None]
    most = max(row.games for row in rows)
    everywhere = [row for row in rows if row.games == most]
    plot_rows([row for row in everywhere if not math.isnan(row.welfare)], DOCS / "figures" / "leaderboard.png")
    played = [label for label, setting in settings.items() if class_of(setting) != "from the tables"]
    runs = [
        sum(f"{label} | {name} | {seed}" in store.rows for seed in range(SEEDS)) for label in played for name in GAMES
    ]
    fewer = [
        f"| {row.label} | {row.games} | {missing(store, row.label)} | {row.gap:.2%} | {show(row.interval)} | "
        f"{row.solved:.0%} | {mean_gap(compare(store, row.label)):.2%} |"
        for row in sorted(rows, key=lambda row: row.gap)
        if row.games < most
    ]
    text = TEXT.format(
        games=most,
        curves=say_seeds(*[plot_curves(store, DOCS / "figures" / "episodes.png")] * 2),
        unfinished="" if most == len(GAMES) else f"\nThe other {len(GAMES) - most} games of that file are not run yet.",
        episodes=EPISODES,
        iterations=ITERATIONS,
        seeds=say_seeds(min(runs), max(runs)),
        others=";\n".join(f"`{label}` ({words(settings[label].params)})" for label in OTHERS),
        table=tabulate(everywhere),
        kinds=tabulate_kinds(rows),
        fewer="\n".join(fewer),
    )
    (DOCS / "leaderboard.md").write_text(text, encoding="utf-8")


def say_seeds(least: int, most: int) -> str:
    """Return how many seeds there are."""
    return f"{least} to {most} seeds" if least < most else "one seed" if most == 1 else f"{most} seeds"


def words(params: dict[str, Any]) -> str:
    """Return parameters as they are given."""
    return ", ".join(f"{key}={value!r}" for key, value in params.items())


def missing(store: Board, label: str) -> str:
    """Return why a row has no more games."""
    refused = any("refused" in store.rows.get(f"{label} | {name} | 0", {}) for name in GAMES)
    return "refused" if refused else "not run yet"


def compare(store: Board, label: str) -> Iterator[float]:
    """Yield the gaps of adaptive-v-cce in the games that a row has."""
    games = {name for name, _ in store.runs(label)}
    return (returned(run, "recent")[0] for name, run in store.runs("adaptive-v-cce") if name in games)


def main() -> None:
    settings = list_settings()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=settings)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Board(DOCS / "leaderboard.json")
    labels = options.only or list(settings)
    played = [label for label in labels if class_of(settings[label]) != "from the tables"]
    curves = [label for label in labels if label in CURVES]
    for seed in range(0 if options.report else options.seeds):
        for name in GAMES:
            run_all(store, name, labels if seed == 0 else played, seed, (EPISODES,))
    for seed in range(0 if options.report else options.seeds):
        for name in GAMES:
            run_all(store, name, curves, seed, MARKS)
    report(store)


def run_all(store: Board, name: str, labels: list[str], seed: int, marks: Iterable[int]) -> None:
    """Run what is not in the store yet. Learners that follow the tables draw nothing: one seed says all."""
    ends = {episodes: "" if episodes == EPISODES else f" | {episodes}" for episodes in marks}
    keys = {f"{label} | {name} | {seed}{end}": (label, episodes) for label in labels for episodes, end in ends.items()}
    left = {key: one for key, one in keys.items() if key not in store.rows}
    if not left:
        return
    game = GAMES[name].make()
    uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))
    if f"welfare | {name}" not in store.rows:
        best = tacit.evaluate(game, tacit.solve(game, "optimum").policy, gap="cce")
        store.put(f"welfare | {name}", [float(one.values.sum()) for one in (uniform, best)])
    for key, (label, episodes) in left.items():
        try:
            measured = measure(game, list_settings()[label], seed, episodes, float(uniform.gap))
        except tacit.TacitError as error:
            measured = {"refused": str(error)}
        store.put(key, measured)
        print(key, measured, flush=True)


if __name__ == "__main__":
    main()
