"""The figure of what agents reach with what they see: medians over seeds, gaps above and welfare below."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_lines_are_medians_and_a_constant_sum_has_no_welfare(monkeypatch: pytest.MonkeyPatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.syspath_prepend(BENCHMARKS)
    script = runpy.run_path(str(BENCHMARKS / "information.py"))
    rows = [
        {"game": game, "learner": learner, "episodes": K, "gap": K / 10 + seed**2, "welfare": welfare}
        for game, welfare in (("one", 50.0), ("two", None))
        for learner in ("published", "central")
        for K in (10, 100)
        for seed in range(3)
    ]
    figure, axes = pyplot.subplots(2, 2)
    lines = script["draw_information"](rows, axes)
    assert [line.get_label() for line in lines] == ["published", "central"]
    assert lines[1].get_color() == script["LOOKS"]["central"]["color"]
    np.testing.assert_allclose(lines[0].get_ydata(), [2, 11])
    assert [len(ax.lines) for ax in axes.flat] == [2, 2, 2, 0]
    pyplot.close(figure)
