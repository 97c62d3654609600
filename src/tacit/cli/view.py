"""`tacit report` and `tacit view`: results as one page that opens offline, or live while runs go on."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.core import check, files

if TYPE_CHECKING:
    from tacit.view.server import Server


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    add_report(commands)
    add_view(commands)


def add_report(commands: Any) -> None:
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
    parser.set_defaults(run=run_report)


def run_report(args: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from tacit.cli.progress import steps_on_stderr
    from tacit.view import write_report  # imports the compiler

    place, seconds = files.path(args.runs), check.positive("--seconds", args.seconds)
    out = place / "report.html" if args.out is None else files.path(args.out)
    with steps_on_stderr("report") as progress:
        write_report(place, out, named=args.game, seconds=seconds, progress=progress)
    options.console().print(f"report: {out}", soft_wrap=True)
    return 0


DEFAULT = "results"


def add_view(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "view",
        help="show results on a live page, while runs go on and after",
        description="Serve a page of a directory of runs to a browser on this machine: curves that grow as runs go on, "
        "and all that `tacit report` shows. The page is on 127.0.0.1 alone, its address holds a random token, and it "
        "never writes to the directory. Ctrl-C ends it.",
        epilog="example:\n  tacit run experiment.toml --out results/first &\n  tacit view results/first",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "runs", metavar="DIR", nargs="?", help=f"a directory of runs, or of such ({DEFAULT}, or the working directory)"
    )
    add_server(parser)
    options.add_named(parser)
    parser.set_defaults(run=run_view)


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options of a page's server."""
    parser.add_argument("--port", metavar="P", type=int, default=0, help="port of 127.0.0.1 (any that is free)")
    parser.add_argument("--no-open", action="store_true", help="print the address, and open no browser")


def run_view(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    check.integer("--port", args.port, least=0, most=65535)
    place = files.path(args.runs or (DEFAULT if Path(DEFAULT).is_dir() else "."))

    from tacit.view.live import serve  # imports the compiler

    server, _ = serve(place, named=args.game, port=args.port)
    return keep_serving(server, open_page=not args.no_open)


def keep_serving(server: Server, *, open_page: bool) -> int:
    """Print the address, open it, and serve until Ctrl-C, which is how it is meant to end."""
    try:
        print(server.url, flush=True)
        options.tell("Ctrl-C ends this")
        if open_page:
            webbrowser.open(server.url)
        server.run()
    except KeyboardInterrupt:
        options.tell("ended")
    return 0
