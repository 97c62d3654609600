"""Pictures of games, policies and play: what is drawn, on whose axes, and in which file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from scipy.optimize import linprog

import tacit
from tacit.cli.main import main
from tacit.figures import pictures
from tacit.figures.pictures import ce_vertices, plot_policy, plot_polytope, trajectory


def axes_of(count: int):
    return Figure().subplots(1, count, squeeze=False)[0]


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


def test_draw_writes_still_and_moving_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
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
    unasked = "tacit.figures.pictures.trajectory"
    monkeypatch.setattr(unasked, lambda *_, **__: pytest.fail("something learned unasked"))
    held = ["--policy", str(tmp_path / "light.npz"), "-o", str(tmp_path / "drawn.png")]
    assert main(["draw", "chicken", kind, *held]) == 0


def test_the_legend_of_a_field_names_all_that_is_drawn():
    game = tacit.make("chicken")
    path = trajectory(game, "fictitious-play", episodes=30, points=10)
    ax = pictures.plot_field(game, [path], [tacit.solve(game, "ce").policy])
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"where each gains", path.learner, "start", "end", "policy", "Nash equilibrium"} <= {*told}
    several = pictures.plot_field(game, [trajectory(game, "replicator", episodes=9, seed=k) for k in range(3)])
    assert [text.get_text() for text in several.get_legend().get_texts()].count("replicator") == 1
    assert sum(line.get_gid() == "path" for line in several.lines) == 3


def test_joint_actions_of_three_agents_are_drawn():
    joint = np.zeros((1, 1, 2, 2, 2))
    joint[..., 0, 0, 0], joint[..., 1, 1, 1] = 2 / 3, 1 / 3
    game = tacit.TabularGame(np.ones((1, 1, 2, 2, 2, 1)), np.zeros((3, 1, 1, 2, 2, 2)), 0, 1)
    (ax,) = plot_policy(tacit.MarkovPolicy(joint), game)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0, 0, 0", "1, 1, 1"]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2 / 3, 1 / 3])
    assert [text.get_text().strip() for text in ax.texts] == ["2/3", "1/3"]


def test_labels_of_the_polytope_do_not_overlap():
    ax = plot_polytope(tacit.make("chicken"))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts] + [ax.get_legend().get_window_extent()]
    assert len(boxes) == 5
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])


def test_sets_of_payoffs_hold_each_other():
    """Each border lies in the next larger set, and the best ce of chicken is the textbook's."""
    panel = pictures.plot_payoffs(tacit.make("chicken"))
    feasible, cce, ce = [patch.get_xy() for patch in panel.patches]
    for inner, outer in ((ce, cce), (cce, feasible)):
        for angle in np.linspace(0, 2 * np.pi, 36, endpoint=False):
            direction = [np.cos(angle), np.sin(angle)]
            assert (inner @ direction).max() <= (outer @ direction).max() + 1e-7
    assert ce.sum(axis=1).max() == pytest.approx(10.5)  # the best ce: (chicken, dare), (dare, chicken) and both chicken
    assert feasible.sum(axis=1).max() == pytest.approx(12)
    with pytest.raises(tacit.TacitError, match="played once"):
        pictures.plot_payoffs(tacit.make("good-state"))
