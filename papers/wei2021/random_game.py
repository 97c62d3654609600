"""The random zero-sum game of Wei et al. (2021): exact optimistic gradients on it, duality gaps, claims, the figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tacit
from reproduction import Claim, Note, Reproduction, log_times, save_panels
from tacit.engine.exact import ExactEngine
from tacit.figures import COLORS
from tacit.learners import OGDA

DIRECTORY = Path(__file__).parent
DISCOUNT, SEED = 0.95, 2

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


def run_variant(setting: Setting, *, factor: float, optimistic: bool = True, last: int = 0) -> dict[str, list[Any]]:
    """Return the iterations at which the last iterate was measured, and its largest duality gap over states."""
    game, start = make_game(setting)
    eta = factor * 0.125 / np.sqrt(2.0 * setting.actions)
    engine = ExactEngine(game, OGDA(eta=eta, optimistic=optimistic, start=start), episodes=setting.iterations, seed=0)
    done, gaps = 0, []
    times = [t for t in log_times(setting.iterations) if t <= (last or setting.iterations)]
    for t in times:
        engine.advance(t - done)
        done = t
        gaps.append(float(duality_gaps(game, engine.iterate).max()))
    return {"iterations": times, "gaps": gaps}


def measure(setting: Setting, note: Note) -> dict[str, Any]:
    """Run all variants; return their curves."""
    curves = {}
    for name, params in VARIANTS.items():
        curves[name] = run_variant(setting, **params)
        note(f"{name}: {curves[name]['gaps'][-1]:.3g}")
    return curves


def theirs() -> dict[str, Any]:
    """Return the gaps of the authors' program, run here once for fewer iterations and measured by `duality_gaps`."""
    stored: dict[str, Any] = json.loads((DIRECTORY / "authors.json").read_text(encoding="utf-8"))
    return stored


def compare(curve: dict[str, list[Any]], authors: dict[str, list[Any]]) -> list[Claim]:
    """Return the claim that the authors' program has the same gaps, where the game is its own."""
    n = len(authors["iterations"])
    if curve["iterations"][:n] != authors["iterations"]:
        return []
    ours, gaps = np.array(curve["gaps"][:n]), np.array(authors["gaps"])
    worst = float(np.abs(ours / gaps - 1).max())
    return [
        Claim(
            f"our addition: gaps of the authors' program and of ours at {n} times of the first "
            f"{authors['iterations'][-1]:,} iterations", "",
            f"{gaps[-1]:.4g} at the last", f"{ours[-1]:.4g}; largest difference {100 * worst:.2g} %", "within 1 %",
            worst <= 0.01,
        )
    ]  # fmt: skip


def judge(curves: dict[str, Any]) -> list[Claim]:
    """Return the claims."""
    slow, fast, plain = (np.array(curves[name]["gaps"]) for name in VARIANTS)
    late = fast[len(fast) // 2 :]
    return [
        Claim(
            "the last iterate converges to the set of Nash equilibria, with the program's step",
            "abstract", "0", f"largest duality gap {slow[0]:.3g} at first, {slow[-1]:.3g} at the end",
            "falls to a tenth or less", bool(slow[-1] <= 0.1 * slow[0]),
        ),
        Claim(
            "our addition: the same with 8 times that step",
            "", "0", f"{fast[0]:.3g} at first, {fast[-1]:.3g} at the end",
            "falls to a hundredth or less", bool(fast[-1] <= 0.01 * fast[0]),
        ),
        Claim(
            "convergence is finite-time: the gap of the last iterate goes on falling",
            "abstract", "", f"least gap of the second half of the curve is {late.min():.3g}, the last {fast[-1]:.3g}",
            "the last is at most twice the least", bool(fast[-1] <= 2.0 * late.min()),
        ),
        Claim(
            "our addition: without optimism, a switch of the program, the last iterate stays away",
            "", "", f"without it {plain[-1]:.3g} at the end, with it {fast[-1]:.3g}",
            "without it at least ten times as large", bool(plain[-1] >= 10.0 * fast[-1]),
        ),
        *compare(curves[next(iter(VARIANTS))], theirs()),
    ]  # fmt: skip


def draw(curves: dict[str, Any], path: Path) -> None:
    """Draw the gap of the last iterate against iterations."""

    def paint(ax: Any) -> None:
        for (name, curve), color in zip(curves.items(), ("blue", "green", "red"), strict=True):
            ax.loglog(curve["iterations"], curve["gaps"], label=name, color=COLORS[color])
        ax.set_xlabel("iterations")
        ax.set_ylabel("duality gap of the last iterate,\nlargest over states")
        ax.legend(fontsize=8)

    save_panels(path, (5.0, 3.2), 1, paint)


def introduce(setting: Setting) -> str:
    """Return what was run, as a sentence."""
    return (
        f"a random zero-sum game of {setting.states} states, {setting.actions} × {setting.actions} actions, discount "
        f"{DISCOUNT}, {setting.iterations:,} iterations with exact gradients. Gaps are max_y V(x, y) − min_x V(x, y), "
        "largest over states, by policy iteration; values are in [0, 20]."
    )


CLOSE = (
    "The game, the first policies, the step 1/(8·√12) and the critic's rates are those of the authors' program "
    "(github.com/bahh723/competitive-markov-game); the paper has no experiment. It stores no numbers; it was "
    "run once for fewer iterations, and its policies were measured by our function (`authors.json`). Ours divides "
    "the step by the span of the rewards, here a little below 1; with the same step both agree to all six digits "
    "that are stored (a test). The paper's H of the critic is twice the program's."
)
REPRODUCTION = Reproduction(DIRECTORY, "Wei et al. (2021)", WHOLE, QUICK, measure, judge, draw, introduce, CLOSE)
