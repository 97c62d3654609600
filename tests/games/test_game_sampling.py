"""Draws follow the probabilities and never reach a next state of probability zero."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import tacit

BELOW_ONE = np.nextafter(1.0, 0.0)
ROW = np.array([0.0, 0.1, 0.0, 0.6, 0.0, 0.3, 0.0])


def lottery(row: np.ndarray) -> tacit.TabularGame:
    """One agent, one action: every state leads on by the same row, which is also the first distribution."""
    S = len(row)
    return tacit.TabularGame(np.tile(row, (1, S, 1, 1)), np.zeros((1, 1, S, 1)), row, 2)


@pytest.mark.parametrize("u", [0.0, np.nextafter(0.0, 1.0), 0.1, 0.5, 0.7, BELOW_ONE, *np.linspace(0, BELOW_ONE, 500)])
def test_only_states_of_positive_probability_are_drawn(u: float):
    game = lottery(ROW)
    assert ROW[game.start(u)] > 0
    assert ROW[game.step(0, 0, [0], u)[0]] > 0


def test_the_ends_of_the_unit_interval_give_the_first_and_last_possible_state():
    game = lottery(ROW)
    assert (game.start(0.0), game.start(BELOW_ONE)) == (1, 5)
    assert (game.step(1, 6, [0], 0.0)[0], game.step(1, 6, [0], BELOW_ONE)[0]) == (1, 5)


def test_each_interval_has_the_length_of_its_probability():
    game = lottery(ROW)
    assert [game.start(u) for u in (0.0999, 0.1001, 0.6999, 0.7001)] == [1, 3, 3, 5]


def test_a_row_that_sums_to_slightly_less_than_one_still_draws_its_last_state():
    row = np.array([0.5, 0.5 - 9e-10, 0.0])
    assert lottery(row).start(BELOW_ONE) == 1


def test_many_equal_probabilities_do_not_drift():
    S = 1000
    game = lottery(np.full(S, 1 / S))
    assert [game.start((k + 0.5) / S) for k in range(S)] == list(range(S))


@pytest.mark.parametrize("seed", [1, 2])
def test_frequencies_follow_the_probabilities(seed: int):
    """Chi-square at level 1e-6 for each of four fixed-seed samples: a correct sampler fails with chance 4e-6 in all."""
    game = lottery(ROW)
    draws = np.random.default_rng(seed).random((2, 20_000))
    support = np.flatnonzero(ROW)
    for drawn in ([game.start(u) for u in draws[0]], [game.step(0, 2, [0], u)[0] for u in draws[1]]):
        counts = np.bincount(drawn, minlength=len(ROW))
        assert counts[ROW == 0].sum() == 0
        assert stats.chisquare(counts[support], 20_000 * ROW[support]).pvalue > 1e-6


def test_each_step_state_and_joint_action_uses_its_own_row():
    game = tacit.make("random-general-sum", agents=2, actions=(2, 3), states=3, horizon=2, seed=5)
    for h, s, a, b in np.ndindex(2, 3, 2, 3):
        edges = np.cumsum(game.transitions[h, s, a, b])
        for u in np.linspace(0.01, 0.99, 37):
            assert game.step(h, s, (a, b), u)[0] == np.searchsorted(edges, u, side="right")


@pytest.mark.parametrize("u", [-0.1, 1.0, 1.5, np.nan, None, "0.5"])
def test_a_number_outside_the_unit_interval_is_refused(u: object):
    game = lottery(ROW)
    with pytest.raises(tacit.TacitError):
        game.start(u)
    with pytest.raises(tacit.TacitError):
        game.step(0, 0, [0], u)
