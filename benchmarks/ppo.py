"""`ppo` beside Stable-Baselines3's PPO, same episodes: python benchmarks/ppo.py FILE [rows…] [learners…] [seeds…]

A line of FILE is what one learner reached in one environment with one seed; `--table FILE` prints the table of
docs/research/ppo.md. Learners are random, ppo, ppo with settings as JSON (ppo{"rollout":256}) and stable-baselines3. It
needs stable-baselines3, sb3-contrib, lbforaging and mpe2.
Stable-Baselines3 has one agent. Here each agent has a model in a thread of its own, with its defaults; the threads meet
at every step of the environment. Its models read the numbers that ppo's networks read. Where there are turns and masks,
models are `MaskablePPO` and see their own turns only.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import tacit
from tacit.environments.adapters import environment
from tacit.environments.networks import inputs_of
from worlds import OWN

MEASURED = 200


class Storage:
    """Four batteries: each sees the hour, its charge and a noisy price; what all do at once moves the price."""

    agents, actions, horizon, name = 4, 3, 24, "storage"
    reward_range = (-3.0, 3.0)

    def reset(self, seed: int | None = None) -> Any:
        self.rng = np.random.default_rng(seed)
        self.hour, self.charge = 0, np.zeros(4)
        return self._show()

    def _show(self) -> list[Any]:
        self.price = 1.0 - np.cos(2 * np.pi * self.hour / 24) + 0.3 * self.rng.normal()
        return [np.array([self.hour / 24, c, self.price]) for c in self.charge]

    def step(self, actions: list[int]) -> Any:
        wanted = np.array(actions) - 1.0
        flow = np.clip(self.charge + wanted, 0.0, 4.0) - self.charge
        price = self.price + 0.2 * flow.sum()
        self.charge = self.charge + flow
        self.hour += 1
        return self._show(), np.clip(-flow * price, -3, 3).tolist(), self.hour == 24


def cart_pole() -> Any:
    return gymnasium.make("CartPole-v1")


def simple_spread() -> Any:
    from mpe2 import simple_spread_v3

    return simple_spread_v3.parallel_env(max_cycles=25)


def foraging(name: str = "8x8-2p-2f") -> Any:
    import lbforaging  # noqa: F401  # registers its environments

    return gymnasium.make(f"Foraging-{name}-v3")


def speaker_listener() -> Any:
    from mpe2 import simple_speaker_listener_v4

    return simple_speaker_listener_v4.parallel_env(max_cycles=25)


def connect_four() -> Any:
    from pettingzoo.classic import connect_four_v3

    return connect_four_v3.env()


#: Environments, and episodes to learn in. Settings were looked at on those of DESIGN; the last two were run once.
ROWS: dict[str, tuple[Callable[[], Any], int]] = {
    "CartPole-v1": (cart_pole, 300),
    "LBF 8x8-2p-2f": (foraging, 1000),
    "charging": (OWN["charging-5"], 1000),
    "storage": (Storage, 500),
    "simple_spread": (simple_spread, 1000),
    "connect four": (connect_four, 1000),
    "signals": (OWN["signals"], 1200),
    "LBF 6x6-2p-1f": (partial(foraging, "6x6-2p-1f"), 500),
    "speaker_listener": (speaker_listener, 500),
}
DESIGN = ("CartPole-v1", "LBF 8x8-2p-2f", "charging", "storage", "simple_spread")


# Stable-Baselines3, a model for each agent ----------------------------------------------------------------------------


class Table:
    """An environment at which one thread for each agent sits; whoever comes last moves it on."""

    def __init__(self, make: Callable[[], Any], episodes: int, seed: int) -> None:
        self.world, self.seed, self.episode, self.episodes = environment(make()), seed, 0, episodes
        self.actions = self.world.actions
        self.inputs = [inputs_of(self.world, i)[0] for i in range(len(self.actions))]
        self.chosen = [0] * len(self.actions)
        self.started = threading.Barrier(len(self.actions), action=self._reset)
        self.moved = threading.Barrier(len(self.actions), action=self._step)

    def _reset(self) -> None:
        self.shown = self.world.reset(self.seed * 100_000 + self.episode)
        self.episode, self.over = self.episode + 1, self.episode == self.episodes  # the last is played by nobody

    def _step(self) -> None:
        self.shown, self.paid, over = self.world.step(self.chosen)
        self.over = over is not None and all(over)


class Seat(gymnasium.Env[Any, Any]):
    """One agent's own environment."""

    def __init__(self, table: Table, i: int) -> None:
        self.table, self.i = table, i
        width = sum(one.size for one in table.inputs[i])
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (width,))
        self.action_space = gymnasium.spaces.Discrete(table.actions[i])

    def read(self, observation: Any) -> Any:
        return np.concatenate([one.read(observation) for one in self.table.inputs[self.i]]).astype(np.float32)

    def action_masks(self) -> Any:
        allowed = self.table.world.allowed[self.i]
        return np.ones(self.action_space.n, dtype=bool) if allowed is None else np.asarray(allowed, dtype=bool)

    def _wait(self) -> float:
        """Let others move until it is this agent's turn."""
        paid, table = 0.0, self.table
        while not table.over and mask_of(table.shown[self.i]) is not None and not any(mask_of(table.shown[self.i])):
            paid += self._move(0)
        return paid

    def _move(self, a: int) -> float:
        self.table.chosen[self.i] = a
        self.table.moved.wait()
        return float(self.table.paid[self.i])

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.table.started.wait()
        self._wait()
        return self.read(self.table.shown[self.i]), {}

    def step(self, action: Any) -> Any:
        paid = self._move(int(action))
        paid += self._wait()
        return self.read(self.table.shown[self.i]), paid, self.table.over, False, {}


