"""The same experiment in processes, with everything that goes wrong there."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import worker_jobs as jobs
from dispatching import run_all
from stored import content

import tacit
from tacit.cli.main import main
from tacit.engine import Advanced, Event, Measured, Noted, Started
from tacit.experiments import (
    Experiment,
    GameSpec,
    LearnerSpec,
    Progress,
    run_experiment,
    runner,
    store,
)
from tacit.experiments.runner import Failure
from tacit.experiments.worker import WorkerSetup, import_scripts

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and /proc"),
]

LEARNERS = tuple(LearnerSpec("stage-v-cce", {"bonus": bonus}) for bonus in (0.1, 0.2))
WAITING = str(Path(__file__).with_name("waiting.py"))
SWEEP = Experiment(
    "sweep", 20_000, (GameSpec("good-state", {"horizon": 3}),), LEARNERS[:1], seeds=2, scripts=(WAITING,)
)
#: Seconds after which something that should happen counts as not happening, on a busy machine too.
PATIENCE = 240

PROCESSES = "processes"


def told(results: list[Any]) -> list[Any]:
    return [one.sentence if isinstance(one, Failure) else one for one in results]


def test_results_events_and_failures():
    seen: list[tuple[int, Event]] = []
    more: dict[str, Any] = {"on": PROCESSES, "setup": WorkerSetup.pack(())}
    items = [*range(5), *(("picky", n) for n in range(7))]
    batch = run_all(jobs.both, items, watch=lambda k, event: seen.append((k, event)), **more)
    assert [found for found, _ in batch.results[:5]] == [0, 2, 4, 6, 8]
    assert os.getpid() not in {pid for _, pid in batch.results[:5]}
    for k in range(5):
        assert [event for index, event in seen if index == k] == [
            Advanced(k, 10),
            Measured({"episode": float(k)}),
            Noted(f"number {k}"),
        ]
    *others, hungry = told(batch.results[5:])
    assert "Unable to allocate" in hungry
    assert others == [
        0,
        "ValueError: one is too few",
        "two is company",
        "SystemExit: three is a crowd",
        "OSError: [Errno 28] No space left on device",
        5,
    ]
    assert told(run_all(jobs.picky, [7], timeout=1, **more).results) == ["it ran for more than 1 s, the timeout"]


def test_byte_identical_and_a_game_file_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The workers were started elsewhere, so that they do not find the file; its tables are sent."""
    monkeypatch.chdir(tmp_path)
    tacit.make("good-state", horizon=3).save("game.npz")
    experiment = Experiment("same", 200, (GameSpec("game.npz"), GameSpec("chicken")), LEARNERS, seeds=2, points=5)
    run_experiment(experiment, out="here", on="threads", workers=1)
    seen: list[Progress] = []
    run_experiment(experiment, out="there", on=PROCESSES, progress=seen.append)
    assert len(content(Path("here"))) == 8
    assert content(Path("there")) == content(Path("here"))
    assert (seen[-1].done, seen[-1].runs, seen[-1].failed, seen[-1].running) == (8, 8, 0, 0)
    assert max(at.running for at in seen) >= 1
    assert main(["evaluate", "there", "--json"]) == 0


def waiting(place: Path, seed: int, told: str) -> int:
    """Wait until a run waits, and return its process; see waiting.py."""
    deadline = time.monotonic() + PATIENCE
    while not (found := list(place.glob(f"waiting{seed}-{told}-*"))):
        assert time.monotonic() < deadline, "no run has come so far"
        time.sleep(0.05)
    return int(found[0].name.rpartition("-")[2])


class Heard:
    """Listens to the runs that begin."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[int] = []  # episodes that each had behind it
        called = runner.ExperimentRunner.event

        def heard(watch: Any, index: int, event: Event) -> None:
            if isinstance(event, Started):
                self.done.append(event.done)
            called(watch, index, event)

        monkeypatch.setattr(runner.ExperimentRunner, "event", heard)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What is stored where nothing goes wrong."""
    import_scripts([WAITING])
    out = tmp_path_factory.mktemp("reference") / "out"
    run_experiment(SWEEP, out=out)
    return content(out)


