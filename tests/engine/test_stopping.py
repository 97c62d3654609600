"""Runs that stop when they are good enough or time is up: where, why, and with the same bits as any other run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core import check, memory
from tacit.engine import Advanced, Event, Noted, drive, recorded
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.drive import Curve
from tacit.engine.outputs import MarkovOutput
from tacit.options import Options

GAME = tacit.make("good-state", horizon=3)


def learned(**given: Any) -> tacit.Run:
    return tacit.learn(GAME, "stage-v-cce", **{"bonus": 0.1, "iota": 1.0, "step": 1.0, "loss": "raw", **given})


def average(run: tacit.Run) -> tacit.policies.RecordedPolicy:
    """Return the policy that is made of the whole record."""
    return run.candidates["average"].policy


@pytest.fixture
def small_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let records begin with room for seven episodes, so that they have to grow."""
    monkeypatch.setattr(recorded, "_FIRST", 7 * recorded.bytes_of(GAME, 1))


@pytest.mark.usefixtures("small_record")
def test_a_gap_ends_a_run_at_the_first_row_that_has_it():
    run = learned(gap=1.0)
    assert run.ended == "gap"
    assert run.gap <= 1.0 < run.curve["gap"][:-1].min()
    assert run.curve["ended"].tolist() == [""] * (len(run.curve) - 1) + ["gap"]
    assert run.curve["episode"][-1] == run.episodes == average(run).episodes > 20
    windows = np.diff(run.curve["episode"])
    assert (windows == np.maximum(10, run.curve["episode"][:-1] // 10)).all()
    whole = learned(episodes=run.episodes)  # the same run, whose end was known
    assert average(whole).stored.tobytes() == average(run).stored.tobytes()
    assert average(whole).visited.tobytes() == average(run).visited.tobytes()
    assert whole.gap == run.gap
    assert run.sampled is None
    assert not run.notes


def test_a_gap_that_is_never_reached_does_not_end_it():
    run = learned(gap=0.0, episodes=150)
    assert (run.ended, run.episodes) == ("episodes", 150)
    assert run.curve["ended"][-1] == "episodes"
    assert "ended" not in (learned(episodes=150).curve.dtype.names or ())


def test_an_estimate_never_ends_a_run():
    """With these parameters the agents' own number is an estimate, and a gap of 100 is above all that it can be."""
    seen: list[Event] = []
    with pytest.warns(UserWarning, match="this run has neither: certify is False; it goes on to its other limits"):
        run = learned(gap=100.0, episodes=50, certify=False, progress=seen.append)
    assert (run.ended, run.gaps.source) == ("episodes", "estimate")
    assert run.curve["gap"][0] <= 100.0
    texts = [event.text for event in seen if isinstance(event, Noted)]
    told = [text for text in texts if not text.startswith("compiling")]
    assert len(told) == 1
    assert set(told) == set(run.notes) == set(run.warnings)


def test_a_run_that_nothing_would_end_is_refused():
    with pytest.raises(tacit.TacitError, match="this run has neither: certify is False; give episodes or seconds too"):
        learned(gap=1.0, certify=False)
    large = tacit.make("random-general-sum", agents=11, actions=2, states=1, horizon=1)
    with pytest.raises(tacit.TacitError, match="2,048 joint actions, and certify is not True"):
        tacit.learn(large, "q-independent", gap=1.0)


def test_in_an_environment_there_is_no_certificate():
    pytest.importorskip("pettingzoo")
    with pytest.warns(UserWarning, match="the game has no tables"):
        run = tacit.learn(tacit.to_pettingzoo(GAME), "stage-v-cce", gap=1e9, episodes=20)
    assert run.ended == "episodes"


@pytest.mark.usefixtures("small_record")
def test_seconds_alone_are_enough():
    run = learned(seconds=0.3)
    assert run.ended == "seconds"
    assert run.curve["ended"][-1] == "seconds"
    assert average(run).episodes == run.episodes == run.curve["episode"][-1]
    assert any("depends on the machine" in note for note in run.notes)
    whole = learned(episodes=run.episodes)
    assert average(whole).stored.tobytes() == average(run).stored.tobytes()
    assert whole.gap == run.gap


def test_what_is_said_of_a_run_that_is_given_its_end_stays():
    with pytest.raises(tacit.TacitError, match="the record of all visits"):
        learned(episodes=check.EPISODES)


@pytest.mark.usefixtures("small_record")
def test_a_full_memory_ends_a_run_with_what_it_has(monkeypatch: pytest.MonkeyPatch):
    free = memory.available()

    def available() -> int:
        return 0 if asked["growing"] else free

    asked = {"growing": False}
    before = recorded.Record.more

    def more(*given: Any) -> recorded.Record:
        asked["growing"] = given[2] >= 56  # episodes done
        found = before(*given)
        asked["growing"] = False
        return found

    monkeypatch.setattr(memory, "available", available)
    monkeypatch.setattr(recorded.Record, "more", more)
    run = learned(gap=0.0)
    assert (run.ended, run.episodes) == ("memory", 56)
    assert run.curve["ended"][-1] == "memory"
    assert average(run).episodes == 56
    assert any("memory had no room" in note for note in run.notes)


@pytest.mark.usefixtures("small_record")
def test_a_run_that_stops_at_a_gap_resumes_to_the_same_end(tmp_path: Path):
    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= 10:
            raise KeyboardInterrupt

    place = tmp_path / "c.npz"
    with pytest.warns(UserWarning, match=r"interrupted: the run holds \d+ episodes"):
        part = learned(gap=1.0, progress=stop, checkpoint=Checkpoint(place, key="a"))
    assert part.episodes < 200
    run, whole = learned(gap=1.0, checkpoint=Checkpoint(place, key="a")), learned(gap=1.0)
    assert run.curve.tobytes() == whole.curve.tobytes()
    assert average(run).stored.tobytes() == average(whole).stored.tobytes()


def test_the_last_tenth_of_a_run_that_stopped():
    curve = Curve(check.EPISODES, 1000, 1, stops=True)
    for k in range(20):
        curve.add(np.full((10, 1), float(k)))
        assert curve.full
        curve.close({"value": np.zeros(1), "gap": np.zeros(1)})
    assert curve.last_tenth() == pytest.approx([18.5])  # 20 of 200 episodes


def test_the_sampled_iterate_is_drawn_evenly_wherever_a_run_ends():
    """4000 seeds, 5 iterates: a count is off by 145 or more (5.7 standard deviations) with probability below 1e-7."""
    counts: Counter[int] = Counter()
    for seed in range(4000):
        options = Options(10, seed=seed, certify=False, keep=False)
        output = MarkovOutput(game=GAME, learner=tacit.learners.PGStorm(), options=options)
        now = SimpleNamespace(done=0, gap=np.inf, learner=tacit.learners.PGStorm())
        now.distributions = lambda now=now: [now.done]
        for now.done in range(5):
            output.look(now, now.done)  # type: ignore[arg-type]
        counts[output._sampled[0]] += 1  # type: ignore[index]
    assert sorted(counts) == [0, 1, 2, 3, 4]
    assert all(abs(count - 800) < 145 for count in counts.values())


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"seconds": 0}, "seconds must be"),
        ({"seconds": -1}, "seconds must be"),
        ({"seconds": np.inf}, "seconds must be"),
        ({"gap": -0.1}, "gap must be"),
        ({"gap": "small"}, "gap must be"),
        ({"gap": 1.0, "episodes": 0}, "episodes must be"),
    ],
)
def test_bad_limits(wrong: dict[str, Any], told: str):
    with pytest.raises(tacit.TacitError, match=told):
        learned(**wrong)


class SlowEngine:
    """Takes a tenth of a second for an episode, by a clock that the test turns."""

    chunk, seconds = 1000, 0.0

    def __init__(self) -> None:
        self.now, self.chunks = 0.0, list[int]()

    def advance(self, episodes: int) -> np.ndarray:
        self.now += 0.1 * episodes
        self.chunks.append(episodes)
        return np.zeros((episodes, 1))


def test_chunks_are_sized_by_time(monkeypatch: pytest.MonkeyPatch):
    engine = SlowEngine()
    monkeypatch.setattr(drive, "time", SimpleNamespace(perf_counter=lambda: engine.now))
    clock = drive.Clock(engine, Curve(100, 1, 1), None)
    for _ in range(20):
        clock.play(clock.chunk())
    assert engine.chunks[0] == 1
    assert set(engine.chunks[1:]) == {2}


def test_a_run_does_not_depend_on_its_chunks(monkeypatch: pytest.MonkeyPatch):
    whole = learned(episodes=60)
    monkeypatch.setattr(drive, "CHUNK_SECONDS", 0.0)
    cut = learned(episodes=60)
    assert cut.curve.tobytes() == whole.curve.tobytes()
    assert average(cut).stored.tobytes() == average(whole).stored.tobytes()
