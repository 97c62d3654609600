"""The same experiment in processes, on Ray and on Dask, with everything that goes wrong there; the engines are real."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import worker_jobs as jobs
from stored import content

import tacit
from tacit.cli.main import main
from tacit.engine import Advanced, Event, Measured, Noted, Started
from tacit.experiments import Experiment, GameSpec, LearnerSpec, Progress, progress, run_experiment, store
from tacit.experiments.carried import Carried
from tacit.experiments.executors import Failure, run_all

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(os.name != "posix", reason="signals"),
]

LEARNERS = tuple(LearnerSpec("stage-v-cce", {"bonus": bonus}) for bonus in (0.1, 0.2))
LONG = Experiment("long", 600_000, (GameSpec("good-state", {"horizon": 3}),), LEARNERS[:1], seeds=2, keep=False)


def told(results: list[Any]) -> list[Any]:
    return [one.sentence if isinstance(one, Failure) else one for one in results]


def test_results_events_and_failures(engine: str):
    seen: list[tuple[int, Event]] = []
    more: dict[str, Any] = {"on": engine, "setup": Carried.packed(())}
    batch = run_all(jobs.double, range(5), watch=lambda k, event: seen.append((k, event)), **more)
    assert [found for found, _ in batch.results] == [0, 2, 4, 6, 8]
    assert os.getpid() not in {pid for _, pid in batch.results}
    for k in range(5):
        assert [event for index, event in seen if index == k] == [
            Advanced(k, 10),
            Measured({"episode": float(k)}),
            Noted(f"number {k}"),
        ]
    assert told(run_all(jobs.picky, range(6), **more).results) == [
        0,
        "ValueError: one is too few",
        "two is company",
        "SystemExit: three is a crowd",
        "OSError: [Errno 28] No space left on device",
        5,
    ]


def test_byte_identical_and_a_game_file_travels(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The workers were started elsewhere, so that they do not find the file; its tables are sent."""
    monkeypatch.chdir(tmp_path)
    tacit.make("good-state", horizon=3).save("game.npz")
    experiment = Experiment("same", 200, (GameSpec("game.npz"), GameSpec("chicken")), LEARNERS, seeds=2, points=5)
    run_experiment(experiment, out="here", on="threads:1")
    seen: list[Progress] = []
    run_experiment(experiment, out="there", on=engine, progress=seen.append)
    assert len(content(Path("here"))) == 8
    assert content(Path("there")) == content(Path("here"))
    assert (seen[-1].done, seen[-1].runs, seen[-1].failed, seen[-1].running) == (8, 8, 0, {})
    assert max(sum(at.running.values()) for at in seen) >= 1
    assert main(["evaluate", "there", "--json"]) == 0


class Killer:
    """Kills the worker of a run when a third of all is done, and listens to what is then resumed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.workers: list[int] = []
        self.killed = 0
        self.started: list[Started] = []
        began, called = progress.ProgressWatch.began, progress.ProgressWatch.__call__

        def noted(watch: Any, index: int, where: str) -> None:
            self.workers.append(int(where.partition(":")[2]))
            began(watch, index, where)

        def heard(watch: Any, index: int, event: Event) -> None:
            if isinstance(event, Started):
                self.started.append(event)
            called(watch, index, event)

        monkeypatch.setattr(progress.ProgressWatch, "began", noted)
        monkeypatch.setattr(progress.ProgressWatch, "__call__", heard)

    def __call__(self, at: Progress) -> None:
        if not self.killed and at.episodes > at.total / 3 and at.running:
            self.killed = self.workers[-1]
            os.kill(self.killed, signal.SIGKILL)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    out = tmp_path_factory.mktemp("reference")
    run_experiment(LONG, out=out)
    return content(out)


def test_a_worker_killed_in_the_middle_of_a_run(
    engine: str, tmp_path: Path, reference: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    """Its run goes on elsewhere where its checkpoint was, and Dask's nanny restarts the worker."""
    killer = Killer(monkeypatch)
    results = run_experiment(LONG, out=tmp_path, on=engine, every=0, progress=killer)
    assert killer.killed
    assert not results.failures
    assert len(killer.started) > LONG.seeds
    assert any(event.done > 0 for event in killer.started)  # resumed from a checkpoint
    assert content(tmp_path) == reference


