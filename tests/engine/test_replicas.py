"""Agents that each run a copy of a centralized learner, with a common seed and common or opposite rewards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core.streams import stream
from tacit.engine.fused import FusedEngine
from tacit.learners import REGISTRY
from tacit.testing.checks import copy

SEED, EPISODES = 6, 120


def team() -> tacit.TabularGame:
    """Three agents with 2, 3 and 2 actions and common rewards, different at every step."""
    rng = np.random.default_rng(1)
    moves = rng.dirichlet(np.ones(3), (4, 3, 2, 3, 2))
    rewards = np.repeat(rng.random((1, 4, 3, 2, 3, 2)), 3, axis=0)
    return tacit.TabularGame(moves, rewards, np.ones(3) / 3, 4)


def duel() -> tacit.TabularGame:
    """Two agents whose rewards sum to 0."""
    rng = np.random.default_rng(2)
    moves, rewards = rng.dirichlet(np.ones(3), (1, 3, 2, 3)), rng.uniform(-1, 1, (1, 1, 3, 2, 3))
    return tacit.TabularGame(moves, np.concatenate([rewards, -rewards]), np.ones(3) / 3, 4)


GAMES = {"common": team, "opposite": duel}


def span(game: tacit.TabularGame) -> tuple[float, float]:
    """Return a range of rewards that is symmetric around 0."""
    most = float(np.abs(game.reward_range).max())
    return -most, most


def replica(game: tacit.TabularGame, rewards: str, index: int, learner: str = "model-central") -> tacit.Agent:
    return tacit.agent(
        learner,
        states=game.states,
        actions=game.actions[index],
        horizon=game.horizon,
        reward_range=span(game),
        seed=SEED,
        index=index,
        team=game.actions,
        rewards=rewards,
    )


def play(game: tacit.TabularGame, agents: list[Any], episodes: int) -> np.ndarray:
    """Let agents play; return their actions [episodes, H, N]."""
    luck = stream(SEED, 0).random((episodes, game.horizon))
    actions = np.zeros((episodes, game.horizon, game.agents), dtype=int)
    for k, u in enumerate(luck):
        s = game.start(u[0])
        for h in range(game.horizon):
            last = h == game.horizon - 1
            actions[k, h] = [agent.act(h, s) for agent in agents]
            s_next, rewards = game.step(h, s, actions[k, h], 0.0 if last else u[h + 1])
            for agent, a, r in zip(agents, actions[k, h], rewards, strict=True):
                agent.learn(h, s, int(a), float(r), None if last else s_next)
            s = s_next
    return actions


def same(one: Any, other: Any) -> bool:
    """Return whether two states are equal to the last bit."""
    if isinstance(one, tuple):
        return all(same(a, b) for a, b in zip(one, other, strict=True))
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


CHILD = """
import json, sys
import test_replicas as t
rewards, index = sys.argv[1], int(sys.argv[2])
agent = t.replica(t.GAMES[rewards](), rewards, index)
for line in sys.stdin:
    name, *rest = json.loads(line)
    print(json.dumps(getattr(agent, name)(*rest)), flush=True)
