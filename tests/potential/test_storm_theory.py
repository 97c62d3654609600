"""STORM's constants and what is proved with them, written out once more. [Mao2022, thm:storm_app, app:mpg_finite]"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.evaluation.theory import storm as storm_constants
from tacit.learners import REGISTRY, World
from tacit.learners.spec import Scale


def bound(k: float, w: float, c: float, s2: float, L: float, T: float, gain: float) -> tuple[float, float]:
    """M and the bound, as printed with F(x_1) − F* = gain."""
    M = 16 * gain + w ** (1 / 3) * s2 / (2 * L**2 * k) + k**3 * c**2 / L**2 * math.log(T + 2)
    return M, M * w ** (1 / 3) / (T * k) + M * s2 ** (1 / 3) / (T ** (2 / 3) * k)


@pytest.mark.parametrize(("explore", "binding"), [(0.01, "estimator"), (0.5, "potential")])
def test_L_covers_the_potential_too(explore: float, binding: str):
    """Assumption 1 asks for one L: of the estimator's mean-square smoothness and of the potential's gradient."""
    N, A, H = 2, 2, 10
    parts = {"estimator": math.sqrt(N**2 * A**3 * H**3 / explore**3), "potential": 4.0 * N * A * H**3}
    assert max(parts, key=parts.__getitem__) == binding
    found = storm_constants(N, A, H, explore)
    assert pytest.approx(parts[binding]) == found.L
    assert found.k / found.w ** (1 / 3) <= 1 / (4 * found.L) * (1 + 1e-12)  # η_0 ≤ 1/(4L), which the proof needs


def test_the_learner_takes_the_same_L():
    game = tacit.make("good-state")
    spec = REGISTRY.make("pg-storm", eta="theory", momentum="theory", exploration=0.5)
    run = tacit.learn(game, spec, episodes=1, certify=False)
    assert run.params["L"] == 4 * 2 * 2 * 10**3
    assert run.params["k"] == pytest.approx((2 * 2**2 * 10**4 / 0.5) ** (1 / 3) / run.params["L"])
    assert run.params["sigma2"] == storm_constants(2, 2, 10, 0.5).sigma2


def test_exact_steps_have_one_home():
    game = tacit.make("good-state")
    told = tacit.theory(game).exact_step
    assert told == pytest.approx(1 / tacit.evaluation.smoothness_constant(game))
    assert tacit.learn(game, "pg-exact", episodes=1, eta="theory").params["eta"] == told


GAMES = [("good-state", {"horizon": 3}), ("random-potential", {"agents": 3, "actions": [2, 3, 2], "horizon": 2})]


@pytest.mark.parametrize(("name", "params"), GAMES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_M_the_bound_and_the_cost(name: str, params: dict, epsilon: float):
    game = tacit.make(name, **params)
    N, S, A, H = game.agents, game.states, max(game.actions), game.horizon
    span = game.reward_range[1] - game.reward_range[0]
    gain = H if name == "good-state" else N * H
    found = tacit.theory(game, epsilon=epsilon)
    storm = found.storm
    M, most = bound(storm["k"], storm["w"], storm["c"], storm["sigma2"], storm["L"], storm["iterations"], gain)
    assert (storm["M"], storm["bound"]) == (pytest.approx(M), pytest.approx(most))
    # ε̃ is chosen so that D·√(SH) times √(NSA²H⁵)·ε̃ is ε/2
    cost = found.mismatch * math.sqrt(S * H) * math.sqrt(N * S * A**2 * H**5) * storm["exploration"] * span
    assert storm["exploration_cost"] == pytest.approx(cost)
    assert cost == pytest.approx(epsilon / 2)


def test_where_D_is_infinite_nothing_is_promised():
    found = tacit.theory(tacit.make("good-state", slip=0.0))
    assert math.isinf(found.mismatch)
    assert math.isnan(found.storm["M"])


def test_command(capsys: pytest.CaptureFixture[str]):
    assert main(["theory", "box-pushing", "--game-set", "horizon=3"]) == 0
    assert "mismatch D = inf" in " ".join(capsys.readouterr().out.split())
    assert main(["theory", "good-state", "--epsilon", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["storm"]["exploration_cost"] == pytest.approx(0.5)


def test_an_agent_alone_counts_itself():
    world = World(2, np.array([2]), 10, (0.0, 1.0), Scale(1, 2, 2, 10, 1))
    spec = REGISTRY.make("pg-storm", eta="theory", momentum="theory", exploration=0.5)
    assert spec.params(world)["L"] == 4 * 1 * 2 * 10**3
