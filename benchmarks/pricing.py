"""Periods per second of Q-learning firms: tacit.learn beside a loop written by hand for this one game, by turns.

    python benchmarks/pricing.py

The hand-written loop (numba, two firms, profits in one small table, nothing recorded) does what Calvano et al. (2020)
state; tacit's is the general loop, with curve, visits and checkpoints. Both play equally many periods. Time is the
processor's, so that a busy machine does not matter.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numba as nb
import numpy as np

import tacit

PERIODS, ROUNDS = 5_000_000, 5


@nb.njit  # its random numbers are numba's own, whose names are NumPy's old ones
def play_by_hand(profits, rate, decay, delta, periods, seed):
    """Play two Q-learners with exploration exp(−decay·t); return their greedy actions and the last state."""
    np.random.seed(seed)  # noqa: NPY002
    m = len(profits)
    Q, greedy = np.empty((2, m * m, m)), np.zeros((2, m * m), np.int64)
    for a in range(m):
        Q[0, :, a], Q[1, :, a] = profits[a, :, 0].mean() / (1 - delta), profits[:, a, 1].mean() / (1 - delta)
    for i in range(2):
        greedy[i] = np.argmax(Q[i, 0])
    s, explores, shrink = np.random.randint(m * m), 1.0, np.exp(-decay)  # noqa: NPY002
    chosen = np.zeros(2, np.int64)
    for _ in range(periods):
        for i in range(2):
            explored = np.random.random() < explores  # noqa: NPY002
            chosen[i] = np.random.randint(m) if explored else greedy[i, s]  # noqa: NPY002
        follows = m * chosen[0] + chosen[1]
        for i in range(2):
            target = profits[chosen[0], chosen[1], i] + delta * Q[i, follows, greedy[i, follows]]
            Q[i, s, chosen[i]] += rate * (target - Q[i, s, chosen[i]])
            greedy[i, s] = np.argmax(Q[i, s])
        s, explores = follows, explores * shrink
    return greedy, s


def main() -> None:
    """Measure both by turns, and print the ratio."""
    game = tacit.make("pricing")
    profits = np.moveaxis(game.rewards[:, 0, 0], 0, -1).copy()
    learner = {"step": 0.15, "exploration": 1.0, "decay": 4e-6, "initial": "uniform-rivals"}
    options = {"periods": PERIODS, "certify": False, "points": 10}
    play_by_hand(profits, 0.15, 4e-6, 0.95, 10, 0)
    tacit.learn(game, "q-independent", **{**options, "periods": 10}, **learner)
    ours, theirs = [], []
    for seed in range(ROUNDS):
        began = time.process_time()
        play_by_hand(profits, 0.15, 4e-6, 0.95, PERIODS, seed)
        theirs.append(PERIODS / (time.process_time() - began))
        began = time.process_time()
        tacit.learn(game, "q-independent", seed=seed, **options, **learner)
        ours.append(PERIODS / (time.process_time() - began))
    fast, hand = np.median(ours), np.median(theirs)
    print(f"{PERIODS:,} periods, {ROUNDS} rounds by turns, medians: tacit.learn {fast / 1e6:.1f} M periods/s,")
    print(f"by hand {hand / 1e6:.1f} M periods/s; ratio {np.median(np.array(ours) / theirs):.2f}")


if __name__ == "__main__":
    main()
