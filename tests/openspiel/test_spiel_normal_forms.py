"""Payoffs of normal forms and repeated games against what OpenSpiel's own tables say."""

from __future__ import annotations

import numpy as np
import pytest
from spiel import egt, pyspiel

import tacit
from tacit.games.openspiel import from_openspiel

ONE_SHOT = [
    kind.short_name
    for kind in pyspiel.registered_games()
    if kind.information == pyspiel.GameType.Information.ONE_SHOT and kind.default_loadable
]


@pytest.mark.parametrize("text", [*ONE_SHOT, "blotto(players=3,coins=4)", "blotto(coins=5,fields=2)"])
def test_payoffs(text: str):
    ours = from_openspiel(text)
    assert ours.horizon == ours.states == 1
    np.testing.assert_array_equal(ours.rewards[:, 0, 0], egt.game_payoffs_array(pyspiel.load_game(text)))


def test_three_players_from_a_tensor():
    payoffs = np.random.default_rng(3).normal(size=(3, 2, 3, 4))
    names = [[f"{i}:{a}" for a in range(size)] for i, size in enumerate((2, 3, 4))]
    source = pyspiel.create_tensor_game("short", "long", names, [payoff.ravel().tolist() for payoff in payoffs])
    ours = from_openspiel(source, horizon=5)
    np.testing.assert_array_equal(ours.rewards[:, 0, 0], payoffs)
    assert (ours.horizon, ours.action_names) == (5, tuple(tuple(own) for own in names))


@pytest.mark.parametrize(("horizon", "rounds"), [(None, 4), (2, 2), (9, 9)])
def test_repeated(horizon: int | None, rounds: int):
    payoffs = np.random.default_rng(4).normal(size=(2, 2, 3))
    stage = pyspiel.create_matrix_game(*payoffs.tolist())
    ours = from_openspiel(pyspiel.create_repeated_game(stage, {"num_repetitions": 4}), horizon=horizon)
    np.testing.assert_array_equal(ours.rewards[:, 0, 0], payoffs)
    assert (ours.horizon, ours.states) == (rounds, 1)


def test_equal_names_are_numbered():
    stage = pyspiel.create_matrix_game("m", "m", ["go", "go"], ["go"], [[1.0], [2.0]], [[0.0], [0.0]])
    assert from_openspiel(stage).action_names == (("go", "go (2)"), ("go",))


def test_poker_as_a_normal_form():
    """OpenSpiel turns Kuhn poker into 27×64 pure strategies; its value is known to be −1/18."""
    game = from_openspiel(pyspiel.extensive_to_matrix_game(pyspiel.load_game("kuhn_poker")))
    assert tacit.solve(game, "nash").values == pytest.approx([-1 / 18, 1 / 18], abs=1e-9)


def test_too_many_joint_actions():
    with pytest.raises(tacit.TacitError, match=r"blotto\(\) has 4,356 joint actions; give a larger limit than 4,000"):
        from_openspiel("blotto", limit=4000)
