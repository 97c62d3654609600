"""What learners reach in environments that others wrote, beside random play: the table of docs/research/others.md.

    python benchmarks/real.py [--only NAME …] [--seeds 3] [--plays 500]

Each environment is learned with the settings below and nothing else. "random" and "learned" are mean returns of agent 0
in fresh episodes (of zero-sum games, against an opponent that draws evenly among what is allowed), averaged over the
seeds; of FrozenLake and Taxi, which have tables, "learned" is exact. "seconds" are the processor's for one run, with
all that it measures and compiles.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import tacit


class Task(NamedTuple):
    """An environment, who learns there, and how long."""

    make: Callable[[], Any]
    episodes: int
    learner: str | None = None
    options: dict[str, Any] = {}  # noqa: RUF012  (of tacit.learn, never changed)
    against: bool = False  # whether agent 0 is measured against random opponents


def gym(name: str, **params: Any) -> Callable[[], Any]:
    """Return what makes a Gymnasium environment."""

    def make() -> Any:
        import gymnasium

        return gymnasium.make(name, disable_env_checker=True, **params)

    return make


def zoo(module: str, kind: str = "parallel_env", **params: Any) -> Callable[[], Any]:
    """Return what makes a PettingZoo environment."""

    def make() -> Any:
        import importlib

        return getattr(importlib.import_module(module), kind)(**params)

    return make


#: Of simple_spread: on which side of the agent each landmark is, and nothing else.
SPREAD = tacit.Bins([1, 1, 1, 1, *[[0.0]] * 6, *[1] * 8])


def relative(seen: Any) -> Any:
    """Return what foragers need: where food and the other one are from here, and whether one's level is enough."""
    food, own, other = seen[:3], seen[3:6], seen[6:9]
    return (food[0] < 0, *(food[:2] - own[:2]), food[2] > own[2], *(other[:2] - own[:2]))


#: Of CartPole: no place, three speeds, six angles, five spins.
CART = tacit.Bins([1, [-0.5, 0.5], 6, [-1, -0.3, 0.3, 1]])

#: One table for all steps.
STATIONARY = {"steps": "shared"}

TASKS = {
    "FrozenLake-v1": Task(gym("FrozenLake-v1"), 2000, "model-central", {}),
    "Taxi": Task(gym("Taxi-v4"), 1000, "model-central", STATIONARY),
    "CartPole-v1": Task(gym("CartPole-v1"), 100, "model-central", {"encode": CART, **STATIONARY}),
    "CartPole-v1, Q-learning": Task(gym("CartPole-v1"), 3000, "q-independent", {"encode": CART, **STATIONARY}),
    "LBF 5x5-2p-1f": Task(
        gym("lbforaging:Foraging-5x5-2p-1f-v3"), 2000, "q-independent", {"encode": relative, **STATIONARY}
    ),
    "LBF 5x5-2p-1f, as it is shown": Task(gym("lbforaging:Foraging-5x5-2p-1f-v3"), 20_000, "q-independent", STATIONARY),
    "simple_spread": Task(
        zoo("mpe2.simple_spread_v3", N=3, max_cycles=25), 2000, "pg-adaptive", {"encode": SPREAD, **STATIONARY}
    ),
    "rps": Task(zoo("pettingzoo.classic.rps_v2", max_cycles=5), 2000, None, {"horizon": 5, "reward_range": (-1, 1)}),
    "tictactoe": Task(zoo("pettingzoo.classic.tictactoe_v3", "env"), 3000, "q-independent", STATIONARY, True),
    "connect four": Task(
        zoo("pettingzoo.classic.connect_four_v3", "env"),
        300,
        "q-independent",
        {"encode": tacit.Bins(2), **STATIONARY},
        True,
    ),
}


def even(size: int) -> Callable[[Any], Any]:
    """Return a function that plays evenly; masks take away what is not allowed."""
    return lambda observation: np.full(size, 1 / size)


def measure(task: Task, seed: int, plays: int) -> tuple[float, float, float, str]:
    """Return the random and the learned return, seconds, and what was learned."""
    from tacit.environments.adapters import environment

    env = task.make()
    players = [even(size) for size in environment(env).actions]
    options = {key: value for key, value in task.options.items() if key == "horizon"}
    random = tacit.evaluate(env, players, episodes=plays, seed=seed, **options)
    began = time.process_time()
    run = tacit.learn(env, task.learner, episodes=task.episodes, seed=seed, **task.options)
    seconds = time.process_time() - began
    if isinstance(run.game, tacit.TabularGame):
        learned = np.asarray(run.values)
    else:
        team = [run, *players[1:]] if task.against else run
        learned = tacit.evaluate(
            tacit.from_pettingzoo(env, horizon=run.game.horizon), team, episodes=plays, seed=seed + 1000
        ).values
    return float(random.values[0]), float(learned[0]), seconds, f"{run.chosen}, {run.game.states:,} states"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(TASKS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--plays", type=int, default=500)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| environment | learner | episodes | random | learned | seconds | states, answer |")
    print("|---|---|---|---|---|---|---|")
    for name in args.only:
        task = TASKS[name]
        found = [measure(task, seed, args.plays) for seed in range(args.seeds)]
        random, learned = np.mean([one[:2] for one in found], axis=0)
        low, high = min(one[1] for one in found), max(one[1] for one in found)
        seconds = float(np.mean([one[2] for one in found]))
        reached = f"{learned:.3g} ({low:.3g} to {high:.3g})" if args.seeds > 1 else f"{learned:.3g}"
        cells = (name, task.learner or "default", f"{task.episodes:,}", f"{random:.3g}", reached, f"{seconds:.0f}")
        print(f"| {' | '.join(cells)} | {found[0][3]} |", flush=True)


if __name__ == "__main__":
    main()
