"""How long `tacit.tabulate` takes: three robots that carry parcels in a 4×3 warehouse, 125 joint actions.

python benchmarks/tabulate.py
"""

from __future__ import annotations

import resource
import time

import tacit

WIDTH, HEIGHT, PICK, DROP = 4, 3, 0, 11
MOVES = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
AFTER = [
    [
        y * WIDTH + x if 0 <= (x := c % WIDTH + dx) < WIDTH and 0 <= (y := c // WIDTH + dy) < HEIGHT else c
        for dx, dy in MOVES
    ]
    for c in range(WIDTH * HEIGHT)
]
SLIP = 0.1  # with which the first robot stays where it is


def moved(state: tuple[int, ...], actions: tuple[int, ...]) -> tuple[int, ...]:
    """Robots move one after the other; nobody enters a taken cell. A state is (cells, who carries as bits)."""
    *cells, carrying = state
    for i in range(3):
        to = AFTER[cells[i]][actions[i]]
        if to not in cells:
            cells[i] = to
        if cells[i] == PICK:
            carrying |= 1 << i
        elif cells[i] == DROP:
            carrying &= ~(1 << i)
    return (*cells, carrying)


def transition(state: tuple[int, ...], actions: tuple[int, ...]) -> list[tuple[float, tuple[int, ...]]]:
    """With a small probability the first robot slips."""
    if actions[0] == 0:
        return [(1.0, moved(state, actions))]
    return [(1 - SLIP, moved(state, actions)), (SLIP, moved(state, (0, *actions[1:])))]


def reward(state: tuple[int, ...], actions: tuple[int, ...]) -> tuple[float, ...]:
    """A parcel at the drop pays 1, a move costs a little."""
    cells, carrying = state[:3], state[3]
    drops = [AFTER[cells[i]][actions[i]] == DROP and bool(carrying >> i & 1) for i in range(3)]
    return tuple(float(drops[i]) - 0.01 * (actions[i] != 0) for i in range(3))


if __name__ == "__main__":
    began, cpu = time.perf_counter(), time.process_time()
    game = tacit.tabulate(transition, reward, start=(0, 1, 2, 0), actions=[5, 5, 5], horizon=60)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(game)
    seconds, core = time.perf_counter() - began, time.process_time() - cpu
    print(f"{seconds:.1f} s ({core:.1f} s of one core), {after / 1000:.0f} MB at most")
