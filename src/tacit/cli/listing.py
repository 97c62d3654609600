"""`tacit games` and `tacit learners`: what can be named, as tables."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

import docstring_parser
from rich.table import Table
from rich.text import Text

from tacit.cli import options
from tacit.core.display import printable, times
from tacit.core.errors import brief, sentence
from tacit.core.registry import Registry
from tacit.games import REGISTRY
from tacit.games.exact import check_exact


def add_games(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")


def run_games(args: argparse.Namespace) -> int:
    """Print the table."""
    rows = [row for name in list(REGISTRY) if (row := _game_row(name)) is not None]
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


def _game_row(name: str) -> dict[str, Any] | None:
    """Return what there is to say of a game; None for a plugin that does not make one."""
    try:
        game = REGISTRY.make(name)
        check_exact(game)
    except Exception as error:
        REGISTRY.leave_out(name, sentence(error))
        return None
    return {
        "name": name,
        "agents": game.agents,
        "states": game.states,
        "actions": list(game.actions),
        "horizon": game.horizon,
        "reward_range": list(game.reward_range),
        "parameters": {key: _plain_default(default) for key, default in REGISTRY.parameters(name).items()},
        "summary": REGISTRY.summary(name),
    }


def _plain_default(default: Any) -> Any:
    """Return a default as JSON has it, or shown in words."""
    try:
        json.dumps(default, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return brief(default)
    return default


def add_learners(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")


def run_learners(args: argparse.Namespace) -> int:
    """Print them, one after the other."""
    from tacit import bandits, learners  # import the compiler

    found = {"learners": _rows(learners.REGISTRY), "bandits": _rows(bandits.REGISTRY)}
    if args.json:
        options.print_json(found)
        return 0
    out = options.console()
    for kind, rows in found.items():
        out.print(Text(kind, style="bold"), end="\n\n")
        for row in rows:
            out.print(Text.assemble((printable(row["name"]), "bold"), ": ", printable(row["summary"])))
            out.print(_table(row))
    return 0


def _table(row: Mapping[str, Any]) -> Table:
    """Return a learner's parameters with their defaults and words."""
    table = Table(box=None, show_header=False)
    table.add_column(no_wrap=True)
    for key, default in row["parameters"].items():
        table.add_row(f" {key}={default}", row["words"][key])
    table.add_row()
    return table


def _rows(registry: Registry[Any]) -> list[dict[str, Any]]:
    rows = []
    for name in registry:
        parameters, words = registry.parameters(name), describe(registry.factory(name))
        rows.append(
            {
                "name": name,
                "parameters": {key: _plain(value) for key, value in parameters.items()},
                "words": {key: words.get(key, "") for key in parameters},
                "summary": registry.summary(name),
            }
        )
    return rows


def describe(factory: Callable[..., Any]) -> dict[str, str]:
    """Return what docstrings say of the parameters: of a class and its bases, or of the class that a function makes."""
    made = factory if isinstance(factory, type) else _made(factory)
    sources: list[Any] = [*reversed(inspect.getmro(made)), factory]
    found: dict[str, str] = {}
    for source in sources:
        found |= {key: words for key, words in _section(source.__doc__ or "").items() if words}
    return found


def _made(factory: Callable[..., Any]) -> type:
    """Return the class that a function says it makes, or `object`."""
    try:
        hint = get_type_hints(factory).get("return")
    except Exception:  # hints of another package that name what is not there
        return object
    return hint if isinstance(hint, type) else object


def _section(doc: str) -> dict[str, str]:
    """Read the parameters of a numpydoc docstring.

    >>> _section('''Move.
    ...
    ... Parameters
    ... ----------
    ... x, y : float
    ...     How far,
    ...     in metres.
    ... ''')
    {'x': 'How far, in metres.', 'y': 'How far, in metres.'}
    """
    found = docstring_parser.parse(doc, docstring_parser.DocstringStyle.NUMPYDOC).params
    words = {param.arg_name: " ".join((param.description or "").split()) for param in found}
    return {name.strip(): text for names, text in words.items() for name in names.split(",")}


def _plain(default: Any) -> Any:
    """Show a default that is made anew for each use as "default"."""
    return default if isinstance(default, str | int | float | bool | type(None)) else "default"
