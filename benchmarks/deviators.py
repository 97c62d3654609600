"""Best responses on features: what share of the exact gain they reach where an agent sees observations only.

    python benchmarks/deviators.py [--episodes 8000] [--seeds 1] [NAME …]

Ten games of the library with tables, so that the exact gain of a best response is known. The deviating agent does not
see the state but an array: a unit vector, the numbers in the state's name, an embedding; some with noise, numbers that
mean nothing, or mixed up. The others play tables on the state. The first five games were looked at while the method was
made; the other five were played for the first time when it was done.
"""

from __future__ import annotations

import argparse
import ast
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import tacit
from tacit.environments.adapters import GameAdapter
from tacit.evaluation import best_response, policy_values


class Shown:
    """A game in which all see an array in place of the state."""

    def __init__(self, game: Any, table: Any, *, noise: float = 0.0, extra: int = 0) -> None:
        self.game, self.table, self.noise, self.extra = game, table, noise, extra
        self.actions, self.horizon, self.reward_range = list(game.actions), game.horizon, game.reward_range
        self._adapter = GameAdapter(game)

    def reset(self, seed: int | None = None) -> Any:
        self._rng = np.random.default_rng(seed)
        return self._show(self._adapter.reset(seed)[0])

    def step(self, actions: list[int]) -> Any:
        states, rewards, over = self._adapter.step(list(actions))
        return self._show(states[0]), rewards, over is not None

    def _show(self, s: int) -> Any:
        self.s, x = s, self.table[s]
        x = x + self.noise * self._rng.normal(size=len(x)) if self.noise else x
        return np.concatenate([x, self._rng.normal(size=self.extra)]) if self.extra else x

    def players(self, policy: tacit.MarkovPolicy) -> list[Callable[[Any, int], Any]]:
        """Who plays a table on the state behind what is seen."""
        return [lambda seen, h, own=own: own[h if len(own) > 1 else 0, self.s] for own in policy.probs]


def numbers(game: Any) -> Any:
    """The numbers in each state's name."""

    def flat(value: Any) -> list[float]:
        return [x for one in value for x in flat(one)] if isinstance(value, tuple) else [float(value)]

    rows = [flat(ast.literal_eval(name)) if name.startswith("(") else [] for name in game.state_names]
    width = max(map(len, rows))
    return np.array([row or [-1.0] * width for row in rows])


def cards(game: Any) -> Any:
    """Goofspiel: the card on show and which cards are left, as 0 and 1, and the points."""
    table = np.zeros((game.states, 21))
    for row, name in zip(table, game.state_names, strict=True):
        if name.startswith("("):
            card, *hands, row[20] = ast.literal_eval(name)
            row[[card, *(5 * (k + 1) + c for k, hand in enumerate(hands) for c in hand)]] = 1.0
    return table


def embed(game: Any, seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=(game.states, 12))


def mix(table: Any) -> Any:
    """Twelve random mixtures of the numbers."""
    return table @ np.random.default_rng(0).normal(size=(table.shape[1], 12))


class Case(NamedTuple):
    name: str
    seen: str
    env: Shown
    policy: tacit.MarkovPolicy
    agent: int


def cases() -> Iterator[Case]:
    even, drawn = tacit.MarkovPolicy.uniform, lambda game, seed: tacit.MarkovPolicy.random(game, seed=seed)
    g: Any = tacit.make("box-pushing")
    yield Case("box-pushing", "unit vector", Shown(g, np.eye(g.states)), even(g), 0)
    g = tacit.make("atlas/soccer")
    yield Case("soccer", "coordinates", Shown(g, numbers(g)), drawn(g, 1), 0)
    g = tacit.make("random-general-sum", states=20, actions=3, horizon=5, seed=3)
    yield Case("random-general-sum", "noisy embedding", Shown(g, embed(g, 0), noise=0.2), drawn(g, 2), 1)
    g = tacit.make("atlas/oshi-zumo")
    yield Case("oshi-zumo", "mixed numbers", Shown(g, mix(numbers(g))), even(g), 1)
    g = tacit.make("atlas/nim-1-3-4")
    yield Case("nim-1-3-4", "numbers, 5 without meaning", Shown(g, numbers(g), extra=5), drawn(g, 3), 0)
    g = tacit.make("atlas/goofspiel-4")
    yield Case("goofspiel-4", "cards as 0 and 1", Shown(g, cards(g)), drawn(g, 4), 0)
    g = tacit.make("atlas/prism-robots")
    yield Case("prism-robots", "noisy coordinates", Shown(g, numbers(g), noise=0.1), even(g), 0)
    g = tacit.make("atlas/inspection-8-3")
    yield Case("inspection-8-3", "mixed numbers", Shown(g, mix(numbers(g))), drawn(g, 5), 1)
    g = tacit.make("random-potential", agents=3, states=30, actions=3, horizon=5, seed=4)
    yield Case("random-potential", "noisy embedding", Shown(g, embed(g, 1), noise=0.2), drawn(g, 6), 2)
    g = tacit.make("atlas/chomp-3-3")
    yield Case("chomp-3-3", "numbers, 5 without meaning", Shown(g, numbers(g), extra=5), even(g), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="games (all)")
    parser.add_argument("--episodes", type=int, default=8000, help="of training (8000)")
    parser.add_argument("--plays", type=int, default=4000, help="of play afterwards (4000)")
    parser.add_argument("--seeds", type=int, default=1)
    args = parser.parse_args()
    print("| game | agents | states | actions | steps | seen as | exact gain | trained | share | CPU seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    shares = []
    for name, seen, env, policy, i in cases():
        if args.names and name not in args.names:
            continue
        game = env.game
        exact = best_response(game, policy, i).value - policy_values(game, policy).initial[i]
        began, gains = time.process_time(), []
        for seed in range(args.seeds):
            options: dict[str, Any] = {"episodes": args.episodes, "plays": args.plays, "deviators": "features"}
            gains.append(tacit.exploit(env, env.players(policy), i, seed=100 * seed, **options).gains[i])
        seconds, gain = (time.process_time() - began) / args.seeds, float(np.mean(gains))
        shares.append(gain / exact)
        sizes = f"{game.agents} | {game.states} | {game.actions[i]} | {game.horizon}"
        print(
            f"| {name} | {sizes} | {seen} | {exact:.3f} | {gain:.3f} | {gain / exact:.0%} | {seconds:.0f} |", flush=True
        )
    print(f"\nmedian share of {len(shares)} games: {np.median(shares):.1%}")


if __name__ == "__main__":
    main()
