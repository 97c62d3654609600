"""`tacit games`: the registered games as a table."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rich.table import Table

from tacit.cli import options
from tacit.core.errors import brief
from tacit.core.registry import told
from tacit.games import REGISTRY
from tacit.games.exact import check_exact
from tacit.games.tabular import times


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("games", help="list the games that can be named, with their parameters")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    rows = [row for name in list(REGISTRY) if (row := _row(name)) is not None]
    if args.json:
        options.print_json({"games": rows})
        return 0
    table = Table(
        "game", "agents", "states", "actions", "horizon", "parameters", "what it is", box=None, pad_edge=False
    )
    for row in rows:
        parameters = " ".join(f"{key}={value}" for key, value in row["parameters"].items())
        sizes = [str(row[key]) for key in ("agents", "states")]
        table.add_row(
            row["name"], *sizes, times(tuple(row["actions"])), str(row["horizon"]), parameters, row["summary"]
        )
    options.console().print(table)
    return 0


def _row(name: str) -> dict[str, Any] | None:
    """Return what there is to say of a game; None for a plugin that does not make one."""
    try:
        game = REGISTRY.make(name)
        check_exact(game)
    except Exception as error:
        REGISTRY.leave_out(name, told(error))
        return None
    return {
        "name": name,
        "agents": game.agents,
        "states": game.states,
        "actions": list(game.actions),
        "horizon": game.horizon,
        "reward_range": list(game.reward_range),
        "parameters": {key: _shown(default) for key, default in REGISTRY.parameters(name).items()},
        "summary": REGISTRY.summary(name),
    }


def _shown(default: Any) -> Any:
    """Return a default as JSON has it, or shown in words."""
    try:
        json.dumps(default, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return brief(default)
    return default
