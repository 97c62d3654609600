"""What agents may know, and how fast they learn: gap and welfare of every class of learner, on 52 games.

    python benchmarks/classes.py                     all of it: 20,000 episodes a run, about half an hour on one core
    python benchmarks/classes.py --seeds 1           the first seed of each game
    python benchmarks/classes.py --only portfolio    one learner
    python benchmarks/classes.py --report            only write the page and the figure from what has been measured

Finished runs are kept in docs/classes.json and never run again, so the command can be killed and repeated; the page
goes to docs/classes.md and the figure to docs/figures/classes.png. Gaps are exact or certified, those of the answer of
the run (`run.policy`) at rows of its curve, each 10 % later than the one before.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

import tacit
from games import GAMES
from tacit.figures import COLORS, styled

DOCS = Path(__file__).parent.parent / "docs"
EPISODES = 20_000
#: Of the portfolio, to compare it with the better of its members.
TAKING_TURNS = 44_000
SHARES = (0.1, 0.03, 0.01)
MARKS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)

#: Learners by what their agents know, with the color and the words of the figure.
LEARNERS = {
    "stage-v-cce": ("red", "published algorithm"),
    "adaptive-v-cce": ("sky", "alone: adaptive-v"),
    "model-independent": ("green", "alone: model-independent"),
    "portfolio": ("blue", "alone: portfolio"),
    "model-central": ("black", "central while learning"),
}
#: What the first picture shows.
FIRST = ("stage-v-cce", "portfolio", "model-central")


def measure(game: tacit.TabularGame, learner: str, seed: int) -> dict[str, Any]:
    """Return when the gap of the answer first was below each share, and gap and welfare at the marks."""
    even = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    began = time.process_time()
    episodes = TAKING_TURNS if learner == "portfolio" else EPISODES
    run = tacit.learn(game, learner, episodes=episodes, seed=seed, seconds=86_400)  # rows grow by a tenth
    curve = run.curve
    gaps = np.append(curve["gap"][:-1], run.gap) / even  # the answer has candidates that no row has
    welfare = np.sum([np.append(curve[f"value_{i}"][:-1], run.values[i]) for i in range(game.agents)], axis=0)
    members = [curve[name] / even for name in curve.dtype.names if name.startswith("gap_") and not name[4:].isdigit()]
    rows = [max(int(np.searchsorted(curve["episode"], mark, side="right")) - 1, 0) for mark in MARKS]
    return {
        "first": arrivals(curve["episode"], gaps),
        **({"least": arrivals(curve["episode"], np.fmin.reduce(members))} if members else {}),
        "gap": [round(float(gaps[row]), 6) for row in rows],
        "welfare": [round(float(welfare[row]), 6) for row in rows],
        "seconds": round(time.process_time() - began, 2),
    }


def arrivals(episodes: np.ndarray, gaps: np.ndarray) -> list[int | None]:
    """Return the episode at which a gap first was below each share, None where it was not."""
    return [next((int(k) for k, gap in zip(episodes, gaps, strict=True) if gap <= s), None) for s in SHARES]


class Store:
    """What has been measured, in one JSON file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.held: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def put(self, key: str, value: Any) -> None:
        """Keep a value, and write the file anew."""
        self.held[key] = value
        rows = (f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(self.held[k])}" for k in sorted(self.held))
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
        os.replace(fresh, self.path)

    def runs(self, learner: str, game: str) -> list[dict[str, Any]]:
        """Return the measured seeds."""
        found = [self.held.get(f"{learner} | {game} | {seed}") for seed in range(100)]
        return [run for run in found if run is not None and "first" in run]

    def way(self, game: str, welfare: float) -> float | None:
        """Return the way from uniform play's welfare to the best, where rewards do not cancel out."""
        even, best = self.held[f"welfare | {game}"]
        return (welfare - even) / (best - even) if best - even > 1e-6 * max(1.0, abs(best)) else None


def _mean(logs: Iterable[float]) -> float:
    return math.exp(np.mean(list(logs)))


def episodes_to(runs: list[dict[str, Any]], j: int) -> tuple[float, bool] | None:
    """Return the geometric mean over seeds of the episodes to a share, and whether a seed had not arrived."""
    if not runs:
        return None
    hits = [run["first"][j] for run in runs]
    late = any(hit is None or hit > EPISODES for hit in hits)
    return _mean(math.log(EPISODES if hit is None else min(hit, EPISODES)) for hit in hits), late


