"""The random zero-sum game of Wei et al. (2021): exact optimistic gradients on it, duality gaps, claims, the figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import tacit
from tacit.engine.exact import ExactEngine
from tacit.learners import OGDA

DISCOUNT, SEED = 0.95, 2
POINTS = 60

#: What is run: the authors' step and tacit's default, and what the authors' program leaves out by a switch.
VARIANTS: dict[str, dict[str, Any]] = {
    "OGDA, authors' step": {"factor": 1.0},
    "OGDA, 8 times that step": {"factor": 8.0},
    "no optimism, 8 times that step": {"factor": 8.0, "optimistic": False},
}


class Setting(NamedTuple):
    """The game's size and the number of iterations."""

    states: int = 100
    actions: int = 6
    iterations: int = 10_000


WHOLE, QUICK = Setting(), Setting(20, 3, 2_000)


def make_game(setting: Setting) -> tuple[tacit.TabularGame, tacit.MarkovPolicy]:
    """Return the random game, whose first agent pays r in [0, 1] to the second, and the first policies."""
    rng, S, A = np.random.RandomState(SEED), setting.states, setting.actions
    r, p, initial = rng.rand(S, A, A), rng.rand(S, A, A, S), rng.rand(S)
    rng.rand(2, S, A)  # policies that the program draws and replaces
    start = [table / table.sum(axis=1, keepdims=True) for table in rng.rand(2, S, A)]
    moves = p / p.sum(axis=3, keepdims=True)
    game = tacit.TabularGame(moves[None], np.stack([1.0 - r, r])[:, None], initial / initial.sum(), discount=DISCOUNT)
    return game, tacit.MarkovPolicy([table[None] for table in start])


def duality_gaps(game: tacit.TabularGame, policy: tacit.MarkovPolicy) -> np.ndarray:
    """Return max_y V(x, y) − min_x V(x, y) in every state: what both agents gain by best responses."""
    x, y = (table[0] for table in policy.probs)
    moves, rewards = np.asarray(game.transitions)[0], np.asarray(game.rewards)[:, 0]
    first = best_values(np.einsum("sab,sb->sa", rewards[0], y), np.einsum("sabt,sb->sat", moves, y))
    second = best_values(np.einsum("sab,sa->sb", rewards[1], x), np.einsum("sabt,sa->sbt", moves, x))
    return first + second - 1.0 / (1.0 - DISCOUNT)  # rewards sum to 1


def best_values(r: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the optimal values of a decision process with rewards r [S, A] and moves p [S, A, S]: policy iteration."""
    S, choice, rows = len(r), r.argmax(axis=1), np.arange(len(r))
    while True:
        V = np.linalg.solve(np.eye(S) - DISCOUNT * p[rows, choice], r[rows, choice])
        q = r + DISCOUNT * p @ V
        better = np.where(q.max(axis=1) > q[rows, choice] + 1e-12, q.argmax(axis=1), choice)
        if (better == choice).all():
            return V
        choice = better


def run_variant(setting: Setting, *, factor: float, optimistic: bool = True) -> dict[str, list[float]]:
    """Return the iterations at which the last iterate was measured, and its largest duality gap over states."""
    game, start = make_game(setting)
    eta = factor * 0.125 / np.sqrt(2.0 * setting.actions)
    engine = ExactEngine(game, OGDA(eta=eta, optimistic=optimistic, start=start), episodes=setting.iterations, seed=0)
    times = np.unique(np.geomspace(1, setting.iterations, POINTS).astype(int))
    done, gaps = 0, []
    for t in times:
        engine.advance(int(t) - done)
        done = int(t)
        gaps.append(float(duality_gaps(game, engine.iterate).max()))
    return {"iterations": times.tolist(), "gaps": gaps}


def judge(curves: dict[str, dict[str, list[float]]]) -> list[tuple[str, str, str, bool]]:
    """Return claims: what is said, ours, the rule, and whether it holds."""
    slow, fast, plain = (np.array(curves[name]["gaps"]) for name in VARIANTS)
    late = len(fast) // 2
    return [
        (
            "the last iterate converges to the set of Nash equilibria (abstract), with the program's step",
            f"largest duality gap {slow[0]:.3g} at first, {slow[-1]:.3g} at the end",
            "falls to a tenth or less",
            bool(slow[-1] <= 0.1 * slow[0]),
        ),
        (
            "our addition: the same with 8 times that step",
            f"{fast[0]:.3g} at first, {fast[-1]:.3g} at the end",
            "falls to a hundredth or less",
            bool(fast[-1] <= 0.01 * fast[0]),
        ),
        (
            "convergence is finite-time: the gap of the last iterate goes on falling (abstract)",
            f"least gap of the second half of the curve is {fast[late:].min():.3g}, the last {fast[-1]:.3g}",
            "the last is at most twice the least",
            bool(fast[-1] <= 2.0 * fast[late:].min()),
        ),
        (
            "our addition: without optimism, a switch of the program, the last iterate stays away",
            f"without it {plain[-1]:.3g} at the end, with it {fast[-1]:.3g}",
            "without it at least ten times as large",
            bool(plain[-1] >= 10.0 * fast[-1]),
        ),
    ]


def draw(curves: dict[str, dict[str, list[float]]], path: Path) -> None:
    """Draw the gap of the last iterate against iterations."""
    figure, axes = plt.subplots(figsize=(5.0, 3.2), constrained_layout=True)
    for (name, curve), colour in zip(curves.items(), ("#0072b2", "#009e73", "#d55e00"), strict=True):
        axes.loglog(curve["iterations"], curve["gaps"], label=name, color=colour)
    axes.set_xlabel("iterations")
    axes.set_ylabel("duality gap of the last iterate,\nlargest over states")
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=160)
    plt.close(figure)


def page(setting: Setting, claims: list[tuple[str, str, str, bool]]) -> str:
    """Return the page of claims."""
    held = sum(holds for *_, holds in claims)
    rows = [
        f"| {said} | {ours} | {rule} | {'holds' if holds else '**does not hold**'} |"
        for said, ours, rule, holds in claims
    ]
    return "\n".join(
        [
            "# The claims of Wei et al. (2021)",
            "",
            f"Written by `papers/wei2021/reproduce.py`: a random zero-sum game of {setting.states} states, "
            f"{setting.actions} × {setting.actions} actions, discount {DISCOUNT}, {setting.iterations:,} iterations "
            f"with exact gradients. {held} of {len(claims)} rows hold. The gap is max_y V(x, y) − min_x V(x, y), "
            "largest over states, by policy iteration; values are in [0, 20].",
            "",
            "| the source says | ours | rule | verdict |",
            "|---|---|---|---|",
            *rows,
            "",
            "The game, the first policies, the step 1/(8·√12) and the critic's rates are those of the authors' program "
            "(github.com/bahh723/competitive-markov-game). It prints gaps and stores none, and the paper has no "
            "experiment, so no number of theirs is compared. The paper's H of the critic is twice the program's.",
            "",
        ]
    )
