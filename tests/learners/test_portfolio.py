"""Portfolio: each member is, bit for bit, what it is alone, and the best candidate of all is returned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.engine import Advanced, Event
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.outputs import TURN, find, share
from tacit.evaluation.gaps import lower_bounds
from tacit.learners import REGISTRY

GAME = {"agents": 2, "actions": [2, 3], "states": 3, "horizon": 3, "seed": 4}
MEMBERS = ("adaptive-v-cce", "model-independent")


def by_member(run: tacit.Run, name: str) -> dict[str, Any]:
    return {key.removeprefix(f"{name} "): one for key, one in run.candidates.items() if key.startswith(f"{name} ")}


def test_members_are_what_they_are_alone():
    """Equal to the last bit: the portfolio is never behind the better of its members after as many episodes."""
    game = tacit.make("random-general-sum", **GAME)
    run = tacit.learn(game, "portfolio", episodes=1100, seed=3)
    for name, episodes in zip(MEMBERS, (500, 600), strict=True):
        alone = tacit.learn(game, name, episodes=episodes, seed=3)
        candidates = by_member(run, name)
        assert set(candidates) == set(alone.candidates)
        for key, candidate in alone.candidates.items():
            np.testing.assert_array_equal(candidates[key].gaps.upper, candidate.gaps.upper)
            np.testing.assert_array_equal(candidates[key].values, candidate.values)
        for mine, theirs in zip(candidates["last"].policy.probs, alone.last.probs, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.usefixtures("interpreted")
def test_the_curve_has_the_gap_of_each_member():
    game = tacit.make("random-general-sum", **GAME)
    run = tacit.learn(game, "portfolio", episodes=400, points=4, seed=3)
    expected = {
        "model-independent": [100, 100, 200, 200],
        "adaptive-v-cce": [0, 100, 100, 200],
    }
    for name, episodes in expected.items():
        alone = tacit.learn(game, name, episodes=200, points=2, seed=3)
        gaps = {0: np.nan, **dict(zip(alone.curve["episode"].tolist(), alone.curve["gap"], strict=True))}
        np.testing.assert_array_equal(run.curve[f"gap_{name}"], [gaps[episode] for episode in episodes])
    np.testing.assert_array_equal(run.curve["gap"][0], run.curve["gap_model-independent"][0])


@pytest.mark.parametrize("members", [2, 3])
def test_shares_count_the_episodes_of_each_turn(members: int):
    turns = [member for _ in range(4) for member in reversed(range(members)) for _ in range(TURN)]
    for m in range(members):
        played = [k for k, whose in enumerate(turns) if whose == m]
        assert [find(m, members, number) for number in range(len(played))] == played
        for done in range(0, len(turns), 37):
            assert share(m, members, done) == turns[:done].count(m)


def test_the_best_candidate_is_returned():
    run = tacit.learn(tacit.make("good-state", horizon=5), "portfolio", episodes=1500, seed=1)
    assert {name.split()[0] for name in run.candidates} == set(MEMBERS)
    assert run.gap == min(one.gap for one in run.candidates.values()) < 1e-3
    assert run.gaps.kind == "cce"
    assert run.curve["gap"][-1] == run.gap
    evaluation = tacit.evaluate(run.game, run.policy)
    assert evaluation.gap == run.gap
    assert (evaluation.values == run.values).all()


@pytest.mark.usefixtures("interpreted")
def test_the_certificate_is_that_of_the_stored_policy():
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=2, seed=3)
    run = tacit.learn(game, "portfolio", episodes=300)
    mixture = run.candidates["adaptive-v-cce average"]
    stored = tacit.evaluate(game, mixture.policy, gap="cce")
    np.testing.assert_allclose(stored.gaps, mixture.gaps.upper, atol=1e-9)
    lower = lower_bounds(game, mixture.policy)
    assert (lower <= mixture.gaps.upper + 1e-12).all()
    assert lower.max() > 0


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("options", [{"points": 350}, {"gap": 1e-12}])
def test_a_run_resumes_with_the_same_bits(options: dict[str, Any], tmp_path: Path):
    game = tacit.make("random-general-sum", **GAME)
    arguments: dict[str, Any] = {"learner": "portfolio", "episodes": 350, "seed": 3, **options}

    def stop_after(episodes: int) -> Any:
        def progress(event: Event) -> None:
            if isinstance(event, Advanced) and event.done >= episodes:
                raise KeyboardInterrupt

        return progress

    for episodes in (30, 130, 140, 250):
        checkpoint = Checkpoint(tmp_path / "c.npz", key="a")
        with pytest.warns(UserWarning, match="interrupted"):
            tacit.learn(game, checkpoint=checkpoint, progress=stop_after(episodes), **arguments)
    last = Checkpoint(tmp_path / "c.npz", key="a")
    resumed, run = tacit.learn(game, checkpoint=last, **arguments), tacit.learn(game, **arguments)
    assert last.resumed >= 250
    assert resumed.curve.tobytes() == run.curve.tobytes()
    assert resumed.chosen == run.chosen
    for name, candidate in run.candidates.items():
        np.testing.assert_array_equal(resumed.candidates[name].gaps.upper, candidate.gaps.upper)


def test_it_stops_at_a_gap_that_one_member_reaches():
    run = tacit.learn(tacit.make("good-state", horizon=4), "portfolio", seed=1, gap=0.01)
    assert run.ended == "gap"
    assert run.gap <= 0.01
    assert {name.split()[0] for name in run.candidates} == {"model-independent"}  # within its first turn
    assert np.isnan(run.curve["gap_adaptive-v-cce"]).all()


@pytest.mark.usefixtures("interpreted")
def test_without_gaps_the_last_member_is_returned():
    run = tacit.learn(tacit.make("chicken"), "portfolio", episodes=250, certify=False)
    assert run.chosen == "model-independent last"
    assert run.gaps.source == "none"


@pytest.mark.usefixtures("interpreted")
def test_central_learners_may_be_members():
    run = tacit.learn(tacit.make("chicken"), "portfolio", episodes=250, members="model-central,q-independent")
    assert {name.split()[0] for name in run.candidates} == {"model-central", "q-independent"}
    assert run.gaps.kind == "nash"


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (3, "must be names"),
        ([3], "must be names"),
        ("q-independent", "at least two"),
        ("q-independent,q-independent", "'q-independent' twice"),
        ([("a", 1), ("b", 2)], "learner must be"),
        ("adaptive-v-cce,pg-exact", "cannot be a member"),
        ("q-independent,portfolio", "list its members instead"),
        ("a,b", "no learner 'a'"),
    ],
)
def test_members_that_cannot_be_are_refused(members: object, sentence: str):
    with pytest.raises(tacit.TacitError, match=sentence):
        tacit.learn(tacit.make("chicken"), "portfolio", episodes=10, members=members)
    several = REGISTRY.make("portfolio", members=["q-independent", "ucb-independent"])
    assert several == REGISTRY.make("portfolio", members="q-independent, ucb-independent")


def test_it_needs_the_tables_of_a_game():
    game = tacit.make("chicken")
    with pytest.raises(tacit.TacitError, match="portfolio needs the game's tables"):
        tacit.learn(tacit.to_pettingzoo(game), "portfolio", episodes=10)
    with pytest.raises(tacit.TacitError, match="make an agent of one of its members"):
        tacit.agent("portfolio", states=1, actions=2, horizon=1, reward_range=(0, 1))
