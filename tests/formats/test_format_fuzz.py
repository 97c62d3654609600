"""Damaged files end in a game or in one sentence that names the file; never otherwise, and within stated memory."""

from __future__ import annotations

import random
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from format_samples import DPOMDP, NFG
from mutations import mutate

import tacit
from tacit.core import memory
from tacit.games import dpomdp, gambit
from tacit.games.tabular import TabularGame

AVAILABLE = 64_000_000


def fuzz(path: Path, load: Callable[..., TabularGame], seeds: list[str], count: int) -> tuple[int, int]:
    """Read `count` damaged files; return how many were games and how many were refused."""
    games = refused = 0
    for k in range(count):
        rng = random.Random(k)
        content = mutate(rng.choice(seeds), rng)
        path.unlink(missing_ok=True)  # a fresh file is written thirty times faster than one that is overwritten
        path.write_bytes(content)
        try:
            assert isinstance(load(path, horizon=2), TabularGame)
            games += 1
        except tacit.TacitError as error:
            refused += 1
            message = str(error)
            assert str(path) in message, content
            assert "\n" not in message, content
        except Exception as error:
            raise AssertionError(f"seed {k}: {content!r}") from error
    return games, refused


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("load", "seeds"), [(dpomdp.load, DPOMDP), (gambit.load, NFG)], ids=["dpomdp", "nfg"])
def test_damaged_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load, seeds: list[str], count: int):
    monkeypatch.setattr(memory, "available", lambda: AVAILABLE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    games, refused = fuzz(tmp_path / "damaged.file", load, seeds, count)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(f"{count} files: {games} games, {refused} refused, {grown / 1e6:.0f} MB more at the peak")
    assert games > count / 50
    assert refused > count / 5
    assert grown < 2 * AVAILABLE
