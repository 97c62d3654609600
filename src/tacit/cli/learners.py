"""`tacit learners`: the registered learners and bandits as a table."""

from __future__ import annotations

import argparse
from typing import Any

from rich.table import Table

from tacit.cli import options
from tacit.core.registry import Registry


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("learners", help="list the learners and bandits that can be named, with parameters")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the tables."""
    from tacit import bandits, learners  # import the compiler

    found = {"learners": _rows(learners.REGISTRY), "bandits": _rows(bandits.REGISTRY)}
    if args.json:
        options.print_json(found)
        return 0
    out = options.console()
    for kind, rows in found.items():
        table = Table(kind[:-1], "parameters", "what it is", box=None, pad_edge=False)
        for row in rows:
            parameters = " ".join(f"{key}={value}" for key, value in row["parameters"].items())
            table.add_row(row["name"], parameters, row["summary"])
        out.print(table)
        out.print()
    return 0


def _rows(registry: Registry[Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "parameters": {key: _plain(value) for key, value in registry.parameters(name).items()},
            "summary": registry.summary(name),
        }
        for name in registry
    ]


def _plain(default: Any) -> Any:
    """Show a default that is made anew for each use as "default"."""
    return default if isinstance(default, str | int | float | bool | type(None)) else "default"
