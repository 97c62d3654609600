"""The games of the benchmark of efficiency: 52 of ten kinds, in pairs of which one was looked at while designing.

`GAMES` maps a name to (kind, half, maker). The halves are "design" and "held-out"; a pair shares its kind and differs
in sizes and seed. Games in which even play is an equilibrium already (matching pennies, rock-paper-scissors, Shapley's)
have no gap to close and are left out.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tacit
from tacit.games.exact import from_entries


class Store:
    """What has been measured, in one JSON file that is never half written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self._lines = {key: encode(key, value) for key, value in self.rows.items()}

    def put(self, key: str, value: Any) -> None:
        """Keep a value, and write the file anew."""
        self.rows[key] = value
        self._lines[key] = encode(key, value)
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text("{\n" + ",\n".join(self._lines[k] for k in sorted(self._lines)) + "\n}\n", encoding="utf-8")
        os.replace(fresh, self.path)


def encode(key: str, value: Any) -> str:
    """Return a line of a store."""
    return f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(value)}"


class Entry(NamedTuple):
    kind: str
    half: str
    make: Callable[[], tacit.TabularGame]


def zero_sum(*, states: int, actions: int, horizon: int, seed: int, successors: int | None = None) -> tacit.TabularGame:
    """Two agents with opposite rewards: r_1 uniform in [−1, 1], r_2 = −r_1."""
    base = tacit.make(
        "random-general-sum", states=states, actions=actions, horizon=horizon, seed=seed, successors=successors
    )
    own = 2 * base.rewards[:1] - 1
    rewards = np.concatenate([own, -own])
    moves = base.transitions if successors is None else base.successors
    return tacit.TabularGame(moves, rewards, base.initial, horizon, name="random-zero-sum")


def polymatrix(*, agents: int, states: int, actions: int, horizon: int, seed: int) -> tacit.TabularGame:
    """Each pair of agents plays a random zero-sum game at every step, so that all rewards sum to 0."""
    rng = np.random.default_rng(seed)
    shape = (horizon, states, *(actions,) * agents)
    rewards = np.zeros((agents, *shape))
    for i, j in itertools.combinations(range(agents), 2):
        axes = [1] * agents
        axes[i] = axes[j] = actions
        pair = rng.uniform(-1, 1, (horizon, states, *axes))
        rewards[i] += pair
        rewards[j] -= pair
    moves = rng.dirichlet(np.ones(states), shape)
    return tacit.TabularGame(moves, rewards, np.full(states, 1 / states), horizon, name="polymatrix")


def biased(scale: list[float], horizon: int) -> tacit.TabularGame:
    """Rock-paper-scissors in which winning with action a pays scale[a]; the equilibrium mixes unevenly."""
    row = np.zeros((3, 3))
    for a in range(3):
        row[a, (a - 1) % 3] = scale[a]
        row[(a - 1) % 3, a] = -scale[a]
    return tacit.TabularGame(np.ones((1, 1, 3, 3, 1)), np.stack([row, -row])[:, None, None], [1.0], horizon)


MOVES = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))  # stay and four directions


