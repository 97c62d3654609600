"""Successor lists from dense arrays and from entries in any order."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.games import Successors


def made(first: object, state: object) -> tacit.TabularGame:
    lists = Successors(np.asarray(first), np.asarray(state), np.ones(4))
    return tacit.TabularGame(lists, np.zeros((2, 1, 1, 2, 2)), [1.0], 2)


def test_right_ones_in_any_type():
    for kind in (np.int64, np.uint64, np.float64, np.int16):
        assert made(np.arange(5, dtype=kind), np.zeros(4, dtype=kind)).successors.state.tolist() == [0] * 4


@pytest.mark.parametrize("wrong", [2**32, 2**63 + 5, 2**31, 1, 0.5, np.nan, -1.0, 1e300], ids=str)
def test_a_state_that_is_not_there(wrong: float):
    with pytest.raises(tacit.TacitError, match=r"transitions.*(state|next)"):
        made(np.arange(5), np.array([0, 0, 0, wrong]))


@pytest.mark.parametrize("wrong", [1.9, np.nan, 2**40], ids=str)
def test_a_row_that_begins_nowhere(wrong: float):
    with pytest.raises(tacit.TacitError, match=r"transitions\.first"):
        made(np.array([0, wrong, 2, 3, 4]), np.zeros(4, dtype=int))
