"""Agents on disk, pickled and copied: they go on with the same bits."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import tacit

LEARNERS = {
    "adaptive-v-cce": {},
    "stage-v-ce": {"bonus": 0.1},
    "v-learning": {},
    "pg-storm": {"eta": 0.05, "momentum": 0.2},
    "q-independent": {},
    "model-independent": {},
    "pg-two-timescale": {"eta": 0.05},
}


def practise(agent: tacit.Agent, seed: int, episodes: int) -> list[int]:
    rng, chosen = np.random.default_rng(seed), []
    for _ in range(episodes):
        for h in range(3):
            chosen.append(agent.act(h, int(rng.integers(4))))
            agent.learn(h, int(rng.integers(4)), chosen[-1], float(rng.random()), int(rng.integers(4)))
    return chosen


@pytest.mark.parametrize("learner", LEARNERS)
def test_saved_within_an_episode_it_goes_on_with_the_same_bits(learner: str, tmp_path: Path):
    made = {"states": 4, "actions": 3, "horizon": 3, "reward_range": (0, 1), "seed": 5, "index": 2}
    agent = tacit.agent(learner, **made, **LEARNERS[learner])
    practise(agent, 0, 40)
    agent.learn(0, 1, agent.act(0, 1), 0.5, 2)  # within an episode
    agent.save(tmp_path / "agent.npz")
    others = [tacit.Agent.load(tmp_path / "agent.npz"), pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)]
    expected = practise(agent, 1, 40)
    for other in others:
        assert practise(other, 1, 40) == expected
        np.testing.assert_array_equal(other.policy, agent.policy)
        assert other.episodes == agent.episodes


def test_a_learner_object_is_given_again(tmp_path: Path):
    spec = tacit.learners.StageV(bandit=tacit.bandits.TsallisINF())
    agent = tacit.agent(spec, states=4, actions=3, horizon=3, reward_range=(0, 1))
    practise(agent, 0, 5)
    agent.save(tmp_path / "a.npz")
    with pytest.raises(tacit.TacitError, match="give it again"):
        tacit.Agent.load(tmp_path / "a.npz")
    with pytest.raises(tacit.TacitError, match="its learner is"):
        tacit.Agent.load(tmp_path / "a.npz", learner=tacit.learners.StageV())
    same = tacit.Agent.load(tmp_path / "a.npz", learner=spec)
    assert practise(same, 1, 5) == practise(agent, 1, 5)


@pytest.mark.parametrize("array", ["square", "prob"])
def test_an_agent_with_a_negative_square_or_probability_is_refused(array: str, tmp_path: Path):
    agent = tacit.agent("pg-adaptive", states=4, actions=3, horizon=3, reward_range=(0, 1))
    agent.save(tmp_path / "a.npz")
    arrays = dict(np.load(tmp_path / "a.npz"))
    np.savez(tmp_path / "a.npz", **{**arrays, f"state.cells.{array}": arrays[f"state.cells.{array}"] - 2.0})
    with pytest.raises(tacit.TacitError, match=f"its array '.cells.{array}' has entries below 0"):
        tacit.Agent.load(tmp_path / "a.npz")


@pytest.mark.parametrize("what", ["cut", "wild", "other"])
def test_files_that_are_no_agents(what: str, tmp_path: Path):
    agent = tacit.agent("adaptive-v-cce", states=4, actions=3, horizon=3, reward_range=(0, 1))
    place = tmp_path / "a.npz"
    agent.save(place)
    arrays = dict(np.load(place))
    if what == "cut":
        place.write_bytes(place.read_bytes()[:-50])
    elif what == "wild":
        key = next(key for key in arrays if key.endswith("visits"))
        np.savez(place, **{**arrays, key: arrays[key] + 10**12})
    else:
        np.savez(place, **{**arrays, "kind": np.array("markov")})
    with pytest.raises(tacit.TacitError, match=r"a\.npz"):
        tacit.Agent.load(place)


@pytest.mark.parametrize(
    ("learner", "array", "message"),
    [
        ("stage-v-cce", "cells.bandit.actions", "is not what it is in every state of this learner"),
        ("pg-storm", "window.steps.s", "has entries above 3"),
        ("npg", "window.steps.action", "has entries above 3"),
    ],
)
def test_what_compiled_code_counts_on_is_checked(learner: str, array: str, message: str, tmp_path: Path):
    params = {"gradient": "sampled"} if learner == "npg" else {}
    agent = tacit.agent(learner, states=4, actions=3, horizon=3, reward_range=(0, 1), **params)
    agent.save(tmp_path / "a.npz")
    arrays = dict(np.load(tmp_path / "a.npz"))
    np.savez(tmp_path / "a.npz", **{**arrays, f"state.{array}": arrays[f"state.{array}"] + 4})
    with pytest.raises(tacit.TacitError, match=f"its array '.{array}' {message}"):
        tacit.Agent.load(tmp_path / "a.npz")
