"""The random game, the duality gap and the claims of Wei et al. (2021), on a small game."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import random_game
import tacit

SMALL = random_game.Setting(states=3, actions=2, iterations=400)


def test_the_duality_gap_is_what_best_responses_gain():
    game, policy = random_game.make_game(SMALL)
    gaps = random_game.duality_gaps(game, policy)
    assert (gaps >= 0).all()
    assert game.initial @ gaps == pytest.approx(tacit.evaluate(game, policy).gaps.sum(), abs=1e-9)


def test_optimism_is_what_converges():
    curves = {name: random_game.run_variant(SMALL, **params) for name, params in random_game.VARIANTS.items()}
    claims = random_game.judge(curves)
    assert [claim.holds for claim in claims][1:] == [True, True, True]
    written = random_game.REPRODUCTION.page(SMALL, claims)
    assert "3 states, 2 × 2 actions" in written
    assert written.count("| holds |") == sum(claim.holds for claim in claims)


def test_the_figure_is_drawn(tmp_path: Path):
    curve = {"iterations": [1, 10, 100], "gaps": [1.0, 0.5, 0.1]}
    random_game.draw(dict.fromkeys(random_game.VARIANTS, curve), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_the_game_is_that_of_the_seed():
    game, start = random_game.make_game(random_game.QUICK)
    assert game.discount == 0.95
    np.testing.assert_allclose(np.asarray(game.rewards).sum(axis=0), 1.0)
    assert np.asarray(game.rewards)[1, 0, 0, 0, 0] == np.random.RandomState(2).rand()
    assert [table.shape for table in start.probs] == [(1, 20, 3)] * 2


def test_the_page_is_that_of_the_stored_results():
    folder = random_game.REPRODUCTION.folder
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    page = random_game.REPRODUCTION.page(random_game.WHOLE, random_game.judge(results))
    assert page == (folder / "claims.md").read_text(encoding="utf-8")


def test_the_authors_program_takes_the_same_steps():
    """Of its curve the first iterations, with the step undone that tacit divides by the span of the rewards."""
    game, _ = random_game.make_game(random_game.WHOLE)
    low, high = game.reward_range
    curve = random_game.run_variant(random_game.WHOLE, factor=high - low, last=12)
    authors = random_game.theirs()
    assert curve["iterations"] == authors["iterations"][: len(curve["gaps"])]
    np.testing.assert_allclose(curve["gaps"], authors["gaps"][: len(curve["gaps"])], rtol=2e-6)
