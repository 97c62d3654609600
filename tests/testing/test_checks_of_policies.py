"""Each way in which a policy can be wrong is found, and told in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.testing import Violation, check_policy


@pytest.fixture
def certified() -> tacit.policies.RecordedPolicy:
    run = tacit.learn(tacit.make("chicken", horizon=2), "stage-v-cce", episodes=100, bonus=0.1)
    policy = run.candidates["average"].policy
    assert isinstance(policy, tacit.policies.RecordedPolicy)
    return policy


def refused(policy: Any, message: str) -> None:
    with pytest.raises(Violation, match=message) as caught:
        check_policy(policy)
    assert "\n" not in str(caught.value)


def uniform() -> tacit.MarkovPolicy:
    return tacit.MarkovPolicy([np.full((2, 3, 2), 0.5), np.full((2, 3, 4), 0.25)])


def test_what_is_no_policy():
    refused("even", "str has no agents and no states")


def test_a_distribution_that_is_none():
    policy = uniform()
    policy.probs = (policy.probs[0], policy.probs[1] * 1.1)
    refused(policy, r"at\(0\)\[1\]\[0\] of MarkovPolicy is .* with the sum 1.1")


def test_sizes_that_differ():
    policy = uniform()
    policy.states = 4
    refused(policy, r"at\(0\) of MarkovPolicy has 3 states of 4")
    policy = uniform()
    policy.agents = 3
    refused(policy, "has 3 agents and actions")


def test_what_does_not_pickle():
    policy = uniform()
    policy.extra = lambda: 0  # type: ignore[attr-defined]
    refused(policy, "MarkovPolicy does not pickle")


class Forgetful(tacit.MarkovPolicy):
    """Rounds what it saves."""

    def save(self, path: Any, *, agent: int | None = None) -> None:
        tacit.MarkovPolicy([np.full_like(own, 1 / own.shape[2]) for own in self.probs]).save(path)


class Nameless(tacit.MarkovPolicy):
    """Saves nothing that can be read."""

    def save(self, path: Any, *, agent: int | None = None) -> None:
        with open(path, "wb") as file:
            file.write(b"x")


def test_files():
    refused(Forgetful(uniform().probs), "Forgetful saved as .npz is loaded as MarkovPolicy")
    refused(Nameless(uniform().probs), "Nameless saves a .npz that cannot be loaded")


def test_parts(certified: tacit.policies.RecordedPolicy, monkeypatch: pytest.MonkeyPatch):
    check_policy(certified)
    rng = np.random.default_rng(0)
    monkeypatch.setattr(type(certified.part(0)), "act", lambda self, h, s: int(rng.integers(2)))
    refused(certified, "do not play the same twice")
    monkeypatch.setattr(type(certified.part(0)), "act", lambda self, h, s: 7)
    refused(certified, r"agent 0's part of RecordedPolicy plays \[7\]; it has 2 actions")
