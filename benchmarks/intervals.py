"""How wide intervals of gains are after 1,000 episodes, and what pairing and control variates change.

    python benchmarks/intervals.py [--plays 1000] [NAME …]

Six vehicles that charge at one transformer for 24 hours, and two games of the library, played as environments. For
each, a response of agent 0 is trained, and what it gains is measured on fresh episodes:

- Student: the half of a t-interval of paired gains, which is wrong where something rare matters;
- unpaired, paired: the half of the interval by betting, where the policy's episodes meet other chance, or the same;
- R²: by how much a control variate would lower the variance of the paired gain, if its mean were known: the policy's
  own return, all agents' returns, and what is observed first.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import tacit
from tacit.environments.deviators import Vector
from tacit.environments.external import policy_of
from tacit.environments.measuring import Ends, lower
from tacit.environments.play import Deviation, arena_of, play


class Charging:
    """Each vehicle sees the hour, what it needs, how long it stays, and the load of the hour before."""

    actions, horizon = [3] * 6, 24

    def reset(self, seed: int | None = None) -> Any:
        self.rng = np.random.default_rng(seed)
        self.arrive = self.rng.integers(0, 10, 6)
        self.leave = self.arrive + self.rng.integers(8, 15, 6)
        self.need = self.rng.integers(4, 11, 6).astype(float)
        self.hour, self.load = 0, 0.0
        return self.show()

    def here(self) -> Any:
        return (self.arrive <= self.hour) & (self.hour < self.leave)

    def show(self) -> Any:
        need, stay = self.need * self.here(), (self.leave - self.hour) * self.here()
        return [(self.hour, float(need[i]), float(stay[i]), self.load) for i in range(6)]

    def step(self, actions: list[int]) -> Any:
        taken = np.where(self.here(), np.minimum(actions, self.need), 0.0)
        self.load = float(taken.sum())
        price = 0.03 + 0.05 * (self.hour < 12) + 0.012 * self.load * (0.8 + 0.4 * self.rng.random())
        self.need, self.hour = self.need - taken, self.hour + 1
        late = (self.hour == self.leave) * self.need * 0.3
        return self.show(), (-taken * price - late).tolist(), self.hour == 24


def at_once(seen: Any, step: int) -> int:
    """Charge at full power."""
    return 2 if seen[1] > 0 else 0


def wavering(seen: Any, step: int) -> Any:
    return [0.15, 0.15, 0.7] if seen[1] > 0 else [1.0, 0.0, 0.0]


def cases() -> dict[str, tuple[Any, Any, str, int]]:
    even = lambda seen, step: [1 / 4] * 4  # noqa: E731
    fifths = lambda seen, step: [1 / 5] * 5  # noqa: E731
    return {
        "charging": (Charging(), at_once, "features", 4000),
        "charging, wavering": (Charging(), wavering, "features", 4000),
        "box-pushing": (tacit.to_pettingzoo(tacit.make("box-pushing")), even, "table", 1000),
        "soccer": (tacit.to_pettingzoo(tacit.make("atlas/soccer")), fifths, "table", 3000),
    }


def explained(gains: Any, *columns: Any) -> float:
    """R² of a regression of gains on columns."""
    X = np.column_stack([np.ones(len(gains)), *columns])
    return float(1 - (gains - X @ np.linalg.lstsq(X, gains, rcond=None)[0]).var() / gains.var())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--plays", type=int, default=1000)
    args = parser.parse_args()
    n = args.plays
    print("| environment | gain | Student | unpaired | paired | R²: own return | all returns | first observation |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (env, given, who, episodes) in cases().items():
        if args.names and name not in args.names:
            continue
        found = tacit.exploit(env, given, 0, episodes=episodes, plays=2, deviators=who)
        response, policy = found.responses[0], policy_of(env, given)
        arena: Any = arena_of(env, policy, counts=True)
        deviation = Deviation(0, response)
        before = play(arena, policy, episodes=2 * n)
        after = play(arena, policy, episodes=n, deviation=deviation)
        ends = Ends(arena, None)
        for one in (before, after):
            ends.meet(one)
        spread = ends.range[1] - ends.range[0]
        paired, apart = (after.returns[:, 0] - own[:, 0] for own in (before.returns[:n], before.returns[n:]))
        halves = [gains.mean() - lower(gains, 0.025, -spread, spread) for gains in (apart, paired)]
        vector = Vector(arena.environment.spaces[0], "agent 0")
        first = np.array([vector(seen) for seen in _first(arena, n)])
        cells = [1.96 * paired.std() / n**0.5, *halves]
        shares = [
            explained(paired, before.returns[:n, 0]),
            explained(paired, before.returns[:n]),
            explained(paired, first),
        ]
        row = " | ".join([f"{paired.mean():.3f}", *(f"± {x:.3f}" for x in cells), *(f"{x:.2f}" for x in shares)])
        print(f"| {name} | {row} |", flush=True)


def _first(arena: Any, n: int) -> list[Any]:
    from tacit.core import streams

    return [arena.environment.reset(int(seed))[0] for seed in streams.seeds(0, streams.PLAY, range(n))]


if __name__ == "__main__":
    main()
