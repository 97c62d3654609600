"""Stored runs: read back as they were, never half used, never run twice, never mixed up."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from stored import content

import tacit
from tacit.cli.main import main
from tacit.core import files
from tacit.experiments import Experiment, GameSpec, LearnerSpec, Progress, run_experiment, store

SMALL = Experiment(
    "small",
    300,
    (GameSpec("good-state", {"horizon": 3}),),
    (LearnerSpec("stage-v-cce", {"bonus": 0.1}, "V-learning"), LearnerSpec("pg-storm")),
    seeds=2,
    points=5,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of finished runs; not to be changed."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run_experiment(SMALL, out=out)
    return out


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    """A copy that may be changed."""

    return Path(shutil.copytree(whole, tmp_path / "out"))


def run_of(out: Path, learner: str = "stage-v-cce") -> Path:
    return sorted(out.glob(f"*{learner}_seed0*"))[0]


def test_what_is_read_is_what_was_learnt(whole: Path):
    learnt = run_experiment(SMALL)
    read = run_experiment(SMALL, out=whole)
    assert [(group.game, group.learner) for group in read.groups] == [
        ("good-state", "V-learning"),
        ("good-state", "pg-storm"),
    ]
    for mine, yours in zip(learnt.outcomes, read.outcomes, strict=True):
        assert mine.curve.tobytes() == yours.curve.tobytes()
        assert mine.curve.dtype == yours.curve.dtype
        assert (mine.reward, mine.value, mine.gap, mine.params, mine.label) == (
            yours.reward,
            yours.value,
            yours.gap,
            yours.params,
            yours.label,
        )
        assert (mine.learned, yours.learned) == (300, 0)


def test_the_policy_is_that_of_the_run(whole: Path):
    run = tacit.learn(
        tacit.make("good-state", horizon=3), "stage-v-cce", episodes=300, points=5, seed=0, bonus=0.1, keep=True
    )
    read = store.load_policy(run_of(whole))
    np.testing.assert_allclose(read.probs[0], run.policy.probs[0], atol=1e-15)


def test_finished_runs_are_not_run_again(out: Path, monkeypatch: pytest.MonkeyPatch):
    def never(*args: object, **kwargs: object) -> None:
        raise AssertionError

    before = content(out)
    monkeypatch.setattr("tacit.experiments.worker.run_learner", never)
    run_experiment(SMALL, out=out)
    assert content(out) == before


def test_what_killed_workers_left_unwritten_is_removed(out: Path):
    run, finished = run_of(out), run_of(out, "pg-storm")
    (run / store.SUMMARY).unlink()

    left: list[Path] = []

    def leave(at: Progress) -> None:
        if at.running and not left:  # so this process holds the directory
            left.append(run / ".checkpoint.npz.0123.part")
            left[0].touch()

    (finished / ".checkpoint.npz.4567.part").touch()
    run_experiment(SMALL, out=out, progress=leave)
    assert left
    assert store.is_finished(run)
    assert list(out.rglob(".*")) == []


def test_more_seeds_run_only_what_is_missing(out: Path):
    more = run_experiment(replace(SMALL, seeds=3), out=out)
    assert [one.learned for one in more.outcomes] == [0, 0, 300, 0, 0, 300]


def test_a_new_label_is_stored_and_nothing_run(out: Path):
    renamed = replace(SMALL, learners=(replace(SMALL.learners[0], label="another"), SMALL.learners[1]))
    again = run_experiment(renamed, out=out)
    assert [one.learned for one in again.outcomes] == [0] * 4
    assert store.load(run_of(out)).label == "another"


@pytest.mark.parametrize("name", ["summary.json", "curve.jsonl", "policy.npz", "spec.toml"])
@pytest.mark.parametrize("harm", ["cut", "flipped", "empty", "removed"])
def test_a_damaged_finished_run_is_reported_by_name(
    name: str, harm: str, out: Path, capsys: pytest.CaptureFixture[str]
):
    if (name, harm) == ("summary.json", "removed"):
        pytest.skip("a run without a summary is not finished")
    path = run_of(out) / name
    whole = path.read_bytes()
    place = whole.index(b"episodes") + 2 if name == "spec.toml" else len(whole) // 2
    if harm == "removed":
        path.unlink()
    else:
        flipped = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        path.write_bytes({"cut": whole[:place], "flipped": flipped, "empty": b""}[harm])
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    with pytest.raises(tacit.TacitError, match=name) as error:
        run_experiment(SMALL, out=out)
    assert "\n" not in str(error.value)
    assert before == {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    for command in (["evaluate", str(out)], ["plot", str(out)]):
        assert main(command) == 2
        assert name in capsys.readouterr().err


def test_every_single_byte_of_a_summary_counts(out: Path):
    path = run_of(out) / "summary.json"
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            store.load(run_of(out))
        except tacit.TacitError as error:
            assert "summary.json" in str(error)  # noqa: PT017
        else:
            assert json.loads(path.read_bytes()) == json.loads(whole)  # only white space was changed


def test_a_run_under_anothers_name_is_not_taken(out: Path):
    one, other = run_of(out), run_of(out, "pg-storm")
    for file in one.iterdir():
        file.unlink()
    for file in other.iterdir():
        (one / file.name).write_bytes(file.read_bytes())
    with pytest.raises(tacit.TacitError, match="holds another run than its name says"):
        run_experiment(SMALL, out=out)


def test_a_damaged_checkpoint_is_told_and_the_run_starts_over(out: Path):
    before = content(out)
    run = run_of(out)
    for name in ("summary.json", "curve.jsonl", "policy.npz"):
        (run / name).unlink()
    (run / "checkpoint.npz").write_bytes(b"PK nothing")
    told: list[str] = []
    again = run_experiment(SMALL, out=out, note=told.append)
    assert len(told) == 1
    assert str(run / "checkpoint.npz") in told[0]
    assert again.outcomes[0].learned == 300
    assert content(out) == before


def test_a_policy_that_was_not_kept_is_told(tmp_path: Path):
    run_experiment(replace(SMALL, keep=False, seeds=1), out=tmp_path)
    assert not list(tmp_path.glob("*/policy.npz"))
    with pytest.raises(tacit.TacitError, match="holds no policy"):
        store.load_policy(run_of(tmp_path))


def test_a_run_that_another_process_holds_is_waited_for_and_taken_up(out: Path):
    whole = content(out)
    held, free = run_of(out), run_of(out, "pg-storm")
    for run in (held, free):
        (run / "summary.json").unlink()
    hold = (
        "import sys, pathlib; from tacit.experiments import store\n"
        "with store.lock_directory(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([sys.executable, "-c", hold, str(held)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    found: list[Any] = []
    runner = threading.Thread(target=lambda: found.append(run_experiment(SMALL, out=out)))
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        runner.start()
        while not store.is_finished(free):  # meanwhile the others are run
            assert runner.is_alive()
            time.sleep(0.02)
        time.sleep(0.2)
        assert runner.is_alive()
        assert not store.is_finished(held)
    finally:
        holder.kill()  # the lock ends with its holder
        holder.communicate()
    runner.join()
    assert [one.learned for one in found[0].outcomes] == [300, 0, 300, 0]
    assert content(out) == whole


def blocked(tmp_path: Path) -> Path:
    """Return a directory in which not even root may write."""
    if os.geteuid() == 0:
        return Path("/proc/tacit")
    tmp_path.chmod(0o500)
    return tmp_path / "out"


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_where_nothing_can_be_written_it_is_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    place = blocked(tmp_path)
    assert main(["run", "chicken", "npg", "--episodes", "3", "--out", str(place)]) == 2
    assert capsys.readouterr().err.startswith(f"tacit: cannot write {place}: ")


def test_out_that_is_a_file_is_told(tmp_path: Path):
    (tmp_path / "out").write_text("")
    with pytest.raises(tacit.TacitError, match="cannot write"):
        run_experiment(SMALL, out=tmp_path / "out")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files.write(tmp_path / "a", b"old")

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(tacit.TacitError, match=r"cannot write .*a: No space left on device"):
        files.write(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"


LINE = ["run", "good-state", "stage-v-cce", "--episodes", "2000000", "--no-keep", "--json"]


def begun(out: Path, on: str) -> subprocess.Popen[bytes]:
    """Start the command in a process group of its own, which a Ctrl-C reaches as a terminal's does: all of it."""
    return subprocess.Popen(
        [sys.executable, "-m", "tacit", *LINE, "--on", on, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background would ignore it
    )


@pytest.mark.skipif(os.name != "posix", reason="SIGINT")
@pytest.mark.parametrize("on", [pytest.param("threads", marks=pytest.mark.slow), "processes"])
def test_control_c_keeps_what_was_done_and_the_same_command_goes_on(on: str, tmp_path: Path):
    out = tmp_path / "out"
    process = begun(out, on)
    while not any(path.stat().st_size for path in out.glob("*/curve.jsonl")):  # it has begun to play, for seconds
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    told, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in err
    document = json.loads(told)
    assert document["interrupted"]
    assert 0 < document["episodes_done"][0] < 2_000_000
    assert len(list(out.glob("*/checkpoint.npz"))) == 1
    assert not list(out.glob("*/summary.json"))
    long = Experiment("long", 2_000_000, (GameSpec("good-state"),), (LearnerSpec("stage-v-cce"),), keep=False)
    again = run_experiment(long, out=out).outcomes[0]
    assert again.learned == 2_000_000 - document["episodes_done"][0]
    run_experiment(long, out=tmp_path / "whole")
    assert content(out) == content(tmp_path / "whole")


@pytest.mark.skipif(os.name != "posix", reason="SIGINT")
def test_control_c_while_workers_start_is_no_traceback(tmp_path: Path):
    process = begun(tmp_path / "out", "processes")
    while len(psutil.Process(process.pid).children()) < 2:  # the resource tracker and a worker
        assert process.poll() is None
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in err
