"""Runs in environments: killed they go on with the same bits, and a crash keeps what was done."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.engine import Advanced, Event
from tacit.engine.checkpoint import Checkpoint

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from toys import Corridor, Whispers


class Remembers(Corridor):
    """Tells its state, generator included."""

    def get_state(self) -> Any:
        return {"rng": self.rng.bit_generator.state}

    def set_state(self, state: Any) -> None:
        self.rng = np.random.default_rng()
        self.rng.bit_generator.state = state["rng"]


class Fails(Corridor):
    """Raises at a certain step, counted from when it was made."""

    def __init__(self, at: int, **given: Any) -> None:
        super().__init__(**given)
        self.left = at

    def step(self, actions: dict[str, int]) -> Any:
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("the battery is empty")
        return super().step(actions)


class Jackpot(Corridor):
    """One step, which now and then pays 50."""

    def step(self, actions: dict[str, int]) -> Any:
        observations, rewards, *rest = super().step(actions)
        return observations, dict.fromkeys(rewards, 50.0 if self.rng.random() < 0.02 else 0.0), *rest


class EveryTime(Checkpoint):
    """Writes whenever it may, however long that takes."""

    due = True  # type: ignore[assignment]


class Killed(BaseException):
    pass


def killed_at(episode: int):
    def watch(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= episode:
            raise Killed

    return watch


def same(one: tacit.Run, other: tacit.Run) -> None:
    for mine, yours in zip(one.last.probs, other.last.probs, strict=True):
        np.testing.assert_array_equal(mine, yours)
    np.testing.assert_array_equal(one.reward, other.reward)
    for column in one.curve.dtype.names:
        np.testing.assert_array_equal(one.curve[column], other.curve[column])
    assert one.game.states == other.game.states
    assert one.game.reward_range == other.game.reward_range
    if isinstance(one.policy, tacit.policies.RecordedPolicy):
        for ours, theirs in zip(one.policy.records, other.policy.records, strict=True):
            np.testing.assert_array_equal(ours.visited, theirs.visited)
            np.testing.assert_array_equal(ours.stored, theirs.stored)


MADE = {
    "seeded by episode": (lambda: Corridor(cells=6), {}),
    "with a state": (lambda: Remembers(cells=6), {}),
    "seeing different things": (lambda: Whispers(), {}),
    "a game of ours": (lambda: tacit.to_pettingzoo(tacit.make("good-state")), {}),
}


@pytest.mark.parametrize("how", MADE)
@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_a_killed_run_ends_with_the_same_bits(how: str, tmp_path: Path):
    make, given = MADE[how]
    options = {"episodes": 80, "seed": 3, "points": 7, **given}
    straight = tacit.learn(make(), "adaptive-v-cce", **options)
    place = tmp_path / "checkpoint.npz"
    kept = EveryTime(place, key="x")
    with pytest.raises(Killed):
        tacit.learn(make(), "adaptive-v-cce", checkpoint=kept, progress=killed_at(20), **options)
    kept = EveryTime(place, key="x")
    resumed = tacit.learn(make(), "adaptive-v-cce", checkpoint=kept, **options)
    assert 0 < kept.resumed < 80
    same(resumed, straight)


def test_bounds_that_were_widened_are_resumed(tmp_path: Path):
    """The range was guessed, found too small and widened before the kill."""
    make = lambda: Jackpot(limit=1)  # noqa: E731
    straight = tacit.learn(make(), "stage-v-cce", episodes=400, seed=1)
    assert any("started over" in note for note in straight.notes)
    place = tmp_path / "checkpoint.npz"
    kept = EveryTime(place, key="x")
    with pytest.raises(Killed):
        tacit.learn(make(), "stage-v-cce", episodes=400, seed=1, checkpoint=kept, progress=killed_at(390))
    kept = EveryTime(place, key="x")
    resumed = tacit.learn(make(), "stage-v-cce", episodes=400, seed=1, checkpoint=kept)
    assert kept.resumed > 0
    same(resumed, straight)


def test_a_crash_keeps_what_was_done(tmp_path: Path):
    def learn(env: Any, **options: Any) -> tacit.Run:
        wrapped = tacit.from_pettingzoo(env, horizon=12, reward_range=(-1, 10))
        return tacit.learn(wrapped, "adaptive-v-cce", episodes=100, seed=2, **options)

    with pytest.warns(UserWarning, match="interrupted: the run holds .* corridor failed in step: RuntimeError: the b"):
        run = learn(Fails(300))
    assert run.interrupted
    assert 20 < run.episodes < 99
    assert f"{run.episodes} of 100 episodes, seed 2, interrupted by an error (run.error)" in repr(run)
    assert run.policy.episodes == run.episodes
    assert any("the battery is empty" in note for note in run.notes)
    with pytest.raises(tacit.TacitError, match="the battery is empty") as caught:
        run.raise_error()
    assert isinstance(caught.value.__cause__.__cause__, RuntimeError)
    whole = learn(Corridor())
    np.testing.assert_array_equal(run.policy.stored, whole.policy.stored[: run.episodes])
    kept = EveryTime(tmp_path / "c.npz", key="x")
    with pytest.warns(UserWarning, match="interrupted"):
        learn(Fails(300), checkpoint=kept)
    same(learn(Corridor(), checkpoint=kept), whole)


def test_what_cannot_be_stored_is_told_and_the_run_goes_on(tmp_path: Path):
    kept = EveryTime(tmp_path / "c.npz", key="x")
    with pytest.warns(UserWarning, match="this run is not checkpointed: <object .*cannot be stored"):
        run = tacit.learn(
            tacit.from_pettingzoo(Corridor(), encode=lambda at: object()),
            "adaptive-v-cce",
            episodes=20,
            checkpoint=kept,
        )
    assert run.episodes == 20
