"""What several commands share: `key=value` options, printing, and progress on stderr.

All that a command prints goes through here: `tell` for sentences on stderr, `console` for text and `print_json` for
documents on stdout. Each shows what users and files say as it is; see `core/display.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tacit.core import check
from tacit.core.display import Document, printable, printable_json
from tacit.core.errors import TacitError, brief
from tacit.games import from_name_or_file
from tacit.options import FIELDS, check_option

if TYPE_CHECKING:
    from tacit.experiments import Progress as RunProgress

GAME_HELP = (
    "a name from `tacit games`; atlas/NAME; a game file (.npz, .dpomdp, .nfg); openspiel:NAME(ARGS); "
    "or gymnasium:ID with a transition table, e.g. gymnasium:FrozenLake-v1"
)


def describe(parser: argparse.ArgumentParser, description: str, epilog: str = "") -> None:
    """Say what a command does, and add examples, whose lines are kept as they are."""
    parser.description, parser.epilog = description, epilog or None
    if epilog:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter


def add(
    parser: Any, what: str, help: str, default: Any = None, *, kind: Callable[[str], Any] | None = None, **more: Any
) -> None:
    """Add an argument: "GAME", "-o --out FILE", or "--json", an option without a value.

    What is given is of the `kind` of the default, or a word.
    """
    words = what.split()
    flags = [word for word in words if word.startswith("-")]
    if flags == words and "choices" not in more:
        parser.add_argument(*flags, action="store_true", help=help, **more)
        return
    metavar = {} if flags == words else {"metavar": words[-1]}
    kind = kind or (str if default is None else type(default))
    kind = whole if kind is int else kind
    parser.add_argument(*(flags or [what.lower()]), type=kind, default=default, help=help, **metavar, **more)


def add_many(parser: argparse.ArgumentParser, option: str, metavar: str, help: str, **more: Any) -> None:
    """Add an option that may be given several times."""
    parser.add_argument(option, metavar=metavar, action="append", **{"default": [], "help": help, **more})


def add_game(parser: argparse.ArgumentParser, more: str = "", **words: Any) -> None:
    """Add the GAME argument, which may be `more` than a game too, and its `--game-set`."""
    add(parser, "GAME", GAME_HELP + more)
    help = "a parameter of the game, e.g. horizon=5, discount=0.95 or actions=[2,3]; may be repeated"
    add_many(parser, "--game-set", "KEY=VALUE", help, **words)


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add directories of stored runs."""
    help = "directories of runs, or of many runs (the --out of a run)"
    parser.add_argument("runs", metavar="RUN_DIR", nargs="+", help=help)


def add_import(parser: argparse.ArgumentParser) -> None:
    """Add `--import`."""
    help = "run this script first, to make games, learners and bandits of your own known; may be repeated"
    add_many(parser, "--import", "FILE.py", help, dest="scripts")


def add_named(parser: argparse.ArgumentParser) -> None:
    """Add `--game`, which allows code that results name."""
    help = "allow the Python code of this game, which the results name; without it no code that they name is run"
    add_many(parser, "--game", "GAME", help)


def add_seconds(parser: argparse.ArgumentParser) -> None:
    """Add `--seconds`, of what is computed from a policy."""
    add(parser, "--seconds T", "leave out, of each policy, what would take longer than this by an estimate (60)", 60.0)


def game_of(args: argparse.Namespace, *, tell_notes: bool = True) -> Any:
    """Make the game that the command line names."""
    game = from_name_or_file(args.game, **settings("--game-set", args.game_set))
    for note in game.notes if tell_notes else ():
        tell(note)
    return game


def add_policy(parser: argparse.ArgumentParser, policy: str, concept: str) -> None:
    """Add `--policy` and `--concept`, which name a policy of the game."""
    add(parser, "--policy FILE", policy)
    add(parser, "--concept C", f"or the solution of `tacit solve`: optimum, cce, ce, nash{concept}")


def policy_of(args: argparse.Namespace, game: Any) -> tuple[Any, str] | None:
    """Return the named policy, of a file or a solution, in words too; or None."""
    if args.policy is not None:
        from tacit import policies

        return policies.load(args.policy), f"Against the policy of {args.policy}."
    if args.concept is None:
        return None
    from tacit.evaluation.solve import solve
    from tacit.games.exact import with_tables

    solution = solve(with_tables(game) if args.concept == "optimum" else game, args.concept, progress=tell)
    return solution.policy, f"The others play the {args.concept} that `tacit solve` finds ({solution.method})."


