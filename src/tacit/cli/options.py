"""What several commands share: `key=value` options, and printing.

All that a command prints goes through here: `tell` for sentences on stderr, `console` for text and `print_json` for
documents on stdout. Each shows what users and files say as it is; see `core/display.py`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from tacit.core import check
from tacit.core.display import Document, printable, printable_json
from tacit.core.errors import TacitError, brief
from tacit.games import from_name_or_file
from tacit.options import FIELDS, check_option

GAME_HELP = (
    "a name from `tacit games`; atlas/NAME; a game file (.npz, .dpomdp, .nfg, .efg, .prism); openspiel:NAME(ARGS); "
    "or gymnasium:ID with a transition table, e.g. gymnasium:FrozenLake-v1"
)


def describe(parser: argparse.ArgumentParser, description: str, epilog: str = "") -> None:
    """Say what a command does, and add examples, whose lines are kept as they are."""
    parser.description, parser.epilog = description, epilog or None
    if epilog:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter


def add_many(parser: argparse.ArgumentParser, option: str, metavar: str, help: str, **more: Any) -> None:
    """Add an option that may be given several times."""
    parser.add_argument(option, metavar=metavar, action="append", **{"default": [], "help": help, **more})


def add_game(parser: argparse.ArgumentParser, more: str = "", **words: Any) -> None:
    """Add the GAME argument, which may be `more` than a game too, and its `--game-set`."""
    parser.add_argument("game", metavar="GAME", help=GAME_HELP + more)
    told = "a parameter of the game, e.g. horizon=5 or actions=[2,3]; may be given several times"
    add_many(parser, "--game-set", "KEY=VALUE", told, **words)
    told = "a discount below 1 instead of a horizon: the same as --game-set discount=G"
    add_many(parser, "--discount", "G", told, dest="game_set", type=_as_setting, **words)


def _as_setting(discount: str) -> str:
    """Return a discount as a setting of the game, in JSON's numbers.

    >>> _as_setting(".9")
    'discount=0.9'
    """
    try:
        return f"discount={float(discount)!r}"
    except ValueError:
        return f"discount={discount}"


def add_import(parser: argparse.ArgumentParser) -> None:
    """Add `--import`."""
    told = "run this script first, to make games, learners and bandits of your own known; may be repeated"
    add_many(parser, "--import", "FILE.py", told, dest="scripts")


def add_named(parser: argparse.ArgumentParser) -> None:
    """Add `--game`, which allows code that results name."""
    told = "allow the Python code of this game, which the results name; without it no code that they name is run"
    add_many(parser, "--game", "GAME", told)


def add_seconds(parser: argparse.ArgumentParser) -> None:
    """Add `--seconds`, of what is computed from a policy."""
    parser.add_argument(
        "--seconds",
        metavar="T",
        type=float,
        default=60.0,
        help="leave out, of each policy, what would take longer than this by an estimate (60)",
    )


def game_of(args: argparse.Namespace, *, tell_notes: bool = True) -> Any:
    """Make the game that the command line names."""
    game = from_name_or_file(args.game, **settings("--game-set", args.game_set))
    for note in game.notes if tell_notes else ():
        tell(note)
    return game


def check_counts(args: argparse.Namespace, **least: int) -> None:
    """Check options that are whole numbers, where they are given."""
    for name, low in least.items():
        if getattr(args, name) is not None:
            check.integer(f"--{name}", getattr(args, name), least=low)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `tacit.learn` is asked for beside the game and the learner; what is not given is None."""
    for name, one in FIELDS.items():
        words: dict[str, Any] = {"dest": name, "help": one.metadata["help"]}
        if one.default is True:
            words |= {"action": "store_const", "const": False}
        elif "bool" in str(one.type):
            words |= {"choices": list(_AUTO)}
        else:
            kind = next(
                (of for of in (str, float) if of.__name__ in str(one.type)), int
            )  # text is checked with the rest
            words |= {"metavar": one.metadata["metavar"], "type": kind}
        old = [f"--{one.metadata['old']}"] if one.metadata["old"] else []
        parser.add_argument(flag(name), *old, **words)


_AUTO = {"auto": None, "yes": True, "no": False}


def flag(name: str) -> str:
    """Return how an option is called on the command line.

    >>> flag("visits_per_stage"), flag("keep")
    ('--visits-per-stage', '--no-keep')
    """
    return f"--{'no-' if FIELDS[name].default is True else ''}{name.replace('_', '-')}"


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return those of the options of a run that were given, checked under the names that they have here."""
    given = {name: getattr(args, name, None) for name in FIELDS}
    return {
        name: check_option(name, _AUTO.get(value, value), flag(name))
        for name, value in given.items()
        if value is not None
    }


def settings(option: str, pairs: Iterable[str]) -> dict[str, Any]:
    """Read `key=value` pairs; a value is JSON where it can be, otherwise a word.

    >>> settings("--set", ["slip=0.1", "start=uniform", "stationary=true"])
    {'slip': 0.1, 'start': 'uniform', 'stationary': True}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key or not equals:
            example = "horizon=5" if option == "--game-set" else "bonus=0.1"
            raise TacitError(f"{option} {brief(pair)} is not KEY=VALUE, e.g. {example}")
        if key in found:
            raise TacitError(f"{option} gives {brief(key)} twice; give it once")
        try:
            found[key] = {"True": True, "False": False, "None": None}[text] if text in _PYTHON else json.loads(text)
        except ValueError:
            found[key] = text
        except RecursionError:
            raise TacitError(f"{option} gives {brief(key)} a value that is nested too deeply") from None
    return found


_PYTHON = ("True", "False", "None")

#: Characters of a sentence beyond which it is cut; a path may have 4096.
_LONGEST = 6000


def print_json(document: dict[str, Any]) -> None:
    """Print exactly one JSON document on stdout."""
    sys.stdout.write(printable_json(finite(document)) + "\n")


def finite(value: Any) -> Any:
    """Replace what JSON cannot hold: infinities and what is undefined become null."""
    match value:
        case dict():
            return {key: finite(part) for key, part in value.items()}
        case list() | tuple():
            return [finite(part) for part in value]
        case float() if not math.isfinite(value):
            return None
    return value


def say(*lines: str) -> None:
    """Print lines of text on stdout, an empty one if none is given."""
    for line in lines or ("",):
        console().print(line, soft_wrap=True)


def tell(sentence: object) -> None:
    """Print one sentence on stderr."""
    print("tacit:", printable(sentence, _LONGEST), file=sys.stderr, flush=True)


def print_document(document: Document) -> None:
    """Print a document: drawn on a terminal, plain text elsewhere."""
    out = console()
    if out.is_terminal:
        out.print(document)
    else:
        out.print(Text(str(document)), soft_wrap=True)


def console() -> Console:
    """Return a console on stdout; where that is not a terminal, lines are wide instead of folded."""
    return _Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False, emoji=False)


class _Console(Console):
    """A console that shows text as it is; only `rich.text.Text` has a style."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a string into text, of cells too."""
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # the main program ends quietly; rich would exit with 1
