"""Smooth potential games by hand, and the theorems' formulas once more. [Mao2022, def:smooth, app:mpg_finite]"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.games.matrix import matrix_game


def team(table: list[list[float]]) -> tacit.TabularGame:
    return matrix_game([table, table])


@pytest.mark.parametrize(("omega", "lam"), [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0)])
def test_coordination_is_not_smooth(omega: float, lam: float):
    """[[1, 0], [0, 1]]: against the other column π*_i gets 0, and so may π: nothing is promised."""
    found = tacit.smoothness(team([[1, 0], [0, 1]]), omega=omega)
    assert (found.lam, found.omega) == (pytest.approx(lam), omega)


@pytest.mark.parametrize("omega", [0.0, 0.25, 1.0])
def test_two_by_two_team(omega: float):
    """[[4, 2], [2, 0]], π* = (0, 0) worth 4. The worst π is (1, 1), worth 0: π*_i gets 2 there, so λ = 2/4."""
    found = tacit.smoothness(team([[4, 2], [2, 0]]), omega=omega)
    assert found.lam == pytest.approx(0.5)
    assert found.ratio == pytest.approx(0.5 / (1 + omega))
    assert found.best.probs[0][0, 0].tolist() == [1, 0]


@pytest.mark.parametrize("omega", [0.0, 0.25, 1.0])
def test_three_by_two_team(omega: float):
    """[[4, 3], [2, 1], [3.5, 0]]: the worst is agent 1 at (1, 1), where its π* gets 2 and π is worth 1: λ = (2 + ω)/4.

    Next worst is agent 0 at (2, 1), with 3 + 0·ω.
    """
    assert tacit.smoothness(team([[4, 3], [2, 1], [3.5, 0]]), omega=omega).lam == pytest.approx((2 + omega) / 4)


def test_rewards_are_shifted_to_begin_at_zero():
    one, other = (tacit.smoothness(team([[4 + c, 2 + c], [2 + c, c]])).lam for c in (0, -7))
    assert one == pytest.approx(other)


def test_every_equilibrium_has_its_share():
    """V_i ≥ λ/(1 + ω)·V_i* at every pure equilibrium of a two-step game. [Mao2022, thm:smooth with ε = 0]"""
    game = tacit.make("random-team", states=1, horizon=2, seed=4)
    low = game.reward_range[0] * game.horizon
    shares = [tacit.smoothness(game, omega=omega) for omega in (0.1, 0.5, 0.9)]
    best = tacit.evaluate(game, shares[0].best).values[0] - low
    met = 0
    for seed in range(16):
        bits = [(seed >> k) & 1 for k in range(4)]
        plans = [np.array(bits[:2]).reshape(2, 1), np.array(bits[2:]).reshape(2, 1)]
        found = tacit.evaluate(game, tacit.MarkovPolicy.deterministic(plans, game.actions))
        if found.gap < 1e-12:
            met += 1
            assert all(found.values[0] - low >= share.ratio * best - 1e-12 for share in shares)
    assert met > 0


def test_smoothness_does_not_depend_on_the_first_state():
    transitions = np.zeros((1, 2, 2, 2, 2))
    transitions[0, 0, :, :, 0] = transitions[0, 1, :, :, 1] = 1
    team = np.array([[[2, 2], [2, 3.0]], [[1, 3], [2, 0]]])
    rewards = np.stack([team, team])[:, None]
    found = [
        tacit.smoothness(tacit.TabularGame(transitions, rewards, initial, 1)).lam for initial in ([1, 0], [0.5, 0.5])
    ]
    assert found[0] == pytest.approx(found[1])


def test_equal_rewards_have_no_lambda():
    with pytest.raises(tacit.TacitError, match="rewards must differ"):
        tacit.smoothness(tacit.games.matrix_game(np.ones((2, 2, 2))))


def test_smoothness_refuses():
    with pytest.raises(tacit.TacitError, match="deterministic policies"):
        tacit.smoothness(tacit.make("good-state", horizon=10))
    with pytest.raises(tacit.TacitError, match="must be a Markov potential game"):
        tacit.smoothness(tacit.make("matching-pennies"))
    with pytest.raises(tacit.TacitError, match=r"omega must be"):
        tacit.smoothness(tacit.make("stag-hunt"), omega=1.5)


GAMES = [("good-state", {}), ("random-potential", {"agents": 3, "states": 2, "actions": [2, 3, 2], "horizon": 2})]


@pytest.mark.parametrize(("name", "params"), GAMES)
@pytest.mark.parametrize("epsilon", [0.05, 0.7])
def test_formulas(name: str, params: dict, epsilon: float):
    """Each formula as printed, with ε over the span of the rewards; K solves its own equation with ι."""
    game, p = tacit.make(name, **params), 0.02
    found = tacit.theory(game, epsilon=epsilon, confidence=p)
    N, S, A, H = game.agents, game.states, max(game.actions), game.horizon
    D = tacit.mismatch(game).D
    eps = epsilon / (game.reward_range[1] - game.reward_range[0])
    close = pytest.approx
    assert found.mismatch == close(D)
    assert found.episodes_cce == close(S * A * H**5 * found.iota_cce / eps**2)
    assert found.iota_cce == close(math.log(2 * N * S * A * found.episodes_cce * H / p))
    assert found.episodes_ce == close(S * A**2 * H**5 * found.iota_ce / eps**2)
    assert found.iota_ce == close(math.log(2 * N * S * A * found.episodes_ce * H / p))
    low, high = game.reward_range
    assert found.exact_step == close(1 / (4 * N * A * H**3 * (high - low)))
    phi = H if name == "good-state" else N * H
    assert found.exact_iterations == close(32 * N * S * A * D**2 * H**4 * phi / eps**2)
    assert found.lower_bound == close(H**3 * S * A / eps**2)
    storm, explore = found.storm, eps / (2 * math.sqrt(N) * D * S * H**3 * A)
    assert storm["exploration"] == close(explore)
    assert storm["sigma2"] == close(N * A**2 * H**4 / explore)
    assert storm["L"] ** 2 == close(N**2 * A**3 * H**3 / explore**3)
    assert storm["k"] == close(storm["sigma2"] ** (1 / 3) / storm["L"])
    assert storm["w"] == close(storm["sigma2"] * (225 / 7) ** 3 / 64)
    assert storm["c"] == close(storm["L"] ** 2 * 225 / 7)
    assert storm["iterations"] == close(N ** (9 / 4) * D**4.5 * S**3 * A**4.5 * H**12 / eps**4.5)


def test_the_learner_has_the_same_schedule():
    game = tacit.make("good-state", horizon=3)
    told = tacit.theory(game, epsilon=2.0).storm
    run = tacit.learn(
        game, "pg-storm", episodes=1, eta="theory", momentum="theory", exploration=told["exploration"], certify=False
    )
    for key in ("k", "w", "c", "sigma2", "L"):
        assert run.params[key] == pytest.approx(told[key])


def test_infinite_mismatch():
    found = tacit.theory(tacit.make("good-state", slip=0.0))
    assert found.mismatch == math.inf
    assert found.exact_iterations == math.inf
    assert found.storm["iterations"] == math.inf
    assert found.storm["exploration"] == 0
    assert math.isnan(found.storm["sigma2"])


@pytest.mark.parametrize(("params", "message"), [({"epsilon": 0}, "epsilon"), ({"confidence": 0}, "confidence")])
def test_theory_refuses(params: dict, message: str):
    with pytest.raises(tacit.TacitError, match=message):
        tacit.theory(tacit.make("stag-hunt"), **params)


def test_equal_rewards_need_nothing():
    game = matrix_game([[[1.0, 1.0], [1.0, 1.0]]] * 2)
    assert tacit.theory(game).lower_bound == 0


def test_exploration_is_a_probability():
    assert tacit.theory(tacit.make("stag-hunt"), epsilon=100).storm["exploration"] <= 1


def test_command_prints_the_promises(capsys: pytest.CaptureFixture[str]):
    assert main(["theory", "good-state", "--epsilon", "1"]) == 0
    text = capsys.readouterr().out
    found = tacit.theory(tacit.make("good-state"), epsilon=1.0)
    assert "mismatch D = 9" in text
    for number in (found.episodes_cce, found.episodes_ce, found.exact_iterations, found.lower_bound):
        assert f"{number:.3g}" in text


def test_command_prints_json(capsys: pytest.CaptureFixture[str]):
    assert main(["theory", "good-state", "--epsilon", "1", "--delta", "0.05", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = tacit.theory(tacit.make("good-state"), epsilon=1.0, confidence=0.05)
    assert found["game"] == "good-state"
    assert found["mismatch"] == pytest.approx(9)
    assert found["episodes_cce"] == pytest.approx(expected.episodes_cce)
    assert found["storm"]["iterations"] == pytest.approx(expected.storm["iterations"])


def test_command_json_has_no_infinities(capsys: pytest.CaptureFixture[str]):
    assert main(["theory", "good-state", "--game-set", "slip=0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["mismatch"] is None
    assert found["storm"]["sigma2"] is None
    assert found["lower_bound"] > 0


def test_command_refuses_in_one_sentence(capsys: pytest.CaptureFixture[str]):
    assert main(["theory", "good-state", "--epsilon", "0"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.strip().count("\n") == 0
    assert "epsilon" in told.err
