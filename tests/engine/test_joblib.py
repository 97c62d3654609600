"""joblib carries games, policies, agents and runs to processes of its own (loky), which go on with the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit

joblib = pytest.importorskip("joblib", reason="joblib is not installed")


def learned(game: tacit.TabularGame, seed: int) -> tacit.Run:
    return tacit.learn(game, "adaptive-v-cce", episodes=60, seed=seed)


def judged(game: tacit.TabularGame, run: tacit.Run, policy: Any, agent: tacit.Agent) -> tuple[Any, ...]:
    steps = [agent.act(0, 0)]
    agent.learn(0, 0, steps[0], 0.5, 1)
    return run.gap, tacit.evaluate(game, policy).values, [*steps, agent.act(1, 1)], agent


@pytest.mark.slow
def test_everything_goes_to_other_processes_and_back():
    game = tacit.make("good-state", horizon=3)
    here = [learned(game, seed) for seed in range(2)]
    with joblib.parallel_config(backend="loky", n_jobs=2):
        there = joblib.Parallel()(joblib.delayed(learned)(game, seed) for seed in range(2))
        sizes = {"states": game.states, "actions": 2, "horizon": 3, "reward_range": game.reward_range}
        agents = [tacit.agent("adaptive-v-cce", **sizes, seed=seed) for seed in range(2)]
        jobs = zip(there, agents, strict=True)
        found = joblib.Parallel()(joblib.delayed(judged)(game, run, run.last, agent) for run, agent in jobs)
    for one, other, agent, (gap, values, steps, sent) in zip(here, there, agents, found, strict=True):
        assert one.gap == other.gap == gap
        np.testing.assert_array_equal(one.last.probs[0], other.last.probs[0])
        np.testing.assert_array_equal(tacit.evaluate(game, one.last).values, values)
        assert judged(game, one, one.last, agent)[2] == steps
        assert agent.act(2, 0) == sent.act(2, 0)
