"""Constructions that used to end in an error of NumPy's or Python's."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import tacit
from tacit.core import memory


def test_deterministic_policies(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(tacit.TacitError, match=r"choices\[0\]"):
        tacit.MarkovPolicy.deterministic([np.zeros((0, 0), int)], [2])
    wide = tacit.MarkovPolicy.deterministic([np.array([[7]])], [100_000])  # not a hundred thousand times that
    assert wide.probs[0].sum() == wide.probs[0][0, 0, 7] == 1.0
    monkeypatch.setattr(memory, "available", lambda: 1_000_000)
    with pytest.raises(tacit.TacitError, match="the policy would take"):
        tacit.MarkovPolicy.deterministic([np.zeros((1, 1), int)], [10**6])


@pytest.mark.parametrize(
    ("probs", "agent", "correlated", "said"),
    [
        ("x", 0, False, "probs"),
        ([[0.5, 0.5]], 0, False, "shape"),
        ([[[0.5, 0.6]]], 0, False, "sum"),
        ([[[1.0]]], -1, False, "agent"),
        (np.full((1, 1, 2, 2), 0.25), 2, True, "agent"),
        ([[[1.0]]], 0, "yes", "correlated"),
    ],
)
def test_a_part_of_nonsense_is_refused(probs: object, agent: int, correlated: bool, said: str):
    with pytest.raises(tacit.TacitError, match=said):
        tacit.policies.MarkovPart(probs, agent, correlated=correlated)


@pytest.mark.parametrize("what", ["notes", "state_names"])
def test_names_of_games(what: str):
    with pytest.raises(tacit.TacitError, match=f"{what} must be"):
        tacit.TabularGame(np.ones((1, 1, 1, 1)), [[[[0]]]], [1], 1, **{what: 5})


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))], ids=["deep", "pickle"]
)
def test_copies_of_a_game_that_was_used_cannot_be_written_to(copied):
    game = tacit.make("good-state")
    tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))
    for matrix in copied(game)._step_matrices:
        assert not matrix.flags.writeable
