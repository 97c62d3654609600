"""Interrupted at any point and resumed, every learner ends with the bits of an uninterrupted run."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.engine import Advanced, Event
from tacit.engine.checkpoint import Checkpoint
from tacit.evaluation import gaps
from tacit.learners import REGISTRY

GAMES = {
    "good-state": ("good-state", {"horizon": 3}),
    "zero-sum": ("random-zero-sum", {"states": 2, "actions": 3, "horizon": 2, "seed": 2}),
    "three agents": ("random-general-sum", {"agents": 3, "actions": [2, 3, 2], "states": 2, "horizon": 2, "seed": 2}),
}
PARAMS: dict[str, dict[str, Any]] = {
    "npg": {"gradient": "sampled", "eta": 0.01},
    "pg-storm": {"start": "random"},
    "pg-q": {"gradient": "sampled"},
    "pg-exact": {"eta": "theory"},  # a line search is through before the first interruption
}


def learn(game: tacit.TabularGame, learner: str, **more: Any) -> tacit.Run:
    return tacit.learn(game, learner, **{"episodes": 200, "points": 7, "seed": 3, **PARAMS.get(learner, {}), **more})


def resumed(game: tacit.TabularGame, learner: str, path: Path, stops: list[int], **more: Any) -> tacit.Run:
    """Learn with an interrupt after each of the stops."""
    for stop in stops:

        def progress(event: Event, stop: int = stop) -> None:
            if isinstance(event, Advanced) and event.done >= stop:
                raise KeyboardInterrupt

        with pytest.warns(UserWarning, match="interrupted"):
            learn(game, learner, checkpoint=Checkpoint(path, key="a"), progress=progress, **more)
    last = Checkpoint(path, key="a")
    run = learn(game, learner, checkpoint=last, **more)
    assert last.resumed >= stops[-1]
    return run


def same(one: tacit.Run, other: tacit.Run) -> None:
    assert one.curve.tobytes() == other.curve.tobytes()
    assert one.curve.dtype == other.curve.dtype
    for key in ("reward", "values"):
        np.testing.assert_array_equal(getattr(one, key), getattr(other, key))
    np.testing.assert_array_equal(one.gaps.upper, other.gaps.upper)
    for policy in ("last", "sampled"):
        mine, yours = getattr(one, policy), getattr(other, policy)
        assert (mine is None) == (yours is None)
        if mine is not None:
            assert [own.tobytes() for own in mine.probs] == [own.tobytes() for own in yours.probs]
    if isinstance(one.policy, tacit.policies.RecordedPolicy):
        assert one.policy.stored.tobytes() == other.policy.stored.tobytes()
        assert one.policy.visited.tobytes() == other.policy.visited.tobytes()
    else:
        assert [own.tobytes() for own in one.policy.probs] == [own.tobytes() for own in other.policy.probs]


#: Learners that are made for other games, and those with a test of their own.
ELSEWHERE = {"pg-two-timescale": "zero-sum"}
CASES = [(learner, ELSEWHERE.get(learner, "good-state")) for learner in REGISTRY if learner != "ppo"] + [
    ("stage-v-ce", "three agents"),
    ("npg", "three agents"),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("learner", "game"), CASES)
def test_a_resumed_run_ends_with_the_same_bits(learner: str, game: str, tmp_path: Path):
    name, params = GAMES[game]
    made = tacit.make(name, **params)
    same(resumed(made, learner, tmp_path / "c.npz", [1, 30, 45], episodes=60), learn(made, learner, episodes=60))


def test_a_compiled_run_does_too(tmp_path: Path):
    made = tacit.make("good-state", horizon=3)
    same(resumed(made, "stage-v-cce", tmp_path / "c.npz", [1, 90, 150]), learn(made, "stage-v-cce"))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("options", [{"certify": False}, {"certify": True}], ids=str)
def test_with_and_without_a_certificate(options: dict[str, Any], tmp_path: Path):
    game = tacit.make("good-state", horizon=3)
    for learner in ("stage-v-ce", "pg-sgd"):
        path = tmp_path / f"{learner}.npz"
        one, other = resumed(game, learner, path, [100], **options), learn(game, learner, **options)
        assert one.curve.tobytes() == other.curve.tobytes()
        np.testing.assert_array_equal(one.gaps.upper, other.gaps.upper)


def test_a_run_that_stops_at_a_gap(tmp_path: Path):
    game = tacit.make("good-state", horizon=3)
    options: dict[str, Any] = {"eta": 0.05, "gap": 0.05}
    whole = learn(game, "pg-exact", **options)
    assert 20 < whole.episodes < 200
    same(resumed(game, "pg-exact", tmp_path / "c.npz", [10, 20], **options), whole)


@pytest.mark.parametrize("name", ["pg-exact", "npg"])
def test_a_line_search_goes_on_with_the_steps_it_had(name: str, tmp_path: Path):
    game = tacit.make("random-general-sum", agents=2, states=2, actions=3, horizon=3, seed=1)
    options: dict[str, Any] = {"eta": "auto", "gradient": "exact"} if name == "npg" else {"eta": "auto"}
    whole = learn(game, name, **options)
    assert whole.episodes == 200
    same(resumed(game, name, tmp_path / "c.npz", [1, 7, 150], **options), whole)


@pytest.mark.parametrize("harm", ["cut", "flipped", "other key", "not a file of arrays"])
def test_a_checkpoint_that_cannot_be_used_is_told_and_the_run_starts_over(harm: str, tmp_path: Path):
    game, path = tacit.make("good-state", horizon=3), tmp_path / "c.npz"
    resumed(game, "stage-v-cce", path, [100])
    content, key = path.read_bytes(), "a"
    if harm == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif harm == "flipped":
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif harm == "other key":
        key = "b"
    else:
        path.write_text("nothing")
    told: list[str] = []
    checkpoint = Checkpoint(path, key=key, note=told.append)
    same(learn(game, "stage-v-cce", checkpoint=checkpoint), learn(game, "stage-v-cce"))
    assert len(told) == 1
    assert "c.npz" in told[0]
    assert ("another key" in told[0]) == (harm == "other key")
    assert told[0].endswith("the run starts over")
    assert checkpoint.resumed == 0


def test_checkpoints_take_a_small_share_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import time

    from tacit.engine import checkpoint as module

    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    written = 0

    def slow(path: Path, arrays: object, **more: object) -> None:
        nonlocal now, written
        now += 2.0
        written += 1

    monkeypatch.setattr(module.files, "write_arrays", slow)
    checkpoint = Checkpoint(tmp_path / "c.npz", key="a", every=1.0)
    for _ in range(1000):
        now += 1.0
        if checkpoint.due:
            checkpoint.save({})
    assert 2.0 * written / now <= 0.05
    assert written > 20


def test_the_first_come_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What fails in its first minute has lost half of its time at most."""
    import time

    from tacit.engine import checkpoint as module

    now, written = 0.0, []
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    monkeypatch.setattr(module.files, "write_arrays", lambda path, arrays, **more: written.append(now))
    checkpoint = Checkpoint(tmp_path / "c.npz", key="a")
    for _ in range(200):
        now += 1.0
        if checkpoint.due:
            checkpoint.save({})
    assert written == [1, 3, 7, 15, 31, 61, 91, 121, 151, 181]


def test_more_agents_are_no_more_arrays(tmp_path: Path):
    """Archives of very many arrays are refused, so a crowd could not be resumed."""
    names = []
    for name, params in GAMES.values():
        resumed(tacit.make(name, **params), "q-independent", tmp_path / name, [50])
        names.append(list(np.load(tmp_path / name)))
    assert names[0] == names[1]


def test_what_follows_control_c_neither_compresses_nor_sorts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Both took seconds for a long run: a checkpoint is stored as it is, and visits are counted without their order."""
    monkeypatch.setattr(gaps, "_QUICK", 0.0)
    path = tmp_path / "c.npz"

    def progress(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= 100:
            raise KeyboardInterrupt

    game = tacit.make("good-state", horizon=3)
    with pytest.warns(UserWarning, match="interrupted"):
        run = learn(game, "stage-v-cce", checkpoint=Checkpoint(path, key="a"), progress=progress)
    with zipfile.ZipFile(path) as archive:
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_STORED}
    record = run.candidates["average"].policy.records[0]
    assert "keys" not in vars(record)
    assert record.visit_count == len(record.keys) == 3 * run.episodes
