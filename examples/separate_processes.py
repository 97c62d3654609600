"""Agents that really are alone: each in its own operating-system process, with nothing but a socket to the environment.

    pip install 'tacit-marl[pettingzoo]'
    python examples/separate_processes.py

Two radios choose channels; the spectrum is a PettingZoo environment in this process, which listens on the loopback
address. A radio is told the sizes of its world and a seed, and then gets its own observation and its own reward, step
after step. Everything that is sent to it is written down and shown. In the end the radios have learned exactly,
bit for bit, what they learn with all of them in one process.
"""

import hashlib
import json
import socket
import subprocess
import sys

import numpy as np
from gymnasium.spaces import Discrete
from pettingzoo import ParallelEnv

import tacit
from tacit.environments.episodes import episode_seed
from tacit.learners import theorem_iota
from tacit.learners.spec import Scale

EPISODES, HORIZON, SEED, RANGE = 300, 5, 7, (0.0, 1.0)


class Spectrum(ParallelEnv):
    """Three channels, one of them noisy; which one moves on now and then. All radios observe which one it is.

    A packet gets through with probability 0.9 on a channel of one's own that is not noisy.
    """

    metadata = {"name": "spectrum"}  # noqa: RUF012
    possible_agents = ["radio_0", "radio_1"]  # noqa: RUF012
    horizon, reward_range = HORIZON, RANGE  # tacit.learn looks for these

    def observation_space(self, agent):
        return Discrete(3)

    def action_space(self, agent):
        return Discrete(3)

    def reset(self, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.noisy, self.step_number, self.agents = int(self.rng.integers(3)), 0, self.possible_agents[:]
        return dict.fromkeys(self.agents, self.noisy), {name: {} for name in self.agents}

    def step(self, actions):
        radios, chosen = self.agents, list(actions.values())
        heard = {
            name: float(channel != self.noisy and chosen.count(channel) == 1 and self.rng.random() < 0.9)
            for name, channel in actions.items()
        }
        if self.rng.random() < 0.3:
            self.noisy = (self.noisy + 1) % 3
        self.step_number += 1
        late = self.step_number == HORIZON
        self.agents = [] if late else radios
        infos = {name: {} for name in radios}
        return (
            dict.fromkeys(radios, self.noisy),
            heard,
            dict.fromkeys(radios, False),
            dict.fromkeys(radios, late),
            infos,
        )


def radio(port: int) -> None:
    """One agent: this is all that runs in its process."""
    with socket.create_connection(("127.0.0.1", port)) as link, link.makefile("rw") as line:
        link.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
        )  # messages are small and must not wait for each other
        hello = json.loads(line.readline())
        me = tacit.agent("stage-v-cce", **hello)
        for _ in range(EPISODES):
            s = json.loads(line.readline())["observation"]
            for h in range(HORIZON):
                a = me.act(h, s)
                print(json.dumps({"action": a}), file=line, flush=True)
                answer = json.loads(line.readline())
                me.learn(h, s, a, answer["reward"], answer["observation"])
                s = answer["observation"]
        print(json.dumps({"learned": digest(me.policy)}), file=line, flush=True)


def digest(policy) -> str:
    return hashlib.sha256(np.ascontiguousarray(policy).tobytes()).hexdigest()


def serve(env: ParallelEnv) -> tuple[list[str], list[list[dict]]]:
    """Let one process for each agent learn in the environment; return what they learned and all they were sent."""
    size = {"states": 3, "actions": 3, "horizon": HORIZON}
    iota = theorem_iota(Scale(**size, agents=len(env.possible_agents), episodes=EPISODES), 0.01)
    sent = [[] for _ in env.possible_agents]
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        processes = [subprocess.Popen([sys.executable, __file__, str(port)]) for _ in env.possible_agents]
        server.settimeout(60)
        links = [server.accept()[0] for _ in env.possible_agents]
        for link in links:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines = [link.makefile("rw") for link in links]
        for i, line in enumerate(lines):  # what an agent has to know before it begins
            tell(line, sent[i], {**size, "reward_range": RANGE, "seed": SEED, "index": i, "iota": iota})
        for k in range(EPISODES):
            observations, _ = env.reset(seed=episode_seed(SEED, k))  # as tacit.learn seeds it
            for i, name in enumerate(env.possible_agents):
                tell(lines[i], sent[i], {"observation": observations[name]})
            for _ in range(HORIZON):
                actions = {
                    name: json.loads(lines[i].readline())["action"] for i, name in enumerate(env.possible_agents)
                }
                observations, rewards, *_ = env.step(actions)
                for i, name in enumerate(env.possible_agents):
                    tell(lines[i], sent[i], {"reward": rewards[name], "observation": observations[name]})
        learned = [json.loads(line.readline())["learned"] for line in lines]
        for process, line, link in zip(processes, lines, links, strict=True):
            process.wait(timeout=60)
            line.close()
            link.close()
    return learned, sent


def tell(line, written: list[dict], message: dict) -> None:
    written.append(message)
    print(json.dumps(message), file=line, flush=True)


def main() -> None:
    run = tacit.learn(Spectrum(), "stage-v-cce", episodes=EPISODES, seed=SEED)  # all agents in this process
    learned, sent = serve(Spectrum())
    for i, messages in enumerate(sent):
        print(f"radio {i} got {len(messages)} messages: first {messages[0]}")
        print("  then", *messages[1:4], "…")
        kinds = {tuple(message) for message in messages[1:]}
        print("  after the first, they held only:", sorted({key for kind in kinds for key in kind}))
        assert kinds == {("observation",), ("reward", "observation")}
        assert all(np.isscalar(value) for message in messages[1:] for value in message.values())
    same = learned == [digest(own) for own in run.last.probs]
    print("the same as with all agents in one process, bit for bit:", same)
    assert same


if __name__ == "__main__":
    radio(int(sys.argv[1])) if len(sys.argv) > 1 else main()
