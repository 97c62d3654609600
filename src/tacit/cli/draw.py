"""`tacit report`, `plot` and `export`: results as a page, figure or table. `tacit draw`: pictures of games."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tacit.cli import options
from tacit.core import check, files
from tacit.core.errors import TacitError
from tacit.figures.pictures import DYNAMICS, check_small
from tacit.games.exact import with_tables


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Write a directory of runs as one HTML file that needs no server and no network: settings, curves "
        "with bands (drag to zoom, hover to read, click names to switch lines), gaps with lower and upper bounds, what "
        "the best policy of each learner plays by step and state, who gains by deviating, and an episode step by step.",
        "example:\n  tacit run good-state --seeds 5 --out results/first\n  tacit report results/first -o 1.html",
    )
    parser.add_argument("runs", metavar="DIR", help="a directory of runs (the --out of a run), of such, or a run's own")
    options.add(parser, "-o --out FILE", "an .html (report.html in DIR)")
    options.add(parser, "--watch", "write it again every few seconds while runs go on; the page reloads itself")
    options.add_named(parser)
    options.add_seconds(parser)


def run_report(args: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from tacit.report import watch_report, write_report  # imports the compiler

    place, seconds = files.path(args.runs), check.positive("--seconds", args.seconds)
    out = place / "report.html" if args.out is None else files.path(args.out)
    if args.watch:
        options.say(f"report: {out}")
        options.tell("open it in a browser; it ends with the runs, or with Ctrl-C")
        watch_report(place, out, named=args.game, seconds=seconds)
        return 0
    with options.progress_on_stderr("report", "") as progress:
        write_report(place, out, named=args.game, seconds=seconds, progress=progress.show)
    options.say(f"report: {out}")
    return 0


ENDINGS = (".png", ".svg", ".pdf")


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Draw reward and gap over episodes: a row for each game, a line for each learner (the mean over "
        "seeds), and a band around it. Each kind of gap has an axis; nash gaps, which are of product policies, share "
        "that of cce gaps. A bound is dashed.",
        "example:\n  tacit run experiment.toml --out results/first\n  tacit plot results/first --out first.svg",
    )
    options.add_runs(parser)
    options.add(parser, "-o --out FILE", "a .png, .svg or .pdf (curves.png in the first RUN_DIR)")
    options.add(
        parser,
        "--band",
        "standard deviation over seeds, 95 %% bootstrap interval of the mean, quartiles, or none (sd)",
        "sd",
        choices=["sd", "ci95", "quartiles", "none"],
    )
    options.add(
        parser, "--style", "paper: a column's width, small fonts (screen)", "screen", choices=["screen", "paper"]
    )


def run_plot(args: argparse.Namespace) -> int:
    """Draw the figure and print where it is."""
    first = files.path(args.runs[0])
    place = first / "curves.png" if args.out is None else files.path(args.out)
    if place.suffix not in ENDINGS:
        raise TacitError(f"the name of a figure must end in {', '.join(ENDINGS)}; got {place}")

    import matplotlib

    matplotlib.use("Agg")  # nothing is shown on a screen
    from tacit.experiments.results import Results  # imports the compiler
    from tacit.figures.curves import plot_groups

    _save(plot_groups(Results.load(*args.runs).groups, band=args.band, style=args.style), place)
    options.say(f"figure: {place}")
    return 0


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Write the curves of stored runs as one table with a row for each run, measurement and agent: "
        "game, learner, label, parameters and game_parameters (as JSON), seed, episode, agent, reward (mean return in "
        "the window), value and gap (of the policy at that time), kind (nash, cce, ce) and source (exact, certificate, "
        "…). agent is -1 where a gap is the largest of very many agents.",
        "examples:\n  tacit export results/first\n  tacit export results/* -o all.csv\n"
        "  python -c \"import pandas; print(pandas.read_csv('results/first/results.csv'))\"",
    )
    options.add_runs(parser)
    options.add(parser, "-o --out FILE", "a .csv (results.csv in the first RUN_DIR)")


def run_export(args: argparse.Namespace) -> int:
    """Read the runs and write the table."""
    from tacit.experiments.results import Results
    from tacit.experiments.tables import write_csv

    place = files.path(args.runs[0]) / "results.csv" if args.out is None else files.path(args.out)
    if place.suffix != ".csv":
        raise TacitError(f"the name of a table must end in .csv; got {place}")
    results = Results.load(*args.runs)
    write_csv(results.outcomes, place)
    options.say(f"{len(results.outcomes)} runs: {place}")
    return 0


#: Pictures, with what they show.
KINDS = {
    "policy": "what is played, by step and state (or the joint distribution of a game played once)",
    "play": "an episode step by step; with -o FILE.gif or FILE.html it moves",
    "simplex": "how mixtures of three actions move while agents learn; .gif and .html move",
    "field": "best responses and equilibria of a 2×2 game, and how learners move; .gif and .html move",
    "polytope": "the correlated equilibria of a 2×2 game, with play of learners and a policy",
    "payoffs": "what two agents can get in a game played once: feasible, cce, ce and Nash payoffs",
}


def add_draw(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    kinds = "\n".join(f"  {kind:<9} {what}" for kind, what in KINDS.items())
    options.describe(
        parser,
        f"Draw a picture of a game:\n{kinds}",
        "examples:\n  tacit draw shapley simplex -o cycle.gif        Shapley's cycle of fictitious play\n"
        "  tacit draw chicken field adaptive-v-cce npg -o field.png\n"
        "  tacit draw chicken field replicator --starts 20 -o dynamics.png\n"
        "  tacit draw chicken payoffs -o payoffs.png\n"
        "  tacit draw chicken polytope --concept ce -o ce.png\n"
        "  tacit draw box-pushing play --game-set horizon=6 -o play.gif\n"
        "  tacit draw good-state policy --policy results/first/…/policy.npz -o policy.svg",
    )
    options.add_game(parser)
    parser.add_argument("kind", metavar="PICTURE", help=f"one of: {', '.join(KINDS)}")
    parser.add_argument(
        "learners",
        metavar="LEARNER",
        nargs="*",
        help=f"who learns: names from `tacit learners`, or {', '.join(DYNAMICS)}",
    )
    options.add(parser, "-o --out FILE", ".png, .svg or .pdf; .gif or .html move (PICTURE.png)")
    options.add_policy(parser, "draw this policy, a .npz or .json", " (optimum)")
    options.add(parser, "--episodes K", "episodes of learning (2000)", 2000)
    options.add(parser, "--seed S", "of learning and play (0)", 0)
    options.add(parser, "--starts N", "paths of each learner, from so many starts or seeds (1)", 1)
    options.add(parser, "--frames N", "of a moving picture of learning (60)", 60)
    options.add(parser, "--fps F", "frames a second (12; 1 of play)", kind=float)


def run_draw(args: argparse.Namespace) -> int:
    """Draw the picture and print where it is."""
    kind = check.choice("picture", args.kind, KINDS)
    place = files.path(f"{kind}.png" if args.out is None else args.out)
    moving = place.suffix in (".gif", ".html")
    endings = ENDINGS if kind in ("policy", "polytope", "payoffs") else (*ENDINGS, ".gif", ".html")
    if place.suffix not in endings:
        raise TacitError(f"the name of a picture of {kind} must end in {', '.join(endings)}; got {place}")
    game = options.game_of(args)
    if kind not in ("policy", "play"):
        game = with_tables(game)
    if kind in ("field", "polytope"):
        check_small(game)
    if moving and kind in ("simplex", "field") and args.policy and not args.learners:
        raise TacitError("a policy from a file does not move; name a learner, or give a .png, .svg or .pdf")
    _draw_picture(args, kind, game, place, moving)
    options.say(f"{'animation' if moving else 'figure'}: {place}")
    return 0


def _draw_picture(args: argparse.Namespace, kind: str, game: Any, place: Path, moving: bool) -> None:
    import matplotlib

    matplotlib.use("Agg")  # nothing is shown on a screen
    from tacit.figures import pictures

    if kind == "payoffs":
        axes = pictures.plot_payoffs(game)
    elif kind in ("policy", "play"):
        policy = _policy(args, game)
        if moving:
            pictures.animate_play(game, policy, place, seed=args.seed, fps=args.fps or 1.0)
            return
        if kind == "play":
            axes = pictures.plot_play(game, policy, seed=args.seed)
        else:
            axes = pictures.plot_policy(policy, game)
    else:
        policies = [_policy(args, game)] if kind in ("field", "polytope") and (args.policy or args.concept) else []
        usual = "fictitious-play" if kind == "simplex" else "adaptive-v-cce"
        default = [] if policies else [usual]  # a policy is drawn as it is
        seeds = range(args.seed, args.seed + check.integer("--starts", args.starts, least=1, most=1000))
        limits, learners = {"episodes": args.episodes, "points": 400}, args.learners or default
        paths = [pictures.trajectory(game, who, seed=seed, **limits) for who in learners for seed in seeds]
        if moving:
            pictures.animate_learning(paths, place, frames=args.frames, fps=args.fps or 12.0)
            return
        if kind == "simplex":
            axes = pictures.plot_simplex(paths)
        elif kind == "field":
            axes = pictures.plot_field(game, paths, policies)
        else:
            axes = pictures.plot_polytope(game, paths, policies)
    _save(axes, place)


def _save(axes: Any, place: Path) -> None:
    """Write the figure of axes, and close it."""
    from matplotlib import pyplot

    from tacit.figures import save_figure, styled

    figure = (axes if not hasattr(axes, "flat") else axes.flat[0]).figure
    with styled():
        save_figure(figure, place)
    pyplot.close(figure)


def _policy(args: argparse.Namespace, game: Any) -> Any:
    """Return the policy to draw: of a file, learned, or the game's solution."""
    if args.policy is None and args.learners and args.kind in ("policy", "play"):
        from tacit.learning import learn

        return learn(game, args.learners[0], episodes=args.episodes, seed=args.seed).policy
    args.concept = args.concept or "optimum"
    stated = options.policy_of(args, game)
    assert stated is not None
    return stated[0]
