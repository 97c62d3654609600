"""Damaged and hostile policies and games end as themselves or in one sentence that names the file; never otherwise."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutations import mutate_arrays, mutate_bytes, mutate_tree, write_npz

import tacit
from tacit.core import files, memory
from tacit.policies import MarkovPolicy, RecordedPolicy

AVAILABLE = 64_000_000
GAME = tacit.make("random-general-sum", states=2, actions=[2, 3], horizon=2, seed=1)


def certified() -> RecordedPolicy:
    rng = np.random.default_rng(0)
    return RecordedPolicy(rng.integers(2, size=(40, 2)), rng.dirichlet(np.ones(3), (40, 2)), actions=(2, 3), states=2)


MADE: dict[str, Any] = {
    "product": MarkovPolicy.random(GAME),
    "correlated": MarkovPolicy.random(GAME, correlated=True),
    "certified": certified(),
    "game": GAME,
}


def load(what: str, place: Path) -> Any:
    """Read it, and use what was read."""
    found = tacit.load(place) if what == "game" else type(MADE[what]).load(place)
    if isinstance(found, RecordedPolicy):
        part = found.part(0)
        part.begin(0)
        assert 0 <= part.act(0, 0) < found.actions[0]
    repr(found)
    return found


def outcome(what: str, place: Path) -> bool:
    """Return whether a file was taken; it is refused in one sentence or not at all."""
    try:
        load(what, place)
    except tacit.TacitError as error:
        told = str(error)
        assert str(place) in told
        assert "\n" not in told
        assert len(told) < 900
        return False
    return True


def fuzz(count: int, what: str, write: Callable[[random.Random], None], place: Path) -> int:
    taken = 0
    for k in range(count):
        try:
            write(random.Random(k))
            taken += outcome(what, place)
        except Exception as error:
            raise AssertionError(f"{what}, seed {k}") from error
    return taken


def count(small: int, large: int) -> Any:
    return pytest.mark.parametrize("count", [small, pytest.param(large, marks=pytest.mark.slow)])


@count(150, 8_000)
@pytest.mark.parametrize("what", MADE)
def test_arrays(what: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: AVAILABLE)
    place = tmp_path / "x.npz"
    MADE[what].save(place)
    arrays = files.read_arrays(place)
    taken = fuzz(count, what, lambda rng: write_npz(place, mutate_arrays(arrays, rng)), place)
    print(f"{what}: {count} files of altered arrays, {taken} taken, {count - taken} refused")
    assert count / 100 < taken < count / 2


@count(150, 6_000)
@pytest.mark.parametrize("what", MADE)
def test_bytes(what: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: AVAILABLE)
    place = tmp_path / "x.npz"
    MADE[what].save(place)
    whole = place.read_bytes()

    def write(rng: random.Random) -> None:
        place.unlink(missing_ok=True)
        place.write_bytes(mutate_bytes(whole, rng))

    taken = fuzz(count, what, write, place)
    print(f"{what}: {count} damaged files, {taken} taken, {count - taken} refused")
    assert taken < count / 2


@count(200, 10_000)
@pytest.mark.parametrize("what", ["product", "correlated"])
def test_documents(what: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: AVAILABLE)
    place = tmp_path / "x.json"
    MADE[what].save(place)
    whole = json.loads(place.read_text())

    def write(rng: random.Random) -> None:
        place.unlink(missing_ok=True)
        place.write_text(json.dumps(mutate_tree(whole, rng)))

    taken = fuzz(count, what, write, place)
    print(f"{what}: {count} altered documents, {taken} taken, {count - taken} refused")
    assert taken < count / 2


@pytest.mark.parametrize("number", ["1e400", str(2**70), "9" * 400, "-1e400", str(2**63)])
@pytest.mark.parametrize("key", ["states", "steps", "actions", "probs"])
def test_numbers_beyond_the_machine(number: str, key: str, tmp_path: Path):
    place = tmp_path / "x.json"
    MADE["product"].save(place)
    document = json.loads(place.read_text())
    container, last = (document, key) if key in ("states", "steps") else (document[key], 0)
    container[last] = "NUMBER"
    place.write_text(json.dumps(document).replace('"NUMBER"', number))
    with pytest.raises(tacit.TacitError, match=r"x\.json is not a Markov policy"):
        MarkovPolicy.load(place)


@pytest.mark.parametrize("key", ["visited", "stored", "states", "actions"])
@pytest.mark.parametrize("value", [np.uint64(2**64 - 1), np.int64(-1), np.float64(np.inf), np.float64(np.nan)])
def test_numbers_beyond_the_machine_in_arrays(key: str, value: Any, tmp_path: Path):
    place = tmp_path / "x.npz"
    MADE["certified"].save(place)
    arrays = files.read_arrays(place)
    altered = np.array(arrays[key], dtype=value.dtype)
    altered.reshape(-1)[0] = value
    files.write_arrays(place, {**arrays, key: altered})
    with pytest.raises(tacit.TacitError, match=r"x\.npz is not a recorded policy"):
        RecordedPolicy.load(place)


@pytest.mark.parametrize("states", [2**31, 2**63, 2**70])
def test_more_states_than_there_are_numbers(states: int):
    with pytest.raises(tacit.TacitError, match="states must be a whole number"):
        RecordedPolicy(np.zeros((3, 2), dtype=int), np.full((3, 2, 1), 0.5), actions=(2,), states=states)
