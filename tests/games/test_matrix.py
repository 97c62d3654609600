"""Classics as textbooks print them, cells (row player, column player); GoodState by hand [Mao2022, tbl:2]."""

from __future__ import annotations

import numpy as np
import pytest

import tacit

TABLES = {
    "matching-pennies": [[(1, -1), (-1, 1)], [(-1, 1), (1, -1)]],
    "rock-paper-scissors": [[(0, 0), (-1, 1), (1, -1)], [(1, -1), (0, 0), (-1, 1)], [(-1, 1), (1, -1), (0, 0)]],
    "shapley": [[(1, 0), (0, 1), (0, 0)], [(0, 0), (1, 0), (0, 1)], [(0, 1), (0, 0), (1, 0)]],
    "chicken": [[(6, 6), (2, 7)], [(7, 2), (0, 0)]],
    "battle-of-the-sexes": [[(2, 1), (0, 0)], [(0, 0), (1, 2)]],
    "prisoners-dilemma": [[(3, 3), (0, 5)], [(5, 0), (1, 1)]],
    "stag-hunt": [[(4, 4), (0, 3)], [(3, 0), (3, 3)]],
    "climbing": [[(11, 11), (-30, -30), (0, 0)], [(-30, -30), (7, 7), (6, 6)], [(0, 0), (0, 0), (5, 5)]],
    "penalty": [[(10, 10), (0, 0), (-100, -100)], [(0, 0), (2, 2), (0, 0)], [(-100, -100), (0, 0), (10, 10)]],
    "matrix-team": [[(10, 10), (0, 0), (-10, -10)], [(0, 0), (2, 2), (0, 0)], [(-10, -10), (0, 0), (10, 10)]],
}


@pytest.mark.parametrize("name", TABLES)
def test_payoffs(name: str):
    game = tacit.make(name)
    assert (game.states, game.horizon) == (1, 1)
    for a, row in enumerate(TABLES[name]):
        for b, cell in enumerate(row):
            assert tuple(game.step(0, 0, (a, b), 0.0)[1]) == cell
    assert game.actions == (len(TABLES[name]), len(TABLES[name][0]))


@pytest.mark.parametrize("name", TABLES)
def test_repeated_play_adds_up(name: str):
    once, thrice = tacit.make(name), tacit.make(name, horizon=3)
    uniform = tacit.MarkovPolicy.uniform(once)
    values = tacit.evaluate(once, uniform).values
    assert tacit.evaluate(thrice, uniform).values.tolist() == pytest.approx((3 * values).tolist(), abs=1e-12)


def test_penalty_takes_its_size():
    assert tacit.make("penalty", penalty=-3).reward_range == (-3, 10)
    with pytest.raises(tacit.TacitError, match="penalty must be"):
        tacit.make("penalty", penalty=3)


def test_every_classic_of_the_registry_is_in_the_table():
    one_state = [n for n in tacit.games.REGISTRY if tacit.make(n).states == 1]
    assert set(TABLES) == set(one_state)


@pytest.mark.parametrize(
    "payoffs", [None, "abc", 5, [1, 2], [[[1, 2], [3]]], [[[1, 2], [3, 4]]], [[1, float("nan")]], [[]]], ids=str
)
def test_a_wrong_payoff_tensor_is_refused(payoffs: object):
    with pytest.raises(tacit.TacitError, match="payoffs"):
        tacit.games.matrix_game(payoffs)


def test_one_array_for_each_agent_makes_the_same_game():
    A, B, C = np.arange(24.0).reshape(3, 2, 2, 2)[[0, 1, 2]]
    several, one = tacit.matrix_game(A, B, C, horizon=2), tacit.matrix_game([A, B, C], horizon=2)
    assert several.digest == one.digest
    assert several.step(0, 0, (1, 0, 1), 0.5)[1].tolist() == [A[1, 0, 1], B[1, 0, 1], C[1, 0, 1]]
    assert tacit.matrix_game([[3, 0], [5, 1]], [[3, 5], [0, 1]]).rewards[1, 0, 0].tolist() == [[3, 5], [0, 1]]


@pytest.mark.parametrize(
    "payoffs",
    [([[1, 2]], [[1], [2]]), ([[1, 2]], "x"), ([1, 2], [3, 4]), ([[1]], [[2]], [[3]]), ([[1]], [[float("inf")]])],
    ids=str,
)
def test_arrays_that_do_not_fit_are_refused(payoffs: tuple[object, ...]):
    with pytest.raises(tacit.TacitError, match="payoffs"):
        tacit.matrix_game(*payoffs)


# REWARD[s][a][b], the same for both agents
REWARD = [[[-2, 5], [2, -2]], [[0, 0], [0, 0]]]
# TO_GOOD[a][b] = P(s0 | any state, a, b) with ε = 0.1
TO_GOOD = [[0.1, 0.9], [0.1, 0.1]]


def test_good_state_tables():
    game = tacit.make("good-state")
    assert (game.agents, game.states, game.actions, game.horizon) == (2, 2, (2, 2), 10)
    for s, a, b in np.ndindex(2, 2, 2):
        assert game.rewards[:, 0, s, a, b].tolist() == [REWARD[s][a][b]] * 2
        assert game.transitions[0, s, a, b].tolist() == pytest.approx([TO_GOOD[a][b], 1 - TO_GOOD[a][b]], abs=1e-15)
    assert game.action_names == (("a0", "a1"), ("b0", "b1"))
    assert game.state_names == ("s0", "s1")


@pytest.mark.parametrize(("start", "initial"), [("s0", [1, 0]), ("s1", [0, 1]), ("uniform", [0.5, 0.5])])
def test_good_state_start(start: str, initial: list[float]):
    assert tacit.make("good-state", start=start).initial.tolist() == initial


@pytest.mark.parametrize("slip", [0, 0.25, 1])
def test_good_state_slip(slip: float):
    game = tacit.make("good-state", slip=slip)
    assert (game.transitions[0, :, 0, 1, 0] == 1 - slip).all()
    assert (game.transitions[0, :, 1, 1, 0] == slip).all()


@pytest.mark.parametrize("wrong", [{"slip": -0.1}, {"slip": 1.1}, {"slip": "a"}, {"start": "s2"}, {"start": None}])
def test_good_state_refuses_wrong_parameters(wrong: dict[str, object]):
    with pytest.raises(tacit.TacitError, match=next(iter(wrong))):
        tacit.make("good-state", **wrong)


def test_a_number_too_large_for_a_float_is_refused():
    with pytest.raises(tacit.TacitError, match="slip"):
        tacit.make("good-state", slip=10**400)
