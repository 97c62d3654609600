"""`tacit compare` and `tacit tune`: which learner, and which of its parameters, for one game."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.core import files
from tacit.core.errors import TacitError
from tacit.games import is_file

if TYPE_CHECKING:
    from tacit.experiments.comparison import Comparison


TABLE, FIGURE = "comparison.json", "comparison.png"

COMPARE_EPILOG = """\
Each run is judged by its policy, the best of its candidates (the average over all episodes, the recent one, the last
iterate; of gaps that hardly differ, the one that all agents prefer), and the judge is a proof: an exact gap, or a
certificate, which is an upper bound. Of a product policy the nash, ce and cce gaps are the same number; a ce gap
bounds the cce gap of the same policy, but not the other way round.
Learners that learn from tables see what no agent sees.

--seconds is for all runs together and shared evenly, compilation left out; one run takes place at a time, so that none
slows another. How far learners come depends on the machine. With --episodes it does not.

examples:
  tacit compare good-state                                   all learners, a minute or two
  tacit compare good-state --seconds 600 --seeds 5 --out results/good-state
  tacit compare chicken --learners adaptive-v-cce npg --episodes 10000 --json"""


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Let learners learn a game, each for the same budget, and rank them by the gap that is proven of "
        "their best policies.",
        COMPARE_EPILOG,
    )
    options.add_game(parser)
    options.add(parser, "--learners LEARNER", "names from `tacit learners` (all that are registered)", nargs="+")
    add_budget(parser, seconds=60, seeds=3, whole="episodes of each run, instead")
    options.add(parser, "--out DIR", f"write {TABLE} there after every run, and {FIGURE}")


def add_budget(parser: argparse.ArgumentParser, *, seconds: int, seeds: int, whole: str) -> None:
    """Add what `compare` and `tune` share."""
    options.add(parser, "--seconds T", f"time for all runs together, shared evenly ({seconds})", kind=float)
    options.add(parser, "--episodes K", whole, kind=int)
    options.add(parser, "--seeds N", f"seeds s, s+1, … ({seeds})", seeds)
    options.add(parser, "--seed S", "the first seed (0)", 0)
    options.add(parser, "--certify", "yes: games of more than 1024 joint actions too", "auto", choices=["auto", "yes"])
    options.add(parser, "--workers N", "runs at once (1; with --episodes, the cores)", kind=int)
    options.add_import(parser)
    options.add(parser, "--json", "print one JSON document on stdout")


def budget_of(args: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_budget` reads, checked."""
    given = options.given_options(args)
    options.check_counts(args, seeds=1, workers=1)
    return {**given, "seeds": args.seeds, "workers": args.workers}


def run_compare(args: argparse.Namespace) -> int:
    """Compare, and print the table; 130 where Ctrl-C ended it early, 1 where a learner that was named failed."""
    given = budget_of(args)

    from tacit.experiments import compare, scripts  # imports the compiler
    from tacit.experiments.store import make_directory

    scripts.run(args.scripts)
    game = options.game_of(args)
    place = None if args.out is None else files.path(args.out)
    if place is not None:
        make_directory(place)

    def store(found: Comparison) -> None:
        if place is not None:
            files.write(place / TABLE, json.dumps(options.finite(_document(args, found)), indent=2).encode())

    with options.progress_on_stderr(f"{args.game}: comparing") as progress:
        found = compare(game, args.learners, progress=progress, watch=store, **given)
    store(found)
    document = _document(args, found)
    if place is not None:
        _draw(found, place / FIGURE)
        document["figure"] = str(place / FIGURE)
    _print(args, found, document, [] if place is None else [f"stored in {place}: {TABLE}, {FIGURE}"])
    return 130 if found.interrupted else 1 if found.left_out and args.learners else 0


def _document(args: argparse.Namespace, found: Comparison) -> dict[str, Any]:
    return {"game": args.game, "game_params": options.settings("--game-set", args.game_set), **found.document()}


def _draw(found: Comparison, place: Path) -> None:
    from tacit.figures import save_figure
    from tacit.figures.results import comparison_figure

    save_figure(comparison_figure(found), place)


TUNE_EPILOG = """\
27 settings, spread over the ranges that the learner declares, have a ninth of a whole run each, the best
nine a third, the best three a whole run (successive halving), on two seeds each. The best of many is partly the
luckiest, so it then meets the learner's defaults on fresh seeds (--seeds), and the file has it only if it wins beyond
luck: the 95 % bootstrap interval of the mean difference is above 0. Otherwise the file has the defaults.

--seconds is for all runs together, compilation left out; one run takes place at a time. What is found in it depends on
the machine. With --episodes K it does not, and all runs together have 18 + 2·seeds times K episodes.

examples:
  tacit tune good-state v-learning --seconds 300 -o tuned.toml
  tacit run tuned.toml --out results/tuned"""


def add_tune(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Look for better parameters of a learner on a game by successive halving on the certified gap, and "
        "compare the best with the defaults on fresh seeds.",
        TUNE_EPILOG,
    )
    options.add_game(parser)
    options.add(parser, "LEARNER", "a name from `tacit learners`")
    add_budget(parser, seconds=120, seeds=5, whole="episodes of a whole run, instead")
    options.add(parser, "-o --out FILE.toml", "write an experiment that `tacit run` takes")


def run_tune(args: argparse.Namespace) -> int:
    """Tune, print what was found, and write it; 130 where Ctrl-C ended it early, and then nothing is written."""
    given = budget_of(args)
    place = None if args.out is None else files.path(args.out)
    if place is not None and place.suffix != ".toml":
        raise TacitError(f"{place} has another ending than .toml, which `tacit run` asks for")

    from tacit.experiments import scripts, tune  # imports the compiler

    scripts.run(args.scripts)
    game = options.game_of(args)
    with options.progress_on_stderr(f"{args.game}: tuning {args.learner}") as progress:
        found = tune(game, args.learner, progress=progress, **given)
    params = options.settings("--game-set", args.game_set)
    document = {"game": args.game, "game_params": params, **found.document()}
    if place is not None and not found.interrupted:
        name = str(Path(args.game).resolve()) if is_file(args.game) else args.game
        found.save(place, name, params, scripts=args.scripts)
        document["file"] = str(place)
    written = f"written: {place}; run it with `tacit run {place}`" if "file" in document else f"not written: {place}"
    _print(args, found, document, [] if place is None else [written])
    return 130 if found.interrupted else 0


def _print(args: argparse.Namespace, found: object, document: dict[str, Any], more: list[str]) -> None:
    """Print what was found: one document, or text and more lines."""
    if args.json:
        options.print_json(document)
    else:
        options.say(*repr(found).splitlines(), *more)
