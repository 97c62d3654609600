"""How fast learning is, beside hand-written C and plain NumPy: one run, one core, minutes.

    python benchmarks/learning.py [--quick]

All of one table is measured in one process, in turn, best of several, in the processor's time: other programs disturb
it less than the wall clock, and only ratios mean something elsewhere. "loop" is the learning loop alone, with its
uniform numbers drawn ahead; "all" includes drawing them; `tacit.learn` is everything that a user waits for. C is
stage_v.c: the same work with packed cells and with all sizes but the number of states known when compiled.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import tacit
from hand_written import BONUS, COMPILER, IOTA, HandWrittenC, PlainNumpy, chase
from tacit.engine.drive import Nothing
from tacit.engine.fused import FusedEngine
from tacit.engine.recorded import record
from tacit.evaluation.certificate import certificate
from tacit.learners import REGISTRY


class Timed(FusedEngine):
    """A session of ours that takes the processor's time of the loop alone."""

    loop_seconds = 0.0

    def play(self, game_u: Any, agent_u: Any, returns: Any) -> None:
        began = time.thread_time()
        super().play(game_u, agent_u, returns)
        self.loop_seconds += time.thread_time() - began


class Learn:
    """`tacit.learn` with its defaults but the certificate, from end to end."""

    def __init__(self, game: tacit.TabularGame) -> None:
        self.game = game

    def advance(self, episodes: int) -> None:
        tacit.learn(self.game, "stage-v-cce", episodes=episodes, certify=False, bonus=BONUS, iota=IOTA)


def session(
    game: tacit.TabularGame, learner: str = "stage-v-cce", *, seed: int = 0, certify: bool = False, keep: int = 0
) -> Timed:
    """A session of ours; `keep` is the number of episodes to make room for in the record."""
    params = {"bonus": BONUS, "iota": IOTA} if learner in ("stage-v-cce", "stage-v-ce", "v-learning") else {}
    spec = REGISTRY.make(learner, **params)
    kept = record(game, keep, certified=certify) if keep else Nothing()
    options = {"averaging": spec.info.averaging, "mu": kept.mu if keep else None}
    cert = certificate(game, spec.info.learns, **options) if certify else Nothing()
    return Timed(game, spec, episodes=1, seed=seed, certificate=cert, record=kept)


def speeds(
    contenders: dict[str, tuple[Callable[[], Any], int]], horizon: int, repeats: int
) -> dict[str, tuple[float, float]]:
    """Best steps per second of the loop alone and of everything, in turn: what disturbs one disturbs all of them."""
    best = dict.fromkeys(contenders, (0.0, 0.0))
    for _ in range(repeats):
        for name, (make, episodes) in contenders.items():
            one = make()
            one.loop_seconds = 0.0
            began = time.thread_time()
            one.advance(episodes)
            took = time.thread_time() - began
            steps, alone = episodes * horizon, one.loop_seconds or took
            best[name] = (max(best[name][0], steps / alone), max(best[name][1], steps / took))
    return best


def speed(make: Callable[[], Any], episodes: int, horizon: int, repeats: int) -> float:
    """The same for the loop of one of them."""
    return speeds({"": (make, episodes)}, horizon, repeats)[""][0]


