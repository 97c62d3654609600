"""`tacit evaluate`: values and gaps of stored policies, computed anew."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from tacit.cli import options
from tacit.core import archive
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray

if TYPE_CHECKING:
    from tacit.experiments import Outcome


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "evaluate",
        help="compute values and gaps of stored policies anew, and show them beside the stored ones",
        description="Read the policies of stored runs, compute their exact values and gaps from the game's own tables "
        "and nothing else, and show them beside what was stored. Gaps are exact for Markov policies and exact upper "
        "bounds for certified ones. A policy of an environment, which has no tables, is played, if --game names it: "
        "values and what trained best responses gain, with 95 % intervals; such gains are lower bounds on the gaps.",
        epilog="example:\n  tacit run good-state stage-v-cce --episodes 5000 --seeds 2 --out results/first\n"
        "  tacit evaluate results/first",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", metavar="RUN_DIR", help="a run's directory, or one of many runs (the --out of a run)")
    options.add_named(parser)
    parser.add_argument(
        "--episodes", metavar="K", type=int, default=2000, help="of environments: episodes to train and to play (2000)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Evaluate every run and print the comparison."""
    from tacit.experiments import store  # imports the compiler
    from tacit.experiments.plan import NO_TABLES

    rows, left_out, played = [], set(), []
    for place in store.directories(archive.path(args.runs)):
        stored = store.load(place)
        if stored.spec.tables.startswith(NO_TABLES):
            name = stored.spec.game.name
            if name in args.game:
                played.append(_played(place, stored, args.episodes))
            else:
                told = f"{name} has no tables, so its policies cannot be evaluated exactly"
                left_out.add(f"{told}; --game {name} runs its code, and plays them")
        else:
            rows.append(_row(place, stored, args.game))
    if not rows and not played:
        raise TacitError("; ".join(sorted(left_out)))
    for told in sorted(left_out):
        options.tell(told)
    if args.json:
        options.print_json({"runs": rows, "played": played})
        return 0
    for one in played:
        options.console().print(f"{one['run']}: {one['told']}", soft_wrap=True)
    if not rows:
        return 0
    table = Table("run", "gap", "agent", "value stored", "anew", "gap stored", "anew", box=None, pad_edge=False)
    for row in rows:
        for i, (value, gap) in enumerate(zip(row["value"], row["gap"]["per_agent"], strict=True)):
            stored = row["stored"]
            was = ["—" if stored[key] is None else f"{stored[key][i]:.9g}" for key in ("value", "gap")]
            head = (row["run"], row["gap"]["kind"]) if i == 0 else ("", "")
            table.add_row(*head, str(i), was[0], f"{value:.9g}", was[1], f"{gap:.9g}")
    options.console().print(table)
    return 0


def _played(place: Path, stored: Outcome, episodes: int) -> dict[str, Any]:
    """Play the policy of a run in an environment, and train best responses against it."""
    from tacit.environments.measure import exploit
    from tacit.environments.stored import numbered
    from tacit.experiments import store
    from tacit.experiments.plan import same_game

    named: Any = same_game(stored.spec)
    policy = store.load_policy(place)
    with named.made() as env:
        policy.observations = numbered(env, store.load_states(place))
        given = {key: value for key, value in named.bounds.items() if key == "reward_range"}
        found = exploit(env, policy, episodes=episodes, horizon=stored.horizon, **given)
    return {
        "run": str(place),
        "game": stored.spec.game.name,
        "learner": stored.spec.learner.name,
        "seed": stored.spec.seed,
        "value": found.values.tolist(),
        "gap": {
            "kind": found.kind,
            "source": found.source,
            "lower": found.gap,
            "half": found.half,
            "confidence": found.confidence,
            "per_agent": found.gains.tolist(),
            "deviations": found.deviations,
        },
        "told": str(found),
    }


def _row(place: Path, stored: Outcome, named: list[str]) -> dict[str, Any]:
    from tacit.evaluation import evaluate
    from tacit.experiments import store
    from tacit.experiments.plan import game_of

    gap = stored.gap
    bounds = None if gap is None else gap.upper
    game = game_of(stored.spec, named=named)
    if (stored.agents, stored.horizon) != (game.agents, game.horizon):
        raise TacitError(f"{place / store.SUMMARY} is altered: it has other agents or another horizon than the game")
    found = evaluate(game, store.load_policy(place), gap=None if gap is None else gap.kind)
    return {
        "run": str(place),
        "game": stored.spec.game.name,
        "learner": stored.spec.learner.name,
        "seed": stored.spec.seed,
        "episodes": stored.episodes,
        "value": found.values.tolist(),
        "gap": {"kind": found.kind, "exact": found.exact, "max": found.gap, "per_agent": found.gaps.tolist()},
        "stored": {
            "value": stored.value,
            "gap": bounds,
            "source": None if gap is None else gap.source,
        },
        "largest_difference": max(_distance(found.values, stored.value), _distance(found.gaps, bounds)),
    }


def _distance(anew: FloatArray, stored: list[float] | None) -> float:
    return 0.0 if stored is None else float(np.max(np.abs(anew - np.asarray(stored))))