def test_a_node_of_ray_is_removed(
    ray_cluster: Any, tmp_path: Path, reference: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    node = ray_cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
    began: list[str] = []
    monkeypatch.setattr(progress.ProgressWatch, "began", lambda watch, index, where: began.append(where))
    removed: list[threading.Thread] = []

    def remove(at: Progress) -> None:
        if at.episodes > at.total / 4 and not removed:
            removed.append(
                threading.Thread(target=ray_cluster.remove_node, args=(node,), kwargs={"allow_graceful": False})
            )
            removed[0].start()

    results = run_experiment(LONG, out=tmp_path, on=f"ray:{ray_cluster.address}", every=0, progress=remove)
    assert removed
    removed[0].join()
    assert not results.failures
    assert content(tmp_path) == reference


@pytest.fixture
def _registry(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tacit.learners.REGISTRY, "_factories", dict(tacit.learners.REGISTRY._factories))
    sys.modules.pop("trouble", None)
    yield
    sys.modules.pop("trouble", None)


def _trouble(on: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "trouble").touch()
    dies = not on.startswith("threads")
    script = str(Path(__file__).with_name("trouble.py"))
    line = ["run", "chicken", "trouble", "--import", script, "--episodes", "5", "--seeds", "6", "--on", on]
    line += ["--set", f"file={tmp_path / 'trouble'}", "--set", f"dies={str(dies).lower()}", "--json"]
    line += ["--out", str(tmp_path / "out"), "--timeout", "8"]
    assert main(line) == 1
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["seed_list"] == ([0, 5] if dies else [0, 3, 5])
    sentences = {failure["seed"]: failure["sentence"] for failure in document["failures"]}
    assert sentences.pop(1) == "RuntimeError: not today"
    assert sentences.pop(2) == "it ran for more than 8 s, the timeout"
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


@pytest.mark.usefixtures("_registry")
def test_a_sweep_with_trouble_on_threads(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    _trouble("threads:3", tmp_path, capsys)


@pytest.mark.usefixtures("_registry")
def test_a_sweep_with_trouble_ends_with_all_that_could_be_done(
    engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """One raises, one hangs, one dies, one runs out of memory; then only those are run again."""
    _trouble(engine, tmp_path, capsys)


def begun(out: Path, file: Path, on: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tacit", "run", str(file), "--on", on, "--out", str(out), "--checkpoint-every", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def _underway(process: subprocess.Popen[str], out: Path) -> None:
    """Wait until a run has a checkpoint."""
    while not list(out.glob("*/checkpoint.npz")):
        assert process.poll() is None
        time.sleep(0.02)


def test_the_driver_is_killed_then_interrupted_and_started_again(
    engine: str, tmp_path: Path, reference: dict[str, object]
):
    out, file = tmp_path / "out", tmp_path / "e.toml"
    LONG.save(file)
    first = begun(out, file, engine)
    _underway(first, out)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    second = begun(out, file, engine)
    deadline = time.monotonic() + 60
    while not any(store.finished(place) for place in out.iterdir()) and time.monotonic() < deadline:
        assert second.poll() is None
        time.sleep(0.02)
    os.killpg(second.pid, signal.SIGINT)
    _, err = second.communicate(timeout=120)
    if second.returncode != 0:  # it may have been done by then
        assert second.returncode == 130
        assert "run the same command again to go on" in err
        assert "Traceback" not in err
    finished = {place: place.stat().st_mtime_ns for place in out.glob("*/summary.json")}
    assert finished
    assert not run_experiment(LONG, out=out, on=engine).failures
    assert finished == {place: place.stat().st_mtime_ns for place in finished}  # only what was missing
    for place in out.iterdir():  # a task that nobody waits for any more may have written its checkpoint late
        with contextlib.suppress(OSError):
            (place / store.CHECKPOINT).unlink()
    assert content(out) == reference
