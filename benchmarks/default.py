"""What the default learner of environments reaches, beside random play and other learners.

    python benchmarks/default.py [--episodes 500] [--seeds 2] [--half design|held-out] [--scores] [--learners L …] [--]
                                 [NAME …]

A learner is `default`, `iql` (one-step Q-learning), `trial` (backward λ-returns), or one of tacit's with parameters, as
`pg-adaptive:steps=shared` or `q-backward:first=1,fall=250`. A row has mean returns over agents and seeds of the
returned policies in 300 fresh episodes; where mixing matters (marked gap) the negative of what trained responses gain.
With `--scores` it has the way from random play (0) to the best of the row (1), and the last row the means without gaps.

Held out are the environments of `further.py` that were run once, when the learner was settled (`HELD_OUT`).
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

#: Run once, when the learner was settled.
HELD_OUT = ["bidding", "kitchen", "parking", "thermostats"]


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


PLAIN = {"iql": learn_one_step, "trial": learn_traced}


def learn(name: str, spec: str, episodes: int, seed: int) -> Any:
    """Return the policy that a learner returns in a new environment of this name."""
    env = WORLDS[name]()
    if spec in PLAIN:
        return PLAIN[spec](env, episodes, seed)
    learner, _, params = spec.partition(":")
    pairs = dict(one.split("=") for one in params.split(",") if one)
    values = {key: float(value) if value[0] in "0123456789." else value for key, value in pairs.items()}
    return tacit.learn(env, None if learner == "default" else learner, episodes=episodes, seed=seed, **values).policy


def measure(env: Any, policy: Any) -> float:
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
    parser.add_argument("--scores", action="store_true")
    parser.add_argument("--learners", nargs="+", default=["iql", "trial", "default"])
    args = parser.parse_args()
    halves = {"design": set(WORLDS) - set(HELD_OUT), "held-out": HELD_OUT, None: WORLDS}
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    columns = ["environment", *([] if args.scores else ["random play"]), *args.learners]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    scores = []
    for name in args.names or sorted(halves[args.half]):
        env = WORLDS[name]()
        row = [measure(env, [lambda seen, A=A: [1 / A] * A for A in env.actions])]
        for spec in args.learners:
            row.append(np.mean([measure(env, learn(name, spec, args.episodes, seed)) for seed in range(args.seeds)]))
        if args.scores:
            row = [(value - row[0]) / (max(row) - row[0]) for value in row[1:]]
            scores += [] if env.mixed else [row]
        print_row(f"{name} (gap)" if env.mixed else name, row, ".2f" if args.scores else ".3g")
    if args.scores:
        print_row("mean", np.mean(scores, axis=0), ".2f")


def print_row(name: str, row: Any, form: str) -> None:
    """Print a row of the table."""
    print(f"| {name} | {' | '.join(format(value, form).replace('-', '−') for value in row)} |", flush=True)


if __name__ == "__main__":
    main()
