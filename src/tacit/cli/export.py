"""`tacit export`: results as one tidy table."""

from __future__ import annotations

import argparse
from typing import Any

from tacit.cli import options
from tacit.core import files, registry
from tacit.core.errors import TacitError


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "export",
        help="write stored runs as one tidy table: CSV or Parquet",
        description="Write the curves of stored runs as one table with a row for each run, measurement and agent: "
        "game, learner, label, parameters and game_parameters (as JSON), seed, episode, agent, reward (mean return in "
        "the window), value and gap (of the policy at that time), kind (nash, cce, ce) and source (exact, certificate, "
        "…). agent is -1 where a gap is the largest of very many agents.",
        epilog="examples:\n  tacit export results/first --csv\n  tacit export results/* --parquet -o all.parquet\n"
        "  python -c \"import pandas; print(pandas.read_csv('results/first/results.csv'))\"",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "runs", metavar="RUN_DIR", nargs="+", help="directories of runs, or of many runs (the --out of a run)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="comma-separated values (the default)")
    form.add_argument("--parquet", action="store_true", help=f"Parquet; {registry.pip_command('parquet')}")
    parser.add_argument("-o", "--out", metavar="FILE", help="where (results.csv or .parquet in the first RUN_DIR)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the runs and write the table."""
    from tacit.experiments import tables
    from tacit.experiments.results import Results

    first = files.path(args.runs[0])
    parquet = args.parquet or (not args.csv and args.out is not None and str(args.out).endswith(".parquet"))
    ending = "parquet" if parquet else "csv"
    place = first / f"results.{ending}" if args.out is None else files.path(args.out)
    if place.is_dir():
        raise TacitError(f"{place} is a directory; give a file, e.g. {place / f'results.{ending}'}")
    other = {".csv": "csv", ".parquet": "parquet"}.get(place.suffix, ending)
    if other != ending:
        raise TacitError(f"{place} ends in .{other}, and --{ending} was asked for; give one of them")
    results = Results.load(*args.runs)
    written = (tables.write_parquet if parquet else tables.write_csv)(results.outcomes, place)
    options.console().print(f"{len(results.outcomes)} runs: {written}", soft_wrap=True)
    return 0
