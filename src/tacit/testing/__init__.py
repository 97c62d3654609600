"""Checks for your own games, bandits, learners and policies. Those of tacit pass them too.

    from tacit.testing import check_learner

    def test_my_learner():
        check_learner(MyLearner())

Each check returns nothing, or raises `Violation` (a TacitError and an AssertionError) with one sentence that says what
is wrong. Their random numbers come from a fixed seed, so a check that passes once passes always.
"""

from __future__ import annotations

from tacit.testing.checks import Violation, check_bandit, check_game, check_policy
from tacit.testing.learners import check_learner

__all__ = ["Violation", "check_bandit", "check_game", "check_learner", "check_policy"]
