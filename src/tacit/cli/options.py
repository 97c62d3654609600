"""What several commands share: `key=value` options, and printing one JSON document."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console

from tacit.core.errors import TacitError
from tacit.games import TabularGame, from_name_or_file

GAME_HELP = (
    "a name from `tacit games`; a game file (.npz, .dpomdp, .nfg); openspiel:NAME(ARGS); or gymnasium:ID with a "
    "transition table, e.g. gymnasium:FrozenLake-v1"
)


def add_game(parser: argparse.ArgumentParser) -> None:
    """Add the GAME argument and its `--game-set`."""
    parser.add_argument("game", metavar="GAME", help=GAME_HELP)
    parser.add_argument(
        "--game-set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a parameter of the game, e.g. horizon=5 or actions=[2,3]; may be given several times",
    )


def game_of(args: argparse.Namespace) -> TabularGame:
    """Make the game that the command line names."""
    game = from_name_or_file(args.game, **settings("--game-set", args.game_set))
    for note in game.notes:
        print("tacit:", note, file=sys.stderr)
    return game


def settings(option: str, pairs: Iterable[str]) -> dict[str, Any]:
    """Read `key=value` pairs; a value is JSON where it can be, otherwise a word.

    >>> settings("--set", ["slip=0.1", "start=uniform", "stationary=true"])
    {'slip': 0.1, 'start': 'uniform', 'stationary': True}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key or not equals:
            raise TacitError(
                f"{option} {pair!r} is not KEY=VALUE, e.g. {'horizon=5' if option == '--game-set' else 'bonus=0.1'}"
            )
        if key in found:
            raise TacitError(f"{option} gives {key!r} twice; give it once")
        try:
            found[key] = {"True": True, "False": False, "None": None}[text] if text in _PYTHON else json.loads(text)
        except ValueError:
            found[key] = text
    return found


_PYTHON = ("True", "False", "None")


def print_json(document: dict[str, Any]) -> None:
    """Print exactly one JSON document on stdout."""
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def console() -> Console:
    """Return a console on stdout; where that is not a terminal, lines are wide instead of folded."""
    return _Console(width=None if sys.stdout.isatty() else 200, highlight=False)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # the main program ends quietly; rich would exit with 1
