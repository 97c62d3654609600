"""`tacit reproduce`: the paper's figures, made anew, and a table that says which of its claims hold."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.cli.progress import progress_on_stderr
from tacit.core import check
from tacit.core.errors import TacitError
from tacit.games import make

if TYPE_CHECKING:
    from tacit.report.claims import Claim, Variants

TARGETS = ("matrix-team", "good-state", "box-pushing", "all")


@dataclass(frozen=True)
class Task:
    """A task of the paper: its game, how long to learn, and each algorithm with one or more settings.

    Figures show the first setting of each; the claims are judged with all of them.
    """

    game: dict[str, Any]
    episodes: int
    quick_episodes: int
    learners: dict[str, tuple[str, dict[str, dict[str, Any]]]]


#: The bonus constant of Independent is not given, and its outcome depends on it.
INDEPENDENT: dict[str, dict[str, Any]] = {
    "bonus 0": {"bonus": 0.0},
    "bonus 0.02": {"bonus": 0.02},
    "bonus 0.1": {"bonus": 0.1},
}

#: What the paper gives is taken; what it leaves open (exploration, bonus constants, units of the loss, BoxPushing's
#: horizon and episodes) is ours, and is told in claims.md.
TASKS = {
    "matrix-team": Task(
        {}, 5000, 5000, {"PG": ("pg-storm", {"ε̃ = 0.05": {"eta": 1e-4, "momentum": 0.5, "exploration": 0.05}})}
    ),
    "good-state": Task(
        {"horizon": 10},
        50_000,
        50_000,
        {
            "V-Learning": (
                "stage-v-cce",
                {
                    "losses in raw units": {"step": 0.2, "loss": "raw", "bonus": 0.1},
                    "losses over H, as printed": {"step": 0.2, "bonus": 0.1},
                },
            ),
            "PG": ("pg-storm", {"ε̃ = 0": {"eta": 1e-4, "momentum": 0.5}}),
            "Centralized": ("ucb-central", {"bonus 0.02": {"bonus": 0.02}}),
            "Independent": ("ucb-independent", INDEPENDENT),
        },
    ),
    "box-pushing": Task(
        {"horizon": 5},
        200_000,
        50_000,
        {
            "V-Learning": (
                "stage-v-cce",
                {
                    "losses in raw units": {"step": 0.05, "loss": "raw", "bonus": 0.02},
                    "losses over H, as printed": {"step": 0.05, "bonus": 0.02},
                },
            ),
            "PG": ("pg-storm", {"ε̃ = 0": {"eta": 5e-4, "momentum": 0.1}}),
            "Centralized": ("ucb-central", {"bonus 0.02": {"bonus": 0.02}}),
            "Independent": ("ucb-independent", INDEPENDENT),
        },
    ),
}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help="the paper's figures, made anew, and a table of its claims",
        description="Run the paper's simulations, draw its figures and judge its claims by written rules.",
    )
    known = ", ".join(TARGETS)
    parser.add_argument("target", metavar="TARGET", nargs="?", default="all", help=f"one of: {known} (all)")
    parser.add_argument("--quick", action="store_true", help="5 seeds, not 20, and BoxPushing for 50,000 episodes")
    parser.add_argument("--out", metavar="DIR", default="results/paper", help="where the results go (results/paper)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Learn, draw and judge."""
    target = check.choice("target", args.target, TARGETS)
    seeds = 5 if args.quick else 20
    directory = Path(args.out)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TacitError(f"cannot write to {directory}: {error.strerror}") from None
    out = options.console()
    claims: list[Claim] = []
    for name in TASKS if target == "all" else [target]:
        variants = _variants(name, seeds, quick=args.quick)
        place = directory / f"{name}.png"
        claims += _draw_and_judge(name, variants, place)
        out.print(f"figure: {place}", soft_wrap=True)
    from tacit.report.claims import table

    text = table(claims, dict(_settings(target, quick=args.quick)), seeds)
    (directory / "claims.md").write_text(text, encoding="utf-8")
    for claim in claims:
        out.print(f"{claim.verdict:>22}: {claim.says} ({claim.task}): {claim.measured}", soft_wrap=True)
    out.print(f"claims: {directory / 'claims.md'}", soft_wrap=True)
    return 0


def _variants(name: str, seeds: int, *, quick: bool) -> dict[str, dict[str, Any]]:
    """Learn with every algorithm in every setting."""
    from tacit.experiments import learn_seeds

    task = TASKS[name]
    game = make(name, **task.game)
    found: dict[str, dict[str, Any]] = {label: {} for label in task.learners}
    for label, (learner, settings) in task.learners.items():
        for setting, params in settings.items():
            with progress_on_stderr(f"{name} {label}, {setting}", seeds) as progress:
                batch = learn_seeds(
                    game,
                    learner,
                    episodes=task.quick_episodes if quick else task.episodes,
                    seeds=range(seeds),
                    progress=progress,
                    keep=False,
                    **params,
                )
            if batch.interrupted:
                raise KeyboardInterrupt
            found[label][setting] = batch.runs
    return found


def _draw_and_judge(name: str, variants: Variants, place: Path) -> list[Claim]:
    from matplotlib.figure import Figure

    from tacit.evaluation import solve
    from tacit.report import claims, styled
    from tacit.report.mao2022 import plot_gaps, plot_matrix_team, plot_rewards

    results = {label: next(iter(settings.values())) for label, settings in variants.items()}
    with styled():
        if name == "matrix-team":
            figure = Figure(figsize=(9, 3.6))
            plot_matrix_team(results["PG"], axes=figure.subplots(1, 2))
            judged = claims.matrix_team_claims(results["PG"])
        else:
            figure = Figure(figsize=(13, 3.8))
            left, right = figure.subplots(1, 2)
            game = next(iter(results.values()))[0].game
            title = {"good-state": "GoodState", "box-pushing": "BoxPushing"}[name]
            plot_rewards(results, ax=left, title=f"{title}: reward", optimum=float(solve(game).values[0]))
            plot_gaps(results, ax=right, title=f"{title}: how far from an equilibrium")
            judged = claims.task_claims(title, variants)
            judged += claims.good_state_claims(variants) if name == "good-state" else []
        figure.savefig(place)
    return judged


def _settings(target: str, *, quick: bool) -> Iterator[tuple[str, str]]:
    for name, task in TASKS.items():
        if target in (name, "all"):
            episodes = task.quick_episodes if quick else task.episodes
            for label, (learner, settings) in task.learners.items():
                for setting, params in settings.items():
                    chosen = ", ".join(f"{key}={value}" for key, value in {**task.game, **params}.items())
                    yield f"{name}, {label}, {setting}", f"`{learner}`, {episodes} episodes, {chosen}"
