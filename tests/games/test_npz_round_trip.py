"""A game written and read again is the same game."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

import tacit

GAMES = {
    "dense": ("random-general-sum", {"actions": (2, 3), "states": 3, "horizon": 4}),
    "dense, stationary": ("random-general-sum", {"states": 3, "stationary": True, "horizon": 7}),
    "sparse": ("random-general-sum", {"states": 8, "successors": 2, "horizon": 2}),
    "sparse, stationary, names": ("box-pushing", {"horizon": 3}),
    "names": ("good-state", {}),
    "one agent": ("random-team", {"agents": 1}),
    "four agents": ("random-general-sum", {"agents": 4, "actions": (1, 2, 3, 2)}),
    "twelve agents": ("distancing", {"agents": 12, "weights": [1, 2]}),
}


def assert_same(one: tacit.TabularGame, other: tacit.TabularGame) -> None:
    for key in ("agents", "states", "actions", "horizon", "name", "state_names", "action_names", "reward_range"):
        assert getattr(one, key) == getattr(other, key), key
    assert one.rewards.shape == other.rewards.shape
    assert one.transition_steps == other.transition_steps
    assert (one.rewards == other.rewards).all()
    assert (one.initial == other.initial).all()
    assert all((a == b).all() for a, b in zip(one.successors, other.successors, strict=True))


@pytest.mark.parametrize("which", GAMES)
def test_round_trip(which: str, tmp_path: Path):
    name, params = GAMES[which]
    game = tacit.make(name, **params)
    game.save(tmp_path / "game.npz")
    assert_same(game, tacit.load(tmp_path / "game.npz"))


@pytest.mark.parametrize(("which", "form"), [("dense", "transitions"), ("sparse", "successor_prob")])
def test_the_smaller_form_is_stored(which: str, form: str, tmp_path: Path):
    name, params = GAMES[which]
    tacit.make(name, **params).save(tmp_path / "game.npz")
    with zipfile.ZipFile(tmp_path / "game.npz") as archive:
        assert f"{form}.npy" in archive.namelist()


def test_names_with_letters_of_all_kinds_are_kept(tmp_path: Path):
    game = tacit.TabularGame(
        np.ones((1, 1, 2, 1)),
        np.zeros((1, 1, 1, 2)),
        [1],
        1,
        name="größe×",
        state_names=["東"],
        action_names=[["", "ß "]],
    )
    game.save(tmp_path / "game.npz")
    assert_same(game, tacit.load(tmp_path / "game.npz"))


def test_horizon_replaces_that_of_a_stationary_game(tmp_path: Path):
    tacit.make("good-state", horizon=10).save(tmp_path / "game.npz")
    assert tacit.load(tmp_path / "game.npz", horizon=3).horizon == 3


def test_horizon_cannot_replace_that_of_a_game_that_changes_with_the_step(tmp_path: Path):
    tacit.make("random-team", horizon=4).save(tmp_path / "game.npz")
    with pytest.raises(tacit.TacitError, match="rewards has 4 steps; with horizon 3"):
        tacit.load(tmp_path / "game.npz", horizon=3)


def test_saving_replaces_a_file_whole_and_leaves_nothing_else(tmp_path: Path):
    place = tmp_path / "game.npz"
    place.write_text("something else")
    tacit.make("chicken").save(str(place))
    assert tacit.load(str(place)).name == "chicken"
    assert [p.name for p in tmp_path.iterdir()] == ["game.npz"]


@pytest.mark.parametrize(
    ("where", "told"),
    [("no/such/folder/game.npz", "cannot write"), (".", "has no ending"), ("game.zip", "the ending '.zip'")],
)
def test_a_place_that_cannot_be_written_is_named(where: str, told: str, tmp_path: Path):
    with pytest.raises(tacit.TacitError, match=told):
        tacit.make("chicken").save(tmp_path / where)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("correlated", [False, True])
def test_policies_round_trip_too(correlated: bool, tmp_path: Path):
    game = tacit.make("random-general-sum", agents=3, actions=(2, 1, 3))
    policy = tacit.MarkovPolicy.random(game, correlated=correlated)
    policy.save(tmp_path / "policy.npz")
    again = tacit.MarkovPolicy.load(tmp_path / "policy.npz")
    assert again.product == policy.product
    assert all((a == b).all() for a, b in zip(again.probs, policy.probs, strict=True))
