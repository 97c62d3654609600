"""Statistics over seeds, and learning over seeds."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.experiments import summarize


def test_mean_and_standard_deviation_by_hand():
    found = summarize([2.0, 4.0, 9.0])
    assert (found.mean, found.count) == (5.0, 3)
    assert found.std == pytest.approx(np.sqrt((9 + 1 + 16) / 2), rel=1e-15)  # n − 1
    assert found.ci95[0] < 5.0 < found.ci95[1]
    assert found.ci95[0] >= 2.0
    assert found.ci95[1] <= 9.0


def test_the_interval_of_two_numbers_is_known():
    """Of the means of two draws from {0, 1}, a quarter are 0 and a quarter are 1: so are the quantiles."""
    assert summarize([0.0, 1.0]).ci95 == (0.0, 1.0)


def test_it_covers_the_mean_about_as_often_as_it_says():
    """Of 400 samples of 30, the interval holds the mean in 88 to 98 %: by the binomial law of 0.93, the usual
    shortfall of percentile intervals, it falls outside with a probability below 1e-3; the seed is fixed."""
    draws = np.random.default_rng(1).exponential(size=(400, 30))
    held = np.mean([low <= 1.0 <= high for low, high in (summarize(sample).ci95 for sample in draws)])
    assert 0.88 <= held <= 0.98


def test_the_same_numbers_give_the_same_interval_and_others_move_with_them():
    x = np.random.default_rng(2).normal(size=12)
    one, again, moved = summarize(x), summarize(x.tolist()), summarize(8 * x + 3)
    assert one == again
    assert moved.mean == pytest.approx(8 * one.mean + 3)
    assert moved.std == pytest.approx(8 * one.std)
    assert moved.ci95 == pytest.approx([8 * end + 3 for end in one.ci95])


def test_equal_numbers_and_a_single_one_have_no_width():
    assert summarize([3.0]).ci95 == (3.0, 3.0)
    assert (summarize([3.0]).std, summarize([3.0]).count) == (0.0, 1)
    with np.errstate(all="raise"):
        same = summarize([3.0] * 5)
    assert (same.std, same.ci95) == (0.0, (3.0, 3.0))


@pytest.mark.parametrize("wrong", [[], [[1.0, 2.0]], 3.0])
def test_what_is_no_list_of_numbers_is_told(wrong: object):
    with pytest.raises(tacit.TacitError, match="one number for each seed"):
        summarize(wrong)  # type: ignore[arg-type]
