"""How fast the oracle is, beside plain NumPy and OpenSpiel: one run, three tables, less than two minutes.

    python benchmarks/evaluation.py

Times are medians over repeats in this process; what is measured with its memory runs in a process of its own, where
the extra memory is the growth of the largest resident size since the imports were done.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

import tacit
from tacit.games.tabular import DENSE_SHARE

ROUNDS = 9  # of the repeated 2×2 game: OpenSpiel walks 4^9 histories, which takes it about half a minute


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """Median time of a call, after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def plain_numpy(game: tacit.TabularGame, policy: tacit.MarkovPolicy) -> np.ndarray:
    """Nash gaps of a three-agent product policy with einsum alone: what one would write without tacit."""
    H, S = game.horizon, game.states
    V, best = np.zeros((3, S)), np.zeros((3, S))
    for h in reversed(range(H)):
        P = game.transitions[h if len(game.transitions) > 1 else 0]
        R = game.rewards[:, h if game.rewards.shape[1] > 1 else 0]
        x, y, z = (own[h if len(own) > 1 else 0] for own in policy.probs)
        stay = R + np.einsum("sabct,nt->nsabc", P, V, optimize=True)
        leave = R + np.einsum("sabct,nt->nsabc", P, best, optimize=True)
        V = np.einsum("nsabc,sa,sb,sc->ns", stay, x, y, z, optimize=True)
        best = np.stack(
            [
                np.einsum("sabc,sb,sc->sa", leave[0], y, z, optimize=True).max(axis=1),
                np.einsum("sabc,sa,sc->sb", leave[1], x, z, optimize=True).max(axis=1),
                np.einsum("sabc,sa,sb->sc", leave[2], x, y, optimize=True).max(axis=1),
            ]
        )
    return (best - V) @ game.initial


def repeated_game() -> tuple[np.ndarray, tacit.TabularGame, tacit.MarkovPolicy]:
    payoffs = np.random.default_rng(0).normal(size=(2, 2, 2))
    game = tacit.games.matrix_game(payoffs, horizon=ROUNDS)
    return payoffs, game, tacit.MarkovPolicy.random(game, seed=0)


# --- measured in a process of its own -------------------------------------------------------------------------------


def child_distancing() -> dict[str, Any]:
    """Nash gap of a random policy of the distancing game, memory counted from before the game is made."""
    game = tacit.make("distancing", agents=8, horizon=10)
    policy = tacit.MarkovPolicy.random(game, seed=0)
    return {"seconds": median_seconds(lambda: tacit.evaluate(game, policy), 3)}


def child_tacit_repeated() -> dict[str, Any]:
    _, game, policy = repeated_game()
    found = tacit.evaluate(game, policy, gap="nash").gaps.sum()
    return {"seconds": median_seconds(lambda: tacit.evaluate(game, policy, gap="nash"), 51), "answer": found}


