"""GoodState against the tables of the paper, written out by hand. [Mao2022, tbl:2]"""

from __future__ import annotations

import numpy as np
import pytest

import tacit

# REWARD[s][a][b], the same for both agents
REWARD = [[[-2, 5], [2, -2]], [[0, 0], [0, 0]]]
# TO_GOOD[a][b] = P(s0 | any state, a, b) with ε = 0.1
TO_GOOD = [[0.1, 0.9], [0.1, 0.1]]


def test_tables():
    game = tacit.make("good-state")
    assert (game.agents, game.states, game.actions, game.horizon) == (2, 2, (2, 2), 10)
    for s, a, b in np.ndindex(2, 2, 2):
        assert game.rewards[:, 0, s, a, b].tolist() == [REWARD[s][a][b]] * 2
        assert game.transitions[0, s, a, b].tolist() == pytest.approx([TO_GOOD[a][b], 1 - TO_GOOD[a][b]], abs=1e-15)
    assert game.action_names == (("a0", "a1"), ("b0", "b1"))
    assert game.state_names == ("s0", "s1")


@pytest.mark.parametrize(("start", "initial"), [("s0", [1, 0]), ("s1", [0, 1]), ("uniform", [0.5, 0.5])])
def test_start(start: str, initial: list[float]):
    assert tacit.make("good-state", start=start).initial.tolist() == initial


@pytest.mark.parametrize("slip", [0, 0.25, 1])
def test_slip(slip: float):
    game = tacit.make("good-state", slip=slip)
    assert (game.transitions[0, :, 0, 1, 0] == 1 - slip).all()
    assert (game.transitions[0, :, 1, 1, 0] == slip).all()


@pytest.mark.parametrize("wrong", [{"slip": -0.1}, {"slip": 1.1}, {"slip": "a"}, {"start": "s2"}, {"start": None}])
def test_wrong_parameters_are_named(wrong: dict[str, object]):
    with pytest.raises(tacit.TacitError, match=next(iter(wrong))):
        tacit.make("good-state", **wrong)


def test_a_number_too_large_for_a_float_is_refused():
    with pytest.raises(tacit.TacitError, match="slip"):
        tacit.make("good-state", slip=10**400)
