"""`tacit view`: results on a live page."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.core import archive, check

if TYPE_CHECKING:
    from tacit.view.server import Server

DEFAULT = "results"


def add(commands: Any) -> None:
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
    parser.set_defaults(run=run)


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options of a page's server."""
    parser.add_argument("--port", metavar="P", type=int, default=0, help="port of 127.0.0.1 (any that is free)")
    parser.add_argument("--no-open", action="store_true", help="print the address, and open no browser")


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    check.integer("--port", args.port, least=0, most=65535)
    place = archive.path(args.runs or (DEFAULT if Path(DEFAULT).is_dir() else "."))

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
