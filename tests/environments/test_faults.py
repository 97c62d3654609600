"""What environments get wrong is told in a sentence, and never becomes a number."""

from __future__ import annotations

import json
import signal
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.engine import drive
from tacit.environments.adapters import environment
from tacit.environments.episodes import STEPS, episode_bounds

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from toys import Corridor


class Forgets(Corridor):
    """Leaves out what one agent should get at the second step."""

    part = 1

    def step(self, actions: dict[str, int]) -> Any:
        given = super().step(actions)
        if self.steps == 2:
            given = list(given)
            given[self.part] = {"left": given[self.part]["left"]}
        return tuple(given)


@pytest.mark.parametrize(("part", "what"), [(0, "observation"), (1, "reward")])
def test_what_is_missing_for_a_living_agent_is_told(part: int, what: str):
    env = Forgets()
    env.part = part
    with pytest.raises(tacit.TacitError, match=f"must return a {what} for right, who plays on"):
        tacit.evaluate(tacit.from_pettingzoo(env, horizon=6), lambda seen: 5, episodes=2)


class Bare:
    actions, reward_range = (2,), (0.0, 1.0)

    def __init__(self, shown: float = 0.5, length: int = 3) -> None:
        self.shown, self.length = shown, length

    def reset(self) -> Any:
        self.steps = 0
        return self.shown

    def step(self, actions: list[int]) -> Any:
        self.steps += 1
        return self.shown, 1.0, self.steps >= self.length


def test_nan_is_no_state():
    with pytest.raises(tacit.TacitError, match="nan is equal to nothing"):
        tacit.learn(
            tacit.from_pettingzoo(Bare(np.nan), horizon=3, encode=lambda seen: (0, np.round(seen))),
            "q-independent",
            episodes=3,
        )


def test_a_horizon_that_cuts_episodes_is_noted_in_runs():
    runs = [tacit.learn(tacit.from_pettingzoo(Bare(), horizon=h), "q-independent", episodes=3) for h in (2, 3)]
    assert [sum("cuts episodes" in note for note in run.notes) for run in runs] == [1, 0]


def test_an_episode_that_ends_at_the_last_step_of_scouting_has_ended():
    assert episode_bounds(environment(Bare(length=STEPS)), horizon=None, reward_range=None, seed=0).horizon == STEPS
    with pytest.raises(tacit.TacitError, match="has not ended"):
        episode_bounds(environment(Bare(length=STEPS + 1)), horizon=None, reward_range=None, seed=0)


SCRIPT = """
import tacit
from beside_for_test import LENGTH

class Mine:
    actions, horizon, reward_range, states = (2,), LENGTH, (0.0, 1.0), 1
    def reset(self, seed=None):
        return 0
    def step(self, actions):
        return 0, float(actions[0]), False

tacit.games.REGISTRY.add("mine-for-test", lambda: Mine())
"""


def test_an_environment_that_a_script_registers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "beside_for_test.py").write_text("LENGTH = 2\n")
    (tmp_path / "registers_for_test.py").write_text(SCRIPT)
    script = str(tmp_path / "registers_for_test.py")
    arguments = ["run", "mine-for-test", "q-independent", "--episodes", "5", "--import", script, "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["episodes"], found["horizon"], found["game"]) == (5, 2, "mine-for-test")


def test_tabulate_says_what_fits():
    def walk(state: int, actions: tuple[int, ...]) -> Any:
        return [(0.5, (state + actions[0]) % 3), (0.5, state)]

    with pytest.raises(tacit.TacitError, match="reward must be a function of"):
        tacit.tabulate(walk, lambda s, a, step: float(s * step), start=0, actions=[2], horizon=4)
    game = tacit.FunctionGame(
        lambda u: 0, lambda h, s, a, u: s, lambda i, h, s, a: 0.0, agents=1, actions=2, states=2, horizon=2,
        reward_range=(0, 1),
    )  # fmt: skip
    for given, message in (({}, "transition must be a function"), ({"reward": walk}, "transition must be a function")):
        with pytest.raises(tacit.TacitError, match=message):
            tacit.tabulate(game, **given)
    with pytest.raises(tacit.TacitError, match="start must be given"):
        tacit.tabulate(walk, walk)


class Hangs(Bare):
    """Ctrl-C is pressed twice within the fifth episode, with a pause between."""

    episodes = 0

    def reset(self) -> Any:
        self.episodes += 1
        return super().reset()

    def step(self, actions: list[int]) -> Any:
        if self.episodes == 5:
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.3)
            signal.raise_signal(signal.SIGINT)
            time.sleep(60)
        return super().step(actions)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have Ctrl-C mean what it most often does: a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_second_ctrl_c_keeps_the_episodes_before(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.setattr(drive, "PATIENCE", 0.05)
    with pytest.warns(UserWarning, match="holds 4 of 9 episodes"):
        run = tacit.learn(tacit.from_pettingzoo(Hangs(), horizon=3), "q-independent", episodes=9)
    assert (run.episodes, run.ended) == (4, "interrupted")
    assert "Ctrl-C within an episode" in str(run.error)
    assert "Ctrl-C again leaves the episode out" in caplog.text


class Endless(Bare):
    def step(self, actions: list[int]) -> Any:
        self.shown += 1.0
        return super().step(actions)


def test_observations_that_are_nearly_all_new_are_told_early(caplog: pytest.LogCaptureFixture):
    def stop(event: Any) -> None:
        if "were new" in caplog.text:
            raise KeyboardInterrupt

    interrupted = pytest.warns(UserWarning, match="interrupted")
    with interrupted, pytest.warns(UserWarning, match=r"100% were new.*encode="):
        run = tacit.learn(
            tacit.from_pettingzoo(Endless(length=100), horizon=100), "q-independent", episodes=10_000, progress=stop
        )
    assert 20 <= run.episodes < 10_000
    few = tacit.learn(
        tacit.from_pettingzoo(Endless(length=100), horizon=100, encode=lambda s: s % 100), "q-independent", episodes=30
    )
    assert not few.warnings
