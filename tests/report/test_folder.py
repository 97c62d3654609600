"""Runs are read as their files say, finished or going on, whatever else is in the directory."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from stored_runs import GoingOn, look, rows_of

from tacit.core.errors import TacitError
from tacit.experiments import store
from tacit.report.results import FRESH, write_report


def test_a_run_that_goes_on_becomes_finished(results: Path, tmp_path: Path) -> None:
    going_on = GoingOn(results, tmp_path / "all" / "experiment", 4)  # one level deeper
    folder = look(tmp_path / "all")
    (run,) = folder.runs.values()
    assert (run.status, run.curve["episode"].tolist()) == ("running", [1, 2, 3, 4])
    assert not folder.look()
    going_on.grow(6)
    assert folder.look()
    (run,) = folder.runs.values()
    assert run.curve["gap"].tolist() == [row["gap"] for row in rows_of(going_on.run)]
    going_on.finish()
    assert folder.look()
    (run,) = folder.runs.values()
    assert (run.status, run.outcome.episodes) == ("finished", rows_of(going_on.run)[-1]["episode"])
    assert not folder.look()
    shutil.rmtree(going_on.run)
    assert folder.look()
    assert not folder.runs


def test_a_line_that_is_being_written_is_left_for_later(results: Path, tmp_path: Path) -> None:
    going_on = GoingOn(results, tmp_path / "all", 2)
    curve = going_on.run / store.CURVE
    with open(curve, "a") as stream:
        stream.write(going_on.lines[2][:20])
    folder = look(tmp_path / "all")
    assert folder.runs[going_on.run.name].curve["episode"].tolist() == [1, 2]
    curve.write_text(going_on.lines[0][:20])
    assert folder.look()
    assert folder.runs[going_on.run.name].curve is None
    curve.unlink()
    assert folder.look()
    assert folder.runs[going_on.run.name].curve is None


def test_a_run_that_stands_still_is_unfinished(results: Path, tmp_path: Path) -> None:
    going_on = GoingOn(results, tmp_path / "all", 4)
    for file in going_on.run.iterdir():
        os.utime(file, (0, time.time() - FRESH - 1))
    (run,) = look(tmp_path / "all").runs.values()
    assert run.status == "unfinished"


def test_damaged_runs_are_named(results: Path, tmp_path: Path) -> None:
    runs = sorted(results.iterdir())
    for k, damage in enumerate(("{", "x" * 100)):
        shutil.copytree(runs[k], tmp_path / f"run{k}")
        (tmp_path / f"run{k}" / (store.SPEC if k else store.SUMMARY)).write_text(damage)
    shutil.copytree(runs[0], tmp_path / "run2")
    spec = (runs[0] / store.SPEC).read_text()
    assert "horizon = 5" in spec
    (tmp_path / "run2" / store.SPEC).write_text(spec.replace("horizon = 5", f"horizon = 0x{'f' * 5000}"))
    shutil.copytree(runs[0], tmp_path / "run3")
    (tmp_path / "run3" / store.SUMMARY).unlink()
    (tmp_path / "run3" / store.CURVE).write_text('{"episode": 1, "reward": 1e999, "value": 1, "gap": 1}\n[[[[\n')
    folder = look(tmp_path)
    assert not folder.runs
    assert sorted(folder.problems) == ["run0", "run1", "run2", "run3"]
    assert "altered" in folder.problems["run0"]
    with pytest.raises(TacitError, match="altered"):
        write_report(tmp_path, tmp_path / "report.html")
    shutil.copytree(runs[0], tmp_path / "sound")
    assert folder.look()
    assert list(folder.runs) == ["sound"]
    assert np.array_equal(folder.runs["sound"].curve, store.load(runs[0]).curve)
