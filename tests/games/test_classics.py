"""The classics pay what the textbooks print: cells are (row player, column player)."""

from __future__ import annotations

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
    with pytest.raises(tacit.TacitError, match="penalty is 3"):
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
