"""How fast learning with the exact certificate is, over sizes of games, beside another checkout of this repository.

    git worktree add /tmp/before d31d18d                     # any commit to compare with
    python benchmarks/certificate.py [--before /tmp/before] [--rounds 3] [--only 2x2x2,N=4]

Each checkout is measured in processes of its own, in turn, by the processor's time, best of several: what disturbs the
machine disturbs all of them. Compilation is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

#: label: the game's sizes, learner, episodes
CASES: dict[str, tuple[dict[str, Any], str, int]] = {
    "2x2x2": ({"states": 2, "actions": 2}, "stage-v-cce", 30_000),
    "2x2x2, adaptive": ({"states": 2, "actions": 2}, "adaptive-v-cce", 15_000),
    "N=4, A=3": ({"agents": 4, "actions": 3, "states": 2}, "stage-v-cce", 3_000),
    "N=4, A=3, adaptive": ({"agents": 4, "actions": 3, "states": 2}, "adaptive-v-cce", 2_000),
    "N=8, A=2": ({"agents": 8, "actions": 2, "states": 2}, "stage-v-cce", 1_000),
    "A=30": ({"actions": 30, "states": 2}, "stage-v-cce", 1_000),
    "A=30, adaptive": ({"actions": 30, "states": 2}, "adaptive-v-cce", 300),
    "S=10000": ({"actions": 2, "states": 10_000, "successors": 2}, "stage-v-cce", 5_000),
}
REPEATS = 4


def measured(labels: list[str]) -> dict[str, tuple[float, float]]:
    """Return steps per second without and with the certificate, of the code that Python finds."""
    import tacit
    from tacit.engine.drive import Nothing
    from tacit.engine.fused import FusedEngine
    from tacit.evaluation.certificate import certificate
    from tacit.learners import REGISTRY

    found = {}
    for label in labels:
        sizes, name, episodes = CASES[label]
        game = tacit.make("random-general-sum", horizon=10, seed=0, stationary=True, **sizes)
        spec = REGISTRY.make(name, **({"bonus": 0.1, "iota": 10.0} if name.startswith("stage") else {}))
        best = [0.0, 0.0]
        for _ in range(REPEATS):
            for certify in (0, 1):
                watched = certificate(game, spec.info.learns) if certify else Nothing()
                engine = FusedEngine(game, spec, episodes=1, seed=0, certificate=watched)
                began = time.process_time()
                engine.advance(episodes)
                best[certify] = max(best[certify], 10 * episodes / (time.process_time() - began))
        found[label] = (best[0], best[1])
    return found


def of(checkout: Path, labels: list[str]) -> dict[str, tuple[float, float]]:
    """Measure a checkout in a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, __file__, "--measure", *labels]
    found: dict[str, tuple[float, float]] = json.loads(subprocess.run(command, env=env, check=True, stdout=-1).stdout)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="", help="cases that begin with one of these, with commas")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measured(args.measure)))
        return
    labels = [label for label in CASES if label.startswith(tuple(args.only.split(",")))]
    sides = {"now": Path(__file__).resolve().parents[1], **({"before": args.before} if args.before else {})}
    best: dict[str, dict[str, tuple[float, float]]] = {side: {} for side in sides}
    for _ in range(args.rounds):
        for side, checkout in sides.items():
            for label, (bare, certified) in of(checkout, labels).items():
                held = best[side].get(label, (0.0, 0.0))
                best[side][label] = (max(held[0], bare), max(held[1], certified))
    print(f"{'steps a second':22}" + "".join(f"{side + ', bare':>16}{'certified':>14}" for side in sides))
    for label in labels:
        row = "".join(f"{best[side][label][0]:16,.0f}{best[side][label][1]:14,.0f}" for side in sides)
        times = f"   {best['now'][label][1] / best['before'][label][1]:.1f}x" if args.before else ""
        print(f"{label:22}{row}{times}")


if __name__ == "__main__":
    main()
