"""Several processes share one directory of results: nothing is run twice, and all of them end with everything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stored import content

from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store
from tacit.experiments.spec import plan

LONG = Experiment(
    "shared",
    3_000_000,
    (GameSpec("good-state", {"horizon": 3}),),
    (LearnerSpec("stage-v-cce", {"bonus": 0.1}),),
    seeds=3,
    keep=False,
)

WORK = """
import json, sys
from tacit.experiments import Experiment, run_experiment
if __name__ == "__main__":
    found = run_experiment(Experiment.load(sys.argv[1]), out=sys.argv[2], on=sys.argv[3], workers=1)
    runs = [[one.spec.seed, one.learned, one.episodes, one.reward, one.gap.upper] for one in found.outcomes]
    print(json.dumps(runs))
"""


def begun(place: Path, out: Path, on: str) -> subprocess.Popen[str]:
    (place / "work.py").write_text(WORK)
    LONG.save(place / "e.toml")
    arguments = [sys.executable, str(place / "work.py"), str(place / "e.toml"), str(out), on]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.skipif(os.name != "posix", reason="SIGSTOP")
@pytest.mark.slow
@pytest.mark.parametrize("on", ["threads", "processes"])
def test_two_processes_share_the_work(on: str, tmp_path: Path):
    """One is stopped in the middle of its first run; the other does all the rest, waits, and has that one too."""
    out = tmp_path / "out"
    first, second, third = (out / spec.directory for spec in plan(LONG, keep=True))
    slow = begun(tmp_path, out, on)
    while not (first / store.CURVE).exists() or not (first / store.CURVE).read_bytes():
        assert slow.poll() is None
        time.sleep(0.01)
    os.killpg(slow.pid, signal.SIGSTOP)
    assert not store.is_finished(first)
    quick = begun(tmp_path, out, on)
    while not (store.is_finished(second) and store.is_finished(third)):
        assert quick.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    assert quick.poll() is None  # it waits for the run that the other holds
    os.killpg(slow.pid, signal.SIGCONT)
    told = [json.loads(process.communicate()[0]) for process in (slow, quick)]
    assert [process.returncode for process in (slow, quick)] == [0, 0]
    K = LONG.episodes
    assert [run[:2] for run in told[0]] == [[0, K], [1, 0], [2, 0]]
    assert [run[:2] for run in told[1]] == [[0, 0], [1, K], [2, K]]
    for one, other in zip(*told, strict=True):
        assert one[2:] == other[2:]
    run_experiment(LONG, out=tmp_path / "alone")
    assert content(out) == content(tmp_path / "alone")


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_what_a_killed_process_held_is_taken_up_by_one_that_waits(tmp_path: Path):
    out = tmp_path / "out"
    first, second, third = (out / spec.directory for spec in plan(LONG, keep=True))
    doomed = begun(tmp_path, out, "threads")
    while not (first / store.CURVE).exists() or not (first / store.CURVE).read_bytes():
        assert doomed.poll() is None
        time.sleep(0.01)
    os.killpg(doomed.pid, signal.SIGSTOP)
    heir = begun(tmp_path, out, "threads")
    while not (store.is_finished(second) and store.is_finished(third)):
        assert heir.poll() is None
        time.sleep(0.02)
    os.killpg(doomed.pid, signal.SIGKILL)
    doomed.communicate()
    told = json.loads(heir.communicate()[0])
    assert [run[1] for run in told] == [LONG.options.episodes] * 3  # there was no checkpoint yet
    run_experiment(LONG, out=tmp_path / "alone")
    assert content(out) == content(tmp_path / "alone")
