"""A game as functions runs through `tacit.learn` like any other; what needs tables says so in one sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tacit
from tacit import kernels
from tacit.engine import Finished, Measured


@dataclass(frozen=True)
class Pennies:
    """Matching pennies, two rounds, as functions; the state is whether the last pennies matched."""

    name: str | None = "pennies"
    agents: Any = 2
    states: Any = 2
    actions: Any = (2, 2)
    horizon: Any = 2
    reward_range: Any = (-1.0, 1.0)
    notes: Any = ("by hand",)

    def kernels(self) -> Rules:
        return Rules(self.horizon, self.states, np.array(self.actions))


class Rules(NamedTuple):
    horizon: int
    states: int
    actions: np.ndarray


@kernels.initial_state.implement(Rules)
def initial_state(game, u):
    return 0 if u < 0.5 else 1


@kernels.joint_action.implement(Rules)
def joint_action(game, h, s, actions):
    return actions[0] == actions[1]


@kernels.next_state.implement(Rules)
def next_state(game, token, u):
    return 1 if token == (u < 0.8) else 0


@kernels.reward.implement(Rules)
def reward(game, i, token):
    return 1.0 if token == (i == 0) else -1.0


def tables() -> tacit.TabularGame:
    """The same game as tables."""
    same = np.eye(2)
    P = np.where(same[..., None] == 1, [0.2, 0.8], [0.8, 0.2])
    pays = 2 * same - 1
    R = np.stack([pays, -pays])[:, None, None].repeat(2, axis=2)
    return tacit.TabularGame(P[None, None].repeat(2, axis=1), R, [0.5, 0.5], 2)


@pytest.mark.parametrize("learner", ["stage-v-cce", "pg-sgd"])
def test_functions_and_tables_give_the_same_run(learner: str):
    """Kernels written by hand that draw as tables do: next states in ascending order."""

    class Ordered(Pennies):
        def kernels(self) -> OrderedRules:
            return OrderedRules(self.horizon, self.states, np.array(self.actions))

    run = tacit.learn(Ordered(), learner, episodes=300, seed=3)
    same = tacit.learn(tables(), learner, episodes=300, seed=3, certify=False)
    for one, other in zip(run.last.probs, same.last.probs, strict=True):
        assert one.tobytes() == other.tobytes()
    assert (run.reward == same.reward).all()
    assert run.gaps.source == same.gaps.source


class OrderedRules(NamedTuple):
    horizon: int
    states: int
    actions: np.ndarray


kernels.initial_state.implement(OrderedRules)(initial_state)
kernels.joint_action.implement(OrderedRules)(joint_action)
kernels.reward.implement(OrderedRules)(reward)


@kernels.next_state.implement(OrderedRules)
def advance_in_order(game, token, u):
    return 0 if u < (0.2 if token else 0.8) else 1


def test_where_the_gap_comes_from():
    assert tacit.learn(Pennies(), "q-independent", episodes=10).gaps.source == "none"
    assert tacit.learn(Pennies(), "stage-v-cce", episodes=10).gaps.source == "model-free"
    run = tacit.learn(Pennies(), "stage-v-cce", episodes=10, bonus=0.1)
    assert run.gaps.source == "estimate"
    assert run.notes == ("by hand",)


def test_what_needs_tables_says_so():
    with pytest.raises(tacit.TacitError, match="the certificate needs tables, and the game pennies has none"):
        tacit.learn(Pennies(), "stage-v-cce", episodes=10, certify=True)
    with pytest.raises(tacit.TacitError, match="pg-exact follows exact gradients, which need tables"):
        tacit.learn(Pennies(), "pg-exact", episodes=10)
    with pytest.raises(tacit.TacitError, match="TabularGame"):
        tacit.evaluation.best_response(Pennies(), tacit.MarkovPolicy([np.full((1, 2, 2), 0.5)] * 2), agent=0)  # type: ignore[arg-type]


def test_events_and_checkpoints_are_as_for_tables():
    seen: list[Any] = []
    tacit.learn(Pennies(), "stage-v-cce", episodes=10, points=5, progress=seen.append)
    assert sum(isinstance(event, Measured) for event in seen) == 5
    assert isinstance(seen[-1], Finished)


class Copycat:
    """Plays what it played last in this state, or at first its own number."""

    def __init__(self, *, states: int, index: int, **_: Any) -> None:
        self.last = [index] * states

    def act(self, h: int, s: int) -> int:
        return self.last[s]

    def learn(self, h: int, s: int, a: int, reward: float, next_state: int) -> None:
        self.last[s] = a


def test_plain_classes_play_it_too():
    run = tacit.learn(Pennies(), Copycat, episodes=20)
    assert (run.reward == [-2, 2]).all()
    mixed = tacit.learn(Pennies(), ["q-independent", Copycat], episodes=300)
    assert mixed.reward[0] > 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"agents": 3}, r"actions must be .*3 numbers, one for each agent"),
        ({"states": 0}, "states must be"),
        ({"horizon": 1.5}, "horizon must be"),
        ({"actions": [2, 2]}, "actions must be a tuple"),
        ({"reward_range": (1, 0)}, "reward_range must be"),
        ({"reward_range": None}, "reward_range must be"),
        ({"notes": "x"}, "notes must be"),
        ({"name": 3}, "name must be"),
    ],
)
def test_wrong_sizes(wrong: dict[str, Any], message: str):
    with pytest.raises(tacit.TacitError, match=message):
        tacit.learn(replace(Pennies(), **wrong), "stage-v-cce", episodes=10)


def test_a_missing_attribute():
    class Half:
        def kernels(self) -> None: ...

    with pytest.raises(tacit.TacitError, match=r"must have name, agents.* has no name"):
        tacit.learn(Half(), "stage-v-cce", episodes=10)
