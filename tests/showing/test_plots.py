"""Plots: what is drawn where, that gaps of zero are seen, and that files are what their endings say."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from scipy.optimize import linprog

import tacit
from tacit.cli.main import main
from tacit.engine.trajectory import trajectory
from tacit.experiments import Experiment, GameSpec, LearnerSpec, Results
from tacit.figures import pictures
from tacit.figures.curves import Series, draw_series, gap_axis
from tacit.figures.pictures import ce_vertices, plot_policy, plot_polytope
from tacit.figures.style import look


@pytest.fixture(autouse=True)
def _close():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="module")
def results():
    learners = (LearnerSpec("stage-v-cce"), LearnerSpec("pg-exact", {"eta": 0.5}))
    return Experiment("x", 60, (GameSpec("prisoners-dilemma"),), learners, seeds=2).run()


def axes_of(count: int):
    return Figure().subplots(1, count, squeeze=False)[0]


def test_one_axis_holds_one_kind_of_gap(results):
    others = [one for one in results.outcomes if one.label != "stage-v-cce"]
    axes = Results([*with_source(results, "stage-v-cce", "certificate"), *others], [], False).plot()
    assert [ax.get_ylabel() for ax in axes[0]] == ["reward in an episode", "largest cce gap", "largest nash gap"]
    assert [text.get_text() for text in axes[0, 1].get_legend().get_texts()] == ["stage-v-cce (bound)"]
    assert axes[0, 2].get_legend() is None
    (below,) = axes[0, 0].figure.legends
    assert [text.get_text() for text in below.get_texts()] == ["stage-v-cce (2 seeds)", "pg-exact (2 seeds)"]


def with_source(results, label: str, source: str):
    """Return what a learner reached, as if its gap had come from this source."""
    return [
        replace(one, gap=replace(one.gap, kind="cce", source=source)) for one in results.outcomes if one.label == label
    ]


def test_exact_gaps_and_bounds_of_one_kind_share_an_axis(results):
    """Also where one seed is exact and another is not; a bound is dashed."""
    exact, bound = with_source(results, "pg-exact", "exact"), with_source(results, "stage-v-cce", "certificate")
    bound[0] = replace(bound[0], gap=replace(bound[0].gap, source="exact"))
    axes = Results([*exact, *bound], [], False).plot(size=(9, 6))
    assert [ax.get_ylabel() for ax in axes[0]] == ["reward in an episode", "largest cce gap"]
    assert [line.get_linestyle() for line in axes[0, 1].lines] == ["-", "--"]
    assert [text.get_text() for text in axes[0, 1].get_legend().get_texts()] == ["stage-v-cce (bound)"]
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


def test_axes_are_taken_and_returned(results):
    given = axes_of(3)
    drawn = results.plot(ax=given, title="mine", scale="linear", band="none")
    assert drawn[0, 1] is given[1]
    assert given[1].get_title() == "mine"
    assert given[1].get_yscale() == "linear"
    by_agent = results.plot(columns=["reward"], agents=[0, 1])
    assert len(by_agent[0, 0].lines) == 4
    with pytest.raises(tacit.TacitError, match="no column reward_7"):
        results.plot(columns=["reward"], agents=[7])
    with pytest.raises(tacit.TacitError, match=r"1 game \(prisoners-dilemma\).*3 panels \(reward, cce gap, nash gap\)"):
        results.plot(ax=axes_of(2))


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
    with pytest.raises(tacit.TacitError, match="no column"):
        run.plot(columns=["nothing"])


def test_ce_vertices_against_linear_programs():
    """The polytope's extent in random directions is that of a linear program over correlated equilibria."""
    for seed in range(3):
        payoffs = np.random.default_rng(seed).random((2, 2, 2))
        corners = ce_vertices(payoffs)
        game = tacit.matrix_game(payoffs)
        for corner in corners:
            policy = tacit.MarkovPolicy((corner / corner.sum()).reshape(1, 1, 2, 2))
            assert tacit.evaluate(game, policy, gap="ce").gap < 1e-8
        for k in range(5):
            direction = np.random.default_rng([seed, k]).normal(size=4)
            rows = []
            for i, told in ((0, 0), (0, 1), (1, 0), (1, 1)):
                gain = np.zeros((2, 2))
                for other in range(2):
                    at, to = ((told, other), (1 - told, other)) if i == 0 else ((other, told), (other, 1 - told))
                    gain[at] = payoffs[i][to] - payoffs[i][at]
                rows.append(gain.ravel())
            best = -linprog(-direction, rows, np.zeros(4), np.ones((1, 4)), [1.0]).fun
            assert (corners @ direction).max() == pytest.approx(best, abs=1e-7)


def test_trajectories_are_those_of_the_loop():
    """The end of a trajectory is the last iterate of a run with the same seed."""
    game = tacit.make("chicken")
    path = trajectory(game, "stage-v-cce", episodes=50, points=5, seed=3, iota=1.0)
    assert path.probs[0].shape == (6, 1, 1, 2)
    run = tacit.learn(game, "stage-v-cce", episodes=50, seed=3, iota=1.0)
    for i in range(2):
        np.testing.assert_array_equal(path.probs[i][-1], run.last.probs[i])
    np.testing.assert_allclose(path.probs[0].sum(axis=-1), 1)
    mean = np.mean([np.outer(*(own[k, 0, 0] for own in path.probs)) for k in range(6)], axis=0)
    np.testing.assert_allclose(path.counts, mean)


