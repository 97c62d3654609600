"""Results open in pandas and polars: the stored curve, and the array of a run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tacit
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store

SMALL = Experiment(
    "small", 200, (GameSpec("good-state", {"horizon": 3}),), (LearnerSpec("stage-v-cce", {"bonus": 0.1}),), points=4
)


@pytest.fixture(params=["pandas", "polars"])
def library(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(request.param)
    return module


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of one finished run."""
    out = tmp_path_factory.mktemp("tables")
    run_experiment(SMALL, out=out)
    (place,) = store.directories(out)
    return place


def assert_same(frame: object, curve: np.ndarray) -> None:
    names = curve.dtype.names or ()
    assert list(frame.columns) == list(names)  # type: ignore[attr-defined]
    assert {"episode", "reward", "value", "gap", "reward_0", "gap_1"} <= set(names)
    assert len(curve) == SMALL.options.points
    for name in names:
        column = frame[name].to_numpy()  # type: ignore[index]
        assert column.dtype == curve[name].dtype
        np.testing.assert_array_equal(column, curve[name])


def test_a_stored_curve_opens(library: ModuleType, stored: Path):
    learnt = run_experiment(SMALL).outcomes[0].curve  # in memory, by the same seed
    read = (
        library.read_ndjson
        if library.__name__ == "polars"
        else partial(library.read_json, lines=True, precise_float=True)
    )
    assert_same(read(stored / "curve.jsonl"), learnt)


def test_the_curve_of_a_run_opens(library: ModuleType):
    run = tacit.learn(tacit.make("good-state", horizon=3), "stage-v-cce", episodes=200, bonus=0.1, points=4)
    assert_same(library.DataFrame(run.curve), run.curve)
