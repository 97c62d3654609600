"""A bound is called one where the theorem covers the run that was played, and nothing is made of one at its cap."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.engine.fused import FusedEngine
from tacit.learners import REGISTRY, theorem_iota, v_base
from tacit.learners.spec import Scale, world_of


def small(first: list[float]) -> tacit.TabularGame:
    """Two states that stay, one step, rewards in [0, 1]: coordination in the one, matching pennies in the other."""
    tables = np.array(
        [[[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]], [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]]
    )
    stay = np.broadcast_to(np.eye(2)[None, :, None, None], (1, 2, 2, 2, 2))
    return tacit.TabularGame(stay, tables[:, None], first, 1)


def test_a_small_iota_makes_an_estimate():
    game = tacit.make("good-state", horizon=3)
    run = tacit.learn(game, "stage-v-cce", episodes=2000, iota=1e-9, certify=False)
    assert run.gaps.source == "estimate"
    assert "≈" in repr(run)
    assert "≤" not in repr(run)
    exact = tacit.evaluate(game, run.policy, gap="cce").gap
    assert run.gap < exact  # which is why it must not be called a bound


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", ["stage-v-cce", "stage-v-ce"])
def test_the_theorems_iota_for_the_run_that_was_played(learner: str):
    """ι for N = 2, S = 2, A = 2, K = 400, H = 1, p = 0.05, and a hair less; more episodes need more."""
    game = small([1.0, 0.0])
    needed = math.log(2 * 2 * 2 * 2 * 400 * 1 / 0.05)
    common = {"episodes": 400, "certify": False, "confidence": 0.05}
    sources = [tacit.learn(game, learner, iota=x, **common).gaps.source for x in (needed, needed * (1 - 1e-9), 50.0)]
    assert sources == ["model-free", "estimate", "model-free"]
    assert tacit.learn(game, learner, **common).gaps.source == "model-free"
    assert tacit.learn(game, learner, iota=needed, **{**common, "episodes": 401}).gaps.source == "estimate"
    there = tacit.to_pettingzoo(game)
    given = {"episodes": 400, "confidence": 0.05}
    sources = [tacit.learn(there, learner, iota=x, **given).gaps.source for x in (needed, needed * (1 - 1e-9))]
    assert sources == ["model-free", "estimate"]


@pytest.mark.usefixtures("interpreted")
def test_no_bound_with_other_parameters_or_learners():
    game = small([1.0, 0.0])
    for learner, params in [("stage-v-cce", {"bonus": 5.9}), ("stage-v-cce", {"loss": "raw"}), ("v-learning", {})]:
        run = tacit.learn(game, learner, episodes=50, iota=100.0, certify=False, **params)
        assert run.gaps.source == "estimate"


def test_drawn_first_states_cost_a_deviation():
    """(1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k) + H·span·√(ι/2K); nothing is added for one fixed first state or an estimate."""
    K, iota = 200_000, 25.0
    found = {}
    for first in ([0.5, 0.5], [1.0, 0.0]):
        game = small(first)
        run = tacit.learn(game, "stage-v-cce", episodes=K, iota=iota, certify=False, points=10)
        spec = REGISTRY.make("stage-v-cce", iota=iota)
        session = FusedEngine(game, spec, episodes=K, seed=0)
        session.advance(K)
        found[first[0]] = (run, session.state.agents["bound_sum"] / K)
        assert run.gaps.source == "model-free"
        assert run.gaps.informative
        assert run.gap == run.curve["gap"][-1]
        exact = tacit.evaluate(game, run.policy, gap="cce").gaps
        assert (exact <= run.gaps.upper).all()
    drawn, fixed = found[0.5], found[1.0]
    np.testing.assert_allclose(drawn[0].gaps.upper, drawn[1] + math.sqrt(iota / (2 * K)))
    np.testing.assert_allclose(fixed[0].gaps.upper, fixed[1])
    there = tacit.learn(tacit.to_pettingzoo(small([0.5, 0.5])), "stage-v-cce", episodes=300, bonus=6.0)
    here = tacit.learn(small([0.5, 0.5]), "stage-v-cce", episodes=300, certify=False)
    assert there.gaps.upper.tolist() == here.gaps.upper.tolist()


def test_an_environment_is_taken_to_draw_its_first_state():
    """Unless it says `first_states = 1`, or there is only one state; what it says is not asked behind wrappers."""
    game = small([1.0, 0.0])
    env = tacit.to_pettingzoo(game)
    assert env.first_states == 1
    K, iota = 30_000, 25.0  # the bound is below its cap
    params = {"episodes": K, "iota": iota, "points": 2}
    stated = tacit.learn(env, "stage-v-cce", **params)
    del env.first_states
    silent = tacit.learn(env, "stage-v-cce", **params)
    assert stated.gaps.source == silent.gaps.source == "model-free"
    np.testing.assert_allclose(silent.gaps.upper, stated.gaps.upper + math.sqrt(iota / (2 * K)))
    one = tacit.to_pettingzoo(tacit.make("matching-pennies"))
    del one.first_states
    here = tacit.learn(tacit.make("matching-pennies"), "stage-v-cce", episodes=2000, certify=False)
    np.testing.assert_array_equal(tacit.learn(one, "stage-v-cce", episodes=2000).gaps.upper, here.gaps.upper)


def test_a_bound_at_its_cap_is_no_information(capsys: pytest.CaptureFixture[str]):
    game = tacit.make("good-state", horizon=3)
    run = tacit.learn(game, "stage-v-cce", episodes=200, certify=False)
    assert run.gap == run.gaps.most == 3 * 7
    assert not run.gaps.informative
    assert "cce gap: no information yet (model-free)" in repr(run)
    line = ["run", "good-state", "stage-v-cce", "--episodes", "200", "--game-set", "horizon=3", "--certify", "no"]
    assert main([*line, "--seeds", "2"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "CCE gap no information yet: the bound is no better than the largest gap there is" in text
    assert "≤" not in text
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gap"]["informative"] is False


def test_what_is_known_is_told(capsys: pytest.CaptureFixture[str]):
    game = tacit.make("good-state", horizon=3)
    run = tacit.learn(game, "stage-v-cce", episodes=2000, bonus=0.1)
    assert run.gaps.informative
    assert f"cce gap {'=' if run.candidates[run.chosen].table else '≤'} {run.gap:.4g} (" in repr(run)
    exact = tacit.learn(tacit.make("matching-pennies"), "pg-exact", episodes=1)
    assert exact.gaps.informative
    line = ["run", "good-state", "stage-v-cce", "--episodes", "2000", "--game-set", "horizon=3", "--set", "bonus=0.1"]
    assert main(line) == 0
    assert f"CCE gap    {'' if run.candidates[run.chosen].table else '≤ '}{run.gap:.4g} " in capsys.readouterr().out


def agent(**params: object) -> tacit.Agent:
    made = tacit.agent("stage-v-cce", states=2, actions=3, horizon=1, reward_range=(0, 1), **params)
    for k in range(30):
        made.learn(0, k % 2, made.act(0, k % 2), 0.5, None)
    return made


def test_an_agent_on_its_own_has_an_estimate():
    """Its own ι is log(2SAH/p) = 7.1, of what it knows."""
    lone = agent()
    assert lone.spec.factors(lone.world, lone.world.scale)[0] == pytest.approx(math.log(2 * 2 * 3 / 0.01))
    assert 0 < lone.estimate <= 1
    with pytest.raises(tacit.TacitError, match="only V-learning"):
        tacit.agent("q-independent", states=1, actions=2, horizon=1, reward_range=(0, 1)).estimate  # noqa: B018


def test_before_the_first_episode_nothing_is_known():
    fresh = tacit.agent("stage-v-cce", states=2, actions=3, horizon=4, reward_range=(-1, 1), iota=20.0)
    assert fresh.estimate == 8


def test_the_deviation_holds_over_drawn_first_states():
    """The mean over the distribution of values in [0, 1] exceeds the mean over draws by √(ι/2K) with chance e^{-ι}.

    ι = 2, K = 50, 2000 repetitions with values 0 and 1 of equal chance, the worst case: at most 13.5 % by the
    inequality, 2.3 % by the normal approximation. A fresh seed fails the upper limit of 5 % with probability below
    1e-12, the lower of 0.5 % likewise.
    """
    K, iota, draws = 50, 2.0, np.random.default_rng(0).integers(0, 2, (2000, 50))
    off = 0.5 - draws.mean(axis=1) > math.sqrt(iota / (2 * K))
    assert 0.005 < off.mean() < 0.05
    game = tacit.make("good-state", horizon=1)
    spec = REGISTRY.make("stage-v-cce", iota=iota)
    world = world_of(spec, game, episodes=K, seed=0)
    with_draw, without = (v_base.bound(spec, world, np.zeros(1), K, drawn=drawn) for drawn in (True, False))
    assert (with_draw - without)[0] == pytest.approx(7 * math.sqrt(iota / (2 * K)))
    assert theorem_iota(Scale(agents=2, states=2, actions=2, horizon=1, episodes=K), 0.01) > iota
