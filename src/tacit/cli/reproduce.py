"""`tacit reproduce`: the paper's figures, made anew, and a page that says which of its claims hold."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.core import check, files
from tacit.core.errors import TacitError

if TYPE_CHECKING:
    from tacit.experiments import Experiment
    from tacit.games import TabularGame
    from tacit.paper.claims import Claim
    from tacit.paper.page import Variants


@dataclass(frozen=True)
class Panel:
    """One experiment of `papers/mao2022`: its target on the command line, its file, and what people call the task."""

    target: str
    file: str
    title: str
    long: bool = False


PANELS = (
    Panel("matrix-team", "matrix-team", "Matrix team"),
    Panel("good-state", "good-state", "GoodState"),
    Panel("box-pushing", "box-pushing-h3", "BoxPushing, H = 3, 500k episodes"),
    Panel("box-pushing", "box-pushing-h5-2m", "BoxPushing, H = 5, 2M episodes", long=True),
    Panel("box-pushing", "box-pushing-h5-5m", "BoxPushing, H = 5, 5M episodes", long=True),
)
TARGETS = (*dict.fromkeys(panel.target for panel in PANELS), "all")
QUICK_SEEDS = 5


def add_reproduce(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Run the paper's simulations, draw its figures and judge its claims by written rules. Runs are "
        "kept in the output directory: kill or interrupt it and run the same command to resume.",
    )
    known = ", ".join(TARGETS)
    options.add(parser, "TARGET", f"one of: {known} (all)", "all", nargs="?")
    amount = parser.add_mutually_exclusive_group()
    options.add(amount, "--quick", "5 seeds each, without the long runs: a minute or two")
    options.add(amount, "--full", "the long runs too, up to 5M episodes: 15 minutes")
    options.add(parser, "--seeds N", "seeds of each setting (as in the files)", kind=int)
    options.add(parser, "--episodes K", "episodes of each run (as in the files)", kind=int)
    told = "a parameter of the learners, of those that have it; may be given several times"
    options.add_many(parser, "--set", "KEY=VALUE", told)
    options.add(parser, "--out DIR", "where the results go (results/paper)", "results/paper")
    options.add(parser, "--workers N", "threads (the number of cores)", kind=int)


def run_reproduce(args: argparse.Namespace) -> int:
    """Learn, draw and judge."""
    target = check.choice("target", args.target, TARGETS)
    options.check_counts(args, seeds=1)
    directory = Path(args.out)
    from tacit.experiments.store import make_directory  # imports the compiler
    from tacit.paper import page

    make_directory(directory)
    report = _Report()
    settings = options.settings("--set", args.set)
    _check_known(settings)
    for panel in PANELS:
        if target not in (panel.target, "all") or (panel.long and not args.full):
            continue
        experiment = _change(_experiment(panel.file, quick=args.quick), args, settings)
        variants, game = _learn(experiment, directory / "runs", args.workers)
        report.add(panel, experiment, variants, game, directory)
        options.say(f"figure: {directory / panel.file}.png")
    text = page.page(report.claims, report.tables, report.settings, report.seeds)
    files.write(directory / "claims.md", text.encode())
    files.write(directory / "results.csv", page.write_csv(report.rows).encode())
    for claim in report.claims:
        about = f"{claim.task}; Independent as in the {claim.reading}" if claim.reading else claim.task
        where = f": {claim.where}" if claim.where and claim.verdict != "holds" else ""
        options.say(f"{claim.verdict:>22}: {claim.says} ({about}){where}")
    options.say(f"claims: {directory / 'claims.md'}, numbers: {directory / 'results.csv'}")
    return 0


class _Report:
    """What is gathered from the panels."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.tables: list[str] = []
        self.rows: list[tuple[object, ...]] = []
        self.settings: dict[str, str] = {}
        self.seeds: dict[str, int] = {}

    def add(self, panel: Panel, experiment: Experiment, variants: Variants, game: TabularGame, out: Path) -> None:
        """Draw a panel, and judge it."""
        from tacit.figures import save_figure, styled
        from tacit.paper import claims, measured, page

        task, team = measured.Task(panel.title, game), panel.target == "matrix-team"
        measure: Any = measured.measure_team if team else measured.measure
        groups = {g: [measure(s, runs, task) for s, runs in v.items()] for g, v in variants.items()}
        figure = page.team_figure(variants) if team else page.task_figure(variants, task)
        self.claims += claims.team_claims(task, groups) if team else claims.task_claims(task, groups)
        self.claims += [claims.approaches(task, groups)] if panel.target == "good-state" else []
        self.tables.append(page.team_table(task, groups) if team else page.task_table(task, groups))
        self.rows += page.rows(panel.title, groups)
        with styled():
            save_figure(figure, out / f"{panel.file}.png")
        self.settings |= dict(_settings(experiment))
        self.seeds[panel.title] = experiment.seeds


