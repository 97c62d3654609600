"""`tacit reproduce`: what can be reproduced of the paper today."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.table import Table

from tacit.cli import options
from tacit.cli.progress import progress_on_stderr
from tacit.evaluation import evaluate, solve
from tacit.games import make
from tacit.policies import MarkovPolicy

TASKS = ("matrix-team", "good-state", "box-pushing")

#: What the paper leaves open about V-learning's step size, three ways; the bonus constant, too, is ours.
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "as printed: η = 1/(5√(AŤ))": ("orange", {"step": 0.2, "bonus": 0.1}),
    "the same on losses in raw units": ("blue", {"step": 0.2, "loss": "raw", "bonus": 0.1}),
    "the theory's: η = √(ι/(AŤ))": ("green", {"step": "theory", "bonus": 0.1}),
}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help="reproduce what there is of the paper: its tasks solved exactly, and V-learning on GoodState",
        description="Solve the paper's tasks exactly, and run V-learning on GoodState with three readings of its step "
        "size. Policy gradients, the benchmarks and the other panels are still to come.",
    )
    parser.add_argument("--quick", action="store_true", help="5 seeds instead of 20")
    parser.add_argument("--out", metavar="DIR", default="results/paper", help="where figures go (results/paper)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the exact values of the paper's tasks, and draw V-learning on GoodState."""
    out = options.console()
    table = Table("task", "optimum", "uniform play", "nash gap of uniform play", box=None, pad_edge=False)
    for name in TASKS:
        game = make(name)
        play = evaluate(game, MarkovPolicy.uniform(game))
        table.add_row(name, f"{solve(game).values[0]:.4f}", f"{play.values[0]:.4f}", f"{play.gap:.4f}")
    out.print("The paper's tasks, solved exactly:")
    out.print(table)
    out.print()
    place = _good_state(Path(args.out), seeds=5 if args.quick else 20)
    out.print(f"figure: {place}")
    out.print("Still to come: policy gradients, the two benchmarks, and the panels of the other tasks.")
    return 0


def _good_state(directory: Path, *, seeds: int) -> Path:
    from matplotlib.figure import Figure

    from tacit.experiments import learn_seeds, summarize
    from tacit.report import COLORS, plot_gap, plot_reward, styled

    game = make("good-state")
    out = options.console()
    table = Table("V-learning on GoodState, 50,000 episodes", "reward", "cce gap at most", box=None, pad_edge=False)
    with styled():
        figure = Figure(figsize=(10, 4))
        left, right = figure.subplots(1, 2)
        for label, (color, params) in SETTINGS.items():
            with progress_on_stderr(label, seeds) as progress:
                batch = learn_seeds(
                    game, "stage-v-cce", episodes=50_000, seeds=range(seeds), progress=progress, keep=False, **params
                )
            if batch.interrupted:
                raise KeyboardInterrupt
            plot_reward(batch.runs, ax=left, label=label, color=COLORS[color])
            plot_gap(batch.runs, ax=right, label=label, color=COLORS[color])
            reward, gap = summarize([one.reward[0] for one in batch.runs]), summarize([one.gap for one in batch.runs])
            table.add_row(label, f"{reward.mean:.2f} ± {reward.std:.2f}", f"{gap.mean:.2f} ± {gap.std:.2f}")
        optimum = solve(game).values[0]
        left.axhline(optimum, color=COLORS["black"], linestyle=":", label=f"centralized optimum {optimum:g}")
        left.set(ylabel="reward in an episode", title="GoodState: reward while learning")
        right.set(ylabel="certified cce gap (upper bound)", title="the same runs: gap of the certified policy")
        left.set_ylim(0, 68)
        left.legend(loc="upper left", fontsize=8)
        directory.mkdir(parents=True, exist_ok=True)
        place = directory / "good-state-v-learning.png"
        figure.savefig(place)
    out.print(table)
    return place
