"""`curve.jsonl` grows while a run goes on: one line for each measurement, all of them whole but perhaps the last."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stored import content, run_job

from tacit.engine import Event, Finished, Measured
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store
from tacit.experiments.spec import plan

SMALL = Experiment(
    "small",
    400,
    (GameSpec("good-state", {"horizon": 3}),),
    (LearnerSpec("stage-v-cce", {"bonus": 0.1}), LearnerSpec("pg-storm"), LearnerSpec("npg", {"eta": 0.1})),
    points=8,
)


def lines(place: Path) -> list[dict[str, Any]]:
    """The whole lines of a curve."""
    text = (place / store.CURVE).read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


@pytest.mark.parametrize("learner", [0, 1, 2])
def test_a_line_is_there_as_soon_as_it_is_measured(learner: int, tmp_path: Path):
    spec, seen = plan(SMALL, keep=True)[learner], []

    def look(event: Event) -> None:
        if isinstance(event, Measured):
            seen.append(dict(event.row))
            assert lines(tmp_path) == seen
            assert not store.is_finished(tmp_path)

    run_job(spec, tmp_path, look)
    assert len(seen) == 8
    assert [row["episode"] for row in seen] == [50 * k for k in range(1, 9)]
    assert lines(tmp_path) == seen


def test_what_was_not_measured_is_null_and_reads_as_nan(tmp_path: Path):
    bare = Experiment("bare", 100, SMALL.games, (LearnerSpec("pg-storm"),), points=2, certify=False)
    run_experiment(bare, out=tmp_path)
    (place,) = store.directories(tmp_path)
    assert [line["gap"] for line in lines(place)] == [None, None]
    assert "NaN" not in (place / store.CURVE).read_text()  # which is not JSON
    assert np.isnan(store.load(place).curve["gap"]).all()


def test_an_interrupted_run_shows_its_last_rows_and_goes_on_without_gaps(tmp_path: Path):
    spec = plan(SMALL, keep=True)[0]

    def stop(event: Event) -> None:
        if isinstance(event, Measured) and event.row["episode"] >= 150:
            raise KeyboardInterrupt

    one = run_job(spec, tmp_path / "a", stop)
    assert one is not None
    assert one.interrupted
    assert [row["episode"] for row in lines(tmp_path / "a")] == [50, 100, 150]
    seen: list[Event] = []
    run_job(spec, tmp_path / "a", seen.append)
    assert seen[0].done == 150
    assert [row["episode"] for row in seen[0].rows] == [50, 100, 150]
    assert [event.row["episode"] for event in seen if isinstance(event, Measured)] == [200, 250, 300, 350, 400]
    assert seen[-1] == Finished(400, "episodes")
    run_job(spec, tmp_path / "b")
    assert (tmp_path / "a" / store.CURVE).read_bytes() == (tmp_path / "b" / store.CURVE).read_bytes()


def test_the_whole_curve_is_on_disk_before_a_summary_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced, sync = [], os.fsync

    def note(handle: int) -> None:
        curve = tmp_path / store.CURVE
        if curve.exists() and os.fstat(handle).st_ino == curve.stat().st_ino:
            assert not store.is_finished(tmp_path)
            synced.append(curve.read_bytes())
        sync(handle)

    monkeypatch.setattr(os, "fsync", note)
    run_job(plan(SMALL, keep=True)[0], tmp_path)
    assert synced[-1] == (tmp_path / store.CURVE).read_bytes()
    assert synced[-1].count(b"\n") == 8


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed_the_curve_is_there_to_its_last_whole_line(tmp_path: Path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    out = tmp_path / "out"
    line = ["run", "good-state", "stage-v-cce", "--episodes", "1000000", "--points", "1000", "--no-keep"]
    command = [sys.executable, "-m", "tacit", *line, "--set", "bonus=0.1", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    before = 0
    while before < 20:
        assert process.poll() is None
        before = sum(len(lines(path.parent)) for path in out.glob("*/curve.jsonl"))
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (place,) = (path.parent for path in out.glob("*/curve.jsonl"))
    assert not store.is_finished(place)
    killed = lines(place)
    assert before <= len(killed) < 1000
    whole = tmp_path / "whole.jsonl"
    whole.write_text("".join(json.dumps(row) + "\n" for row in killed))
    for frame in (pandas.read_json(whole, lines=True), polars.read_ndjson(whole)):
        assert frame["episode"].to_list() == [1000 * k for k in range(1, len(killed) + 1)]
        assert len(frame["gap_1"]) == len(killed)
    again = Experiment(
        "again",
        1_000_000,
        (GameSpec("good-state"),),
        (LearnerSpec("stage-v-cce", {"bonus": 0.1}),),
        points=1000,
        keep=False,
    )
    run_experiment(again, out=out)
    assert lines(place)[: len(killed)] == killed
    assert len(lines(place)) == 1000
    assert set(content(out)) == {place.name}
