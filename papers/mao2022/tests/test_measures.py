"""What is taken from runs before they are judged."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import outcome, task

from measures import measure, measure_team, name_averaged
from tacit.experiments.results import GapOutcome

OPTIMUM, RANDOM = 10.0, 2 / 9


def test_shares_are_of_what_there_is_to_gain_over_random_play():
    runs = [outcome({"reward": [0.0] * 9 + [end]}) for end in (4.0, 6.0)]
    found = measure("s", runs, task())
    assert found.reward.mean == 5.0
    assert found.share == pytest.approx((5 - RANDOM) / (OPTIMUM - RANDOM))
    assert found.high == pytest.approx((6 - RANDOM) / (OPTIMUM - RANDOM))


def test_moves_compares_the_last_two_fifths_of_the_mean_curve():
    runs = [outcome({"reward": [0] * 6 + [2, 4, 5, 7]}), outcome({"reward": [0] * 6 + [2, 4, 5, 7]})]
    assert measure("s", runs, task()).moves == pytest.approx(3 / (OPTIMUM - RANDOM))
    still = measure("s", [outcome({"reward": [0, 0, 0, 0, 0, 0, 3, 5, 5, 3]})], task())
    assert still.moves == 0
    assert still.steady


@pytest.mark.parametrize(
    ("reward", "when"),
    [([0, 5, 9.4, 9.6, 10, 10, 10, 10, 10, 10], 40), ([10, 5, 0.4, 0, 0, 0, 0, 0, 0, 0], 30), ([3] * 10, 10)],
)
def test_when_95_percent_of_its_own_gain_is_there(reward: list[float], when: int):
    """Rising, falling, and without any change."""
    assert measure("s", [outcome({"reward": reward})], task()).when == when


def test_only_exact_and_certified_gaps_count():
    curve = {"reward": [1.0, 1.0]}
    sure = [outcome(curve, gap=GapOutcome("cce", "certificate", [1.0, 3.0])) for _ in range(2)]
    assert measure("s", sure, task()).gap.mean == 3.0
    assert measure("s", sure, task()).kind == "cce"
    own = [outcome(curve, gap=GapOutcome("cce", "model-free", [1.0, 3.0])), outcome(curve)]
    assert measure("s", own, task()).gap is None


def team_run(value: float, gap: float, *, exploration: float = 0.0) -> object:
    flat = {name: [1.0, 1.0, 1.0] for name in ("average_value",)}
    curve = {"l2_gap": [1.0, 0.2, 0.0], "average_l2_gap": [1.0, 0.5, 0.3], "averaged": [10, 20, 30], **flat}
    return outcome({**curve, "value": [0.0, 1.0, value], "gap": [1.0, 1.0, gap]}, exploration=exploration)


def test_where_the_runs_of_the_team_end():
    """Two at an optimum, one at the safe equilibrium of value 2, one on its way (its gap is above 0.5)."""
    runs = [team_run(10, 0), team_run(9.5, 0.4), team_run(2, 0), team_run(4, 3)]
    found = measure_team("s", runs, task())
    assert (found.optimal, found.elsewhere) == (0.5, 0.25)
    assert found.others == pytest.approx((10 + 9.5 + 4) / 3)
    assert found.lag.mean == pytest.approx(0.3)
    assert found.averaged == "all iterates"


def test_an_optimal_equilibrium_with_exploration_is_optimal():
    """With exploration 0.05 it is worth 9.03, so 8.5 is near it, and 8 is not."""
    found = measure_team("s", [team_run(8.5, 0.3, exploration=0.05), team_run(8.0, 3, exploration=0.05)], task())
    assert (found.optimal, found.elsewhere) == (0.5, 0.0)


def test_what_the_average_is_over_is_read_from_the_curve():
    points = outcome({"averaged": [1, 2, 3]})
    assert name_averaged([points]) == "the points of the curve"
    assert name_averaged([outcome({"averaged": [10, 20, 30]}), points]) == "the points of the curve"
    assert not np.isnan(measure_team("s", [team_run(2, 0), team_run(10, 0)], task()).others)