"""


class Process:
    """An agent in a process of its own, which reads its own states, actions and rewards from a pipe."""

    def __init__(self, rewards: str, index: int) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-c", CHILD, rewards, str(index)],
            cwd=Path(__file__).parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> Any:
            assert self.child.stdin is not None
            assert self.child.stdout is not None
            self.child.stdin.write(json.dumps([name, *args]) + "\n")
            self.child.stdin.flush()
            return json.loads(self.child.stdout.readline())

        return call


@pytest.mark.parametrize("rewards", GAMES)
def test_processes_play_what_the_fused_run_plays(interpreted_everywhere: None, rewards: str, tmp_path: Path):
    game = GAMES[rewards]()
    engine = FusedEngine(game, REGISTRY.make("model-central"), episodes=EPISODES, seed=SEED)
    returns = engine.advance(EPISODES)
    agents = [Process(rewards, i) for i in range(game.agents)]
    try:
        actions = play(game, agents, EPISODES)
        for i, agent in enumerate(agents):
            agent.save(str(tmp_path / f"{i}.npz"))
            loaded = tacit.Agent.load(tmp_path / f"{i}.npz")
            assert same(loaded.state, engine.state)
            np.testing.assert_array_equal(loaded.policy, engine.distributions()[i])
    finally:
        for agent in agents:
            agent.child.communicate()
    assert len(np.unique(actions.reshape(-1, game.agents), axis=0)) == np.prod(game.actions)  # they explored
    assert returns.shape == (EPISODES, game.agents)


def test_what_a_replica_cannot_see_changes_nothing():
    """Agent 0 plays the same beside agents that see other states and get other rewards, and without any."""
    game, replicas = team(), []
    for others in ([], [replica(team(), "common", i) for i in (1, 2)]):
        agent, own, noise = replica(game, "common", 0), np.random.default_rng(3), np.random.default_rng(4)
        for k in range(400):
            h, s, s_next, r = k % 4, int(own.integers(3)), int(own.integers(3)), 0.9 * float(own.random())
            a = agent.act(h, s)
            for other in others:
                state = int(noise.integers(3))
                other.learn(h, state, other.act(h, state), 0.9 * float(noise.random()), int(noise.integers(3)))
            agent.learn(h, s, a, r, s_next)
        replicas.append(agent)
    assert same(replicas[0].state, replicas[1].state)
    assert not same(replicas[1].state, others[0].state)


@pytest.mark.parametrize("rewards", GAMES)
def test_another_centralized_learner(rewards: str):
    game = GAMES[rewards]()
    spec = REGISTRY.make("ucb-central")
    engine = FusedEngine(game, spec, episodes=50, seed=SEED)
    engine.advance(50)
    agents = [replica(game, rewards, i, "ucb-central") for i in range(game.agents)]
    play(game, agents, 50)
    if span(game) == game.reward_range:
        assert all(same(agent.state, engine.state) for agent in agents)
    assert all(same(agent.state, agents[0].state) for agent in agents)


def test_saved_between_acting_and_learning_it_goes_on(tmp_path: Path):
    game = team()
    agents = [replica(game, "common", i) for i in range(3)]
    play(game, agents, 60)
    a = agents[1].act(0, 1)
    agents[1].save(tmp_path / "a.npz")
    for agent in (loaded := tacit.Agent.load(tmp_path / "a.npz")), agents[1]:
        agent.learn(0, 1, a, 0.5, 2)
    assert same(copy(loaded.state), agents[1].state)


KNOWN: dict[str, Any] = {"states": 3, "actions": 2, "horizon": 4, "reward_range": (-1, 1)}


@pytest.mark.parametrize(
    ("learner", "params", "message"),
    [
        ("model-central", {}, "send each other their rewards"),
        ("model-central", {"team": [2, 2]}, "send each other their rewards"),
        ("model-central", {"team": [2, 2], "rewards": "general"}, "common, opposite"),
        ("model-central", {"team": 2, "rewards": "common"}, "team must be a list"),
        ("model-central", {"team": [3, 2], "rewards": "common"}, r"team\[0\] must be 2"),
        ("model-central", {"team": [2, 2], "rewards": "common", "index": 2}, "index must be at most 1"),
        ("model-central", {"team": [2, 2, 2], "rewards": "opposite"}, "sum to 0"),
        ("model-central", {"team": [2, 2], "rewards": "opposite", "reward_range": (0, 1)}, "sum to 0"),
        ("stage-v-cce", {"team": [2, 2]}, "leave out team"),
    ],
)
def test_what_does_not_fit_is_refused(learner: str, params: dict[str, Any], message: str):
    with pytest.raises(tacit.TacitError, match=message):
        tacit.agent(learner, **{**KNOWN, **params})


def test_an_action_of_ones_own_would_part_the_copies():
    agent = tacit.agent("model-central", **KNOWN, team=[2, 2], rewards="common")
    a = agent.act(0, 0)
    with pytest.raises(tacit.TacitError, match="what act returned"):
        agent.learn(0, 0, 1 - a, 0.5, 1)