def mask_of(observation: Any) -> Any:
    return observation.get("action_mask") if isinstance(observation, dict) else None


def learn_with_stable_baselines(make: Callable[[], Any], episodes: int, seed: int) -> list[Any]:
    """Return each agent's probabilities, as functions of its observation."""
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import StopTrainingOnMaxEpisodes

    torch.set_num_threads(1)
    table = Table(make, episodes, seed)
    seats = [Seat(table, i) for i in range(len(table.actions))]
    masked = mask_of(table.world.reset(0)[0]) is not None
    models = [(MaskablePPO if masked else PPO)("MlpPolicy", seat, seed=seed, device="cpu") for seat in seats]
    threads = [
        threading.Thread(target=model.learn, args=(10**7, StopTrainingOnMaxEpisodes(episodes))) for model in models
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    def player(seat: Seat, model: Any) -> Callable[[Any], Any]:
        def probabilities(observation: Any) -> Any:
            x, mask = torch.as_tensor(seat.read(observation))[None], mask_of(observation)
            given = {} if mask is None or not any(mask) else {"action_masks": np.asarray(mask)[None]}
            with torch.no_grad():
                return model.policy.get_distribution(x, **given).distribution.probs.numpy()[0]

        return probabilities

    return [player(seat, model) for seat, model in zip(seats, models, strict=True)]


# what is measured -----------------------------------------------------------------------------------------------------


def uniform(size: int) -> Callable[[Any], Any]:
    return lambda observation: np.full(size, 1 / size)


def measure(name: str, policies: list[Any] | None) -> float:
    """Return the mean return of an agent; in connect four that of each against random play. None plays at random."""
    make = ROWS[name][0]
    idle = [uniform(size) for size in environment(make()).actions]
    tables = [policies or idle]
    if name == "connect four":
        tables = [[*idle[:i], table, *idle[i + 1 :]] for i, table in enumerate(tables[0])]
    values = [tacit.evaluate(make(), table, episodes=MEASURED, seed=99).values for table in tables]
    return float(np.diag(values).mean() if len(values) > 1 else values[0].mean())


def learn(name: str, learner: str, seed: int) -> list[Any]:
    make, episodes = ROWS[name]
    if learner == "stable-baselines3":
        return learn_with_stable_baselines(make, episodes, seed)
    params = json.loads(learner.removeprefix("ppo") or "{}")
    policy = tacit.learn(make(), "ppo", episodes=episodes, seed=seed, progress=False, **params).policy
    return [policy.part(i) for i in range(policy.agents)]


def print_table(path: str) -> None:
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        found[one["row"], one["learner"]].append(one)
    learners = ("random", "ppo", "stable-baselines3")
    print("| environment (episodes) | random play | `ppo` | Stable-Baselines3 |\n|---|---|---|---|")
    for name, (_, episodes) in ROWS.items():
        cells = []
        for learner in learners:
            each = found.get((name, learner), [])
            values = ", ".join(f"{one['value']:.3g}" for one in each)
            spent = f" ({np.mean([one['seconds'] for one in each]):.0f} s)" if each and learner != "random" else ""
            cells.append(values + spent or "–")
        mark = "" if name in DESIGN else " *"
        print(f"| {name}{mark} ({episodes:,}) | {' | '.join(cells)} |")
    print("\n| other settings | environment | mean return |\n|---|---|---|")
    for (name, learner), each in sorted(found.items(), key=lambda item: item[0][::-1]):
        if learner not in learners:
            values = ", ".join(f"{one['value']:.3g}" for one in each)
            print(f"| {learner.removeprefix('ppo').strip()} | {name} | {values} |")


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if sys.argv[1] == "--table":
        print_table(sys.argv[2])
        return
    path, *words = sys.argv[1:]
    names = [one for one in words if one in ROWS] or list(ROWS)
    seeds = [int(one) for one in words if one.isdigit()] or [0, 1]
    learners = [one for one in words if one not in ROWS and not one.isdigit()] or ["random", "ppo", "stable-baselines3"]
    for name in names:
        for learner in learners:
            for seed in seeds if learner != "random" else [0]:
                began = time.process_time()
                policies = None if learner == "random" else learn(name, learner, seed)
                seconds = time.process_time() - began
                value = measure(name, policies)
                line = {"row": name, "learner": learner, "seed": seed, "value": value, "seconds": round(seconds, 1)}
                with Path(path).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
