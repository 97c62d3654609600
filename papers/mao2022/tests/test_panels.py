"""The paper's panels: what is shown, and what legends and titles say of it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from synthetic import outcome, task

import page as figures
from tacit.experiments import Outcome
from tacit.experiments.results import GapOutcome

GROUPS = {
    "V-Learning": ["step 1/20, bonus 0.02", "step 1/20, bonus 1"],
    "V-Learning with the theory's step": ["bonus 0.02"],
    "PG": ["exploration 0.05"],
    "Centralized": ["bonus 0.02"],
    "Independent, caption": ["zero start", "optimistic start"],
    "Independent, appendix": ["bonus 0.1", "bonus 1", "bonus 0"],
}


def variants(source: str) -> dict[str, dict[str, list[Outcome]]]:
    curve = {"episode": [100_000 * k for k in range(1, 21)], "reward": [1.0] * 20, "gap": [2.0] * 20}
    run = outcome(curve, gap=GapOutcome("cce", source, [2.0]))
    return {group: {setting: [run, run] for setting in settings} for group, settings in GROUPS.items()}


def legend(figure: Figure) -> list[str]:
    found = figure.legends[0] if figure.legends else figure.axes[0].get_legend()
    return [text.get_text() for text in found.get_texts()]


@pytest.mark.parametrize(("source", "panels"), [("certificate", 2), ("exact", 2), ("estimate", 1), ("model-free", 1)])
def test_estimates_are_not_drawn_as_gaps(source: str, panels: int):
    assert len(figures.task_figure(variants(source), task()).axes) == panels


def test_legends_name_the_settings():
    """The first of each group, and two of each reading of Independent."""
    assert legend(figures.task_figure(variants("exact"), task())) == [
        "V-Learning: step 1/20, bonus 0.02",
        "V-Learning with the theory's step: bonus 0.02",
        "PG: exploration 0.05",
        "Centralized: bonus 0.02",
        "Independent, caption: zero start",
        "Independent, caption: optimistic start",
        "Independent, appendix: bonus 0.1",
        "Independent, appendix: bonus 1",
        "exact optimum 10",
    ]


@pytest.mark.parametrize("source", ["exact", "estimate"])
def test_tick_labels_are_short_and_do_not_overlap(source: str):
    """2M instead of 2000000."""
    figure = figures.task_figure(variants(source), task())
    FigureCanvasAgg(figure).draw()
    for ax in figure.axes:
        shown = [label for label in ax.get_xticklabels() if label.get_text()]
        assert {label.get_text()[-1] for label in shown[2:-1]} <= {"k", "M"}
        boxes = [label.get_window_extent() for label in shown]
        assert len(boxes) > 3
        assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


def test_the_team_says_what_its_average_is_over():
    columns = ("l2_gap", "average_l2_gap", "value", "average_value")
    curve = {name: [1.0, 2.0] for name in columns}
    for counts, words in (([10, 20], "Average of all iterates"), ([1, 2], "Average of the points of the curve")):
        figure = figures.team_figure({"PG": {"step 1e-4": [outcome({**curve, "averaged": counts})]}})
        assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["Last iterate", words]
        assert figure.axes[0].get_title() == "PG: step 1e-4"
