"""Agents that see different things: the answer is measured by play, and its mixtures go to devices like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit


class Pennies:
    """Two rounds of matching pennies, in which each sees what the other did, and what it did itself."""

    agents, actions, horizon, reward_range = 2, 2, 2, (-1.0, 1.0)

    def reset(self) -> list[Any]:
        return ["first", "first"]

    def step(self, actions: list[int]) -> Any:
        a, b = actions
        won = 1.0 if a == b else -1.0
        return [("me", a, "you", b), ("me", b, "you", a)], [won, -won], False


@pytest.fixture(scope="module")
def run() -> tacit.Run:
    with pytest.warns(UserWarning, match="the agents saw different observations"):
        return tacit.learn(Pennies(), "adaptive-v-cce", episodes=2000, seed=3)


def test_the_answer_is_the_best_by_play(run: tacit.Run):
    assert any(note.startswith(f"'{run.chosen}' is returned") for note in run.notes)
    gaps = {name: tacit.exploit(run.game, one.policy, episodes=1000).gap for name, one in run.candidates.items()}
    assert run.chosen != "last"
    assert gaps[run.chosen] < 0.5 * gaps["last"]
    assert any("no bound" in note for note in run.warnings)
    with pytest.warns(UserWarning, match="saw different"):
        few = tacit.learn(Pennies(), "adaptive-v-cce", episodes=90)
    assert few.chosen == "average"  # as in the theory: nothing was measured that speaks for another
    assert any("too few episodes to compare average, recent, last" in note for note in few.notes)


def play(parts: list[Any], states: Any, seed: int) -> list[list[int]]:
    for part in parts:
        part.begin(seed)
    return [[part.act(h, s) for part, s in zip(parts, row, strict=True)] for h, row in enumerate(states)]


class Network:
    """One hidden layer, by policy gradient, on what it observes."""

    observes = True

    def __init__(self, *, states: Any, actions: int, seed: int, index: int, rate: float = 0.2, **_: Any) -> None:
        assert states is None
        self.rng, self.rate, self.mean = np.random.default_rng([seed, index]), rate, 0.0
        self.inner, self.outer = self.rng.normal(size=(8, 3)), np.zeros((actions, 8))
        self.after: list[Any] = []

    def _layers(self, seen: Any) -> tuple[Any, Any, Any]:
        x = np.append(seen, 1.0)
        hidden = np.tanh(self.inner @ x)
        chances = np.exp(self.outer @ hidden)
        return x, hidden, chances / chances.sum()

    def probabilities(self, h: int, seen: Any) -> Any:
        return self._layers(seen)[2]

    def act(self, h: int, seen: Any) -> int:
        return int(self.rng.choice(len(self.outer), p=self.probabilities(h, seen)))

    def learn(self, h: int, seen: Any, a: int, reward: float, after: Any) -> None:
        x, hidden, chances = self._layers(seen)
        score = (np.eye(len(chances))[a] - chances) * self.rate * (reward - self.mean)
        self.mean += 0.01 * (reward - self.mean)
        self.inner += np.outer((self.outer.T @ score) * (1 - hidden**2), x)
        self.outer += np.outer(score, hidden)
        self.after.append(after)


class Sides:
    """Both see a point and some noise of their own, and are paid for naming its side; agent 1 is out after a step."""

    agents, actions, horizon, reward_range = 2, 2, 2, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> list[Any]:
        self.rng = np.random.default_rng(seed)
        return self._show()

    def _show(self) -> list[Any]:
        self.x = self.rng.uniform(-1, 1)
        return [np.array([self.x, self.rng.normal()]) for _ in range(2)]

    def step(self, actions: list[int]) -> Any:
        paid = [float(a == (self.x > 0)) for a in actions]
        return self._show(), paid, [False, True]


@pytest.mark.filterwarnings("ignore:the agents saw different")
@pytest.mark.parametrize("learner", [Network, [Network, "q-independent"]])
def test_a_network_learns_from_observations(learner: Any):
    env = Sides() if learner is Network else tacit.from_pettingzoo(Sides(), encode=tacit.Bins([4, 1]))
    run = tacit.learn(env, learner, episodes=1500)
    assert run.chosen == "last"
    found = tacit.evaluate(tacit.from_pettingzoo(Sides(), horizon=2), run, episodes=300)
    assert found.values[0] > 1.7  # of 2; evenly drawn it is 1
    assert found.values[1] > 0.85
    assert run.policy.part(0).sees
    assert "Network of agent 0" in repr(run.policy)


@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_a_network_that_is_out_is_asked_no_more():
    made: list[Network] = []

    class Counted(Network):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            made.append(self)

    tacit.learn(Sides(), Counted, episodes=3)
    whole, out = made[-2:]  # a first pair had not met the end of an episode
    assert [seen is None for seen in whole.after] == [False, True] * 3
    assert [seen is None for seen in out.after] == [True] * 3


def test_a_network_plays_in_games_too():
    """In a game what it observes is the state, so that its gap is exact."""

    class Table(Network):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self.inner = self.inner[:, :2]

    run = tacit.learn(tacit.make("prisoners-dilemma"), Table, episodes=400)
    assert run.gaps.source == "exact"
    assert run.gap < 0.5
