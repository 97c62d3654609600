"""`ppo` against plain implementations with the same episodes: python benchmarks/ppo.py [rows…] [learners…] > FILE

Needs jax, optax, torch, gymnasium, pettingzoo, mpe2 and lbforaging; CartPole also stable-baselines3. The plain
implementation is independent PPO in PyTorch, agent after agent, without any normalisation of observations and rewards;
it has ppo's settings, or CleanRL's (512 steps, rate 2.5e-4 that falls to 0, 4 epochs). `python benchmarks/ppo.py
--table FILE` prints the table of docs/research/ppo.md.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch

import tacit
from tacit.environments.adapters import environment
from tacit.environments.networks import join
from tacit.learners.ppo import PPO, Member

SEEDS, MEASURED = (0, 1), 100


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


class Settings(NamedTuple):
    """What plain implementations are given: steps between updates, learning rate, epochs."""

    rollout: int
    eta: float
    epochs: int


CLEANRL = Settings(512, 2.5e-4, 4)


def cart_pole() -> Any:
    return gymnasium.make("CartPole-v1")


def simple_spread() -> Any:
    from mpe2 import simple_spread_v3

    return simple_spread_v3.parallel_env(max_cycles=25)


def foraging() -> Any:
    import lbforaging  # noqa: F401  # registers its environments

    return gymnasium.make("Foraging-8x8-2p-2f-v3")


def connect_four() -> Any:
    from pettingzoo.classic import connect_four_v3

    return connect_four_v3.env()


#: Environments, and episodes to learn in.
ROWS: dict[str, tuple[Callable[[], Any], int]] = {
    "CartPole-v1": (cart_pole, 300),
    "simple_spread": (simple_spread, 300),
    "LBF 8x8-2p-2f": (foraging, 300),
    "connect four": (connect_four, 200),
    "storage": (Storage, 500),
}


def learn_plainly(env: Any, episodes: int, seed: int, settings: Settings) -> list[Callable[[Any], Any]]:
    """Independent PPO in PyTorch, agent after agent; returns what each plays, as a function of its observation."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    world = environment(env)
    layout = [Member(seed, i) for i in range(len(world.actions))]
    join(PPO(), world, [type("Agent", (), {"inner": one})() for one in layout], steps=1, episodes=1)
    readers = [member.network.read for member in layout]
    N, T, sizes = len(world.actions), settings.rollout, world.actions

    def network(inputs: int, outputs: int, gain: float) -> Any:
        layers = [torch.nn.Linear(m, n) for m, n in ((inputs, 64), (64, 64), (64, outputs))]
        for layer, scale in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
            torch.nn.init.orthogonal_(layer.weight, scale)
            torch.nn.init.zeros_(layer.bias)
        return torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1], torch.nn.Tanh(), layers[2])

    widths = [len(member.network.mean) for member in layout]
    actors = [network(width, size, 0.01) for width, size in zip(widths, sizes, strict=True)]
    critics = [network(width, 1, 1.0) for width in widths]
    each = [[*actor.parameters(), *critic.parameters()] for actor, critic in zip(actors, critics, strict=True)]
    adams = [torch.optim.Adam(weights, lr=settings.eta, eps=1e-5) for weights in each]
    memory: list[list[Any]] = [[] for _ in range(N)]

    def distribution(i: int, x: Any, mask: Any) -> Any:
        return torch.distributions.Categorical(logits=torch.where(mask, actors[i](x), torch.tensor(-1e9)))

    def update(i: int, last: Any, share: float) -> None:
        x, mask, a, logp, r, end = (torch.stack([torch.as_tensor(step[k]) for step in memory[i]]) for k in range(6))
        with torch.no_grad():
            v = critics[i](torch.cat([x, last[None]]))[:, 0]
        adv, following = torch.zeros(len(r)), 0.0
        for t in reversed(range(len(r))):
            following = r[t] + 0.99 * (1 - end[t]) * v[t + 1] - v[t] + 0.99 * 0.95 * (1 - end[t]) * following
            adv[t] = following
        for group in adams[i].param_groups:
            group["lr"] = settings.eta * share
        for _ in range(settings.epochs):
            for rows in torch.randperm(len(r)).chunk(4):
                d = distribution(i, x[rows], mask[rows])
                ratio = torch.exp(d.log_prob(a[rows]) - logp[rows])
                A = (adv[rows] - adv[rows].mean()) / (adv[rows].std() + 1e-8)
                gain = torch.minimum(ratio * A, ratio.clip(0.8, 1.2) * A).mean()
                error = ((critics[i](x[rows])[:, 0] - adv[rows] - v[rows]) ** 2).mean()
                adams[i].zero_grad()
                (-gain + 0.5 * error - 0.01 * d.entropy().mean()).backward()
                torch.nn.utils.clip_grad_norm_(each[i], 0.5)
                adams[i].step()
        memory[i].clear()

    for k in range(episodes):
        shown, over, h = world.reset(seed * 100_000 + k), [False] * N, 0
        limit = getattr(world.source, "horizon", None) or 10_000
        while not all(over) and h < limit:
            chosen = [0] * N
            for i in range(N):
                if over[i]:
                    continue
                x = torch.tensor(readers[i](shown[i]), dtype=torch.float32)
                mask = torch.ones(sizes[i], dtype=torch.bool)
                if world.allowed[i] is not None:
                    mask = torch.tensor(world.allowed[i], dtype=torch.bool)
                elif isinstance(shown[i], dict) and "action_mask" in shown[i]:
                    mask[1:] = False
                with torch.no_grad():
                    d = distribution(i, x, mask)
                    a = d.sample()
                memory[i].append([x, mask, a, d.log_prob(a), 0.0, 0.0])
                chosen[i] = int(a)
            before = over
            shown, paid, now = world.step(chosen)
            over, h = list(now or [False] * N), h + 1
            for i in range(N):
                if not before[i]:
                    memory[i][-1][4:] = [float(paid[i]), float(over[i] or h == limit)]
                    if len(memory[i]) == T:
                        update(i, torch.tensor(readers[i](shown[i]), dtype=torch.float32), 1 - k / episodes)

    def play(i: int) -> Callable[[Any], Any]:
        def probabilities(observation: Any) -> Any:
            with torch.no_grad():
                return torch.softmax(actors[i](torch.tensor(readers[i](observation), dtype=torch.float32)), -1).numpy()

        return probabilities

    return [play(i) for i in range(N)]


