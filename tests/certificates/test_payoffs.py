"""What the agents expect at one (h, s) is the sum over all joint actions, for any number of agents and actions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.core.compilation import compile_loop
from tacit.engine.fused import FusedEngine, seats
from tacit.evaluation import certificate as certificates
from tacit.evaluation.certificate import Certificate, certificate
from tacit.learners import REGISTRY

SIZES = {
    "one agent": [3],
    "two agents": [3, 2],
    "one action": [1, 3],
    "three agents": [2, 3, 2],
    "four agents": [2, 1, 3, 2],
    "five agents": [2, 1, 3, 2, 2],
    "six agents": [2, 2, 1, 2, 1, 3],
}


def made(actions: list[int], *, stationary: bool = False) -> tuple[tacit.TabularGame, Certificate]:
    """A game and a certificate with arbitrary values."""
    params = {"agents": len(actions), "actions": actions, "states": 3, "horizon": 3, "seed": 5}
    game = tacit.make("random-general-sum", **params, stationary=stationary, successors=2)
    cert, rng = certificate(game, "cce"), np.random.default_rng(1)
    cert.V[:-1], cert.best[:-1] = rng.normal(size=(2, *cert.V[:-1].shape))
    return game, cert


def play(game: tacit.TabularGame, cert: Certificate, rng: np.random.Generator, zeros: bool) -> None:
    """Let all agents play arbitrary distributions, with probabilities of 0 among them where that is asked for."""
    for i, size in enumerate(game.actions):
        weight = rng.random(size) * (rng.random(size) < 0.5 if zeros else 1)
        weight[rng.integers(size)] += 0.1
        cert.mu[i, :size] = weight / weight.sum()


def summed(game: tacit.TabularGame, cert: Certificate, h: int, s: int) -> tuple[np.ndarray, np.ndarray]:
    """Values [N] and gains [N, A] by a sum over all joint actions."""
    value, gain = np.zeros(game.agents), np.zeros(cert.gain.shape)
    P, R = game.transitions, game.rewards
    for joint in itertools.product(*map(range, game.actions)):
        row = P[(h if len(P) > 1 else 0, s, *joint)]
        for i, own in enumerate(joint):
            others = math.prod(cert.mu[j, a] for j, a in enumerate(joint) if j != i)
            reward = R[(i, h if R.shape[1] > 1 else 0, s, *joint)]
            gain[i, own] += others * (reward + row @ cert.best[h + 1, :, i])
            value[i] += others * cert.mu[i, own] * (reward + row @ cert.V[h + 1, :, i])
    return value, gain


@pytest.mark.parametrize("zeros", [False, True], ids=["positive", "zeros"])
@pytest.mark.parametrize("size", SIZES)
def test_expectations_are_sums_over_joint_actions(size: str, zeros: bool):
    game, cert = made(SIZES[size], stationary=zeros)
    rng = np.random.default_rng(2)
    for h, s in itertools.product(range(3), range(3)):
        play(game, cert, rng, zeros)
        generics.induced_payoffs(game.kernels(), cert, seats(game.agents), h, s)
        value, gain = summed(game, cert, h, s)
        np.testing.assert_allclose(cert.value, value, atol=1e-12)
        for i, own in enumerate(game.actions):
            np.testing.assert_allclose(cert.gain[i, :own], gain[i, :own], atol=1e-12)


@pytest.mark.parametrize("learner", ["stage-v-cce", "stage-v-ce"])
@pytest.mark.parametrize("size", ["one agent", "two agents", "one action", "four agents", "six agents"])
def test_joint_sums_of_a_stage_give_what_every_visit_by_itself_gives(interpreted: None, size: str, learner: str):
    game, _ = made(SIZES[size])
    spec = REGISTRY.make(learner, bonus=0.1)
    by_visit, by_stage = (
        certificate(game, spec.info.learns, averaging=averaging) for averaging in ("rate", spec.info.averaging)
    )
    assert by_stage.joint.ndim == 2
    assert by_visit.joint.ndim == 1
    for cert in (by_visit, by_stage):
        FusedEngine(game, spec, episodes=150, seed=3, certificate=cert).advance(150)
        assert cert.payoffs.changes.max() > 5
    for field in ("V", "best"):
        np.testing.assert_allclose(getattr(by_stage, field), getattr(by_visit, field), rtol=0, atol=1e-12)
    for read in (certificates.bound, certificates.recent):
        np.testing.assert_allclose(read(game, by_stage).gaps, read(game, by_visit).gaps, rtol=0, atol=1e-12)


def test_payoffs_that_are_kept_are_made_anew_when_values_change():
    game, cert = made([2, 3])
    play(game, cert, np.random.default_rng(3), zeros=False)
    kernels = game.kernels()
    generics.induced_payoffs(kernels, cert, seats(2), 1, 0)
    before = cert.value.copy()
    cert.V[2] += 1.0
    cert.payoffs.changes[1] += 1  # of another step
    generics.induced_payoffs(kernels, cert, seats(2), 1, 0)
    assert (cert.value == before).all()
    cert.payoffs.changes[2] += 1
    generics.induced_payoffs(kernels, cert, seats(2), 1, 0)
    np.testing.assert_allclose(cert.value, before + 1.0, atol=1e-12)


def test_large_games_make_payoffs_anew_and_get_the_same(monkeypatch: pytest.MonkeyPatch):
    game, kept = made([2, 3])
    monkeypatch.setattr(certificates, "KEPT_BYTES", 0)
    _, anew = made([2, 3])
    assert len(kept.payoffs.table) == 9
    assert len(anew.payoffs.table) == 1
    for cert in (kept, anew):
        play(game, cert, np.random.default_rng(4), zeros=False)
        for h, s in ((0, 1), (1, 2), (0, 1)):
            generics.induced_payoffs(game.kernels(), cert, seats(2), h, s)
    assert (kept.value == anew.value).all()
    assert (kept.gain == anew.gain).all()


def confront_once(game, cert, seats, h, s):
    generics.induced_payoffs(game, cert, seats, h, s)


@pytest.mark.parametrize("size", ["four agents", "five agents"])
def test_compiled_is_interpreted(size: str):
    game, cert = made(SIZES[size])
    _, plain = made(SIZES[size])
    for one, call in ((cert, compile_loop(confront_once, game.kernels(), cert)), (plain, confront_once)):
        play(game, one, np.random.default_rng(5), zeros=True)
        for h, s in ((0, 1), (2, 2), (0, 1)):
            call(game.kernels(), one, seats(game.agents), h, s)
    assert cert.value.tobytes() == plain.value.tobytes()
    assert cert.gain.tobytes() == plain.gain.tobytes()