def beside_others(console: Console, quick: bool) -> None:
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=10, seed=0, stationary=True)
    H, repeats = 10, 5 if quick else 8
    K = 50_000 if quick else 500_000
    contenders: dict[str, tuple[Callable[[], Any], int]] = {"plain NumPy": (lambda: PlainNumpy(game, 0), 200)}
    if COMPILER:
        check_same_work(game)
        contenders["C"] = (lambda: HandWrittenC(game, 0), K)
    else:
        console.print("no C compiler (gcc, cc) was found: nothing to compare with but NumPy")
    contenders["tacit"] = (lambda: session(game), K)
    contenders["tacit, record"] = (lambda: session(game, keep=K), K)
    contenders["tacit.learn(certify=False)"] = (lambda: Learn(game), K)
    contenders["tacit, certificate"] = (lambda: session(game, certify=True), K)
    contenders["tacit, certificate and record"] = (lambda: session(game, certify=True, keep=K), K)
    contenders["tacit ce"] = (lambda: session(game, "stage-v-ce"), K)
    contenders["tacit v-learning"] = (lambda: session(game, "v-learning"), K)
    contenders["tacit adaptive-v-cce"] = (lambda: session(game, "adaptive-v-cce"), K // 5)
    rows = speeds(contenders, H, repeats)
    table = Table(title="2 states, 2 agents, 2 actions, 10 steps: million steps per second")
    for name in ("", "loop", "all", "× NumPy", "× C (loop)", "× C (all)"):
        table.add_column(name, justify="left" if not name else "right")
    numpy_speed, c = rows["plain NumPy"][1], rows.get("C")
    for name, (loop, everything) in rows.items():
        beside = [f"{loop / c[0]:.2f}", f"{everything / c[1]:.2f}"] if c else ["", ""]
        table.add_row(name, f"{loop / 1e6:.2f}", f"{everything / 1e6:.2f}", f"{everything / numpy_speed:,.0f}", *beside)
    console.print(table)
    if c:
        learn, certified = rows["tacit.learn(certify=False)"][1], rows["tacit, certificate"][0]
        console.print(
            f"targets: loop {rows['tacit'][0] / c[0]:.2f}x C (0.85), tacit.learn(certify=False) {learn / c[1]:.2f}x C "
            f"that draws its numbers (0.65), with certificate {certified / c[0]:.2f}x C "
            f"(0.45)\n"
            f"a step of adaptive-v-cce takes {rows['tacit'][0] / rows['tacit adaptive-v-cce'][0]:.1f} times as long as "
            f"one of stage-v-cce (3.5)\n"
        )


def check_same_work(game: tacit.TabularGame) -> None:
    """C and ours do the same: the same values from the same draws."""
    ours, theirs = session(game), HandWrittenC(game, 0)
    ours.advance(2000)
    theirs.advance(2000)
    if not np.allclose(ours.state.cells["upper"], theirs.cells["upper"], atol=1e-9):
        raise SystemExit("the C loop and tacit differ: the comparison would mean nothing")


def over_states(console: Console, quick: bool) -> None:
    """Print how the time of a step grows with the states, beside C and beside a loop that only reads memory.

    A step has two reads that wait for each other: the cell says which action is played, and the row of the joint action
    where play goes. From C's cells on out of the cache, they take longer than all arithmetic.
    """
    K, repeats = (10_000, 3) if quick else (40_000, 5)
    table = Table(title="ns per step over the number of states (2 agents, 2 actions, 2 successors, 10 steps)")
    for name in ("states", "cells", "stage-v-cce", "C", "two dependent reads", "adaptive-v-cce", "pg-storm"):
        table.add_column(name, justify="right")
    for states in (2, 100, 1000, 10_000):
        params: dict[str, Any] = {"actions": 2, "states": states, "successors": 2}
        game = tacit.make("random-general-sum", horizon=10, seed=0, stationary=True, **params)
        contenders: dict[str, tuple[Callable[[], Any], int]] = {
            name: (lambda game=game, name=name: session(game, name), K)
            for name in ("stage-v-cce", "adaptive-v-cce", "pg-storm")
        }
        read, size = "-", 11 * states * 2 * 13 * 8
        if COMPILER:
            contenders["C"] = (lambda game=game: HandWrittenC(game, 0), K)
            read = f"{2 * chase(HandWrittenC(game, 0).library, size, 2 * 13 * 8, 200_000):.0f}"
        rows = {name: f"{1e9 / loop:.0f}" for name, (loop, _) in speeds(contenders, 10, repeats).items()}
        own = (rows["stage-v-cce"], rows.get("C", "-"), read, rows["adaptive-v-cce"], rows["pg-storm"])
        table.add_row(str(states), f"{size / 1e6:.2g} MB", *own)
    console.print(table)


def over_sizes(console: Console, quick: bool) -> None:
    K, repeats = (5_000, 2) if quick else (20_000, 3)
    grid: list[tuple[str, dict[str, Any]]] = []
    grid += [(f"N={n}", {"agents": n, "actions": 3, "states": 2}) for n in (2, 4, 8)]
    grid += [(f"A={a}", {"actions": a, "states": 2}) for a in (2, 10, 30, 100)]
    table = Table(title="steps per second over the size of the game (10 steps)")
    for name in ("", "cce", "ns per agent and step", "cce, certificate", "ce"):
        table.add_column(name, justify="left" if not name else "right")
    for label, params in grid:
        game = tacit.make("random-general-sum", horizon=10, seed=0, stationary=True, **params)
        plain = speed(lambda game=game: session(game), K, 10, repeats)
        certified = "-"
        if game.joint_actions <= 1024:
            certified = f"{speed(lambda game=game: session(game, certify=True), K // 10, 10, 1):,.0f}"
        swap = "-"
        if game.states < 10_000 and game.agents == 2:
            swap_K = max(K // (100 if max(game.actions) > 30 else 10), 10)
            swap = f"{speed(lambda game=game, k=swap_K: session(game, 'stage-v-ce'), swap_K, 10, 1):,.0f}"
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
            long.loop_seconds = 0.0
            long.advance(K // 10)
            speeds.append(K / 10 * game.horizon / long.loop_seconds)
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


def first_call(console: Console) -> None:
    """Print how long the first call of a learner takes, compilation included, and the first of the next process."""
    command = "import time, tacit; tacit.learn(tacit.make('good-state'), {!r}, episodes=10); print({})"
    command = command.format("{}", "time.process_time()")
    for learner in ("adaptive-v-cce", "stage-v-cce"):
        with tempfile.TemporaryDirectory() as place:
            environment = {**os.environ, "TACIT_CACHE_DIR": place}
            taken = []
            for _ in range(2):
                done = subprocess.run(
                    [sys.executable, "-c", command.format(learner)], env=environment, capture_output=True, check=True
                )
                taken.append(float(done.stdout))
        console.print(
            f"{learner}: the first process takes {taken[0]:.1f} s of the processor with compilation (target 5), "
            f"the second {taken[1]:.1f} s (target 2)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="less than a minute")
    quick = parser.parse_args().quick
    console, began = Console(width=120), time.perf_counter()
    console.print(f"tacit {tacit.__version__}, Python {platform.python_version()}, {platform.machine()}\n")
    for part in (beside_others, over_states, over_sizes, over_episodes, on_threads):
        part(console, quick)
    first_call(console)
    console.print(f"\n{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
