"""What the default learner of environments reaches, beside random play and other learners.

    python benchmarks/default.py FILE [--episodes 500] [--seeds 4] [--half design|held-out|unseen|borrowed]
                                 [--only NAME …] [--learners L …] [--returns]

Each run appends a line to FILE, and what FILE has is not run again. Then the table is printed.

A learner is `default`, `iql` (one-step Q-learning), `trial` (backward λ-returns), `ippo` (`ippo.py`), or one of tacit's
with parameters, as `pg-adaptive:steps=shared` or `q-backward:members=2`. What counts is the mean return over
agents in 300 fresh episodes of the returned policies; where mixing matters (marked gap) the negative of what trained
responses gain, as it is. Scores are the way from random play (0) to the best (1), the best being the best mean of any
learner in FILE with up to ten times the episodes; `--returns` prints returns instead. "<" marks what is below `iql` by
more than two standard errors of the differences, seed by seed.

`worlds.py` and `further.py` have the environments of the design, except `HELD_OUT`; `unseen.py` those that were written
and run once when the learner was settled; `borrowed.py` those of others.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from borrowed import BORROWED
from further import FURTHER
from ippo import learn_ppo
from unseen import UNSEEN
from worlds import OWN

WORLDS = {**OWN, **FURTHER, **UNSEEN, **BORROWED}

#: Of `further.py`, not used in the design.
HELD_OUT = ["bidding", "kitchen", "parking", "thermostats"]

HALVES = {
    "design": sorted({**OWN, **FURTHER}.keys() - set(HELD_OUT)),
    "held-out": HELD_OUT,
    "unseen": list(UNSEEN),
    "borrowed": list(BORROWED),
}

#: Fresh episodes of a returned policy, and those that train and play responses where mixing matters.
PLAYS, RESPONSES = 300, 2000


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


PLAIN = {"iql": learn_one_step, "trial": learn_traced, "ippo": learn_ppo}


def learn(name: str, spec: str, episodes: int, seed: int) -> Any:
    """Return the policy that a learner returns in a new environment of this name."""
    env = WORLDS[name]()
    if spec == "random":
        return [lambda seen, A=A: [1 / A] * A for A in env.actions]
    if spec in PLAIN:
        return PLAIN[spec](env, episodes, seed)
    learner, _, params = spec.partition(":")
    pairs = dict(one.split("=") for one in params.split(",") if one)
    values: dict[str, Any] = {
        key: int(value) if value.isdigit() else float(value) if value[0] in "0123456789." else value
        for key, value in pairs.items()
    }
    return tacit.learn(env, None if learner == "default" else learner, episodes=episodes, seed=seed, **values).policy


def measure(env: Any, policy: Any, seed: int) -> float:
    """Mean return over agents, or minus the gain of trained responses where mixing matters."""
    if env.mixed:
        return -float(tacit.exploit(env, policy, episodes=RESPONSES, seed=10**6).gap)
    if not isinstance(policy, list):
        return float(tacit.evaluate(env, policy, episodes=PLAYS, seed=10**6).values.mean())
    rng, total = np.random.default_rng(seed), 0.0  # the same as `evaluate`, faster for functions
    for k in range(PLAYS):
        seen, over = env.reset(10**8 + k), False
        while not over:
            seen, rewards, over = env.step([draw(player(one), rng) for player, one in zip(policy, seen, strict=True)])
            total += sum(rewards)
    return total / PLAYS / env.agents


def draw(answer: Any, rng: np.random.Generator) -> int:
    """Return the action of an answer that is one, or its probabilities."""
    if isinstance(answer, int):
        return answer
    return min(int((np.cumsum(answer) < rng.random()).sum()), len(answer) - 1)


def complete(file: Path, names: list[str], learners: list[str], episodes: int, seeds: int) -> list[dict[str, Any]]:
    """Append to FILE the runs that it does not have, and return all of them."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    runs = [json.loads(line) for line in lines]
    have = {tuple(run[key] for key in ("environment", "learner", "episodes", "seed")) for run in runs}
    wanted = [(name, "random", 0, 0) for name in names]
    wanted += [(n, spec, episodes, seed) for n in names for seed in range(seeds) for spec in learners]
    with file.open("a", encoding="utf-8") as out:
        for key in wanted:
            if key in have:
                continue
            began = time.process_time()
            value = measure(WORLDS[key[0]](), learn(*key), seed=key[3])
            run = dict(zip(("environment", "learner", "episodes", "seed"), key, strict=True))
            runs.append({**run, "value": value, "seconds": round(time.process_time() - began, 2)})
            print(json.dumps(runs[-1]), file=out, flush=True)
    return runs


