"""Run the experiment of Wei, Lee, Zhang and Luo (2021) on a random zero-sum game, draw it, judge the claims.

    python papers/wei2021/reproduce.py --quick     20 states, 3 × 3 actions, 2,000 iterations: half a minute
    python papers/wei2021/reproduce.py             100 states, 6 × 6 actions, discount 0.95, 10,000 iterations

The game and the first policies are those of the authors' program: NumPy's generator with seed 2, in the same order.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))  # for what reproductions share

import random_game

if __name__ == "__main__":
    sys.exit(random_game.REPRODUCTION.run(about=__doc__))
