"""Words for runs that did not get far: said where they are true, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.engine.events import Noted
from tacit.engine.run import advise


def _curve(gaps):
    kinds = [("episode", "i8"), ("gap", "f8")]
    return np.array([(100 * (k + 1), gap) for k, gap in enumerate(gaps)], dtype=kinds)


def _kinds(gaps, *, uniform=10.0, most=100.0, informative=True):
    found = advise(_curve(gaps), gaps[-1], uniform, most, informative=informative, instead="try this")
    assert all(one.text.endswith("try this") for one in found)
    return [one.kind for one in found]


FALLING = [10 / (k + 1) ** 0.3 for k in range(40)]


@pytest.mark.parametrize(
    ("gaps", "kinds"),
    [
        (FALLING, []),
        ([9.5] * 40, ["uniform"]),
        ([9.5] * 3, ["uniform"]),  # too short to speak of the way
        ([4 + k / 10 for k in range(40)], ["grows"]),
        ([8 + k / 5 for k in range(40)], ["uniform", "grows"]),
        ([5.0] * 40, ["stalls"]),
        ([0.5] * 40, []),  # small is good enough
        ([0.02 + 0.01 * (k % 2) for k in range(40)], []),
    ],
)
def test_what_is_said(gaps, kinds):
    assert _kinds(gaps) == kinds


def test_fluctuation_is_not_growth():
    noise = np.random.default_rng(0).uniform(0.7, 1.3, 40)
    assert _kinds(list(np.array(FALLING) * noise)) == []


def test_a_trivial_bound_is_no_result():
    assert _kinds([100.0] * 40, informative=False) == ["blank"]


def test_an_equilibrium_from_the_start_needs_no_advice():
    assert _kinds([0.01] * 40, uniform=0.0) == []
    assert _kinds([0.01] * 40, uniform=None) == []


def test_the_published_algorithm_on_box_pushing_is_no_better_than_uniform_play():
    game = tacit.make("box-pushing", horizon=5)
    run = tacit.learn(game, "stage-v-cce", episodes=300, bonus=0.1)
    (told,) = (one.text for one in run.advice if one.kind == "uniform")
    assert "no better than the uniform policy" in told
    assert "try adaptive-v-cce" in told
    better = tacit.learn(game, "adaptive-v-cce", episodes=6000, keep=False)
    assert not better.advice
    assert better.gap < 0.1 * better.uniform_gap


@pytest.mark.usefixtures("interpreted")
def test_certifying_many_joint_actions_tells_its_cost_beforehand():
    game = tacit.make("random-general-sum", agents=2, states=2, actions=16, horizon=2, seed=0)
    seen = []
    run = tacit.learn(game, "adaptive-v-cce", episodes=5, progress=seen.append)
    told = [event for event in seen if "compiling" not in getattr(event, "text", "")]
    assert isinstance(told[1], Noted)
    assert "all 256 joint actions" in told[1].text
    assert sum(isinstance(event, Noted) and "joint actions" in event.text for event in seen) == 1
    assert any("certify=False" in note for note in run.notes)
    assert not tacit.learn(game, "adaptive-v-cce", episodes=5, certify=False).notes
    assert not tacit.learn(tacit.make("good-state"), "adaptive-v-cce", episodes=5).notes


@pytest.mark.usefixtures("interpreted")
def test_a_game_too_large_to_be_certified_says_so():
    game = tacit.make("random-general-sum", agents=2, states=1, actions=33, horizon=1, seed=0)
    assert "not certified" in tacit.learn(game, "adaptive-v-cce", episodes=5).notes[0]
