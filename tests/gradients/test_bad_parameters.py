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
        ("pg-storm", {"eta": "theory", "momentum": 0.5}, "eta and momentum must be"),
        ("pg-storm", {"eta": 0.1, "momentum": "theory"}, "eta and momentum must be"),
        ("pg-storm", {"eta": "best"}, "eta and momentum must be"),
        ("pg-storm", {"eta": "theory", "momentum": "theory"}, "exploration must be"),
        ("pg-storm", {"eta": -1}, "eta must be"),
        ("pg-storm", {"eta": float("nan")}, "eta must be"),
        ("pg-storm", {"momentum": 1.5}, "momentum must be"),
        ("pg-storm", {"momentum": -0.1}, "momentum must be"),
        ("pg-storm", {"exploration": 1.2}, "exploration must be"),
        ("pg-storm", {"exploration": -0.1}, "exploration must be"),
        ("pg-storm", {"start": "middle"}, "start"),
        ("pg-storm", {"start": [0.5, 0.5]}, "start must be"),
        ("pg-storm", {"start": CORRELATED}, "start must be"),
        ("pg-storm", {"start": WRONG_SIZE}, "does not fit the game"),
        ("pg-storm", {"start": ONE_TOO_MANY}, "does not fit the game"),
        ("npg", {"start": ONE_TOO_MANY}, "does not fit the game"),
        ("pg-sgd", {"momentum": 0.5}, "momentum"),
        ("pg-sgd", {"eta": "theory"}, "eta and momentum must be"),
        ("pg-exact", {"eta": "fast"}, "eta"),
        ("pg-exact", {"eta": -0.1}, "eta must be"),
        ("pg-exact", {"start": WRONG_SIZE}, "does not fit the game"),
        ("pg-exact", {"start": 3}, "start must be"),
        ("npg", {"gradient": "guessed"}, "gradient"),
        ("npg", {"eta": "fast"}, "eta must be"),
        ("npg", {"eta": -0.1}, "eta must be"),
        ("npg", {"eta": "theory", "gradient": "sampled"}, "eta must be"),
        ("pg-adaptive", {"eta": 0}, "eta must be"),
        ("pg-adaptive", {"eta": "auto"}, "eta must be"),
        ("pg-adaptive", {"leniency": 1.5}, "leniency must be"),
        ("pg-adaptive", {"exploration": -0.1}, "exploration must be"),
        ("pg-adaptive", {"start": WRONG_SIZE}, "does not fit the game"),
        ("npg", {"start": CORRELATED}, "start must be"),
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
