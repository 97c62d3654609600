"""Run the simulations of Mao et al. (2022), draw their figures, and judge the paper's claims by written rules.

    python papers/mao2022/reproduce.py --quick     5 seeds each, without the long runs: a minute or two (`make paper`)
    python papers/mao2022/reproduce.py             20 seeds, 200 on the matrix team: 5 minutes
    python papers/mao2022/reproduce.py --full      the long runs too, up to 5M episodes: 15 minutes

Runs are kept in the output directory: interrupt it and run the same command to resume.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import claims
import measures
import page
from tacit.cli.options import progress_on_stderr
from tacit.core import files
from tacit.core.errors import TacitError
from tacit.experiments import Experiment, run_experiment
from tacit.experiments.spec import game_of
from tacit.experiments.store import make_directory
from tacit.figures import save_figure, styled
from tacit.games.exact import with_tables
from tacit.games.tabular import TabularGame


@dataclass(frozen=True)
class Panel:
    """One experiment of this directory: its target on the command line, its file, and the task's name for people."""

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
VERDICTS = (claims.HOLDS, claims.DEPENDS, claims.FAILS)
DIRECTORY = Path(__file__).parent


@dataclass
class Report:
    """Claims, tables, rows of numbers and settings of the panels so far."""

    claims: list[claims.Claim] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    rows: list[tuple[object, ...]] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)
    panels: dict[str, page.Variants] = field(default_factory=dict)
    optima: dict[str, float] = field(default_factory=dict)
    summary: list[str] = field(default_factory=list)

    def add(self, panel: Panel, experiment: Experiment, variants: page.Variants, game: TabularGame, out: Path) -> None:
        """Measure a panel, draw it, and judge its claims."""
        task, team = measures.Task(panel.title, game), panel.target == "matrix-team"
        measure: Any = measures.measure_team if team else measures.measure
        groups = {
            group: [measure(setting, runs, task) for setting, runs in settings.items()]
            for group, settings in variants.items()
        }
        figure = page.team_figure(variants) if team else page.task_figure(variants, task)
        name = panel.title.partition(",")[0]
        if name not in self.panels:
            self.panels[name], self.optima[name] = variants, task.optimum
            self.summary.append(summarize_panel(name, experiment.seeds, groups))
        self.claims += claims.team_claims(task, groups) if team else claims.task_claims(task, groups)
        self.claims += [claims.approaches(task, groups)] if panel.target == "good-state" else []
        self.tables.append(page.team_table(task, groups) if team else page.task_table(task, groups))
        self.rows += page.rows(panel.title, groups)
        with styled():
            save_figure(figure, out / f"supplement-{panel.file}.png")
        self.settings |= dict(list_settings(experiment))
        self.seeds[panel.title] = experiment.seeds


def summarize_panel(name: str, seeds: int, groups: Any) -> str:
    """Say in one line what the paper's algorithms reached with the paper's settings."""
    if "Centralized" not in groups:
        one = groups["PG"][0]
        reached = f"PG {one.value.mean:.3g} (last iterate), {one.average_value.mean:.3g} (average)"
    else:
        means = {label: groups[group][0].reward.mean for label, group in page.PAPERS_NAMES.items()}
        reached = ", ".join(f"{label} {mean:.3g}" for label, mean in means.items())
    return f"{name}, {seeds} seeds, mean reward: {reached}"


def load_experiment(name: str, *, seeds: int | None = None, episodes: int | None = None) -> Experiment:
    """Read an experiment of this directory, with other numbers of seeds and episodes where they are named."""
    experiment = Experiment.load(DIRECTORY / f"{name}.toml")
    if seeds is not None:
        experiment = replace(experiment, seeds=seeds)
    if episodes is not None:
        experiment = replace(experiment, options=replace(experiment.options, episodes=episodes))
    return experiment


def learn(experiment: Experiment, out: Path, workers: int | None) -> tuple[dict[str, dict[str, Any]], TabularGame]:
    """Run an experiment; return the outcomes of each setting of each group, and the game."""
    with progress_on_stderr(experiment.name) as progress:
        results = run_experiment(experiment, out=out, workers=workers, progress=progress)
    if results.interrupted:
        raise KeyboardInterrupt
    if results.failures:  # no claim is judged by a part of the seeds
        raise TacitError(results.failures[0].sentence)
    variants: dict[str, dict[str, Any]] = {}
    for outcome in results.outcomes:
        group, _, setting = outcome.label.partition(": ")
        variants.setdefault(group, {}).setdefault(setting, []).append(outcome)
    return variants, with_tables(game_of(results.outcomes[0].spec))


def list_settings(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """Yield the settings of each learner of an experiment."""
    for learner in experiment.learners:
        params = {**experiment.games[0].params, **learner.params}
        text = ", ".join(f"{key}={value}" for key, value in params.items())
        yield f"{experiment.name}, {learner.label}", f"`{learner.name}`, {experiment.options.episodes} episodes, {text}"


def reproduce(args: argparse.Namespace) -> None:
    """Learn, draw and judge."""
    out = Path(args.out)
    make_directory(out)
    report = Report()
    seeds = args.seeds if args.seeds is not None else QUICK_SEEDS if args.quick else None
    for panel in PANELS:
        if args.target not in (panel.target, "all") or (panel.long and not args.full):
            continue
        experiment = load_experiment(panel.file, seeds=seeds, episodes=args.episodes)
        variants, game = learn(experiment, out / "runs", args.workers)
        report.add(panel, experiment, variants, game, out)
    counts = {verdict: sum(claim.verdict == verdict for claim in report.claims) for verdict in VERDICTS}
    judged = f"{counts[claims.HOLDS]} of {len(report.claims)} rows of claims hold in all settings that were run, "
    judged += f"{counts[claims.DEPENDS]} in some, {counts[claims.FAILS]} in none"
    form = "settings as printed"
    if args.quick:
        form = "quick form: 5 seeds instead of the paper's 20, without the long runs"
    summary = [*report.summary, judged, f"{form}; figure1.pdf shows the paper's four algorithms"]
    figure = page.paper_figure(report.panels, report.optima)
    with styled("paper"):
        for ending in ("pdf", "png"):
            save_figure(figure, out / f"figure1.{ending}")
    text = page.page(report.claims, report.tables, report.settings, report.seeds, summary)
    files.write(out / "claims.md", text.encode())
    files.write(out / "results.csv", page.write_csv(report.rows).encode())
    print("\n".join(summary))
    print(f"figure: {out / 'figure1.pdf'}, claims: {out / 'claims.md'}, numbers: {out / 'results.csv'}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code: 0 done, 2 wrong usage or a run that failed, 130 interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", metavar="TARGET", nargs="?", choices=TARGETS, default="all", help=", ".join(TARGETS))
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--quick", action="store_true", help="5 seeds each, without the long runs")
    amount.add_argument("--full", action="store_true", help="the long runs too")
    parser.add_argument("--seeds", metavar="N", type=int, help="seeds of each setting (as in the files)")
    parser.add_argument("--episodes", metavar="K", type=int, help="episodes of each run (as in the files)")
    parser.add_argument("--out", metavar="DIR", default="results/paper", help="where the results go (results/paper)")
    parser.add_argument("--workers", metavar="N", type=int, help="threads (the number of cores)")
    try:
        reproduce(parser.parse_args(argv))
    except TacitError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("reproduce: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
