"""What a run says where its result was not measured, or plainly is better than random play."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.engine import Advanced, Event
from tacit.environments.choosing import _is_mostly_positive


class Right:
    """Two agents are paid for the second action, until the environment has been reset too often."""

    agents, actions, horizon, reward_range = 2, 2, 4, (0.0, 1.0)

    def __init__(self, most: int = 10**9) -> None:
        self.left = most

    def reset(self, seed: int | None = None) -> int:
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("worn out")
        self.time = 0
        return self.time

    def step(self, actions: list[int]) -> tuple[int, list[float], bool]:
        paid = [float(action) for action in actions]
        actions.clear()  # what it was given is its own
        self.time += 1
        return self.time, paid, self.time == 4


def test_a_result_that_could_not_be_measured_is_said_to_be_so():
    run = tacit.learn(Right(most=405), episodes=400)
    assert "is not measured by play (" in str(run)
    assert "worn out" in run.advice[0].text
    assert run.returns is None


def test_an_interrupted_run_says_that_it_was_not_measured():
    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= 100:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        run = tacit.learn(Right(), episodes=10_000, progress=stop)
    assert "is not measured by play (the run was interrupted)" in str(run)


def test_few_fresh_episodes_that_all_are_better_raise_no_alarm():
    run = tacit.learn(Right(), episodes=200)
    assert run.returns["policy"][0] > 3.5
    assert not run.advice


def test_a_sign_test_is_wrong_about_what_does_not_differ_in_five_percent_of_cases():
    rng = np.random.default_rng(0)
    wrong = np.mean([_is_mostly_positive(rng.normal(size=25)) for _ in range(4000)])
    assert 0.005 < wrong < 0.065  # 5 % and four standard errors
    assert _is_mostly_positive(rng.normal(size=25) + 2)
    assert not _is_mostly_positive(np.r_[np.ones(24), -100.0])
