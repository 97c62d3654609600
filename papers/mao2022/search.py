"""What settings make the BoxPushing panel look as the paper describes it, if any?

The paper says that V-Learning and PG both outperform Independent. It gives their step sizes and PG's momentum; it
leaves open the horizon, the number of episodes, what happens after a box is pushed, the bonus constants, the units of
the losses, PG's exploration, and which Q-learning "Independent" is: naïve and greedy (the caption) or optimistic with
bonuses (the appendix). This program tries those, and nothing else:

    python papers/mao2022/search.py            search with seeds 0-2, then held-out seeds for the best of each task
    python papers/mao2022/search.py --out DIR  where search.json goes (papers/mao2022)

For every task (horizon × reset × episodes) each algorithm keeps its best setting; Independent, in both readings, also
its worst, which favours the paper's claim most. What is reported comes from seeds that the search did not use. Runs
that search.json holds already are not run again; remove it to start over.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import tacit
from tacit.core import files
from tacit.experiments import summarize

HORIZONS = (3, 5, 10, 20)
RESETS = (True, False)
EPISODES = (50_000, 500_000)
SETTINGS = {
    "V-Learning": (
        "stage-v-cce",
        [{"step": 0.05, "loss": loss, "bonus": b} for loss in ("normalized", "raw") for b in (0.0, 0.02, 0.1, 6.0)],
    ),
    "PG": ("pg-storm", [{"eta": 5e-4, "momentum": 0.1, "exploration": e} for e in (0.0, 0.001, 0.01, 0.05)]),
    "Independent, caption": ("q-independent", [{"exploration": 0.0, "optimism": o} for o in (0.0, 1.0)]),
    "Independent, appendix": ("ucb-independent", [{"bonus": b} for b in (0.0, 0.02, 0.1, 1.0)]),
}
READINGS = [label for label in SETTINGS if label.startswith("Independent")]
CHOICES = [
    ("V-Learning", "V-Learning", max),
    ("PG", "PG", max),
    *[(f"best {label}", label, max) for label in READINGS],
    *[(f"worst {label}", label, min) for label in READINGS],
]
SEEDS = {"tried": range(3), "held_out": range(1000, 1010)}


class Search:
    """Runs settings on tasks, and knows what was run before."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.known: dict[str, dict] = {}
        for task in json.loads(file.read_text(encoding="utf-8")) if file.exists() else []:
            for kind in ("tried", "held_out"):
                for label, found in task[kind].items():
                    for one in found if isinstance(found, list) else [found]:
                        learner = next(name for key, (name, _) in SETTINGS.items() if key in label)
                        self.known[self.key(task, learner, one["params"], kind)] = one

    @staticmethod
    def key(task: dict, learner: str, params: dict, kind: str) -> str:
        """Name a setting on a task."""
        return json.dumps([task["horizon"], task["reset"], task["episodes"], learner, params, kind], sort_keys=True)

    def reward(self, task: dict, label: str, params: dict, kind: str) -> dict:
        """Learn on a task with one setting; return the mean reward of the last tenth of the episodes."""
        learner = SETTINGS[label][0]
        key = self.key(task, learner, params, kind)
        if key not in self.known:
            game = tacit.make("box-pushing", horizon=task["horizon"], reset=task["reset"])
            options = {"certify": False, "keep": False, "points": 10, **params}
            learn = partial(tacit.learn, game, learner, episodes=task["episodes"], **options)
            with ThreadPoolExecutor(os.cpu_count()) as threads:
                runs = list(threads.map(lambda seed: learn(seed=seed), SEEDS[kind]))
            found = summarize([run.reward[0] for run in runs])
            self.known[key] = {"params": params, "mean": found.mean, "ci95": found.ci95}
        return self.known[key]


def main() -> None:
    """Search all tasks, and write down what was tried and what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--episodes", type=int, nargs="*", default=EPISODES)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    search = Search(args.out / "search.json")
    outcome = []
    for horizon, reset, episodes in itertools.product(HORIZONS, RESETS, args.episodes):
        task = {"horizon": horizon, "reset": reset, "episodes": episodes}
        game = tacit.make("box-pushing", horizon=horizon, reset=reset)
        task["optimum"] = float(tacit.solve(game).values[0])
        tried = {
            label: [search.reward(task, label, params, "tried") for params in settings]
            for label, (_, settings) in SETTINGS.items()
        }
        held_out = {}
        for name, label, choose in CHOICES:
            params = choose(tried[label], key=lambda one: one["mean"])["params"]
            held_out[name] = search.reward(task, label, params, "held_out")
        holds = {
            f"{label} > {rival}": held_out[label]["ci95"][0] > held_out[rival]["ci95"][1]
            for label in ("V-Learning", "PG")
            for rival, _, _ in CHOICES[2:]
        }
        outcome.append({**task, "tried": tried, "held_out": held_out, "outperforms": holds})
        told = ", ".join(f"{label} {one['mean']:.1f}" for label, one in held_out.items())
        after = "reset" if reset else "end"
        print(f"H={horizon} {after} K={episodes} optimum {task['optimum']:.1f}: {told}", flush=True)
        print(f"    holds: {', '.join(key for key in holds if holds[key]) or 'nothing'}", flush=True)
    files.write(search.file, json.dumps(outcome, indent=1).encode())


if __name__ == "__main__":
    main()
