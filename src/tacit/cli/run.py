"""`tacit run`: learn over seeds and tell how good the result is. `tacit compare`: which learner for one game."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli import options
from tacit.core import check, files
from tacit.core.display import count
from tacit.core.errors import TacitError
from tacit.options import Options

if TYPE_CHECKING:
    from tacit.experiments import Experiment, Outcome, Results
    from tacit.experiments.results import FailedRun

USAGE = """tacit run GAME [LEARNER] [--episodes K] [--gap G] [--seconds T] [options]
       tacit run FILE.toml [--out DIR] [--on WHERE] [--timeout S] [--json]"""

EPILOG = """a file, say experiment.toml, runs every game with every learner and every seed:
  name = "first"
  episodes = 50_000          # or gap = 0.1, seconds = 60.0; further keys are named as the options above
  seeds = 20                 # first_seed = 0 is the first

  [[games]]                  # one or more
  name = "good-state"        # a GAME as above; a game file is looked for beside this one
  params = {horizon = 10}

  [[learners]]               # one or more
  name = "stage-v-cce"       # a name from `tacit learners`
  params = {bonus = 0.1}     # a list is a sweep: {bonus = [0, 0.1]} is two learners
  label = "V-learning"       # in figures

With --out DIR every run has a directory. Run the same command again to resume: finished runs are read, others go on.
Several processes may share a DIR.

A script of --import registers your own games, learners and bandits. An experiment may list the scripts that it needs
(scripts = ["mine.py"]); they are run only if --import names them too. Scripts, `pettingzoo:module.path` and
`gymnasium:module:ID` are code: read an experiment that names them before you run it.

