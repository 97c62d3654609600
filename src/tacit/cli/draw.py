"""`tacit plot` and `tacit draw`: figures of results, and of games, policies and learning."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.core import check, files
from tacit.core.errors import TacitError, brief
from tacit.figures.pictures import check_small
from tacit.figures.style import check_size
from tacit.games.exact import with_tables
from tacit.policies.recorded import take_start

if TYPE_CHECKING:
    from tacit.experiments import Group


ENDINGS = (".png", ".svg", ".pdf")


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Draw reward and gap over episodes: a row for each game, a line for each learner (the mean over "
        "seeds), and a band around it. Each kind of gap (nash, cce, ce) has an axis of its own; a bound is dashed.",
        "example:\n  tacit run experiment.toml --out results/first\n  tacit plot results/first --out first.svg",
    )
    options.add_runs(parser)
    options.add(parser, "--out FILE", "a .png, .svg or .pdf (curves.png in the first RUN_DIR)")
    options.add(
        parser,
        "--band",
        "standard deviation over seeds, 95 %% bootstrap interval of the mean, quartiles, or none (sd)",
        "sd",
        choices=["sd", "ci95", "quartiles", "none"],
    )
    options.add(parser, "--columns C,…", "of reward, value, gap, l2_gap (reward,gap)", "reward,gap")
    options.add(parser, "--agents I,…", "a line for each of these agents, e.g. 0,1 (agent 0; largest gap)")
    options.add(parser, "--scale", "of gaps; log is linear just above zero (log)", "log", choices=["log", "linear"])
    options.add(parser, "--title TEXT", "instead of the game and what is drawn")
    options.add(parser, "--size WxH", "width and height in inches, e.g. 10x4")
    options.add(
        parser,
        "--candidate",
        "whose gap: that of the best at every time, or of one candidate of certified policies (best)",
        "best",
        kind=take_start,
        choices=["best", "average", "recent", "last"],
    )


def size_of(given: str | None) -> tuple[float, float] | None:
    """Return the width and height that --size states."""
    if given is None:
        return None
    parts = given.lower().replace("×", "x").split("x")
    try:
        width, height = (float(part) for part in parts)
    except ValueError:
        raise TacitError(f"--size is {brief(given)}; it must be WIDTHxHEIGHT in inches, e.g. 10x4") from None
    return check_size((width, height))


def _numbers(option: str, given: str, between: str) -> list[int]:
    parts = [part.strip() for part in given.split(between)]
    if not all(part.isdecimal() for part in parts):
        raise TacitError(f"{option} is {brief(given)}; it must be whole numbers, e.g. 0{between}1")
    return [int(part) for part in parts]


def stored_groups(places: Sequence[str]) -> list[Group]:
    """Return the runs in some directories, each once, in the order of their experiment."""
    from tacit.experiments.results import Results  # imports the compiler

    return Results.load(*places).groups


def run_plot(args: argparse.Namespace) -> int:
    """Draw the figure and print where it is."""
    first = files.path(args.runs[0])
    place = first / "curves.png" if args.out is None else files.path(args.out)
    if place.suffix not in ENDINGS:
        raise TacitError(f"{place} has no ending of a figure; give one of {', '.join(ENDINGS)}")

    from tacit.figures import save_figure
    from tacit.figures.results import results_figure

    figure = results_figure(
        stored_groups(args.runs),
        band=args.band,
        candidate=args.candidate,
        columns=[word.strip() for word in args.columns.split(",")],
        agents=None if args.agents is None else _numbers("--agents", args.agents, ","),
        scale=args.scale,
        title=args.title,
        size=size_of(args.size),
    )
    save_figure(figure, place)
    options.say(f"figure: {place}")
    return 0


#: Pictures, with what they show.
KINDS = {
    "policy": "what is played, by step and state (or the joint distribution of a game played once)",
    "play": "an episode step by step; with -o FILE.gif or FILE.html it moves",
    "simplex": "how mixtures of three actions move while agents learn; .gif and .html move",
    "field": "best responses and equilibria of a 2×2 game, and how learners move; .gif and .html move",
    "polytope": "the correlated equilibria of a 2×2 game, with play of learners and a policy",
    "learning": "what agents play at the first step while they learn: .gif or .html",
}
#: Who learns where nobody is named.
_LEARNER = {"simplex": "fictitious-play", "field": "adaptive-v-cce", "polytope": "adaptive-v-cce"}


def add_draw(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    told = "\n".join(f"  {kind:<9} {what}" for kind, what in KINDS.items())
    options.describe(
        parser,
        f"Draw a picture of a game:\n{told}",
        "examples:\n  tacit draw shapley simplex -o cycle.gif        Shapley's cycle of fictitious play\n"
        "  tacit draw chicken field adaptive-v-cce npg -o field.png\n"
        "  tacit draw chicken polytope --concept ce -o ce.png\n"
        "  tacit draw box-pushing play --game-set horizon=6 -o play.gif\n"
        "  tacit draw good-state policy --policy results/first/…/policy.npz -o policy.svg",
    )
    options.add_game(parser)
    parser.add_argument("kind", metavar="PICTURE", help=f"one of: {', '.join(KINDS)}")
    parser.add_argument(
        "learners", metavar="LEARNER", nargs="*", help="who learns: names from `tacit learners`, or fictitious-play"
    )
    options.add(parser, "-o --out FILE", ".png, .svg or .pdf; .gif or .html move (PICTURE.png)")
    options.add_policy(parser, "draw this policy, a .npz or .json", " (optimum)")
    options.add(parser, "--episodes K", "episodes of learning (2000)", 2000)
    options.add(parser, "--seed S", "of learning and play (0)", 0)
    options.add(parser, "--frames N", "of a moving picture of learning (60)", 60)
    options.add(parser, "--fps F", "frames a second (12; 1 of play)", kind=float)
    options.add(parser, "--size WxH", "width and height in inches, e.g. 10x4")


def run_draw(args: argparse.Namespace) -> int:
    """Draw the picture and print where it is."""
    kind = check.choice("picture", args.kind, KINDS)
    moves = kind == "learning"
    place = files.path(args.out if args.out is not None else f"{kind}.{'gif' if moves else 'png'}")
    moving = place.suffix in (".gif", ".html")
    if moves and not moving:
        raise TacitError(f"{place} does not move; give a .gif or an .html")
    if moving and kind in ("policy", "polytope"):
        raise TacitError(f"the {kind} does not move; give a .png, .svg or .pdf")
    if not moving and place.suffix not in ENDINGS:
        raise TacitError(f"{place} has no ending of a picture; give one of {', '.join((*ENDINGS, '.gif', '.html'))}")
    size = size_of(args.size)
    game = options.game_of(args)
    if kind not in ("policy", "play"):
        game = with_tables(game)
    if kind in ("field", "polytope"):
        check_small(game)
    if moving and kind in ("simplex", "field", "learning") and args.policy and not args.learners:
        raise TacitError("a policy from a file does not move; name a learner, or give a .png, .svg or .pdf")
    _draw_picture(args, kind, game, place, moving, size)
    options.say(f"{'animation' if moving else 'figure'}: {place}")
    return 0


def _draw_picture(
    args: argparse.Namespace, kind: str, game: Any, place: Path, moving: bool, size: tuple[float, float] | None
) -> None:
    import matplotlib

    matplotlib.use("Agg")  # nothing is shown on a screen
    from tacit.engine.trajectory import trajectory
    from tacit.figures import pictures, save_figure
    from tacit.figures.style import styled

    if kind in ("policy", "play"):
        policy = _policy(args, game)
        if moving:
            pictures.animate_play(game, policy, place, seed=args.seed, fps=args.fps or 1.0)
            return
        axes = (
            pictures.plot_policy(policy, game, size=size)
            if kind == "policy"
            else pictures.plot_play(game, policy, seed=args.seed, size=size)
        )
    else:
        held = [_policy(args, game)] if kind in ("field", "polytope") and (args.policy or args.concept) else []
        unasked = [] if held else [_LEARNER.get(kind, "adaptive-v-cce")]  # a policy is drawn as it is
        learners = args.learners or unasked
        options_of = {"episodes": args.episodes, "seed": args.seed, "points": 400}
        paths = [trajectory(game, learner, **options_of) for learner in learners]
        if moving:
            pictures.animate_learning(paths, place, frames=args.frames, fps=args.fps or 12.0)
            return
        if kind == "simplex":
            axes = pictures.plot_simplex(paths, size=size)
        elif kind == "field":
            axes = pictures.plot_field(game, paths, held, size=size)
        else:
            axes = pictures.plot_polytope(game, paths, held, size=size)
    figure = (axes if not hasattr(axes, "flat") else axes.flat[0]).figure
    with styled():
        save_figure(figure, place)
    from matplotlib import pyplot

    pyplot.close(figure)


def _policy(args: argparse.Namespace, game: Any) -> Any:
    """Return the policy that is to be drawn: of a file, learned, or the solution of the game."""
    if args.policy is None and args.learners and args.kind in ("policy", "play"):
        from tacit.learning import learn

        return learn(game, args.learners[0], episodes=args.episodes, seed=args.seed).policy
    args.concept = args.concept or "optimum"
    found = options.policy_of(args, game)
    assert found is not None
    return found[0]
