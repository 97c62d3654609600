"""`tacit reproduce`: the paper's figures, made anew, and a table that says which of its claims hold."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.cli.progress import progress_on_stderr
from tacit.core import atomic, check
from tacit.core.errors import TacitError

if TYPE_CHECKING:
    from tacit.experiments import Experiment
    from tacit.games import TabularGame
    from tacit.report.claims import Claim, Variants

TASKS = {"matrix-team": "matrix team", "good-state": "GoodState", "box-pushing": "BoxPushing"}
TARGETS = (*TASKS, "all")
QUICK_SEEDS, QUICK_EPISODES = 5, 50_000


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help="the paper's figures, made anew, and a table of its claims",
        description="Run the paper's simulations, draw its figures and judge its claims by written rules. Runs are "
        "kept in the output directory: kill or interrupt it and run the same command to resume.",
    )
    known = ", ".join(TARGETS)
    parser.add_argument("target", metavar="TARGET", nargs="?", default="all", help=f"one of: {known} (all)")
    parser.add_argument("--quick", action="store_true", help="5 seeds, not 20, and at most 50,000 episodes")
    parser.add_argument("--out", metavar="DIR", default="results/paper", help="where the results go (results/paper)")
    parser.add_argument("--workers", metavar="N", type=int, help="threads (the number of cores)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Learn, draw and judge."""
    target = check.choice("target", args.target, TARGETS)
    directory = Path(args.out)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TacitError(f"cannot write to {directory}: {error.strerror}") from None
    out = options.console()
    claims: list[Claim] = []
    settings: dict[str, str] = {}
    for name in TASKS if target == "all" else [target]:
        experiment = _experiment(name, quick=args.quick)
        variants, game = _learned(experiment, directory / "runs", args.workers)
        claims += _drawn_and_judged(name, variants, game, directory / f"{name}.png")
        settings |= dict(_settings(experiment))
        out.print(f"figure: {directory / name}.png", soft_wrap=True)
    from tacit.report.claims import table

    text = table(claims, settings, experiment.seeds)
    atomic.write(directory / "claims.md", text.encode())
    for claim in claims:
        out.print(f"{claim.verdict:>22}: {claim.says} ({claim.task}): {claim.measured}", soft_wrap=True)
    out.print(f"claims: {directory / 'claims.md'}", soft_wrap=True)
    return 0


def _experiment(name: str, *, quick: bool) -> Experiment:
    """Read a task's experiment: `papers/mao2022` in a clone, or what the package carries of it."""
    from tacit.experiments import loading

    here = Path(__file__).resolve()
    places = [here.parents[1] / "papers", here.parents[3] / "papers"]
    file = next((place / "mao2022" / f"{name}.toml" for place in places if place.is_dir()), None)
    if file is None:
        raise TacitError(
            "the experiments of the paper are not installed; run this from a clone, or install the package"
        )
    experiment = loading.load(file)
    if quick:
        return replace(experiment, seeds=QUICK_SEEDS, episodes=min(experiment.episodes, QUICK_EPISODES))
    return experiment


def _learned(experiment: Experiment, out: Path, workers: int | None) -> tuple[dict[str, dict[str, Any]], TabularGame]:
    """Run an experiment; return each algorithm's outcomes for each of its settings, and the game."""
    from tacit.experiments import run_experiment
    from tacit.experiments.plan import game_of

    with progress_on_stderr(experiment.name) as progress:
        results = run_experiment(experiment, out=out, workers=workers, progress=progress)
    if results.interrupted:
        raise KeyboardInterrupt
    variants: dict[str, dict[str, Any]] = {}
    for one in results.outcomes:
        label, _, setting = one.label.partition(": ")
        variants.setdefault(label, {}).setdefault(setting, []).append(one)
    return variants, game_of(results.outcomes[0].spec)


def _drawn_and_judged(name: str, variants: Variants, game: TabularGame, place: Path) -> list[Claim]:
    from matplotlib.figure import Figure

    from tacit.evaluation import solve
    from tacit.report import claims, save_figure, styled
    from tacit.report.mao2022 import plot_gaps, plot_matrix_team, plot_rewards

    shown: Mapping[str, Sequence[Any]] = {label: next(iter(held.values())) for label, held in variants.items()}
    with styled():
        if name == "matrix-team":
            figure = Figure(figsize=(9, 3.6))
            plot_matrix_team(shown["PG"], axes=figure.subplots(1, 2))
            judged = claims.matrix_team_claims(shown["PG"], game)
        else:
            figure = Figure(figsize=(13, 3.8))
            left, right = figure.subplots(1, 2)
            title = TASKS[name]
            plot_rewards(shown, ax=left, title=f"{title}: reward", optimum=float(solve(game).values[0]))
            plot_gaps(shown, ax=right, title=f"{title}: how far from an equilibrium")
            judged = claims.task_claims(title, variants, game)
            judged += claims.good_state_claims(variants, game) if name == "good-state" else []
        save_figure(figure, place)
    return judged


def _settings(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Yield what is told of the settings, for each learner of an experiment."""
    for learner in experiment.learners:
        chosen = {**experiment.games[0].params, **learner.params}
        told = ", ".join(f"{key}={value}" for key, value in chosen.items())
        yield f"{experiment.name}, {learner.label}", f"`{learner.name}`, {experiment.episodes} episodes, {told}"
