"""Independent PPO: its update against a transcription in NumPy; what it learns, shares, resumes and stores."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.environments.adapters import environment
from tacit.environments.encoding import see_nothing
from tacit.environments.engine import EnvironmentEngine
from tacit.environments.episodes import Bounds
from tacit.environments.networks import inputs_of, join
from tacit.learners import PPO
from tacit.learners.ppo import NetworkMember, kernels
from tacit.policies import Input

installed = all(importlib.util.find_spec(name) for name in ("jax", "optax"))
needs_jax = pytest.mark.skipif(
    not installed, reason="jax and optax are not installed: pip install 'tacit-marl[networks]'"
)


class Sides:
    """Agents are paid for naming the side of a point, which they see beside noise; agent 1 is out after a step."""

    agents, actions, horizon, reward_range = 2, 2, 2, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> list[Any]:
        self.rng = np.random.default_rng(seed)
        return self._show()

    def _show(self) -> list[Any]:
        self.x = self.rng.uniform(-1, 1)
        return [np.array([1000 + self.x, self.rng.normal()]) for _ in range(2)]

    def step(self, actions: list[int]) -> Any:
        paid = [float(a == (self.x > 0)) for a in actions]
        return self._show(), paid, [False, True]


QUICK: dict[str, Any] = {"rollout": 64, "hidden": 16, "epochs": 4, "eta": 0.01}


# the update, against a transcription ----------------------------------------------------------------------------------


def numpy_forward(layers: Any, x: Any) -> Any:
    for weights, bias in layers[:-1]:
        x = np.tanh(x @ weights + bias)
    return x @ layers[-1][0] + layers[-1][1]


def numpy_log_policy(actor: Any, x: Any, allowed: Any, heads: tuple[int, ...]) -> Any:
    outputs, tables, start = numpy_forward(actor, x), [], 0
    for size in heads:
        tables.append(outputs[:, start : start + size])
        start += size
    joint = np.array(
        [
            [sum(t[b, a] for t, a in zip(tables, parts, strict=True)) for parts in np.ndindex(heads)]
            for b in range(len(x))
        ]
    )
    joint = np.where(allowed, joint, -np.inf)
    return joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))


def numpy_loss(weights: Any, batch: Any, learner: PPO, heads: tuple[int, ...]) -> float:
    inside = batch["counts"] > 0
    batch = {name: np.asarray(array)[inside] for name, array in batch.items()}
    logs = numpy_log_policy(weights["actor"], batch["x"], batch["allowed"], heads)
    ratio = np.exp(logs[range(len(logs)), batch["actions"]] - batch["log_prob"])
    advantage = batch["advantages"]
    gain = np.minimum(ratio * advantage, np.clip(ratio, 1 - learner.clip, 1 + learner.clip) * advantage).mean()
    error = ((numpy_forward(weights["critic"], batch["x"])[:, 0] - batch["returns"]) ** 2).mean()
    entropy = -(np.exp(logs) * np.where(np.isfinite(logs), logs, 0)).sum(axis=1).mean()
    return float(-gain + error / 2 - learner.entropy * entropy)


def numpy_advantages(rewards: Any, values: Any, ends: Any, gamma: float, lam: float) -> Any:
    """Sum λ-weighted differences forward, up to the end of an episode, as [Schulman2016, eq. 16] is printed."""
    sums = np.zeros(len(rewards))
    for t in range(len(rewards)):
        weight = 1.0
        for u in range(t, len(rewards)):
            sums[t] += weight * (rewards[u] + (0 if ends[u] else gamma * values[u + 1]) - values[u])
            weight *= gamma * lam
            if ends[u]:
                break
    return sums


def draw_weights(rng: np.random.Generator, inputs: int, outputs: int) -> Any:
    def layers(last: int) -> Any:
        return [(rng.normal(size=(m, n)) / 2, rng.normal(size=n) / 4) for m, n in ((inputs, 4), (4, 4), (4, last))]

    return {"actor": layers(outputs), "critic": layers(1)}


@needs_jax
def test_advantages_are_those_of_the_paper():
    rng = np.random.default_rng(0)
    rewards, values, ends = rng.normal(size=20), rng.normal(size=21), rng.random(20) < 0.2
    found = kernels(PPO(gamma=0.9, lam=0.7), (2,)).advantages(rewards, values[:-1], values[-1], 1.0 * ends, np.ones(20))
    np.testing.assert_allclose(found, numpy_advantages(rewards, values, ends, 0.9, 0.7), atol=1e-5)


@needs_jax
def test_advantages_leave_out_steps_at_which_an_agent_waits():
    """As if such steps did not exist, and what they pay had been paid before; an end while waiting is an end."""
    acted = np.array([1, 0, 0, 1, 1, 0, 0, 0, 1, 0], dtype=float)
    ends = np.array([0, 0, 0, 0, 0, 0, 1, 0, 0, 0], dtype=float)  # the eighth waits for the first turn of an episode
    rng = np.random.default_rng(3)
    rewards, values = rng.normal(size=10), rng.normal(size=11)
    found = kernels(PPO(gamma=0.9, lam=0.7), (2,)).advantages(rewards, values[:-1], values[-1], ends, acted)
    paid = [rewards[:3].sum(), rewards[3], rewards[4:7].sum(), rewards[8:].sum()]
    expected = numpy_advantages(np.array(paid), values[[0, 3, 4, 8, 10]], np.array([0, 0, 1, 0]) > 0, 0.9, 0.7)
    np.testing.assert_allclose(np.asarray(found)[acted > 0], expected, atol=1e-5)


@needs_jax
def test_the_loss_and_its_gradient_are_those_of_a_transcription():
    """Gradients by central differences of the transcription, in 64 bits; agents that are out count nothing."""
    import jax

    rng, heads, learner = np.random.default_rng(1), (2, 3), PPO(clip=0.1, entropy=0.05)
    weights = draw_weights(rng, 3, sum(heads))
    x, actions = rng.normal(size=(12, 3)), rng.integers(6, size=12)
    allowed = rng.random((12, 6)) < 0.7
    allowed[range(12), actions] = True
    old = numpy_log_policy(draw_weights(rng, 3, sum(heads))["actor"], x, allowed, heads)[range(12), actions]
    batch = {"x": x, "allowed": allowed, "actions": actions, "log_prob": old, "counts": np.repeat([1.0, 0.0], [9, 3])}
    batch |= {"advantages": rng.normal(size=12), "returns": rng.normal(size=12)}
    with jax.enable_x64(True):
        value, gradient = jax.jit(jax.value_and_grad(kernels(learner, heads).loss))(weights, batch)
    assert value == pytest.approx(numpy_loss(weights, batch, learner, heads), abs=1e-7)
    for part in ("actor", "critic"):
        for k in range(3):
            for j in range(2):
                array, exact = weights[part][k][j], np.asarray(gradient[part][k][j])
                for place in np.ndindex(array.shape):
                    middle, sides = array[place], []
                    for shift in (1e-5, -1e-5):
                        array[place] = middle + shift
                        sides.append(numpy_loss(weights, batch, learner, heads))
                    array[place] = middle
                    assert exact[place] == pytest.approx((sides[0] - sides[1]) / 2e-5, abs=1e-6)


@needs_jax
def test_an_update_is_adam_on_the_loss_of_each_minibatch():
    """Two minibatches, with Adam and the bound on the norm written out."""
    import jax
    import optax

    rng, learner = np.random.default_rng(2), PPO(gamma=0.9, lam=0.8)
    loss, update = kernels(learner, (2,)).loss, kernels(learner, (2,)).update
    weights = draw_weights(rng, 2, 2)
    data = {
        "x": rng.normal(size=(1, 8, 2)),
        "last": rng.normal(size=(1, 2)),
        "allowed": np.ones((1, 8, 2), dtype=bool),
        "actions": rng.integers(2, size=(1, 8)),
        "rewards": rng.normal(size=(1, 8)),
        "ends": np.array([[0.0, 0, 1, 0, 0, 0, 1, 0]]),
        "counts": np.ones((1, 8)),
    }
    order = np.array([[0, 3, 5, 6], [1, 2, 4, 7]])
    with jax.enable_x64(True):
        adam = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5))
        fresh = jax.tree.map(np.array, weights)
        found = jax.jit(update)((weights, adam.init(weights)), data, order, 0.1)[0]
        values = numpy_forward(fresh["critic"], np.concatenate([data["x"][0], data["last"]]))[:, 0]
        estimates = numpy_advantages(data["rewards"][0], values, data["ends"][0] > 0, 0.9, 0.8)
        logs = numpy_log_policy(fresh["actor"], data["x"][0], True, (2,))
        steps = {"x": data["x"][0], "allowed": data["allowed"][0], "actions": data["actions"][0], "counts": np.ones(8)}
        normalised = (estimates - estimates.mean()) / estimates.std()
        steps |= {"log_prob": logs[range(8), data["actions"][0]], "advantages": normalised}
        steps |= {"returns": estimates + values[:-1]}
        leaves, structure = jax.tree.flatten(fresh)
        slope = jax.jit(jax.grad(loss))
        first, second = ([np.zeros_like(leaf) for leaf in leaves] for _ in range(2))
        for t, rows in enumerate(order, start=1):
            batch = {name: array[rows] for name, array in steps.items()}
            gradient = jax.tree.leaves(slope(jax.tree.unflatten(structure, leaves), batch))
            norm = np.sqrt(sum((np.asarray(one) ** 2).sum() for one in gradient))
            for k, one in enumerate(gradient):
                g = np.asarray(one) * min(1, 0.5 / norm)
                first[k], second[k] = 0.9 * first[k] + 0.1 * g, 0.999 * second[k] + 0.001 * g**2
                direction = first[k] / (1 - 0.9**t) / (np.sqrt(second[k] / (1 - 0.999**t)) + 1e-5)
                leaves[k] = leaves[k] - 0.1 * direction
    for one, other in zip(jax.tree.leaves(found), leaves, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


# in environments ------------------------------------------------------------------------------------------------------


@needs_jax
@pytest.mark.filterwarnings("ignore:the agents saw different")
@pytest.mark.parametrize("share", [False, True])
def test_it_learns_from_observations(share: bool, tmp_path: Path):
    run = tacit.learn(Sides(), "ppo", episodes=400, share=share, **QUICK)
    env = tacit.from_pettingzoo(Sides(), horizon=2)
    values = tacit.evaluate(env, run, episodes=300).values
    assert values[0] > 1.6  # of 2; evenly drawn it is 1
    assert values[1] > 0.8
    assert len(run.policy.networks) == (1 if share else 2)
    run.policy.save(tmp_path / "policy.json")
    stored = tacit.policies.load(tmp_path / "policy.json")
    run.save(tmp_path / "run")
    for one in (stored, tacit.Run.load(tmp_path / "run")):
        np.testing.assert_array_equal(tacit.evaluate(env, one, episodes=300).values, values)
    assert "acts on observations" in str(run)
    assert run.returns["policy"][0] > run.returns["random"][0]


@needs_jax
@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_it_plays_beside_tables():
    env = tacit.from_pettingzoo(Sides(), encode=tacit.Bins([4, 1]))
    run = tacit.learn(env, [PPO(**QUICK), "q-independent"], episodes=300)
    assert tacit.evaluate(env, run, episodes=200).values[0] > 1.4


@needs_jax
def test_it_has_exact_gaps_in_games():
    run = tacit.learn(tacit.make("prisoners-dilemma"), "ppo", episodes=500, rollout=50, minibatch=12, hidden=8)
    assert run.gaps.source == "exact"
    assert run.gap < 0.2


class Masked:
    """Two agents in turn; the one whose turn it is not has a mask of zeros. A forbidden action never comes."""

    metadata: dict[str, Any] = {"name": "masked"}  # noqa: RUF012

    def __init__(self, *, in_info: bool = False) -> None:
        import gymnasium

        self.in_info = in_info
        self.possible_agents = self.agents = ["a", "b"]
        self.played: list[Any] = []
        self._space = gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Tuple(
                    [
                        gymnasium.spaces.Discrete(4, start=2),
                        gymnasium.spaces.Box(-1, 1, (2,)),
                        gymnasium.spaces.Box(-20, 20, (1,)),
                    ]
                ),
                "action_mask": gymnasium.spaces.MultiBinary(6),
            }
        )
        self._actions = gymnasium.spaces.MultiDiscrete([2, 3])

    def observation_space(self, agent: str) -> Any:
        return self._space

    def action_space(self, agent: str) -> Any:
        return self._actions

    def _show(self) -> Any:
        self.card = int(self.rng.integers(2, 6))
        masks = {name: np.zeros(6, dtype=np.int8) for name in self.agents}
        masks["ab"[self.turn]][[self.card - 2, 5]] = 1
        shown = (self.card, self.rng.uniform(-1, 1, size=2), self.rng.uniform(-1, 1, size=1))
        self.infos = {name: {"action_mask": masks[name]} if self.in_info else {} for name in self.agents}
        if self.in_info:
            return {name: {"observation": shown} for name in self.agents}
        return {name: {"observation": shown, "action_mask": masks[name]} for name in self.agents}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.rng, self.turn, self.agents = np.random.default_rng(seed), 0, self.possible_agents
        return self._show(), self.infos

    def step(self, actions: Any) -> Any:
        mover = "ab"[self.turn]
        a = int(np.ravel_multi_index(actions[mover], (2, 3)))
        self.played.append((self.card, a))
        rewards = dict.fromkeys(self.possible_agents, 0.0) | {mover: float(a == 5)}
        self.turn += 1
        over = self.turn == 2
        self.turn %= 2
        shown, flags = self._show(), dict.fromkeys(self.possible_agents, over)
        if over:
            self.agents = []
        return shown, rewards, flags, dict.fromkeys(self.possible_agents, False), self.infos


@needs_jax
def test_masks_parts_of_actions_and_turns():
    env = Masked()
    run = tacit.learn(tacit.from_pettingzoo(env, horizon=2, reward_range=(0, 1)), "ppo", episodes=300, **QUICK)
    assert all(a in (card - 2, 5) for card, a in env.played)
    network = run.policy.networks[0]
    assert network.heads == (2, 3)
    assert [(one.at, one.size, one.start) for one in network.inputs] == [
        (("observation", 0), 4, 2),
        (("observation", 1), 2, None),
        (("observation", 2), 1, None),
    ]
    np.testing.assert_array_equal(network.mean[:6], 0.0)  # unit vectors and small bounds stay as they are
    np.testing.assert_array_equal(network.deviation[:6], 1.0)
    assert network.mean[6] != 0
    assert network.deviation[6] != 1
    assert tacit.evaluate(tacit.from_pettingzoo(Masked(), horizon=2), run, episodes=100).values.min() > 0.8


@needs_jax
@pytest.mark.parametrize("in_info", [False, True])
def test_steps_at_which_an_agent_waits_do_not_count(in_info: bool):
    there, bounds = environment(Masked(in_info=in_info)), Bounds(2, (0.0, 1.0))
    engine = EnvironmentEngine(there, PPO(**QUICK), bounds, episodes=1, seed=0, encode=[see_nothing] * 2)
    engine.advance(1)
    np.testing.assert_array_equal(engine.snapshot()["team0.steps.counts"][:2], np.eye(2))


@needs_jax
@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_agents_learn_from_their_own_play_alone():
    """Scrambling what agent 1 sees and gets leaves agent 0 unchanged."""

    class Noisy(Sides):
        def step(self, actions: list[int]) -> Any:
            shown, paid, over = super().step(actions)
            other = np.random.default_rng(len(shown) + actions[1])
            return [shown[0], other.normal(size=2)], [paid[0], float(other.random())], over

    first, second = (
        tacit.learn(tacit.from_pettingzoo(env(), horizon=2), PPO(**QUICK), episodes=100).policy.networks
        for env in (Sides, Noisy)
    )
    for (weights, _), (same, _) in zip(first[0].layers, second[0].layers, strict=True):
        np.testing.assert_array_equal(weights, same)
    assert (first[1].layers[0][0] != second[1].layers[0][0]).any()


@needs_jax
@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_the_unit_of_rewards_does_not_matter():
    """A power of two leaves every digit as it is."""

    class Dear(Sides):
        reward_range = (0.0, 2.0**20)

        def step(self, actions: list[int]) -> Any:
            shown, paid, over = super().step(actions)
            return shown, [2.0**20 * one for one in paid], over

    cheap, dear = (tacit.learn(env(), "ppo", episodes=100, **QUICK).policy.networks for env in (Sides, Dear))
    for one, other in zip(cheap, dear, strict=True):
        for (weights, bias), (same, also) in zip(one.layers, other.layers, strict=True):
            np.testing.assert_array_equal(weights, same)
            np.testing.assert_array_equal(bias, also)
    assert np.abs(cheap[0].layers[0][1]).max() > 0  # biases begin at 0


@needs_jax
@pytest.mark.filterwarnings("ignore:the agents saw different")
def test_nothing_to_tell_apart_leaves_numbers_finite():
    """Constant observations and rewards, and an agent with one action."""

    class Flat(Sides):
        actions = (2, 1)
        horizon = 2

        def _show(self) -> list[Any]:
            return [np.ones(2)] * 2

        def step(self, actions: list[int]) -> Any:
            return self._show(), [1.0, 1.0], [False, True]

    policy = tacit.learn(Flat(), "ppo", episodes=50, **QUICK).policy
    assert all(np.isfinite(array).all() for one in policy.networks for layer in one.layers for array in layer)
    assert policy.part(1).distribution(0, np.ones(2)).tolist() == [1.0]


@needs_jax
@pytest.mark.parametrize("share", [False, True])
def test_it_resumes_with_the_same_bits(share: bool):
    def engine() -> EnvironmentEngine:
        return EnvironmentEngine(
            environment(Sides()), PPO(share=share, **QUICK), Bounds(2, (0.0, 1.0)), episodes=90, seed=3
        )

    def play(one: EnvironmentEngine, episodes: int) -> Any:
        return np.concatenate([one.advance(1) for _ in range(episodes)])

    whole = engine()
    returns = play(whole, 90)
    half = engine()
    before = play(half, 47)
    stored = {name: np.array(array) for name, array in half.snapshot().items()}
    again = engine()
    again.restore(stored)
    np.testing.assert_array_equal(np.concatenate([before, play(again, 43)]), returns)
    for name, array in whole.team.snapshot().items():
        np.testing.assert_array_equal(again.team.snapshot()[name], array)
    cut = {name: array for name, array in stored.items() if name != "team0._seen"}
    with pytest.raises(tacit.TacitError, match="no array"):
        engine().restore(cut)
    with pytest.raises(tacit.TacitError, match="from 0 to 63"):
        engine().restore({**stored, "team0._filled": np.array(64)})
    with pytest.raises(tacit.TacitError, match="must be"):
        engine().restore({**stored, "team0._mean": np.zeros(3)})


@needs_jax
@pytest.mark.filterwarnings("ignore:the agents saw different", "ignore:interrupted")
def test_a_run_resumes_from_its_checkpoint(tmp_path: Path):
    from tacit.engine.checkpoint import Checkpoint

    path, episodes = tmp_path / "checkpoint.npz", 60

    def stop(event: Any) -> None:
        if type(event).__name__ == "Advanced" and path.exists():
            raise KeyboardInterrupt

    whole = tacit.learn(Sides(), "ppo", episodes=episodes, **QUICK)
    first = Checkpoint(path, key="x", every=0.0)
    cut = tacit.learn(Sides(), "ppo", episodes=episodes, progress=stop, checkpoint=first, **QUICK)
    assert cut.episodes < episodes
    resumed = Checkpoint(path, key="x")
    again = tacit.learn(Sides(), "ppo", episodes=episodes, checkpoint=resumed, **QUICK)
    assert resumed.resumed == cut.episodes
    for (weights, _), (same, _) in zip(whole.policy.networks[0].layers, again.policy.networks[0].layers, strict=True):
        np.testing.assert_array_equal(weights, same)


def test_kinds_of_observations_and_what_is_none():
    class Told(Sides):
        def _show(self) -> list[Any]:
            return [{"a": [1, 2], "b": ([3], [4, 5])}, "text"]

    agents = [SimpleNamespace(inner=NetworkMember(0, i)) for i in range(2)]
    with pytest.raises(tacit.TacitError, match="no numbers for a network"):
        join(PPO(), environment(Told()), agents, steps=10, episodes=10)


def test_boxes_with_bounds_from_1_to_10_are_read_as_they_are():
    import gymnasium

    spaces = gymnasium.spaces
    apart = np.array([1, 0.1], dtype=np.float32)  # the second would hardly count
    each = [
        (spaces.Box(-1, 9, (2,)), True),
        (spaces.Box(0, 1, (2,), dtype=np.int8), True),
        (spaces.Box(-apart, apart), False),
        (spaces.Box(np.array([-1, -np.inf], dtype=np.float32), apart), False),
        (spaces.Box(0, 255, (2,), dtype=np.uint8), False),  # it would be cut off
        (spaces.MultiBinary(2), True),
    ]
    for space, plain in each:
        there: Any = SimpleNamespace(spaces=[space], names=["a"])
        assert inputs_of(there, 0) == ((Input((), 2),), (plain,)), space


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"eta": 0}, "eta"),
        ({"clip": 2}, "clip"),
        ({"rollout": 1}, "rollout"),
        ({"gamma": 1.1}, "gamma"),
        ({"share": 2}, "share"),
    ],
)
def test_parameters_are_checked(params: dict[str, Any], message: str):
    with pytest.raises(tacit.TacitError, match=message):
        PPO(**params)


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(tacit.TacitError, match=r"pip install 'tacit-marl\[networks\]'"):
        tacit.learn(Sides(), "ppo", episodes=10)


def test_large_observations_name_ppo():
    import gymnasium

    frames = gymnasium.wrappers.FrameStackObservation(gymnasium.make("CartPole-v1"), 8)  # 32 numbers
    with pytest.raises(tacit.TacitError, match=r"ppo.*networks"):
        tacit.learn(frames, "q-independent", episodes=10)
