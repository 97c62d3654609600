"""A crowd that learns with proof: certified gap against the number of agents, beside a mean-field policy's.

    python benchmarks/crowd.py [--episodes 2000] [--agents 2,5,…,1000] [--out docs/figures/crowd.png] [--json x.json]

For each number of agents N the agents of `congestion` (3 states, 2 links, 5 steps) learn with `adaptive-v-cce` for the
same number of episodes. Printed are the certified cce gap of what they learned (the best of the certified policies,
"average" and "recent"), as a share of the gap of uniform play, and the exact nash gap of one mean-field table that all
agents play, computed by `npg` with exact gradients on the same game with four times the largest N, where one agent is
almost none.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import tacit
from tacit.figures import COLORS, save_figure, styled

AGENTS = (2, 5, 10, 20, 50, 100, 200, 500, 1000)


def mean_field(agents: int, iterations: int = 300) -> Any:
    """Return the table [H, S, A] that exact natural gradients end with, where all agents begin alike and stay alike."""
    run = tacit.learn(tacit.make("congestion", agents=agents), "npg", episodes=iterations, eta=0.5, points=2)
    return run.last.probs[0]


def measured(agents: int, episodes: int, seed: int, shared: Any, thin: int | None) -> dict[str, Any]:
    """Learn once and return what was reached and what it took."""
    game = tacit.make("congestion", agents=agents)
    began = time.perf_counter()
    run = tacit.learn(game, "adaptive-v-cce", episodes=episodes, seed=seed, points=10, visits_per_stage=thin)
    gaps = {name: run.candidates[name].gap for name in ("average", "recent")}
    uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    field = tacit.evaluate(game, tacit.MarkovPolicy.shared(shared, agents=agents)).gap
    return {
        "agents": agents,
        "gap": min(gaps.values()),
        **{f"gap_{name}": gap for name, gap in gaps.items()},
        "uniform": uniform,
        "share": min(gaps.values()) / uniform,
        "mean_field": field,
        "seconds": run.seconds,
        "wall_seconds": time.perf_counter() - began,
        "peak_MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    }


def speed(sizes: list[int]) -> None:
    """Print the processor's time for one agent's step of learning, without certificate and record."""
    from tacit.engine.fused import FusedEngine
    from tacit.learners import REGISTRY

    print("agents   ns per agent and step")
    episodes, steps = 200, 2_000_000  # as many episodes for all: early rounds of a bandit take longer than late ones
    for agents in sizes:
        game = tacit.make("congestion", agents=agents)
        crowds = max(1, steps // (episodes * agents * game.horizon))
        best = float("inf")
        for _ in range(5):
            taken = 0.0
            for seed in range(crowds):
                engine = FusedEngine(game, REGISTRY.make("adaptive-v-cce"), episodes=2 * episodes, seed=seed)
                engine.advance(episodes)
                began = time.process_time()
                engine.advance(episodes)
                taken += time.process_time() - began
            best = min(best, taken / (crowds * episodes * agents * game.horizon))
        print(f"{agents:6d}   {1e9 * best:.0f}", flush=True)


def figure(rows: list[dict[str, Any]], path: Path, episodes: int) -> None:
    """Draw the gaps against N."""
    with styled():
        drawn = Figure(figsize=(6.4, 4.0))
        ax = drawn.subplots()
        for key, color, line, label in (
            ("uniform", "black", ":", "uniform play (exact nash gap)"),
            ("mean_field", "red", "--s", "one mean-field table for all (exact nash gap)"),
            ("gap", "blue", "-o", f"learned in {episodes} episodes (certified cce gap), 1 seed"),
        ):
            numbers = [row[key] for row in rows]
            ax.loglog([row["agents"] for row in rows], numbers, line, color=COLORS[color], label=label, markersize=4)
        ax.set_xlabel("number of agents")
        ax.set_ylabel("what one agent can gain")
        ax.set_title("congestion: 2 links, 3 states, 5 steps")
        ax.legend()
        save_figure(drawn, path)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--episodes", type=int, default=2000)
    parser.add_argument("--agents", default=",".join(map(str, AGENTS)), help="numbers of agents, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--thin", type=int, help="visits of each stage that are certified; all if not given")
    parser.add_argument("--speed", action="store_true", help="measure the cost of an agent's step instead")
    parser.add_argument("--out", type=Path, help="the figure")
    parser.add_argument("--json", type=Path, help="the numbers")
    args = parser.parse_args()
    sizes = [int(text) for text in args.agents.split(",")]
    if args.speed:
        speed(sizes)
        return
    shared, rows = mean_field(4 * max(sizes)), []
    print("agents   learned   share of uniform   mean field   uniform   s learning   MB")
    for agents in sizes:
        row = measured(agents, args.episodes, args.seed, shared, args.thin)
        rows.append(row)
        print(
            f"{agents:6d}  {row['gap']:8.4f}  {100 * row['share']:15.2f} %  {row['mean_field']:11.4f}"
            f"  {row['uniform']:8.4f}  {row['seconds']:11.1f}  {row['peak_MB']:4.0f}",
            flush=True,
        )
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if args.out:
        figure(rows, args.out, args.episodes)


if __name__ == "__main__":
    main()
