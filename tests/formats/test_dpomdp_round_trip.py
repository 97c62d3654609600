"""A game that is written as .dpomdp and read back is the same to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from format_samples import EVERY_CONSTRUCT, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.games import dpomdp
from tacit.games.tabular import TabularGame


def assert_comes_back(game: TabularGame, folder: Path) -> TabularGame:
    path = folder / "game.dpomdp"
    dpomdp.save(game, path)
    back = dpomdp.load(path, horizon=game.horizon)
    assert np.array_equal(back.transitions, game.transitions)
    assert np.array_equal(back.rewards, game.rewards)
    assert np.array_equal(back.initial, game.initial)
    assert not [file for file in folder.iterdir() if file.suffix == ".part"]
    return back


@pytest.mark.parametrize(
    "game",
    [
        tacit.make("random-team", horizon=4, agents=3, actions=[2, 3, 4], states=5, stationary=True),
        tacit.make("random-team", horizon=4, states=40, successors=3, stationary=True),
        tacit.make("box-pushing", horizon=5),
        tacit.make("matrix-team", horizon=2),
        tacit.make("climbing"),
    ],
    ids=lambda game: game.name,
)
def test_registered_games(game: TabularGame, tmp_path: Path):
    assert_comes_back(game, tmp_path)


@st.composite
def team_games(draw: st.DrawFn) -> TabularGame:
    """Team games of 1 to 3 agents with different numbers of actions, sparse rows and rewards of any size."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    actions = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    states = draw(st.integers(1, 6))
    rows = rng.dirichlet(np.full(states, 0.3), size=(1, states, *actions))
    rewards = rng.normal(size=(1, 1, states, *actions)) * 10.0 ** rng.integers(-9, 9, size=(1, 1, states, *actions))
    rewards[rng.random(rewards.shape) < 0.3] = 0
    shared = np.repeat(rewards, len(actions), axis=0)
    return TabularGame(rows, shared, rng.dirichlet(np.ones(states)), 3)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(game=team_games())
def test_random_games(game: TabularGame, tmp_path: Path):
    assert_comes_back(game, tmp_path)


def test_a_row_that_misses_one_by_less_than_the_game_allows(tmp_path: Path):
    rows = np.array([[[[0.5, 0.5 + 9e-10]], [[0.25 - 9e-10, 0.75]]]]).reshape(1, 2, 1, 2)
    assert_comes_back(TabularGame(rows, np.zeros((1, 1, 2, 1)), [0.5, 0.5 - 9e-10], 1), tmp_path)


def test_a_file_comes_back(tmp_path: Path):
    assert_comes_back(dpomdp.load(write(tmp_path, EVERY_CONSTRUCT, "all.dpomdp"), horizon=3), tmp_path)


@pytest.mark.parametrize(
    ("names", "kept"),
    [(("north-1", "south_2"), True), (("north 1", "south"), False), (("1", "2"), False), (("é", "a"), False)],
)
def test_names(tmp_path: Path, names: tuple[str, str], kept: bool):
    game = TabularGame(
        np.full((1, 2, 2, 2), 0.5), np.zeros((1, 1, 2, 2)), [1, 0], 1, state_names=names, action_names=[names]
    )
    back = assert_comes_back(game, tmp_path)
    assert back.state_names == (names if kept else None)
    assert back.action_names == ((names,) if kept else None)
    assert back.observation_names == ((names,) if kept else None)


def test_each_agent_observes_the_state(tmp_path: Path):
    game = tacit.make("box-pushing", horizon=5)
    dpomdp.save(game, tmp_path / "game.dpomdp")
    text = (tmp_path / "game.dpomdp").read_text()
    assert "O: * : 7 : 7 7 : 1.0\n" in text
    assert text.count("\nO: ") == game.states


def test_what_cannot_be_written(tmp_path: Path):
    path = tmp_path / "game.dpomdp"
    with pytest.raises(tacit.TacitError, match="a reward for each agent"):
        dpomdp.save(tacit.make("chicken"), path)
    steps = np.zeros((1, 2, 1, 2))
    steps[0, 1] = 1
    with pytest.raises(tacit.TacitError, match="changes with the step"):
        dpomdp.save(TabularGame(np.ones((1, 1, 2, 1)), steps, [1], 2), path)
    with pytest.raises(tacit.TacitError, match="changes with the step"):
        dpomdp.save(TabularGame(np.ones((2, 1, 2, 1)), np.zeros((1, 1, 1, 2)), [1], 2), path)
    with pytest.raises(tacit.TacitError, match="game is 3"):
        dpomdp.save(3, path)  # type: ignore[arg-type]
    with pytest.raises(tacit.TacitError, match="cannot write"):
        dpomdp.save(tacit.make("matrix-team"), tmp_path / "none" / "game.dpomdp")
    assert not list(tmp_path.iterdir())


def test_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(tmp_path, "before", "game.dpomdp")

    def breaks(game: TabularGame):
        yield "agents: 2\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.games.dpomdp._pieces", breaks)
    with pytest.raises(KeyboardInterrupt):
        dpomdp.save(tacit.make("matrix-team"), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
