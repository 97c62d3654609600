"""Objects of other libraries that can be asked for probabilities; how well responses are trained, and halving.

The objects here have what the documentation of Stable-Baselines3, RLlib and PyTorch says that theirs have.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.environments.measuring import PlayedEvaluation, halving, interval

ASKED = np.array([[0.9, 0.1], [0.25, 0.75]])


class Space:
    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


class Discrete(Space):
    n = 2


class StableBaselines:
    """A model with `predict`, which draws for itself, and a policy that has distributions."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.policy = self
        self.observation_space, self.action_space, self.draw = Space(shape), Discrete(()), np.random.default_rng(0)

    def predict(self, observation: Any, state: Any = None) -> tuple[Any, None]:
        return self.draw.integers(2), None

    def obs_to_tensor(self, observation: Any) -> tuple[Any, bool]:
        return np.asarray(observation)[None], False

    def get_distribution(self, tensor: Any) -> Any:
        probs = tensor @ ASKED if tensor.ndim == 2 else ASKED[tensor]
        return SimpleNamespace(distribution=SimpleNamespace(probs=probs.astype(np.float32)))


class RLlib:
    """A policy with `compute_single_action`, which draws for itself, and log-likelihoods of actions."""

    observation_space, action_space = Space((2,)), Discrete(())

    def compute_single_action(self, observation: Any) -> tuple[Any, list[Any], dict[str, Any]]:
        return np.random.default_rng().integers(2), [], {}

    def compute_log_likelihoods(self, actions: Any, obs_batch: Any) -> Any:
        return np.log((obs_batch @ ASKED)[np.arange(len(actions)), actions])


class Algorithm(RLlib):
    def get_policy(self) -> RLlib:
        return RLlib()


class Module:
    """A network of a unit vector, as a module of PyTorch is called."""

    def forward(self, x: Any) -> Any:
        if np.shape(x) != (2,):
            raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
        return SimpleNamespace(probs=x @ ASKED)

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)


class Embedding(Module):
    def forward(self, x: Any) -> Any:
        return ASKED[int(x)]


@pytest.mark.parametrize(
    "policy", [StableBaselines(()), StableBaselines((2,)), RLlib(), Algorithm(), Module(), Embedding()]
)
def test_who_can_be_asked_for_probabilities_gets_the_exact_gap(policy: Any):
    game = tacit.make("good-state", horizon=3)
    found = tacit.evaluate(game, policy)
    exact = tacit.evaluate(game, tacit.MarkovPolicy.shared([ASKED], agents=2))
    assert found.exact
    np.testing.assert_allclose(found.gaps, exact.gaps, rtol=1e-6)
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-6)


def test_what_remembers_without_a_reset_is_played():
    class Alternating:
        calls = 0

        def act(self, s: int) -> int:
            self.calls += 1
            return self.calls % 2

    played = tacit.evaluate(tacit.make("good-state", horizon=3), [Alternating(), Alternating()])
    assert isinstance(played, PlayedEvaluation)


def width(samples: np.ndarray) -> float:
    low, high = interval(samples[:, None], 0.95, -1.0, 1.0)
    return float(high[0] - low[0])


@pytest.mark.parametrize("kind", ["even", "rare", "normal", "never"])
def test_as_many_samples_as_said_halve_the_interval(kind: str):
    draw = np.random.default_rng(0)
    samples = {
        "even": lambda n: draw.choice([-1.0, 1.0], n),
        "rare": lambda n: (draw.random(n) < 0.05) * 1.0,
        "normal": lambda n: np.clip(draw.normal(0.1, 0.2, n), -1, 1),
        "never": np.zeros,
    }[kind]
    first = samples(1000)
    assert width(samples(halving(first, 0.05, 2.0))) / width(first) == pytest.approx(0.5, abs=0.06)


def test_halving_counts_what_the_user_passes():
    pennies = tacit.make("matching-pennies")
    uniform = tacit.MarkovPolicy.uniform(pennies)
    by_episodes, by_plays = (
        tacit.exploit(pennies, uniform, episodes=600),
        tacit.exploit(pennies, uniform, episodes=600, plays=300),
    )
    assert by_episodes.halving == pytest.approx(2 * by_plays.halving, abs=2)
    assert f"episodes={by_episodes.halving:,} would halve" in str(by_episodes)
    assert f"plays={by_plays.halving:,} would halve" in str(by_plays)


def test_a_result_says_whether_the_gain_was_rising_or_flat():
    pennies = tacit.make("matching-pennies")
    pure = tacit.MarkovPolicy.deterministic([[[0]], [[0]]], [2, 2])
    found = tacit.exploit(pennies, pure, episodes=200)
    assert found.training == ("flat", "flat")
    assert "flat over the second half of training" in str(found)
    hard = tacit.make("box-pushing", horizon=6)  # hardly explored in so few episodes
    found = tacit.exploit(hard, tacit.MarkovPolicy.uniform(hard), 0, episodes=400, plays=400)
    assert found.training == ("rising", "")
    assert "still rising" in str(found)
    mine = tacit.exploit(
        tacit.to_pettingzoo(pennies), pure, 0, episodes=50, deviators=lambda env, episodes: lambda s: 1
    )
    assert mine.training == ("", "")
