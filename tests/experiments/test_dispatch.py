"""Jobs on threads, in processes and on somebody else's executor: results, events, failures, deaths, Ctrl-C."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest
import worker_jobs as jobs
from dispatching import run_all

import tacit
from tacit.engine import Advanced, Event, Measured, Noted
from tacit.experiments.backends import Backend, Key, Message
from tacit.experiments.runner import Dispatcher, Failure, run_experiment

SPAWN = multiprocessing.get_context("spawn")

posix = pytest.mark.skipif(os.name != "posix", reason="signals")


class AtOnce(Executor):
    """The simplest executor there is: it runs a job when it is handed over."""

    def __init__(self) -> None:
        self.jobs, self.down = 0, False

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def,override]
        self.jobs += 1
        done: Future[object] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:
            done.set_exception(error)
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.down = True


class Vanishing(Backend):
    """A cluster that is gone when it is listened to."""

    closed = False

    def start(self, key: Key, parcel: object) -> None: ...

    def receive(self, timeout: float) -> list[tuple[Key, Message]]:
        raise tacit.TacitError("the cluster is lost")

    def close(self) -> None:
        self.closed = True


def test_a_lost_place_is_one_sentence_and_jobs_are_let_go_of():
    ended: list[tuple[int, object]] = []

    class Listening(Dispatcher):
        def end(self, k: int, result: object) -> None:
            ended.append((k, result))

    place = Vanishing(1)
    with pytest.raises(tacit.TacitError, match="the cluster is lost"):
        Listening(jobs.double, range(2)).dispatch(lambda: place)
    assert (ended, place.closed) == ([(0, None), (1, None)], True)


@pytest.fixture(params=["threads", "processes", "another"])
def on(request: pytest.FixtureRequest) -> str | Executor:
    return AtOnce() if request.param == "another" else request.param


def told(results: list[object]) -> list[object]:
    return [one.sentence if isinstance(one, Failure) else one for one in results]


def test_results_come_in_the_order_of_the_items(on: str | Executor):
    batch = run_all(jobs.double, range(5), on=on, workers=2)
    assert not batch.interrupted
    assert [found for found, _ in batch.results] == [0, 2, 4, 6, 8]
    places = {pid for _, pid in batch.results}
    assert (os.getpid() in places) == (on != "processes")
    assert len(places) <= 2


def test_nothing_to_do(on: str | Executor):
    assert run_all(jobs.double, [], on=on).results == []


@pytest.mark.parametrize("where", ["threads", "processes"])
def test_events_come_back_with_the_number_of_their_item(where: str):
    seen: list[tuple[int, Event]] = []
    run_all(jobs.double, [7, 8, 9], on=where, workers=2, watch=lambda k, event: seen.append((k, event)))
    for k, n in enumerate((7, 8, 9)):
        assert [event for index, event in seen if index == k] == [
            Advanced(n, 10),
            Measured({"episode": float(n)}),
            Noted(f"number {n}"),
        ]


def test_another_executor_has_no_way_back_for_events_and_is_left_open():
    other = AtOnce()
    seen: list[tuple[int, Event]] = []
    batch = run_all(jobs.double, [7, 8], on=other, watch=lambda k, event: seen.append((k, event)))
    assert [found for found, _ in batch.results] == [14, 16]
    assert (seen, other.jobs, other.down) == ([], 2, False)


def test_a_failing_job_is_told_in_one_sentence_and_ends_no_other(on: str | Executor):
    batch = run_all(jobs.picky, range(6), on=on, workers=1)
    assert told(batch.results) == [
        0,
        "ValueError: one is too few",
        "two is company",
        "SystemExit: three is a crowd",
        "OSError: [Errno 28] No space left on device",
        5,
    ]
    assert not batch.interrupted


@pytest.mark.parametrize("where", ["threads", "processes"])
def test_what_a_job_raised_is_logged_with_its_trace(where: str, caplog: pytest.LogCaptureFixture):
    with caplog.at_level("DEBUG", logger="tacit"):
        run_all(jobs.picky, [0, 1], on=where, workers=1)
    assert "in picky" in caplog.text


def test_a_result_that_does_not_pickle_is_a_failure():
    batch = run_all(jobs.unpicklable, [0], on="processes")
    assert isinstance(batch.results[0], Failure)
    assert "unpicklable.<locals>" in batch.results[0].sentence  # how it says the rest depends on the Python


@posix
def test_a_dying_worker_takes_nothing_with_it_and_its_job_is_tried_again(tmp_path: Path):
    seen: list[tuple[int, Event]] = []
    items = [(n, tmp_path / "deaths", 2) for n in range(6)]
    batch = run_all(jobs.dies, items, on="processes", workers=2, watch=lambda k, event: seen.append((k, event)))
    assert batch.results == list(range(6))
    assert seen == [(1, Noted("about to die"))] * 2


@posix
def test_a_job_whose_workers_always_die_fails_alone(tmp_path: Path):
    items = [(n, tmp_path / "deaths", 99) for n in range(6)]
    batch = run_all(jobs.dies, items, on="processes", workers=1)
    assert len((tmp_path / "deaths").read_bytes()) == 3
    assert isinstance(batch.results[1], Failure)
    assert batch.results[1].sentence.startswith("its worker process died 3 times")
    assert [one for k, one in enumerate(batch.results) if k != 1] == [0, 2, 3, 4, 5]


def test_a_broken_or_closed_executor_is_a_failure():
    with ThreadPoolExecutor(1) as closed:
        pass
    assert told(run_all(jobs.double, [1], on=closed).results) == [
        "RuntimeError: cannot schedule new futures after shutdown"
    ]


@posix
def test_a_process_pool_of_ones_own(tmp_path: Path):
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        assert [found for found, _ in run_all(jobs.double, [1, 2], on=pool).results] == [2, 4]
        batch = run_all(jobs.dies, [(1, tmp_path / "deaths", 1)], on=pool)
    assert isinstance(batch.results[0], Failure)
    assert "BrokenProcessPool" in batch.results[0].sentence


def test_setup_comes_first_and_once_in_every_worker_process(tmp_path: Path):
    batch = run_all(jobs.signed, [tmp_path] * 6, on="processes", workers=2, setup=partial(jobs.sign, tmp_path))
    assert batch.results == [1] * 6
    assert 1 <= len(list(tmp_path.iterdir())) <= 2
    assert not list(tmp_path.glob(f"{os.getpid()}-*"))


def test_setup_comes_first_on_another_executor_too(tmp_path: Path):
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        batch = run_all(jobs.signed, [tmp_path] * 2, on=pool, setup=partial(jobs.sign, tmp_path))
    assert batch.results == [1, 1]


def test_a_setup_that_fails_fails_every_job():
    batch = run_all(jobs.double, [1, 2, 3], on="processes", workers=1, setup=jobs.fail)
    assert told(batch.results) == ["nothing is prepared"] * 3


def test_what_workers_print_does_not_reach_stdout(capfd: pytest.CaptureFixture[str]):
    assert run_all(jobs.loud, [1], on="processes").results == [1]
    out, err = capfd.readouterr()
    assert out == ""
    assert "spoken" in err
    assert "shouted" in err


@pytest.mark.parametrize("wrong", ["thread", "", "threads:", "processes:2", 3, ThreadPoolExecutor, None])
def test_a_place_that_is_none_is_told(wrong: object):
    with pytest.raises(tacit.TacitError, match=r"on must be|no executor|workers must be"):
        run_all(jobs.double, [1], on=wrong)  # type: ignore[arg-type]
    with pytest.raises(tacit.TacitError, match="workers must be"):
        run_all(jobs.double, [1], workers=0)


@pytest.mark.parametrize(("timeout", "on"), [(0, "threads"), (1, AtOnce())])
def test_a_timeout_that_cannot_be_is_refused(timeout: float, on: str | Executor):
    with pytest.raises(tacit.TacitError, match="timeout"):
        run_experiment(tacit.Experiment("a", 5, "chicken", "npg"), on=on, timeout=timeout)


@pytest.fixture
def interruptible() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("where", ["threads", "processes"])
def test_control_c_lets_running_jobs_end_early_and_the_rest_never_begin(where: str, tmp_path: Path):
    running: set[int] = set()

    def interrupt(k: int, event: Event) -> None:
        running.add(k)
        if running == {0, 1}:
            running.add(-1)
            signal.raise_signal(signal.SIGINT)

    items = [(n, tmp_path) for n in range(4)]
    batch = run_all(jobs.endless, items, on=where, workers=2, watch=interrupt)
    assert batch.interrupted
    assert batch.results == [("ended early", 0), ("ended early", 1), None, None]
    assert {path.name for path in tmp_path.iterdir()} == {"begun0", "begun1"}


@posix
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("where", ["threads", "processes"])
def test_control_c_does_not_wait_for_a_job_that_has_not_begun_to_play(where: str, tmp_path: Path):
    """As one that compiles: it has nothing to lose."""

    def interrupt() -> None:
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    batch = run_all(jobs.silent, [tmp_path / "begun"], on=where)
    assert batch.interrupted
    assert batch.results == [None]


@posix
@pytest.mark.usefixtures("interruptible")
def test_control_c_on_another_executor_leaves_what_runs_and_cancels_the_rest(tmp_path: Path):
    def interrupt() -> None:
        while not (tmp_path / "begun0").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    items = [(n, tmp_path) for n in range(3)]
    with ThreadPoolExecutor(1) as pool:
        threading.Thread(target=interrupt).start()
        batch = run_all(jobs.endless, items, on=pool)
        assert batch.interrupted
        assert batch.results == [None] * 3
        (tmp_path / "enough").touch()
    assert not (tmp_path / "begun1").exists()


@posix
def test_workers_do_not_outlive_their_parent(tmp_path: Path):
    """The parent dies by SIGKILL; its workers notice, even in the middle of a job."""
    script = (
        "import pathlib, sys; sys.path.insert(0, sys.argv[2])\n"
        "import worker_jobs\nfrom dispatching import run_all\n"
        "if __name__ == '__main__':\n"
        "    run_all(worker_jobs.endless, [(0, pathlib.Path(sys.argv[1]))], on='processes')\n"
    )
    (tmp_path / "main.py").write_text(script)
    parent = subprocess.Popen([sys.executable, str(tmp_path / "main.py"), str(tmp_path), str(Path(__file__).parent)])
    while not (tmp_path / "begun0").exists() or not (tmp_path / "begun0").read_text():
        assert parent.poll() is None
        time.sleep(0.02)
    worker = psutil.Process(int((tmp_path / "begun0").read_text()))
    parent.kill()
    parent.wait()
    with contextlib.suppress(psutil.NoSuchProcess):
        while worker.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.02)
