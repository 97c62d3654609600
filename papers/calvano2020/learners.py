"""Which learners collude? Every learner of the registry on the same market, and those that play on in other markets.

    python papers/calvano2020/learners.py          writes docs/collusion.json, learners.md and the figure
    python papers/calvano2020/learners.py --draw   the page and the figure again, from the JSON

Learners that can play without resets do so: q-independent until its strategies stand still, as in the paper, the others
for two million periods. The rest play episodes that end with probability 1 − δ after each period, 20 periods on
average. The profit gain is that of the long run from a random first state. Gaps are in units of
(π_M − π_N)/(1 − δ): "path" is the largest gain in states that are visited in the long run, "subgame" in any state.
Of a correlated policy each firm's own part is measured. Runs are stored as they end: interrupt it and run the same
command to resume.
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
STORE, PAGE = ROOT / "docs/collusion.json", Path(__file__).with_name("learners.md")
FIGURE = ROOT / "docs/figures/collusion.png"

#: Periods without resets; otherwise episodes, or iterations of exact gradients; and seconds at most.
PERIODS, EPISODES, ITERATIONS, SECONDS = 2_000_000, 100_000, 200, 60.0

#: Seeds of learners that differ much between seeds; others have one.
SEEDS = {"model-independent": 5, "model-independent in episodes": 10, "q-independent": 10}

#: Where a state counts as visited in the long run.
VISITED = 1e-3

MAIN = "15 prices"

#: Other markets for learners that play without resets, and their periods.
MARKETS: dict[str, dict[str, Any]] = {
    MAIN: {},
    "9 prices": {"prices": 9},
    "δ = 0.8": {"prices": 9, "discount": 0.8},
    "δ = 0.99": {"prices": 9, "discount": 0.99},
    "hidden prices": {"prices": 9, "memory": 0},
    "three firms": {"prices": 5, "firms": 3},
}
SHORT = 500_000

#: Learners that are far from the uniform policy by then.
OTHERS = ("wolf-phc", "model-independent", "pg-adaptive", "ogda sampled")


def long_run(game: Any, policy: Any, periods: int = 400) -> tuple[Any, Any]:
    """Return how often each state is visited in the long run, from a random one, and each firm's mean profit there."""
    rows = [probs[0] for probs in policy.probs]
    state, visits = np.full(game.states, 1.0 / game.states), np.zeros(game.states)
    for t in range(2 * periods):
        if t >= periods:
            visits += state / periods
        state = game.push(0, rows, state)
        state /= state.sum()  # without the discount
    paid = game.payoffs(0, rows, None)
    return visits, np.array([visits @ (own * paid[i, :, : own.shape[1]]).sum(axis=1) for i, own in enumerate(rows)])


def measure(game: Any, policy: Any) -> dict[str, Any]:
    """Return the profit gain, each firm's, and the gaps of a policy."""
    visits, profits = long_run(game, policy)
    best = deviations(game, policy, "nash")
    gains = (best.best - best.V)[:, 0]
    nash, cartel = game.market.nash_profits, game.market.monopoly_profits
    unit = float((cartel - nash).mean()) / (1 - game.discount)
    return {
        "profit_gain": game.market.profit_gain(profits),
        "each": ((profits - nash) / (cartel - nash)).round(4).tolist(),
        "path_gap": float(gains[:, visits > VISITED].max()) / unit,
        "subgame_gap": float(gains.max()) / unit,
        "pure": float(np.mean([probs.max(axis=-1) > 1 - 1e-9 for probs in policy.probs])),
    }


def make(name: str) -> Any:
    """Return a learner by its name, "sampled" for gradients from play."""
    kind, _, more = name.partition(" ")
    params: dict[str, Any] = {"gradient": "sampled"} if more == "sampled" else {}
    return tacit.learners.REGISTRY.make(kind, **(BASELINE if kind == "q-independent" else params))


def play(game: Any, name: str, seed: int, market: str) -> Any:
    """Let a learner play, or one against another."""
    first, _, second = name.partition(" against ")
    learner = [make(first), make(second)] if second else make(first)
    options: dict[str, Any] = {"seed": seed, "seconds": SECONDS, "points": 5, "keep": False}
    if name == "q-independent":
        return tacit.learn(game, learner, periods=10**9, still=STILL, certify=False, seed=seed)
    if second or (learner.endless and not name.endswith(" in episodes")):
        return tacit.learn(game, learner, periods=PERIODS if market == MAIN or second else SHORT, **options)
    exact = "tables" in learner.info.needs and name != "portfolio"
    return tacit.learn(game, learner, episodes=ITERATIONS if exact else EPISODES, **options)


def list_names() -> list[str]:
    """Return every learner of the registry, and those of gradients from play beside those of exact ones."""
    names = []
    for name in tacit.learners.REGISTRY:
        learner = tacit.learners.REGISTRY.make(name)
        names += [name] + ([f"{name} sampled"] if getattr(learner, "gradient", "") == "exact" else [])
    return [*names, "model-independent in episodes"]


