"""Wrong names, values and types are told in one sentence, before anything is compiled or allocated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.bandits import Exp3IX, Swap


@pytest.fixture(scope="module")
def game() -> tacit.TabularGame:
    return tacit.make("good-state", horizon=2)


def refused(message: str, call: Any, *args: Any, **kwargs: Any) -> None:
    with pytest.raises(tacit.TacitError, match=message) as caught:
        call(*args, **kwargs)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("stage-v-ccee", "did you mean 'stage-v-cce'"),
        ("nonsense", "known: portfolio, adaptive-v-cce"),
        (3, "learner must be"),
        (Exp3IX(), "learner must be"),
    ],
)
def test_unknown_learners(learner: object, message: str, game: tacit.TabularGame):
    refused(message, tacit.learn, game, learner, episodes=5)
    refused(message, tacit.agent, learner, states=1, actions=2, horizon=1, reward_range=(0, 1))


@pytest.mark.parametrize("key", ["episodes", "points"])
@pytest.mark.parametrize("value", [0, -3, 2.5, "many", True])
def test_counts(key: str, value: object, game: tacit.TabularGame):
    refused(f"{key} must be", tacit.learn, game, "stage-v-cce", **{"episodes": 5, key: value})


def test_points_cannot_be_left_open(game: tacit.TabularGame):
    refused("points must be", tacit.learn, game, "stage-v-cce", episodes=5, points=None)


@pytest.mark.parametrize("value", [-1, 0.5, "x", None])
def test_seeds(value: object, game: tacit.TabularGame):
    refused("seed must be", tacit.learn, game, "stage-v-cce", episodes=5, seed=value)


@pytest.mark.parametrize("key", ["certify", "keep"])
@pytest.mark.parametrize("value", [1, "yes"])
def test_flags(key: str, value: object, game: tacit.TabularGame):
    refused(f"{key} must be", tacit.learn, game, "stage-v-cce", episodes=5, **{key: value})


def test_not_a_game():
    for wrong in (None, 3, np.zeros(3)):
        refused("game must be", tacit.learn, wrong, "stage-v-cce", episodes=5)


WRONG = [
    ({"bonus": -1}, "bonus must be"),
    ({"bonus": "big"}, "bonus must be"),
    ({"bonus": math.nan}, "bonus must be"),
    ({"step": "teory"}, "did you mean 'theory'"),
    ({"step": 0}, "step must be"),
    ({"step": -0.5}, "step must be"),
    ({"step": math.inf}, "step must be"),
    ({"loss": "rw"}, "did you mean 'raw'"),
    ({"loss": None}, "no loss None"),
    ({"confidence": 0}, "confidence must be"),
    ({"confidence": 2}, "confidence must be"),
    ({"iota": 0}, "iota must be"),
    ({"iota": "log"}, "iota must be"),
    ({"bandit": "exp3"}, "no bandit 'exp3'; did you mean 'exp3-ix'"),
    ({"bandit": 7}, "bandit must be"),
    ({"bandit": None}, "bandit must be"),
    ({"bonnus": 1}, "did you mean 'bonus'"),
    ({"preset": "papr"}, "no preset"),
]


@pytest.mark.parametrize("learner", ["stage-v-cce", "stage-v-ce", "v-learning"])
@pytest.mark.parametrize(("params", "message"), WRONG, ids=[str(params) for params, _ in WRONG])
def test_parameters_of_learners(learner: str, params: dict[str, Any], message: str, game: tacit.TabularGame):
    refused(message, tacit.learn, game, learner, episodes=5, **params)


def test_objects_and_parameters_do_not_mix(game: tacit.TabularGame):
    refused("leave out bonus", tacit.learn, game, tacit.learners.StageV(), episodes=5, bonus=1)
    where = {"states": 1, "actions": 2, "horizon": 1, "reward_range": (0, 1)}
    refused("leave out bonus", tacit.agent, tacit.learners.StageV(), **where, bonus=1)


def test_swap_of_swap():
    refused("external regret", Swap, Swap())


def test_equilibrium_of_v_learning():
    refused("no equilibrium 'nash'", tacit.learners.VLearning, "nash")


def test_no_paper_settings(game: tacit.TabularGame):
    plain = tacit.TabularGame(game.transitions, game.rewards, game.initial, 2)
    refused(
        "the paper gives no settings for stage-v-cce on a game without a name",
        tacit.learn,
        plain,
        "stage-v-cce",
        episodes=5,
        preset="paper",
    )
    refused(
        "the paper gives no settings for npg on good-state; for that game it has: stage-v-cce, pg-storm",
        tacit.learn,
        game,
        "npg",
        episodes=5,
        preset="paper",
    )


AGENT = {"states": 2, "actions": 2, "horizon": 2, "reward_range": (0, 1)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": 0}, "states must be"),
        ({"actions": "two"}, "actions must be"),
        ({"horizon": 1.5}, "horizon must be"),
        ({"reward_range": (1, 0)}, "reward_range must be"),
        ({"reward_range": 5}, "reward_range must be"),
        ({"reward_range": (0, math.inf)}, "reward_range"),
        ({"reward_range": (0, 1, 2)}, "reward_range"),
        ({"seed": -1}, "seed must be"),
        ({"index": -1}, "index must be"),
        ({"index": 0.5}, "index must be"),
    ],
)
def test_agents_are_made_from_sensible_things(change: dict[str, Any], message: str):
    refused(message, tacit.agent, "stage-v-cce", **{**AGENT, **change})


def test_an_agent_checks_what_it_is_told():
    me = tacit.agent("stage-v-cce", **AGENT)
    for args, message in [
        ((2, 0), "h must be"),
        ((-1, 0), "h must be"),
        ((0, 2), "s must be"),
        ((0.5, 0), "h must be"),
        ((0, None), "s must be"),
    ]:
        refused(message, me.act, *args)
    for args, message in [
        ((0, 0, 2, 0.5, 0), "a must be"),
        ((0, 0, -1, 0.5, 0), "a must be"),
        ((0, 0, 0, 1.5, 0), "reward must lie in"),
        ((0, 0, 0, math.nan, 0), "reward must be"),
        ((0, 0, 0, "much", 0), "reward must be"),
        ((0, 0, 0, 0.5, 2), "next_state must be"),
        ((0, 0, 0, 0.5, None), "next_state must be"),
    ]:
        refused(message, me.learn, *args)
    assert me.episodes == 0
    me.learn(1, 0, 0, 0.5, None)  # after the last step there is none
    assert me.episodes == 1


@pytest.mark.parametrize("kind", ["learner", "bandit", "base"])
def test_a_class_or_a_name_in_place_of_an_object(kind: str, game: tacit.TabularGame):
    if kind == "learner":
        refused("learner must be", tacit.learn, game, tacit.learners.StageV, episodes=5)
    elif kind == "bandit":
        refused("bandit must be", tacit.learn, game, "stage-v-cce", bandit=Exp3IX, episodes=5)
    else:
        refused("base must be", Swap, "exp3")
