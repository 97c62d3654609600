"""Strategic games to Gambit's own reader of .nfg, and back from its writer.

Gambit takes minutes to compile, so that it is no dependency: `pip install pygambit` where this is to run.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from format_samples import NAMED_PAYOFF_FORM, OUTCOME_FORM, PAYOFF_FORM, wide_game, write

import tacit
from tacit.games import gambit

pygambit = pytest.importorskip("pygambit")
pytestmark = pytest.mark.slow


def payoffs_of(game: object) -> np.ndarray:
    """Look up every profile."""
    actions = [len(player.strategies) for player in game.players]
    found = np.zeros((len(actions), *actions))
    for profile in itertools.product(*(range(a) for a in actions)):
        outcome = game[profile]
        if outcome is not None:  # where there is none, nothing is paid
            found[(slice(None), *profile)] = [float(outcome[player]) for player in game.players]
    return found


@pytest.mark.parametrize("actions", [(3,), (2, 2), (3, 2), (2, 3, 4), (2, 2, 2, 2)])
@pytest.mark.parametrize("name", [None, 'with "quotes" and \\'])
def test_there_and_back(tmp_path: Path, actions: tuple[int, ...], name: str | None):
    game = wide_game(actions, name)
    path = tmp_path / "game.nfg"
    gambit.save(game, path)
    theirs = pygambit.read_nfg(path)
    assert np.array_equal(payoffs_of(theirs), game.rewards[:, 0, 0])
    back = gambit.load(write(tmp_path, theirs.to_nfg(), "theirs.nfg"))  # the outcome form
    assert np.array_equal(back.rewards, game.rewards)


@pytest.mark.parametrize("text", [PAYOFF_FORM, NAMED_PAYOFF_FORM.replace("+1", "1").replace(",", ""), OUTCOME_FORM])
def test_the_same_file(tmp_path: Path, text: str):
    path = write(tmp_path, text, "game.nfg")
    theirs, ours = pygambit.read_nfg(path), gambit.load(path)
    assert np.array_equal(payoffs_of(theirs), ours.rewards[:, 0, 0])
    if ours.action_names is not None:
        assert ours.action_names == tuple(tuple(s.label for s in player.strategies) for player in theirs.players)


def test_equilibria_of_a_file(tmp_path: Path):
    """Gambit's equilibria of a game of ours have no gap."""
    game = tacit.make("chicken")
    gambit.save(game, tmp_path / "game.nfg")
    for profile in pygambit.nash.enummixed_solve(pygambit.read_nfg(tmp_path / "game.nfg"), rational=False).equilibria:
        probs = [np.array([[[float(p) for _, p in own]]]) for _, own in profile.mixed_strategies()]
        policy = tacit.MarkovPolicy(probs)
        assert tacit.evaluate(game, policy, gap="nash").gap == pytest.approx(0, abs=1e-12)
