"""`tacit evaluate` and `tacit export`: values and gaps of stored policies, computed anew; stored runs as one table."""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.cli import options
from tacit.core import check, files, registry
from tacit.core.display import Document, printable
from tacit.core.errors import TacitError
from tacit.policies.recorded import take_start

if TYPE_CHECKING:
    from tacit.core.types import FloatArray
    from tacit.engine import Watcher
    from tacit.experiments import Outcome


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
    options.add(parser, "--episodes K", "of environments: episodes to train and to play (2000)", 2000)
    options.add(
        parser,
        "--show",
        "what each policy plays where, and who gains by playing what instead of what (of a single run, always)",
    )
    options.add_seconds(parser)
    options.add(parser, "--workers N", "processes, where much is to be read (all cores)", kind=int)
    options.add(
        parser,
        "--candidate",
        "of recorded policies: the mixture over all episodes, the one that begins with the last, the table of "
        "what the better of the two plays where, or the product of its marginals; the run's own choice if not given",
        kind=take_start,
        choices=["average", "recent", "markov", "product"],
    )
    options.add(parser, "--json", "print one JSON document on stdout")


#: Bytes of policies above which worker processes are worth their start.
_LARGE = 20_000_000

#: Seconds from which it is told how long something takes.
_LONG = 5.0


class Row(NamedTuple):
    """What was found of a run: data as `--json` prints it, and tables where they were asked for."""

    data: dict[str, Any]
    shown: tuple[Document, ...] = ()


def run_evaluate(args: argparse.Namespace) -> int:
    """Evaluate every run, and print what is found as it comes."""
    from tacit.engine import Event, Noted  # imports the compiler
    from tacit.experiments import run_all, store
    from tacit.experiments.dispatch import Failure

    options.check_counts(args, workers=1)
    seconds = check.positive("--seconds", args.seconds)
    exact: list[Path] = []
    left_out, played = set(), []
    for place in store.directories(files.path(args.runs)):
        stored = store.load(place)
        name = stored.spec.game.name
        if stored.spec.has_tables:
            exact.append(place)
        elif name in args.game:
            played.append(_play(place, stored, args.episodes, args.candidate))
        else:
            told = f"{name} has no tables, so its policies cannot be evaluated exactly"
            left_out.add(f"{told}; --game {name} runs its code, and plays them")
    if not exact and not played:
        raise TacitError("; ".join(sorted(left_out)))
    for told in sorted(left_out):
        options.tell(told)
    for one in () if args.json else played:
        options.say(f"{one['run']}: values {one['values']}; {one['told']}")
    rows: dict[int, Row] = {}
    failures: list[str] = []
    width = max((len(printable(run)) for run in exact), default=3)
    with options.count_on_stderr("evaluating", len(exact)) as count:

        def watch(k: int, event: Event) -> None:
            match event:
                case Noted(text):
                    options.tell(text)

        def done(k: int, found: Row | Failure) -> None:
            match found:
                case Row():
                    if not args.json:
                        _print(found, width, head=not rows or bool(found.shown))
                    rows[k] = found
                case Failure(sentence):
                    failures.append(sentence)
            count(len(rows) + len(failures))

        # small runs one after the other, without new processes
        size = sum((run / store.POLICY).stat().st_size for run in exact if (run / store.POLICY).is_file())
        large = size > _LARGE and len(exact) > 1 and args.workers != 1
        where = {"on": "processes", "workers": args.workers} if large else {"on": "threads:1"}
        show = args.show or len(exact) == 1
        job = partial(evaluate_run, named=tuple(args.game), show=show, candidate=args.candidate, seconds=seconds)
        batch = run_all(job, exact, watch=watch, done=done, **where)
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


