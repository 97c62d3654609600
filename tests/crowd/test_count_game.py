"""Counting games as users write them: arrays and functions, wrong ones, copies, and the games of the registry."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from random_counts import FORMS, Tables

import tacit


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("way", ["arrays", "points"])
def test_functions_and_arrays_are_the_same_game(form: str, way: str):
    tables = Tables(form, horizon=2)
    number = {counts: k for k, counts in enumerate(tables.counts)}

    def place(counts: Any) -> Any:
        if way == "points":
            return number[tuple(int(c) for c in counts)]  # not for arrays of counts
        flat = np.asarray(counts).reshape(tables.A, -1)
        found = np.array([number[tuple(column)] for column in flat.T.tolist()])
        return found if np.ndim(counts) > 1 else found[0]

    def reward(h: int, s: int, a: int, n: Any) -> Any:
        if way == "points" and tables.load and n > 10**6:
            return None
        return tables.R[h, s, a, n if tables.load else place(n)]

    def move(h: int, s: int, x: Any) -> Any:
        return np.moveaxis(tables.P[0, s, x if tables.scores is not None else place(x)], -1, 0)

    sizes: dict[str, Any] = {"agents": tables.N, "actions": tables.A, "load": tables.load, "scores": tables.scores}
    made = tacit.CountGame(reward, move, tables.rho, tables.H, weights=tables.w, **sizes)
    assert made.digest == tables.game().digest or made.scores is not None
    policy = tacit.MarkovPolicy.random(made, seed=1)
    np.testing.assert_array_equal(tacit.evaluate(made, policy).gaps, tacit.evaluate(tables.game(), policy).gaps)


def test_code_for_one_point_that_accepts_arrays_is_not_taken_at_its_word():
    """`counts.max()` of all vectors at once is the number of agents everywhere."""
    game = tacit.CountGame(
        lambda h, s, a, counts: counts.max() + 0 * counts[0],
        lambda h, s, counts: 0,
        [1.0],
        1,
        agents=3,
        actions=2,
    )
    assert [game.reward(0, 0, 0, counts) for counts in ([1, 2], [2, 1], [3, 0])] == [2, 2, 3]


def test_copies_and_digests():
    game = tacit.make("congestion", agents=5)
    same = pickle.loads(pickle.dumps(game))
    assert same.digest == game.digest != tacit.make("congestion", agents=5, damage=0.4).digest
    policy = tacit.MarkovPolicy.random(game, seed=0)
    assert (tacit.evaluate(same, policy).gaps == tacit.evaluate(game, policy).gaps).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rewards": np.zeros((1, 1, 2, 3))}, r"rewards has shape \(1, 1, 2, 3\); it must be \[1 or 2, 1, 2, 4\]"),
        ({"transitions": np.ones((1, 1, 3, 1))}, r"transitions has shape .* N·max\(scores\)"),
        ({"transitions": lambda h, s, x: [0.5]}, r"transitions\[h=0, s=0, total=0\] sums to 0.5"),
        ({"transitions": lambda h, s, x: 1}, r"transitions\(0, 0, 0\) returned 1"),
        ({"rewards": lambda h, s, a, n: "x"}, r"rewards\(0, 0, 0, 1\) returned 'x'; it must be a number"),
        ({"rewards": lambda h, s, a, n: {}[int(n)]}, r"rewards\(0, 0, 0, 1\) raised KeyError"),
        ({"rewards": lambda h, s, a, n: np.nan * n}, "rewards.* is nan"),
        ({"scores": (0,)}, "scores is"),
        ({"scores": (0, -1)}, r"scores\[1\] is -1"),
        ({"weights": [1.0]}, "weights has shape"),
        ({"agents": 0}, "agents is 0"),
        ({"actions": 1.5}, "actions is 1.5"),
        ({"initial": [0.5]}, "initial sums to 0.5"),
        ({"load": 1}, "load is 1"),
    ],
)
def test_wrong_games_are_told(wrong: dict[str, Any], message: str):
    right: dict[str, Any] = {
        "rewards": np.zeros((1, 1, 2, 4)),
        "transitions": np.ones((1, 1, 4, 1)),
        "initial": [1.0],
        "horizon": 2,
        "agents": 3,
        "actions": 2,
        "load": True,
        "scores": (0, 1),
    }
    tacit.CountGame(**right)
    with pytest.raises(tacit.TacitError, match=message):
        tacit.CountGame(**{**right, **wrong})


def test_too_many_counts_are_refused_by_size():
    with pytest.raises(tacit.TacitError, match="counts of 1000 agents and 5 actions would take"):
        tacit.CountGame(lambda h, s, a, c: 0.0, lambda h, s, c: 0, [1.0], 1, agents=1000, actions=5)


def test_distancing_is_the_same_bit_for_bit():
    tables, counts = tacit.make("distancing"), tacit.make("distancing", form="counts")
    written = counts.tabular()
    assert (written.rewards == tables.rewards).all()
    assert (written.transitions == tables.transitions).all()
    assert isinstance(tacit.make("distancing", agents=16), tacit.CountGame)
    policy = tacit.MarkovPolicy.random(tables, seed=0)
    one, other = tacit.evaluate(counts, policy), tacit.evaluate(tables, policy)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-13)
    np.testing.assert_allclose(one.gaps, other.gaps, rtol=1e-12)


def test_congestion_by_its_rules():
    game = tacit.make("congestion", agents=4, links=3, damage=0.5, wear=0.8, repair=0.6)
    joint, x = (0, 0, 1, 2), 0.5
    for s in range(3):
        s_next, rewards = game.step(0, s, joint, 0.0)
        assert rewards.tolist() == pytest.approx([-(1 + 0.5 * s) * x] * 2 + [-(0.25 + 0.25), -(0.5 + 0.25)])
    better = 0.6 * 0.5 * (1 - 0.8 * x)
    assert game.next_state(0, 1, [2, 1, 1]).tolist() == pytest.approx([better, 1 - better - 0.4, 0.4])
    assert game.next_state(0, 0, [4, 0, 0]).tolist() == pytest.approx([0.2, 0.8, 0])
    assert game.initial.tolist() == [1, 0, 0]
    assert s_next in (0, 1, 2)


def test_spectrum_by_its_rules():
    game = tacit.make("spectrum", agents=8, channels=4, occupied=0.2, move=0.3)
    _, rewards = game.step(0, 1, (0, 0, 0, 1, 1, 2, 3, 3), 0.5)
    assert rewards.tolist() == pytest.approx([0.25] * 3 + [0.2 * 0.5] * 2 + [1.0] + [0.5] * 2)
    assert game.next_state(0, 1, [3, 2, 1, 2]).tolist() == pytest.approx([0.1, 0.7, 0.1, 0.1])


def test_minority_by_its_rules():
    game = tacit.make("minority", agents=5, room=[0.6, 0.4], change=0.8)
    assert game.step(0, 0, (1, 1, 1, 0, 0), 0.5)[1].tolist() == [1, 1, 1, 0, 0]
    assert game.step(0, 1, (1, 1, 1, 0, 0), 0.5)[1].tolist() == [-1, -1, -1, 0, 0]
    assert game.next_state(0, 0, [1, 4]).tolist() == pytest.approx([0.2, 0.8])
    assert game.next_state(0, 1, [3, 2]).tolist() == pytest.approx([0.8, 0.2])
    assert game.next_state(0, 1, [2, 3]).tolist() == pytest.approx([0, 1])