def learn_with_stable_baselines(env: Any, episodes: int, seed: int) -> Any:
    from stable_baselines3 import PPO as Theirs
    from stable_baselines3.common.callbacks import StopTrainingOnMaxEpisodes

    model = Theirs("MlpPolicy", env, seed=seed, device="cpu")
    model.learn(10**7, callback=StopTrainingOnMaxEpisodes(episodes))

    def probabilities(observation: Any) -> Any:
        seen, _ = model.policy.obs_to_tensor(observation)
        return model.policy.get_distribution(seen).distribution.probs.detach().numpy()[0]

    return probabilities


def measure(make: Callable[[], Any], policy: Any, opponents: bool) -> float:
    """Return the mean return of an agent; of each against random play where they are opponents."""
    env = make()
    N = len(environment(env).actions)

    def uniform(size: int) -> Any:
        return lambda observation: np.full(size, 1 / size)

    policies = policy if isinstance(policy, list) else [policy.part(i) for i in range(N)] if N > 1 else [policy]
    if not opponents:
        return float(tacit.evaluate(env, policies, episodes=MEASURED, seed=99).values.mean())
    values = []
    for i, one in enumerate(policies):
        mixed: list[Any] = [uniform(size) for size in environment(env).actions]
        mixed[i] = one
        values.append(tacit.evaluate(make(), mixed, episodes=MEASURED, seed=99).values[i])
    return float(np.mean(values))


def measure_row(name: str, wanted: list[str]) -> dict[str, Any]:
    """Return what each learner reaches in an environment, all or those that are wanted."""
    make, episodes = ROWS[name]
    opponents = name == "connect four"
    sizes = environment(make()).actions
    uniform: list[Any] = [lambda observation, size=size: np.full(size, 1 / size) for size in sizes]
    row: dict[str, Any] = {"episodes": episodes, "random": measure(make, uniform, opponents)}
    length = tacit.learn(make(), "ppo", episodes=1).game.horizon
    same = Settings(PPO().steps_between(episodes * length), PPO().eta, PPO().epochs)

    def ours(seed: int, *, share: bool = False) -> Any:
        return tacit.learn(make(), "ppo", episodes=episodes, seed=seed, share=share).policy

    learners: dict[str, Any] = {
        "ppo": ours,
        "share": lambda seed: ours(seed, share=True),
        "same": lambda seed: learn_plainly(make(), episodes, seed, same),
        "cleanrl": lambda seed: learn_plainly(make(), episodes, seed, CLEANRL),
        "stable-baselines3": lambda seed: learn_with_stable_baselines(make(), episodes, seed),
    }
    if len(sizes) > 1:
        del learners["stable-baselines3"]
    else:
        del learners["share"]
    if wanted:
        learners = {name: learn for name, learn in learners.items() if name in wanted}
    for learner, learn in learners.items():
        values, seconds = [], []
        for seed in SEEDS:
            began = time.process_time()
            policy = learn(seed)
            seconds.append(time.process_time() - began)
            values.append(measure(make, policy, opponents))
        row[learner] = {"values": values, "seconds": seconds}
        print(name, learner, row[learner], file=sys.stderr, flush=True)
    return row


def print_table(path: str) -> None:
    rows = json.loads(Path(path).read_text(encoding="utf-8"))

    def cell(found: dict[str, Any] | None) -> str:
        if found is None:
            return "–"
        values = ", ".join(f"{value:.3g}" for value in found["values"])
        return f"{values} ({np.mean(found['seconds']):.0f} s)"

    columns = ("ppo", "share", "same", "cleanrl", "stable-baselines3")
    titles = ("`ppo`", "`share=True`", "plain, same settings", "plain, CleanRL's settings", "Stable-Baselines3")
    print(f"| environment (episodes) | random play | {' | '.join(titles)} |")
    print(f"|{'---|' * (2 + len(columns))}")
    for name, row in rows.items():
        cells = [cell(row.get(key)) for key in columns]
        print(f"| {name} ({row['episodes']:,}) | {row['random']:.3g} | {' | '.join(cells)} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--table"]:
        print_table(sys.argv[2])
    else:
        names, wanted = [one for one in sys.argv[1:] if one in ROWS], [one for one in sys.argv[1:] if one not in ROWS]
        print(json.dumps({name: measure_row(name, wanted) for name in names or ROWS}, indent=1))
