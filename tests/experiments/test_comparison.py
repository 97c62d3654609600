"""Which learner: ranked by what is proven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.learners import REGISTRY
from tacit.learners.spec import Learner

GAME = tacit.make("random-potential", states=2, actions=2, horizon=2, seed=4)
EXACT = [
    tacit.LearnerSpec("npg", {"eta": eta}, label) for label, eta in (("slow", 0.001), ("fast", 1.0), ("middle", 0.03))
]


def test_the_better_learner_comes_first():
    comparison = tacit.compare(GAME, EXACT, episodes=60, seeds=2)
    assert [row["learner"] for row in comparison.rows] == ["fast", "middle", "slow"]
    assert comparison.rows[0]["gap"]["mean"] == pytest.approx(tacit.learn(GAME, "npg", eta=1.0, episodes=60).gap)
    assert comparison.facts["uniform_gap"] == tacit.evaluate(GAME, tacit.MarkovPolicy.uniform(GAME)).gap
    for row in comparison.rows:
        assert row["seed_list"] == [0, 1]
        assert (row["gap"]["kind"], row["gap"]["source"], row["learns_from"]) == ("nash", "exact", "tables")
        assert row["episodes_done"] == [60, 60]
        assert row["welfare"] == pytest.approx(sum(row["value"]))
    shown = repr(comparison)
    assert shown.index("fast") < shown.index("middle") < shown.index("slow")
    assert "60 episodes a run, 2 seeds" in shown


def test_every_run_has_its_whole_budget():
    """Independent Q-learning visits an equilibrium and leaves it again: its gap at the end is what counts."""
    game, episodes = tacit.make("good-state", horizon=3), 4000
    comparison = tacit.compare(game, ["q-independent"], episodes=episodes, seeds=3)
    (row,) = comparison.rows
    assert row["episodes_done"] == [episodes] * 3
    alone = [tacit.learn(game, "q-independent", episodes=episodes, seed=seed, certify=True).gap for seed in range(3)]
    assert row["gap"]["per_seed"] == alone


def test_the_hitting_time_is_the_first_row_at_the_target():
    comparison = tacit.compare(GAME, EXACT, episodes=60, seeds=1)
    curve = comparison.results.groups[1].outcomes[0].curve
    reached = curve["gap"] <= 0.1 * comparison.facts["uniform_gap"]
    first = curve["episode"][reached][0]
    assert comparison.rows[0]["episodes_to_10_percent"] == first < 60
    assert comparison.rows[-1]["episodes_to_10_percent"] is None
    assert "> 60" in repr(comparison)


def test_welfare_is_a_share_of_the_way_from_the_least_to_the_largest():
    comparison = tacit.compare(tacit.make("chicken"), ["pg-exact"], episodes=200, seeds=1)
    assert comparison.facts["welfare_range"] == (0.0, 12.0)
    (row,) = comparison.rows
    assert row["welfare_share"] == pytest.approx(row["welfare"] / 12)
    assert "77.8 %" in repr(comparison)
    constant = tacit.compare(tacit.make("matching-pennies"), ["pg-exact"], episodes=5, seeds=1)
    assert constant.rows[0]["welfare_share"] is None


def test_a_run_is_judged_by_its_policy():
    (row,) = tacit.compare(GAME, [tacit.LearnerSpec("stage-v-cce", {"bonus": 0.1})], episodes=200, seeds=1).rows
    run = tacit.learn(GAME, "stage-v-cce", bonus=0.1, episodes=200, certify=True)
    assert (row["candidate"], row["gap"]["mean"], row["gap"]["kind"]) == (run.chosen, run.gap, run.gaps.kind)
    np.testing.assert_allclose(row["value"], run.values)


def test_learners_may_be_objects():
    mine = tacit.LearnerSpec("mine", learner=tacit.learners.NPG(eta=1.0))
    comparison = tacit.compare(GAME, [mine], episodes=30, seeds=1)
    assert comparison.rows[0]["learner"] == "mine"
    assert comparison.rows[0]["gap"]["mean"] == tacit.learn(GAME, "npg", eta=1.0, episodes=30).gap


def test_runs_are_stored_and_read_again(tmp_path: Path):
    game = tacit.GameSpec("chicken")
    rows = [tacit.compare(game, ["npg"], episodes=10, seeds=2, out=tmp_path).rows for _ in range(2)]
    assert rows[0] == rows[1]
    assert len(tacit.Results.load(tmp_path).outcomes) == 2
    with pytest.raises(tacit.TacitError, match=r"is an object; save it with game\.save"):
        tacit.compare(GAME, ["npg"], episodes=10, seeds=2, out=tmp_path)


def test_all_learners_by_default_and_why_some_are_left_out(monkeypatch: pytest.MonkeyPatch):
    chosen = {"npg": REGISTRY.factory("npg"), "broken": _broken}
    monkeypatch.setattr(REGISTRY, "_factories", chosen)
    comparison = tacit.compare(GAME, episodes=10, seeds=1)
    assert [row["learner"] for row in comparison.rows] == ["npg"]
    assert comparison.left_out == {"broken": "TypeError: it does not fit"}
    assert "left out: broken: TypeError: it does not fit" in repr(comparison)
    monkeypatch.setattr(REGISTRY, "_factories", {"broken": _broken})
    with pytest.raises(tacit.TacitError, match="TypeError: it does not fit"):
        tacit.compare(GAME, episodes=10, seeds=1)


class Broken(Learner):
    """Fails when it is to begin."""

    def init(self, world: Any) -> Any:
        raise TypeError("it does not fit")


def _broken() -> Broken:
    return Broken()


def test_time_is_shared_evenly():
    comparison = tacit.compare(GAME, EXACT, seconds=0.9, seeds=3)
    assert comparison.document()["each_run"] == {"episodes": None, "seconds": pytest.approx(0.1)}
    assert {ended for row in comparison.rows for ended in row["ended"]} == {"seconds"}
    assert "depend on the machine" in repr(comparison)


def test_interrupted_it_has_what_had_begun():
    stopped = False

    def stop(at: Any) -> None:
        nonlocal stopped
        if at.done >= 1 and not stopped:
            stopped = True
            raise KeyboardInterrupt

    comparison = tacit.compare(GAME, EXACT, episodes=500, seeds=2, workers=1, progress=stop)
    assert comparison.results.interrupted
    assert 1 <= sum(len(row["seed_list"]) for row in comparison.rows) < 6
    assert "interrupted" in repr(comparison)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"learners": "npg"}, "learners must be"),
        ({"learners": []}, "at least 1 learners"),
        ({"learners": ["npgg"]}, "no learner 'npgg'; did you mean 'npg'"),
        ({"learners": [tacit.LearnerSpec("npg", {"eat": 1})]}, "has no parameter 'eat'; did you mean 'eta'"),
        ({"learners": ["npg", "npg"]}, "npg is listed twice"),
        ({"seconds": 0}, "seconds must be"),
        ({"episodes": 0}, "episodes must be"),
        ({"seconds": 1, "episodes": 1}, "got both"),
        ({"seeds": 0}, "seeds must be"),
        ({"seeds": -3}, "seeds must be"),
        ({"seed": -1}, "seed must be"),
        ({"episodes": 1, "workers": 0}, "workers must be"),
    ],
)
def test_bad_input(given: dict[str, Any], told: str):
    with pytest.raises(tacit.TacitError, match=told):
        tacit.compare(GAME, **given)


def test_a_game_that_cannot_be_certified_is_refused():
    with pytest.raises(tacit.TacitError, match="has no tables"):
        tacit.compare(tacit.make("minority", agents=3))
    with pytest.raises(tacit.TacitError, match="game must be a TabularGame"):
        tacit.compare(["chicken"])
