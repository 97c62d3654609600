"""Q-learning backwards over each episode: against a transcription, and in an environment as the default."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.learners.spec import Scale, World

SIZES: dict[str, Any] = {"states": 3, "actions": 2, "horizon": 5, "reward_range": (-9, 9)}


def transcribe(
    episodes: list[list[tuple[int, int, float]]], states: int, actions: int, rates: list[float] | None = None
) -> list[np.ndarray]:
    """Return both tables after episodes of (state, action, reward), by the rule in the docstring."""
    one, traced, tries = (np.zeros((states, actions)) for _ in range(3))
    target = 0.0
    for steps, rate in zip(episodes, rates or [0.1] * len(episodes), strict=True):
        for t in reversed(range(len(steps))):
            s, a, r = steps[t]
            last = t == len(steps) - 1
            one[s, a] += rate * ((r if last else r + one[steps[t + 1][0]].max()) - one[s, a])
            target = r if last else r + 0.2 * traced[steps[t + 1][0]].max() + 0.8 * target
            tries[s, a] += 1
            traced[s, a] += max(rate, 1 / tries[s, a]) * (target - traced[s, a])
    return [one, traced]


def play(agent: Any, rng: np.random.Generator, length: int) -> list[tuple[int, int, float]]:
    """Let an agent alone play an episode in which nothing depends on what it does."""
    steps = []
    for h in range(length):
        s, r, s_next = int(rng.integers(3)), float(rng.normal()), int(rng.integers(3))
        a = agent.act(h, s)
        agent.learn(h, s, a, r, s_next)
        steps.append((s, a, r))
    return steps


def test_tables_are_what_the_rule_says():
    agent, rng = tacit.agent("q-backward", fall=1000, rate=0.1, **SIZES), np.random.default_rng(0)
    episodes = [play(agent, rng, 5) for _ in range(50)]
    tables = transcribe(episodes, 3, 2)
    np.testing.assert_allclose(agent.state.cells[0, :, 0]["Q"][:, :, :2].swapaxes(0, 1), tables, rtol=1e-12)
    returns = [sum(r for _, _, r in steps) for steps in episodes]  # followed by turns; the window is longer
    means = [np.mean(returns[j::3]) for j in range(3)]
    np.testing.assert_allclose(agent.state.agents[0]["mean"], means)
    policies = [np.eye(2)[table.argmax(axis=1)] for table in tables] + [agent.state.ascent[0, :, 0]["prob"][:, :2]]
    np.testing.assert_allclose(agent.policy[0], policies[int(np.argmax(means))])


@pytest.mark.parametrize(("episodes", "rate"), [(500, 0.1), (2000, 0.05), (3, 1.0)])
def test_rate_and_exploration_follow_the_number_of_episodes(episodes, rate):
    world = World(3, np.array([2]), 5, (-9.0, 9.0), Scale(1, 3, 2, 5, episodes))
    state = tacit.learners.QBackward().init(world)
    assert state.rate == pytest.approx(rate)
    assert state.fall == episodes / 2
    given = tacit.learners.QBackward(rate=0.3, fall=7).init(world)
    assert (given.rate, given.fall) == (0.3, 7.0)
    assert tacit.learners.QBackward(fall=250).init(world).rate == pytest.approx(0.1)


def test_rate_falls_after_exploration():
    world = World(3, np.array([2]), 5, (-9.0, 9.0), Scale(1, 3, 2, 5, 40))
    state, rng = tacit.learners.QBackward(rate=0.5, settle=0.2).init(world), np.random.default_rng(0)
    episodes = [[(int(s), int(a), float(r)) for s, a, r in rng.integers((3, 2, 9), size=(5, 3))] for _ in range(50)]
    for steps in episodes:
        for h, (s, a, r) in enumerate(steps):
            generics.learn(state, 0, h, s, a, r, 0)
    tables = transcribe(episodes, 3, 2, [0.5 * min(1, max(0.2, 1.8 - 0.8 * k / 20)) for k in range(50)])
    np.testing.assert_allclose(state.cells[0, :, 0]["Q"][:, :, :2].swapaxes(0, 1), tables, rtol=1e-12)


def test_the_policy_ascends_as_pg_adaptive_in_its_own_episodes():
    sizes: dict[str, Any] = {**SIZES, "horizon": 1}
    agent, rng = tacit.agent("q-backward", fall=1000, **sizes), np.random.default_rng(0)
    alone = tacit.agent("pg-adaptive", eta=0.1, **sizes)
    for k in range(300):
        s, a = rng.integers((3, 2)).tolist()
        for one in [agent, alone] if k % 3 == 2 else [agent]:
            one.learn(0, s, a, float(a + k % 2), 0)
    np.testing.assert_allclose(agent.state.ascent[0, :, 0]["prob"][:, :2], alone.policy[0], rtol=1e-12)
    assert alone.policy[0, :, 1].min() > 0.7


def test_an_episode_that_ends_early_is_learned_from_when_the_next_begins():
    agent, rng = tacit.agent("q-backward", **SIZES), np.random.default_rng(0)
    episodes = [play(agent, rng, int(rng.integers(1, 5))) for _ in range(50)]
    before = transcribe(episodes[:-1], 3, 2)
    np.testing.assert_allclose(agent.state.cells[0, :, 0]["Q"][:, :, :2].swapaxes(0, 1), before, rtol=1e-12)


@pytest.mark.parametrize("paid", [0, 1, 2])
def test_what_brought_the_highest_own_returns_is_followed_in_the_end(paid):
    agent = tacit.agent("q-backward", fall=60, **SIZES)
    for k in range(90):
        for h in range(5):
            agent.learn(h, 0, agent.act(h, 0), float(k % 3 == paid or k >= 75), 0)
    assert agent.state.agents[0]["followed"] == paid


def test_where_nobody_says_how_many_episodes_there_will_be_turns_and_the_best_alternate():
    agent, followed = tacit.agent("q-backward", **SIZES), []
    for k in range(18):
        followed.append(int(agent.state.agents[0]["followed"]))
        for h in range(5):
            agent.learn(h, 0, agent.act(h, 0), float(k % 3 == 1), 0)
    assert followed == [0, 1, 2, 1, 1, 1] * 3


class Relay:
    """Two agents are paid once both have come three places to the right; each sees its own place only."""

    agents, actions, horizon = 2, 2, 12

    def reset(self, seed: int | None = None) -> list[int]:
        self.at = [0, 0]
        return self.at[:]

    def step(self, actions: list[int]) -> tuple[list[int], list[float], bool]:
        self.at = [min(max(at + 2 * a - 1, 0), 3) for at, a in zip(self.at, actions, strict=True)]
        home = self.at == [3, 3]
        return self.at[:], [float(home)] * 2, home


@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_the_default_of_an_environment_learns_what_comes_late():
    run = tacit.learn(Relay(), episodes=300, certify=False)
    assert run.learner == "q-backward"
    assert run.candidates["last"].policy.probs[0][0, 0, 1] == 1.0
    assert tacit.evaluate(Relay(), run.last, episodes=10).values.min() == 1.0


def test_the_average_mixes_where_greedy_play_cannot():
    """Repeated matching pennies in one state: the average is near 1/2, the last iterate deterministic."""
    run = tacit.learn(tacit.make("matching-pennies"), "q-backward", episodes=20_000, seed=1)
    recent, last = (run.candidates[name].policy.probs[0][0, 0] for name in ("recent", "last"))
    assert abs(recent[0] - 0.5) < 0.1
    assert max(last) > 0.9
    assert run.candidates["recent"].gap < 0.2 < run.candidates["last"].gap
