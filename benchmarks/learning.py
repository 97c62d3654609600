"""How fast learning is, beside plain NumPy and hand-written C: one run, one core, less than four minutes.

    python benchmarks/learning.py [--quick]

All of one table is measured in one process, in turn, best of several: only ratios mean something elsewhere.
"loop" is the learning loop alone, with its uniform numbers drawn ahead; "all" is the wall clock of the same, drawing
included.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import tacit
from tacit.core.streams import stream
from tacit.engine.fused import CHUNK_STEPS, FusedEngine
from tacit.engine.record import Nothing, record
from tacit.evaluation.certificate import certificate
from tacit.learners import REGISTRY

IOTA, BONUS = 10.0, 0.1


class PlainNumpy:
    """Alg. 1 as one would write it with arrays over actions, without thinking of speed."""

    def __init__(self, game: tacit.TabularGame, seed: int) -> None:
        self.game, self.rng = game, np.random.default_rng(seed)
        H, S, N = game.horizon, game.states, game.agents
        self.low, self.span = game.reward_range[0], game.reward_range[1] - game.reward_range[0]
        self.upper = np.ones((N, H + 1, S)) * np.arange(H, -1, -1.0)[:, None]
        self.visits = np.zeros((H, S), dtype=int)
        self.length = np.full((H, S), H)
        self.total = np.zeros((N, H, S))
        self.L = [np.zeros((H, S, A)) for A in game.actions]
        self.mu = [np.full((H, S, A), 1 / A) for A in game.actions]

    def advance(self, episodes: int) -> None:
        game, H = self.game, self.game.horizon
        for _ in range(episodes):
            s = self.rng.choice(game.states, p=game.initial)
            for h in range(H):
                joint = tuple(self.rng.choice(A, p=self.mu[i][h, s]) for i, A in enumerate(game.actions))
                s_next = self.rng.choice(game.states, p=game.transitions[(0, s, *joint)])
                self.visits[h, s] += 1
                n = self.visits[h, s]
                for i, a in enumerate(joint):
                    A = game.actions[i]
                    r = (game.rewards[(i, 0, s, *joint)] - self.low) / self.span
                    ahead = r + self.upper[i, h + 1, s_next]
                    self.total[i, h, s] += ahead
                    eta = np.sqrt(IOTA / (A * self.length[h, s]))
                    self.L[i][h, s, a] += (H - h - ahead) / H / (self.mu[i][h, s, a] + eta / 2)
                    weight = np.exp(-eta * self.L[i][h, s])
                    self.mu[i][h, s] = weight / weight.sum()
                    if n == self.length[h, s]:
                        bonus = BONUS * np.sqrt(H**2 * A * IOTA / n)
                        self.upper[i, h, s] = min(self.total[i, h, s] / n + bonus, H - h)
                        self.total[i, h, s] = 0
                        self.L[i][h, s] = 0
                        self.mu[i][h, s] = 1 / A
                if n == self.length[h, s]:
                    self.visits[h, s] = 0
                    self.length[h, s] = n + n // H
                s = s_next


class Learner(ctypes.Structure):
    """The struct of stage_v.c."""

    _fields_ = [
        *[(key, ctypes.c_int64) for key in ("actions", "steps", "states")],
        *[(key, ctypes.c_double) for key in ("iota", "bonus")],
        *[(key, ctypes.c_void_p) for key in ("eta_loss", "weight", "total", "reference", "eta", "upper_sum")],
        *[(key, ctypes.c_void_p) for key in ("lower_sum", "upper", "lower", "visits", "length", "bound")],
        *[(key, ctypes.c_void_p) for key in ("cumulative", "reward", "start")],
    ]


class HandWrittenC:
    """The loop of stage_v.c for agents with the same number of actions in a stationary game."""

    def __init__(self, game: tacit.TabularGame, seed: int, *, constants: bool) -> None:
        N, H, S, A = game.agents, game.horizon, game.states, game.actions[0]
        self.game, self.seconds = game, 0.0
        self.function = self._built(N, H, S, A, constants=constants)
        self.streams = [stream(seed, role) for role in range(1 + N)]
        low, high = game.reward_range
        held: dict[str, np.ndarray] = {
            "eta_loss": np.zeros((N, H * S, A)),
            "weight": np.ones((N, H * S, A)),
            "total": np.full((N, H * S), float(A)),
            "reference": np.zeros((N, H * S)),
            "eta": np.full((N, H * S), math.sqrt(IOTA / (A * H))),
            "upper_sum": np.zeros((N, H * S)),
            "lower_sum": np.zeros((N, H * S)),
            "upper": np.ones((N, H + 1, S)) * np.arange(H, -1, -1.0)[:, None],
            "lower": np.zeros((N, H + 1, S)),
            "visits": np.zeros((N, H * S), dtype=np.int64),
            "length": np.full((N, H * S), H),
            "bound": np.zeros(N),
            "cumulative": np.cumsum(game.transitions.reshape(-1, S), axis=1),
            "reward": (game.rewards.reshape(N, -1) - low) / (high - low),
            "start": np.cumsum(game.initial),
        }
        self.held = held  # keeps the memory alive
        pointers = {key: array.ctypes.data for key, array in held.items()}
        bonus = BONUS * math.sqrt(H**2 * A * IOTA)
        self.state = Learner(actions=A, steps=H, states=S, iota=IOTA, bonus=bonus, **pointers)

    @staticmethod
    def _built(N: int, H: int, S: int, A: int, *, constants: bool) -> Any:
        source = Path(__file__).with_name("stage_v.c")
        target = Path(tempfile.mkdtemp()) / "stage_v.so"
        sizes = [f"-DAGENTS={N}"]
        if constants:
            sizes += ["-DSIZES=1", f"-DACTIONS={A}", f"-DSTEPS={H}", f"-DSTATES={S}"]
        command = ["cc", "-O3", "-march=native", *sizes, "-shared", "-fPIC", str(source), "-o", str(target), "-lm"]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(target)).stage_v

    def advance(self, episodes: int) -> None:
        game, chunk = self.game, max(1, CHUNK_STEPS // self.game.horizon)
        for begin in range(0, episodes, chunk):
            part = min(chunk, episodes - begin)
            world = self.streams[0].random((part, game.horizon))
            own = np.stack([source.random((part, game.horizon)) for source in self.streams[1:]])
            returns = np.zeros((part, game.agents))
            began = time.perf_counter()
            self.function(
                ctypes.byref(self.state),
                ctypes.c_int64(part),
                *[ctypes.c_void_p(x.ctypes.data) for x in (world, own, returns)],
            )
            self.seconds += time.perf_counter() - began


def session(
    game: tacit.TabularGame, learner: str = "stage-v-cce", *, seed: int = 0, certify: bool = False, keep: int = 0
) -> FusedEngine:
    """A session of ours; `keep` is the number of episodes to make room for in the record."""
    spec = REGISTRY.make(learner, bonus=BONUS, iota=IOTA)
    cert = certificate(game, spec.equilibrium) if certify else Nothing()
    kept = record(game, keep) if keep else Nothing()
    return FusedEngine(game, spec, episodes=1, seed=seed, certificate=cert, record=kept)


def speed(make: Callable[[], Any], episodes: int, horizon: int, repeats: int) -> tuple[float, float]:
    """Best steps per second of the loop alone and of everything."""
    return speeds({"": (make, episodes)}, horizon, repeats)[""]


def speeds(
    contenders: dict[str, tuple[Callable[[], Any], int]], horizon: int, repeats: int
) -> dict[str, tuple[float, float]]:
    """The same for several, in turn: what disturbs the machine for a while disturbs all of them."""
    best = dict.fromkeys(contenders, (0.0, 0.0))
    for _ in range(repeats):
        for name, (make, episodes) in contenders.items():
            one = make()
            began = time.perf_counter()
            one.advance(episodes)
            took = time.perf_counter() - began
            steps = episodes * horizon
            best[name] = (max(best[name][0], steps / getattr(one, "seconds", took)), max(best[name][1], steps / took))
    return best


def beside_others(console: Console, quick: bool) -> None:
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=10, seed=0, stationary=True)
    H, repeats = 10, 4 if quick else 8
    K = 50_000 if quick else 200_000
    contenders: dict[str, tuple[Callable[[], Any], int]] = {"plain NumPy": (lambda: PlainNumpy(game, 0), 200)}
    if shutil.which("cc"):
        check_same_work(game)
        contenders["C, sizes known when compiled"] = (lambda: HandWrittenC(game, 0, constants=True), K)
        contenders["C"] = (lambda: HandWrittenC(game, 0, constants=False), K)
    contenders["tacit"] = (lambda: session(game), K)
    contenders["tacit, record"] = (lambda: session(game, keep=K), K)
    contenders["tacit, certificate"] = (lambda: session(game, certify=True), K)
    contenders["tacit, certificate and record"] = (lambda: session(game, certify=True, keep=K), K)
    contenders["tacit ce"] = (lambda: session(game, "stage-v-ce"), K)
    contenders["tacit ce, certificate"] = (lambda: session(game, "stage-v-ce", certify=True), K)
    contenders["tacit v-learning"] = (lambda: session(game, "v-learning"), K)
    rows = speeds(contenders, H, repeats)
    table = Table(title="2 states, 2 agents, 2 actions, 10 steps: steps per second")
    for name in ("", "loop", "all", "× NumPy", "× C (loop)", "× C (all)"):
        table.add_column(name, justify="left" if not name else "right")
    numpy_speed, c = rows["plain NumPy"][1], rows.get("C")
    for name, (loop, everything) in rows.items():
        beside = [f"{loop / c[0]:.3f}", f"{everything / c[1]:.3f}"] if c else ["no compiler", ""]
        table.add_row(name, f"{loop:,.0f}", f"{everything:,.0f}", f"{everything / numpy_speed:,.0f}", *beside)
    console.print(table)
    if c:
        bare, watched = rows["tacit"][0] / c[0], rows["tacit, certificate"][0] / c[0]
        numpy_ratio = rows["tacit"][1] / numpy_speed
        console.print(
            f"targets: {numpy_ratio:,.0f}x plain NumPy (800), {bare:.2f}x C (0.5), "
            f"with certificate {watched:.3f}x C (0.167)\n"
        )


def check_same_work(game: tacit.TabularGame) -> None:
    """C and ours do the same: the same values from the same draws."""
    ours, theirs = session(game), HandWrittenC(game, 0, constants=False)
    ours.advance(2000)
    theirs.advance(2000)
    if not np.allclose(ours.state.upper, theirs.held["upper"], atol=1e-9):
        raise SystemExit("the C loop and tacit differ: the comparison would mean nothing")


def over_sizes(console: Console, quick: bool) -> None:
    K, repeats = (5_000, 2) if quick else (20_000, 3)
    grid: list[tuple[str, dict[str, Any]]] = []
    grid += [(f"N={n}", {"agents": n, "actions": 3, "states": 2}) for n in (2, 4, 8)]
    grid += [(f"A={a}", {"actions": a, "states": 2}) for a in (2, 10, 30, 100)]
    grid += [(f"S={s}", {"actions": 2, "states": s, "successors": 2}) for s in (2, 100, 10_000)]
    table = Table(title="steps per second over the size of the game (10 steps)")
    for name in ("", "cce", "ns per agent and step", "cce, certificate", "ce"):
        table.add_column(name, justify="left" if not name else "right")
    for label, params in grid:
        game = tacit.make("random-general-sum", horizon=10, seed=0, stationary=True, **params)
        plain, _ = speed(lambda game=game: session(game), K, 10, repeats)
        certified = "-"
        if game.joint_actions <= 1024:
            certified = f"{speed(lambda game=game: session(game, certify=True), K // 10, 10, 1)[0]:,.0f}"
        swap = "-"
        if game.states < 10_000 and game.agents == 2:
            swap_K = max(K // (100 if max(game.actions) > 30 else 10), 10)
            swap = f"{speed(lambda game=game, k=swap_K: session(game, 'stage-v-ce'), swap_K, 10, 1)[0]:,.0f}"
        table.add_row(label, f"{plain:,.0f}", f"{1e9 / plain / game.agents:.1f}", certified, swap)
    console.print(table)


def over_episodes(console: Console, quick: bool) -> None:
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=10, seed=0, stationary=True)
    K = 200_000 if quick else 2_000_000
    table = Table(title=f"steps per second over {K:,} episodes")
    for name in ("", "first tenth", "last tenth", "last/first"):
        table.add_column(name, justify="left" if not name else "right")
    for label, certify in (("bare", False), ("certificate", True)):
        long, speeds = session(game, certify=certify), []
        long.advance(100)
        for _ in range(10):
            before = long.seconds
            long.advance(K // 10)
            speeds.append(K / 10 * game.horizon / (long.seconds - before))
        row = (f"{speeds[0]:,.0f}", f"{speeds[-1]:,.0f}", f"{speeds[-1] / speeds[0]:.2f}")
        table.add_row(label, *row)
    console.print(table)


def on_threads(console: Console, quick: bool) -> None:
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=10, seed=0, stationary=True)
    K, best = 100_000 if quick else 400_000, 0.0
    for _ in range(3):
        began = time.perf_counter()
        for one in [session(game, seed=seed, certify=True) for seed in (0, 1)]:
            one.advance(K)
        in_turn = time.perf_counter() - began
        pair = [session(game, seed=seed, certify=True) for seed in (0, 1)]
        began = time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda one: one.advance(K), pair))
        best = max(best, in_turn / (time.perf_counter() - began))
    console.print(
        f"two seeds on two threads: {best:.2f}x as fast as one after the other (target 1.6, {os.cpu_count()} cores)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    quick = parser.parse_args().quick
    console, began = Console(width=120), time.perf_counter()
    console.print(f"tacit {tacit.__version__}, Python {platform.python_version()}, {platform.machine()}\n")
    for part in (beside_others, over_sizes, over_episodes, on_threads):
        part(console, quick)
    console.print(f"\n{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
