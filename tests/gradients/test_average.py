""" "Average": a policy drawn evenly from the iterates 1 to t. [Mao2022, app:simulations]"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.engine import Advanced, Event
from tacit.engine.checkpoint import Checkpoint
from tacit.evaluation import evaluate_iterates, l2_gap

COLUMNS = ("value", "gap", "l2_gap")


def curve(game: tacit.TabularGame, learner: str, points: int, **options: object) -> np.ndarray:
    given = {"episodes": 240, "seed": 3, "points": points, "eta": 1e-2, **options}
    return tacit.learn(game, learner, **given).curve


@pytest.mark.parametrize("learner", ["pg-storm", "pg-sgd", "pg-exact", "npg"])
def test_small_games_average_all_iterates(learner: str):
    """With a point for each episode the curve holds every iterate but the first, which is uniform play."""
    game = tacit.make("matrix-team")
    every, few = curve(game, learner, 240), curve(game, learner, 7)
    start = tacit.MarkovPolicy.uniform(game)
    found = tacit.evaluate(game, start)
    first = {"value": found.values[0], "gap": found.gap, "l2_gap": l2_gap(game, start)}
    assert few["averaged"].tolist() == few["episode"].tolist()
    for name in COLUMNS:
        iterates = np.concatenate([[first[name]], every[name][:-1]])
        assert np.ptp(iterates) > 1e-3
        means = np.cumsum(iterates) / np.arange(1, len(every) + 1)
        np.testing.assert_allclose(few[f"average_{name}"], means[few["episode"] - 1], rtol=1e-12)


def test_larger_games_average_the_points_of_the_curve_and_say_so():
    game = tacit.make("good-state", horizon=10)  # 80 numbers, above the limit of 64
    found = curve(game, "pg-storm", 8, eta=1e-4)
    assert found["averaged"].tolist() == list(range(1, 9))
    for name in COLUMNS:
        np.testing.assert_allclose(found[f"average_{name}"], np.cumsum(found[name]) / np.arange(1, 9), rtol=1e-12)


def test_the_average_never_changes_a_draw():
    game = tacit.make("matrix-team")
    watched, unwatched = (
        tacit.learn(game, "pg-storm", episodes=500, seed=1, eta=1e-2, certify=certify) for certify in (True, False)
    )
    for one, other in zip(watched.last.probs, unwatched.last.probs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_resumed_run_has_the_same_average(tmp_path: Path):
    """Interrupted in the middle of a window and resumed, bit for bit."""
    game = tacit.make("matrix-team")
    options = {"episodes": 60_000, "seed": 2, "eta": 1e-3, "points": 3}  # a window is more than one chunk
    whole = tacit.learn(game, "pg-storm", **options).curve

    class Stop(Exception):
        pass

    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done > 30_000:
            raise Stop

    there = Checkpoint(tmp_path / "c.npz", key="k", every=0.0)
    with pytest.raises(Stop):
        tacit.learn(game, "pg-storm", checkpoint=there, progress=stop, **options)
    resumed = Checkpoint(tmp_path / "c.npz", key="k")
    again = tacit.learn(game, "pg-storm", checkpoint=resumed, **options).curve
    assert resumed.resumed > 0
    np.testing.assert_array_equal(whole, again)


@pytest.mark.parametrize(
    ("name", "actions"), [("random-general-sum", [2, 3, 2]), ("random-team", [2, 3, 2]), ("random-general-sum", [3])]
)
def test_many_policies_at_once_are_what_they_are_one_by_one(name: str, actions: list[int]):
    """Against `evaluate` and `l2_gap`, for agents with different numbers of actions, and for one that is alone."""
    game = tacit.make(name, agents=len(actions), actions=actions, states=4, horizon=3, seed=5)
    rng = np.random.default_rng(0)
    table = np.zeros((6, len(actions), 3, 4, 3))
    for i, size in enumerate(game.actions):
        table[:, i, :, :, :size] = rng.dirichlet(np.ones(size), (6, 3, 4))
        table[0, i] = np.eye(3)[0]  # a deterministic one among them
    found = evaluate_iterates(game, table)
    for k, one in enumerate(table):
        policy = tacit.MarkovPolicy([one[i, :, :, :size] for i, size in enumerate(game.actions)])
        exact = tacit.evaluate(game, policy)
        np.testing.assert_allclose(found.values[k], exact.values, rtol=1e-12)
        np.testing.assert_allclose(found.gaps[k], exact.gaps, rtol=1e-9, atol=1e-12)
        assert found.l2_gaps[k] == pytest.approx(l2_gap(game, policy), rel=1e-12)
