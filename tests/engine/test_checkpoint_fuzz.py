"""A damaged checkpoint file is told and not used; the run starts over."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from mutations import mutate_arrays, mutate_bytes, write_npz

from tacit.core import files, memory
from tacit.engine.checkpoint import Arrays, Checkpoint


class Part:
    """Something that a checkpoint holds."""

    def __init__(self) -> None:
        self.taken: Arrays | None = None

    def snapshot(self) -> Arrays:
        rng = np.random.default_rng(0)
        return {"done": np.array(3), "sum": rng.random(4), "columns": np.array(["a", "bc"]), "rows": np.zeros((0, 2))}

    def check(self, arrays: Arrays, done: int) -> None:
        """Take whatever is there."""

    def restore(self, arrays: Arrays) -> None:
        self.taken = arrays


def resumed(place: Path) -> tuple[Part, list[str]]:
    told: list[str] = []
    part = Part()
    for arrays in Checkpoint(place, key="k", note=told.append).read(["curve"]).values():
        part.restore(arrays)
    return part, told


@pytest.mark.parametrize("count", [400, pytest.param(15_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", ["bytes", "arrays"])
def test_damaged_checkpoints(how: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: 64_000_000)
    place = tmp_path / "checkpoint.npz"
    whole = Checkpoint(place, key="k")
    whole.read(["curve"])
    whole.save({"curve": Part().snapshot()})
    content, arrays, used = place.read_bytes(), files.read_arrays(place), 0
    assert resumed(place)[0].taken is not None
    for k in range(count):
        rng = random.Random(k)
        if how == "bytes":
            place.unlink()
            place.write_bytes(mutate_bytes(content, rng))
        else:
            write_npz(place, mutate_arrays(arrays, rng))
        try:
            part, told = resumed(place)
        except Exception as error:
            raise AssertionError(f"seed {k}") from error
        if part.taken is None:
            assert len(told) == 1
            assert str(place) in told[0]
            assert told[0].endswith("; the run starts over")
            assert len(told[0]) < 900
        else:  # what was changed does not count: as it was
            used += 1
            for name, array in part.snapshot().items():
                np.testing.assert_array_equal(part.taken[name], array)
    print(f"{count} checkpoints, damaged {how}: {used} as they were, {count - used} told and not used")
    assert used < count / 3
