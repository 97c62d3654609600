"""Curves of one run, and axes on which a gap of zero is seen."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

import tacit
from tacit.figures.curves import Series, draw_series, gap_axis


def axes_of(count: int):
    return Figure().subplots(1, count, squeeze=False)[0]


def test_what_was_measured_is_drawn_where_some_was_not():
    (ax,) = axes_of(1)
    line = draw_series(Series("a", np.arange(4), np.array([[np.nan, 1, 2, 3], [1, 2, np.nan, 4.0]])), ax=ax)
    np.testing.assert_array_equal(line.get_xdata(), [1, 3])
    np.testing.assert_array_equal(line.get_ydata(), [1.5, 3.5])


def test_many_episodes_have_few_short_ticks():
    run = tacit.learn(tacit.make("chicken"), "stage-v-cce", episodes=20_000, seed=0, certify=False)
    ax = run.plot(columns=["reward"], size=(4, 3))
    ax.figure.canvas.draw()
    ticks = [label for label in ax.get_xticklabels() if label.get_text()]
    assert {"10k", "20k"} <= {label.get_text() for label in ticks}
    assert not any(one.overlaps(other) for one, other in pairwise(label.get_window_extent() for label in ticks))


def test_zero_is_on_a_logarithmic_axis():
    (ax,) = axes_of(1)
    draw_series(Series("a", np.arange(1, 6), np.array([[1, 0.1, 0.01, 0, 0.0]]), positive=True), ax=ax)
    gap_axis(ax)
    assert ax.get_yscale() == "symlog"
    low, high = ax.get_ylim()
    at_zero, at_top = ax.transData.transform([(1, 0.0), (1, 1.0)])[:, 1]
    inside = ax.get_window_extent()
    assert low < 0 < 1 < high
    assert inside.y0 <= at_zero < at_top <= inside.y1


def test_a_run_draws_itself():
    run = tacit.learn(tacit.make("chicken"), "stage-v-cce", episodes=60, seed=0)
    assert [ax.get_ylabel() for ax in run.plot()] == ["reward", f"gap: {run.gaps.kind} bound"] or run.chosen == "last"
    given = axes_of(1)[0]
    assert run.plot(ax=given, columns=["gap_last"]) is given
    assert "exact" in given.get_ylabel()
    with pytest.raises(tacit.TacitError, match="column"):
        run.plot(columns=["nothing"])
