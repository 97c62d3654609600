"""The routing game, the measures and the claims of Maheshwari et al. (2022), on short runs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import routing
import tacit

SHORT = routing.Setting(periods=3000, seeds=2)


def test_the_game_by_hand():
    game = routing.make_game(routing.FIGURES["figure 5"])
    rewards = np.asarray(game.rewards)[:, 0]
    # both routes safe; agents 0 and 1 take route 0, whose slope doubles: 9 − 2·2·2 = 1; the others 16 − 2·4·2 = 0
    assert rewards[:, 0, 0, 0, 1, 1].tolist() == [1.0, 1.0, 0.0, 0.0]
    # route 1 unsafe: 16 − 4·2 = 8
    assert rewards[:, 1, 0, 0, 1, 1].tolist() == [1.0, 1.0, 8.0, 8.0]
    team = routing.make_game(routing.FIGURES["figure 1"])
    assert (np.asarray(team.rewards)[:, 0, 1, 0, 0, 1, 1] == 18.0).all()
    moves = np.asarray(team.transitions)[0]
    np.testing.assert_allclose(moves.sum(axis=-1), 1.0)
    assert moves[0, 0, 0, 0, 0, 0] == pytest.approx(0.2 * 0.8)  # four on route 0: both safe next
    assert moves[0, 0, 0, 0, 0, 3] == pytest.approx(0.8 * 0.2)


def test_the_measures_are_what_best_responses_gain():
    game = routing.make_game(routing.FIGURES["figure 5"])
    rng = np.random.default_rng(0)
    policies = [[rng.dirichlet(np.ones(2), 4) for _ in range(4)] for _ in range(2)]
    curves = routing.measure_policies(game, policies)
    last = tacit.MarkovPolicy([table[None] for table in policies[-1]])
    gains = tacit.evaluate(game, last).gaps
    assert curves["gap"][-1] == pytest.approx(gains.max())
    # the mean over states is what is gained from a state drawn evenly
    lost = [routing.lost_values(game, policies[-1], i)(policies[-1][i]) / 4 for i in range(4)]
    np.testing.assert_allclose(lost, gains, atol=1e-9)
    assert curves["distance"][-1] == 0


def test_fast_q_converges_and_slow_q_does_not(tmp_path: Path):
    results = routing.measure(SHORT, lambda _: None)
    ends = {name: np.mean([curve[-1] for curve in results[name]["gap"]]) for name in routing.FIGURES}
    assert ends["figure 1"] < 0.2 * results["figure 1"]["uniform"]
    assert ends["figure 2"] > 2 * ends["figure 1"]
    slowed = {**results, "figure 1": results["figure 2"]}
    assert not routing.judge(slowed)[0].holds
    routing.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5000


def test_the_page_is_that_of_the_stored_results():
    folder = routing.DIRECTORY
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    page = routing.REPRODUCTION.page(routing.WHOLE, routing.judge(results))
    assert page == (folder / "claims.md").read_text(encoding="utf-8")