def tabulate(runs: list[dict[str, Any]], names: list[str], learners: list[str], episodes: int, returns: bool) -> None:
    """Print the table of scores, or of returns."""
    values: dict[tuple[str, str, int], dict[int, float]] = {}
    for run in runs:
        values.setdefault((run["environment"], run["learner"], run["episodes"]), {})[run["seed"]] = run["value"]
    columns = ["environment", *(["random"] if returns else []), *learners]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    rows = []
    for name in names:
        found = [values.get((name, spec, episodes), {}) for spec in learners]
        means = [float(np.mean(list(seeds.values()))) if seeds else np.nan for seeds in found]
        random = values[name, "random", 0][0]
        reached = [list(v.values()) for (n, _, count), v in values.items() if n == name and count <= 10 * episodes]
        best = max(float(np.mean(one)) for one in reached)
        mixed = WORLDS[name]().mixed
        if not mixed:
            rows.append([(mean - random) / (best - random) if best > random else np.nan for mean in means])
        cells = [f"{mean:.3g}" for mean in means] if returns or mixed else [f"{score:.2f}" for score in rows[-1]]
        marks = ["<" if is_below(seeds, values.get((name, "iql", episodes), {})) else "" for seeds in found]
        cells = [f"{random:.3g}"] * returns + [cell + mark for cell, mark in zip(cells, marks, strict=True)]
        line = " | ".join(cells).replace("-", "−").replace("nan", "–")
        print(f"| {name}{' (gap)' if mixed else ''} | {line} |")
    if rows and not returns:
        print(f"| mean | {' | '.join(format(value, '.2f') for value in np.nanmean(rows, axis=0))} |")
        summarize(np.array(rows), learners)


def summarize(scores: Any, learners: list[str]) -> None:
    """Print on how many environments the default reaches what others do, by scores [environments, learners]."""
    columns = dict(zip(learners, scores.T, strict=True))
    others = [column for name, column in columns.items() if name not in (*PLAIN, "default")]
    rivals = {"iql": 1.0, "ippo": 0.9, "the best other of tacit's": 0.85}
    columns |= {"the best other of tacit's": np.nanmax(others, axis=0)} if others else {}
    for name, part in rivals.items():
        if "default" in columns and name in columns:
            met = [own >= part * other for own, other in zip(columns["default"], columns[name], strict=True)]
            measured = ~np.isnan(columns["default"] + columns[name])
            print(f"default at least {part:g} of {name}: on {np.sum(np.array(met)[measured])} of {measured.sum()}")


def is_below(one: dict[int, float], other: dict[int, float]) -> bool:
    """Return whether one learner is below another by more than two standard errors, seed by seed."""
    gains = np.array([one[seed] - other[seed] for seed in one.keys() & other.keys()])
    return len(gains) > 1 and bool(gains.mean() < -2 * gains.std(ddof=1) / len(gains) ** 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--episodes", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--half", choices=list(HALVES), default="design")
    parser.add_argument("--returns", action="store_true")
    parser.add_argument("--learners", nargs="+", default=["iql", "trial", "default"])
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    names = args.only or HALVES[args.half]
    runs = complete(args.file, names, args.learners, args.episodes, args.seeds)
    tabulate(runs, names, args.learners, args.episodes, args.returns)


if __name__ == "__main__":
    main()
