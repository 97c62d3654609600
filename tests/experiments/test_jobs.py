"""A job is a pure function of its specification: carried to another process, it gives the same bytes."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from dispatching import run_all
from stored import content, run_job

import tacit
from tacit.engine import Event, Finished, Measured, Started, Watcher
from tacit.experiments import Experiment, GameSpec, LearnerSpec, Outcome, RunSpec, store, worker
from tacit.experiments.spec import plan

GAMES = (GameSpec("good-state", {"horizon": 3}), GameSpec("chicken"))
LEARNERS = (
    LearnerSpec("stage-v-cce", {"bonus": 0.1}, "V-learning"),
    LearnerSpec("pg-storm", {"start": "random"}),
    LearnerSpec("npg"),
)


def specs(games: tuple[GameSpec, ...] = GAMES, **more: object) -> list[RunSpec]:
    return plan(Experiment("jobs", 150, games, LEARNERS, points=5, **more), keep=True)  # type: ignore[arg-type]


def summed_up(one: Outcome | None) -> list[object]:
    """Everything that an outcome says, but for how long it took."""
    assert one is not None
    numbers = [one.reward, one.value, one.gap, one.params, one.notes, one.episodes, one.learned, one.interrupted]
    return [one.spec, one.label, one.game, one.horizon, one.agents, *numbers, one.curve.dtype, one.curve.tobytes()]


def run_in(root: Path, spec: RunSpec, watch: Watcher | None) -> Outcome | None:
    return run_job(spec, root / spec.directory, watch)


def test_a_specification_survives_pickling():
    for spec in specs():
        carried = pickle.loads(pickle.dumps(spec))
        assert carried == spec
        assert (carried.hash, carried.directory, carried.label) == (spec.hash, spec.directory, spec.label)


def test_another_process_gives_the_same_outcome_and_the_same_files(tmp_path: Path):
    here, there, elsewhere = (tmp_path / name for name in ("here", "there", "elsewhere"))
    runs = specs()
    mine = [run_job(spec, here / spec.directory) for spec in runs]
    theirs = run_all(partial(run_in, there), runs, on="processes", workers=1).results
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        others = [pool.submit(run_job, spec, elsewhere / spec.directory).result() for spec in runs]
    in_memory = [run_job(spec) for spec in runs]
    for one, two, three, four in zip(mine, theirs, others, in_memory, strict=True):
        assert summed_up(one) == summed_up(two) == summed_up(three) == summed_up(four)
    assert content(here) == content(there) == content(elsewhere)
    assert len(content(here)) == 6


def test_a_finished_job_is_read_and_a_held_one_is_left(tmp_path: Path):
    spec = specs()[0]
    first = run_job(spec, tmp_path / "a")
    again = run_job(spec, tmp_path / "a")
    assert first is not None
    assert again is not None
    assert (first.learned, again.learned) == (150, 0)
    assert again.curve.tobytes() == first.curve.tobytes()
    from tacit.experiments import store

    store.make_directory(tmp_path / "b")
    with store.lock_directory(tmp_path / "b") as ours:
        assert ours
        assert run_job(spec, tmp_path / "b") is None
        assert [path.name for path in (tmp_path / "b").iterdir()] == [store.LOCK]
    assert run_job(spec, tmp_path / "b") is not None


def test_a_job_that_raises_lets_go_of_its_directory(tmp_path: Path):
    spec = specs()[0]

    def stumble(event: Event) -> None:
        if isinstance(event, Measured):
            raise RuntimeError("a watcher stumbled")

    with pytest.raises(RuntimeError, match="a watcher stumbled") as caught:
        run_job(spec, tmp_path / "a", stumble)
    assert not store.is_finished(tmp_path / "a")
    assert run_job(spec, tmp_path / "a") is not None  # while the error, and all that it refers to, is still there
    assert caught.value is not None


def test_the_events_of_a_job():
    seen: list[Event] = []
    one = run_job(specs()[0], watch=seen.append)
    assert one is not None
    assert isinstance(seen[0], Started)
    assert (seen[0].game, seen[0].learner, seen[0].seed, seen[0].episodes) == ("good-state", "stage-v-cce", 0, 150)
    assert seen[-1] == Finished(150, "episodes")
    rows = [event.row for event in seen if isinstance(event, Measured)]
    assert [row["gap"] for row in rows] == one.curve["gap"].tolist()


def test_a_game_that_is_another_by_now_is_refused(tmp_path: Path):
    file = tmp_path / "game.npz"
    tacit.make("chicken").save(file)
    spec = specs((GameSpec(str(file)),))[0]
    assert run_job(spec) is not None
    worker._GAMES.clear()  # as in another process
    tacit.make("stag-hunt").save(file)
    for send in (lambda order: worker.work(order, None), pickle.dumps):
        with pytest.raises(tacit.TacitError, match=r"the game .*game\.npz is not what it was when the run was made"):
            send(worker.Order(spec))