def summary(store: Store) -> Iterator[str]:
    """Yield the table of all learners: games that arrived, episodes beside adaptive-v's, welfare."""
    yield "| learner | games | below 10 % | 3 % | 1 % | episodes to 3 %, adaptive-v's = 1 | way to the best |"
    yield "|---|---|---|---|---|---|---|"
    for half in ("all games", "held-out"):
        names = [name for name, entry in GAMES.items() if half == "all games" or entry.half == half]
        for learner in LEARNERS:
            inside = {name: runs for name in names if (runs := store.runs(learner, name))}
            if not inside:
                continue
            cells = [f"{learner}, {half}", str(len(inside))]
            for j in range(len(SHARES)):
                every = [(run["first"][j] or math.inf) <= EPISODES for runs in inside.values() for run in runs]
                cells.append(f"{np.mean(every):.0%} of runs")
            ratios = []
            for name, runs in inside.items():
                ours, theirs = episodes_to(store.runs("adaptive-v-cce", name), 1), episodes_to(runs, 1)
                if ours is not None and theirs is not None and not (ours[1] and theirs[1]):
                    ratios.append(math.log(theirs[0] / ours[0]))
            cells.append(f"{_mean(ratios):.2g} ({len(ratios)} games)" if ratios else "–")
            reached = [
                share
                for name, runs in inside.items()
                for run in runs
                if (share := store.way(name, run["welfare"][-1])) is not None
            ]
            cells.append(f"{np.median(reached):.0%} (a tenth of runs below {np.quantile(reached, 0.1):.0%})")
            yield "| " + " | ".join(cells) + " |"


def turns(store: Store) -> Iterator[str]:
    """Yield how many times the episodes of the better of its members the portfolio takes, seed by seed."""
    yield "| to | of | runs | geometric mean | largest | above 2.2 |"
    yield "|---|---|---|---|---|---|"
    for j, share in enumerate(SHARES):
        for key, words in (("least", "the smallest gap of both"), ("first", "the answer")):
            ratios = {}
            for name in GAMES:
                members = [store.runs(learner, name) for learner in ("adaptive-v-cce", "model-independent")]
                for seed, run in enumerate(store.runs("portfolio", name)):
                    hits = [own[seed]["first"][j] or math.inf for own in members if seed < len(own)]
                    if len(hits) == 2 and min(hits) <= EPISODES:
                        ratios[f"{name}, seed {seed}"] = (run[key][j] or TAKING_TURNS) / min(hits)
            if ratios:
                worst = max(ratios, key=lambda name: ratios[name])
                above = sum(ratio > 2.2 for ratio in ratios.values())
                mean = _mean(math.log(ratio) for ratio in ratios.values())
                largest = f"{ratios[worst]:.1f} ({worst})"
                yield f"| {share:.0%} | {words} | {len(ratios)} | {mean:.2f} | {largest} | {above} |"


def by_game(store: Store) -> Iterator[str]:
    """Yield episodes to 10 / 3 / 1 % and welfare, for each game and learner."""
    yield "| game | half | " + " | ".join(LEARNERS) + " |"
    yield "|---" * (len(LEARNERS) + 2) + "|"
    for name, entry in GAMES.items():
        cells = [name, entry.half]
        for learner in LEARNERS:
            runs = store.runs(learner, name)
            found = [episodes_to(runs, j) for j in range(len(SHARES))]
            words = " / ".join("–" if one is None else f"{'>' if one[1] else ''}{one[0]:.0f}" for one in found)
            share = store.way(name, np.mean([run["welfare"][-1] for run in runs])) if runs else None
            cells.append(words if share is None else f"{words}; {share:.0%}")
        yield "| " + " | ".join(cells) + " |"


def plot(store: Store, path: Path, learners: Iterable[str]) -> None:
    """Draw gap and welfare against episodes: the geometric mean and the median over all games."""
    with styled():
        figure = Figure(figsize=(8.5, 3.4))
        left, right = figure.subplots(1, 2)
        for learner in learners:
            color, words = LEARNERS[learner]
            runs = {name: found for name in GAMES if (found := store.runs(learner, name))}
            if not runs:
                continue
            gaps = np.array([np.mean([run["gap"] for run in found], axis=0) for found in runs.values()])
            line = {"color": COLORS.get(color, color), "label": words}
            left.plot(MARKS, np.exp(np.log(np.maximum(gaps, 1e-4)).mean(axis=0)), **line)
            shares = [
                [store.way(name, value) for value in np.mean([run["welfare"] for run in found], axis=0)]
                for name, found in runs.items()
            ]
            known = np.array([own for own in shares if None not in own], dtype=float)
            right.plot(MARKS, np.median(known, axis=0), **line)
        left.set(xscale="log", yscale="log", xlabel="episodes", title="how far from an equilibrium")
        left.set_ylabel("gap, % of uniform play's")
        right.set(xscale="log", xlabel="episodes", title="how good an equilibrium", ylim=(None, 1.02))
        right.set_ylabel("welfare (uniform play 0 %, best 100 %)", fontsize=9)
        left.yaxis.set_major_formatter(lambda y, _: f"{100 * y:g}%")
        right.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
        left.legend(fontsize=8, loc="lower left")
        figure.savefig(path)


