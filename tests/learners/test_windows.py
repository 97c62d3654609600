"""Play that never resets, for learners that otherwise learn from episodes: windows against transcriptions, and bits."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.events import Advanced
from tacit.engine.fused import FusedEngine
from tacit.kernels import Scale, World
from tacit.learners import REGISTRY
from tacit.learners.batches import count_steps
from tacit.learners.spec import world_of
from tacit.testing.checks import copy, own_records, scramble

GAMMA, S, A = 0.6, 3, 3
WORLD = World(S, np.array([A]), 1, (0.0, 1.0), Scale(1, S, A, 3, 100), discount=GAMMA)

LEARNERS = {
    "pg-storm": ("pg-storm", {"eta": 1e-3, "exploration": 0.05}),
    "pg-storm own ratio": ("pg-storm", {"eta": 1e-3, "momentum": 0.1, "own_ratio": True, "exploration": 0.02}),
    "pg-sgd": ("pg-sgd", {"eta": 1e-2}),
    "pg-adaptive": ("pg-adaptive", {}),
    "npg": ("npg", {"gradient": "sampled", "eta": 0.02, "exploration": 0.1}),
    "pg-q": ("pg-q", {"gradient": "sampled", "batch": 3}),
    "ogda": ("ogda", {"gradient": "sampled", "batch": 3}),
    "model-independent": ("model-independent", {}),
}
TOGETHER = {"model-central": ("model-central", {}), "nash-q": ("nash-q", {"operator": "correlated"})}


def make(name):
    kind, params = {**LEARNERS, **TOGETHER}[name]
    return REGISTRY.make(kind, **params)


def project(point):
    """The nearest distribution, by bisection on what is taken from every entry."""
    low, high = point.min() - 1.0, point.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(point - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(point - low, 0)


def play(learner, periods, seed=0):
    """Let one agent play with random rewards and states; return its state, and (s, a, r, π before) of each period."""
    rng, state, told, s = np.random.default_rng(seed), learner.init(WORLD), [], 0
    for _ in range(periods):
        pi = np.zeros(4)
        generics.policy(state, 0, 0, s, pi)
        a = int(generics.act(state, 0, 0, s, rng.random()))
        r, s_next = rng.random(), int(rng.integers(S))
        generics.learn(state, 0, 0, s, a, r, s_next)
        told.append((s, a, r, pi[:A].copy()))
        s = s_next
    return state, told


def in_windows(told):
    """For each whole window, its first half backwards: state, action, discounted rewards to the window's end, π."""
    length = 2 * int(np.ceil(np.log(0.01) / np.log(GAMMA)))
    for first in range(0, len(told) - length + 1, length):
        rewards = [r for _, _, r, _ in told[first : first + length]]
        to_go = [sum(GAMMA**t * r for t, r in enumerate(rewards[k:])) for k in range(length // 2)]
        yield [(*told[first + k][:2], to_go[k], told[first + k][3]) for k in range(length // 2 - 1, -1, -1)]


def policies(state):
    out = np.zeros((S, 4))
    for s in range(S):
        generics.policy(state, 0, 0, s, out[s])
    return out[:, :A]


PERIODS = 170


def test_a_window_cuts_off_one_per_cent():
    for gamma, periods in ((0.0, 2), (0.005, 2), (0.5, 14), (0.95, 180), (0.99, 918)):
        assert count_steps(WORLD._replace(discount=gamma)) == periods
        assert gamma ** (periods // 2) <= 0.01
    assert count_steps(WORLD._replace(discount=None, horizon=7)) == 7


def test_natural_gradients_are_those_of_windows():
    state, told = play(make("npg"), PERIODS)
    logits, gains = np.zeros((S, A)), [[] for _ in range(S)]
    for steps in in_windows(told):
        weight = np.exp(logits)
        theta = weight / weight.sum(axis=1, keepdims=True)
        for s, a, gain, pi in steps:
            np.testing.assert_allclose(pi, theta[s], atol=1e-9)  # it stands still in a window
            if gains[s]:
                logits[s, a] += 0.02 * (gain - np.mean(gains[s])) / (0.9 * pi[a] + 0.1 / A)
            gains[s].append(gain)
    weight = np.exp(logits)
    np.testing.assert_allclose(policies(state), weight / weight.sum(axis=1, keepdims=True), rtol=1e-9)
    assert np.abs(policies(state) - 1 / 3).max() > 0.01


def test_stochastic_gradients_are_those_of_windows():
    state, told = play(REGISTRY.make("pg-sgd", eta=1e-2, exploration=0.1), PERIODS)
    theta = np.full((S, A), 1 / 3)
    for steps in in_windows(told):
        slope = np.zeros((S, A))
        for s, a, gain, pi in steps:
            np.testing.assert_allclose(pi, 0.9 * theta[s] + 0.1 / A, atol=1e-9)  # it stands still in a window
            slope[s, a] += gain * 0.9 / pi[a]
        theta = np.array(
            [project(row + 1e-2 * way) if way.any() else row for row, way in zip(theta, slope, strict=True)]
        )
    np.testing.assert_allclose(policies(state), 0.9 * theta + 0.1 / A, atol=1e-9)
    assert np.abs(theta - 1 / 3).max() > 0.01


def test_momentum_without_weight_is_the_plain_gradient():
    plain, _ = play(REGISTRY.make("pg-sgd", eta=1e-2), PERIODS)
    storm, _ = play(REGISTRY.make("pg-storm", eta=1e-2, momentum=1.0), PERIODS)
    other, _ = play(REGISTRY.make("pg-storm", eta=1e-2, momentum=0.5), PERIODS)
    assert policies(plain).tobytes() == policies(storm).tobytes()
    assert np.abs(policies(plain) - policies(other)).max() > 1e-3


def test_averaged_q_is_that_of_windows():
    state, told = play(make("pg-q"), PERIODS)
    x, batch = np.full((S, A), 1 / 3), [[] for _ in range(S)]
    for steps in in_windows(told):
        for s, a, gain, _ in steps:
            batch[s].append((a, gain))
            if len(batch[s]) == 3:
                mean = np.mean([g for _, g in batch[s]])
                q = np.array([np.mean([g for b, g in batch[s] if b == a] or [mean]) for a in range(A)])
                x[s], batch[s] = project(x[s] + 0.1 * q), []
    np.testing.assert_allclose(policies(state), x, atol=1e-9)
    assert np.abs(x - 1 / 3).max() > 0.01


@pytest.fixture(scope="module")
def game():
    return tacit.make("pricing", prices=3, costs=[1.0, 0.9], discount=0.7)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", [*LEARNERS, *TOGETHER])
def test_chunks_and_checkpoints_change_nothing(game, name, tmp_path):
    def state(sizes):
        engine = FusedEngine(game, make(name), episodes=1, seed=5, endless=True)
        returns = np.concatenate([engine.advance(size) for size in sizes])
        return [array.tobytes() for key, array in engine.snapshot().items() if key != "seconds"], returns

    (whole, paid), (parts, paid_in_parts) = state([400]), state([1, 13, 250, 136])
    assert whole == parts
    assert paid.tobytes() == paid_in_parts.tobytes()

    def learn(**more):
        return tacit.learn(game, make(name), periods=301, seed=1, points=7, certify=False, **more)

    def stop(event):
        if isinstance(event, Advanced) and event.done > 100:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="periods"):
        assert learn(progress=stop, checkpoint=Checkpoint(tmp_path / "c.npz", key="a")).episodes < 301
    run, whole_run = learn(checkpoint=Checkpoint(tmp_path / "c.npz", key="a")), learn()
    assert (run.place, run.visits.tolist()) == (whole_run.place, whole_run.visits.tolist())
    assert run.curve.tobytes() == whole_run.curve.tobytes()
    assert all((a == b).all() for a, b in zip(run.last.probs, whole_run.last.probs, strict=True))


@pytest.mark.parametrize("name", LEARNERS)
def test_scrambling_the_others_changes_nothing(game, name):
    spec, rng = make(name), np.random.default_rng(3)
    state, s = spec.init(world_of(spec, game, episodes=100, seed=0, endless=True)), 0
    for _ in range(300):
        for i in range(2):
            a = generics.act(state, i, 0, s, rng.random())
            generics.learn(state, i, 0, s, a, rng.random(), s)
        s = int(rng.integers(game.states))
    for i, size in enumerate(game.actions):
        calm, noisy = copy(state), copy(state)
        for t in range(120):
            if t % 10 == 0:
                scramble(noisy, i, rng)
            u, r, s_next = rng.random(), rng.random(), int(rng.integers(game.states))
            a = generics.act(calm, i, 0, s, u)
            assert a == generics.act(noisy, i, 0, s, u)
            generics.learn(calm, i, 0, s, a, r, s_next)
            generics.learn(noisy, i, 0, s, a, r, s_next)
            s = s_next
        before, after = own_records(calm, i, size), own_records(noisy, i, size)
        assert any((before[key] != value).any() for key, value in own_records(state, i, size).items())
        for key, value in before.items():
            assert value.tobytes() == after[key].tobytes(), (i, key)


@pytest.mark.parametrize(
    ("name", "periods", "params", "most"),
    [
        ("pg-adaptive", 200_000, {}, 0.02),
        ("pg-sgd", 200_000, {"eta": 1e-3}, 0.02),
        ("pg-q", 200_000, {"gradient": "sampled"}, 0.02),
        ("model-independent", 20_000, {}, 1e-3),
        ("model-central", 20_000, {}, 1e-9),
        ("nash-q", 20_000, {}, 1e-9),
    ],
)
def test_one_agent_finds_the_best_policy_of_a_random_game(name, periods, params, most):
    rng = np.random.default_rng(2)
    moves, rewards = rng.dirichlet(np.ones(3), (3, 2)), rng.random((1, 3, 2))
    game = tacit.TabularGame(moves, rewards, 0, discount=0.8)
    uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    run = tacit.learn(game, name, periods=periods, points=2, **params)
    assert run.gap < most
    assert uniform > 0.2


@pytest.mark.usefixtures("interpreted")
def test_the_future_counts():
    """Invest: state 0 pays a little for staying there, and nothing for the way to state 1, which pays much."""
    moves = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]])
    game = tacit.TabularGame(moves, [[[0.2, 0.0], [1.0, 1.0]]], 0, discount=0.9)
    run = tacit.learn(game, "model-independent", periods=600, points=2)
    assert run.policy.probs[0][0, 0].argmax() == 1


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("periods", [1, 2, 7])
def test_few_periods(game, periods):
    for name in [*LEARNERS, *TOGETHER]:
        run = tacit.learn(game, make(name), periods=periods, certify=False)
        assert (run.episodes, int(run.visits.sum())) == (periods, periods)


@pytest.mark.usefixtures("interpreted")
def test_kinds_of_learners_may_meet(game):
    run = tacit.learn(game, [make("model-independent"), make("pg-sgd")], periods=300, certify=False)
    assert run.episodes == 300


def test_who_refuses_says_why(game):
    for name, options, why in (
        ("pg-exact", {}, "exact gradients and plays no periods"),
        ("npg", {}, "gradient='sampled'"),
        ("stage-v-cce", {}, "how episodes end"),
        ("q-backward", {}, "how episodes end"),
        ("pg-storm", {"still": 5}, "PGStorm has none"),
    ):
        with pytest.raises(tacit.TacitError, match=why):
            tacit.learn(game, name, periods=10, **options)
