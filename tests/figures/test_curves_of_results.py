"""Curves of several learners: one kind of gap an axis, one colour a learner, and legends that fit."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from matplotlib.figure import Figure

import tacit
from tacit.experiments import Experiment, GameSpec, LearnerSpec, Results
from tacit.figures.curves import gap_axis


@pytest.fixture(scope="module")
def results():
    learners = (LearnerSpec("stage-v-cce"), LearnerSpec("pg-exact", {"eta": 0.5}))
    return Experiment("x", 60, (GameSpec("prisoners-dilemma"),), learners, seeds=2).run()


def axes_of(count: int):
    return Figure().subplots(1, count, squeeze=False)[0]


def test_one_axis_holds_the_same_quantity(results):
    others = [one for one in results.outcomes if one.label != "stage-v-cce"]
    axes = Results([*with_source(results, "stage-v-cce", "certificate"), *others], [], False).plot()
    assert [ax.get_ylabel() for ax in axes[0]] == [
        "reward in an episode",
        "largest cce gap",  # of a product policy, the nash gap
    ]
    assert axes[0, 1].get_legend() is None
    (below,) = axes[0, 0].figure.legends
    assert [text.get_text() for text in below.get_texts()] == ["stage-v-cce", "pg-exact", "bound"]
    assert len({ax.get_xscale() for ax in axes[0]}) == 1


def with_source(results, label: str, source: str):
    """Return what a learner reached, as if its gap had come from this source."""
    return [
        replace(one, gap=replace(one.gap, kind="cce", source=source)) for one in results.outcomes if one.label == label
    ]


def test_exact_gaps_and_bounds_of_a_kind_share_an_axis(results):
    """Also where one seed is exact and another is not; a bound is dashed."""
    exact, bound = with_source(results, "pg-exact", "exact"), with_source(results, "stage-v-cce", "certificate")
    bound[0] = replace(bound[0], gap=replace(bound[0].gap, source="exact"))
    axes = Results([*exact, *bound], [], False).plot(size=(9, 6))
    assert [ax.get_ylabel() for ax in axes[0]] == ["reward in an episode", "largest cce gap"]
    assert [line.get_linestyle() for line in axes[0, 1].lines] == ["-", "--"]
    assert "bound" in [text.get_text() for text in axes[0, 0].figure.legends[0].get_texts()]
    assert not any("measured" in text.get_text() for text in axes[0, 1].texts)


def test_legends_do_not_push_axes_apart(results):
    """Axes and their titles do not overlap, and take most of the figure."""
    games = ("prisoners-dilemma", "another game of a rather long name", "a third")
    every = [
        replace(one, spec=replace(one.spec, game=GameSpec(game), tables=game))
        for game in games
        for label, source in (("pg-exact", "exact"), ("stage-v-cce", "certificate"))
        for one in with_source(results, label, source)
    ]
    axes = Results(every, [], False).plot(size=(9, 9))
    figure = axes[0, 0].figure
    figure.canvas.draw()
    boxes = [ax.get_tightbbox() for ax in axes.flat]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert sum(ax.get_position().width for ax in axes[0]) > 0.75
    for ax in axes.flat:
        ticks = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
        assert not any(one.overlaps(other) for one, other in pairwise(ticks))


def test_axes_are_taken_and_returned(results):
    given = axes_of(2)
    drawn = results.plot(ax=given, title="mine", scale="linear", band="none")
    assert drawn[0, 1] is given[1]
    assert given[1].get_title() == "mine"
    assert given[1].get_yscale() == "linear"
    by_agent = results.plot(columns=["reward"], agents=[0, 1])
    assert len(by_agent[0, 0].lines) == 4
    with pytest.raises(tacit.TacitError, match="reward_7"):
        results.plot(columns=["reward"], agents=[7])
    with pytest.raises(tacit.TacitError, match=r"1 game \(prisoners-dilemma\).*2 panels \(reward, cce gap\)"):
        results.plot(ax=axes_of(3))


def test_a_figure_for_a_paper_has_a_columns_width_and_embeds_fonts(results, tmp_path):
    figure = results.plot(style="paper")[0, 0].figure
    assert figure.get_figwidth() == pytest.approx(3.35)
    figure.savefig(tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert b"/Type3" not in content
    assert b"/FontFile2" in content
    assert results.plot(size=(7, 3))[0, 0].figure.get_figwidth() == 7
    small = results.plot(style="paper", size=(3.35, 2.4))
    small[0, 0].figure.canvas.draw()
    one, other = (ax.get_tightbbox() for ax in small[0])
    assert not one.overlaps(other)


@pytest.mark.parametrize(("low", "high"), [(1e-9, 10.0), (0.011, 0.09), (1e-3, 1.2), (1.0, 3.0)])
def test_a_log_axis_has_at_most_four_ticks(low: float, high: float):
    for least in (low, 0.0):
        ax = Figure().subplots()
        ax.plot([1, 2, 30], [high, low, least])
        gap_axis(ax)
        inside = [tick for tick in ax.get_yticks() if ax.get_ylim()[0] <= tick <= ax.get_ylim()[1]]
        assert 1 <= len(inside) <= 4
