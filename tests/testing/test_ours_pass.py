"""What tacit ships passes the checks that it ships for others."""

from __future__ import annotations

from typing import Any

import pytest

import tacit
from tacit import bandits, games
from tacit.learners import REGISTRY, Mixed
from tacit.testing import check_bandit, check_game, check_learner, check_policy

GAMES = {
    "random-team": {"states": 3, "horizon": 4},
    "random-general-sum": {"agents": 3, "actions": [2, 3, 2], "states": 4, "horizon": 3, "homogeneous": False},
}


@pytest.mark.parametrize("name", list(games.REGISTRY))
def test_games(name: str):
    known = games.REGISTRY.parameters(name)
    check_game(tacit.make(name, **{key: value for key, value in GAMES.get(name, {}).items() if key in known}))


@pytest.mark.parametrize("name", list(bandits.REGISTRY))
def test_bandits(name: str):
    check_bandit(bandits.REGISTRY.make(name))


#: Swap regret over Exp3-IX, which the registry has, is compiled above; the others in the long run.
@pytest.mark.slow
@pytest.mark.parametrize("base", [bandits.TsallisINF(), bandits.WeightedFTRL()])
def test_swap_regret_over_other_bandits(base: tacit.bandits.Bandit):
    check_bandit(bandits.Swap(base))


#: Beside every learner as it is registered: other bandits, outputs and starting points.
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in REGISTRY},
    "stage-v-cce small bonus": ("stage-v-cce", {"bonus": 0.01}),
    "stage-v-cce tsallis-inf": ("stage-v-cce", {"bonus": 0.01, "bandit": "tsallis-inf"}),
    "stage-v-ce weighted-ftrl": ("stage-v-ce", {"bonus": 0.01, "bandit": "weighted-ftrl"}),
    "v-learning ce": ("v-learning", {"bonus": 0.01, "equilibrium": "ce"}),
    "pg-storm theory": ("pg-storm", {"eta": "theory", "momentum": "theory", "exploration": 0.1}),
    "pg-storm own ratio": ("pg-storm", {"eta": 1e-3, "momentum": 0.1, "own_ratio": True, "exploration": 0.02}),
    "pg-storm random start": ("pg-storm", {"eta": 1e-3, "start": "random"}),
    "pg-adaptive random start": ("pg-adaptive", {"eta": 0.5, "exploration": 0.0, "start": "random"}),
    "npg sampled": ("npg", {"gradient": "sampled", "eta": 0.01}),
    "npg random start": ("npg", {"gradient": "sampled", "eta": 0.01, "start": "random"}),
    "ucb-independent reference": ("ucb-independent", {"bonus": 0.1, "reference": 20}),
}


#: One of each kind; the others are compiled in the long run, and their parts are tested beside.
SHORT = (
    "stage-v-cce",
    "adaptive-v-cce",
    "model-independent",
    "pg-storm",
    "pg-adaptive",
    "npg",
    "q-independent",
    "ucb-central",
    "model-central",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in SHORT else pytest.mark.slow) for name in LEARNERS]
)
def test_learners(name: str):
    kind, params = LEARNERS[name]
    check_learner(REGISTRY.make(kind, **params))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stage-v-cce small bonus", "pg-storm own ratio"])
def test_learners_on_another_game(name: str):
    kind, params = LEARNERS[name]
    check_learner(REGISTRY.make(kind, **params), tacit.make("box-pushing", horizon=4), episodes=40)


def test_a_mixed_team():
    names = ("stage-v-cce", "q-independent")
    check_learner(Mixed(tuple(REGISTRY.make(name) for name in names), names), tacit.make("good-state", horizon=3))


def test_policies():
    game = tacit.make("good-state", horizon=3)
    run = tacit.learn(game, "stage-v-cce", episodes=300, bonus=0.1)
    recorded = run.candidates["average"].policy
    policies = [
        recorded,
        run.candidates["markov"].policy,
        run.last,
        tacit.MarkovPolicy.uniform(game),
        tacit.MarkovPolicy.random(game, correlated=True),
        tacit.solve(game, "ce").policy,
    ]
    for policy in policies:
        check_policy(policy)
