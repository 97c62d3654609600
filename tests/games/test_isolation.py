"""A game is its own: nobody can write to it, and what the caller does to his arrays later does not reach it."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.games import Successors


def arrays() -> dict[str, np.ndarray]:
    return {
        "transitions": np.full((1, 2, 2, 2), 0.5),
        "rewards": np.arange(4.0).reshape(1, 1, 2, 2),
        "initial": np.array([0.5, 0.5]),
    }


@pytest.mark.parametrize("name", ["transitions", "rewards", "initial"])
def test_arrays_of_a_game_are_read_only(name: str):
    game = tacit.TabularGame(**arrays(), horizon=2)
    with pytest.raises(ValueError, match="read-only"):
        getattr(game, name)[0] = 0


@pytest.mark.parametrize("name", ["transitions", "rewards", "initial"])
def test_a_later_change_by_the_caller_does_not_reach_the_game(name: str):
    given = arrays()
    game = tacit.TabularGame(**given, horizon=2)
    given[name][:] = -1
    assert (getattr(game, name) == arrays()[name]).all()


def test_the_callers_array_stays_writable():
    given = arrays()
    tacit.TabularGame(**given, horizon=2)
    assert all(array.flags.writeable for array in given.values())


def test_a_read_only_view_of_a_writable_array_does_not_leak_either():
    given = arrays()
    view = given["rewards"].view()
    view.flags.writeable = False
    game = tacit.TabularGame(given["transitions"], view, given["initial"], 2)
    given["rewards"][:] = -1
    assert (game.rewards == arrays()["rewards"]).all()


def test_successors_are_isolated_and_read_only_too():
    lists = Successors(np.arange(5), np.zeros(4, np.int32), np.ones(4))
    game = tacit.TabularGame(lists, np.zeros((1, 1, 2, 2)), [1, 0], 2)
    lists.state[:] = 1
    assert (game.successors.state == 0).all()
    assert not any(array.flags.writeable for array in game.successors)


@pytest.mark.parametrize("made", ["box-pushing", "good-state"])
def test_what_is_made_on_first_use_is_read_only(made: str):
    game = tacit.make(made)
    assert not game.transitions.flags.writeable
    assert not any(array.flags.writeable for array in game.successors)


def test_policies_are_isolated_and_read_only():
    table = np.full((1, 2, 2), 0.5)
    policy = tacit.MarkovPolicy([table])
    table[:] = -1
    assert (policy.probs[0] == 0.5).all()
    assert not policy.probs[0].flags.writeable
