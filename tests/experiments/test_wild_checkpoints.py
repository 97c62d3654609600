"""A checkpoint with a right digest and wild contents: one sentence, and the run starts over, to the same bits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import tacit
from tacit.core import files
from tacit.engine import Advanced, Event
from tacit.engine import checkpoint as module
from tacit.engine.checkpoint import Checkpoint

Arrays = dict[str, np.ndarray]

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "stages": ("stage-v-ce", {}),
    "rate": ("v-learning", {"bandit": "tsallis-inf"}),
    "storm": ("pg-storm", {"eta": "theory", "momentum": "theory", "exploration": 0.1}),
    "central": ("ucb-central", {}),
    "central model": ("model-central", {}),
    "npg": ("npg", {"gradient": "sampled", "eta": 0.01}),
    "exact": ("pg-exact", {"eta": 0.01}),
    "adaptive": ("pg-adaptive", {}),
    "model": ("model-independent", {}),
    "seeded": ("model-seeded", {}),
}


#: Where NaN or infinity stands for what is not known.
MAY_BE_UNKNOWN = ("curve:rows", "output:best_gap", "engine:numbers")


def learn(case: str, **more: Any) -> tacit.Run:
    learner, params = CASES[case]
    return tacit.learn(tacit.make("good-state", horizon=3), learner, episodes=40, points=4, seed=3, **params, **more)


def wild(name: str, array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield what no run can have written in place of an array."""
    yield "one axis more", array[None]
    yield "another type", array.astype("U9") if array.dtype.kind != "U" else np.zeros(3)
    if array.size and array.ndim and name != "output:points":  # a run may have measured less often
        yield "one entry less", array[:-1]
    if array.dtype.kind == "i" and array.size:
        most = np.iinfo(array.dtype).max
        for value in (-most // 2, -1, min(2**40, most), most):
            changed = array.copy()
            changed.flat[-1] = value
            yield f"an entry {value}", changed
    if array.dtype.kind == "u" and array.size:
        changed = array.copy()
        changed.flat[-1] = 2**32 - 1
        yield "a state that is not there", changed
    if array.dtype.kind == "f" and array.size and name not in MAY_BE_UNKNOWN:
        for value in (np.nan, -np.inf):
            changed = array.copy()
            changed.flat[-1] = value
            yield f"an entry {value}", changed


def mutants(arrays: Arrays) -> Iterator[tuple[str, Arrays]]:
    for name, array in arrays.items():
        yield f"without {name}", {key: value for key, value in arrays.items() if key != name}
        for what, changed in wild(name, array):
            yield f"{name}: {what}", {**arrays, name: changed}
    yield "with one more", {**arrays, "curve:more": np.zeros(1)}
    yield "with another part", {**arrays, "more:done": np.zeros(1)}
    for value in ("[]", "{", "[1, 2, 3]", "null", json.dumps([{"bit_generator": "MT19937"}] * 3), "[" * 100_000):
        if "engine:streams" in arrays:
            yield f"streams {value[:9]}", {**arrays, "engine:streams": np.array(value)}
    yield "dates", {**arrays, "curve:sum": np.array(["2020-01-01"], dtype="M8[D]")}


@pytest.fixture(scope="module", autouse=True)
def interpreted() -> Iterator[None]:
    """Run loops as plain Python: these are short, and there are many."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(numba.config, "DISABLE_JIT", True)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Arrays, tacit.Run]]:
    """Each case's checkpoint after half of the episodes, and its uninterrupted run."""
    found = {}
    for case in CASES:
        path = tmp_path_factory.mktemp("made") / "c.npz"

        def stop(event: Event) -> None:
            if isinstance(event, Advanced) and event.done >= 20:
                raise KeyboardInterrupt

        with pytest.warns(UserWarning, match="interrupted"):
            learn(case, checkpoint=Checkpoint(path, key="a"), progress=stop)
        found[case] = (files.read_arrays(path), learn(case))
    return found


def write(path: Path, arrays: Arrays, key: np.ndarray) -> None:
    """Write a checkpoint whose digest is right."""
    try:
        digest = module._digest(arrays)
    except tacit.TacitError:  # of a type that is refused before it is compared
        digest = ""
    files.write_arrays(path, {**arrays, "key": key, "digest": np.array(digest)})


def check(case: str, made: dict[str, tuple[Arrays, tacit.Run]], path: Path, some: int = 0) -> int:
    arrays, expected = made[case]
    arrays = dict(arrays)
    key, _ = arrays.pop("key"), arrays.pop("digest")
    write(path, arrays, key)
    kept = Checkpoint(path, key="a", note=pytest.fail)
    assert learn(case, checkpoint=kept).curve.tobytes() == expected.curve.tobytes()
    assert kept.resumed >= 20  # as it is, it is used
    every = list(mutants(arrays))
    if some:
        every = [every[k] for k in np.random.default_rng(5).choice(len(every), some, replace=False)]
    for what, changed in every:
        write(path, changed, key)
        told: list[str] = []
        used = Checkpoint(path, key="a", note=told.append)
        run = learn(case, checkpoint=used)
        assert len(told) == 1, what
        assert told[0].endswith("the run starts over"), what
        assert "\n" not in told[0], what
        assert used.resumed == 0, what
        assert run.curve.tobytes() == expected.curve.tobytes(), what
        path.unlink(missing_ok=True)
    return len(every)


@pytest.mark.parametrize("case", CASES)
def test_some_of_what_no_run_can_have_written(case: str, made: dict[str, tuple[Arrays, tacit.Run]], tmp_path: Path):
    assert check(case, made, tmp_path / "c.npz", some=15) == 15


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_all_of_what_no_run_can_have_written(case: str, made: dict[str, tuple[Arrays, tacit.Run]], tmp_path: Path):
    assert check(case, made, tmp_path / "c.npz") >= 60


def test_a_record_that_ends_before_its_clock(made: dict[str, tuple[Arrays, tacit.Run]], tmp_path: Path):
    arrays = dict(made["stages"][0])
    key, _ = arrays.pop("key"), arrays.pop("digest")
    for clock in (19, 21, 41, 10**12):
        write(tmp_path / "c.npz", {**arrays, "engine:record.clock": np.array([clock])}, key)
        told: list[str] = []
        learn("stages", checkpoint=Checkpoint(tmp_path / "c.npz", key="a", note=told.append))
        assert len(told) == 1


def test_constants_of_a_run_are_not_taken_from_a_file(made: dict[str, tuple[Arrays, tacit.Run]], tmp_path: Path):
    """The file has them, where they stand in the records of cells; another number is refused, a smaller one too."""
    fixed = {(case, name) for case, (arrays, _) in made.items() for name in arrays if name.endswith(".actions")}
    assert fixed
    for case, name in fixed:
        arrays = dict(made[case][0])
        key, _ = arrays.pop("key"), arrays.pop("digest")
        write(tmp_path / "c.npz", {**arrays, name: arrays[name] - 1}, key)
        told: list[str] = []
        learn(case, checkpoint=Checkpoint(tmp_path / "c.npz", key="a", note=told.append))
        assert len(told) == 1, name
    assert not [name for arrays, _ in made.values() for name in arrays if name.endswith("certificate.choice")]
