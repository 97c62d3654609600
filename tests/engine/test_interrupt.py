"""Ctrl-C in the middle: the run holds what was done until then, and says so."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.engine import Advanced, Event


def stop_at(limit: int):
    def progress(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= limit:
            raise KeyboardInterrupt

    return progress


@pytest.fixture(scope="module")
def game() -> tacit.TabularGame:
    return tacit.make("good-state", horizon=4)


def test_an_interrupted_run_keeps_what_was_done(game: tacit.TabularGame):
    with pytest.warns(UserWarning, match="interrupted: the run holds 120 of 300 episodes"):
        run = tacit.learn(game, "stage-v-cce", episodes=300, points=10, progress=stop_at(100), bonus=0.1)
    assert run.interrupted
    assert run.episodes == run.candidates["recent"].policy.episodes == 120
    assert run.curve["episode"].tolist() == [30, 60, 90, 120]
    found = tacit.evaluate(game, run.policy, gap="cce")
    assert np.allclose(found.gaps, run.gaps.upper, atol=1e-9)
    assert np.allclose(found.values, run.values, atol=1e-9)


@pytest.mark.parametrize("learner", ["stage-v-cce", "q-independent"])
def test_what_takes_long_to_measure_is_left_out(game: tacit.TabularGame, learner: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tacit.evaluation.gaps._QUICK", 0.0)
    params = {"bonus": 0.1} if learner == "stage-v-cce" else {}
    whole = tacit.learn(game, learner, episodes=300, points=10, **params)
    monkeypatch.setattr("tacit.engine.outputs.l2_gap", None)
    with pytest.warns(UserWarning, match="interrupted"):
        run = tacit.learn(game, learner, episodes=300, points=1, progress=stop_at(80), **params)
    assert 80 <= run.episodes < 300
    assert whole.candidates["last"].gaps.source == "exact"
    assert run.candidates["last"].gaps.source == "none"
    assert run.chosen != "last" or list(run.candidates) == ["last"]
    assert np.isnan(run.curve["gap"][-1]) == (learner == "q-independent")
    assert tacit.evaluate(game, run.candidates["last"].policy).gap >= 0  # there is time when it is asked for


def test_it_is_the_beginning_of_the_whole_run(game: tacit.TabularGame):
    whole = tacit.learn(game, "stage-v-cce", episodes=300, points=10, bonus=0.1)
    with pytest.warns(UserWarning, match="interrupted"):
        part = tacit.learn(game, "stage-v-cce", episodes=300, points=10, progress=stop_at(200), bonus=0.1)
    assert not whole.interrupted
    assert (whole.curve[: len(part.curve)] == part.curve).all()
    one, other = (run.candidates["average"].policy.stored for run in (whole, part))
    assert (one[: part.episodes] == other).all()


def test_an_interrupt_before_anything_is_done_is_passed_on(game: tacit.TabularGame, monkeypatch: pytest.MonkeyPatch):
    from tacit.engine.fused import FusedEngine

    def interrupted(self: FusedEngine, episodes: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FusedEngine, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tacit.learn(game, "stage-v-cce", episodes=300)


def test_progress_is_told_the_truth(game: tacit.TabularGame):
    told: list[Event] = []
    tacit.learn(game, "stage-v-cce", episodes=300, points=4, progress=told.append, bonus=0.1)
    advanced = [event for event in told if isinstance(event, Advanced)]
    done = [event.done for event in advanced]
    assert done == sorted(set(done))  # how much at once depends on the machine
    assert {75, 150, 225} <= set(done)  # where rows of the curve end
    assert advanced[-1] == Advanced(300, 300)
