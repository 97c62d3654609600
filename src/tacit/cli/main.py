"""The console script `tacit`."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from tacit._version import __version__
from tacit.cli import options
from tacit.cli.entry import interrupter
from tacit.core import check
from tacit.core.errors import TacitError

#: The module of this package that has each command, which is imported when the command is asked for, and what it does.
COMMANDS = {
    "run": ("run", "let the agents of a game learn, over one or more seeds"),
    "compare": ("run", "which learner? let all that fit a game learn, and rank them by certified gap"),
    "evaluate": ("evaluate", "compute values and gaps of stored policies anew, and show them beside the stored ones"),
    "export": ("draw", "write stored runs as one tidy table, a .csv"),
    "plot": ("draw", "draw the reward and gap curves of stored runs"),
    "draw": ("draw", "draw a game's best responses or equilibria, a policy, play, or learning; GIF and HTML move"),
    "report": ("draw", "write results as one page that opens offline, once or while runs go on"),
    "play": ("play", "take one agent's place against a learned policy, in the terminal or on a page"),
    "prove": ("evaluate", "write a proof of a policy's gap that anybody can check"),
    "verify": ("evaluate", "check such a proof in exact arithmetic"),
    "show": ("evaluate", "show a game: payoffs by state, transitions in words, agents and horizon"),
    "solve": ("evaluate", "solve a game: its optimum, a cce, a ce or its nash equilibria"),
    "theory": ("evaluate", "what the theorems promise for a game: episodes, steps, constants, the lower bound"),
    "atlas": ("listing", "games whose values others stated: list them, check them"),
    "games": ("listing", "list the games that can be named, with their parameters"),
    "learners": ("listing", "list the learners and bandits that can be named, with parameters"),
}

#: Commands that end by themselves after Ctrl-C, with what was done.
KEEPING = ("run", "compare", "report", "play", "solve")

EPILOG = """examples:
  tacit show chicken                               payoffs, transitions, agents, horizon
  tacit run good-state stage-v-cce --episodes 50000 --seeds 20 --set bonus=0.1
                                                   learn a coarse correlated equilibrium, 20 runs
  tacit run experiment.toml --out results/first    games × learners × seeds, stored and resumable
  tacit compare good-state                         which learner? ranked by certified gap, a minute or two
  tacit report results/first --watch               a page that opens offline, and follows runs that go on
  tacit play chicken                               take an agent's place against a learned policy
  tacit solve chicken ce                           the correlated equilibrium of largest total reward

exit codes: 0 done, 1 some runs of several failed, 2 wrong usage or bad input, 130 interrupted"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help; argparse would ignore that nobody can read it."""
        (file or sys.stdout).write(message)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print with its usage."""
        raise TacitError(f"{message}; see `{self.prog} --help`")


def parser(command: str | None = None) -> Parser:
    """Build the parser of all commands, or of one."""
    top = Parser(
        prog="tacit",
        description="Decentralized multi-agent learning with proof.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"tacit {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS if command is None else [command]:
        file, purpose = COMMANDS[name]
        module = importlib.import_module(f"tacit.cli.{file}")
        command_parser = commands.add_parser(name, help=purpose)
        getattr(module, f"add_{name}")(command_parser)
        command_parser.set_defaults(run=getattr(module, f"run_{name}"))
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code, as the help tells them."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "×" gets "?"
    try:
        named = bool(arguments) and not arguments[0].startswith("-")
        if named and arguments[0] in ("learn", "train"):
            raise TacitError(f"no command {arguments[0]!r}; did you mean 'run'? `tacit run GAME` learns")
        top = parser(check.choice("command", arguments[0], COMMANDS) if named else None)
        try:
            args, left = top.parse_known_args(arguments)
        except SystemExit:  # after --help or --version
            sys.stdout.flush()
            raise
        if left:
            words = " ".join(["tacit", *arguments[:named]])
            raise TacitError(f"unrecognized arguments: {' '.join(left)}; see `{words} --help`")
        if args.command is None:
            top.print_help()
            return 0
        interrupter.keeps = args.command in KEEPING
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except TacitError as error:
        options.tell(error)
        return 2
    except KeyboardInterrupt:
        print("tacit: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has left, as in `tacit games | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # e.g. the disk is full; of files, `core/files.py` says which
        reason = str(error.strerror or error).lower()
        options.tell(f"cannot write to {error.filename or 'standard output'}: {reason}")
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2


if __name__ == "__main__":
    sys.exit(main())
