"""Policy gradients: speed of the lazy STORM, what its momentum brings, and the distancing game.

    python benchmarks/gradients.py             some minutes; figures into docs/figures
    python benchmarks/gradients.py --quick     under a minute: fewer seeds, episodes and steps of the searches
    python benchmarks/gradients.py --out DIR

Ratios compare what ran in this very process. Searches are stated where they are made, and what does not help is said.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

import tacit
from tacit.engine.fused import FusedEngine
from tacit.evaluation import policy_gradient
from tacit.figures import COLORS, save_figure, styled
from tacit.learners import PGStorm
from tacit.learners.spec import world_of

OUT = Console(width=150, highlight=False)


# --- a. speed -------------------------------------------------------------------------------------------------------


@numba.njit(error_model="numpy")
def dense_storm(first, state, cumulative, rewards, initial, actions, H, eta, a, world_u, agent_u):  # pragma: no cover
    """STORM with every cell of every agent updated in every episode; compiled, nothing else in the way.

    `first`, `state`, `cumulative` are lists of successors of a game that is the same at every step, `rewards`
    [N, S, joint]. Returns the parameters [N, H, S, A] and the sum of returns.
    """
    episodes, N = world_u.shape[0], len(actions)
    S, J, A = rewards.shape[1], rewards.shape[2], actions.max()
    theta, d = np.zeros((N, H, S, A)), np.zeros((N, H, S, A))
    for i in range(N):
        theta[i, :, :, : actions[i]] = 1.0 / actions[i]
    before = theta.copy()
    seen, played, total, grand = np.zeros(H, np.int64), np.zeros((N, H), np.int64), np.zeros(N), 0.0
    for k in range(episodes):
        s = np.searchsorted(initial, world_u[k, 0], side="right")
        total[:] = 0.0
        for h in range(H):
            seen[h] = s
            joint = 0
            for i in range(N):
                u, chosen = agent_u[i, k, h], actions[i] - 1
                for b in range(actions[i] - 1):
                    u -= theta[i, h, s, b]
                    if u < 0.0:
                        chosen = b
                        break
                played[i, h] = chosen
                joint = joint * actions[i] + chosen
            for i in range(N):
                total[i] += rewards[i, s, joint]
            if h + 1 < H:
                row = s * J + joint
                begin, end = first[row], first[row + 1]
                s = state[min(begin + np.searchsorted(cumulative[begin:end], world_u[k, h + 1], side="right"), end - 1)]
        grand += total[0]
        kept = 1.0 - a if k > 0 else 0.0
        for i in range(N):
            n = actions[i]
            for h in range(H):
                for s_ in range(S):
                    for b in range(n):
                        d[i, h, s_, b] *= kept
                t, b = seen[h], played[i, h]
                old = before[i, h, t, b]
                d[i, h, t, b] += total[i] / theta[i, h, t, b] - (kept * total[i] / old if old > 0.0 else 0.0)
            for h in range(H):
                for s_ in range(S):
                    excess = -1.0
                    for b in range(n):
                        before[i, h, s_, b] = theta[i, h, s_, b]
                        theta[i, h, s_, b] += eta * d[i, h, s_, b]
                        excess += theta[i, h, s_, b]
                    tau, above = excess / n, n
                    while True:
                        excess, count = -1.0, 0
                        for b in range(n):
                            if theta[i, h, s_, b] > tau:
                                excess += theta[i, h, s_, b]
                                count += 1
                        if count == 0 or count >= above:
                            break
                        tau, above = excess / count, count
                    for b in range(n):
                        theta[i, h, s_, b] = max(theta[i, h, s_, b] - tau, 0.0)
    return theta, grand


def run_dense(game: tacit.TabularGame, episodes: int, eta: float, a: float, seed: int) -> tuple[float, float]:
    """Return (seconds, mean return) of the dense form; the game must be the same at every step."""
    lists = game.successors
    rewards = np.ascontiguousarray(game.rewards[:, 0].reshape(game.agents, game.states, -1))
    streams = [
        np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(role,))))
        for role in range(game.agents + 1)
    ]
    shape = (episodes, game.horizon)
    world_u, agent_u = streams[0].random(shape), np.stack([one.random(shape) for one in streams[1:]])
    args = (lists.first, lists.state, game.cumulative, rewards, np.cumsum(game.initial), np.array(game.actions))
    dense_storm(*args, game.horizon, eta, a, world_u[:1], agent_u[:, :1])  # compile
    begin = time.perf_counter()
    _, total = dense_storm(*args, game.horizon, eta, a, world_u, agent_u)
    return time.perf_counter() - begin, total / episodes


def run_lazy(game: tacit.TabularGame, episodes: int, eta: float, a: float, repeats: int = 3) -> tuple[float, float]:
    """Return (least seconds of a few runs, mean return)."""
    best = math.inf
    for _ in range(repeats):
        spec = PGStorm(eta=eta, momentum=a)
        session = FusedEngine(game, spec, episodes=episodes, seed=0)
        mean = float(session.advance(episodes)[:, 0].mean())
        best = min(best, session.seconds)
    return best, mean


def speed(quick: bool) -> None:
    # the dense form plays fewer: after a thousand episodes its unused directions are subnormal numbers, which are slow
    episodes, few = (20_000, 500) if quick else (100_000, 1_000)
    table = Table("pg-storm, one core", "episodes", "steps/s", "µs an episode", "", "target", "met", box=None)
    game = tacit.make("box-pushing", horizon=10)
    seconds, _ = run_lazy(game, episodes, 1e-4, 0.5)
    rate = episodes * game.horizon / seconds
    lazy = 1e6 * seconds / episodes
    table.add_row(
        "box-pushing, S=100, H=10", f"{episodes}", f"{rate:,.0f}", f"{lazy:.2f}", "", "1,000,000", met(rate >= 1e6)
    )
    dense_seconds, dense_mean = run_dense(game, few, 1e-4, 0.5, seed=0)
    _, lazy_mean = run_lazy(game, few, 1e-4, 0.5, repeats=1)
    assert np.isclose(dense_mean, lazy_mean, atol=1e-6), "the dense and the lazy form disagree"
    dense = 1e6 * dense_seconds / few
    table.add_row(
        "  all cells every episode, compiled",
        f"{few}",
        f"{few * game.horizon / dense_seconds:,.0f}",
        f"{dense:.2f}",
        f"lazy is {dense / lazy:.0f} times as fast",
        "20 times",
        met(dense / lazy >= 20),
    )
    times = {}
    for states in (100, 10_000):
        wide = tacit.make(
            "random-general-sum", states=states, actions=4, horizon=10, successors=2, stationary=True, seed=0
        )
        seconds, _ = run_lazy(wide, episodes, 1e-4, 0.5)
        times[states] = seconds
        ratio = times[states] / times[100]
        last = ("1.5 times", met(ratio <= 1.5)) if states > 100 else ("", "")
        table.add_row(
            f"random, S={states:,}, successors=2, A=4, H=10",
            f"{episodes}",
            f"{episodes * 10 / seconds:,.0f}",
            f"{1e6 * seconds / episodes:.2f}",
            f"{ratio:.2f} of S=100",
            *last,
        )
    OUT.print(table)
    OUT.print("  An episode does the same work for any S; more time is presumably that the cells outgrow the cache.\n")


def met(yes: bool) -> str:
    return "yes" if yes else "NO"


# --- b. variance reduction ------------------------------------------------------------------------------------------

GRID = [3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2]
KINDS = [("pg-sgd", 1.0, "orange"), ("pg-storm a=0.5", 0.5, "blue"), ("pg-storm a=0.1", 0.1, "green")]


class Course(NamedTuple):
    """One run: when its value first reached the goal, and the error of its direction along the way."""

    reached: float
    marks: np.ndarray
    values: np.ndarray
    errors: np.ndarray


def centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(axis=-1, keepdims=True)


def follow(game: tacit.TabularGame, eta: float, a: float, episodes: int, points: int, seed: int, goal: float) -> Course:
    """Run, and at each mark measure the value of the policy and ‖d_t − ∇V(θ_t)‖² along the simplex."""
    spec = PGStorm(eta=eta, momentum=a)
    session = FusedEngine(game, spec, episodes=episodes, seed=seed)
    marks = np.unique(np.linspace(1, episodes, points).round().astype(int))
    values, errors, done, reached = [], [], 0, math.inf
    for mark in marks:
        if mark - 1 > done:
            session.advance(int(mark - 1 - done))
        policy = session.policy(session.distributions())
        slopes = policy_gradient(game, policy)
        session.advance(1)
        done = mark
        state = session.state
        error = 0.0
        for i, slope in enumerate(slopes.gradients):
            left = (1 - a) ** (mark - np.where(state.since[i] > 0, state.since[i], mark)).astype(float)
            d = (left[:, None] * state.direction[i])[:, : game.actions[i]].reshape(slope.shape)
            error += float(((centred(d) - centred(slope)) ** 2).sum())
        values.append(float(slopes.V[0, 0] @ game.initial))
        errors.append(error)
        if values[-1] >= goal and math.isinf(reached):
            reached = float(mark)
    return Course(reached, marks, np.array(values), np.array(errors))


def followed(game: tacit.TabularGame, eta: float, a: float, episodes: int, points: int, seeds: int) -> list[Course]:
    goal = 0.95 * float(tacit.solve(game, "optimum").values[0])
    return [follow(game, eta, a, episodes, points, seed, goal) for seed in range(seeds)]


def bootstrap(rows: np.ndarray, draws: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """95 % band of the mean over seeds (rows), by resampling seeds."""
    rng = np.random.default_rng(0)
    means = np.array([rows[rng.integers(len(rows), size=len(rows))].mean(axis=0) for _ in range(draws)])
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    return low, high


def reduction(quick: bool, out: Path) -> None:
    seeds = 4 if quick else 20
    cases = [("matrix-team", 500 if quick else 1_000), ("good-state", 4_000 if quick else 20_000)]
    points, grid = (25, GRID[1:5]) if quick else (80, GRID)
    table = Table(
        "game",
        "learner",
        "best step",
        "reached 95 %",
        "episodes to 95 %, mean",
        "95 % bootstrap",
        "E‖d−∇V‖², first tenth",
        "whole run",
        box=None,
    )
    verdicts = []
    with styled():
        figure = Figure(figsize=(9.6, 3.8))
        axes = figure.subplots(1, 2)
        for ax, (name, episodes) in zip(axes, cases, strict=True):
            game = tacit.make(name)
            summary: dict[str, tuple[float, float, float]] = {}
            for label, a, color in KINDS:
                tried = {eta: followed(game, eta, a, episodes, points, seeds) for eta in grid}
                eta = min(tried, key=lambda e: mean_time(tried[e], episodes))
                paths = tried[eta]
                times = np.minimum([p.reached for p in paths], episodes)
                errors = np.array([p.errors for p in paths])
                marks = paths[0].marks
                early = errors[:, marks <= episodes / 10].mean()
                middle = mean_time(paths, episodes)
                rng = np.random.default_rng(0)
                resampled = [times[rng.integers(seeds, size=seeds)].mean() for _ in range(500)]
                low, high = np.quantile(resampled, [0.025, 0.975])
                summary[label] = (middle, float(early), float(errors.mean()))
                table.add_row(
                    name,
                    label,
                    f"{eta:g}",
                    f"{share(paths):.0%}",
                    f"{middle:.0f}",
                    f"{low:.0f} to {high:.0f}",
                    f"{early:.3g}",
                    f"{errors.mean():.3g}",
                )
                band = bootstrap(errors)
                ax.plot(marks, errors.mean(axis=0), color=COLORS[color], label=f"{label}, η = {eta:g}")
                ax.fill_between(marks, np.maximum(band[0], 1e-12), band[1], color=COLORS[color], alpha=0.2, linewidth=0)
            verdicts.append(verdict(name, summary))
            ax.set(
                yscale="log", xlabel="episode", ylabel="E‖d − ∇V‖² along the simplex", title=f"{name}, {seeds} seeds"
            )
            ax.legend(fontsize=8)
        figure.suptitle(
            "Error of the direction, each learner at its best step; bands: 95 % bootstrap of the mean", size=9
        )
        save(figure, out, "variance_reduction.png")
    OUT.print(
        f"Variance reduction: no exploration, uniform start, steps {', '.join(f'{e:g}' for e in grid)}, {seeds} seeds;"
    )
    OUT.print(
        f"best step = least mean time, a run that never gets there counting as its whole length; {points} marks a run."
    )
    OUT.print(table)
    for line in verdicts:
        OUT.print(line)
    OUT.print()


def share(paths: list[Course]) -> float:
    return float(np.mean([math.isfinite(p.reached) for p in paths]))


def mean_time(courses: list[Course], episodes: int) -> float:
    """Mean episodes to the goal; a run that never reaches it counts as all its episodes."""
    return float(np.mean([min(course.reached, episodes) for course in courses]))


def verdict(name: str, summary: dict[str, tuple[float, float, float]]) -> str:
    sgd = summary["pg-sgd"]
    parts = []
    for label, (reached, early, whole) in summary.items():
        if label == "pg-sgd":
            continue
        faster = f"needs {reached / sgd[0]:.2f} of the episodes of pg-sgd"
        word = "helps" if reached < 0.95 * sgd[0] else "does not help"
        parts.append(
            f"{label} {word}: {faster}; error of d {early / sgd[1]:.2f} of it at first, {whole / sgd[2]:.2f} in all"
        )
    return f"  {name}: " + ". ".join(parts) + "."


# --- c. the distancing game -----------------------------------------------------------------------------------------


class End(NamedTuple):
    """Where a run ended."""

    start: str
    gap: float
    welfare: float
    counts: np.ndarray  # [H, 2, facilities]: expected agents at each facility


def ended(game: tacit.TabularGame, start: str, policy: tacit.MarkovPolicy) -> End:
    counts = sum(np.broadcast_to(own, (game.horizon, *own.shape[1:])) for own in policy.probs)
    found = tacit.evaluate(game, policy)
    return End(start, found.gap, float(found.values.sum()), np.asarray(counts))


def climb(game: tacit.TabularGame, eta: float, start: tacit.MarkovPolicy, steps: int, every: int) -> Any:
    """Return the marks, the gaps there and the last policy."""
    spec, policy, marks, gaps = tacit.learners.PGExact(), start, [], []
    for t in range(steps + 1):
        if t % every == 0 or t == steps:
            marks.append(t)
            gaps.append(tacit.evaluate(game, policy).gap)
        if t < steps:
            policy, mapping = spec.ascend(policy, policy_gradient(game, policy), eta)
            if mapping == 0:
                marks.append(t + 1)
                gaps.append(tacit.evaluate(game, policy).gap)
                break
    return marks, gaps, policy


def random_policy(game: tacit.TabularGame, seed: int) -> tacit.MarkovPolicy:
    spec = tacit.learners.PGExact(start="random")
    return tacit.MarkovPolicy(list(world_of(spec, game, episodes=1, seed=seed).start))


def distancing(quick: bool, out: Path) -> None:
    game = tacit.make("distancing", agents=8, horizon=10)
    optimum = tacit.solve(game, "optimum")
    best = float(optimum.values.sum())
    per_state = tacit.evaluation.policy_values(game, optimum.policy).V[:, 0].sum(axis=0)
    OUT.print(
        f"Distancing, N=8, H=10: the best welfare is {per_state[0]:.0f} from safe, {per_state[1]:.0f} from distancing, "
        f"{best:.0f} from a uniform first state."
    )
    uniform = tacit.MarkovPolicy.uniform(game)
    theorem = 1 / (4 * 8 * 4 * 1000 * (game.reward_range[1] - game.reward_range[0]))
    trial = 5 if quick else 25
    grid = [1e-3, 1e-2, 1e-1] if quick else [1e-4, 1e-3, 1e-2, 1e-1]
    with ThreadPoolExecutor(2) as pool:
        tried = dict(zip(grid, pool.map(lambda e: climb(game, e, uniform, trial, trial)[1][-1], grid), strict=True))
    eta = min(tried, key=lambda e: tried[e])
    OUT.print(
        f"  pg-exact: the theorem's step is {theorem:.1e}; of those tried for {trial} iterations from uniform, gaps "
        + ", ".join(f"{gap:.2f} at {e:g}" for e, gap in tried.items())
        + f": {eta:g} is taken."
    )
    steps, seeds = (10, 1) if quick else (60, 20)
    starts = [("uniform", uniform)] + [(f"random {seed}", random_policy(game, seed)) for seed in range(seeds)]
    with ThreadPoolExecutor(2) as pool:
        climbs = list(pool.map(lambda one: climb(game, eta, one[1], steps, max(steps // 6, 1)), starts))
    exact = [ended(game, name, run[2]) for (name, _), run in zip(starts, climbs, strict=True)]

    episodes, tries = (5_000, [1e-7, 1e-6]) if quick else (200_000, [3e-8, 1e-7, 3e-7, 1e-6])
    chosen = {e: storm(game, episodes, e, "uniform", 0) for e in tries}
    eta_storm = min(chosen, key=lambda e: tacit.evaluate(game, chosen[e].last).gap)
    OUT.print(
        f"  pg-storm, a = 0.1, {episodes} episodes, no exploration: gaps of seed 0 from uniform "
        + ", ".join(f"{tacit.evaluate(game, run.last).gap:.2f} at {e:g}" for e, run in chosen.items())
        + f": {eta_storm:g} is taken."
    )
    many = 2 if quick else 20
    with ThreadPoolExecutor(2) as pool:
        even = list(pool.map(lambda seed: storm(game, episodes, eta_storm, "uniform", seed), range(many)))
        mixed = list(pool.map(lambda seed: storm(game, episodes, eta_storm, "random", seed), range(many)))
    rows = [
        ("pg-exact, uniform start", exact[:1]),
        (f"pg-exact, random starts ({seeds} seeds)", exact[1:]),
        (f"pg-storm, uniform start ({many} seeds)", [ended(game, "", run.last) for run in even]),
        (f"pg-storm, random starts ({many} seeds)", [ended(game, "", run.last) for run in mixed]),
    ]
    OUT.print(f"  At the end ({steps} iterations, {episodes} episodes), with the expected agents at each facility:")
    table = Table(
        "", "nash gap, mean (max)", "welfare, mean (sd)", "of best",
        "first step, safe", "distancing", "last step, safe", "distancing", box=None,
    )  # fmt: skip
    for label, ends in rows:
        gaps, welfare = [e.gap for e in ends], np.array([e.welfare for e in ends])
        counts = np.mean([e.counts for e in ends], axis=0)
        table.add_row(
            label,
            f"{np.mean(gaps):.3g} ({np.max(gaps):.3g})",
            f"{welfare.mean():.0f} ({welfare.std():.0f})",
            f"{welfare.mean() / best:.1%}",
            *(" ".join(f"{n:.1f}" for n in counts[h, s]) for h in (0, -1) for s in (0, 1)),
        )
    OUT.print(table)
    reached = {tuple(np.round(e.counts[:-1].mean(axis=0)).astype(int).ravel().tolist()) for e in exact[1:]}
    OUT.print(
        f"  pg-exact from random starts: {len(reached)} different rounded counts (mean over steps) in {seeds} runs\n"
    )
    with styled():
        figure = Figure(figsize=(9.6, 3.8))
        left, right = figure.subplots(1, 2)
        for k, (marks, gaps, _) in enumerate(climbs):
            left.plot(
                marks, np.maximum(gaps, 1e-6), color=COLORS["red" if k == 0 else "blue"], alpha=1 if k == 0 else 0.4,
                label={0: "uniform start", 1: f"random starts, {seeds}"}.get(k),
            )  # fmt: skip
        left.set(
            yscale="log", xlabel="iteration", ylabel="nash gap (zero drawn as 1e-6)", title=f"pg-exact, η = {eta:g}"
        )
        left.legend(fontsize=8)
        places = np.arange(4)
        for k, (s, name) in enumerate([(0, "safe"), (1, "distancing")]):
            counts = np.mean([e.counts[0, s] for e in rows[3][1]], axis=0)
            other = np.mean([e.counts[0, s] for e in rows[1][1]], axis=0)
            right.bar(places + 0.2 * k, other, 0.18, color=COLORS[["blue", "red"][k]], label=f"pg-exact, {name}")
            right.bar(
                places + 0.2 * (k + 2), counts, 0.18, color=COLORS[["sky", "orange"][k]], label=f"pg-storm, {name}"
            )
        right.set(
            xticks=places + 0.3,
            xticklabels=[f"w = {w}" for w in (1, 2, 4, 6)],
            ylabel="expected agents, first step",
            title="random starts, mean over seeds",
        )
        right.legend(fontsize=8)
        save(figure, out, "distancing.png")


def storm(game: tacit.TabularGame, episodes: int, eta: float, start: str, seed: int) -> tacit.Run:
    return tacit.learn(
        game, "pg-storm", episodes=episodes, eta=eta, momentum=0.1, start=start, seed=seed, certify=False, points=1
    )


# --- all of it ------------------------------------------------------------------------------------------------------


def save(figure: Figure, out: Path, name: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    save_figure(figure, out / name)


def machine() -> str:
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"numba {numba.__version__}, tacit {tacit.__version__}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="under a minute; its numbers are rough")
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    args = parser.parse_args()
    begin = time.perf_counter()
    OUT.print(machine())
    speed(args.quick)
    reduction(args.quick, args.out)
    distancing(args.quick, args.out)
    OUT.print(f"{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
