"""Deviators: responses on features where no table would do, trainers from elsewhere, and choosing without bias."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.linalg import lstsq

import tacit
from tacit.environments.adapters import Anything
from tacit.environments.deviators import Basis, Regression, Vector, spread_out

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from gymnasium import Env, spaces
    from gymnasium.utils.env_checker import check_env
    from test_masks import Masked
    from toys import Corridor, DropOut

WRONG_AND_RIGHT = [lambda seen: 5, lambda seen: 6]


class Field:
    """A point on a line that both see, with noise and two numbers that mean nothing; each is paid near its own end."""

    actions, horizon, reward_range = (3, 3), 4, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> Any:
        self.rng, self.steps = np.random.default_rng(seed), 0
        self.at = self.rng.uniform(-1, 1)
        return self.show()

    def show(self) -> Any:
        return np.concatenate([[self.at + 0.01 * self.rng.normal()], self.rng.normal(size=2)])

    def step(self, actions: list[int]) -> Any:
        self.at = float(np.clip(self.at + 0.3 * (actions[0] - 1) + 0.3 * (actions[1] - 1), -1, 1))
        self.steps += 1
        return self.show(), [(1 + self.at) / 2, (1 - self.at) / 2], self.steps == 4


def still(seen: Any, step: int) -> int:
    return 1


def worth(push: float) -> float:
    """What agent 0 gains by a push at every step while agent 1 stands still, on average over first points."""
    first = np.linspace(-1, 1, 2001)
    return float(sum((np.clip(first + push * (h + 1), -1, 1) / 2).mean() for h in range(4)))


def test_features_come_near_the_best_where_every_observation_is_new():
    found = tacit.exploit(Field(), still, 0, episodes=600, plays=200)
    best = worth(0.3) - worth(0.0)
    assert found.gap > 0.9 * best
    assert found.low[0] <= best
    assert found.deviations == "deviations on own observations, by features"
    again = tacit.exploit(Field(), still, 0, episodes=600, plays=200)
    np.testing.assert_array_equal(found.gains, again.gains)
    played = tacit.evaluate(Field(), [found.responses[0], still], episodes=200)  # a response is a policy like any other
    assert played.values[0] == pytest.approx(found.values[0] + found.gains[0], abs=1e-9)


class Cue:
    """A sign is seen first, and nothing but noise later; the last action is paid if it is that of the sign."""

    actions, horizon, reward_range = (2, 2), 3, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> Any:
        self.rng, self.steps = np.random.default_rng(seed), 0
        self.sign = int(self.rng.integers(2))
        return np.array([2 * self.sign - 1 + 0.1 * self.rng.normal()])

    def step(self, actions: list[int]) -> Any:
        self.steps += 1
        paid = [float(self.steps == 3 and a == self.sign) for a in actions]
        return 0.1 * self.rng.normal(size=1), paid, self.steps == 3


def test_responses_remember_what_is_seen_no_more():
    """Whoever sees the last observation alone gains nothing, since 0 and 1 pay 1/2 each."""
    found = tacit.exploit(Cue(), still, 0, episodes=600, plays=300)
    assert found.gap > 0.4
    part = found.responses[0]
    for sign in (0, 1, 0):  # nothing is left of an episode before
        part.begin(seed=0)
        assert [part.act(h, np.array([x])) for h, x in enumerate((2.0 * sign - 1, 0.0, 0.0))][2] == sign


def test_a_trainer_from_elsewhere_gets_an_environment_of_gymnasium():
    met: list[Any] = []

    def trainer(env: Any, episodes: int) -> Any:
        assert isinstance(env, Env)
        check_env(env, skip_render_check=True)
        paid = {}
        for a in range(2):
            env.reset()
            over, total = False, 0.0
            while not over:
                _, reward, terminated, truncated, _ = env.step(a)
                over, total = terminated or truncated, total + reward
            paid[a] = total
        met.append((episodes, paid))
        return lambda seen: max(paid, key=paid.get)

    found = tacit.exploit(
        tacit.from_pettingzoo(Corridor(), horizon=12), WRONG_AND_RIGHT, 0, episodes=40, plays=30, deviators=trainer
    )
    [(episodes, paid)] = met
    assert (episodes, paid[0]) == (40, -12.0)
    assert found.gap > 15
    assert found.deviations.endswith("by trainer")


def test_several_are_tried_and_the_best_is_measured_afresh():
    bad, good = (lambda env, episodes: lambda seen: 0), (lambda env, episodes: lambda seen: 1)
    bad.__name__, good.__name__ = "bad", "good"
    found = tacit.exploit(
        tacit.from_pettingzoo(Corridor(), horizon=12),
        WRONG_AND_RIGHT,
        0,
        episodes=200,
        plays=40,
        deviators=[bad, good, "table"],
    )
    assert list(found.tried[0]) == ["bad", "good", "table"]
    assert found.tried[0]["bad"] == 0 < 15 < found.tried[0]["good"]
    assert found.gap > 15
    assert "tried: bad 0, good 1" in str(found)
    game = tacit.exploit(tacit.make("chicken"), lambda h, s: 0, 0, episodes=40, deviators=[good, "table"])
    assert game.tried[0] == {"good": 1.0, "table": 1.0}


def test_choosing_among_many_biases_nothing():
    """Twenty that gain nothing, of which the luckiest is chosen: the mean of what is measured is 0 all the same."""
    pennies = tacit.to_pettingzoo(tacit.make("matching-pennies"))
    even = tacit.MarkovPolicy.uniform(tacit.make("matching-pennies"))

    def make(k: int) -> Any:
        trainer = lambda env, episodes: lambda seen, step: k % 2  # noqa: E731
        trainer.__name__ = f"t{k}"
        return trainer

    gains, missed = [], 0
    for seed in range(30):
        found = tacit.exploit(
            pennies, even, 0, episodes=400, plays=100, seed=1000 * seed, deviators=[make(k) for k in range(20)]
        )
        gains.append(found.gains[0])
        missed += not found.low[0] <= 0 <= found.high[0]
    assert abs(np.mean(gains)) < 3 * np.std(gains) / np.sqrt(30) + 1e-9
    assert missed <= 4


@pytest.mark.parametrize("where", ["observation", "info"])
def test_masks_are_respected(where: str):
    low = lambda seen, step: [0.6, 0.4, 0.0] if where == "info" else [0.6, 0.4, 1e-9]  # noqa: E731
    found = tacit.exploit(
        Masked(where), low, 0, episodes=200, plays=100, deviators=["features", lambda env, episodes: lambda seen: 2]
    )
    assert found.gap > 0.5
    assert found.tried[0]["features"] > 0.5  # the best that is allowed
    assert abs(found.tried[0]["features"] - found.tried[0]["<lambda>"]) < 0.5


class Clock:
    """Forty steps, each of which pays one number for an action that another one names."""

    actions, horizon, reward_range = 2, 40, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> Any:
        self.rng, self.steps = np.random.default_rng(seed), 0
        return self.show()

    def show(self) -> Any:
        self.at = self.rng.uniform(size=2)
        return self.at

    def step(self, actions: list[int]) -> Any:
        paid = abs(self.at[0]) * (actions[0] == (self.at[1] > 0.5))
        self.steps += 1
        return self.show(), paid, self.steps == 40


def test_samples_of_all_steps_count_where_steps_are_alike():
    found = tacit.exploit(Clock(), lambda seen: 0, episodes=120, plays=20)
    assert found.responses[0].clock
    assert found.gap > 0.8 * 10  # 20 for the best, 10 for action 0 alone


def test_who_is_out_early_learns_from_what_it_has_met():
    found = tacit.exploit(DropOut(), lambda seen: 0, episodes=60, plays=20, deviators="features")
    np.testing.assert_array_equal(found.gains, [1.0, 2.0, 3.0])


def test_what_is_tried_follows_from_what_is_met():
    few = tacit.exploit(tacit.from_pettingzoo(Corridor(), horizon=12), WRONG_AND_RIGHT, 0, episodes=4000, plays=10)
    both = tacit.exploit(
        tacit.from_pettingzoo(Corridor(cells=9), horizon=12), lambda seen: [0.5, 0.5], 0, episodes=100, plays=10
    )
    words = tacit.exploit(Words(), lambda seen: 0, episodes=100, plays=10)
    assert few.deviations == "deviations on the shared state"
    assert set(both.tried[0]) == {"table", "features"}
    assert words.deviations == "deviations on the shared state"


class Words:
    actions, horizon, reward_range = 2, 1, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> Any:
        return f"word {seed}"

    def step(self, actions: list[int]) -> Any:
        return "", float(actions[0]), True


def test_vectors():
    space = spaces.Dict(
        {
            "action_mask": spaces.MultiBinary(2),
            "at": spaces.MultiDiscrete([2, 3]),
            "kind": spaces.Discrete(2, start=4),
            "pair": spaces.Tuple([spaces.Box(0, 1, (1, 2)), spaces.MultiBinary(2)]),
        }
    )
    seen = {"action_mask": [1, 0], "at": [1, 2], "kind": 5, "pair": (np.array([[0.25, 0.5]]), [1, 0])}
    assert Vector(space, "agent 0")(seen).tolist() == [1, 2, 0, 1, 0, 0, 1, 0, 1, 0.25, 0.5, 1, 0]
    assert Vector(spaces.Discrete(1000), "agent 0")(7).tolist() == [7.0]
    picture = Vector(spaces.Box(0, 255, (20, 20, 3), np.uint8), "agent 0")
    one, other = (picture(np.full((20, 20, 3), k, np.uint8)) for k in (3, 4))
    assert one.shape == other.shape == (60,)
    assert not np.array_equal(one, other)
    plain = Vector(Anything(), "agent 0")
    plain((1, [2.0]))
    for wrong, told in (
        ((1,), "must be 2 finite"),
        ((1, np.nan), "must be 2 finite"),
        ("left", "must be numbers for features"),
    ):
        with pytest.raises(tacit.TacitError, match=told):
            plain(wrong)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("tables", "deviators must be 'table', 'features'.*; got 'tables'"),
        ([], "deviators must be"),
        (["table", "table"], "different names"),
        (lambda env, episodes: 1 / 0, "the deviator <lambda> failed: ZeroDivisionError"),
        (lambda env, episodes: 7, "must be a function .*; got 7"),
        (lambda env, episodes: lambda seen: 2, "must return an action, 0 to 1, .*; got 2"),
    ],
)
def test_what_is_no_deviator_is_told(given: Any, told: str):
    with pytest.raises(tacit.TacitError, match=told):
        tacit.exploit(
            tacit.from_pettingzoo(Corridor(), horizon=12), WRONG_AND_RIGHT, 0, episodes=20, plays=10, deviators=given
        )


def test_the_regression_is_ridge_regression():
    """Of least squares with √λ·I below the features, which SciPy solves in another way."""
    rng = np.random.default_rng(0)
    xs, acted, targets = rng.normal(size=(40, 3)), rng.integers(-1, 2, 40), rng.normal(size=40)
    basis = Basis(np.zeros(3), np.ones(3), xs[:5].copy(), 0.3)
    phis = np.hstack([np.ones((40, 1)), xs, np.exp(-0.3 * ((xs[:, None] - xs[:5]) ** 2).sum(axis=2))])
    np.testing.assert_allclose(basis.show(xs), phis, atol=1e-12)
    np.testing.assert_allclose(basis.near(phis).sum(axis=1), 1, atol=1e-6)
    weights = Regression(basis.show(xs), acted, 2).fit(targets)
    for a in range(2):
        below = np.vstack([phis[acted == a], np.sqrt(0.1) * np.eye(9)])
        exact = lstsq(below, np.append(targets[acted == a], np.zeros(9)))[0]
        np.testing.assert_allclose(weights[a], exact, atol=1e-9)


def test_centres_are_apart():
    points = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 0.0], [0.0, 7.0]])
    twice = np.repeat(points, 3, axis=0)
    assert [k // 3 for k in spread_out(twice, 9)] == [0, 3, 2, 1]
    assert len(spread_out(twice, 2)) == 2


@pytest.mark.parametrize("deviators", [np.ones((2, 2)), [np.ones(2)], 3])
def test_what_is_no_deviator_is_refused(deviators: object):
    game = tacit.make("chicken")
    with pytest.raises(tacit.TacitError, match="deviator"):
        tacit.exploit(game, tacit.MarkovPolicy.uniform(game), episodes=100, deviators=deviators)  # type: ignore[arg-type]