def _experiment(name: str, *, quick: bool) -> Experiment:
    """Read an experiment: from `papers/mao2022` in a clone, or what the package carries of it."""
    from tacit.experiments import Experiment

    here = Path(__file__).resolve()
    places = [here.parents[1] / "papers", here.parents[3] / "papers"]
    file = next((place / "mao2022" / f"{name}.toml" for place in places if place.is_dir()), None)
    if file is None:
        raise TacitError(
            "the experiments of the paper are not installed; run this from a clone, or install the package"
        )
    experiment = Experiment.load(file)
    return replace(experiment, seeds=QUICK_SEEDS) if quick else experiment


def _check_known(settings: dict[str, Any]) -> None:
    """Raise for a parameter that no learner has."""
    from tacit.learners import REGISTRY

    known = {key for name in REGISTRY for key in REGISTRY.parameters(name)}
    for key in settings:
        if key not in known:
            near = check.suggestion(key, known)
            raise TacitError(f"--set {key}: no learner has this parameter{near} known: {', '.join(sorted(known))}")


def _change(experiment: Experiment, args: argparse.Namespace, settings: dict[str, Any]) -> Experiment:
    """Return an experiment with what the command line changes of it."""
    from tacit.learners import REGISTRY

    if args.seeds is not None:
        experiment = replace(experiment, seeds=args.seeds)
    experiment = replace(experiment, options=replace(experiment.options, **options.given_options(args)))
    if not settings:
        return experiment
    learners: list[Any] = []
    for one in experiment.learners:
        own = {key: value for key, value in settings.items() if key in REGISTRY.parameters(one.name)}
        changed = replace(one, params={**one.params, **own})
        if not any((changed.name, changed.params) == (other.name, other.params) for other in learners):
            learners.append(changed)  # settings that differed in what is now the same are run once
    return replace(experiment, learners=tuple(learners))


def _learn(experiment: Experiment, out: Path, workers: int | None) -> tuple[dict[str, dict[str, Any]], TabularGame]:
    """Run an experiment; return the outcomes of each setting of each group, and the game."""
    from tacit.experiments import run_experiment
    from tacit.experiments.spec import game_of
    from tacit.games.exact import with_tables

    with options.progress_on_stderr(experiment.name) as progress:
        results = run_experiment(experiment, out=out, workers=workers, progress=progress)
    if results.interrupted:
        raise KeyboardInterrupt
    if results.failures:  # no claim is judged by a part of the seeds
        raise TacitError(results.failures[0].sentence)
    variants: dict[str, dict[str, Any]] = {}
    for one in results.outcomes:
        group, _, setting = one.label.partition(": ")
        variants.setdefault(group, {}).setdefault(setting, []).append(one)
    return variants, with_tables(game_of(results.outcomes[0].spec))


def _settings(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Yield the settings of each learner of an experiment."""
    for learner in experiment.learners:
        chosen = {**experiment.games[0].params, **learner.params}
        told = ", ".join(f"{key}={value}" for key, value in chosen.items())
        yield f"{experiment.name}, {learner.label}", f"`{learner.name}`, {experiment.episodes} episodes, {told}"
