"""Stage-based V-learning written by hand, in C and in plain NumPy: what benchmarks/learning.py compares tacit with."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from tacit.core.streams import stream
from tacit.engine.fused import chunk_of

IOTA, BONUS = 10.0, 0.1

#: The compiler, or None where there is none.
COMPILER = shutil.which("gcc") or shutil.which("cc")


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


class HandWrittenC:
    """The loop of stage_v.c for agents with equally many actions in a stationary game of equally long rows.

    `loop_seconds` is the processor's time for the loop alone.
    """

    def __init__(self, game: tacit.TabularGame, seed: int) -> None:
        N, H, S, A = game.agents, game.horizon, game.states, game.actions[0]
        first, state, _ = game.successors
        W = int(first[1])
        self.game, self.loop_seconds = game, 0.0
        self.library = _built(N, A, H, W)
        self.library.stage_v.restype = None
        numbers = ("upper", "lower", "upper_sum", "lower_sum")
        cell = np.dtype(
            [
                *[(name, "f8") for name in numbers],
                *[(name, "i8") for name in ("visits", "length")],
                *[(name, "f8", (A,)) for name in ("loss", "weight")],
                *[(name, "f8") for name in ("total", "reference", "eta")],
            ]
        )
        row = np.dtype([("reward", "f8", (N,)), ("cumulative", "f8", (W,)), ("next", "i4", (W,))], align=True)
        assert (self.library.size_of_cell(), self.library.size_of_row()) == (cell.itemsize, row.itemsize)
        self.cells = np.zeros((H + 1, S, N), dtype=cell)
        self.cells["upper"] = np.arange(H, -1, -1.0)[:, None, None]
        self.cells["length"], self.cells["weight"], self.cells["total"] = H, 1.0, A
        self.cells["eta"] = math.sqrt(IOTA / (A * H))
        low, high = game.reward_range
        self.rows = np.zeros(len(first) - 1, dtype=row)
        self.rows["reward"] = ((game.rewards.reshape(N, -1) - low) / (high - low)).T
        self.rows["cumulative"], self.rows["next"] = game.cumulative.reshape(-1, W), state.reshape(-1, W)
        self.starts = np.flatnonzero(game.initial).astype(np.int64)
        self.start = np.cumsum(game.initial[self.starts])
        self.state = _struct(N)(
            iota=IOTA,
            bonus=BONUS * math.sqrt(H**2 * A * IOTA),
            states=S,
            starts=len(self.starts),
            start=self.start.ctypes.data,
            start_state=self.starts.ctypes.data,
            row=self.rows.ctypes.data,
            cell=self.cells.ctypes.data,
        )
        self.streams = [stream(seed, role) for role in range(1 + N)]
        self.room = np.empty((1 + N) * chunk_of(H) * H)
        self.returns = np.zeros((chunk_of(H), N))

    def advance(self, episodes: int) -> None:
        game, chunk = self.game, chunk_of(self.game.horizon)
        for begin in range(0, episodes, chunk):
            shape = (1 + game.agents, min(chunk, episodes - begin), game.horizon)
            draws = self.room[: math.prod(shape)].reshape(shape)
            for source, own in zip(self.streams, draws, strict=True):
                source.random(out=own)
            self.play(draws, self.returns)

    def play(self, draws: Any, returns: Any) -> None:
        """Play one episode for each row of draws [1 + N, episodes, H]."""
        began = time.thread_time()
        arrays = [ctypes.c_void_p(array.ctypes.data) for array in (draws[0], draws[1:], returns)]
        self.library.stage_v(ctypes.byref(self.state), ctypes.c_int64(draws.shape[1]), *arrays)
        self.loop_seconds += time.thread_time() - began


def chase(library: Any, size: int, width: int, steps: int) -> float:
    """Return the nanoseconds of one step through memory of `size` bytes, in random order, `width` bytes a place."""
    words = width // 8
    places = max(2, size // width)
    order = np.random.default_rng(0).permutation(places)
    following = np.zeros((places, words), dtype=np.int64)
    following[order, 0] = np.roll(order, -1)
    best = math.inf
    for _ in range(5):
        began = time.thread_time()
        arguments = (ctypes.c_void_p(following.ctypes.data), *map(ctypes.c_int64, (words, steps, 0)))
        library.chase(*arguments)
        best = min(best, time.thread_time() - began)
    return 1e9 * best / steps


def _struct(agents: int) -> Any:
    class Learner(ctypes.Structure):
        _fields_ = [
            *[(key, ctypes.c_double) for key in ("iota", "bonus")],
            ("bound", ctypes.c_double * agents),
            *[(key, ctypes.c_int64) for key in ("states", "starts")],
            *[(key, ctypes.c_void_p) for key in ("start", "start_state", "row", "cell")],
        ]

    return Learner


def _built(agents: int, actions: int, steps: int, successors: int) -> Any:
    assert COMPILER is not None
    source = Path(__file__).with_name("stage_v.c")
    with tempfile.TemporaryDirectory() as place:
        target = Path(place) / "stage_v.so"
        sizes = {"AGENTS": agents, "ACTIONS": actions, "STEPS": steps, "SUCCESSORS": successors}
        options = ["-O3", "-march=native", *[f"-D{key}={value}" for key, value in sizes.items()], "-shared", "-fPIC"]
        subprocess.run([COMPILER, *options, str(source), "-o", str(target), "-lm"], check=True)
        return ctypes.CDLL(str(target))
