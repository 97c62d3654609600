"""NumPy numbers where Python's are expected: what is checked is what is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core import check, memory
from tacit.experiments.spec import plan
from tacit.learners import REGISTRY


def test_an_agent_that_grows_looks_at_memory_first(monkeypatch: pytest.MonkeyPatch):
    """100 states times 30 steps times 40 actions: as int8 that is a small number."""
    agent = tacit.agent("q-independent", states=2, actions=40, horizon=30, reward_range=(0, 1))
    agent.grow(np.int8(60))
    assert type(agent.world.states) is int
    monkeypatch.setattr(memory, "available", lambda: 1 << 16)
    with pytest.raises(tacit.TacitError, match="memory"):
        agent.grow(np.int8(100))


def test_seeds_of_an_experiment():
    experiment = tacit.Experiment("x", 10, games=["chicken"], seeds=np.int8(3), first_seed=np.int8(126))
    assert [run.seed for run in plan(experiment, keep=False)] == [126, 127, 128]


def test_the_horizon_of_an_environment():
    env = tacit.from_pettingzoo(tacit.to_pettingzoo(tacit.make("good-state")), horizon=np.int64(3))
    run = tacit.learn(env, "q-independent", episodes=np.int16(5), seed=np.int8(1))
    assert (run.game.horizon, type(run.game.horizon)) == (3, int)
    found = tacit.exploit(env, run.policy, np.int8(1), episodes=np.int8(30), seed=np.int8(100))
    assert np.isfinite(found.gains[1])


def test_a_step_of_a_game():
    game = tacit.make("random-general-sum", states=20, horizon=20, actions=[3, 3], seed=0)
    small = game.step(np.int8(15), np.int8(17), np.array([2, 1], dtype=np.int8), 0.5)
    plain = game.step(15, 17, [2, 1], 0.5)
    assert small[0] == plain[0]
    np.testing.assert_array_equal(small[1], plain[1])


@pytest.mark.parametrize("name", [name for name in REGISTRY if name != "portfolio"])
def test_parameters_of_learners_are_python_numbers(name: str):
    numbers = {key: default for key, default in _defaults(name).items() if type(default) in (int, float, bool)}
    learner = REGISTRY.make(name, **{key: np.array(default)[()] for key, default in numbers.items()})
    assert all(type(getattr(learner, key)) is type(default) for key, default in numbers.items())


def _defaults(name: str) -> dict[str, Any]:
    learner = REGISTRY.make(name)
    return {key: getattr(learner, key) for key in REGISTRY.parameters(name) if hasattr(learner, key)}


def test_other_fields_stay_as_they_are():
    learner = tacit.learners.REGISTRY.make("q-independent")
    before = dict(vars(learner))
    check.plain_fields(learner)
    assert vars(learner) == before
