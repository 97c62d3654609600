"""The same experiment on Ray and on Dask: clusters of this machine, started by their own libraries."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from stored import content

import tacit
from tacit.cli.main import main
from tacit.experiments import Experiment, GameSpec, LearnerSpec, Progress, run_experiment
from tacit.experiments.backends import RayExecutor, join_dask
from tacit.experiments.worker import import_scripts

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals"),
]

LEARNERS = tuple(LearnerSpec("stage-v-cce", {"bonus": bonus}) for bonus in (0.1, 0.2))
JOIN_DASK = partial(join_dask, workers=None, setup=None)
WAITING = str(Path(__file__).with_name("waiting.py"))


def test_files_are_the_same_and_a_game_file_travels(cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The workers were started elsewhere, so that they do not find the file; its tables are sent."""
    monkeypatch.chdir(tmp_path)
    tacit.make("good-state", horizon=3).save("game.npz")
    experiment = Experiment("same", 200, (GameSpec("game.npz"), GameSpec("chicken")), LEARNERS, seeds=2, points=5)
    run_experiment(experiment, out="here", on="threads", workers=1)
    seen: list[Progress] = []
    run_experiment(experiment, out="there", on=cluster, progress=seen.append)
    assert len(content(Path("here"))) == 8
    assert content(Path("there")) == content(Path("here"))
    assert (seen[-1].done, seen[-1].runs, seen[-1].failed) == (8, 8, 0)


@pytest.mark.usefixtures("without_trouble")
def test_a_run_that_fails_is_one_sentence(cluster: str, tmp_path: Path):
    (tmp_path / "trouble").touch()
    script = str(Path(__file__).with_name("trouble.py"))
    import_scripts([script])
    learner = LearnerSpec("trouble", {"file": str(tmp_path / "trouble"), "dies": False})
    results = run_experiment(Experiment("mixed", 20, "chicken", (learner,), seeds=2, scripts=(script,)), on=cluster)
    assert [one.spec.seed for one in results.outcomes] == [0]
    assert [one.sentence for one in results.failures] == ["RuntimeError: not today"]


@pytest.mark.slow
def test_the_run_of_a_killed_worker_is_run_again(cluster: str, tmp_path: Path):
    """The disk is shared, so that it goes on from its checkpoint."""
    import_scripts([WAITING])
    sweep = Experiment(
        "sweep", 20_000, (GameSpec("good-state", {"horizon": 3}),), LEARNERS[:1], seeds=2, scripts=(WAITING,)
    )
    run_experiment(sweep, out=tmp_path / "reference")
    (tmp_path / "wait1").write_text("first")

    def kill() -> None:
        deadline = time.monotonic() + 240
        while not (waiting := list(tmp_path.glob("waiting1-first-*"))):
            assert time.monotonic() < deadline, "no run has come so far"
            time.sleep(0.05)
        (tmp_path / "wait1").unlink()
        os.kill(int(waiting[0].name.rpartition("-")[2]), signal.SIGKILL)

    with ThreadPoolExecutor(1) as aside:
        killed = aside.submit(kill)
        results = run_experiment(sweep, out=tmp_path / "out", on=cluster, every=0)
        killed.result()
    assert not results.failures
    assert content(tmp_path / "out") == content(tmp_path / "reference")


@pytest.mark.parametrize(
    "connect", [RayExecutor, pytest.param(partial(join_dask, workers=None, setup=None), marks=pytest.mark.slow)]
)
def test_a_dead_address_is_told_soon(connect: Any):
    pytest.importorskip("ray" if connect is RayExecutor else "distributed")
    began = time.monotonic()
    with pytest.raises(tacit.TacitError, match=r"no (Ray cluster|Dask scheduler) answers at '127\.0\.0\.1:1'"):
        connect("127.0.0.1:1")
    assert time.monotonic() - began < 60  # Ray itself tries for longer


@pytest.mark.parametrize("on", ["ray", "dask", "ray:", "dask:"])
def test_a_cluster_without_an_address_is_refused(on: str, capsys: pytest.CaptureFixture[str]):
    assert main(["run", "chicken", "npg", "--episodes", "5", "--on", on]) == 2
    assert "on must have the address of the cluster" in capsys.readouterr().err


def test_a_timeout_on_a_cluster_is_refused():
    with pytest.raises(tacit.TacitError, match="timeout must be left out"):
        run_experiment(Experiment("a", 5, "chicken", "npg"), on="ray:auto", timeout=1)


@pytest.mark.slow
def test_interrupted_on_a_cluster_what_is_done_is_kept(dask_cluster: Any, tmp_path: Path):
    experiment = Experiment("long", 1_000_000, ("good-state",), ("stage-v-cce",), seeds=4, keep=False)
    short = Experiment("short", 100, ("good-state",), ("stage-v-cce",), seeds=4, keep=False)
    on = f"dask:{dask_cluster.scheduler_address}"
    run_experiment(short, on=on)  # workers have imported everything

    def interrupt(at: Progress) -> None:
        if at.done:
            raise KeyboardInterrupt

    results = run_experiment(experiment, out=tmp_path, on=on, progress=interrupt)
    assert results.interrupted
    assert 1 <= len(results.outcomes) < 4
