"""Who learns where nobody is named: `portfolio` with joint tables of moderate size, `q-backward` in environments."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.environments.adapters import environment
from tacit.games.protocol import is_game
from tacit.learners import default_for


def load(i, h, s, actions):
    return -float(np.sum(actions == actions[i]))


ROADS = tacit.FunctionGame(
    lambda u: 0, lambda h, s, actions, u: 0, load, agents=2, actions=2, states=1, horizon=1, reward_range=(-2, 0)
)


class Walk:
    """An environment of one agent, without tables."""

    agents, actions, horizon = 1, 2, 5

    def reset(self):
        self.at = 0
        return self.at

    def step(self, actions):
        self.at += actions[0]
        return self.at, [float(self.at == 3)], self.at == 3


@pytest.mark.parametrize(
    ("game", "name"),
    [
        (tacit.make("good-state"), "portfolio"),
        (tacit.make("good-state", discount=0.9), "portfolio"),
        (tacit.matrix_game(np.zeros((10, *[2] * 10))), "portfolio"),  # 1024 joint actions
        (tacit.matrix_game(np.zeros((11, *[2] * 11))), "adaptive-v-cce"),
        (tacit.TabularGame(np.ones((1, 3, 1)), np.zeros((1, 1, 3)), 0, 1), "model-central"),  # one agent
        (
            tacit.TabularGame(np.ones((1, 5000, 1)), np.zeros((1, 1, 5000)), 0, 1),
            "adaptive-v-cce",
        ),  # with more actions than it counts
        (tacit.make("minority", agents=3), "adaptive-v-cce"),
        (ROADS, "adaptive-v-cce"),
        (tacit.to_pettingzoo(tacit.make("chicken")), "q-backward"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_tables_of_moderate_size_have_both(game, name):
    where = (game, game.agents) if is_game(game) else (None, len(environment(game).names))
    assert default_for(*where) == name
    assert default_for(*where, {"optimism": 4.0}) == "adaptive-v-cce"  # a portfolio has no such parameter


@pytest.mark.usefixtures("interpreted")
def test_the_default_is_taken_where_the_game_is_known(capsys):
    game = tacit.make("chicken")
    assert tacit.learn(game, episodes=6).learner == "portfolio"
    assert tacit.learn(game, episodes=6, optimism=4.0).learner == "adaptive-v-cce"
    assert tacit.learn(tacit.to_pettingzoo(game), episodes=6).learner == "q-backward"
    assert tacit.learn(Walk(), episodes=6).learner == "model-central"
    assert main(["run", "chicken", "--episodes", "6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["learner"] == "portfolio"


def test_experiments_without_a_learner_keep_theirs():
    [spec] = tacit.Experiment("x", 10, ("chicken",)).learners
    assert spec.name == "adaptive-v-cce"


@pytest.mark.usefixtures("interpreted")
def test_the_command_line_has_the_same_rule_in_environments(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tacit.games.REGISTRY, "_factories", dict(tacit.games.REGISTRY._factories))
    tacit.games.REGISTRY.add("walk", Walk)
    for more, name in (([], "model-central"), (["--set", "optimism=4.0"], "adaptive-v-cce")):
        assert main(["run", "walk", "--episodes", "6", "--on", "threads", "--json", *more]) == 0
        assert json.loads(capsys.readouterr().out)["learner"] == name
