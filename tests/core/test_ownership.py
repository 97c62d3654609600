"""Games and policies own their memory: copies of what callers give, read-only, also when unpickled or copied."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import tacit
from tacit.core.memory import Owned, freeze
from tacit.games import Successors
from tacit.policies import MarkovPolicy, RecordedPolicy


def dense(arrays: list[Any]) -> Any:
    return tacit.TabularGame(*arrays, horizon=2)


def sparse(arrays: list[Any]) -> Any:
    return tacit.TabularGame(Successors(*arrays), np.zeros((1, 1, 2, 2)), [1, 0], 2)


def product(arrays: list[Any]) -> Any:
    return MarkovPolicy(arrays)


def correlated(arrays: list[Any]) -> Any:
    return MarkovPolicy(arrays[0])


def certified(arrays: list[Any]) -> Any:
    return RecordedPolicy(*arrays, actions=[2, 2], states=2)


#: How an object is made of arrays, these, and where it keeps them.
CASES: dict[str, tuple[Callable[[list[Any]], Any], list[np.ndarray], Callable[[Any], tuple[np.ndarray, ...]]]] = {
    "dense game": (
        dense,
        [np.full((1, 2, 2, 2), 0.5), np.arange(4.0).reshape(1, 1, 2, 2), np.array([0.5, 0.5])],
        lambda game: (game.transitions, game.rewards, game.initial),
    ),
    "sparse game": (
        sparse,
        [np.arange(5), np.zeros(4, np.int32), np.ones(4)],
        lambda game: tuple(game.successors),
    ),
    "product policy": (product, [np.full((1, 2, 2), 0.5), np.full((1, 2, 3), 1 / 3)], lambda policy: policy.probs),
    "correlated policy": (correlated, [np.full((1, 2, 2, 2), 0.25)], lambda policy: policy.probs),
    "certified policy": (
        certified,
        [np.zeros((4, 1), np.uint8), np.full((4, 1, 2), 0.5, np.float32)],
        lambda policy: (policy.visited, policy.stored),
    ),
}


def given(case: str) -> list[np.ndarray]:
    return [array.copy() for array in CASES[case][1]]


def viewed(array: np.ndarray) -> np.ndarray:
    """Return a read-only view; the caller can still write to the array."""
    view = array[...]
    view.flags.writeable = False
    return view


def shut(array: np.ndarray) -> np.ndarray:
    """Return the array itself, read-only until the caller thinks better of it."""
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("how", ["as it is", "a read-only view", "read-only for now", "with an earlier view"])
@pytest.mark.parametrize("case", CASES)
def test_nothing_the_caller_does_later_reaches_the_object(case: str, how: str):
    make, expected, held = CASES[case]
    arrays = given(case)
    views = [array[...] for array in arrays]
    change = {"as it is": lambda a: a, "a read-only view": viewed}.get(how, shut)
    made = make([change(array) for array in arrays])
    for array, view in zip(arrays, views, strict=True):
        if how == "read-only for now":
            array.flags.writeable = True
            array[...] = 7
        elif how == "with an earlier view":
            view[...] = 7
        else:
            array[...] = 7
    for kept, before in zip(held(made), expected, strict=True):
        np.testing.assert_array_equal(kept, before)


@pytest.mark.parametrize("case", CASES)
def test_arrays_from_a_buffer_or_another_library_are_copied(case: str):
    make, expected, held = CASES[case]

    class Series:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return self.array

    arrays = given(case)
    wrapped: list[Any] = [Series(array) for array in arrays]
    if case in ("sparse game", "correlated policy"):  # these ask for arrays
        wrapped = [np.frombuffer(memoryview(array).cast("B"), array.dtype).reshape(array.shape) for array in arrays]
    made = make(wrapped)
    for array in arrays:
        array[...] = 7
    for kept, before in zip(held(made), expected, strict=True):
        np.testing.assert_array_equal(kept, before)


COPIES: dict[str, Callable[[Any], Any]] = {
    "itself": lambda made: made,
    "pickled": lambda made: pickle.loads(pickle.dumps(made)),
    "pickled, protocol 2": lambda made: pickle.loads(pickle.dumps(made, protocol=2)),
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("case", CASES)
def test_arrays_are_read_only_and_stay_so(case: str, how: str):
    make, expected, held = CASES[case]
    made = COPIES[how](make(given(case)))
    for kept, before in zip(held(made), expected, strict=True):
        np.testing.assert_array_equal(kept, before)
        assert not kept.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            kept[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            kept.flags.writeable = True


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", ["box-pushing", "good-state", "random-general-sum"])
def test_a_copy_needs_no_new_machine_code(name: str, how: str, used: bool):
    game = tacit.make(name)
    if used:  # with all that is made on first use
        tacit.evaluate(game, MarkovPolicy.uniform(game))
        game.start(0.5)
        game.kernels()
    again = COPIES[how](game)
    assert numba.typeof(again.kernels()) == numba.typeof(tacit.make(name).kernels())
    np.testing.assert_array_equal(again.cumulative, game.cumulative)
    assert repr(again) == repr(game)


@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("case", CASES)
def test_masked_arrays_are_refused(case: str, place: int):
    make, *_ = CASES[case]
    arrays: list[Any] = given(case)
    arrays[place] = np.ma.masked_array(arrays[place], mask=True)
    with pytest.raises(tacit.TacitError, match="is a masked array; fill in the masked entries first"):
        make(arrays)


@pytest.mark.parametrize("within", [lambda a: [a], lambda a: [[1.0, np.ma.masked]]], ids=["a list", "a constant"])
def test_masked_arrays_within_lists_are_refused(within: Callable[[Any], Any]):
    rewards = within(np.ma.masked_array(np.zeros((1, 2, 2)), mask=True))
    with pytest.raises(tacit.TacitError, match="rewards is a masked array"):
        tacit.TabularGame(np.full((1, 2, 2, 2), 0.5), rewards, [1, 0], 1)
    with pytest.raises(tacit.TacitError, match="choices is a masked array"):
        MarkovPolicy.deterministic([np.ma.masked_array([[1]], mask=True)], [2])
    with pytest.raises(tacit.TacitError, match="payoffs is a masked array"):
        tacit.games.matrix_game(np.ma.masked_array(np.zeros((2, 2, 2)), mask=True))
    with pytest.raises(tacit.TacitError, match="weights is a masked array"):
        tacit.solve(tacit.make("chicken"), "ce", weights=np.ma.masked_array([1.0, 1.0], mask=[True, False]))


def test_lists_too_deep_for_an_array_are_told():
    deep: Any = 1.0
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(tacit.TacitError):
        tacit.TabularGame(deep, np.zeros((1, 1, 2, 2)), [1, 0], 1)


def test_what_is_given_away_is_not_copied():
    array = np.zeros((3, 4))
    assert np.shares_memory(freeze("a", Owned(array), np.float64), array)
    assert not np.shares_memory(freeze("a", array, np.float64), array)
    assert not np.shares_memory(freeze("a", Owned(array.T), np.float64), array)
    assert freeze("a", Owned(array.astype(">f8"))).dtype.isnative
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_a_run_gives_its_record_away(monkeypatch: pytest.MonkeyPatch):
    from tacit.engine import recorded

    records = []
    true = recorded.record
    monkeypatch.setattr(recorded, "record", lambda *args, **more: records.append(true(*args, **more)) or records[-1])
    run = tacit.learn(tacit.make("good-state", horizon=2), "stage-v-cce", episodes=50)
    policy = run.candidates["average"].policy
    assert isinstance(policy, RecordedPolicy)
    assert np.shares_memory(policy.stored, records[-1].stored)
    assert np.shares_memory(policy.visited, records[-1].visited)
    assert not records[-1].stored.flags.writeable


def test_a_policy_that_is_read_is_read_only(tmp_path: Path):
    for case in ("product policy", "correlated policy", "certified policy"):
        make, expected, held = CASES[case]
        made = make(given(case))
        made.save(tmp_path / "a.npz")
        read = type(made).load(tmp_path / "a.npz")
        for kept, before in zip(held(read), expected, strict=True):
            np.testing.assert_array_equal(kept, before)
            assert not kept.flags.writeable
