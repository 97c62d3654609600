"""Agents in one compiled call and agents in processes of their own: the same bits."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import tacit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from toys import Whispers

AGENT = """
import json, sys, tacit
index = int(sys.argv[1])
me = tacit.agent("adaptive-v-cce", states=2, actions=2, horizon=3, reward_range=(0, 1), seed=4, index=index)
for line in sys.stdin:
    said = json.loads(line)
    if said[0] == "act":
        print(me.act(*said[1:]), flush=True)
    elif said[0] == "learn":
        me.learn(*said[1:])
print(json.dumps(me.policy.tolist()), flush=True)
"""


@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_processes_of_their_own_give_the_same_bits():
    """Each process is told its own observations and rewards, line by line, and nothing else."""
    run = tacit.learn(
        tacit.from_pettingzoo(Whispers(), horizon=3, reward_range=(0, 1)), "adaptive-v-cce", episodes=25, seed=4
    )
    seeds = tacit.environments.episodes.Seeding(tacit.environments.adapters.environment(Whispers()), 4)
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", AGENT]
    agents = [subprocess.Popen([*command, str(i)], **pipe) for i in range(2)]
    env = Whispers()

    def tell(i: int, *words: object) -> None:
        agents[i].stdin.write(json.dumps(words) + "\n")
        agents[i].stdin.flush()

    for k in range(25):
        seen = list(env.reset(seed=seeds.at(k))[0].values())
        for h in range(3):
            for i in range(2):
                tell(i, "act", h, seen[i])
            actions = [int(agent.stdout.readline()) for agent in agents]
            observations, rewards, *_ = env.step(dict(zip("ab", actions, strict=True)))
            after = list(observations.values())
            for i, name in enumerate("ab"):
                tell(i, "learn", h, seen[i], actions[i], rewards[name], after[i])
            seen = after
    for i, agent in enumerate(agents):
        policy, _ = agent.communicate()
        np.testing.assert_array_equal(np.array(json.loads(policy)), run.last.probs[i])
