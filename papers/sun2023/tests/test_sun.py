"""The games and the claims of Sun et al. (2023), on small ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import potential_games
import tacit

SMALL = potential_games.Setting(team=300, congestion=20, agents=3, starts=1)


def test_the_congestion_game_by_hand():
    game = potential_games.make_congestion(3)
    assert game.discount == 0.99
    everybody_at_the_last = (slice(None), 0, 0, 3, 3, 3)
    assert np.asarray(game.rewards)[everybody_at_the_last].tolist() == [18.0, 18.0, 18.0]
    assert np.asarray(game.rewards)[:, 0, 1, 0, 1, 2].tolist() == [-99.0, -98.0, -96.0]


def test_curves_are_those_of_the_written_recursion():
    """π ∝ π·exp(η·Q̄) of the team game, written out."""
    game, start = potential_games.make_team()
    reward = np.asarray(game.rewards)[0, 0, 0]
    gaps = potential_games.ascend(game, "npg", 0.1, start, [1, 10, 50])
    x, y, z = (table[0, 0] for table in start.probs)
    for _ in range(49):
        rows = {"abc,b,c->a": (y, z), "abc,a,c->b": (x, z), "abc,a,b->c": (x, y)}
        q = [np.einsum(formula, reward, *others) for formula, others in rows.items()]
        x, y, z = (p * np.exp(0.1 * own) for p, own in zip((x, y, z), q, strict=True))
        x, y, z = x / x.sum(), y / y.sum(), z / z.sum()
    last = tacit.MarkovPolicy([p[None, None] for p in (x, y, z)])
    assert gaps[-1] == pytest.approx(tacit.evaluate(game, last).gaps.sum(), abs=1e-12)


def test_rules_can_fail(tmp_path: Path):
    results = potential_games.measure(SMALL, lambda _: None)
    claims = potential_games.judge(results)
    assert claims[0].holds == (results["team"]["npg"][0][-1] <= 1e-3 * results["team"]["npg"][0][0])
    flat = [[1.0] * len(curve) for curve in results["team"]["npg"]]
    worse = potential_games.judge({**results, "team": {**results["team"], "npg": flat}})
    assert [claim.holds for claim in worse[:2]] == [False, False]
    potential_games.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_the_share_of_the_second_half():
    assert potential_games.late_share([1, 4], [1.0, 1.0]) == pytest.approx(0.5)
    assert potential_games.late_share([1, 2, 3, 4], [3.0, 1.0, 0.0, 0.0]) == 0


def test_the_page_is_that_of_the_stored_results():
    folder = potential_games.DIRECTORY
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    page = potential_games.REPRODUCTION.page(potential_games.WHOLE, potential_games.judge(results))
    assert page == (folder / "claims.md").read_text(encoding="utf-8")
