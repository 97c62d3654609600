"""A checkpoint with a right digest and arrays of other names, types or shapes is refused in one sentence."""

from __future__ import annotations

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
}


def learn(case: str, **more: Any) -> tacit.Run:
    learner, params = CASES[case]
    return tacit.learn(tacit.make("good-state", horizon=3), learner, episodes=40, points=4, seed=3, **params, **more)


def mutants(arrays: Arrays) -> Iterator[tuple[str, Arrays]]:
    """Yield snapshots of other names, types and shapes; of what grows during a run, names alone."""
    for name, array in arrays.items():
        part, _, key = name.partition(":")
        if part != "output" and key != "search":  # which are not there in every run
            yield f"without {name}", {other: value for other, value in arrays.items() if other != name}
        if part == "engine" and "learner" in key and array.size:
            yield f"{name}: one axis more", {**arrays, name: array[None]}
            yield f"{name}: one entry less", {**arrays, name: array[:-1]}
            yield f"{name}: another type", {**arrays, name: array.astype("U9")}
    yield "with another part", {**arrays, "more:done": np.zeros(1)}
    yield "more episodes than the run has", {**arrays, "curve:done": np.array(41)}
    if "engine:streams" in arrays:
        yield "no streams", {**arrays, "engine:streams": np.array("[]")}


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
        with pytest.raises(tacit.TacitError, match="is not a checkpoint of this run") as caught:
            learn(case, checkpoint=Checkpoint(path, key="a", note=pytest.fail))
        assert "\n" not in str(caught.value), what
    return len(every)


@pytest.mark.parametrize("case", CASES)
def test_other_names_types_and_shapes_are_refused(case: str, made: dict[str, tuple[Arrays, tacit.Run]], tmp_path: Path):
    assert check(case, made, tmp_path / "c.npz", some=10) == 10
