"""The paper's policy-gradient figures, as far as its settings go. [Mao2022, app:simulations]

Seeds 0 to 19 are fixed, so nothing here fails by chance; where the numbers come from is said in each test.
"""

from __future__ import annotations

import numpy as np
import pytest

import tacit

SEEDS = range(20)


def rewards(game: tacit.TabularGame, episodes: int, **params: float) -> np.ndarray:
    """Mean reward over the last tenth of the episodes, for each seed."""
    return np.array(
        [
            tacit.learn(game, "pg-storm", episodes=episodes, seed=seed, certify=False, points=1, **params).reward[0]
            for seed in SEEDS
        ]
    )


@pytest.mark.parametrize(("explore", "median"), [(0.001, 9.98), (0.01, 9.80), (0.05, 9.00), (0.1, 8.03)])
def test_matrix_team(explore: float, median: float):
    """η = 1e-4, a = 0.5, T = 5000: the median over seeds of the mean reward of the last 500 rounds.

    An independent dense simulation over 1000 seeds has these medians. Its means are 9.85, 9.62, 8.74 and 7.62, for one
    to seven runs in a hundred end at the safe equilibrium or between the optima; hence the median here.
    """
    found = rewards(tacit.make("matrix-team"), 5000, eta=1e-4, momentum=0.5, exploration=explore)
    assert np.median(found) == pytest.approx(median, abs=0.15)


def test_good_state():
    """η = 1e-4, a = 0.5, no exploration, 50,000 episodes: mean 45.4, beside the optimum of 45.5."""
    found = rewards(tacit.make("good-state"), 50_000, eta=1e-4, momentum=0.5)
    assert found.mean() == pytest.approx(45.4, abs=0.2)


def test_exploration_costs_on_good_state():
    """A small positive ε̃ hurts: one draw of an action of probability ε̃/A throws the policy across the simplex."""
    found = rewards(tacit.make("good-state"), 50_000, eta=1e-4, momentum=0.5, exploration=0.01)
    assert 20 < found.mean() < 40


def test_l2_gap_falls():
    """Matrix team with ε̃ = 0.05: the median L² gap of the last iterate falls to a floor, and the average after it.

    The floor is that of the played policy, which gives ε̃·2/3 to the two worse actions: their own squares and the square
    of their mass, for both agents, (0.05/3)²·2 + (0.05·2/3)² each, 0.0033 together.
    """
    game, explore = tacit.make("matrix-team"), 0.05
    runs = [
        tacit.learn(game, "pg-storm", episodes=5000, seed=seed, eta=1e-4, momentum=0.5, exploration=explore, points=50)
        for seed in SEEDS
    ]
    last = np.median([run.curve["l2_gap"] for run in runs], axis=0)
    average = np.median([run.curve["average_l2_gap"] for run in runs], axis=0)
    floor = 2 * (2 * (explore / 3) ** 2 + (2 * explore / 3) ** 2)
    assert last[0] > 0.5
    assert last[-1] == pytest.approx(floor, rel=0.05)
    assert last.min() >= 0.95 * floor
    assert average[-1] < 0.5 * average[0]
    assert average[-1] > 5 * last[-1]  # the average remembers the beginning
