"""Experiments whose runs stop at a gap or by the clock: names, files, and what is read back."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core import check
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store
from tacit.experiments.results import group_outcomes
from tacit.experiments.spec import convert, dumps, plan

LEARNER = LearnerSpec("stage-v-cce", {"bonus": 0.1, "iota": 1.0, "step": 1.0, "loss": "raw"})


def experiment(**given: Any) -> Experiment:
    return Experiment("a", games=(GameSpec("good-state", {"horizon": 3}),), learners=(LEARNER,), **given)


def test_the_file_has_them(tmp_path: Path):
    given = experiment(gap=0.5, seconds=2.0)
    given.save(tmp_path / "a.toml")
    assert Experiment.load(tmp_path / "a.toml") == given
    assert "episodes" not in (tmp_path / "a.toml").read_text()
    runs = plan(given, keep=True)
    assert (runs[0].options.gap, runs[0].options.seconds, runs[0].options.episodes) == (0.5, 2.0, check.EPISODES)
    assert convert(tomllib.loads(dumps(runs[0])), type(runs[0])) == runs[0]


def test_runs_with_other_limits_are_other_runs():
    given = [{}, {"gap": 0.5}, {"gap": 1}, {"seconds": 5.0}, {"gap": 0.5, "seconds": 5.0}]
    hashes = [plan(experiment(episodes=100, **one), keep=True)[0].hash for one in given]
    assert len(set(hashes)) == len(hashes)
    assert plan(experiment(gap=1), keep=True)[0].hash == plan(experiment(gap=1.0), keep=True)[0].hash


def test_nothing_that_ends_runs_is_told():
    assert experiment().options.episodes == 10_000
    with pytest.raises(tacit.TacitError, match="seconds must be"):
        experiment(seconds=0)


def test_a_run_that_stopped_at_its_gap_is_stored_and_read(tmp_path: Path):
    given = experiment(gap=1.0, seeds=2)
    first = run_experiment(given, out=tmp_path)
    again = run_experiment(given, out=tmp_path)
    assert [one.ended for one in first.outcomes] == ["gap", "gap"]
    for new, old in zip(again.outcomes, first.outcomes, strict=True):
        assert new.learned == 0 < old.learned == old.episodes
        assert (new.episodes, new.ended, new.gap, new.notes) == (old.episodes, "gap", old.gap, old.notes)
        assert new.curve.tobytes() == old.curve.tobytes()
        assert new.curve["ended"][-1] == "gap"
        assert store.load_policy(tmp_path / new.spec.directory).agents == new.agents
    told = first.groups[0].summary()
    assert told["episodes"] == max(told["episodes_done"])
    assert (told["ended"], told["limits"]) == (["gap", "gap"], {"gap": 1.0, "seconds": None})
    closed = run_experiment(experiment(episodes=300), out=tmp_path)
    names = [group.learner for group in group_outcomes([*first.outcomes, *closed.outcomes])]
    assert len(names) == len(set(names)) == 2


def test_a_run_by_the_clock_says_so_and_is_not_run_again(tmp_path: Path):
    given = experiment(seconds=0.2)
    first = run_experiment(given, out=tmp_path).outcomes[0]
    again = run_experiment(given, out=tmp_path).outcomes[0]
    assert first.ended == again.ended == "seconds"
    assert first.episodes == again.episodes
    assert again.learned == 0
    assert any("depends on the machine" in note for note in again.notes)


@pytest.mark.parametrize("ended", ["soon", 3, None])
def test_an_end_that_no_run_has_is_refused(tmp_path: Path, ended: Any):
    one = run_experiment(experiment(gap=1.0), out=tmp_path).outcomes[0]
    place = tmp_path / one.spec.directory
    summary = json.loads((place / store.SUMMARY).read_text())
    summary["ended"] = ended
    del summary["digest"]
    summary["digest"] = store.digest(json.dumps(summary, sort_keys=True).encode())
    (place / store.SUMMARY).write_text(json.dumps(summary))
    with pytest.raises(tacit.TacitError, match="ended"):
        store.load(place)


def test_curves_of_other_words_are_refused():
    from tacit.experiments.store import read_curve as loads

    row = {"episode": 1, "reward": 0.0, "value": 0.0, "gap": 0.0, "ended": "gap"}
    assert loads(json.dumps(row).encode())["ended"].tolist() == ["gap"]
    for wrong in ("soon", 3, None, ["gap"]):
        with pytest.raises(tacit.TacitError, match="not a curve"):
            loads(json.dumps({**row, "ended": wrong}).encode())
    assert np.isnan(loads(json.dumps({**row, "gap": None}).encode())["gap"]).all()
