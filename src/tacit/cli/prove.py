"""`tacit prove`: write a proof of a policy's gap; `tacit verify`: check one in exact arithmetic."""

from __future__ import annotations

import argparse

from tacit.cli import options
from tacit.core import files
from tacit.core.errors import TacitError
from tacit.evaluation import prove, verify
from tacit.evaluation.values import KINDS


def add_prove(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Prove that no agent gains more than a bound by deviating from a Markov policy, and write a file that anybody "
        "can check: with `tacit verify`, or with its one file verify.py, which needs Python alone.",
        "examples:\n  tacit solve chicken ce --out ce.npz\n  tacit prove chicken ce.npz --gap ce -o chicken.json\n"
        "  tacit verify chicken.json",
    )
    options.add_game(parser)
    options.add(parser, "POLICY", "a file of a policy (.npz, .json), or the directory of a run")
    options.add(parser, "--gap", "which deviations count (nash for a product policy, otherwise cce)", choices=KINDS)
    options.add(parser, "-o --out FILE", "the proof, .json or .json.gz (proof.json)", "proof.json")


def run_prove(args: argparse.Namespace) -> int:
    """Prove, write and tell."""
    from tacit import policies

    game, place = options.game_of(args), files.path(args.policy)
    if place.is_dir():
        from tacit.experiments import store  # imports the compiler

        runs = store.directories(place)
        if len(runs) > 1:
            raise TacitError(f"POLICY must be of one run; {place} holds {len(runs)}")
        policy = store.load_policy(runs[0])
    else:
        policy = policies.load(place)
    proof = prove(game, policy, gap=args.gap)
    proof.save(args.out)
    options.say(f"proven: {proof.kind} gap ≤ {proof.bound}; `tacit verify {args.out}` checks it")
    return 0


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Check a proof in exact rationals, with no tolerance: exit code 0 where it proves its bounds, 1 where an "
        "inequality fails, of which the first is named, and 2 where the file is no proof.",
        f"the same without tacit: python {verify.__file__} FILE",
    )
    options.add(parser, "FILE", "a proof, .json or .json.gz")


def run_verify(args: argparse.Namespace) -> int:
    """Check the file."""
    return verify.main(args.file)