examples:
  tacit run good-state stage-v-cce --episodes 50000 --seeds 20 --set bonus=0.1 --out results/first
  tacit run experiment.toml --out results/first
  tacit run experiment.toml --out results/first --on ray:10.0.0.1:6379
  tacit run dectiger.dpomdp stage-v-cce --game-set horizon=10 --episodes 50000 --set bonus=0.1
  tacit run "openspiel:goofspiel(num_cards=3,points_order=descending)" stage-v-cce --episodes 50000
  tacit run pettingzoo:pettingzoo.classic.rps_v2 stage-v-cce --episodes 5000 --game-set max_cycles=1"""


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.usage = USAGE
    options.describe(
        parser,
        "Let the agents of a game learn, decentralized, and certify the policy they arrive at.",
        EPILOG,
    )
    options.add_game(parser, "; pettingzoo:MODULE.PATH; or an experiment, FILE.toml", default=None)
    options.add(
        parser, "LEARNER", "a name from `tacit learners` (portfolio; adaptive-v-cce without joint tables)", nargs="?"
    )
    options.add_options(parser)
    options.add(parser, "--seeds N", "number of runs, with seeds s, s+1, … (1)", kind=int)
    help = "a parameter of the learner, e.g. bonus=0.1 or preset=paper; may be given several times"
    options.add_many(parser, "--set", "KEY=VALUE", help, default=None)
    options.add(parser, "--out DIR", "store the runs in DIR, and resume those that are there")
    help = "threads, processes, ray:ADDRESS (or ray:auto) or dask:ADDRESS (threads; for environments, processes)"
    options.add(parser, "--on WHERE", help)
    options.add(parser, "--workers N", "runs at once (the number of cores, or what the cluster has)", kind=int)
    options.add(parser, "--timeout S", "seconds after which a run is ended as failed (threads, processes)", kind=float)
    options.add_import(parser)
    options.add(parser, "--checkpoint-every S", "seconds between checkpoints (30; the first after 1, 2, 4, …)", 30.0)
    options.add(parser, "--prove FILE", "prove the gap of one run's Markov policy, and write the proof")
    options.add(parser, "-v --verbose", "print all candidates, parameters and notes too")
    options.add(parser, "--json", "print one JSON document on stdout")


def run_run(args: argparse.Namespace) -> int:
    """Learn, then print the summary; 130 where Ctrl-C ended it early."""
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:  # for the policy to prove
        return _run(args, args.out or (folder if args.prove else None))


def _prove(outcomes: Sequence[Outcome], out: str, file: str) -> None:
    """Prove the gap of a stored run."""
    from tacit.cli.evaluate import save_proof
    from tacit.experiments import store
    from tacit.experiments.spec import game_of

    if len(outcomes) != 1:
        raise TacitError(f"--prove must be given for one run; got {len(outcomes)}")
    spec, gap = outcomes[0].spec, outcomes[0].gap
    policy = store.load_policy(files.path(out) / spec.directory)
    save_proof(game_of(spec, named=[spec.game.name]), policy, None if gap is None else gap.kind, file, options.tell)


def _run(args: argparse.Namespace, out: str | None) -> int:
    file = args.game.endswith(".toml")
    if args.prove is not None and (file or (args.seeds or 1) > 1):
        raise TacitError("--prove must be given for one run, a GAME and one seed")
    every = check.real("--checkpoint-every", args.checkpoint_every, least=0)
    options.check_counts(args, workers=1, seeds=1)

    from tacit.experiments.runner import AllFailed, run_experiment  # imports the compiler
    from tacit.experiments.worker import import_scripts

    import_scripts(args.scripts)
    again = "run the same command again to go on" if args.out else "without --out nothing is stored"
    chatter = contextlib.redirect_stdout(sys.stderr)  # an environment may print; stdout is for the document
    with chatter:
        experiment = _from_file(args) if file else _from_line(args)
    try:
        with chatter, options.progress_on_stderr(experiment.name) as progress:
            results = run_experiment(
                experiment,
                out=out,
                on=args.on,
                workers=args.workers,
                every=every,
                progress=progress,
                note=progress.say,
                timeout=args.timeout,
            )
    except KeyboardInterrupt:
        options.tell(f"interrupted before any run ended; {again}")
        return 130
    except AllFailed as error:
        if len(error.failures) > 1:
            _tell_failures(error.failures)
        raise
    _tell_failures(results.failures)
    if args.json:
        summaries = [group.summary(interrupted=results.interrupted) for group in results.groups]
        failures = [
            {"game": one.spec.game.name, "learner": one.spec.label, "seed": one.spec.seed, "sentence": one.sentence}
            for one in results.failures
        ]
        listed = file or len(summaries) != 1  # none: all failed
        document = {"name": experiment.name, "runs": summaries} if listed else summaries[0]
        options.print_json({**document, "failures": failures})
    else:
        _print(results, args.out, verbose=args.verbose)
    if args.prove is not None and out is not None and results.outcomes:
        _prove(results.outcomes, out, args.prove)
    if results.interrupted:
        done = sum(not one.interrupted for one in results.outcomes)
        options.tell(f"interrupted; done: {count(done, 'run')}; {again}")
    return 130 if results.interrupted else 1 if results.failures else 0


def _tell_failures(failures: Sequence[FailedRun]) -> None:
    for one in failures:
        options.tell(f"{one.spec.in_words}, failed: {one.sentence}")


def _from_file(args: argparse.Namespace) -> Experiment:
    from tacit.experiments import Experiment
    from tacit.experiments.worker import require_imported

    beside = [f"--{name.replace('_', '-')}" for name in ("seeds", "set", "game_set") if getattr(args, name) is not None]
    beside = ["a LEARNER"] * (args.learner is not None) + [*map(options.flag, options.given_options(args)), *beside]
    if beside:
        raise TacitError(f"{beside[0]} is given beside {args.game}; an experiment's file says it itself")
    experiment = Experiment.load(args.game)
    require_imported(args.game, experiment.scripts)
    from tacit.environments.pettingzoo import PREFIX, search_also

    if any(game.name.startswith(PREFIX) for game in experiment.games):
        search_also(str(Path(args.game).resolve().parent))  # for environments of one's own beside the file
    return experiment


def _from_line(args: argparse.Namespace) -> Experiment:
    game_params = options.settings("--game-set", args.game_set or [])
    params = options.settings("--set", args.set or [])
    limits = options.given_options(args)

    from tacit.experiments import Experiment, GameSpec, LearnerSpec  # imports the compiler
    from tacit.experiments.spec import default_learner, sweep
    from tacit.games import REGISTRY

    game = GameSpec(args.game, game_params)
    learner = args.learner or default_learner(sweep((game,), REGISTRY)[0], params)
    return Experiment(
        name=f"{args.game} {learner}",
        games=(game,),
        learners=(LearnerSpec(learner, params),),
        seeds=1 if args.seeds is None else args.seeds,
        options=Options(**limits),
        scripts=tuple(args.scripts),
    )


def _print(results: Results, out: str | None, *, verbose: bool) -> None:
    for group in results.groups:
        options.say(*str(group).splitlines())
        if verbose:
            table = group.candidates()
            options.say(*(f"  {line}" for line in str(table).splitlines()) if table.rows else ())
            options.say(f"  parameters {group.outcomes[0].params}", *(f"  {note}" for note in group.outcomes[0].notes))
    if out is not None:
        options.say(f"stored in {out}")


COMPARE_EPILOG = """\
Each run is judged by its returned policy: by an exact gap, or a certificate, which is an upper bound. Learners that
learn from tables see what no agent sees. With --seconds one run takes place at a time, and how far it comes depends on
the machine. In an environment learners are ranked by the return of their policies in fresh episodes, with what trained
best responses gain.