def child_openspiel_repeated() -> dict[str, Any]:
    import pyspiel
    from open_spiel.python import policy as spiel_policy
    from open_spiel.python.algorithms import exploitability

    payoffs, _, ours = repeated_game()

    class Steps(spiel_policy.Policy):
        """The same distributions, by the number of rounds gone."""

        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            player = state.current_player() if player_id is None else player_id
            return dict(enumerate(ours.probs[player][len(state.history()) // 2, 0]))

    baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    matrix = pyspiel.create_matrix_game(*payoffs.tolist())
    game = pyspiel.convert_to_turn_based(pyspiel.create_repeated_game(matrix, {"num_repetitions": ROUNDS}))
    begin = time.perf_counter()
    answer = exploitability.nash_conv(game, Steps(game, [0, 1]))
    return {"seconds": time.perf_counter() - begin, "answer": answer, "baseline": baseline}


CHILDREN = {
    "distancing": child_distancing,
    "tacit-repeated": child_tacit_repeated,
    "openspiel-repeated": child_openspiel_repeated,
}


def run_child(name: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, os.path.abspath(__file__), "--child", name], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def be_child(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = CHILDREN[name]()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes
    found["extra"] = (peak - found.pop("baseline", before)) * unit
    print(json.dumps(found, default=float))


# --- tables ---------------------------------------------------------------------------------------------------------


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def megabytes(size: float) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else "below 1 MB"


def verdict(value: float, limit: float) -> str:
    return "yes" if value <= limit else "NO"


def speed() -> Table:
    table = Table(
        "nash gap of a random product policy", "tacit", "target", "met", "other", "other's", "tacit/other", box=None
    )

    game = tacit.make("box-pushing", horizon=10)
    policy = tacit.MarkovPolicy.random(game, seed=0)
    ours = median_seconds(lambda: tacit.evaluate(game, policy), 51)
    table.add_row("box-pushing, H=10", milliseconds(ours), "20 ms", verdict(ours, 0.020), "", "", "")

    found = run_child("distancing")
    table.add_row(
        "distancing, N=8, H=10", milliseconds(found["seconds"]), "3 s", verdict(found["seconds"], 3), "", "", ""
    )
    table.add_row("  its extra memory", megabytes(found["extra"]), "1 GB", verdict(found["extra"], 1e9), "", "", "")

    for stationary in (True, False):
        game = tacit.make(
            "random-general-sum", agents=3, states=100, actions=4, horizon=20, stationary=stationary, seed=0
        )
        policy = tacit.MarkovPolicy.random(game, seed=0)
        assert np.allclose(tacit.evaluate(game, policy).gaps, plain_numpy(game, policy), atol=1e-9)
        ours = median_seconds(lambda g=game, p=policy: tacit.evaluate(g, p), 15)
        theirs = median_seconds(lambda g=game, p=policy: plain_numpy(g, p), 5)
        table.add_row(
            f"random, S=100, N=3, A=4, H=20, {'stationary' if stationary else 'changing'}",
            milliseconds(ours),
            "50 ms",
            verdict(ours, 0.050),
            "NumPy einsum",
            milliseconds(theirs),
            f"{ours / theirs:.3g}",
        )

    ours = run_child("tacit-repeated")
    row = [f"random 2×2, repeated {ROUNDS} times"]
    if importlib.util.find_spec("pyspiel") is None:
        table.add_row(*row, milliseconds(ours["seconds"]), "", "", "OpenSpiel is not installed: skipped", "", "")
        return table
    theirs = run_child("openspiel-repeated")
    assert np.isclose(ours["answer"], theirs["answer"], atol=1e-9), "tacit and OpenSpiel disagree"
    table.add_row(
        *row,
        milliseconds(ours["seconds"]),
        "",
        "",
        "OpenSpiel nash_conv",
        milliseconds(theirs["seconds"]),
        f"{ours['seconds'] / theirs['seconds']:.3g}",
    )
    table.add_row(
        "  its extra memory",
        megabytes(ours["extra"]),
        "",
        "",
        "OpenSpiel nash_conv",
        megabytes(theirs["extra"]),
        f"{max(ours['extra'], 1e6) / theirs['extra']:.2g} at most",
    )
    return table


def densities() -> Table:
    """Time of P v for six vectors, S=100, 64 joint actions, dense and as lists of successors."""
    table = Table(
        "share of positive entries", "dense", "sparse, one by one", "sparse, all at once", "tacit takes", box=None
    )
    rng = np.random.default_rng(0)
    values = rng.random((6, 100))
    for share in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0):
        dense = rng.random((6400, 100)) * (rng.random((6400, 100)) < share)
        lists = sparse.csr_array(dense)
        one = median_seconds(lambda d=dense: values @ d.T, 101)
        single = median_seconds(lambda m=lists: np.stack([m @ row for row in values]), 101)
        block = median_seconds(lambda m=lists: np.ascontiguousarray((m @ values.T).T), 101)
        choice = "dense" if share >= DENSE_SHARE else "sparse"
        sparse_times = [f"{milliseconds(other)} ({other / one:.2f} of dense)" for other in (single, block)]
        table.add_row(f"{share:g}", milliseconds(one), *sparse_times, choice)
    return table


def enumeration() -> Table:
    """All equilibria of two-player games: payoffs that make none degenerate, and some that make most of them so."""
    table = Table("all equilibria of 20 games, median", "payoffs from 0 to 1", "integers from 0 to 2", box=None)
    rng = np.random.default_rng(0)
    for k in (3, 5, 7, 9):
        cells = []
        for draw in (rng.random, lambda shape: rng.integers(0, 3, shape).astype(float)):
            games = [tacit.matrix_game(draw((2, k, k))) for _ in range(20)]
            cells.append(statistics.median(median_seconds(lambda g=game: tacit.equilibria(g), 3) for game in games))
        table.add_row(f"{k}×{k} actions", *map(milliseconds, cells))
    return table


def machine() -> str:
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, tacit {tacit.__version__}"
    )


def main() -> None:
    begin = time.perf_counter()
    out = Console(width=160, highlight=False)
    out.print(machine())
    out.print(speed())
    out.print()
    out.print(f"One product P v, S=100, 64 joint actions, six vectors; DENSE_SHARE is {DENSE_SHARE:g}")
    out.print(densities())
    out.print()
    out.print(enumeration())
    out.print(f"\n{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        be_child(sys.argv[2])
    else:
        main()
