"""`tacit show`, `tacit solve` and `tacit theory`: a game in words, what is best in it, what is promised."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.cli import options
from tacit.core import check
from tacit.core.display import exact
from tacit.core.errors import TacitError
from tacit.evaluation import deviation_table, equilibria, evaluate, potential
from tacit.evaluation.equilibria import Equilibria, enumerable
from tacit.evaluation.solve import METHODS, solve
from tacit.evaluation.stage_game import OBJECTIVES, RULES, select_best
from tacit.evaluation.stages import CONCEPTS, Solution
from tacit.evaluation.theory import theory
from tacit.games.showing import length_data


def add_show(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Show a game: payoffs by state with the names of actions, and what leads where. Of large games "
        "the first states are shown; --state picks one, --all shows everything.",
        "examples:\n  tacit show chicken\n  tacit show good-state --game-set horizon=3\n"
        "  tacit show box-pushing --state s1N4N\n  tacit show rock.nfg --json",
    )
    options.add_game(parser)
    options.add(parser, "--state STATE", "this state alone, by its name or number")
    options.add(parser, "--step H", "which step, where steps differ (0)", kind=int)
    options.add(parser, "--all", "all states and all joint actions")
    options.add(parser, "--json", "print one JSON document")


def run_show(args: argparse.Namespace) -> int:
    """Make the game and print it."""
    game = options.game_of(args, tell_notes=args.json)  # the table has the notes
    state = args.state
    if state is not None and state.isdigit() and state not in (getattr(game, "state_names", None) or ()):
        state = int(state)
    shown = game.show(state=state, step=args.step, limit=None if args.all else 6)
    if args.json:
        options.print_json({**shown.data, "game": args.game, "name": game.name})
        return 0
    options.print_document(shown)
    return 0


SOLVE_EPILOG = """examples:
  tacit solve good-state                           best total reward
  tacit solve chicken ce                           the correlated equilibrium of largest total reward
                                                   (if several are equally good, one of them)
  tacit solve chicken ce --objective egalitarian   the one in which who gets least gets most
  tacit solve chicken ce --objective entropy       the one of largest entropy, the most random
  tacit solve chicken nash                         all extreme equilibria of a small two-player game;
                                                   of more players those that a search finds
  tacit solve random-general-sum nash --select egalitarian
                                                   one of each stage game, backwards from the last step
  tacit solve congestion cce --tolerance 0.001     where a linear program is too large, by sweeps with full information;
  tacit solve openspiel:markov_soccer nash --game-set horizon=30 --seconds 20
                                                   or where it takes too long; the exact gap says how close it is"""


def add_solve(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Solve a game by backward induction, show the policy, and check its equilibrium gap. What cannot "
        "be solved exactly, or not in time, is approximated by sweeps with full information, and its exact gap is "
        "told; Ctrl-C ends them and keeps the best.",
        SOLVE_EPILOG,
    )
    options.add_game(parser)
    options.add(parser, "CONCEPT", f"one of: {', '.join(CONCEPTS)} (optimum)", "optimum", nargs="?")
    options.add(parser, "--objective O", f"which cce or ce of each stage: {', '.join(OBJECTIVES)} (welfare)")
    options.add(parser, "--select RULE", f"which nash equilibrium of each stage: {', '.join(RULES)} (welfare)")
    options.add(parser, "--method M", "auto, exact, or learn: sweeps with full information (auto)", "auto")
    options.add(parser, "--tolerance G", "gap at which sweeps end (a ten-thousandth of uniform play's)", kind=float)
    options.add(parser, "--seconds T", "after how long they end", kind=float)
    options.add(parser, "--rounds K", "sweeps at most (1000, without --seconds)", kind=int)
    options.add(parser, "--out FILE", "write the policy to this .npz file")
    options.add(parser, "--all", "show every row of the policy, of unreached places too")
    options.add(parser, "--json", "print one JSON document, with the policy")


def run_solve(args: argparse.Namespace) -> int:
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
    gap = solution.evaluation or evaluate(game, solution.policy, gap="nash" if concept == "optimum" else concept)
    if gap.gap <= 1e-12 * max(1.0, float(np.abs(solution.V).max())):  # rounding
        gap = replace(gap, gaps=np.zeros(game.agents), gap=0.0)
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
                **length_data(game),
                "agents": game.agents,
                "value": solution.values.tolist(),
                "gap": {"kind": gap.kind, "max": gap.gap, "per_agent": gap.gaps.tolist(), "exact": gap.exact},
                "method": solution.method,
                "approximate": solution.evaluation is not None,
                "ended": solution.ended or None,
                "policy": shown.data,
                "deviations": apart.data(limit=None if args.all else 40),
                **({} if every is None else every.data()),
            }
        )
        return code
    options.say(repr(game))
    if every is not None:
        options.print_document(every.show(limit=None if args.all else 20))
    else:
        options.print_document(shown)
    options.say()
    if len(apart.terms) and apart.gaps.max() > 1e-8 * max(1.0, float(np.abs(solution.V).max())):
        options.print_document(apart.show(limit=None if args.all else 12))
        options.say()
    if every is not None and len(every) > 1:
        _print_row(every, solution, chosen["select"])
    for i, value in enumerate(solution.values[:20]):
        options.say(f"agent {i}: value {_write(value)}, {gap.kind} gap {gap.gaps[i]:.3g}")
    if game.agents > 20:
        options.say(f"{game.agents - 20} more agents are not shown; --json has all")
    sure = "exact" if gap.exact else "upper bound"
    options.say(f"method: {solution.method}")
    total = _write(solution.values.sum())
    options.say(f"{concept}: total value {total}, {gap.kind} gap {gap.gap:.3g} ({sure}, the largest of all agents)")
    return code


def _write(value: float) -> str:
    """Write a value as the fraction that it is, if it is one, or with six decimals."""
    found = exact(float(value))
    shown = f"{value:.6f}"
    shown = shown.removeprefix("-") if float(shown) == 0 else shown  # no −0
    return shown + (f" = {found}" if isinstance(found, Fraction) and found else "")


def _print_row(every: Equilibria, solution: Solution, rule: str) -> None:
    """Say which of the listed equilibria the values below are of, if it is one of them."""
    own = solution.policy.probs
    for k, policy in enumerate(every.policies):
        if all(np.allclose(mine, theirs, atol=1e-9) for mine, theirs in zip(own, policy.probs, strict=True)):
            others = [int(j) + 1 for j in select_best(every.values, rule) if j != k]
            known = f" (equally good: {', '.join(map(str, others[:10]))})" if others else ""
            options.say(f"equilibrium {k + 1}, selected by {rule}{known}:" if every.sure else f"equilibrium {k + 1}:")
            return


def add_theory(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Print what the paper's theorems promise for a game, with constants hidden in O(·) taken as 1.",
    )
    options.add_game(parser)
    options.add(parser, "--epsilon EPSILON", "accuracy in the game's reward units (0.1)", 0.1)
    options.add(parser, "--confidence CONFIDENCE", "probability of failing (0.1)", 0.1)
    options.add(
        parser,
        "--exploration EXPLORATION",
        "ε̃ for which promises without hidden constants are printed (the theorem's; 0.1 where it has none)",
        kind=float,
    )
    options.add(parser, "--json", "print one JSON document")


def run_theory(args: argparse.Namespace) -> int:
    """Print the promises."""
    game = options.game_of(args)
    found = theory(game, epsilon=args.epsilon, confidence=args.confidence, exploration=args.exploration)
    if args.json:
        options.print_json({"game": args.game, **asdict(found)})
        return 0
    options.say(repr(game))
    low, high = game.reward_range
    options.say(
        f"to be within ε = {found.epsilon:g} (reward units) with probability {1 - found.confidence:g}, "
        f"where rewards have a span of {high - low:g}:"
    )
    options.say(f"  cce: K = S·A·H⁵·ι·span²/ε² = {found.episodes_cce:.3g} episodes (ι = {found.iota_cce:.2f})")
    options.say(f"  ce:  K = S·A²·H⁵·ι·span²/ε² = {found.episodes_ce:.3g} episodes (ι = {found.iota_ce:.2f})")
    if game.joint_actions <= 1024:
        told = "this is a Markov potential game" if potential(game).holds else "this is NOT a Markov potential game"
        options.say(f"{told}; what follows is about such games, with mismatch D = {found.mismatch:.4g}:")
    else:
        options.say(f"if this is a Markov potential game, with mismatch D = {found.mismatch:.4g}:")
    if math.isinf(found.mismatch):
        options.say("  the theorems promise nothing: some state can be reached and can be avoided, so D is infinite")
    else:
        options.say(f"  exact gradients: η = {found.exact_step:.3g}, T = {found.exact_iterations:.3g} iterations")
        storm = found.storm
        options.say(
            f"  STORM: ε̃ = {storm['exploration']:.3g}, {_constants(storm)}; T = {storm['iterations']:.3g} episodes"
        )
        options.say(
            f"    after T: M = {storm['M']:.3g}, mean of ‖G‖² ≤ {storm['bound']:.3g}; "
            f"ε̃ costs {storm['exploration_cost']:.3g} of the gap"
        )
    _print_explored(found.explored, game.horizon * (high - low))
    told = f"H³·S·A·span²/ε² = {found.lower_bound:.3g} episodes"
    options.say(f"lower bound for any algorithm on some game of this size: {told}")
    return 0


def _constants(found: dict[str, float]) -> str:
    return ", ".join(f"{key} = {found[key]:.3g}" for key in ("sigma2", "L", "k", "w", "c"))


def _print_explored(found: dict[str, float], most: float) -> None:
    """Print what holds for one ε̃, with no constant left out; no gap is larger than `most`."""
    options.say(
        f"  with ε̃ = {found['exploration']:.3g} and no constant left out: D over ε̃-greedy policies = "
        f"{found['mismatch']:.4g} ({found['deviating']:.4g} where one agent need not explore)"
    )
    options.say(f"    STORM: {_constants(found)}; T = {found['iterations']:.3g} episodes")
    gap, cost = found["gap"], found["exploration_cost"]
    told = f"nash gap of some iterate ≤ {gap:.3g} in expectation, of which ε̃ costs {cost:.3g}"
    if gap >= most:
        told += f"; no information, since no gap is above H·span = {most:.4g}"
    options.say(f"    after T: M = {found['M']:.3g}, mean of ‖G‖² ≤ {found['bound']:.3g}; {told}")
