"""In an environment memory grows with what is met, and where it ends, the run ends before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Discrete, MultiDiscrete
from tests.environments.toys import Corridor

import tacit
from tacit.core import memory
from tacit.engine.team import STEP, PooledTeam
from tacit.environments.engine import EnvironmentEngine

pytestmark = pytest.mark.filterwarnings("ignore:the agents saw different", "ignore:of .* observations")


class Wide(Corridor):
    """A corridor whose agents see a number that is nearly always new, each another one."""

    def __init__(self, *, wide: int = 10**6) -> None:
        super().__init__(cells=3, limit=6)
        self.spaces = dict.fromkeys(self.possible_agents, MultiDiscrete([wide]))
        self.wide = wide

    def seen(self) -> dict[str, Any]:
        return {name: self.rng.integers(self.wide, size=1) for name in self.possible_agents}


def engines(monkeypatch: pytest.MonkeyPatch) -> list[EnvironmentEngine]:
    """Return the engines of runs from now on."""
    made: list[EnvironmentEngine] = []
    init = EnvironmentEngine.__init__

    def note(self: EnvironmentEngine, *args: Any, **options: Any) -> None:
        init(self, *args, **options)
        made.append(self)

    monkeypatch.setattr(EnvironmentEngine, "__init__", note)
    return made


def test_each_agent_has_a_cell_for_what_it_met_and_no_other(monkeypatch):
    made = engines(monkeypatch)
    tacit.learn(tacit.from_pettingzoo(Wide(wide=40), horizon=6, reward_range=(-1, 10)), "adaptive-v-cce", episodes=200)
    team, visited = made[-1].team, made[-1].visited
    assert isinstance(team, PooledTeam)
    rows = team.rows
    for i in range(2):
        met = {(h, int(s)) for h in range(6) for s in visited[:200, h, i]}
        assert {divmod(key, STEP) for key in rows[i]} == met
        assert list(rows[i].values()) == list(range(1, len(met) + 1))
    assert rows[0] != rows[1]


def test_a_long_horizon_takes_memory_for_what_is_met(monkeypatch):
    """With room for an episode's states at every step, two agents would take 2·H² cells of 200 bytes: 1.6 GB."""
    made = engines(monkeypatch)
    tacit.learn(
        tacit.from_pettingzoo(Wide(wide=1), horizon=2000, reward_range=(-1, 10)),
        "adaptive-v-cce",
        episodes=2,
        keep=False,
    )
    assert made[-1].team.bytes < 2**20
    assert made[-1].team.cells <= 2 * 2000  # that state, and "over"


def test_a_run_ends_with_what_it_has_before_memory_does(monkeypatch):
    made = engines(monkeypatch)

    def available() -> int:
        return 150_000_000 - (made[-1].team.bytes if made else 0)

    monkeypatch.setattr(memory, "available", available)
    run = tacit.learn(
        tacit.from_pettingzoo(Wide(), horizon=6, reward_range=(-1, 10)), "adaptive-v-cce", episodes=30_000, keep=False
    )
    assert run.ended == "memory"
    assert 400 < run.episodes < 30_000
    assert run.last.states == run.game.states
    assert any("while there is memory left" in note and "encode=" in note for note in run.notes)


class Shuffled:
    """Fifty steps, each in one of two hundred places at random."""

    agents, actions, horizon, reward_range = 2, 2, 50, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> Any:
        self.rng, self.h = np.random.default_rng(seed), 0
        return f"place {self.rng.integers(200)}"

    def step(self, actions: list[int]) -> Any:
        self.h += 1
        return f"place {self.rng.integers(200)}", float(actions[0]), self.h == 50


def test_steps_that_are_met_too_rarely_are_noted():
    """After 60 episodes a place was met 15 times, and each step of it 0.3 times: 1.2 where it was met at all."""
    notes = {
        steps: tacit.learn(Shuffled(), "q-independent", episodes=60, steps=steps).notes for steps in (None, "shared")
    }
    assert "a state was met 15 times, and 1.2 times at a step of it: steps='shared'" in " ".join(notes[None])
    assert "a state was met" not in " ".join(notes["shared"])
    often = tacit.learn(Shuffled(), "q-independent", episodes=700).notes
    assert "a state was met" not in " ".join(often)


class Large(Corridor):
    """A corridor whose agents have very many actions."""

    def __init__(self, actions: int) -> None:
        super().__init__(cells=3, limit=6)
        self.size = actions

    def action_space(self, agent: str) -> Discrete:
        return Discrete(self.size)


@pytest.mark.parametrize("actions", [10**9, 30_000_000])
def test_very_many_actions_are_refused_before_memory_is_taken(actions: int):
    class Bare:
        def __init__(self, actions: Any) -> None:
            self.actions = actions

        def reset(self) -> int:
            return 0

        def step(self, actions: list[int]) -> tuple[int, float, bool]:
            return 0, 0.0, True

    for env in (Large(actions), Bare(actions), Bare([2, actions])):
        for call in (lambda env=env: tacit.learn(env, episodes=2), lambda env=env: tacit.evaluate(env, lambda o: 0)):
            with pytest.raises(tacit.TacitError, match="at most 1,000,000"):
                call()


def test_actions_that_memory_does_not_hold_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: 1 << 30)
    with pytest.raises(tacit.TacitError, match="what the agents learn would take"):
        tacit.learn(tacit.from_pettingzoo(Large(10**6), horizon=6, reward_range=(-1, 10)), "q-independent", episodes=2)


def test_agents_of_one_name_are_refused():
    env = Corridor()
    env.possible_agents = ["left", "left"]
    with pytest.raises(tacit.TacitError, match="possible_agents of corridor must be different"):
        tacit.learn(env, episodes=2)
