"""`tacit reproduce`: what can be reproduced of the paper today."""

from __future__ import annotations

import argparse
from typing import Any

from rich.table import Table

from tacit.cli import options
from tacit.evaluation import evaluate, solve
from tacit.games import make
from tacit.policies import MarkovPolicy

TASKS = ("matrix-team", "good-state", "box-pushing")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help="the paper's tasks with their exact reference values",
        description="Print the exact reference values of the paper's tasks; learners and figures are still to come.",
    )
    parser.add_argument("--quick", action="store_true", help="the quick form (for now the only one)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the exact values of the paper's tasks."""
    table = Table("task", "optimum", "uniform play", "nash gap of uniform play", box=None, pad_edge=False)
    for name in TASKS:
        game = make(name)
        play = evaluate(game, MarkovPolicy.uniform(game))
        table.add_row(name, f"{solve(game).values[0]:.4f}", f"{play.values[0]:.4f}", f"{play.gap:.4f}")
    out = options.console()
    out.print(table)
    out.print("These are the tasks of the paper, solved exactly. Its learners and figures are not implemented yet.")
    return 0
