"""What policy gradients are told wrongly is said in one sentence, by name and value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit

CORRELATED = tacit.MarkovPolicy(np.full((1, 1, 2, 2), 0.25))
WRONG_SIZE = tacit.MarkovPolicy([np.full((1, 2, 2), 0.5)] * 2)
ONE_TOO_MANY = tacit.MarkovPolicy([np.full((1, 1, 2), 0.5)] * 3)


@pytest.mark.parametrize(
    ("learner", "params", "message"),
    [
        ("pg-storm", {"eta": "theory", "momentum": 0.5}, "eta is 'theory' and momentum 0.5"),
        ("pg-storm", {"eta": 0.1, "momentum": "theory"}, "eta is 0.1 and momentum 'theory'"),
        ("pg-storm", {"eta": "best"}, "eta is 'best'"),
        ("pg-storm", {"eta": "theory", "momentum": "theory"}, "exploration is 0"),
        ("pg-storm", {"eta": -1}, "eta is -1"),
        ("pg-storm", {"eta": float("nan")}, "eta is nan"),
        ("pg-storm", {"momentum": 1.5}, "momentum is 1.5"),
        ("pg-storm", {"momentum": -0.1}, "momentum is -0.1"),
        ("pg-storm", {"exploration": 1.2}, "exploration is 1.2"),
        ("pg-storm", {"exploration": -0.1}, "exploration is -0.1"),
        ("pg-storm", {"start": "middle"}, "start"),
        ("pg-storm", {"start": [0.5, 0.5]}, "start is"),
        ("pg-storm", {"start": CORRELATED}, "start is MarkovPolicy(correlated"),
        ("pg-storm", {"start": WRONG_SIZE}, "does not fit the game"),
        ("pg-storm", {"start": ONE_TOO_MANY}, "does not fit the game"),
        ("npg", {"start": ONE_TOO_MANY}, "does not fit the game"),
        ("pg-sgd", {"momentum": 0.5}, "momentum"),
        ("pg-sgd", {"eta": "theory"}, "eta is 'theory'"),
        ("pg-exact", {"eta": "fast"}, "eta"),
        ("pg-exact", {"eta": -0.1}, "eta is -0.1"),
        ("pg-exact", {"start": WRONG_SIZE}, "does not fit the game"),
        ("pg-exact", {"start": 3}, "start is 3"),
        ("npg", {"gradient": "guessed"}, "gradient"),
        ("npg", {"eta": "fast"}, "eta is 'fast'"),
        ("npg", {"eta": -0.1}, "eta is -0.1"),
        ("npg", {"eta": "theory", "gradient": "sampled"}, "eta is 'theory'"),
        ("pg-adaptive", {"eta": 0}, "eta is 0"),
        ("pg-adaptive", {"eta": "auto"}, "eta is 'auto'"),
        ("pg-adaptive", {"leniency": 1.5}, "leniency is 1.5"),
        ("pg-adaptive", {"exploration": -0.1}, "exploration is -0.1"),
        ("pg-adaptive", {"start": WRONG_SIZE}, "does not fit the game"),
        ("npg", {"start": CORRELATED}, "start is"),
    ],
)
def test_refused_in_one_sentence(learner: str, params: dict[str, Any], message: str):
    with pytest.raises(tacit.TacitError) as error:
        tacit.learn(tacit.make("stag-hunt"), learner, episodes=1, **params)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("learner", ["pg-exact", "npg"])
def test_no_agent_has_exact_gradients(learner: str):
    with pytest.raises(tacit.TacitError, match="exact gradients"):
        tacit.agent(learner, states=1, actions=2, horizon=1, reward_range=(0, 1))


def test_an_agents_start_must_have_its_steps():
    start = tacit.MarkovPolicy([np.full((5, 2, 2), 0.5)] * 2)
    with pytest.raises(tacit.TacitError, match="start does not fit"):
        tacit.agent("pg-storm", states=2, actions=2, horizon=3, reward_range=(0, 1), start=start)
