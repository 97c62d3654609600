"""The routing games of Maheshwari et al. (2022): five figures, what is measured of them, claims, the picture."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tacit
from reproduction import Claim, Note, Reproduction, log_times, save_panels
from tacit.engine.fused import FusedEngine
from tacit.figures import COLORS
from tacit.learners import QSmoothed

DIRECTORY = Path(__file__).parent
ROUTES, DISCOUNT = 2, 0.5
SLOPES, OFFSETS = (2.0, 4.0), (9.0, 16.0)
CROWD = 2  # agents that make a route unsafe
STAYS_SAFE, BECOMES_SAFE = 0.8, 0.2


class Figure(NamedTuple):
    """What one figure of the paper runs: the game, the temperature, and the exponents of the step sizes."""

    says: str
    agents: int = 4
    temperature: float = 1e-6
    fast: float = 0.5  # of the local q
    slow: float = 1.0  # of the policies
    common: bool = True  # all agents are paid the sum; otherwise each its own, and routes change on their own


FIGURES = {
    "figure 1": Figure("common interest"),
    "figure 2": Figure("q slower than policies", fast=1.0, slow=0.5),
    "figure 3": Figure("temperature 1e-3", temperature=1e-3),
    "figure 4": Figure("8 agents", agents=8),
    "figure 5": Figure("own rewards, given transitions", common=False),
}


class Setting(NamedTuple):
    """How long, and how often."""

    periods: int = 100_000
    seeds: int = 5


WHOLE, QUICK = Setting(), Setting(10_000, 2)


def make_game(figure: Figure) -> tacit.TabularGame:
    """Return the routing game. A state has a status for each route, 0 for safe; safe routes cost twice the slope."""
    N = figure.agents
    states = list(itertools.product((0, 1), repeat=ROUTES))
    joint = np.indices((ROUTES,) * N)  # [N, *joint]: the route of each agent
    loads = np.stack([(joint == route).sum(axis=0) for route in range(ROUTES)])
    safe = np.where(loads >= CROWD, BECOMES_SAFE, STAYS_SAFE)  # [routes, *joint]: that it is safe next
    moves = np.stack(
        [np.prod([p if status == 0 else 1 - p for p, status in zip(safe, s, strict=True)], axis=0) for s in states],
        axis=-1,
    )
    if not figure.common:  # the same for all actions: the mean over them
        moves = np.broadcast_to(moves.reshape(-1, len(states)).mean(axis=0), moves.shape)
    paid = np.empty((N, len(states), *(ROUTES,) * N))
    for k, s in enumerate(states):
        by_route = np.stack(
            [b - (2 - s[j]) * m * loads[j] for j, (m, b) in enumerate(zip(SLOPES, OFFSETS, strict=True))]
        )
        paid[:, k] = np.take_along_axis(by_route, joint, axis=0)
    if figure.common:
        paid[:] = paid.sum(axis=0)
    transitions = np.broadcast_to(moves, (1, len(states), *moves.shape))
    return tacit.TabularGame(transitions, paid[:, None], np.full(len(states), 1 / len(states)), discount=DISCOUNT)


def learn(game: tacit.TabularGame, figure: Figure, setting: Setting, seed: int) -> list[list[np.ndarray]]:
    """Return the policies, [S, A] for each agent, at the times."""
    low, high = game.reward_range
    settings = {"temperature": figure.temperature / (high - low), "fast": figure.fast, "slow": figure.slow}
    learner = QSmoothed(rule="slow-policy", cooling=0.0, **settings)
    engine = FusedEngine(game, learner, episodes=setting.periods, seed=seed, endless=True)
    done, policies = 0, []
    for t in log_times(setting.periods):
        engine.advance(t - 1 - done)
        done = t - 1
        policies.append([table[0].copy() for table in engine.distributions()])
    return policies


def measure_policies(game: tacit.TabularGame, policies: Sequence[Sequence[np.ndarray]]) -> dict[str, list[float]]:
    """Return three curves of a run: the exact gap, and the two of the paper's panels, as means over agents.

    "distance" is ‖π_i^k − π_i^K‖₁. "response" is ‖V_i(π_i^k, π_−i^K) − V_i(best response to π_−i^K)‖₁ over states.
    """
    tables = [tacit.MarkovPolicy([table[None] for table in policy]) for policy in policies]
    last = policies[-1]
    own = [lost_values(game, last, i) for i in range(game.agents)]
    return {
        "gap": [tacit.evaluate(game, policy).gap for policy in tables],
        "distance": [
            float(np.mean([np.abs(mine - end).sum() for mine, end in zip(policy, last, strict=True)]))
            for policy in policies
        ],
        "response": [float(np.mean([own[i](policy[i]) for i in range(game.agents)])) for policy in policies],
    }


def lost_values(game: tacit.TabularGame, others: Sequence[np.ndarray], i: int) -> Any:
    """Return the function of agent i's policy that sums, over states, what it loses against a best response."""
    P, R = np.asarray(game.transitions)[0], np.asarray(game.rewards)[i, 0]
    for j in reversed(range(game.agents)):
        if j != i:
            P, R = (np.moveaxis(x, 1 + j, 1) for x in (P, R))
            P, R = np.einsum("sa...,sa->s...", P, others[j]), np.einsum("sa...,sa->s...", R, others[j])
    S = len(R)

    def values(policy: np.ndarray) -> np.ndarray:
        r, p = (policy * R).sum(axis=1), np.einsum("sa,sat->st", policy, P)
        return np.linalg.solve(np.eye(S) - DISCOUNT * p, r)

    best = np.max(
        [values(np.eye(ROUTES)[list(choice)]) for choice in itertools.product(range(ROUTES), repeat=S)], axis=0
    )
    return lambda policy: float(np.abs(values(policy) - best).sum())


