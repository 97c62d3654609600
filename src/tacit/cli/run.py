"""`tacit run`: learn over seeds and tell how good the result is."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from tacit.cli import options
from tacit.cli.progress import progress_on_stderr
from tacit.core import check
from tacit.core.errors import TacitError


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "run",
        help="let the agents of a game learn, over one or more seeds",
        description="Let the agents of a game learn, each alone, and certify the policy they arrive at.",
    )
    options.add_game(parser)
    parser.add_argument("learner", metavar="LEARNER", help="a name from `tacit learners`")
    parser.add_argument("--episodes", metavar="K", type=int, required=True, help="episodes to learn for")
    parser.add_argument("--seeds", metavar="N", type=int, default=1, help="number of runs, with seeds s, s+1, … (1)")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="the first seed (0)")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a parameter of the learner, e.g. bonus=0.1 or preset=paper; may be given several times",
    )
    parser.add_argument("--workers", metavar="N", type=int, help="threads (the number of cores)")
    parser.add_argument(
        "--certify", choices=["auto", "yes", "no"], default="auto", help="keep the exact certificate (auto)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Learn, then print the summary; 130 where Ctrl-C ended it early."""
    from tacit.experiments import learn_seeds  # imports the compiler

    game = options.game_of(args)
    count = check.integer("--seeds", args.seeds, least=1)
    first = check.integer("--seed", args.seed, least=0)
    check.integer("--episodes", args.episodes, least=1)
    params = options.settings("--set", args.set)
    clash = {"episodes", "seed", "seeds", "certify", "keep", "points", "progress", "workers"} & params.keys()
    if clash:
        raise TacitError(f"--set has no parameter {sorted(clash)[0]!r} of a learner; see `tacit learners`")
    with progress_on_stderr(f"{args.game} {args.learner}", count) as progress:
        batch = learn_seeds(
            game,
            args.learner,
            episodes=args.episodes,
            seeds=range(first, first + count),
            workers=args.workers,
            progress=progress,
            certify={"auto": None, "yes": True, "no": False}[args.certify],
            keep=False,
            **params,
        )
    document = _document(args, game, batch)
    if args.json:
        options.print_json(document)
    else:
        _print(game, batch, document)
    return 130 if batch.interrupted else 0


def _document(args: argparse.Namespace, game: Any, batch: Any) -> dict[str, Any]:
    from tacit.evaluation import evaluate
    from tacit.experiments import summarize

    runs = batch.runs
    reward = summarize([one.reward[0] for one in runs])
    upper = np.array([one.gaps.upper for one in runs])
    values = [one.values if one.values is not None else evaluate(game, one.last).values for one in runs]
    steps = sum(one.episodes for one in runs) * game.horizon
    return {
        "game": args.game,
        "learner": args.learner,
        "episodes": args.episodes,
        "horizon": game.horizon,
        "agents": game.agents,
        "seeds": len(runs),
        "reward": {"mean": reward.mean, "std": reward.std, "ci95": list(reward.ci95)},
        "value": np.mean(values, axis=0).tolist(),
        "gap": None
        if runs[0].gaps.source == "none"
        else {
            "kind": runs[0].gaps.kind,
            "source": runs[0].gaps.source,
            "mean": float(upper.max(axis=1).mean()),
            "max": float(upper.max()),
            "per_agent": upper.mean(axis=0).tolist(),
        },
        "steps_per_second": steps / batch.seconds,
        "wall_seconds": batch.seconds,
        "params": dict(runs[0].params),
        "interrupted": batch.interrupted,
    }


def _print(game: Any, batch: Any, document: dict[str, Any]) -> None:
    out = options.console()
    reward, gap = document["reward"], document["gap"]
    seeds = "1 seed" if document["seeds"] == 1 else f"{document['seeds']} seeds"
    out.print(repr(game), soft_wrap=True)
    if batch.interrupted:
        least = min(one.episodes for one in batch.runs)
        out.print(f"interrupted: each run holds at least {least} of {document['episodes']} episodes")
    low, high = reward["ci95"]
    out.print(
        f"reward of agent 0, last tenth of the episodes: {reward['mean']:.4g} ± {reward['std']:.3g} "
        f"(standard deviation over {seeds}; 95 % interval of the mean {low:.4g} to {high:.4g})",
        soft_wrap=True,
    )
    if gap is not None:
        whose, kind = {
            "exact": ("the policy: exactly", "exact"),
            "certificate": ("the certified policy: at most", "exact certificate"),
            "model-free": ("the certified policy: at most", "each agent's own bound"),
        }[gap["source"]]
        out.print(
            f"{gap['kind']} gap of {whose} {gap['mean']:.4g} on average, {gap['max']:.4g} in the worst seed "
            f"({kind}, the largest of all agents)",
            soft_wrap=True,
        )
    out.print(f"{document['steps_per_second']:.3g} steps a second, {document['wall_seconds']:.2f} s")