def grid(
    *, width: int, height: int, horizon: int, slip: float = 0.1, deliver: bool = False, team: bool = False
) -> tacit.TabularGame:
    """Two robots on a grid; bumping into each other costs, and each has a place to reach.

    Without `deliver` agent i is paid 1 for each step at its goal, the corner where the other starts. With it both fetch
    from the far corner and bring to the near one: 1 for each delivery, and the state has a flag for each load.
    """
    cells = [(x, y) for y in range(height) for x in range(width)]
    number = {cell: k for k, cell in enumerate(cells)}
    n, flags = len(cells), (2 if deliver else 1)
    S = n * n * flags * flags
    shelf, dock = n - 1, 0
    goals = (n - 1, 0)

    def target(cell: int, move: tuple[int, int]) -> int:
        x, y = cells[cell]
        return number.get((x + move[0], y + move[1]), cell)

    rewards = np.zeros((2, 1, S, 5, 5))
    row, state, prob = [], [], []
    for s, (p, q, f, g) in enumerate(itertools.product(range(n), range(n), range(flags), range(flags))):
        for a, b in itertools.product(range(5), range(5)):
            for slip_a, slip_b in itertools.product((False, True), (False, True)):
                p_next = p if slip_a else target(p, MOVES[a])
                q_next = q if slip_b else target(q, MOVES[b])
                chance = (slip if slip_a else 1 - slip) * (slip if slip_b else 1 - slip)
                cost = 0.0
                if p_next == q_next or (p_next == q and q_next == p and p != q):
                    p_next, q_next, cost = p, q, -0.5
                loads, gains = [f, g], [cost, cost]
                for i, (cell, load) in enumerate(((p_next, f), (q_next, g))):
                    if not deliver:
                        gains[i] += float(cell == goals[i])
                    elif load and cell == dock:
                        gains[i] += 1.0
                        loads[i] = 0
                    elif not load and cell == shelf:
                        loads[i] = 1
                s_next = ((p_next * n + q_next) * flags + loads[0]) * flags + loads[1]
                row.append(s * 25 + a * 5 + b)
                state.append(s_next)
                prob.append(chance)
                rewards[:, 0, s, a, b] += chance * np.array([sum(gains) / 2] * 2 if team else gains)
    initial = np.zeros(S)
    initial[(number[0, 0] * n + n - 1) * flags * flags] = 1.0
    name = "warehouse" if deliver else "gridworld"
    return tacit.TabularGame(from_entries(row, state, prob, S * 25), rewards, initial, horizon, name=name)


def _named(name: str, **params: object) -> Callable[[], tacit.TabularGame]:
    return lambda: tacit.make(name, **params)


def _with(maker: Callable[..., tacit.TabularGame], *args: object, **params: object) -> Callable[[], tacit.TabularGame]:
    return lambda: maker(*args, **params)


def _random(
    kind: str, S: int, A: int | list[int], H: int, seed: int, **more: object
) -> Callable[[], tacit.TabularGame]:
    return _named(f"random-{kind}", states=S, actions=A, horizon=H, seed=seed, **more)


