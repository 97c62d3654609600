"""`tacit evaluate` and `tacit export`: values and gaps of stored policies, computed anew; stored runs as one table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.cli.progress import count_on_stderr
from tacit.core import check, files, registry
from tacit.core.display import printable
from tacit.core.errors import TacitError
from tacit.policies.recorded import take_start

if TYPE_CHECKING:
    from tacit.experiments import Outcome
    from tacit.experiments.evaluating import Row


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Read the policies of stored runs, compute their exact values and gaps from the game's own tables "
        "and nothing else, and show them beside what was stored. Gaps are exact for Markov policies and upper "
        "bounds for certified ones. A policy of an environment, which has no tables, is played, if --game names it: "
        "values and what trained best responses gain, with 95 % intervals; the lower ends of the latter are lower "
        "bounds on the gaps.",
        "example:\n  tacit run good-state stage-v-cce --episodes 5000 --seeds 2 --out results/first\n"
        "  tacit evaluate results/first",
    )
    parser.add_argument("runs", metavar="RUN_DIR", help="a run's directory, or one of many runs (the --out of a run)")
    options.add_named(parser)
    parser.add_argument(
        "--episodes", metavar="K", type=int, default=2000, help="of environments: episodes to train and to play (2000)"
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="what each policy plays where, and who gains by playing what instead of what (of a single run, always)",
    )
    options.add_seconds(parser)
    parser.add_argument("--workers", metavar="N", type=int, help="processes, where much is to be read (all cores)")
    parser.add_argument(
        "--candidate",
        type=take_start,
        choices=["average", "recent", "markov", "product"],
        help="of recorded policies: the mixture over all episodes, the one that begins with the last, the table of "
        "what the better of the two plays where, or the product of its marginals; the run's own choice if not given",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")


def run_evaluate(args: argparse.Namespace) -> int:
    """Evaluate every run, and print what is found as it comes."""
    from tacit.experiments import store  # imports the compiler
    from tacit.experiments.evaluating import Row, evaluate_all

    options.check_counts(args, workers=1)
    seconds = check.positive("--seconds", args.seconds)
    exact: list[Path] = []
    left_out, played = set(), []
    for place in store.directories(files.path(args.runs)):
        stored = store.load(place)
        if stored.spec.has_tables:
            exact.append(place)
            continue
        name = stored.spec.game.name
        if name in args.game:
            played.append(_play(place, stored, args.episodes, args.candidate))
        else:
            told = f"{name} has no tables, so its policies cannot be evaluated exactly"
            left_out.add(f"{told}; --game {name} runs its code, and plays them")
    if not exact and not played:
        raise TacitError("; ".join(sorted(left_out)))
    for told in sorted(left_out):
        options.tell(told)
    show = args.show or len(exact) == 1
    rows: dict[int, Row] = {}
    printed = _Printed(exact, quiet=args.json)
    if not args.json:
        for one in played:
            options.say(f"{one['run']}: values {one['values']}; {one['told']}")
    failures: list[str] = []
    with count_on_stderr("evaluating", len(exact)) as count:

        def done(k: int, found: Any) -> None:
            if isinstance(found, Row):
                rows[k] = found
                printed.row(found)
            else:
                failures.append(found.sentence)
            count(len(rows) + len(failures))

        batch = evaluate_all(
            exact,
            named=args.game,
            show=show,
            candidate=args.candidate,
            seconds=seconds,
            workers=args.workers,
            done=done,
            note=options.tell,
        )
    if failures and len(failures) == len(exact):
        raise TacitError(failures[0])
    for told in failures:
        options.tell(told)
    if args.json:
        options.print_json({"runs": [rows[k].data for k in sorted(rows)], "played": played})
    if batch.interrupted:
        options.tell(f"interrupted; {len(rows)} of {len(exact)} runs were evaluated")
        return 130
    return 1 if failures else 0


class _Printed:
    """Prints a row of each agent of each run as it comes, under one head; a column is as wide as it has to be."""

    def __init__(self, runs: list[Path], *, quiet: bool) -> None:
        self._quiet, self._begun = quiet, False
        self._width = max((len(printable(run)) for run in runs), default=3)

    def row(self, found: Row) -> None:
        """Print one run."""
        if self._quiet:
            return
        row = found.data
        if not self._begun or found.shown:
            head = ("gap", "agent", "value stored", "anew", "gap stored", "anew")
            options.say(f"{'run':{self._width}}  {self._line(head)}")
            self._begun = True
        for i, (value, gap) in enumerate(zip(row["value"], row["gap"]["per_agent"], strict=True)):
            stored = row["stored"]
            was = ["—" if stored[key] is None else f"{stored[key][i]:.9g}" for key in ("value", "gap")]
            run, kind = (row["run"], row["gap"]["kind"]) if i == 0 else ("", "")
            cells = (kind, str(i), was[0], f"{value:.9g}", was[1], f"{gap:.9g}")
            options.say(f"{printable(run):{self._width}}  {self._line(cells)}")
        for shown in found.shown:
            options.say()
            options.print_document(shown)

    @staticmethod
    def _line(cells: tuple[str, ...]) -> str:
        widths = (5, 6, 17, 17, 17, 17)
        return "".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _play(place: Path, stored: Outcome, episodes: int, candidate: str | None) -> dict[str, Any]:
    """Play the policy of a run in an environment, and train best responses against it."""
    from functools import partial

    from tacit.environments.encoding import fit
    from tacit.environments.measure import exploit
    from tacit.environments.measuring import with_halves
    from tacit.environments.observations import number_as_stored
    from tacit.experiments import store
    from tacit.experiments.spec import same_game

    named: Any = same_game(stored.spec)
    policy, bounds = store.load_policy(place, candidate), named.bounds
    with named.enter() as env:
        encode = partial(fit, bounds.get("encode"), horizon=bounds.get("horizon"), seed=stored.spec.seed)
        policy.observations = number_as_stored(env, store.load_states(place), encode)
        given = {key: value for key, value in bounds.items() if key == "reward_range"}
        found = exploit(env, policy, episodes=episodes, horizon=stored.horizon, **given)
    low, high = found.values_low, found.values_high
    assert low is not None
    assert high is not None
    return {
        "run": str(place),
        "game": stored.spec.game.name,
        "learner": stored.spec.learner.name,
        "seed": stored.spec.seed,
        "candidate": candidate or stored.chosen,
        "value": found.values.tolist(),
        "value_low": low.tolist(),
        "value_high": high.tolist(),
        "values": with_halves(found.values, low, high),
        "gap": {
            "kind": found.kind,
            "source": found.source,
            "lower": found.lower,
            "gain": found.gap,
            "half": found.half,
            "confidence": found.confidence,
            "per_agent": found.gains.tolist(),
            "deviations": found.deviations,
        },
        "told": str(found),
    }


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Write the curves of stored runs as one table with a row for each run, measurement and agent: "
        "game, learner, label, parameters and game_parameters (as JSON), seed, episode, agent, reward (mean return in "
        "the window), value and gap (of the policy at that time), kind (nash, cce, ce) and source (exact, certificate, "
        "…). agent is -1 where a gap is the largest of very many agents.",
        "examples:\n  tacit export results/first --csv\n  tacit export results/* --parquet -o all.parquet\n"
        "  python -c \"import pandas; print(pandas.read_csv('results/first/results.csv'))\"",
    )
    parser.add_argument(
        "runs", metavar="RUN_DIR", nargs="+", help="directories of runs, or of many runs (the --out of a run)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="comma-separated values (the default)")
    form.add_argument("--parquet", action="store_true", help=f"Parquet; {registry.pip_command('parquet')}")
    parser.add_argument("-o", "--out", metavar="FILE", help="where (results.csv or .parquet in the first RUN_DIR)")


def run_export(args: argparse.Namespace) -> int:
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
    options.say(f"{len(results.outcomes)} runs: {written}")
    return 0