def check_counts(args: argparse.Namespace, **least: int) -> None:
    """Check options that are whole numbers, where they are given."""
    for name, low in least.items():
        if getattr(args, name) is not None:
            check.integer(f"--{name}", getattr(args, name), least=low)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `tacit.learn` is asked for beside the game and the learner. What is not given is None."""
    for name, one in FIELDS.items():
        words: dict[str, Any] = {"dest": name, "help": one.metadata["help"]}
        if one.default is True:
            words |= {"action": "store_const", "const": False}
        elif "bool" in str(one.type):
            words |= {"choices": list(_AUTO)}
        else:
            kind = next((of for of in (str, float) if of.__name__ in str(one.type)), whole)
            words |= {"metavar": one.metadata["metavar"], "type": kind}
        parser.add_argument(flag(name), **words)


def whole(text: str) -> int:
    """Read a whole number, also one that is written as 1e5 or 100_000.

    >>> whole("1e5"), whole("250")
    (100000, 250)
    """
    try:
        return int(text)
    except ValueError:
        number = float(text)  # argparse reports a ValueError
        if not number.is_integer():
            raise ValueError from None
        return int(number)


_AUTO = {"auto": None, "yes": True, "no": False}


def flag(name: str) -> str:
    """Return how an option is called on the command line.

    >>> flag("visits_per_stage"), flag("keep")
    ('--visits-per-stage', '--no-keep')
    """
    return f"--{'no-' if FIELDS[name].default is True else ''}{name.replace('_', '-')}"


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a run that were given, checked."""
    values = {name: getattr(args, name, None) for name in FIELDS}
    return {
        name: check_option(name, _AUTO.get(value, value), flag(name))
        for name, value in values.items()
        if value is not None
    }


def settings(option: str, pairs: Iterable[str]) -> dict[str, Any]:
    """Read `key=value` pairs; a value is JSON where it can be, otherwise a word.

    >>> settings("--set", ["slip=0.1", "start=uniform", "stationary=true"])
    {'slip': 0.1, 'start': 'uniform', 'stationary': True}
    """
    params: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not key or not equals:
            example = "horizon=5" if option == "--game-set" else "bonus=0.1"
            raise TacitError(f"{option} must be KEY=VALUE, e.g. {example}; got {brief(pair)}")
        if key in params:
            raise TacitError(f"{option} must have each key once; got {brief(key)} twice")
        try:
            params[key] = {"True": True, "False": False, "None": None}[text] if text in _PYTHON else json.loads(text)
        except ValueError:
            params[key] = text
        except RecursionError:
            raise TacitError(f"{option} must have values that are not nested deeply; got {brief(key)}") from None
    return params


_PYTHON = ("True", "False", "None")

#: Characters of a sentence beyond which it is cut; a path may have 4096.
_LONGEST = 6000


def print_json(document: dict[str, Any]) -> None:
    """Print exactly one JSON document on stdout."""
    sys.stdout.write(printable_json(finite(document)) + "\n")


def finite(document: Any) -> Any:
    """Return a document as JSON holds it: infinities and what is undefined become null.

    >>> finite({"gap": (1.5, float("nan"))})
    {'gap': [1.5, None]}
    """
    return msgspec.json.decode(msgspec.json.encode(document))


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


def print_table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table without lines."""
    table = Table(*heads, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console().print(table)


def console() -> Console:
    """Return a console on stdout. Where that is not a terminal, lines are wide instead of folded."""
    return _Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False, emoji=False)


class _Console(Console):
    """A console that shows text as it is; only `rich.text.Text` has a style."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a string into text, of cells too."""
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # the main program ends quietly; rich would exit with 1


# progress on stderr: a live line on a terminal, plain lines now and then elsewhere -----------------------------------

_EVERY_SECONDS = 5.0
_TITLE = 80  # characters


#: Shows a text, how much is done, and of how much where that is known.
Show = Callable[[str, float, int | None], None]


class Shown:
    """How far something is: `show` shows it, `say` prints a line beside it. Call it with a `Progress` of runs."""

    def __init__(self, show: Show, say: Callable[[str], None]) -> None:
        self.show, self.say = show, say

    def __call__(self, at: RunProgress) -> None:
        """Show runs done, failed and running, and episodes."""
        text = f"{at.done}/{at.runs} runs"
        text += f", {at.failed} failed" if at.failed else ""
        text += f", {at.running} running" if at.running else ""
        self.show(f"{text}, {at.episodes:,} episodes", at.episodes, at.total)


@contextmanager
def progress_on_stderr(title: str, status: str = "compiling, once for each kind of learner") -> Iterator[Shown]:
    """Show progress: a live line on a terminal, which begins with `status`, elsewhere plain lines."""
    name = printable(title, _TITLE)
    if not sys.stderr.isatty():
        yield Shown(_print_now_and_then(name), tell)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # not every command needs them

    columns = [TextColumn(text, markup=False) for text in ("{task.description}", "{task.fields[status]}")]
    console = Console(file=sys.stderr, highlight=False)
    with Progress(columns[0], BarColumn(), columns[1], TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(name, total=None, status=status)

        def show(status: str, done: float, total: int | None) -> None:
            bar.update(task, completed=done, total=total, status=printable(status, 200))

        def say(line: str) -> None:
            bar.console.print("tacit:", Text(printable(line)), soft_wrap=True)

        yield Shown(show, say)


def _print_now_and_then(title: str) -> Show:
    last = time.perf_counter()

    def show(text: str, done: float, total: int | None) -> None:
        nonlocal last
        if time.perf_counter() - last >= _EVERY_SECONDS:
            last = time.perf_counter()
            share = f"{100 * done / total:.0f} %, " if total else ""
            print(f"{title}: {share}{printable(text, 200)}", file=sys.stderr, flush=True)

    return show