TEXT = """# What agents know, and how fast they learn

Three classes of learners, by what an agent may know while it learns:

- **alone**: its state, its own action, its own reward. [Mao2022]'s algorithm (`stage-v-cce`), `adaptive-v-cce`,
  `model-independent`, and `portfolio`, in which the latter two take turns.
- **a common seed**: nothing is sent either. Where rewards are common to all agents or opposite, each runs its own copy
  of `model-central`, and all copies are identical.
- **central** (`model-central`): one model for all agents while they learn; each acts alone afterwards.

Gaps are exact or certified, in percent of uniform play's, and those of the answer of a run. Welfare is the sum of all
agents' values, and its way the share of what lies between uniform play's (0 %) and the best that any policy reaches
(100 %); games in which rewards cancel out have none. Candidates that are made at the end of a run ("markov", "product",
"planned" of larger games) are in the figures of {episodes:,} episodes only. Each run has {episodes:,} episodes, {seeds}
on each of the {games} games of `benchmarks/games.py`: {counts}. Runs of `model-central` played all
episodes, those of the others ended as soon as their gap was 0: in the first equilibrium, where playing on may have
found a better one. Half of the games ("held-out") were not used to choose settings, with three exceptions: rules of
`model-independent` and `portfolio` were chosen on GoodState and BoxPushing of any horizon, the 100 episodes below on
all games, and five held-out games were looked at while `model-independent` was designed ([which](limits.md)).

![gap and welfare against episodes](figures/classes.png)

Left: the geometric mean over the games (gaps below 0.01 % count as that). Right: the median over the games that have a
best welfare.

{summary}

"Below 3 %" counts runs whose answer was there at some row of its curve. The last but one column is the geometric mean
over games on which at least one of both arrived, where a run that did not arrive counts as {episodes:,} episodes: it
understates differences.

## The portfolio beside the better of its members

How many times as many episodes as the better of `adaptive-v-cce` and `model-independent` the portfolio takes, by the
same seed (up to {turns_episodes:,} episodes; a run that had not arrived counts as that). A member draws in the
portfolio what it draws alone. When this was measured, `model-independent` had the first 100 episodes, `adaptive-v-cce`
the next 100, and then every other; today turns have 100 episodes. So the factor is at most 2 by construction, but where
`adaptive-v-cce` arrives within 100 episodes and `model-independent` later, and up to a tenth where the last row of a
member's curve is no row of the portfolio's. The 100 are one of seven values that were compared on all of these games
(1,000 would be a little faster on average, and up to seven times as slow as the better member). The answer may be
another candidate: one that is worth more, whose gap is
within 2 % of uniform play's of the smallest.

{turns}

## Soccer

OpenSpiel's `markov_soccer` (1,445 states, 5×5 actions, zero-sum) after 100,000 episodes, in % of uniform play's gap, by
seeds. It was looked at while designing all of them, and is not in the figures above.

| learner | H = 10 | H = 30 |
|---|---|---|
| adaptive-v-cce | 48 | 97 |
| model-independent | 31, 32, 32, 33, 34 | 53, 57, 59 |
| model-central | 3.2, 1.1, 1.9, 3.4, 2.0 | 2.1 |

## Game by game

Episodes to 10 / 3 / 1 % (geometric mean over seeds; ">" where a seed had not arrived), and the way to the
best welfare after {episodes:,} episodes.

{by_game}

This page is written by `python benchmarks/classes.py`; do not edit it by hand.
"""


def count_runs(store: Store, learner: str) -> str:
    """Return how many seeds there are of a learner, and of how many games."""
    counts = [len(runs) for name in GAMES if (runs := store.runs(learner, name))]
    seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    return f"{seeds} on {len(counts)}"


def report(store: Store) -> None:
    """Write the page and its figure."""
    plot(store, DOCS / "figures" / "classes.png", FIRST)
    most = max(len(store.runs(learner, name)) for learner in LEARNERS for name in GAMES)
    text = TEXT.format(
        episodes=EPISODES,
        seeds="one seed" if most == 1 else f"up to {most} seeds",
        counts=", ".join(f"`{learner}` {count_runs(store, learner)}" for learner in LEARNERS),
        games=len(GAMES),
        summary="\n".join(summary(store)),
        by_game="\n".join(by_game(store)),
        turns="\n".join(turns(store)),
        turns_episodes=TAKING_TURNS,
    )
    (DOCS / "classes.md").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=LEARNERS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = Store(DOCS / "classes.json")
    for seed in range(0 if options.report else options.seeds):
        for name, entry in GAMES.items():
            game = entry.make()
            if f"welfare | {name}" not in store.held:
                policies = tacit.MarkovPolicy.uniform(game), tacit.solve(game, "optimum").policy
                store.put(
                    f"welfare | {name}", [float(tacit.evaluate(game, one, gap="cce").values.sum()) for one in policies]
                )
            for learner in options.only or LEARNERS:
                key = f"{learner} | {name} | {seed}"
                if key in store.held:
                    continue
                try:
                    found = measure(game, learner, seed)
                except tacit.TacitError as error:
                    found = {"refused": str(error)}
                store.put(key, found)
                print(key, found, flush=True)
    report(store)


if __name__ == "__main__":
    main()