examples:
  tacit compare good-state
  tacit compare good-state --seconds 600 --seeds 5 --out results/good-state
  tacit compare chicken --learners adaptive-v-cce npg --episodes 10000 --json
  tacit compare pettingzoo:pettingzoo.classic.rps_v2 --learners q-backward adaptive-v-cce --episodes 500"""


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Let learners learn a game, each with the same budget, and rank them by proven gap.",
        COMPARE_EPILOG,
    )
    options.add_game(parser)
    options.add(parser, "--learners LEARNER", "names from `tacit learners` (all that are registered)", nargs="+")
    options.add(parser, "--seconds T", "time for all runs together, shared evenly (60)", kind=float)
    options.add(parser, "--episodes K", "episodes of each run, instead (1000 in an environment)", kind=int)
    options.add(parser, "--seeds N", "seeds s, s+1, … (3)", 3)
    options.add(parser, "--seed S", "the first seed (0)", 0)
    options.add(parser, "--workers N", "runs at once (1; with --episodes, the cores)", kind=int)
    options.add_import(parser)
    options.add(parser, "--json", "print one JSON document on stdout")
    options.add(parser, "--out DIR", "store the runs there, for `tacit plot` and `tacit report`")


def run_compare(args: argparse.Namespace) -> int:
    """Compare, and print the table. Return 130 after Ctrl-C, 1 where a named learner failed."""
    options.check_counts(args, seeds=1, workers=1)
    budget = {**options.given_options(args), "seeds": args.seeds, "workers": args.workers}

    from tacit.experiments import GameSpec, compare  # imports the compiler
    from tacit.experiments.worker import import_scripts

    import_scripts(args.scripts)
    game = GameSpec(args.game, options.settings("--game-set", args.game_set))
    with options.progress_on_stderr(f"{args.game}: comparing") as progress:
        comparison = compare(game, args.learners, progress=progress, out=args.out, **budget)
    document = {"game": game.name, "game_params": game.params, **comparison.document()}
    if args.json:
        options.print_json(document)
    else:
        options.print_document(comparison.table())
        options.say(*([] if args.out is None else [f"stored in {args.out}"]))
    failed = comparison.left_out and args.learners
    return 130 if comparison.interrupted else 1 if failed else 0
