"""Sessions, their measures and the page of claims, on two short sessions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import judging
import sessions
import tacit

SHORT = sessions.Setting("short", 2, {}, sessions.BASELINE | {"decay": 1e-4}, still=10_000)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict]:
    folder = tmp_path_factory.mktemp("calvano")
    first = sessions.run_setting(sessions.Setting("short", 1, {}, SHORT.learner, still=10_000), folder, print)
    both = sessions.run_setting(SHORT, folder, print)
    assert both[0] == first[0]
    return both


def test_two_computations_of_every_gap_agree(rows: list[dict]):
    assert [row["ended"] for row in rows] == ["still", "still"]
    assert max(row["disagreement"] for row in rows) < 1e-9
    assert all(0 <= row["path_gap"] <= row["subgame_gap"] for row in rows)


def test_the_best_response_earns_its_gain_when_it_is_played(rows: list[dict]):
    game = tacit.make("pricing")
    options = {"periods": sessions.MOST, "still": 10_000, "seed": 0, "certify": False}
    run = tacit.learn(game, "q-independent", **options, **SHORT.learner)
    cycle = tacit.evaluation.follow(game, run.policy, start=run.place).cycle
    gains = tacit.evaluation.path_gains(game, run.policy, cycle)
    i, t = np.unravel_index(gains.best.argmax(), gains.best.shape)
    weight, start = game.discount ** np.arange(800), int(cycle.states[t])

    def earn(policy):
        return tacit.evaluation.follow(game, policy, start=start, periods=800).rewards[:, i] @ weight

    gain = earn(tacit.evaluation.respond(game, run.policy, int(i), gains)) - earn(run.policy)
    unit = (game.market.monopoly_profits - game.market.nash_profits)[0] / (1 - game.discount)
    assert gain / unit == pytest.approx(rows[0]["path_gap"], abs=1e-9)


def test_what_is_stored_is_of_this_setting_alone(rows: list[dict], tmp_path: Path):
    place = tmp_path / "short.jsonl"
    place.write_text("\n".join([json.dumps({"game": {}}), json.dumps(rows[0])]))
    assert list(sessions._stored(place, SHORT.spec)) == []
    place.write_text("\n".join([json.dumps(SHORT.spec), json.dumps(rows[0]), '{"seed": 1, "per']))
    assert list(sessions._stored(place, SHORT.spec)) == [rows[0]]


def test_the_page_has_a_verdict_for_each_claim(rows: list[dict]):
    numbers = {"baseline": sessions.summarize(rows), "discount-0.9": sessions.summarize(rows)}
    page = judging.page({"baseline": rows, "discount-0.9": rows}, numbers)
    verdicts = ("| holds |", "| **does not hold** |", "| not contradicted |")
    table = [line for line in page.splitlines() if line.endswith(verdicts)]
    assert len(table) >= 17
    assert numbers["baseline"]["sessions"] == 2
