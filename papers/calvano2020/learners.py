"""Which learners collude? Every learner of the registry on the same market: long-run profit gain and exact gaps.

    python papers/calvano2020/learners.py              a quarter of an hour; writes docs/collusion.json and docs/figures
    python papers/calvano2020/learners.py --draw       the figure again, from the JSON

q-independent plays without resets until its strategies stand still, as in the paper; the others play episodes that end
with probability 1 − δ after each period, 20 periods on average. The profit gain is that of the long run from a random
first state. Gaps are in units of (π_M − π_N)/(1 − δ): "path" is the largest gain in states that are visited in
the long run, "subgame" the largest in any state.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from sessions import BASELINE, STILL
from tacit.evaluation import deviations
from tacit.figures import COLORS, save_figure, styled

ROOT = Path(__file__).parents[2]
PAGE, FIGURE = ROOT / "docs/collusion.json", ROOT / "docs/figures/collusion.png"

#: Episodes, or iterations of exact gradients, and seconds at most.
EPISODES, ITERATIONS, SECONDS = 100_000, 200, 25.0

#: Seeds of learners that differ much between seeds; others have one.
SEEDS = {"model-independent": 10, "q-independent": 10}

#: Where a state counts as visited in the long run.
VISITED = 1e-3


def long_run(game: Any, policy: Any, periods: int = 400) -> tuple[Any, Any]:
    """Return how often each state is visited in the long run, from a random one, and each firm's mean profit there."""
    rows = [probs[0] for probs in policy.probs]
    joint = np.einsum("sa,sb->sab", *rows).reshape(game.states, -1)
    state = np.full(game.states, 1.0 / game.states)
    visits = np.zeros(game.states)
    for t in range(2 * periods):  # the next state is the joint action
        if t >= periods:
            visits += state / periods
        state = state @ joint
    paid = game.rewards[:, 0, 0].reshape(game.agents, -1)
    return visits, (visits @ joint) @ paid.T


def measure(game: Any, policy: Any) -> dict[str, float]:
    """Return the profit gain and the gaps of a policy."""
    visits, profits = long_run(game, policy)
    best = deviations(game, policy, "nash")
    gains = (best.best - best.V)[:, 0]
    unit = float((game.market.monopoly_profits - game.market.nash_profits).mean()) / (1 - game.discount)
    return {
        "profit_gain": game.market.profit_gain(profits),
        "path_gap": float(gains[:, visits > VISITED].max()) / unit,
        "subgame_gap": float(gains.max()) / unit,
        "pure": float(np.mean([probs.max(axis=-1) > 1 - 1e-9 for probs in policy.probs])),
    }


def play(game: Any, name: str, seed: int) -> Any:
    """Let a learner play."""
    if name == "q-independent":
        options: dict[str, Any] = {"periods": 10**9, "still": STILL, "certify": False, **BASELINE}
        return tacit.learn(game, name, seed=seed, **options)
    exact = "tables" in tacit.learners.REGISTRY.make(name).info.needs and name != "portfolio"
    options = {"episodes": ITERATIONS if exact else EPISODES, "seconds": SECONDS, "points": 5, "keep": False}
    return tacit.learn(game, name, seed=seed, **options)


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw profit gain and gap of each learner."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        ax = figure.subplots()
        for k, name in enumerate(dict.fromkeys(row["learner"] for row in rows)):
            own = [row for row in rows if row["learner"] == name]
            color = list(COLORS.values())[k % len(COLORS)]
            x, y = [row["profit_gain"] for row in own], [max(row["path_gap"], 0.0) for row in own]
            ax.plot(x, y, "o" if k < len(COLORS) else "s", color=color, ms=5, label=name)
        ax.set_yscale("symlog", linthresh=1e-3)
        ax.axvline(0, color=COLORS["black"], lw=0.8, ls=":")
        ax.axvline(1, color=COLORS["black"], lw=0.8, ls=":")
        ax.set(xlabel="profit gain Δ (0 competition, 1 cartel)", ylabel="gain of a best response on the path")
        ax.set_ylim(bottom=-2e-4)
        figure.legend(loc="outside right upper", fontsize=8)
        save_figure(figure, FIGURE)


def main() -> int:
    """Play, measure, store and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="draw the figure from docs/collusion.json")
    args = parser.parse_args()
    if args.draw:
        draw(json.loads(PAGE.read_text()))
        return 0
    warnings.simplefilter("ignore")
    game = tacit.make("pricing")
    uniform = measure(game, tacit.MarkovPolicy.uniform(game))
    rows: list[dict[str, Any]] = [{"learner": "uniform policy", "seed": 0, "episodes": 0, **uniform}]
    if PAGE.is_file():
        rows = json.loads(PAGE.read_text())  # remove the file to begin anew
    done = {(row["learner"], row["seed"]) for row in rows}
    for name in tacit.learners.REGISTRY:
        for seed in range(SEEDS.get(name, 1)):
            began = time.time()
            if (name, seed) in done:
                continue
            try:
                run = play(game, name, seed)
            except tacit.TacitError as error:  # it is not made for such games
                print(f"{name}: {error}", flush=True)
                break
            row = {"learner": name, "seed": seed, "episodes": run.episodes, **measure(game, run.policy)}
            rows.append(row)
            print({**row, "seconds": round(time.time() - began)}, flush=True)
            PAGE.write_text(json.dumps(rows, indent=1) + "\n")
    draw(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
