"""Which learner, and with which parameters: ranked by what is proven, and not by luck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.experiments import tuning
from tacit.experiments.comparison import Trial, judge
from tacit.learners import REGISTRY
from tacit.learners.spec import Choice, Learner, Span
from tacit.learning import run_learner
from tacit.options import Options

GAME = tacit.make("random-potential", states=2, actions=2, horizon=2, seed=4)
EXACT = {"slow": ("npg", {"eta": 0.001}), "fast": ("npg", {"eta": 1.0}), "middle": ("npg", {"eta": 0.03})}


def test_the_better_learner_comes_first():
    found = tacit.compare(GAME, EXACT, episodes=60, seeds=2)
    assert [row.learner for row in found.rows] == ["fast", "middle", "slow"]
    assert found.best.gap == pytest.approx(tacit.learn(GAME, "npg", eta=1.0, episodes=60, gap=0.0).gap)
    assert found.uniform_gap == tacit.evaluate(GAME, tacit.MarkovPolicy.uniform(GAME)).gap
    for row in found.rows:
        assert [one.trial.seed for one in row.entries] == [0, 1]
        assert (row.kind, row.source, row.learns_from, row.episodes) == ("nash", "exact", "tables", 60)
        assert row.welfare == pytest.approx(sum(row.value))
    shown = repr(found)
    assert shown.index("fast") < shown.index("middle") < shown.index("slow")
    assert "60 episodes a run, 2 seeds" in shown


def test_episodes_to_a_tenth_are_the_first_row_that_is_there():
    found = tacit.compare(GAME, EXACT, episodes=60, seeds=1)
    fast = found.best.entries[0]
    there = fast.curve["gap"] <= 0.1 * found.uniform_gap
    assert found.best.arrival == fast.arrival == fast.curve["episode"][there][0]
    assert found.rows[-1].arrival is None
    assert "> 60" in repr(found)


def test_totals_are_shares_of_the_way_from_the_least_to_the_largest():
    found = tacit.compare(tacit.make("chicken"), ["pg-exact"], episodes=200, seeds=1)
    assert found.welfare_range == (0.0, 12.0)
    assert found.document()["rows"][0]["welfare_share"] == pytest.approx(found.best.welfare / 12)
    assert "77.8 %" in repr(found)
    assert tacit.compare(tacit.make("matching-pennies"), ["pg-exact"], episodes=5, seeds=1).welfare_share(0.0) is None


def test_a_run_is_judged_by_its_policy():
    run = run_learner(GAME, "stage-v-cce", {"bonus": 0.1}, Options(200, gap=0.0, certify=True))
    for chosen in run.candidates:  # whatever the reason of the choice is
        run = replace(run, chosen=chosen)
        judged = judge(run, Trial("x", "stage-v-cce", {}, 0), 1.0, "own play")
        assert (judged.candidate, judged.gap, judged.kind) == (chosen, run.gap, run.gaps.kind)
        assert judged.curve["gap"].tolist() == [*run.curve["gap"][:-1], run.gap]
        np.testing.assert_allclose(judged.values, run.values)


def test_all_learners_by_default_and_why_some_are_left_out(monkeypatch: pytest.MonkeyPatch):
    chosen = {"npg": REGISTRY.factory("npg"), "broken": _broken}
    monkeypatch.setattr(REGISTRY, "_factories", chosen)
    found = tacit.compare(GAME, episodes=10, seeds=1)
    assert [row.learner for row in found.rows] == ["npg"]
    assert found.left_out == {"broken": "TypeError: it does not fit"}
    assert "left out: broken: TypeError: it does not fit" in repr(found)
    monkeypatch.setattr(REGISTRY, "_factories", {"broken": _broken})
    with pytest.raises(tacit.TacitError, match="broken: TypeError: it does not fit"):
        tacit.compare(GAME, episodes=10, seeds=1)


class Broken(Learner):
    """Fails when it is to begin."""

    def init(self, world: Any) -> Any:
        raise TypeError("it does not fit")


def _broken() -> Broken:
    return Broken()


def test_time_is_shared_evenly():
    found = tacit.compare(GAME, EXACT, seconds=0.9, seeds=3)
    assert found.budget.seconds == pytest.approx(0.1)
    assert {one.ended for row in found.rows for one in row.entries} <= {"seconds", "gap"}
    assert "on another machine the numbers differ" in repr(found)


def test_interrupted_it_has_what_had_begun():
    stopped = False

    def stop(at: Any) -> None:
        nonlocal stopped
        if at.done >= 1 and not stopped:
            stopped = True
            raise KeyboardInterrupt

    found = tacit.compare(GAME, EXACT, episodes=500, seeds=2, workers=1, progress=stop)
    assert found.interrupted
    assert 1 <= sum(len(row.entries) for row in found.rows) < 6
    assert "interrupted" in repr(found)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"learners": "npg"}, "learners is 'npg'; it must be a list"),
        ({"learners": []}, "learners is"),
        ({"learners": ["npgg"]}, "no learner 'npgg'; did you mean 'npg'"),
        ({"learners": [("npg", {"eat": 1})]}, "has no parameter 'eat'; did you mean 'eta'"),
        ({"learners": ["npg", "npg"]}, "npg is listed twice"),
        ({"seconds": 0}, "seconds is 0"),
        ({"episodes": 0}, "episodes is 0"),
        ({"seconds": 1, "episodes": 1}, "both given"),
        ({"seeds": 0}, "seeds is 0"),
        ({"seeds": -3}, "seeds is -3"),
        ({"seed": -1}, "seed is -1"),
        ({"certify": False}, "certify is False"),
        ({"episodes": 1, "workers": 0}, "workers is 0"),
    ],
)
def test_bad_input(given: dict[str, Any], told: str):
    with pytest.raises(tacit.TacitError, match=told):
        tacit.compare(GAME, **given)


@pytest.mark.parametrize("command", [tacit.compare, lambda game: tacit.tune(game, "npg")])
def test_a_game_that_cannot_be_certified_is_refused(command: Any):
    large = tacit.make("random-general-sum", agents=11, actions=2, states=1, horizon=1)
    with pytest.raises(tacit.TacitError, match="2,048 joint actions; above 1,024 gaps are certified only on request"):
        command(large)
    with pytest.raises(tacit.TacitError, match="has no tables"):
        command(tacit.make("minority", agents=3))
    with pytest.raises(tacit.TacitError, match=r"^game is 'chicken'; it must be a TabularGame, as from tacit\.make"):
        command("chicken")


def test_tuning_finds_a_step_that_is_better():
    """The default step of 0.1 is far too small for 30 iterations; the best of 0.001 to 1000 is above 1."""
    found = tacit.tune(GAME, "npg", episodes=30, seeds=2)
    assert found.beats_default
    assert found.params == found.found
    assert found.params["eta"] > 1
    again = [tacit.learn(GAME, "npg", episodes=30, seed=seed, **found.params).gap for seed in (0, 1)]
    assert found.gap is not None
    assert found.gap.mean == pytest.approx(np.mean(again))
    assert len(found.tried) == tuning.SETTINGS
    shares = [one.share for one in found.tried]
    assert [shares.count(share) for share in (1.0, 1 / 3, 1 / 9)] == [3, 6, 18]
    assert "use eta=" in repr(found)


@pytest.fixture
def lottery() -> Iterator[str]:
    """A learner whose gap depends on its seed alone, so that the best setting is the luckiest."""
    REGISTRY.add("lottery", Lottery)
    yield "lottery"
    REGISTRY._factories.pop("lottery")


class Lottery:
    """Plays a distribution drawn from its seed and its ticket."""

    tunable = {"ticket": Span(1.0, 1e6)}  # noqa: RUF012

    def __init__(
        self, *, states: int, actions: int, horizon: int, reward_range: Any, seed: int, index: int, ticket: float = 1.0
    ):
        rng = np.random.default_rng([seed, index, int(ticket)])
        self.probs = rng.dirichlet(np.ones(actions), (horizon, states))

    def act(self, h: int, s: int) -> int:
        return 0

    def learn(self, h: int, s: int, a: int, reward: float, next_state: int) -> None:
        pass

    def probabilities(self, h: int, s: int) -> Any:
        return self.probs[h, s]


def test_the_luckiest_setting_does_not_win(lottery: str, tmp_path: Path):
    found = tacit.tune(GAME, lottery, episodes=9, seeds=4)
    assert found.default_gap is not None
    assert found.tried[0].gap < 0.8 * found.default_gap.mean  # on the way it looked much better
    assert not found.beats_default
    assert found.params == {}
    assert "does not beat the defaults beyond luck" in repr(found)
    found.save(tmp_path / "tuned.toml", "random-potential", {"states": 2})
    assert tacit.experiments.Experiment.load(tmp_path / "tuned.toml").learners[0].params == {}


def test_a_learner_with_nothing_to_tune_says_so():
    with pytest.raises(tacit.TacitError, match="model-independent declares no parameters to tune"):
        tuning.settings("model-independent", 27, 0)


@pytest.mark.parametrize("name", [n for n in REGISTRY if not n.startswith("model-") and n != "portfolio"])
def test_every_learner_declares_ranges_of_its_own_parameters(name: str):
    given = tuning.settings(name, 27, 0)
    assert len(given) > 5
    for one in given:
        REGISTRY.make(name, **one)
    assert given == tuning.settings(name, 27, 0) != tuning.settings(name, 27, 1)


def test_settings_are_spread_evenly():
    etas = sorted(one["eta"] for one in tuning.settings("npg", 10, 0))
    cells = [int(10 * (np.log10(eta) + 3) / 6) for eta in etas]
    assert cells == list(range(10))


def test_tuning_that_is_interrupted_says_that_nothing_was_compared():
    count = 0

    def stop(at: Any) -> None:
        nonlocal count
        count += at.runs < 54  # the first round is over
        if count == 1:
            raise KeyboardInterrupt

    found = tacit.tune(GAME, "npg", episodes=90, seeds=2, workers=1, progress=stop)
    assert found.interrupted
    assert not found.beats_default
    assert found.gain is None
    assert "interrupted before" in repr(found)
    assert len(found.tried) == 27


@pytest.mark.parametrize(
    ("learner", "given", "told"),
    [
        ("npgg", {}, "no learner 'npgg'; did you mean 'npg'"),
        ("npg", {"seeds": 1}, "seeds is 1; the comparison with the defaults needs at least 2"),
        ("npg", {"seeds": -1}, "seeds is -1"),
        ("npg", {"seconds": 0}, "seconds is 0"),
        ("npg", {"seconds": 1, "episodes": 2}, "both given"),
    ],
)
def test_bad_input_of_tuning(learner: str, given: dict[str, Any], told: str):
    with pytest.raises(tacit.TacitError, match=told):
        tacit.tune(GAME, learner, **given)


def test_a_learner_without_ranges_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tacit.NPG, "tunable", {})
    with pytest.raises(tacit.TacitError, match="npg declares no parameters to tune"):
        tacit.tune(GAME, "npg")


def test_ranges():
    assert [Span(0.01, 100).at(u) for u in (0.0, 0.25, 0.5)] == [0.01, 0.1, 1.0]
    assert [Choice(1, None).at(u) for u in (0.0, 0.49, 0.5, 0.99)] == [1, 1, None, None]
    with pytest.raises(tacit.TacitError, match="0 < low < high"):
        Span(0, 1)
