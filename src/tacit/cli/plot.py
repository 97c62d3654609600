"""`tacit plot`: reward and gap curves of stored runs."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.core import archive
from tacit.core.errors import TacitError, brief
from tacit.figures.style import checked_size

if TYPE_CHECKING:
    from tacit.experiments import Group

ENDINGS = (".png", ".svg", ".pdf")


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "plot",
        help="draw the reward and gap curves of stored runs",
        description="Draw reward and gap over episodes: a row for each game, a line for each learner (the mean over "
        "seeds), and a band around it. Each kind of gap (nash, cce, ce) has an axis of its own; a bound is dashed.",
        epilog="example:\n  tacit run experiment.toml --out results/first\n  tacit plot results/first --out first.svg",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "runs", metavar="RUN_DIR", nargs="+", help="directories of runs, or of many runs (the --out of a run)"
    )
    parser.add_argument("--out", metavar="FILE", help="a .png, .svg or .pdf (curves.png in the first RUN_DIR)")
    parser.add_argument(
        "--band",
        choices=["sd", "ci95", "quartiles", "none"],
        default="sd",
        help="standard deviation over seeds, 95 %% bootstrap interval of the mean, quartiles, or none (sd)",
    )
    parser.add_argument(
        "--columns", metavar="C,…", default="reward,gap", help="of reward, value, gap, l2_gap (reward,gap)"
    )
    parser.add_argument(
        "--agents", metavar="I,…", help="a line for each of these agents, e.g. 0,1 (agent 0; largest gap)"
    )
    parser.add_argument(
        "--scale", choices=["log", "linear"], default="log", help="of gaps; log is linear just above zero (log)"
    )
    parser.add_argument("--title", metavar="TEXT", help="instead of the game and what is drawn")
    parser.add_argument("--size", metavar="WxH", help="width and height in inches, e.g. 10x4")
    parser.add_argument(
        "--candidate",
        choices=["best", "average", "latest", "last"],
        default="best",
        help="whose gap: that of the best at every time, or of one candidate of certified policies (best)",
    )
    parser.set_defaults(run=run)


def size_of(given: str | None) -> tuple[float, float] | None:
    """Return the width and height that --size states."""
    if given is None:
        return None
    parts = given.lower().replace("×", "x").split("x")
    try:
        width, height = (float(part) for part in parts)
    except ValueError:
        raise TacitError(f"--size is {brief(given)}; it must be WIDTHxHEIGHT in inches, e.g. 10x4") from None
    return checked_size((width, height))


def _numbers(option: str, given: str, between: str) -> list[int]:
    parts = [part.strip() for part in given.split(between)]
    if not all(part.isdecimal() for part in parts):
        raise TacitError(f"{option} is {brief(given)}; it must be whole numbers, e.g. 0{between}1")
    return [int(part) for part in parts]


def stored_groups(places: Sequence[str]) -> list[Group]:
    """Return the runs in some directories, each once, in the order of their experiment."""
    from tacit.experiments.results import Results  # imports the compiler

    return Results.load(*places).groups


def run(args: argparse.Namespace) -> int:
    """Draw the figure and print where it is."""
    first = archive.path(args.runs[0])
    place = first / "curves.png" if args.out is None else archive.path(args.out)
    if place.suffix not in ENDINGS:
        raise TacitError(f"{place} has no ending of a figure; give one of {', '.join(ENDINGS)}")

    from tacit.figures import save_figure
    from tacit.figures.results import results_figure

    figure = results_figure(
        stored_groups(args.runs),
        band=args.band,
        candidate=args.candidate,
        columns=[word.strip() for word in args.columns.split(",")],
        agents=None if args.agents is None else _numbers("--agents", args.agents, ","),
        scale=args.scale,
        title=args.title,
        size=size_of(args.size),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # of a name, which the font does not have
        save_figure(figure, place)
    options.console().print(f"figure: {place}", soft_wrap=True)
    return 0
