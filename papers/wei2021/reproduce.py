"""Run the experiment of Wei, Lee, Zhang and Luo (2021) on a random zero-sum game, draw it, judge the claims.

    python papers/wei2021/reproduce.py --quick     20 states, 3 × 3 actions, 2,000 iterations: half a minute
    python papers/wei2021/reproduce.py             100 states, 6 × 6 actions, discount 0.95, 10,000 iterations

The game and the first policies are those of the authors' program: NumPy's generator with seed 2, in the same order.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import time
from pathlib import Path

import random_game

DIRECTORY = Path(__file__).parent


def main(arguments: list[str] | None = None) -> int:
    """Run, draw and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smaller game and fewer iterations")
    parser.add_argument("--out", type=Path, default=Path("build/wei2021"), help="where curves, figure and page go")
    args = parser.parse_args(arguments)
    setting = random_game.QUICK if args.quick else random_game.WHOLE
    args.out.mkdir(parents=True, exist_ok=True)
    curves = {}
    for name, params in random_game.VARIANTS.items():
        began = time.perf_counter()
        curves[name] = random_game.run_variant(setting, **params)
        print(f"{name}: {curves[name]['gaps'][-1]:.3g} ({time.perf_counter() - began:.0f} s)", flush=True)
    claims = random_game.judge(curves)
    for folder in [args.out] if args.quick else [args.out, DIRECTORY]:
        (folder / "claims.md").write_text(random_game.page(setting, claims))
        (folder / "curves.json").write_text(json.dumps(curves, indent=1) + "\n")
        random_game.draw(curves, folder / "figure.png")
    for said, ours, _, holds in claims:
        print(f"{'holds' if holds else 'DOES NOT HOLD'}: {said}: {ours}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
