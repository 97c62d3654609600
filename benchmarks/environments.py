"""Environment steps a second, alone and with tacit's agents in them, side by side in one process.

    python benchmarks/environments.py [--seconds 2] [--before DIR] [--whole] [--real] [--parts] [--vector]

"alone" plays the environment with actions drawn ahead; "seeded" too, but begins each episode with a seed of its own,
as tacit does so that a run can be resumed; "tacit" is `tacit.learn` with its record and its checks. All take turns, and
each counts by its best turn: other work on the machine only ever makes them slower. Times are those of the processor.
"lean" radios see a number that all of them share, "sensors" are written as people write environments, with an array for
what each radio senses. `--before DIR` also measures the tacit of another source tree, in a process of its own that
takes turns with this one. `--whole` measures all of `tacit.learn` with the default learner, with the play that measures
what was learned, whose steps count too. `--real` adds environments of PettingZoo and Gymnasium. `--parts` measures how
long parts of policies take to act. `--vector` measures whether vectors of environments would help.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from radios import Radios, Sensors

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gymnasium


def alone(env: Any, seconds: float, *, seeded: bool = False) -> float:
    """Steps a second of a PettingZoo or Gymnasium environment with random actions drawn ahead."""
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
        env.reset(**({"seed": steps} if seeded else {}))
        over = False
        while not over:
            actions = ready[steps % 4096]
            if names is None:
                *_, terminated, truncated, _ = env.step(actions)
                over = bool(terminated or truncated)
            else:
                live = env.agents
                if len(live) != len(names):
                    actions = {name: actions[name] for name in live}
                env.step(actions)
                over = not env.agents
            steps += 1
    return steps / (time.process_time() - began)


def learning(env: Any, seconds: float, *, early: bool = False, **given: Any) -> float:
    """Steps a second of `tacit.learn`, without scouting and compilation; counted where episodes end early."""
    at, steps, step = {}, [0], env.step

    def counted(actions: Any) -> Any:
        steps[0] += 1
        return step(actions)

    def watch(event: object) -> None:
        at[type(event).__name__] = time.process_time()
        if type(event).__name__ == "Started":
            steps[0] = 0

    if early:
        env.step = counted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = tacit.learn(env, "adaptive-v-cce", episodes=200_000, seconds=seconds, points=10, progress=watch, **given)
    made = steps[0] if early else run.episodes * run.game.horizon
    return float(made / (at["Measured"] - at["Started"]))


def whole(seconds: float) -> None:
    """Steps a second of all of `tacit.learn`, with the default learner and what is played beyond training."""
    for name, (make, _) in radios((2, 4, 20)).items():
        speeds = []
        for turn in range(TURNS + 1):
            env, steps = make(), [0]
            step = env.step

            def counted(actions: Any, step: Any = step, steps: list[int] = steps) -> Any:
                steps[0] += 1
                return step(actions)

            env.step = counted
            began = time.process_time()
            tacit.learn(env, episodes=1000 if turn else 20, progress=False)
            if turn:  # the first one compiles
                ours = steps[0] / (time.process_time() - began)
                speeds.append([alone(make(), seconds / TURNS), ours])
        own, ours = (max(column) for column in zip(*speeds, strict=True))
        print(f"{name:18} {own:8,.0f} steps/s alone, {ours:8,.0f} in tacit.learn: {ours / own:.2f}", flush=True)


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
        "pursuit_v5": (lambda: pursuit_v5.parallel_env(**small), {"encode": nearest, "horizon": 50, "early": True}),
        "Blackjack-v1": (lambda: gymnasium.make("Blackjack-v1"), {"early": True}),
        "Taxi-v4 (played)": (lambda: gymnasium.make("Taxi-v4"), {"horizon": 50, "encode": int, "early": True}),
    }


def parts(seconds: float) -> None:
    """Microseconds in which a part of each kind of policy, loaded from its file, acts and begins an episode."""
    game = tacit.make("good-state", horizon=10)
    run = tacit.learn(game, "adaptive-v-cce", episodes=20_000)
    average = run.candidates["average"].policy
    kinds = {"markov": run.last, "recorded": average}
    states = np.random.default_rng(0).integers(game.states, size=game.horizon).tolist()
    for name, policy in kinds.items():
        with tempfile.TemporaryDirectory() as place:
            policy.save(f"{place}/policy.npz")
            part = tacit.policies.Part.load(f"{place}/policy.npz", agent=0)
        acts, begins, until = math.inf, math.inf, time.process_time() + seconds
        while time.process_time() < until:
            acted = begun = 0.0
            for episode in range(100):
                at = time.process_time()
                part.begin(episode)
                between = time.process_time()
                for h, s in enumerate(states):
                    part.act(h, s)
                acted, begun = acted + time.process_time() - between, begun + between - at
            acts, begins = min(acts, acted / 1000), min(begins, begun / 100)
        print(f"{name:12} acts in {1e6 * acts:5.2f} µs, begins an episode in {1e6 * begins:5.1f} µs", flush=True)


def vector(seconds: float) -> None:
    """Steps a second of vectors of environments, and what agents lose that learn from several episodes at once."""
    for name in ("Blackjack-v1", "Taxi-v4"):
        told = []
        for mode, copies in (("", 1), ("sync", 8), ("async", 8)):
            env = gymnasium.make_vec(name, num_envs=copies, vectorization_mode=mode) if mode else gymnasium.make(name)
            actions = [env.action_space.sample() for _ in range(64)]
            env.reset(seed=0)
            began, steps = time.perf_counter(), 0
            while time.perf_counter() - began < seconds:
                _, _, terminated, truncated, _ = env.step(actions[steps % 64])
                if not mode and (terminated or truncated):
                    env.reset()
                steps += 1
            told.append(f"{copies * steps / (time.perf_counter() - began):,.0f}")
            env.close()
        print(f"{name}: one {told[0]} steps/s; 8 in turn {told[1]}, 8 in processes {told[2]}", flush=True)
    game = tacit.make("good-state", horizon=10)
    for copies in (1, 8, 32):
        rewards = [late(game, copies, episodes=2000, seed=seed) for seed in range(5)]
        print(
            f"good-state, {copies:2} episodes at once: mean return of 2000 episodes {np.mean(rewards):.2f}", flush=True
        )


def late(game: Any, copies: int, *, episodes: int, seed: int) -> float:
    """Mean return where agents play several episodes with what they know, and learn from them afterwards."""
    sizes = {"states": game.states, "horizon": game.horizon, "reward_range": game.reward_range, "seed": seed}
    agents = [tacit.agent("adaptive-v-cce", actions=A, index=i, **sizes) for i, A in enumerate(game.actions)]
    rng, total = np.random.default_rng(seed), 0.0
    for _ in range(episodes // copies):
        batch = []
        for _ in range(copies):
            s = game.start(rng.random())
            for h in range(game.horizon):
                actions = [agent.act(h, s) for agent in agents]
                s_next, rewards = game.step(h, s, actions, rng.random())
                batch.append((h, s, actions, rewards, s_next))
                s, total = s_next, total + rewards[0]
        for h, s, actions, rewards, s_next in batch:
            for agent, a, r in zip(agents, actions, rewards, strict=True):
                agent.learn(h, s, a, r, s_next)
    return total / episodes


def radios(agents: tuple[int, ...]) -> dict[str, tuple[Callable[[], Any], dict[str, Any]]]:
    """Both kinds of radios, for each number of agents."""
    kinds = {"lean": Radios, "sensors": Sensors}
    return {f"{kind}, N = {n}": (lambda made=made, n=n: made(n), {}) for kind, made in kinds.items() for n in agents}


class Before:
    """The tacit of another source tree, in a process that measures when it is asked to."""

    def __init__(self, tree: Path) -> None:
        code = "import environments, sys\n"
        code += "cases = environments.radios((2, 3, 4, 20, 100))\n"
        code += "for line in sys.stdin:\n"
        code += "    name, seconds = line.rsplit(';', 1)\n"
        code += "    print(environments.learning(cases[name][0](), float(seconds)), flush=True)\n"
        path = os.pathsep.join([str(tree / "src"), str(Path(__file__).resolve().parent)])
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    def learning(self, name: str, seconds: float) -> float:
        """Steps a second of its `tacit.learn`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(f"{name};{seconds}", file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


TURNS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--before", type=Path, metavar="DIR", help="another source tree to compare with")
    parser.add_argument("--whole", action="store_true", help="only: all of tacit.learn with the default learner")
    parser.add_argument("--real", action="store_true", help="only: environments of PettingZoo and Gymnasium")
    parser.add_argument("--parts", action="store_true", help="only: how long parts take to act")
    parser.add_argument("--vector", action="store_true", help="only: vectors of environments")
    args = parser.parse_args()
    if args.parts or args.vector or args.whole:
        for chosen, measure in ((args.parts, parts), (args.vector, vector), (args.whole, whole)):
            if chosen:
                measure(args.seconds)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = real() if args.real else radios((2, 3, 4, 20, 100))
        before = Before(args.before) if args.before and not args.real else None
        told = f"{'environment':18} {'alone':>8} {'seeded':>8} {'tacit':>8} {'/alone':>7} {'/seeded':>7} {'adds µs':>8}"
        print(told + (f" {'before':>8} {'gain':>6}" if before else ""))
        for name, (make, given) in cases.items():
            learning(make(), 0.1, **given)  # compiles
            if before:
                before.learning(name, 0.1)
            turn, speeds = args.seconds / TURNS, []
            for _ in range(TURNS):
                own = [alone(make(), turn), alone(make(), turn, seeded=True), learning(make(), turn, **given)]
                speeds.append([*own, before.learning(name, turn)] if before else own)
            own, seeded, ours, *old = (max(column) for column in zip(*speeds, strict=True))
            told = f"{name:18} {own:8,.0f} {seeded:8,.0f} {ours:8,.0f} {ours / own:7.2f} {ours / seeded:7.2f}"
            told += f" {1e6 / ours - 1e6 / own:8.1f}" + "".join(f" {one:8,.0f} {ours / one:6.1f}" for one in old)
            print(told, flush=True)
        if before:
            before.close()


if __name__ == "__main__":
    main()
