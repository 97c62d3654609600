"""What the default learner of environments reaches, beside random play, one-step Q-learning and other learners.

    python benchmarks/default.py [--episodes 500] [--seeds 2] [--half design|held-out] [--learners NAME …] [NAME …]

The design half are the environments of `worlds.py` and every other one of `further.py`, in alphabetical order; the
others of `further.py` were run once, when the learner was settled. A row has mean returns over agents and seeds of the
returned policies in 300 fresh episodes; where mixing matters (marked gap) the negative of what trained responses gain.
"""

from __future__ import annotations

import argparse
import logging
import warnings
from typing import Any

import numpy as np

import tacit
from further import FURTHER
from worlds import OWN

WORLDS = {**OWN, **FURTHER}

LEARNERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "default": (None, {}),
    "adaptive-v-cce": ("adaptive-v-cce", {}),
    "q-independent": ("q-independent", {"steps": "shared"}),
    "pg-adaptive": ("pg-adaptive", {"steps": "shared"}),
}


def learn_one_step(env: Any, episodes: int, seed: int) -> list[Any]:
    """Independent one-step Q-learning: rate .1, exploration from 1 to .05 over 80 % of the episodes."""
    rng, tables = np.random.default_rng(seed), [{} for _ in env.actions]  # type: ignore[var-annotated]

    def row(i: int, seen: Any) -> Any:
        return tables[i].setdefault(seen, np.zeros(env.actions[i]))

    for k in range(episodes):
        explore, seen, over = max(0.05, 1 - 0.95 * k / (0.8 * episodes)), env.reset(seed * 10**6 + k), False
        while not over:
            uniform = rng.random(env.agents) < explore
            actions = [
                int(rng.integers(A)) if uniform[i] else int(row(i, seen[i]).argmax()) for i, A in enumerate(env.actions)
            ]
            before, (seen, rewards, over) = seen, env.step(actions)
            for i, a in enumerate(actions):
                ahead = 0.0 if over else row(i, seen[i]).max()
                row(i, before[i])[a] += 0.1 * (rewards[i] + ahead - row(i, before[i])[a])
    return [lambda seen, i=i: int(row(i, seen).argmax()) for i in range(env.agents)]


def learn_traced(env: Any, episodes: int, seed: int) -> list[Any]:
    """Independent Q(λ = .8), backwards: rate max(.1, 1/n), exploration from .5 to .02 over 80 % of the episodes."""
    rng, tables = np.random.default_rng(seed), [{} for _ in env.actions]  # type: ignore[var-annotated]

    def row(i: int, seen: Any) -> Any:
        return tables[i].setdefault(seen, np.zeros((2, env.actions[i])))  # values and visits

    def choose(i: int, seen: Any) -> int:
        values = row(i, seen)[0]
        return int(rng.choice(np.flatnonzero(values == values.max())))

    for k in range(episodes):
        explore, seen, over = max(0.02, 0.5 - 0.48 * k / (0.8 * episodes)), env.reset(seed * 10**6 + k), False
        steps: list[Any] = []
        while not over:
            uniform = rng.random(env.agents) < explore
            actions = [int(rng.integers(A)) if uniform[i] else choose(i, seen[i]) for i, A in enumerate(env.actions)]
            before, (seen, rewards, over) = seen, env.step(actions)
            steps.append((before, actions, rewards))
        for i in range(env.agents):
            target = ahead = 0.0
            for before, actions, rewards in reversed(steps):
                values, a = row(i, before[i]), actions[i]
                target = rewards[i] + 0.2 * ahead + 0.8 * target
                values[1, a] += 1
                values[0, a] += max(0.1, 1 / values[1, a]) * (target - values[0, a])
                ahead = values[0].max()
    return [lambda seen, i=i: choose(i, seen) for i in range(env.agents)]


def score(env: Any, policy: Any) -> float:
    """Mean return over agents, or minus the gain of trained responses where mixing matters."""
    if env.mixed:
        return -float(tacit.exploit(env, policy, episodes=2000, seed=10**6).gap)
    return float(tacit.evaluate(env, policy, episodes=300, seed=10**6).values.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--half", choices=["design", "held-out"])
    parser.add_argument("--learners", nargs="*", default=list(LEARNERS), choices=list(LEARNERS))
    args = parser.parse_args()
    further = sorted(FURTHER)
    halves = {"design": sorted([*OWN, *further[::2]]), "held-out": further[1::2], None: sorted(WORLDS)}
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    columns = ["environment", "random play", "one-step Q", "Q(λ = .8)", *args.learners]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in args.names or halves[args.half]:
        env = WORLDS[name]()
        uniform = [lambda seen, A=A: [1 / A] * A for A in env.actions]
        seeds = range(args.seeds)
        rows = [[score(env, uniform)]]
        for learn in (learn_one_step, learn_traced):
            rows.append([score(env, learn(WORLDS[name](), args.episodes, seed)) for seed in seeds])
        for learner, params in (LEARNERS[one] for one in args.learners):
            runs = [tacit.learn(WORLDS[name](), learner, episodes=args.episodes, seed=seed, **params) for seed in seeds]
            rows.append([score(env, run.policy) for run in runs])
        means = " | ".join(f"{np.mean(row):.3g}" for row in rows)
        print(f"| {name}{' (gap)' if env.mixed else ''} | {means} |", flush=True)


if __name__ == "__main__":
    main()
