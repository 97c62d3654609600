"""Environment steps a second, alone and with tacit's agents in them, side by side in one process.

    python benchmarks/environments.py [--seconds 2] [--real]

"alone" plays the environment with actions drawn ahead; "tacit" is `tacit.learn` with its record and its checks.
Times are those of the processor, so that other work on the machine matters less.
`--real` adds environments of PettingZoo and Gymnasium.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import tacit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gymnasium
    from gymnasium.spaces import Discrete
    from pettingzoo import ParallelEnv


class Radios(ParallelEnv[str, int, int]):
    """Radios that choose a channel; a jammer, which all of them hear, moves over the channels."""

    metadata = {"name": "radios"}  # noqa: RUF012

    def __init__(self, agents: int, channels: int = 4, horizon: int = 10) -> None:
        self.possible_agents = [f"radio_{i}" for i in range(agents)]
        self.channels, self.horizon, self.reward_range = channels, horizon, (0.0, 1.0)
        self._seen, self._acts = Discrete(channels), Discrete(channels)

    def observation_space(self, agent: str) -> Any:
        return self._seen

    def action_space(self, agent: str) -> Any:
        return self._acts

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.jammed, self.steps, self.agents = int(self.rng.integers(self.channels)), 0, self.possible_agents[:]
        return dict.fromkeys(self.agents, self.jammed), {name: {} for name in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        load = np.zeros(self.channels)
        for channel in actions.values():
            load[channel] += 1
        good = np.where(np.arange(self.channels) == self.jammed, 0.0, 1.0 / np.maximum(load, 1.0))
        rewards = {name: float(good[channel]) for name, channel in actions.items()}
        if self.rng.random() < 0.5:
            self.jammed = (self.jammed + 1) % self.channels
        self.steps += 1
        live, late = self.agents, self.steps == self.horizon
        if late:
            self.agents = []
        seen = dict.fromkeys(live, self.jammed)
        return seen, rewards, dict.fromkeys(live, False), dict.fromkeys(live, late), {name: {} for name in live}


def alone(env: Any, seconds: float) -> float:
    """Steps a second of a PettingZoo or Gymnasium environment with random actions."""
    rng = np.random.default_rng(0)
    names = getattr(env, "possible_agents", None)
    spaces = [env.action_space] if names is None else [env.action_space(name) for name in names]
    draws = np.stack([space.start + rng.integers(space.n, size=4096) for space in spaces], axis=1).tolist()
    ready: list[Any] = (
        [own[0] for own in draws] if names is None else [dict(zip(names, own, strict=True)) for own in draws]
    )
    env.reset(seed=0)
    began, steps = time.process_time(), 0
    while time.process_time() - began < seconds:
        env.reset()
        over = False
        while not over:
            actions = ready[steps % 4096]
            if names is None:
                *_, terminated, truncated, _ = env.step(actions)
                over = bool(terminated or truncated)
            else:
                live = env.agents
                env.step(actions if len(live) == len(names) else {name: actions[name] for name in live})
                over = not env.agents
            steps += 1
    return steps / (time.process_time() - began)


def learning(env: Any, seconds: float, **given: Any) -> float:
    """Steps a second of `tacit.learn`, scouting and compilation left out."""
    at, steps, step = {}, [0], env.step

    def counted(actions: Any) -> Any:
        steps[0] += 1
        return step(actions)

    def watch(event: object) -> None:
        at[type(event).__name__] = time.process_time()
        if type(event).__name__ == "Started":
            steps[0] = 0  # scouting does not count

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = tacit.learn(env, "adaptive-v-cce", episodes=200_000, seconds=seconds, points=10, progress=watch, **given)
    return run.episodes * run.game.horizon / (at["Measured"] - at["Started"])


def real() -> dict[str, tuple[Callable[[], Any], dict[str, Any]]]:
    """Environments that nobody here wrote, with what they need."""
    from pettingzoo.classic import rps_v2
    from pettingzoo.sisl import pursuit_v5

    def nearest(view: np.ndarray) -> object:
        where = np.argwhere(view[:, :, 2] > 0)
        return tuple(where[0].tolist()) if len(where) else "nowhere"

    small = {"x_size": 5, "y_size": 5, "n_evaders": 1, "n_pursuers": 2, "obs_range": 5, "max_cycles": 50}
    return {
        "rps_v2": (lambda: rps_v2.parallel_env(max_cycles=10), {}),
        "pursuit_v5": (lambda: pursuit_v5.parallel_env(**small), {"encode": nearest, "horizon": 50}),
        "Blackjack-v1": (lambda: gymnasium.make("Blackjack-v1"), {}),
        "Taxi-v4 (played)": (lambda: gymnasium.make("Taxi-v4"), {"horizon": 50, "encode": int}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--real", action="store_true", help="environments of PettingZoo and Gymnasium too")
    args = parser.parse_args()
    cases: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
        f"radios, N = {agents}": (lambda agents=agents: Radios(agents), {}) for agents in (2, 4, 20, 100)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases |= real() if args.real else {}
        print(f"{'environment':20} {'alone':>12} {'tacit':>12} {'ratio':>7} {'adds µs':>9}")
        for name, (make, given) in cases.items():
            learning(make(), 0.1, **given)  # compiles
            own, ours = alone(make(), args.seconds), learning(make(), args.seconds, **given)
            print(f"{name:20} {own:12,.0f} {ours:12,.0f} {ours / own:7.2f} {1e6 / ours - 1e6 / own:9.1f}", flush=True)


if __name__ == "__main__":
    main()
