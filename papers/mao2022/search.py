"""What settings make the BoxPushing panel look as the paper describes it, if any?

The paper says that V-Learning and PG both outperform Independent. It gives their step sizes and PG's momentum; it
leaves open the horizon, the number of episodes, what happens after a box is pushed, the bonus constants, the units of
the losses and PG's exploration. This program tries those, and nothing else:

    python papers/mao2022/search.py            search with seeds 0-2, then held-out seeds for the best of each task
    python papers/mao2022/search.py --out DIR  where search.json goes (papers/mao2022)

For every task (horizon × reset × episodes) each algorithm keeps its best setting; Independent also its worst, which
favours the paper's claim most. What is reported comes from seeds that the search did not use.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

import tacit
from tacit.core import whole
from tacit.experiments import learn_seeds, summarize

HORIZONS = (3, 5, 10, 20)
RESETS = (True, False)
EPISODES = (50_000, 500_000)
SETTINGS = {
    "V-Learning": (
        "stage-v-cce",
        [{"step": 0.05, "loss": loss, "bonus": b} for loss in ("normalized", "raw") for b in (0.0, 0.02, 0.1, 6.0)],
    ),
    "PG": ("pg-storm", [{"eta": 5e-4, "momentum": 0.1, "exploration": e} for e in (0.0, 0.001, 0.01, 0.05)]),
    "Independent": ("ucb-independent", [{"bonus": b} for b in (0.0, 0.02, 0.1)]),
}
CHOICES = [
    ("V-Learning", "V-Learning", max),
    ("PG", "PG", max),
    ("best Independent", "Independent", max),
    ("worst Independent", "Independent", min),
]
SEARCH_SEEDS = range(3)
HELD_OUT_SEEDS = range(1000, 1010)


def reward(task: dict, label: str, params: dict, seeds: range) -> dict:
    """Learn on a task with one setting; return the mean reward of the last tenth of the episodes."""
    game = tacit.make("box-pushing", horizon=task["horizon"], reset=task["reset"])
    learner = SETTINGS[label][0]
    options = {"certify": False, "keep": False, "points": 10, **params}
    runs = learn_seeds(game, learner, episodes=task["episodes"], seeds=seeds, **options)
    if len(runs) < len(seeds) or any(run.interrupted for run in runs):
        raise KeyboardInterrupt
    found = summarize([run.reward[0] for run in runs])
    return {"params": params, "mean": found.mean, "ci95": found.ci95}


def main() -> None:
    """Search all tasks, and write down what was tried and what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--episodes", type=int, nargs="*", default=EPISODES)
    args = parser.parse_args()
    outcome = []
    for horizon, reset, episodes in itertools.product(HORIZONS, RESETS, args.episodes):
        task = {"horizon": horizon, "reset": reset, "episodes": episodes}
        game = tacit.make("box-pushing", horizon=horizon, reset=reset)
        task["optimum"] = float(tacit.solve(game).values[0])
        tried = {
            label: [reward(task, label, params, SEARCH_SEEDS) for params in settings]
            for label, (_, settings) in SETTINGS.items()
        }
        held_out = {}
        for name, label, choose in CHOICES:
            params = choose(tried[label], key=lambda one: one["mean"])["params"]
            held_out[name] = reward(task, label, params, HELD_OUT_SEEDS)
        holds = {
            f"{label} > {rival}": held_out[label]["ci95"][0] > held_out[rival]["ci95"][1]
            for label in ("V-Learning", "PG")
            for rival in ("best Independent", "worst Independent")
        }
        outcome.append({**task, "tried": tried, "held_out": held_out, "outperforms": holds})
        told = ", ".join(f"{label} {one['mean']:.1f}" for label, one in held_out.items())
        after = "reset" if reset else "end"
        print(f"H={horizon} {after} K={episodes} optimum {task['optimum']:.1f}: {told}", flush=True)
        print(f"    holds: {', '.join(key for key in holds if holds[key]) or 'nothing'}", flush=True)
        args.out.mkdir(parents=True, exist_ok=True)
        whole.write(args.out / "search.json", json.dumps(outcome, indent=1).encode())


if __name__ == "__main__":
    main()
