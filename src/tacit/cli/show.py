"""`tacit show`: a game in tables and words."""

from __future__ import annotations

import argparse
from typing import Any

from tacit.cli import options


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "show",
        help="show a game: payoffs by state, transitions in words, agents and horizon",
        description="Show a game: payoffs by state with the names of actions, and what leads where. Of large games "
        "the first states are shown; --state picks one, --all shows everything.",
        epilog="examples:\n  tacit show chicken\n  tacit show good-state --game-set horizon=3\n"
        "  tacit show box-pushing --state s1N4N\n  tacit show rock.nfg --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_game(parser)
    parser.add_argument("--state", metavar="STATE", help="this state alone, by its name or number")
    parser.add_argument("--step", metavar="H", type=int, help="which step, where steps differ (0)")
    parser.add_argument("--all", action="store_true", help="all states and all joint actions")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Make the game and print it."""
    game = options.game_of(args, tell_notes=args.json)  # the table has the notes
    state = args.state
    if state is not None and state.isdigit() and state not in (getattr(game, "state_names", None) or ()):
        state = int(state)
    shown = game.show(state=state, step=args.step, limit=None if args.all else 6)
    if args.json:
        options.print_json({**shown.data, "game": args.game, "name": game.name})
        return 0
    options.print_document(shown)
    return 0
