"""`tacit report`: results as one page that opens offline."""

from __future__ import annotations

import argparse
from typing import Any

from tacit.cli import options
from tacit.core import archive, check


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "report",
        help="write results as one HTML file that opens offline",
        description="Write a directory of runs as one HTML file that needs no server and no network: settings, curves "
        "with bands (drag to zoom, hover to read, click names to switch lines), gaps with lower and upper bounds, what "
        "the best policy of each learner plays by step and state, who gains by deviating, and an episode step by step.",
        epilog="example:\n  tacit run good-state --seeds 5 --out results/first\n  tacit report results/first -o 1.html",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", metavar="DIR", help="a directory of runs (the --out of a run), of such, or a run's own")
    parser.add_argument("-o", "--out", metavar="FILE", help="an .html (report.html in DIR)")
    options.add_named(parser)
    options.add_seconds(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from tacit.cli.progress import steps_on_stderr
    from tacit.view import write_report  # imports the compiler

    place, seconds = archive.path(args.runs), check.positive("--seconds", args.seconds)
    out = place / "report.html" if args.out is None else archive.path(args.out)
    with steps_on_stderr("report") as progress:
        write_report(place, out, named=args.game, seconds=seconds, progress=progress)
    options.console().print(f"report: {out}", soft_wrap=True)
    return 0
