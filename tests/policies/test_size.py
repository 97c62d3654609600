"""What a certified policy takes on disk and in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from answers import learn_average

import tacit


def size_after(episodes: int, place: Path) -> tuple[int, int]:
    """Return the bytes on disk and in the arrays, after learning good-state with ten steps."""
    game = tacit.make("good-state", horizon=10)
    run = learn_average(game, "stage-v-cce", episodes=episodes, seed=0, bonus=0.1, points=10)
    run.policy.save(place)
    assert tacit.policies.RecordedPolicy.load(place).episodes == episodes
    return place.stat().st_size, run.policy.visited.nbytes + run.policy.stored.nbytes


def test_a_hundred_thousand_episodes(tmp_path: Path):
    disk, arrays = size_after(100_000, tmp_path / "policy.npz")
    assert disk < 20e6
    assert arrays == 100_000 * 10 * (4 + 4 * 2)  # as documented: K·H·(4·Σ(A_i − 1) + 4)


@pytest.mark.slow
def test_a_million_episodes(tmp_path: Path):
    disk, arrays = size_after(1_000_000, tmp_path / "policy.npz")
    assert disk < 200e6
    assert arrays < 200e6
