"""Values by plain trajectories, and the cycles of Monderer and Shapley: nothing of tacit's evaluation in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import tacit

Plan = tuple[tuple[int, ...], ...]  # one agent's action at each [step][state]


def value(game: tacit.TabularGame, plans: Sequence[Plan], i: int) -> float:
    """Agent i's value of deterministic Markov policies, by following every trajectory."""
    P, R = game.transitions, game.rewards

    def walk(h: int, s: int) -> float:
        joint = tuple(plan[h][s] for plan in plans)
        now = float(R[(i, h if R.shape[1] > 1 else 0, s, *joint)])
        if h + 1 == game.horizon:
            return now
        row = P[(h if len(P) > 1 else 0, s, *joint)]
        return now + sum(float(row[t]) * walk(h + 1, t) for t in range(game.states) if row[t] > 0)

    return sum(float(p) * walk(0, s) for s, p in enumerate(game.initial) if p > 0)


def constant(game: tacit.TabularGame) -> list[Plan]:
    """Everybody always plays action 0."""
    return [((0,) * game.states,) * game.horizon] * game.agents


def cycle_sums(game: tacit.TabularGame, first: int, second: int, others: list[Plan], limit: int) -> Iterator[float]:
    """Sums of the deviators' gains round `limit` random 4-cycles of two agents, the others fixed.

    From (x, y) to (x', y) to (x', y') to (x, y') and back, x the first agent's policy and y the second's. In a game
    with a potential each sum is zero, for each gain is a difference of potentials. [Monderer and Shapley 1996]
    """
    rng = np.random.default_rng(0)

    def drawn(i: int) -> Plan:
        return tuple(map(tuple, rng.integers(game.actions[i], size=(game.horizon, game.states)).tolist()))

    def gain(i: int, before: tuple[Plan, Plan], after: tuple[Plan, Plan]) -> float:
        profiles = []
        for one, two in (before, after):
            profile = list(others)
            profile[first], profile[second] = one, two
            profiles.append(value(game, profile, i))
        return profiles[1] - profiles[0]

    for _ in range(limit):
        x, x2, y, y2 = drawn(first), drawn(first), drawn(second), drawn(second)
        yield (
            gain(first, (x, y), (x2, y))
            + gain(second, (x2, y), (x2, y2))
            + gain(first, (x2, y2), (x, y2))
            + gain(second, (x, y2), (x, y))
        )