def evaluate_run(
    place: Path,
    watch: Watcher | None = None,
    *,
    named: Collection[str] = (),
    show: bool = False,
    candidate: str | None = None,
    seconds: float = math.inf,
) -> Row:
    """Evaluate one stored run, unless that takes longer than `seconds` by an estimate; the watcher is told what does.

    `named` is the Python code that may be run.
    """
    from tacit.engine import Noted
    from tacit.evaluation import deviation_table, evaluate
    from tacit.evaluation.gains import APART
    from tacit.evaluation.gaps import check_cost, in_words, seconds_to_evaluate
    from tacit.experiments import store
    from tacit.experiments.spec import game_of
    from tacit.games.protocol import count_steps

    def tell(what: str, cost: float, more: str = "") -> None:
        if watch is not None and cost > _LONG:
            watch(Noted(f"{place}: {what} takes {in_words(cost)}{more}"))

    stored = store.load(place)
    chosen = candidate or stored.chosen
    gap = stored.gap if chosen == stored.chosen else stored.candidates.get(chosen)
    value = stored.value if chosen == stored.chosen else None  # of the chosen one only
    bounds = None if gap is None else gap.upper
    game = game_of(stored.spec, named=named)
    if (stored.agents, stored.horizon) != (game.agents, count_steps(game)):
        raise TacitError(f"{place / store.SUMMARY} is altered: it has other agents or another horizon than the game")
    policy = store.load_policy(place, candidate)
    cost = seconds_to_evaluate(game, policy)
    check_cost(cost, seconds, f"{place}: its exact evaluation")
    tell("its exact evaluation", cost)
    found = evaluate(game, policy, gap=None if gap is None else gap.kind)
    row = {
        "run": str(place),
        "game": stored.spec.game.name,
        "learner": stored.spec.learner.name,
        "seed": stored.spec.seed,
        "episodes": stored.episodes,
        "candidate": chosen,
        "value": found.values.tolist(),
        "gap": {"kind": found.kind, "exact": found.exact, "max": found.gap, "per_agent": found.gaps.tolist()},
        "stored": {
            "value": value,
            "gap": bounds,
            "source": None if gap is None else gap.source,
        },
        "largest_difference": max(_distance(found.values, value), _distance(found.gaps, bounds)),
    }
    if not show:
        return Row(row)
    try:
        check_cost(APART * cost, seconds, "what the policy plays, and who gains by deviating,")
    except TacitError as error:
        return Row(row, (Document(str(error), []),))
    tell("what it plays, and who gains by deviating,", APART * cost, " more")
    shown = policy.show(game)
    row["policy"] = shown.data
    tables = [Document(shown.title, shown.parts)]
    try:
        apart = deviation_table(game, policy, gap=found.kind)
    except TacitError as error:  # it takes more memory than there is
        return Row(row, (*tables, Document(f"no table of deviations: {error}", [])))
    row["deviations"] = apart.data(limit=1000)
    gains = apart.show()
    return Row(row, (*tables, Document(gains.title, gains.parts)))


def _distance(anew: FloatArray, stored: list[float] | None) -> float:
    return 0.0 if stored is None else float(np.max(np.abs(anew - np.asarray(stored))))


def _print(found: Row, width: int, *, head: bool) -> None:
    """Print a line for each agent of a run; the first column is as wide as it has to be."""
    row, stored = found.data, found.data["stored"]
    lines = [("run", "gap", "agent", "value stored", "anew", "gap stored", "anew")] if head else []
    for i, (value, gap) in enumerate(zip(row["value"], row["gap"]["per_agent"], strict=True)):
        was = ["—" if stored[key] is None else f"{stored[key][i]:.9g}" for key in ("value", "gap")]
        run, kind = (printable(row["run"]), row["gap"]["kind"]) if i == 0 else ("", "")
        lines.append((run, kind, str(i), was[0], f"{value:.9g}", was[1], f"{gap:.9g}"))
    for cells in lines:
        widths = (width + 2, 5, 6, 17, 17, 17, 17)
        options.say("".join(cell.ljust(size) for cell, size in zip(cells, widths, strict=True)).rstrip())
    for shown in found.shown:
        options.say()
        options.print_document(shown)


def _play(place: Path, stored: Outcome, episodes: int, candidate: str | None) -> dict[str, Any]:
    """Play the policy of a run in an environment, and train best responses against it."""
    from tacit.environments.encoding import fit
    from tacit.environments.measuring import exploit, with_interval
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
    return {
        "run": str(place),
        "game": stored.spec.game.name,
        "learner": stored.spec.learner.name,
        "seed": stored.spec.seed,
        "candidate": candidate or stored.chosen,
        "value": found.values.tolist(),
        "value_low": low.tolist(),
        "value_high": high.tolist(),
        "values": ", ".join(map(with_interval, found.values, low, high)),
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
    options.add_runs(parser)
    form = parser.add_mutually_exclusive_group()
    options.add(form, "--csv", "comma-separated values (the default)")
    options.add(form, "--parquet", f"Parquet; {registry.pip_command('parquet')}")
    options.add(parser, "-o --out FILE", "where (results.csv or .parquet in the first RUN_DIR)")


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