_PAIRS: list[tuple[str, tuple[str, Callable], tuple[str, Callable]]] = [
    (
        "general-sum",
        ("general S2 A2 H5", _random("general-sum", 2, 2, 5, 1)),
        ("general S3 A2 H4", _random("general-sum", 3, 2, 4, 101)),
    ),
    (
        "general-sum",
        ("general S5 A3 H5", _random("general-sum", 5, 3, 5, 2)),
        ("general S4 A4 H6", _random("general-sum", 4, 4, 6, 102)),
    ),
    (
        "general-sum",
        ("general S10 A4 H10", _random("general-sum", 10, 4, 10, 3)),
        ("general S8 A5 H8", _random("general-sum", 8, 5, 8, 103)),
    ),
    (
        "sparse",
        ("sparse S5 A3 H5", _random("general-sum", 5, 3, 5, 4, successors=2)),
        ("sparse S6 A2 H6", _random("general-sum", 6, 2, 6, 104, successors=2)),
    ),
    (
        "sparse",
        ("sparse S20 A3 H10", _random("general-sum", 20, 3, 10, 5, successors=1)),
        ("sparse S30 A4 H5", _random("general-sum", 30, 4, 5, 105, successors=2)),
    ),
    (
        "sparse",
        ("sparse S100 A2 H15", _random("general-sum", 100, 2, 15, 6, successors=2, stationary=True)),
        ("sparse S60 A3 H20", _random("general-sum", 60, 3, 20, 106, successors=2, stationary=True)),
    ),
    (
        "zero-sum",
        ("zero-sum S3 A3 H5", _with(zero_sum, states=3, actions=3, horizon=5, seed=7)),
        ("zero-sum S4 A2 H6", _with(zero_sum, states=4, actions=2, horizon=6, seed=107)),
    ),
    (
        "zero-sum",
        ("zero-sum S1 A5 H1", _with(zero_sum, states=1, actions=5, horizon=1, seed=8)),
        ("zero-sum S2 A6 H2", _with(zero_sum, states=2, actions=6, horizon=2, seed=108)),
    ),
    (
        "zero-sum",
        ("zero-sum S10 A2 H10", _with(zero_sum, states=10, actions=2, horizon=10, seed=9, successors=2)),
        ("zero-sum S8 A3 H8", _with(zero_sum, states=8, actions=3, horizon=8, seed=109, successors=2)),
    ),
    ("team", ("team S5 A4 H5", _random("team", 5, 4, 5, 10)), ("team S4 A3 H6", _random("team", 4, 3, 6, 110))),
    (
        "team",
        ("team S20 A3 H10", _random("team", 20, 3, 10, 11, successors=2)),
        ("team S15 A5 H8", _random("team", 15, 5, 8, 111, successors=2)),
    ),
    (
        "potential",
        ("potential S3 A3 H4", _random("potential", 3, 3, 4, 12)),
        ("potential S2 A4 H6", _random("potential", 2, 4, 6, 112)),
    ),
    (
        "potential",
        ("potential S10 A5 H8", _random("potential", 10, 5, 8, 13)),
        ("potential S6 A3 H12", _random("potential", 6, 3, 12, 113)),
    ),
    ("paper", ("matrix-team", _named("matrix-team")), ("good-state H20", _named("good-state", horizon=20))),
    ("paper", ("good-state H10", _named("good-state")), ("box-pushing H8", _named("box-pushing", horizon=8))),
    (
        "paper",
        ("box-pushing H5", _named("box-pushing", horizon=5)),
        ("good-state H5 slip .3", _named("good-state", horizon=5, slip=0.3)),
    ),
    (
        "classic",
        ("chicken H5", _named("chicken", horizon=5)),
        ("battle of the sexes H10", _named("battle-of-the-sexes", horizon=10)),
    ),
    (
        "classic",
        ("climbing H1", _named("climbing")),
        ("penalty H4", _named("penalty", horizon=4)),
    ),
    (
        "classic",
        ("stag hunt H20", _named("stag-hunt", horizon=20)),
        ("prisoners' dilemma H15", _named("prisoners-dilemma", horizon=15)),
    ),
    (
        "classic",
        ("biased rock-paper-scissors H3", _with(biased, [1.0, 2.0, 4.0], 3)),
        ("biased rock-paper-scissors H1", _with(biased, [1.0, 1.0, 5.0], 1)),
    ),
    (
        "distancing",
        ("distancing N4 H5", _named("distancing", agents=4, horizon=5)),
        ("distancing N4 H10", _named("distancing", agents=4, horizon=10)),
    ),
    (
        "grid",
        ("gridworld 4×4 H12", _with(grid, width=4, height=4, horizon=12)),
        ("gridworld 5×3 H15", _with(grid, width=5, height=3, horizon=15)),
    ),
    (
        "grid",
        ("warehouse 3×3 H20", _with(grid, width=3, height=3, horizon=20, deliver=True)),
        ("warehouse 4×2 H20 team", _with(grid, width=4, height=2, horizon=20, deliver=True, team=True)),
    ),
    (
        "many agents",
        ("general N3 S3 A2 H4", _random("general-sum", 3, 2, 4, 14, agents=3)),
        ("general N3 S2 A3 H5", _random("general-sum", 2, 3, 5, 114, agents=3)),
    ),
    (
        "many agents",
        ("polymatrix N3 S2 A3 H3", _with(polymatrix, agents=3, states=2, actions=3, horizon=3, seed=15)),
        ("polymatrix N4 S1 A2 H4", _with(polymatrix, agents=4, states=1, actions=2, horizon=4, seed=115)),
    ),
    (
        "many agents",
        ("team N4 S3 A2 H5", _random("team", 3, 2, 5, 16, agents=4)),
        ("general N4 S4 A[2,3,2,3] H3", _random("general-sum", 4, [2, 3, 2, 3], 3, 116, agents=4)),
    ),
]

