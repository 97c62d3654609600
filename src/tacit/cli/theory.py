"""`tacit theory`: what the paper's theorems promise for a game."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from typing import Any

from tacit.cli import options
from tacit.evaluation import potential
from tacit.evaluation.theory import theory


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "theory",
        help="what the theorems promise for a game: episodes, steps, constants, the lower bound",
        description="Print what the paper's theorems promise for a game, with constants hidden in O(·) taken as 1.",
    )
    options.add_game(parser)
    parser.add_argument("--epsilon", type=float, default=0.1, help="accuracy in the game's reward units (0.1)")
    parser.add_argument("--confidence", type=float, default=0.1, help="probability of failing (0.1)")
    parser.add_argument(
        "--exploration",
        type=float,
        help="ε̃ for which promises without hidden constants are printed (the theorem's; 0.1 where it has none)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the promises."""
    game = options.game_of(args)
    found = theory(game, epsilon=args.epsilon, confidence=args.confidence, exploration=args.exploration)
    if args.json:
        options.print_json({"game": args.game, **asdict(found)})
        return 0
    out = options.console()
    out.print(repr(game), soft_wrap=True)
    low, high = game.reward_range
    out.print(
        f"to be within ε = {found.epsilon:g} (reward units) with probability {1 - found.confidence:g}, "
        f"where rewards have a span of {high - low:g}:",
        soft_wrap=True,
    )
    out.print(f"  cce: K = S·A·H⁵·ι·span²/ε² = {found.episodes_cce:.3g} episodes (ι = {found.iota_cce:.2f})")
    out.print(f"  ce:  K = S·A²·H⁵·ι·span²/ε² = {found.episodes_ce:.3g} episodes (ι = {found.iota_ce:.2f})")
    if game.joint_actions <= 1024:
        told = "this is a Markov potential game" if potential(game).holds else "this is NOT a Markov potential game"
        out.print(f"{told}; what follows is about such games, with mismatch D = {found.mismatch:.4g}:")
    else:
        out.print(f"if this is a Markov potential game, with mismatch D = {found.mismatch:.4g}:")
    if math.isinf(found.mismatch):
        out.print("  the theorems promise nothing: some state can be reached and can be avoided, so D is infinite")
    else:
        out.print(f"  exact gradients: η = {found.exact_step:.3g}, T = {found.exact_iterations:.3g} iterations")
        storm = found.storm
        out.print(
            f"  STORM: ε̃ = {storm['exploration']:.3g}, {_constants(storm)}; T = {storm['iterations']:.3g} episodes"
        )
        out.print(
            f"    after T: M = {storm['M']:.3g}, mean of ‖G‖² ≤ {storm['bound']:.3g}; "
            f"ε̃ costs {storm['exploration_cost']:.3g} of the gap",
            soft_wrap=True,
        )
    _print_explored(out, found.explored, game.horizon * (high - low))
    told = f"H³·S·A·span²/ε² = {found.lower_bound:.3g} episodes"
    out.print(f"lower bound for any algorithm on some game of this size: {told}", soft_wrap=True)
    return 0


def _constants(found: dict[str, float]) -> str:
    return ", ".join(f"{key} = {found[key]:.3g}" for key in ("sigma2", "L", "k", "w", "c"))


def _print_explored(out: Any, found: dict[str, float], most: float) -> None:
    """Print what holds for one ε̃, with no constant left out; no gap is larger than `most`."""
    out.print(
        f"  with ε̃ = {found['exploration']:.3g} and no constant left out: D over ε̃-greedy policies = "
        f"{found['mismatch']:.4g} ({found['deviating']:.4g} where one agent need not explore)",
        soft_wrap=True,
    )
    out.print(f"    STORM: {_constants(found)}; T = {found['iterations']:.3g} episodes", soft_wrap=True)
    gap, cost = found["gap"], found["exploration_cost"]
    told = f"nash gap of some iterate ≤ {gap:.3g} in expectation, of which ε̃ costs {cost:.3g}"
    if gap >= most:
        told += f"; no information, since no gap is above H·span = {most:.4g}"
    out.print(f"    after T: M = {found['M']:.3g}, mean of ‖G‖² ≤ {found['bound']:.3g}; {told}", soft_wrap=True)