def measure(setting: Setting, note: Note) -> dict[str, Any]:
    """Run every figure; return its curves, each a list with one list for each seed."""
    results: dict[str, Any] = {"times": log_times(setting.periods)}
    for name, figure in FIGURES.items():
        game = make_game(figure)
        runs = [measure_policies(game, learn(game, figure, setting, seed)) for seed in range(1, setting.seeds + 1)]
        uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
        results[name] = {"uniform": uniform, **{key: [run[key] for run in runs] for key in runs[0]}}
        note(f"{name}: gap {np.mean([run['gap'][-1] for run in runs]):.3g}, uniform policy's {uniform:.3g}")
    return results


# claims and the picture -----------------------------------------------------------------------------------------------


def theirs() -> dict[str, Any]:
    """Return what the authors' program gave, run here once with its own settings and measured by the same functions."""
    stored: dict[str, Any] = json.loads((DIRECTORY / "authors.json").read_text(encoding="utf-8"))
    return stored


def judge(results: dict[str, Any]) -> list[Claim]:
    """Return the claims: convergence, what makes it, and the authors' program beside ours."""
    claims, authors = [], theirs()
    ends = {name: float(np.mean([curve[-1] for curve in results[name]["gap"]])) for name in FIGURES}
    for name, figure in FIGURES.items():
        if name == "figure 2":
            continue
        uniform = results[name]["uniform"]
        ours = f"exact gap {uniform:.3g} at first, {ends[name]:.2g} at the end ({100 * ends[name] / uniform:.1f} %)"
        claims.append(
            Claim(
                f"policies converge to a stationary Nash equilibrium ({figure.says})",
                f"abstract, {name}", "0", ours, "falls to a twentieth", ends[name] <= 0.05 * uniform,
            )
        )  # fmt: skip
    claims += [
        Claim(
            "what makes it: estimates of q move faster than policies; figure 2 has it the other way round",
            "abstract, figure 2", "", f"gap {ends['figure 2']:.2g} at the end, {ends['figure 1']:.2g} with q faster",
            "at least ten times as large", ends["figure 2"] >= 10 * ends["figure 1"],
        ),
        Claim(
            "our addition: a thousand times the temperature of figure 1 changes nothing",
            "figure 3", "", f"gap {ends['figure 3']:.3g} at the end, {ends['figure 1']:.3g} in figure 1",
            "within a tenth", abs(ends["figure 3"] - ends["figure 1"]) <= 0.1 * ends["figure 1"],
        ),
    ]  # fmt: skip
    if results["times"][: len(authors["times"])] == authors["times"]:
        claims += [compare(name, authors, results) for name in FIGURES if name in authors]
    return claims


def compare(name: str, authors: dict[str, Any], results: dict[str, Any]) -> Claim:
    """Return the claim that ours is where the authors' program is, when that ended, up to the spread over seeds."""
    last = len(authors["times"]) - 1
    a, b = (np.array([curve[last] for curve in source[name]["gap"]]) for source in (authors, results))
    error = 3 * float(np.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)))
    return Claim(
        f"our addition: exact gap of the authors' program and of ours before period {authors['times'][last]:,}",
        name, f"{a.mean():.3g}", f"{b.mean():.3g}", f"within {error:.2g}, three standard errors",
        abs(a.mean() - b.mean()) <= error,
    )  # fmt: skip


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw the measure of the paper's figures and the exact gap, ours and the authors' program's."""
    authors = theirs()

    def paint(*panels: Any) -> None:
        labels = {
            "response": "loss to a best response against $\\pi^K_{-i}$,\nsum over states, mean over agents",
            "gap": "exact Nash gap of $\\pi^k$",
        }
        for ax, (key, label) in zip(panels, labels.items(), strict=True):
            for (name, figure), color in zip(FIGURES.items(), COLORS.values(), strict=False):
                for source, style in ((authors, ":"), (results, "--" if name == "figure 3" else "-")):
                    if name not in source:
                        continue
                    mean = np.maximum(np.mean(source[name][key], axis=0), 1e-3)
                    text = f"{name[7:]}: {figure.says}" if source is results else None
                    ax.loglog(source["times"], mean, style, color=color, label=text)
            ax.set_xlabel("periods $k$")
            ax.set_ylabel(label)
        panels[0].legend(fontsize=7, title="figure; dotted: the authors' program", title_fontsize=7)

    save_panels(path, (9.0, 3.6), 2, paint)


def introduce(setting: Setting) -> str:
    """Return what was run, as a sentence."""
    return (
        f'routing games with two routes, `q-smoothed` with rule "slow-policy", {setting.periods:,} periods, means of '
        f"{setting.seeds} seeds. Gaps are exact, the largest over agents, from states drawn evenly."
    )


CLOSE = (
    "Games, step sizes, temperatures and lengths are those of the authors' program "
    "(github.com/DruvPai/IndependentDecentralizedMPGLearning, commit e84cc1a), which makes the five figures and "
    "stores no numbers; of the paper the abstract could be read. That program was run once with its own settings "
    'and seeds 1 to 5, for fewer periods, and its policies were measured by our functions: the column "paper" '
    "of the last rows, and `authors.json`. In it a route costs twice as much while it is safe, and so in ours."
)
REPRODUCTION = Reproduction(DIRECTORY, "Maheshwari et al. (2022)", WHOLE, QUICK, measure, judge, draw, introduce, CLOSE)
