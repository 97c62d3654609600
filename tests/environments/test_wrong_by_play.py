"""What is wrong with a measurement by play is said, not measured."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import tacit


class Walk(gymnasium.Env):
    """Six steps; each pays 1, and half steps are met only after action 1."""

    observation_space = gymnasium.spaces.Box(0.0, 10.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.h, self.at = 0, 0.0
        return np.array([self.at], np.float32), {}

    def step(self, action):
        self.h, self.at = self.h + 1, self.at + (0.5 if action else 1.0)
        return np.array([self.at], np.float32), 1.0 + action, self.h == 6, False, {}


SEEN = [[float(at)] for at in range(7)]


def test_a_table_that_ends_before_the_episodes_is_noted():
    policy = tacit.MarkovPolicy([np.full((3, 7, 2), 0.5) * [2, 0]], observations=[SEEN])
    found = tacit.evaluate(Walk(), policy, episodes=20)
    assert any("cuts episodes" in note for note in found.notes)
    whole = tacit.MarkovPolicy([np.full((6, 7, 2), 0.5) * [2, 0]], observations=[SEEN])
    assert not any("cuts episodes" in note for note in tacit.evaluate(Walk(), whole, episodes=20).notes)


def test_states_that_no_observation_names_are_refused():
    with pytest.raises(tacit.TacitError, match="observations has 3 entries for 7 states"):
        tacit.MarkovPolicy([np.full((6, 7, 2), 0.5)], observations=[SEEN[:3]])


def test_a_response_that_meets_what_the_policy_does_not_is_trained_on_features():
    found = tacit.exploit(Walk(), lambda o, h: 0, episodes=60, plays=40)
    assert "features" in found.deviations
    assert found.gap > 0


def test_a_range_that_rewards_leave_and_an_unknown_parameter_are_refused():
    with pytest.raises(tacit.TacitError, match=r"rewards of 1 to 1 were met"):
        tacit.evaluate(Walk(), lambda o, h: 0, episodes=20, reward_range=(0, 0.5))
    with pytest.raises(tacit.TacitError, match="no parameter 'horizn'"):
        tacit.evaluate(Walk(), lambda o, h: 0, episodes=20, horizn=3)


def test_memory_of_a_predict_may_be_a_number():
    class Counts:
        def predict(self, observation, state=None, episode_start=None, deterministic=False):
            return 0, (state or 0) + 1

    assert tacit.evaluate(Walk(), Counts(), episodes=20).values == pytest.approx([6.0])
