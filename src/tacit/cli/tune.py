"""`tacit tune`: better parameters for a learner on one game."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tacit.cli import compare, options
from tacit.cli.progress import progress_on_stderr
from tacit.core import archive
from tacit.core.errors import TacitError
from tacit.games import is_file

EPILOG = """27 settings, spread over the ranges that the learner declares, have a ninth of a whole run each, the best
nine a third, the best three a whole run (successive halving), on two seeds each. The best of many is partly the
luckiest, so it then meets the learner's defaults on fresh seeds (--seeds), and the file has it only if it wins beyond
luck: the 95 % bootstrap interval of the mean difference is above 0. Otherwise the file has the defaults.

--seconds is for all runs together, compilation left out; one run takes place at a time. What is found in it depends on
the machine. With --episodes K it does not, and all runs together have 18 + 2·seeds times K episodes.

examples:
  tacit tune good-state v-learning --seconds 300 -o tuned.toml
  tacit run tuned.toml --out results/tuned"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "tune",
        help="look for better parameters of a learner on a game, by certified gap",
        description="Look for better parameters of a learner on a game by successive halving on the certified gap, and "
        "compare the best with the defaults on fresh seeds.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_game(parser)
    parser.add_argument("learner", metavar="LEARNER", help="a name from `tacit learners`")
    compare.add_budget(parser, seconds=120, seeds=5, whole="episodes of a whole run, instead")
    parser.add_argument("-o", "--out", metavar="FILE.toml", help="write an experiment that `tacit run` takes")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Tune, print what was found, and write it; 130 where Ctrl-C ended it early, and then nothing is written."""
    given = compare.budget_of(args)
    place = None if args.out is None else archive.path(args.out)
    if place is not None and place.suffix != ".toml":
        raise TacitError(f"{place} has another ending than .toml, which `tacit run` asks for")

    from tacit.experiments import scripts, tune  # imports the compiler

    scripts.run(args.scripts)
    game = options.game_of(args)
    with progress_on_stderr(f"{args.game}: tuning {args.learner}") as progress:
        found = tune(game, args.learner, progress=progress, **given)
    params = options.settings("--game-set", args.game_set)
    document = {"game": args.game, "game_params": params, **found.document()}
    if place is not None and not found.interrupted:
        name = str(Path(args.game).resolve()) if is_file(args.game) else args.game
        found.save(place, name, params, scripts=args.scripts)
        document["file"] = str(place)
    if args.json:
        options.print_json(document)
    else:
        for line in repr(found).splitlines():
            options.console().print(line, soft_wrap=True)
        if place is not None and found.interrupted:
            options.console().print(f"not written: {place}", soft_wrap=True)
        if "file" in document:
            options.console().print(f"written: {place}; run it with `tacit run {place}`", soft_wrap=True)
    return 130 if found.interrupted else 0
