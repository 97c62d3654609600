"""The small form of a certified policy: as good up to sampling, and no larger for longer learning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from answers import learn_average

import tacit
from tacit.core.streams import stream
from tacit.policies import DeployedPolicy


@pytest.fixture(scope="module")
def run() -> tacit.Run:
    game = tacit.make("good-state", horizon=4)
    return learn_average(game, "stage-v-cce", episodes=20_000, seed=2, bonus=0.02, loss="raw")


def value(game: tacit.TabularGame, policy: DeployedPolicy) -> np.ndarray:
    """Exact value: every run m, every state, every joint action of two agents, with the node's distributions."""
    P, R = (
        np.repeat(x, game.horizon, axis=axis) if x.shape[axis] == 1 else x
        for x, axis in ((game.transitions, 0), (game.rewards, 1))
    )

    def follow(h: int, node: int, s: int) -> np.ndarray:
        if h == game.horizon:
            return np.zeros(2)
        place = policy.find(node, s)
        after = int(policy.following[place]) if place >= 0 else 0
        x, y = (float(p) for p in policy.stored[place]) if place >= 0 else (0.5, 0.5)
        total = np.zeros(2)
        for a, pa in enumerate((x, 1 - x)):
            for b, pb in enumerate((y, 1 - y)):
                if pa * pb > 0:
                    ahead = [p * follow(h + 1, after, t) for t, p in enumerate(P[h, s, a, b]) if p > 0]
                    total += pa * pb * (R[:, h, s, a, b] + sum(ahead))
        return total

    starts = np.flatnonzero(game.initial)
    return np.array([sum(game.initial[s] * follow(0, node, s) for s in starts) for node in policy.first.tolist()])


def test_its_value_is_that_of_the_full_policy_up_to_sampling(run: tacit.Run):
    """The runs are independent draws with the full policy's value as their mean: within four standard errors.

    A fresh seed would give a false alarm with probability 6e-5.
    """
    values = value(run.game, run.policy.deploy(150, seed=3))[:, 0]
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert abs(values.mean() - run.values[0]) <= 4 * error
    assert error < 1.0


def test_parts_play_it(run: tacit.Run):
    """Separate parts with common seeds share the run and the node; their mean return is the deployed policy's value."""
    game, policy = run.game, run.policy.deploy(50, seed=4)
    exact = value(game, policy).mean(axis=0)
    parts, world = [policy.part(i) for i in range(2)], stream(5, 0)
    returns = np.zeros((4000, 2))
    for episode in range(len(returns)):
        for part in parts:
            part.begin(episode)
        s = game.start(world.random())
        for h in range(game.horizon):
            actions = [part.act(h, s) for part in parts]
            assert parts[0].node == parts[1].node
            s, rewards = game.step(h, s, actions, world.random())
            returns[episode] += rewards
    error = returns.std(axis=0, ddof=1) / math.sqrt(len(returns))
    assert (np.abs(returns.mean(axis=0) - exact) <= 4 * error).all()


def test_its_size_does_not_grow_with_the_episodes(run: tacit.Run):
    """From 2,000 to 20,000 episodes only the number of stages grows, by a logarithm."""
    full = run.policy
    short = tacit.policies.RecordedPolicy(
        full.visited[:2000], full.stored[:2000], actions=full.actions, states=full.states
    )
    few, many = (len(policy.deploy(100, seed=1).row) for policy in (short, full))
    game, M = run.game, 100
    stages = math.log(20_000) / math.log(1 + 1 / game.horizon)
    assert many <= M * game.horizon * game.states * game.states * 4  # far below M·H·S·stages
    assert many < M * game.horizon * game.states * stages
    assert many < 1.5 * few


def test_the_draws_of_different_steps_are_independent():
    """One state, two steps: where in its stage an index falls says nothing about the next one.

    Over 4000 runs a correlation beyond 4/√4000 has probability 6e-5 for a fresh seed.
    """
    K, H, M = 3000, 2, 4000
    start, length = 0, H
    place = np.zeros(K, np.float32)  # of each episode within its stage, from 0 to 1: it is played as a probability
    while start + length <= K:
        place[start : start + length] = (np.arange(length) + 0.5) / length
        start, length = start + length, length + length // H
    stored = np.broadcast_to(place[:, None, None], (K, H, 2))
    policy = tacit.policies.RecordedPolicy(np.zeros((K, H), np.uint8), stored, actions=(2, 2), states=1)
    deployed = policy.deploy(M, seed=6)
    pairs = []
    for node in deployed.first.tolist():
        before = deployed.find(node, 0)
        after = deployed.find(int(deployed.following[before]), 0) if before >= 0 else -1
        if after >= 0:
            pairs.append((deployed.stored[before, 0], deployed.stored[after, 0]))
    assert len(pairs) > M * 0.9
    assert abs(np.corrcoef(np.array(pairs).T)[0, 1]) < 4 / math.sqrt(len(pairs))


def test_the_same_seed_gives_the_same_policy(run: tacit.Run):
    one, again, other = (run.policy.deploy(10, seed=seed) for seed in (1, 1, 2))
    assert (one.row == again.row).all()
    assert not np.array_equal(one.stored, other.stored)


def test_bad_calls(run: tacit.Run):
    for starts in (0, -1, 2.5, "ten", None):
        with pytest.raises(tacit.TacitError, match="starts is"):
            run.policy.deploy(starts)
    with pytest.raises(tacit.TacitError, match="agent is 2"):
        run.policy.deploy(2).part(2)
    with pytest.raises(tacit.TacitError, match=r"begin\(seed\)"):
        run.policy.deploy(2).part(0).act(0, 0)


def test_what_does_not_fit_into_memory_is_refused(run: tacit.Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tacit.core.memory.available", lambda: 1000)
    with pytest.raises(
        tacit.TacitError, match=r"a deployed policy of 50 runs \(fewer starts make it smaller\) would take"
    ):
        run.policy.deploy(50)