GAMES: dict[str, Entry] = {
    name: Entry(kind, half, make)
    for kind, *pair in _PAIRS
    for half, (name, make) in zip(("design", "held-out"), pair, strict=True)
}

#: Games for one look at something that was chosen on `GAMES`: kinds as there, other sizes and seeds.
FRESH: dict[str, Entry] = {
    name: Entry(kind, "fresh", make)
    for kind, name, make in (
        ("general-sum", "general S3 A3 H4", _random("general-sum", 3, 3, 4, 201)),
        ("general-sum", "general S6 A3 H7", _random("general-sum", 6, 3, 7, 202)),
        ("general-sum", "general S9 A4 H6", _random("general-sum", 9, 4, 6, 203)),
        ("sparse", "sparse S8 A3 H6", _random("general-sum", 8, 3, 6, 204, successors=2)),
        ("sparse", "sparse S25 A3 H8", _random("general-sum", 25, 3, 8, 205, successors=1)),
        ("sparse", "sparse S80 A2 H12", _random("general-sum", 80, 2, 12, 206, successors=2, stationary=True)),
        ("zero-sum", "zero-sum S2 A4 H4", _with(zero_sum, states=2, actions=4, horizon=4, seed=207)),
        ("zero-sum", "zero-sum S1 A6 H1", _with(zero_sum, states=1, actions=6, horizon=1, seed=208)),
        ("zero-sum", "zero-sum S6 A3 H7", _with(zero_sum, states=6, actions=3, horizon=7, seed=209, successors=2)),
        ("team", "team S6 A3 H5", _random("team", 6, 3, 5, 210)),
        ("team", "team S12 A4 H9", _random("team", 12, 4, 9, 211, successors=2)),
        ("potential", "potential S4 A3 H5", _random("potential", 4, 3, 5, 212)),
        ("potential", "potential S8 A4 H7", _random("potential", 8, 4, 7, 213)),
        ("paper", "good-state H15", _named("good-state", horizon=15)),
        ("paper", "good-state H8 slip .2", _named("good-state", horizon=8, slip=0.2)),
        ("paper", "box-pushing H6", _named("box-pushing", horizon=6)),
        ("classic", "chicken H8", _named("chicken", horizon=8)),
        ("classic", "battle of the sexes H4", _named("battle-of-the-sexes", horizon=4)),
        ("classic", "penalty H2", _named("penalty", horizon=2)),
        ("classic", "stag hunt H12", _named("stag-hunt", horizon=12)),
        ("classic", "prisoners' dilemma H6", _named("prisoners-dilemma", horizon=6)),
        ("classic", "biased rock-paper-scissors H2", _with(biased, [1.0, 3.0, 2.0], 2)),
        ("distancing", "distancing N4 H7", _named("distancing", agents=4, horizon=7)),
        ("grid", "gridworld 4×3 H10", _with(grid, width=4, height=3, horizon=10)),
        ("grid", "warehouse 3×2 H15", _with(grid, width=3, height=2, horizon=15, deliver=True)),
        ("many agents", "general N3 S2 A2 H6", _random("general-sum", 2, 2, 6, 214, agents=3)),
        (
            "many agents",
            "polymatrix N3 S1 A3 H5",
            _with(polymatrix, agents=3, states=1, actions=3, horizon=5, seed=215),
        ),
        ("many agents", "team N3 S4 A3 H4", _random("team", 4, 3, 4, 216, agents=3)),
    )
}
