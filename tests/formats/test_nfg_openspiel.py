"""Strategic games to OpenSpiel's own reader of .nfg, and back from its writer."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest
from format_samples import PAYOFF_FORM, wide_game, write

from tacit.games import gambit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel has no wheel for this Python")


def payoffs_of(game: object, actions: tuple[int, ...]) -> np.ndarray:
    """Play every profile once."""
    found = np.zeros((len(actions), *actions))
    for profile in itertools.product(*(range(a) for a in actions)):
        state = game.new_initial_state()
        state.apply_actions(list(profile))
        found[(slice(None), *profile)] = state.returns()
    return found


@pytest.mark.parametrize("actions", [(2, 2), (3, 2), (1, 4), (2, 3, 4), (2, 2, 2, 2)])
@pytest.mark.parametrize("name", [None, "a name", 'with "quotes" and \\'])
def test_there_and_back(tmp_path: Path, actions: tuple[int, ...], name: str | None):
    game = wide_game(actions, name)
    path = tmp_path / "game.nfg"
    gambit.save(game, path)
    theirs = pyspiel.load_game("nfg_game", {"filename": str(path)})
    assert np.array_equal(payoffs_of(theirs, actions), game.rewards[:, 0, 0])
    back = gambit.load(write(tmp_path, pyspiel.game_to_nfg_string(theirs), "theirs.nfg"))
    assert back.rewards == pytest.approx(game.rewards, rel=1e-5)  # it writes six digits


@pytest.mark.parametrize("name", ["matrix_pd", "matrix_rps", "matrix_shapleys_game"])
def test_games_of_theirs(tmp_path: Path, name: str):
    theirs = pyspiel.load_matrix_game(name)
    ours = gambit.load(write(tmp_path, pyspiel.game_to_nfg_string(theirs), "theirs.nfg"))
    assert np.array_equal(ours.rewards[:, 0, 0], payoffs_of(theirs, ours.actions))


def test_the_same_file(tmp_path: Path):
    path = write(tmp_path, PAYOFF_FORM, "game.nfg")
    theirs = pyspiel.load_game("nfg_game", {"filename": str(path)})
    assert np.array_equal(gambit.load(path).rewards[:, 0, 0], payoffs_of(theirs, (2, 3)))