def list_runs() -> list[tuple[str, str, int]]:
    """Return the market, learner and seed of every run."""
    names = list_names()
    runs = [(MAIN, name, seed) for name in names for seed in range(SEEDS.get(name, 1))]
    runs += [("9 prices", f"q-independent against {other}", seed) for other in OTHERS for seed in range(3)]
    some = ("q-independent", *OTHERS)
    return [*runs, *((market, name, seed) for market in [*MARKETS][1:] for name in some for seed in range(3))]


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw profit gain and gap of each learner."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(7.2, 5.0), layout="constrained")
        ax = figure.subplots()
        colors = [color for name, color in COLORS.items() if name != "black"]
        for k, name in enumerate(dict.fromkeys(row["learner"] for row in rows)):
            runs = [row for row in rows if row["learner"] == name]
            x, y = [row["profit_gain"] for row in runs], [max(row["path_gap"], 0.0) for row in runs]
            ax.plot(x, y, "osD^v"[k // len(colors) % 5], color=colors[k % len(colors)], ms=5, label=name)
        ax.set_yscale("symlog", linthresh=1e-3)
        ax.axvline(0, color=COLORS["black"], lw=0.8, ls=":")
        ax.axvline(1, color=COLORS["black"], lw=0.8, ls=":")
        ax.set(xlabel="profit gain Δ (0 competition, 1 cartel)", ylabel="gain of a best response on the path")
        ax.set_ylim(bottom=-2e-4)
        figure.legend(loc="outside right upper", fontsize=7)
        save_figure(figure, FIGURE)


def page(rows: list[dict[str, Any]]) -> str:
    """Return the tables of the page."""

    def cells(some: list[dict[str, Any]]) -> str:
        if not some:
            return "–"
        gain, gap = ([row[name] for row in some] for name in ("profit_gain", "path_gap"))
        return f"{np.mean(gain):.2f}, {np.mean(gap):.2f}, {sum(one < 1e-7 for one in gap)}"

    def pick(market: str, name: str) -> list[dict[str, Any]]:
        return [row for row in rows if (row["market"], row["learner"]) == (market, name)]

    names = list(dict.fromkeys(row["learner"] for row in rows if row["market"] == MAIN))
    lines = [
        "| learner | seeds | played | profit gain | path gap | least | subgame gap |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in names:
        some = pick(MAIN, name)
        gaps = [row["path_gap"] for row in some]
        played = f"{np.mean([row['episodes'] for row in some]):,.0f} {some[0]['unit']}"
        numbers = [np.mean([row["profit_gain"] for row in some]), np.mean(gaps), min(gaps)]
        numbers += [np.mean([row["subgame_gap"] for row in some])]
        lines.append(f"| `{name}` | {len(some)} | {played} | " + " | ".join(f"{x:.3f}" for x in numbers) + " |")
    lines += [
        "",
        "Means of three seeds in other markets, without resets: profit gain, path gap, and seeds in equilibrium on the "
        "path. Nine prices, five with three firms.",
        "",
    ]
    markets = [market for market in MARKETS if market != MAIN]
    lines += [f"| learner | {' | '.join(markets)} |", "|---" * (1 + len(markets)) + "|"]
    for name in names:
        if any(pick(market, name) for market in markets):
            lines.append(f"| `{name}` | " + " | ".join(cells(pick(market, name)) for market in markets) + " |")
    lines += [
        "",
        "`q-independent` against another kind, with nine prices: each firm's profit gain, and the path gap.",
        "",
        "| rival | `q-independent` | rival's | path gap |",
        "|---|---|---|---|",
    ]
    for other in OTHERS:
        some = pick("9 prices", f"q-independent against {other}")
        numbers = [*np.mean([row["each"] for row in some], axis=0), np.mean([row["path_gap"] for row in some])]
        lines.append(f"| `{other}` | " + " | ".join(f"{x:.2f}" for x in numbers) + " |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Play, measure, store and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="the page and the figure again, from docs/collusion.json")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = json.loads(STORE.read_text()) if STORE.is_file() else []
    if not args.draw:
        warnings.simplefilter("ignore")
        learn_all(rows)
    draw([row for row in rows if row["market"] == MAIN])
    PAGE.write_text(page(rows))
    return 0


def learn_all(rows: list[dict[str, Any]]) -> None:
    """Add the runs that are not stored yet; remove the file to begin anew."""
    done = {(row["market"], row["learner"], row["seed"]) for row in rows}
    if not done:
        game = tacit.make("pricing")
        uniform = measure(game, tacit.MarkovPolicy.uniform(game))
        rows.append(
            {"market": MAIN, "learner": "uniform policy", "seed": 0, "unit": "episodes", "episodes": 0, **uniform}
        )
    refused = set()
    for market, name, seed in list_runs():
        if (market, name, seed) in done or (market, name) in refused:
            continue
        began, game = time.time(), tacit.make("pricing", **MARKETS[market])
        try:
            run = play(game, name, seed, market)
        except tacit.TacitError as error:  # it is not made for such games
            print(f"{name}: {error}", flush=True)
            refused.add((market, name))
            continue
        facts = {"market": market, "learner": name, "seed": seed, "unit": run.unit, "episodes": run.episodes}
        policy = run.policy if run.policy.product else run.policy.as_product()
        rows.append({**facts, **measure(game, policy)})
        print({**rows[-1], "seconds": round(time.time() - began)}, flush=True)
        STORE.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
