"""Plain objects, and environments in which agents act in turn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tacit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from pettingzoo.utils import parallel_to_aec
    from toys import Corridor


class Coins:
    """Two agents name a coin that both see; it is tossed anew three times."""

    agents, actions = 2, 2

    def reset(self, seed: int | None = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.steps, self.coin = 0, int(self.rng.integers(2))
        return ("coin", self.coin)

    def step(self, actions: list[int]) -> Any:
        rewards = [float(a == self.coin) for a in actions]
        self.steps, self.coin = self.steps + 1, int(self.rng.integers(2))
        return ("coin", self.coin), rewards, self.steps == 3


class Own(Coins):
    """Each sees a coin of its own; agents are counted by their actions, and no seed is taken."""

    agents = None
    actions = (2, 3)
    states = 2
    rng = np.random.default_rng(0)

    def reset(self) -> Any:  # type: ignore[override]
        self.steps, self.coins = 0, self.rng.integers(2, size=2).tolist()
        return self.coins

    def step(self, actions: list[int]) -> Any:
        rewards = np.array(actions) == np.array(self.coins)
        self.steps, self.coins = self.steps + 1, self.rng.integers(2, size=2).tolist()
        return self.coins, rewards, [self.steps == 2] * 2


@pytest.mark.usefixtures("interpreted")
def test_an_object_with_reset_and_step():
    run = tacit.learn(Coins(), "adaptive-v-cce", episodes=400)
    assert run.game.agents == 2
    assert run.game.horizon == 3
    assert run.game.name == "Coins"
    assert run.game.observations[0].met[0][0] == "coin"
    assert run.reward.min() > 2.2
    again = tacit.learn(Coins(), "adaptive-v-cce", episodes=400)
    np.testing.assert_array_equal(run.policy.stored, again.policy.stored)
    assert tacit.evaluate(Coins(), run.last, episodes=50).values.min() > 2.2


@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_own_observations_numbers_and_no_seed():
    run = tacit.learn(Own(), "adaptive-v-cce", episodes=400)
    assert run.game.actions == (2, 3)
    assert run.game.states == 2
    assert run.reward.min() > 1.3


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"actions": [2]}, "a number for each agent"),
        ({"actions": 0}, "actions must be"),
        ({"step": lambda actions: 3}, "step of Coins must return .*; got 3"),
        ({"step": lambda actions: (0, [1.0], False)}, "one for each of 2 agents"),
        ({"step": lambda actions: (0, float("nan"), False)}, "the reward of agent 0 must be"),
        ({"step": lambda actions: 1 // 0}, "Coins failed in step: ZeroDivisionError"),
    ],
)
def test_wrong_objects_are_told(change: dict[str, Any], told: str):
    env = Coins()
    env.__dict__.update(change)
    with pytest.raises(tacit.TacitError, match=told):
        tacit.learn(env, "adaptive-v-cce", episodes=5)


def test_agents_that_act_in_turn_through_pettingzoos_converter():
    straight = tacit.learn(
        tacit.from_pettingzoo(Corridor(), horizon=12, reward_range=(-1, 10)), "adaptive-v-cce", episodes=60
    )
    turned = tacit.learn(
        tacit.from_pettingzoo(parallel_to_aec(Corridor()), horizon=12, reward_range=(-1, 10)),
        "adaptive-v-cce",
        episodes=60,
    )
    np.testing.assert_array_equal(straight.policy.stored, turned.policy.stored)


@pytest.mark.filterwarnings("ignore:the agents saw different")
@pytest.mark.usefixtures("interpreted")
def test_tictactoe():
    """Strict turns: a draw of nobody's making pays 0, a win 1; who acts when it is not its turn changes nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tictactoe = pytest.importorskip("pettingzoo.classic.tictactoe_v3", reason="pygame is not installed")
        run = tacit.learn(
            tacit.from_pettingzoo(tictactoe.env(), reward_range=(-1, 1), horizon=10),
            "q-independent",
            episodes=60,
            seed=1,
        )
    assert run.episodes == 60
    assert run.game.states > 50
    assert -1 <= run.reward[0] <= 1


class Outside(Corridor):
    """Shows what is not in its space, late in an episode."""

    def seen(self) -> Any:
        found = super().seen()
        return dict.fromkeys(found, np.array([99, 0])) if self.steps == 3 else found


def test_what_is_not_in_its_space_is_told():
    options = {"horizon": 12, "reward_range": (-1, 10)}
    with pytest.raises(tacit.TacitError, match=r"left observed must be in Box.*; got array\(\[99, 0\]\)"):
        tacit.learn(tacit.from_pettingzoo(Outside(), **options), "adaptive-v-cce", episodes=20)


def test_an_object_without_step_is_told():
    class Half:
        actions = 2

        def reset(self) -> int:
            return 0

    with pytest.raises(tacit.TacitError, match="which has no step"):
        tacit.learn(Half(), episodes=2)


def test_what_scouting_has_told_is_not_told_again():
    told: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = tacit.learn(Coins(), episodes=5, progress=lambda event: told.append(getattr(event, "text", "")))
    assert sum("random episodes suggest" in text for text in told) == 1
    assert any("random episodes suggest" in note for note in run.notes)