@pytest.mark.parametrize("learner", ["npg", "ucb-central"])  # exact, and of all agents at once
def test_a_trajectory_of_any_learner_with_kernels_or_gradients(learner: str):
    game = tacit.make("stag-hunt", discount=0.5)
    path = trajectory(game, learner, episodes=20, points=4)
    assert len(path.probs) == 2
    np.testing.assert_allclose(path.probs[1].sum(axis=-1), 1)
    assert path.counts.sum() == pytest.approx(1)


def test_fictitious_play_cycles_in_shapleys_game_and_settles_in_rock_paper_scissors():
    ends = {
        name: trajectory(tacit.make(name), "fictitious-play", episodes=3000, points=3000).probs[0][300:, 0, 0]
        for name in ("shapley", "rock-paper-scissors")
    }
    away = {name: np.abs(path - 1 / 3).max(axis=1) for name, path in ends.items()}
    assert away["shapley"].min() > 0.1
    assert away["rock-paper-scissors"][-1] < 0.05


def test_pictures_take_axes():
    game = tacit.make("chicken")
    path = trajectory(game, "fictitious-play", episodes=30, points=10)
    given = axes_of(1)[0]
    assert pictures.plot_field(game, [path], ax=given) is given
    policy = tacit.solve(game, "ce").policy
    assert policy.plot(ax=given)[0] is given
    with pytest.raises(tacit.TacitError, match="two actions each"):
        pictures.plot_polytope(tacit.make("shapley"))


def test_play_is_drawn_until_it_is_over(tmp_path: Path):
    """Inspected at once, and violated at once: of four periods one is played."""
    game = tacit.make("atlas/inspection-4-2")
    assert game.horizon == 4
    ends = tacit.MarkovPolicy([np.eye(2)[[[1] * game.states] * 4]] * 2)
    axes = pictures.plot_play(game, ends)
    assert [ax.get_title() for ax in axes] == ["step 0: (2, 4)"]
    with Image.open(pictures.animate_play(game, ends, tmp_path / "play.gif")) as image:
        assert image.n_frames == 1


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    moving = tmp_path / "play.gif"
    assert main(["draw", "box-pushing", "play", "--game-set", "horizon=2", "-o", str(moving)]) == 0
    with Image.open(moving) as image:
        assert image.n_frames == 2
    page = tmp_path / "cycle.html"
    assert main(["draw", "shapley", "simplex", "-o", str(page), "--frames", "2", "--episodes", "50"]) == 0
    assert "<img" in page.read_text()
    still = tmp_path / "field.png"
    assert main(["draw", "chicken", "polytope", "fictitious-play", "--episodes", "20", "-o", str(still)]) == 0
    with Image.open(still) as image:
        assert image.width > 100
    assert str(still) in capsys.readouterr().out
    assert main(["draw", "shapley", "field", "-o", str(still)]) == 2
    told = capsys.readouterr().err
    assert "two actions each" in told
    assert "simplex (mixtures of three actions)" in told


@pytest.mark.parametrize("kind", ["field", "polytope"])
def test_a_policy_is_drawn_without_learning(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tacit.solve(tacit.make("chicken"), "ce").policy.save(tmp_path / "light.npz")
    unasked = "tacit.engine.trajectory.trajectory"
    monkeypatch.setattr(unasked, lambda *_, **__: pytest.fail("something learned unasked"))
    held = ["--policy", str(tmp_path / "light.npz"), "-o", str(tmp_path / "drawn.png")]
    assert main(["draw", "chicken", kind, *held]) == 0


def test_the_legend_of_a_field_names_all_that_is_drawn():
    game = tacit.make("chicken")
    path = trajectory(game, "fictitious-play", episodes=30, points=10)
    ax = pictures.plot_field(game, [path], [tacit.solve(game, "ce").policy])
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    own = {f"{path.learner}: path", f"{path.learner}: end"}
    assert {"where each gains", *own, "policy", "nash equilibrium"} <= {*told}


def test_learners_look_different():
    looks = [tuple(look(k).values()) for k in range(20)]
    assert len(set(looks)) == 20
    assert len({color for color, _ in looks[:14]}) == 14


def test_joint_actions_of_three_agents_are_drawn():
    joint = np.zeros((1, 1, 2, 2, 2))
    joint[..., 0, 0, 0], joint[..., 1, 1, 1] = 2 / 3, 1 / 3
    game = tacit.TabularGame(np.ones((1, 1, 2, 2, 2, 1)), np.zeros((3, 1, 1, 2, 2, 2)), 0, 1)
    (ax,) = plot_policy(tacit.MarkovPolicy(joint), game)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0, 0, 0", "1, 1, 1"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2 / 3, 1 / 3])
    assert [text.get_text().strip() for text in ax.texts] == ["2/3", "1/3"]


def test_labels_of_the_polytope_are_clear_of_each_other_and_of_the_legend():
    ax = plot_polytope(tacit.make("chicken"))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts] + [ax.get_legend().get_window_extent()]
    assert len(boxes) == 5
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])
