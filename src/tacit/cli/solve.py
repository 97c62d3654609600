"""`tacit solve`: reference solutions, exact where that is possible."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from tacit.cli import options
from tacit.core import check
from tacit.core.errors import TacitError
from tacit.evaluation import deviation_table, equilibria, evaluate
from tacit.evaluation.equilibria import Equilibria, enumerable
from tacit.evaluation.objectives import OBJECTIVES, RULES, tied
from tacit.evaluation.solve import CONCEPTS, Solution
from tacit.solving import METHODS, solve

EPILOG = """examples:
  tacit solve good-state                           best total reward
  tacit solve chicken ce                           the correlated equilibrium of largest total reward
                                                   (if several are equally good, one of them)
  tacit solve chicken ce --objective egalitarian   the one in which who gets least gets most
  tacit solve chicken ce --objective entropy       the one of largest entropy, the most random
  tacit solve chicken nash                         all extreme equilibria of a small two-player game
  tacit solve random-general-sum nash --select egalitarian
                                                   one of each stage game, backwards from the last step
  tacit solve congestion cce --tolerance 0.001     where a linear program is too large, by sweeps with full information;
  tacit solve openspiel:markov_soccer nash --game-set horizon=30 --seconds 20
                                                   or where it takes too long; the exact gap says how close it is"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "solve",
        help="solve a game: its optimum, a cce, a ce or its nash equilibria",
        description="Solve a game by backward induction, show the policy, and check its equilibrium gap. What cannot "
        "be solved exactly, or not in time, is approximated by sweeps with full information, and its exact gap is "
        "told; Ctrl-C ends them and keeps the best.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_game(parser)
    parser.add_argument(
        "concept", metavar="CONCEPT", nargs="?", default="optimum", help=f"one of: {', '.join(CONCEPTS)} (optimum)"
    )
    parser.add_argument(
        "--objective", metavar="O", help=f"which cce or ce of each stage: {', '.join(OBJECTIVES)} (welfare)"
    )
    parser.add_argument(
        "--select", metavar="RULE", help=f"which nash equilibrium of each stage: {', '.join(RULES)} (welfare)"
    )
    parser.add_argument(
        "--method", metavar="M", default="auto", help="auto, exact, or learn: sweeps with full information (auto)"
    )
    parser.add_argument(
        "--tolerance", metavar="G", type=float, help="gap at which sweeps end (a ten-thousandth of uniform play's)"
    )
    parser.add_argument("--seconds", metavar="T", type=float, help="after how long they end")
    parser.add_argument("--rounds", metavar="K", type=int, help="sweeps at most (1000, without --seconds)")
    parser.add_argument("--out", metavar="FILE", help="write the policy to this .npz file")
    parser.add_argument("--all", action="store_true", help="show every row of the policy, of unreached places too")
    parser.add_argument("--json", action="store_true", help="print one JSON document, with the policy")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Solve, check and print."""
    concept = check.choice("concept", args.concept, CONCEPTS)
    check.choice("method", args.method, METHODS)
    if args.objective is not None and concept not in ("cce", "ce"):
        raise TacitError(f"--objective chooses among cce and ce, not for {concept}; nash takes --select")
    if args.select is not None and concept != "nash":
        raise TacitError(f"--select chooses among nash equilibria, not for {concept}; cce and ce are by --objective")
    game = options.game_of(args)
    chosen: dict[str, Any] = {"objective": args.objective or "welfare", "select": args.select or "welfare"}
    limits = {name: getattr(args, name) for name in ("tolerance", "seconds", "rounds")}
    solution = solve(game, concept, method=args.method, progress=options.tell, **limits, **chosen)
    every = equilibria(game) if concept == "nash" and enumerable(game) else None
    gap = solution.gap or evaluate(game, solution.policy, gap="nash" if concept == "optimum" else concept)
    if args.out:
        solution.policy.save(args.out)
    shown = solution.policy.show(everything=args.all, limit=None if args.all else 40)
    apart = deviation_table(game, solution.policy, gap=gap.kind)
    code = 130 if solution.ended == "interrupted" else 0
    if args.json:
        options.print_json(
            {
                "game": args.game,
                "concept": concept,
                "horizon": game.horizon,
                "agents": game.agents,
                "value": solution.values.tolist(),
                "gap": {"kind": gap.kind, "max": gap.gap, "per_agent": gap.gaps.tolist(), "exact": gap.exact},
                "method": solution.method,
                "approximate": solution.gap is not None,
                "ended": solution.ended or None,
                "policy": shown.data,
                "deviations": apart.data(limit=None if args.all else 40),
                **({} if every is None else every.data()),
            }
        )
        return code
    out = options.console()
    out.print(repr(game), soft_wrap=True)
    if every is not None:
        options.print_document(every.show(limit=None if args.all else 20))
    else:
        options.print_document(shown)
    out.print()
    if len(apart.terms) and apart.gaps.max() > 1e-8 * max(1.0, float(np.abs(solution.V).max())):
        options.print_document(apart.show(limit=None if args.all else 12))
        out.print()
    if every is not None and len(every) > 1:
        _print_row(out, every, solution, chosen["select"])
    for i, value in enumerate(solution.values[:20]):
        out.print(f"agent {i}: value {value:.6f}, {gap.kind} gap {gap.gaps[i]:.3g}")
    if game.agents > 20:
        out.print(f"{game.agents - 20} more agents are not shown; --json has all")
    sure = "exact" if gap.exact else "exact upper bound"
    out.print(f"method: {solution.method}", soft_wrap=True)
    total = solution.values.sum()
    out.print(f"{concept}: total value {total:.6f}, {gap.kind} gap {gap.gap:.3g} ({sure}, the largest of all agents)")
    return code


def _print_row(out: Any, every: Equilibria, solution: Solution, rule: str) -> None:
    """Say which of the listed equilibria the values below are of, if it is one of them."""
    own = solution.policy.probs
    for k, policy in enumerate(every.policies):
        if all(np.allclose(mine, theirs, atol=1e-9) for mine, theirs in zip(own, policy.probs, strict=True)):
            others = [int(j) + 1 for j in tied(every.values, rule) if j != k]
            known = f" (equally good: {', '.join(map(str, others[:10]))})" if others else ""
            out.print(f"equilibrium {k + 1}, selected by {rule}{known}:", soft_wrap=True)
            return
