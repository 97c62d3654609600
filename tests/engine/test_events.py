"""One stream of events: what `progress=` sees, what the logger gets, and that they tell the truth."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.engine import Advanced, Event, Finished, Measured, Noted, Started, events
from tacit.engine.checkpoint import Checkpoint

#: How to run each engine: on which game, with which learner.
ENGINES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "fused": ("stage-v-cce", {"bonus": 0.1}, {}),
    "fused gradient": ("pg-storm", {}, {}),
    "exact": ("npg", {"eta": 1e-5}, {}),
}

#: How notes begin that say what a run is doing, and are not kept.
PASSING = ("compiling", "playing up to")


def run_with(progress: Callable[[Event], None] | bool | None, engine: str, **more: Any) -> tacit.Run:
    learner, params, options = ENGINES[engine]
    game = tacit.make("good-state", horizon=3)
    return tacit.learn(game, learner, episodes=100, points=4, seed=2, progress=progress, **params, **options, **more)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_row_of_the_curve_is_an_event_with_reward_and_gap(engine: str):
    seen: list[Event] = []
    run = run_with(seen.append, engine)
    rows = [event.row for event in seen if isinstance(event, Measured)]
    assert len(rows) == 4
    for row, kept in zip(rows, run.curve, strict=True):
        assert tuple(row) == run.curve.dtype.names
        assert list(row.values()) == list(kept.tolist())
        assert np.isfinite([row["reward"], row["gap"], row["value"], row["reward_1"]]).all()
    assert rows[-1]["gap"] == pytest.approx(run.gap if engine != "exact" else run.candidates["last"].gap, abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_they_come_in_order(engine: str):
    seen: list[Event] = []
    run = run_with(seen.append, engine)
    assert seen[0] == Started("good-state", run.learner, 2, 100, 0, ())
    assert seen[-1] == Finished(100, "episodes")
    done = [event.done for event in seen if isinstance(event, Advanced)]
    assert done == sorted(set(done))
    assert done[-1] == 100
    assert all(event.total == 100 for event in seen if isinstance(event, Advanced))
    played = 0
    for event in seen:  # a window is measured when its episodes have been played, and then they are counted
        if isinstance(event, Advanced):
            played = event.done
        elif isinstance(event, Measured):
            assert played < event.row["episode"] <= 100


def test_in_an_environment_too():
    pytest.importorskip("pettingzoo")
    seen: list[Event] = []
    env = tacit.to_pettingzoo(tacit.make("good-state", horizon=3))
    run = tacit.learn(env, "stage-v-cce", episodes=40, points=4, progress=seen.append)
    assert [event.row["episode"] for event in seen if isinstance(event, Measured)] == [10, 20, 30, 40]
    assert [event.row["reward"] for event in seen if isinstance(event, Measured)] == run.curve["reward"].tolist()
    texts = [event.text for event in seen if isinstance(event, Noted) and not event.text.startswith(PASSING)]
    assert texts == list(run.notes)
    assert run.notes
    ends = [event for event in seen if not isinstance(event, Noted)]  # learning ends before what it learned is measured
    assert ends[-1] == Finished(40, "episodes")


def test_what_is_noted_is_told_once():
    pytest.importorskip("pettingzoo")
    from toys import Whispers

    seen: list[Event] = []
    with pytest.warns(UserWarning, match="different observations"):
        run = tacit.learn(Whispers(), "stage-v-cce", episodes=5, progress=seen.append)
    noted = [event for event in seen if isinstance(event, Noted) and not event.urgent]
    told = [event.text for event in noted if not event.text.startswith(PASSING)]
    assert len(told) == len(set(told))
    untold = {*run.notes, *run.warnings} - set(told)
    assert set(told) < {*run.notes, *run.warnings}
    assert {note.split()[0] for note in untold} == {"a"}  # few random episodes suggested horizon and range
    assert any(isinstance(event, Noted) and event.urgent for event in seen)


def test_interrupted_at_any_event_the_run_ends_with_what_was_done():
    """Raising KeyboardInterrupt is Ctrl-C: before anything is done there is nothing to keep, at the end it is late."""
    seen: list[Event] = []
    run_with(seen.append, "fused")
    for which, event in enumerate(seen):
        count = 0

        def stop(one: Event, which: int = which) -> None:
            nonlocal count
            count += 1
            if count == which + 1:
                raise KeyboardInterrupt

        if isinstance(event, Started):
            with pytest.raises(KeyboardInterrupt):
                run_with(stop, "fused")
            continue
        whole = event in seen[-3:]  # the last row, the last count, the end
        if whole:
            run = run_with(stop, "fused")
        else:
            with pytest.warns(UserWarning, match="interrupted"):
                run = run_with(stop, "fused")
        done = event.row["episode"] if isinstance(event, Measured) else event.done  # type: ignore[union-attr]
        assert run.episodes == done
        assert run.interrupted == (not whole)
        assert run.curve["episode"][-1] == done


def test_another_error_of_a_watcher_is_passed_on():
    def stumble(event: Event) -> None:
        if isinstance(event, Measured):
            raise RuntimeError("stumbled")

    with pytest.raises(RuntimeError, match="stumbled"):
        run_with(stumble, "fused")


@pytest.mark.parametrize("wrong", [3, "yes", [print]])
def test_a_watcher_that_is_none_is_told(wrong: object):
    with pytest.raises(tacit.TacitError, match="must be a function of an event"):
        run_with(wrong, "fused")  # type: ignore[arg-type]


def test_a_resumed_run_starts_with_the_rows_it_had(tmp_path: Path):
    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= 60:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        part = run_with(stop, "fused", checkpoint=Checkpoint(tmp_path / "c.npz", key="a"))
    seen: list[Event] = []
    run_with(seen.append, "fused", checkpoint=Checkpoint(tmp_path / "c.npz", key="a"))
    assert isinstance(seen[0], Started)
    assert (seen[0].done, seen[0].episodes) == (part.episodes, 100) == (75, 100)
    assert [row["gap"] for row in seen[0].rows] == part.curve["gap"].tolist()
    assert [event.row["episode"] for event in seen if isinstance(event, Measured)] == [100]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_logger_gets_them_all(engine: str, caplog: pytest.LogCaptureFixture):
    seen: list[Event] = []
    with caplog.at_level(logging.DEBUG, "tacit"):
        run_with(seen.append, engine)
    records = [record for record in caplog.records if record.name == "tacit"]
    assert [record.args for record in records] == [(event,) for event in seen]
    levels = {Started: logging.INFO, Finished: logging.INFO, Measured: logging.DEBUG, Advanced: logging.DEBUG}
    assert [record.levelno for record in records] == [levels[type(event)] for event in seen]
    assert "reward" in caplog.text
    assert "gap" in caplog.text


def test_at_info_the_logger_tells_the_beginning_and_the_end_only(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, "tacit"):
        run_with(None, "fused")
    told = [record.getMessage() for record in caplog.records if record.name == "tacit"]
    assert len(told) == 2
    assert told[0].startswith("Started(game='good-state', learner='stage-v-cce', seed=2, episodes=100")
    assert told[1] == "Finished(done=100, ended='episodes')"


def test_watching_changes_nothing():
    seen: list[Event] = []
    watched, alone = run_with(seen.append, "fused"), run_with(None, "fused")
    assert watched.curve.tobytes() == alone.curve.tobytes()
    assert watched.policy.stored.tobytes() == alone.policy.stored.tobytes()


def test_the_line_says_how_far_the_run_is_and_is_gone_in_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(events, "_BETWEEN", 0.0)
    quiet = run_with(None, "exact")
    run_with(False, "exact")
    assert capsys.readouterr().err == ""  # which is no terminal
    shown = run_with(True, "exact")
    states = capsys.readouterr().err.split("\r")
    assert any("good-state | npg  50 %" in state and "reward" in state for state in states)
    assert states[-2].strip() == states[-1] == ""
    np.testing.assert_array_equal(shown.curve, quiet.curve)


def test_a_terminal_sees_the_line_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TACIT_PROGRESS", raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert events.show_progress()
    monkeypatch.setenv("TACIT_PROGRESS", "0")
    assert not events.show_progress()
