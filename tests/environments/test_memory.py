"""In an environment memory grows with what is met, and where it ends, the run ends before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import MultiDiscrete
from tests.environments.toys import Corridor

import tacit
from tacit.core import memory
from tacit.engine.cells import STEP, Pool
from tacit.engine.team import PooledTeam
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


def test_each_agent_has_a_cell_for_every_step_and_state_that_it_was_in_and_no_other(monkeypatch):
    made = engines(monkeypatch)
    tacit.learn(Wide(wide=40), "adaptive-v-cce", episodes=200, horizon=6, reward_range=(-1, 10))
    team, visited = made[-1].team, made[-1].visited
    assert isinstance(team, PooledTeam)
    cells = team.buffer.cells
    for i in range(2):
        met = {(h, int(s)) for h in range(6) for s in visited[:200, h, i]}
        keys = cells.keys[1 : cells.filled[i], i]
        assert {(int(key) // STEP, int(key) % STEP) for key in keys} == met
        assert len(keys) == len(met)
    assert (cells.filled[0] != cells.filled[1]) or (visited[:200, :, 0] != visited[:200, :, 1]).any()


def test_a_long_horizon_takes_memory_for_what_is_met(monkeypatch):
    """With room for an episode's states at every step, two agents would take 2·H² cells of 200 bytes: 1.6 GB."""
    made = engines(monkeypatch)
    tacit.learn(Wide(wide=1), "adaptive-v-cce", episodes=2, horizon=2000, reward_range=(-1, 10), keep=False)
    assert made[-1].team.bytes < 2**20
    assert max(made[-1].team.buffer.cells.filled) <= 1 + 2 * 2000  # that state, and "over"


def test_a_run_ends_with_what_it_has_before_memory_does(monkeypatch, caplog):
    made = engines(monkeypatch)

    def available() -> int:
        return 150_000_000 - (made[-1].team.bytes if made else 0)

    monkeypatch.setattr(memory, "available", available)
    run = tacit.learn(Wide(), "adaptive-v-cce", episodes=30_000, horizon=6, reward_range=(-1, 10), keep=False)
    assert run.ended == "memory"
    assert 400 < run.episodes < 30_000
    assert run.last.states == run.game.states
    assert any("while there is memory left" in note and "encode=" in note for note in run.notes)
    early = next(one.getMessage() for one in caplog.records if "memory will do for about" in one.getMessage())
    guess = int(early.split("about ")[1].split(" ")[0].replace(",", ""))
    assert 0.3 * run.episodes < guess < 3 * run.episodes


def test_a_pool_takes_no_cells_that_nobody_can_have_met(monkeypatch):
    made = engines(monkeypatch)
    tacit.learn(Wide(wide=5), "q-independent", episodes=20, horizon=6, reward_range=(-1, 10))
    team, states = made[-1].team, made[-1].game.states
    held = {name: np.array(array) for name, array in team.snapshot().items()}

    def check(**changed: Any) -> None:
        Pool(team.learner, team.world, most=100).check({**held, **changed}, states=[states, states], most=10**6)

    check()
    for place, wrong in ((1, 6 * STEP), (1, states), (1, held["keys"][0, 2]), (0, 5), (1, -1)):
        keys = held["keys"].copy()
        keys[0, place] = wrong
        with pytest.raises(tacit.TacitError):
            check(keys=keys)


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