def lives(pid: int) -> bool:
    """Whether a process is there; one that nobody has waited for yet is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def interrupted(on: str, place: Path, heard: Heard, fault: Callable[[int], object]) -> list[str]:
    """Run the experiment; when both runs are in the middle, let something end one of them, given one's process.

    Return what was noted of deaths.

    It waits until it was heard that they began, too: what a worker was about to tell dies with it.

    The runs go on when one process has ended: those of a node that was removed take a moment to notice, and a run
    could be done by then.
    """
    for seed in (0, 1):
        (place / f"wait{seed}").write_text("first")

    def happen() -> None:
        try:
            both = waiting(place, 0, "first"), waiting(place, 1, "first")
            deadline = time.monotonic() + PATIENCE
            while len(heard.done) < 2:
                assert time.monotonic() < deadline, "a run has not told that it began"
                time.sleep(0.05)
            fault(both[1])
            while all(map(lives, both)):
                assert time.monotonic() < deadline, "neither process has ended"
                time.sleep(0.05)
        finally:
            for seed in (0, 1):
                (place / f"wait{seed}").unlink()

    with ThreadPoolExecutor(1) as aside:
        happened = aside.submit(happen)
        notes: list[str] = []
        results = run_experiment(SWEEP, out=place / "out", on=on, every=0, note=notes.append)
        happened.result()
    assert not results.failures
    return [note for note in notes if "died" in note]


def test_a_worker_killed_in_the_middle_of_a_run(
    tmp_path: Path, reference: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    """Its run goes on elsewhere where its checkpoint was."""
    heard = Heard(monkeypatch)
    killed: list[int] = []
    noted = interrupted(PROCESSES, tmp_path, heard, lambda pid: os.kill(killed.append(pid) or pid, signal.SIGKILL))
    which = f"{socket.gethostname()}:{killed[0]} died; another takes over its run (good-state with stage-v-cce, seed 1)"
    assert noted == [f"the worker {which}"]
    assert sorted(done > 0 for done in heard.done) == [False, False, True]
    assert content(tmp_path / "out") == reference


def _trouble(on: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "trouble").touch()
    dies = not on.startswith("threads")
    script = str(Path(__file__).with_name("trouble.py"))
    line = ["run", "chicken", "trouble", "--import", script, "--episodes", "5", "--seeds", "6"]
    line += ["--on", on, "--workers", "3"]
    line += ["--set", f"file={tmp_path / 'trouble'}", "--set", f"dies={str(dies).lower()}", "--json"]
    line += ["--out", str(tmp_path / "out"), "--timeout", "10"]
    assert main(line) == 1
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["seed_list"] == ([0, 5] if dies else [0, 3, 5])
    sentences = {failure["seed"]: failure["sentence"] for failure in document["failures"]}
    assert sentences.pop(1) == "RuntimeError: not today"
    assert sentences.pop(2) == "it ran for more than 10 s, the timeout"
    assert "Unable to allocate" in sentences.pop(4)
    if dies:
        assert sentences.pop(3).startswith("its worker process died 3 times")
    assert not sentences
    assert "Traceback" not in err
    for seed in (1, 2, 4):
        assert f"tacit: chicken with trouble, seed {seed}, failed: " in err
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*seed[05]*/*")}
    assert before
    (tmp_path / "trouble").unlink()
    assert main(line) == 0
    assert json.loads(capsys.readouterr()[0])["seed_list"] == list(range(6))
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.slow
@pytest.mark.usefixtures("without_trouble")
def test_a_sweep_with_trouble_on_threads(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    _trouble("threads", tmp_path, capsys)


@pytest.mark.usefixtures("without_trouble")
def test_a_sweep_with_trouble_ends_with_all_that_could_be_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """One raises, one hangs, one dies, one runs out of memory; then only those are run again."""
    _trouble(PROCESSES, tmp_path, capsys)


def begun(out: Path, file: Path, on: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "tacit", "run", str(file), "--import", WAITING, "--on", on, "--out", str(out)]
    return subprocess.Popen(
        [*line, "--checkpoint-every", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.slow  # tests of kills and of Ctrl-C have each by itself
def test_the_driver_is_killed_then_interrupted_and_started_again(tmp_path: Path, reference: dict[str, object]):
    """The second one is interrupted when one run has ended and the other is in the middle."""
    out, file = tmp_path / "out", tmp_path / "e.toml"
    SWEEP.save(file)
    (tmp_path / "wait1").write_text("first")
    first = begun(out, file, PROCESSES)
    waiting(tmp_path, 1, "first")
    assert first.poll() is None
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    (tmp_path / "wait1").write_text("second")
    second = begun(out, file, PROCESSES)
    waiting(tmp_path, 1, "second")
    deadline = time.monotonic() + PATIENCE
    while not (finished := {path: path.stat().st_mtime_ns for path in out.glob("*_seed0_*/summary.json")}):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(second.pid, signal.SIGINT)
    time.sleep(1)
    (tmp_path / "wait1").unlink()
    _, err = second.communicate(timeout=PATIENCE)
    if second.returncode != 0:  # on a slow machine it may have been done before it heard of Ctrl-C
        assert second.returncode == 130
        assert "run the same command again to go on" in err
        assert "Traceback" not in err
    assert not run_experiment(SWEEP, out=out, on=PROCESSES).failures
    assert finished == {path: path.stat().st_mtime_ns for path in finished}  # only what was missing
    for place in out.iterdir():  # a task that nobody waits for any more may have written its checkpoint late
        with contextlib.suppress(OSError):
            (place / store.CHECKPOINT).unlink()
    assert content(out) == reference
