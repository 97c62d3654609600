"""`tacit solve`: exact reference solutions."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from tacit.cli import options
from tacit.core import check
from tacit.evaluation import deviation_table, evaluate, solve
from tacit.evaluation.solve import CONCEPTS


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "solve",
        help="solve a game exactly: its optimum, a cce, a ce or a nash equilibrium",
        description="Solve a game exactly by backward induction, and check the solution's equilibrium gap.",
    )
    options.add_game(parser)
    parser.add_argument(
        "concept", metavar="CONCEPT", nargs="?", default="optimum", help=f"one of: {', '.join(CONCEPTS)}"
    )
    parser.add_argument("--out", metavar="FILE", help="write the policy to this .npz file")
    parser.add_argument("--all", action="store_true", help="show every row of the policy, of unreached places too")
    parser.add_argument("--json", action="store_true", help="print one JSON document, with the policy")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Solve, check and print."""
    concept = check.choice("concept", args.concept, CONCEPTS)
    game = options.game_of(args)
    solution = solve(game, concept)
    gap = evaluate(game, solution.policy, gap="nash" if concept == "optimum" else concept)
    if args.out:
        solution.policy.save(args.out)
    shown = solution.policy.show(everything=args.all, limit=None if args.all else 40)
    apart = deviation_table(game, solution.policy, gap=gap.kind)
    if args.json:
        options.print_json(
            {
                "game": args.game,
                "concept": concept,
                "horizon": game.horizon,
                "agents": game.agents,
                "value": solution.values.tolist(),
                "gap": {"kind": gap.kind, "max": gap.gap, "per_agent": gap.gaps.tolist()},
                "policy": shown.data,
                "deviations": apart.data(limit=None if args.all else 40),
            }
        )
        return 0
    out = options.console()
    out.print(repr(game), soft_wrap=True)
    options.print_document(shown)
    out.print()
    if len(apart.terms) and apart.gaps.max() > 1e-9 * max(1.0, float(np.abs(solution.V).max())):
        options.print_document(apart.show(limit=None if args.all else 12))
        out.print()
    for i, value in enumerate(solution.values):
        out.print(f"agent {i}: value {value:.6f}, {gap.kind} gap {gap.gaps[i]:.3g}")
    total = solution.values.sum()
    out.print(f"{concept}: total value {total:.6f}, {gap.kind} gap {gap.gap:.3g} (exact, the largest of all agents)")
    return 0
