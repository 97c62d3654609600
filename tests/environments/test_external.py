"""Anybody's policies: functions and objects from elsewhere, in games and in environments."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.environments.measuring import Ends, interval
from tacit.environments.play import Played

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from toys import Corridor

GAME = tacit.make("random-general-sum", states=3, actions=2, horizon=4, seed=1)
NAMES = ["agent_0", "agent_1"]


def softmax(h: int, s: int) -> np.ndarray:
    """A small network, in single precision as networks are."""
    hidden = np.tanh(np.array([[0.3, -1.0], [0.7, 0.2]], np.float32) @ np.array([h, s], np.float32))
    return np.exp(hidden) / np.exp(hidden).sum()


class Stable:
    """As Stable-Baselines3 has it: an action, and what to remember."""

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> Any:
        return np.array([int(observation) % 2]), None


class RLlib:
    def compute_single_action(self, observation: Any, state: Any = None, explore: bool = True) -> Any:
        return int(observation) % 2, [], {}


class Acts:
    def act(self, observation: Any) -> Any:
        return int(observation) % 2


class Recurrent:
    """Plays 0, 1, 0, 1, … in every episode, whatever it sees; `as_state` has the caller remember it."""

    def reset(self) -> None:
        self.count = -1

    def act(self, observation: Any) -> int:
        self.count += 1
        return self.count % 2


class CallersMemory:
    def predict(self, observation: Any, state: Any = None) -> Any:
        before = -1 if state is None else state[0]
        return (before + 1) % 2, (before + 1,)


TABLE = np.array([[softmax(h, s) for s in range(3)] for h in range(4)], dtype=float)
TABLE /= TABLE.sum(axis=2, keepdims=True)
PARITY = np.broadcast_to(np.eye(2)[[0, 1, 0]], (4, 3, 2)).copy()
TURNS = np.broadcast_to(np.eye(2)[[0, 1, 0, 1]][:, None], (4, 3, 2)).copy()


@pytest.mark.parametrize(
    ("given", "tables"),
    [
        (softmax, [TABLE, TABLE]),
        ([softmax, lambda s: s % 2], [TABLE, PARITY]),
        (Stable(), [PARITY, PARITY]),
        ((RLlib(), Acts()), [PARITY, PARITY]),
        ({1: softmax, 0: Acts()}, [PARITY, TABLE]),
        ([tacit.MarkovPolicy([TABLE, PARITY]), tacit.MarkovPolicy([PARITY, TABLE]).part(1)], [TABLE, TABLE]),
        ([tacit.MarkovPolicy([PARITY[:1]]), softmax], [PARITY, TABLE]),
    ],
)
def test_functions_of_a_game_are_tables_and_all_is_exact(given: Any, tables: Any):
    exact = tacit.evaluate(GAME, tacit.MarkovPolicy(tables))
    found = tacit.evaluate(GAME, given)
    np.testing.assert_allclose(found.gaps, exact.gaps, atol=1e-9)
    np.testing.assert_allclose(found.values, exact.values, atol=1e-9)
    assert (found.kind, found.exact) == ("nash", True)


def test_an_environment_plays_them_with_the_chance_of_a_table():
    env = tacit.to_pettingzoo(GAME)
    table = tacit.evaluate(env, tacit.MarkovPolicy([TABLE, PARITY]), episodes=40)
    for given in (
        [lambda seen, step: softmax(step, int(seen)), Stable()],
        {"agent_1": Acts(), "agent_0": lambda seen, step: softmax(step, int(seen))},
        [tacit.MarkovPolicy([TABLE, TABLE]), RLlib()],
    ):
        np.testing.assert_array_equal(tacit.evaluate(env, given, episodes=40).returns, table.returns)
    found = tacit.exploit(env, [lambda seen, step: softmax(step, int(seen)), Stable()], episodes=60)
    assert found.kind == "nash"
    assert (found.values == tacit.evaluate(env, tacit.MarkovPolicy([TABLE, PARITY]), episodes=30).values).all()


@pytest.mark.parametrize("each", [[Recurrent(), Recurrent()], [CallersMemory(), CallersMemory()], CallersMemory()])
def test_who_remembers_is_played(each: Any):
    exact = tacit.evaluate(GAME, tacit.MarkovPolicy([TURNS, TURNS])).values
    found = tacit.evaluate(GAME, each, episodes=300)
    assert not found.exact
    assert ((found.low <= exact) & (exact <= found.high)).all()
    turns = tacit.evaluate(tacit.to_pettingzoo(GAME), tacit.MarkovPolicy([TURNS, TURNS]), episodes=30)
    there = tacit.evaluate(tacit.to_pettingzoo(GAME), each, episodes=30)
    np.testing.assert_array_equal(there.returns, turns.returns)


def test_who_remembers_without_reset_is_played():
    """At step 1 action 1 pays 1, and is played after state 1 at step 0 only: half of the episodes."""
    first = [0]

    def remembering(h: int, s: int) -> int:
        if h == 0:
            first[0] = s
        return first[0] if h == 1 else 0

    rewards = np.zeros((1, 2, 2, 2))
    rewards[0, 1, :, 1] = 1.0
    game = tacit.TabularGame(np.full((2, 2, 2, 2), 0.5), rewards, [0.5, 0.5], 2)
    played = tacit.evaluate(game, remembering)
    assert not played.exact
    assert played.low[0] < 0.5 < played.high[0] < 0.55
    found = tacit.exploit(game, remembering, episodes=1000)
    assert 0.4 < found.lower < 0.5


def test_memory_of_one_path_is_played():
    """State s always follows state s − 1; who was in states 7 and then 8 plays 1 in state 9."""
    path: list[int] = []

    def remembering(h: int, s: int) -> int:
        path[:] = [*path[-2:], s] if h else [s]
        return int(path == [7, 8, 9])

    chain = np.roll(np.eye(30), 1, axis=1)[None, :, None, :].repeat(2, axis=2)
    game = tacit.TabularGame(chain, np.zeros((1, 1, 30, 2)), np.full(30, 1 / 30), 4)
    assert not tacit.evaluate(game, remembering).exact


def test_who_draws_for_itself_is_played():
    rng = np.random.default_rng(0)
    exact = tacit.evaluate(GAME, tacit.MarkovPolicy.uniform(GAME)).values
    found = tacit.evaluate(GAME, lambda h, s: rng.integers(2), episodes=400)
    assert ((found.low <= exact) & (exact <= found.high)).all()
    assert tacit.exploit(GAME, lambda h, s: rng.integers(2), 0, episodes=60).kind == "nash"


def test_a_run_beside_a_function_and_observations_that_are_no_numbers():
    run = tacit.learn(Corridor(), "adaptive-v-cce", episodes=60)
    right = tacit.evaluate(Corridor(), [run, lambda seen: 6], episodes=20)  # its actions are called 5 and 6
    wrong = tacit.evaluate(Corridor(), [lambda seen: 5, lambda seen: 6], episodes=20)
    assert right.values[0] > wrong.values[0] == -12
    floats = Corridor(space="float")
    best = tacit.evaluate(tacit.from_pettingzoo(floats, horizon=12), lambda seen: 6, episodes=40)
    assert best.values[0] == pytest.approx(7.3, abs=0.5)  # 10 for the end, after about 2.7 steps that cost 1
    found = tacit.exploit(
        tacit.from_pettingzoo(floats, horizon=12, encode=tuple), [lambda seen: 5, lambda seen: 6], 0, episodes=200
    )
    assert found.gap > 10


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, r"agent 0 must be a function f\(h, s\) .*; got 3"),
        ([softmax], "an entry for each of 2 agents; got 1"),
        ([softmax, "x"], "the policy of agent 1 must be a function .*; got 'x'"),
        ({"a": softmax}, r"must be for the agents \[0, 1\]"),
        (Recurrent(), "one for each agent"),
        (lambda h, s: 2, "must return an action, 0 to 1, or 2 probabilities; got 2"),
        (lambda h, s: 0.5, "; got 0.5"),
        (lambda h, s: [0.5, 0.6], "sum to 1 .of logits"),
        (lambda h, s: [np.nan, 1.0], "sum to 1"),
        (lambda h, s: "left", "; got 'left'"),
        (lambda h, s: 1 / 0, "ZeroDivisionError"),
        (lambda: 0, "takes 0 positional"),
        ([tacit.MarkovPolicy([np.full((1, 3, 3), 1 / 3)]), softmax], "agent 0 must have 2 actions"),
        ([tacit.MarkovPolicy([np.full((1, 2, 2), 1 / 2)]), softmax], "must fit it"),
    ],
)
def test_what_does_not_fit_is_told(given: Any, message: str):
    with pytest.raises(tacit.TacitError, match=message):
        tacit.evaluate(GAME, given)


class Signal:
    """Both see a word, numbered as it is met, and are paid for what it says."""

    actions, horizon, reward_range = (2, 2), 2, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> str:
        self.word = ("left", "right")[(seed or 0) % 2]
        return self.word

    def step(self, actions: list[int]) -> Any:
        return self.word, [float(("left", "right")[a] == self.word) for a in actions], False


def test_a_table_is_not_played_on_states_that_it_does_not_name():
    follow, oppose = np.eye(2)[None], np.eye(2)[None, ::-1]
    with pytest.raises(tacit.TacitError, match="must list what each agent sees"):
        tacit.evaluate(Signal(), tacit.MarkovPolicy([follow, follow]), episodes=20)
    for words, value in ((["left", "right"], 2.0), (["right", "left"], 0.0)):
        named = tacit.MarkovPolicy([follow, oppose], observations=[words, words[::-1]])
        assert (tacit.evaluate(Signal(), named, episodes=20).values == value).all()
    env = tacit.to_pettingzoo(GAME)  # numbers its states: 0, 1, 2
    as_is, turned = (
        tacit.MarkovPolicy([table, table], observations=[seen, seen])
        for table, seen in ((TABLE, [0, 1, 2]), (TABLE[:, [2, 0, 1]], [2, 0, 1]))
    )
    one, other = (tacit.evaluate(env, policy, episodes=30).returns for policy in (as_is, turned))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("steps", "states"), [(4, 2), (3, 3), (5, 3), (4, 5)])
def test_shapes_are_checked_by_play_too(steps: int, states: int):
    wrong = tacit.MarkovPolicy([np.full((steps, states, 2), 0.5)] * 2)
    kernels = tacit.FunctionGame(
        lambda u: 0, lambda h, s, a, u: s, lambda h, s, a, i: 0.5, agents=2, actions=2, states=3, horizon=4,
        reward_range=(0, 1),
    )  # fmt: skip
    for game in (GAME, kernels):
        with pytest.raises(tacit.TacitError, match="does not fit"):
            tacit.evaluate(game, wrong, episodes=5)
    if (steps, states) != (5, 3):  # a longer table can be cut
        with pytest.raises(tacit.TacitError, match=r"must have 3 states|must be at most"):
            tacit.evaluate(tacit.from_pettingzoo(tacit.to_pettingzoo(GAME), horizon=4), wrong, episodes=5)


SPACE = type("Discrete", (), {"n": 2, "start": 0})()


class ExploringModel:
    """As a DQN of Stable-Baselines3 has it: `predict` explores unless it is told not to."""

    action_space, q_net, exploration_rate = SPACE, None, 0.2
    observation_space = SPACE

    def predict(self, observation: Any, state: Any = None, deterministic: bool = False) -> Any:
        explores = not deterministic and np.random.rand() < self.exploration_rate  # noqa: NPY002  # as it does
        return np.random.randint(2) if explores else int(observation) % 2, None  # noqa: NPY002


class Module:
    """As a module of RLlib has it: logits of a batch of unit vectors."""

    action_space = SPACE
    observation_space = type("Box", (), {"shape": (3,)})()
    weights = np.array([[0.3, -1.0], [0.7, 0.2], [0.0, 2.0]])

    def __call__(self, batch: Any) -> Any:
        raise NotImplementedError

    def forward_inference(self, batch: Any) -> Any:
        return {"action_dist_inputs": np.asarray(batch["obs"]) @ self.weights}


class Algorithm:
    """As an algorithm of RLlib has it."""

    def get_policy(self) -> Any:
        raise AttributeError("the runner has no policy")

    def get_module(self) -> Any:
        return Module()

    def compute_single_action(self, observation: Any) -> Any:
        raise NotImplementedError


def test_models_that_explore_and_modules_are_tabulated():
    greedy = np.eye(2)[np.arange(3) % 2]
    soft = np.exp(Module.weights) / np.exp(Module.weights).sum(axis=1, keepdims=True)
    for given, probs in ((ExploringModel(), 0.1 + 0.8 * greedy), (Module(), soft), (Algorithm(), soft)):
        table = tacit.MarkovPolicy([np.broadcast_to(probs, (4, 3, 2))] * 2)
        found = tacit.evaluate(GAME, given)
        assert found.exact
        np.testing.assert_allclose(found.gaps, tacit.evaluate(GAME, table).gaps, atol=1e-12)


def test_words():
    pennies = tacit.make("matching-pennies")
    pure = tacit.MarkovPolicy.deterministic([[[0]], [[0]]], [2, 2])
    found = tacit.exploit(pennies, pure, episodes=200)
    told = "gap ≥ 1.8, with 95 % confidence (a trained best response of agent 1 gained 2 (1.8 to 2) in 100 episodes"
    assert str(found).startswith(told)
    assert found.lower == found.low[1] == pytest.approx(1.805, abs=0.005)
    even = tacit.exploit(pennies, tacit.MarkovPolicy.uniform(pennies), episodes=2000)
    assert even.lower == 0
    assert str(even).startswith("no gain shown, with 95 % confidence")
    assert f"episodes={even.halving:,} would halve the interval" in str(even)
    skew = tacit.MarkovPolicy([[[[0.6, 0.4]]], [[[0.5, 0.5]]]])
    some = tacit.exploit(pennies, skew, episodes=8000)
    bound, gain, half = (
        float(part) for part in re.findall(r"≥ ([\d.]+),.* gained ([\d.]+) ± ([\d.]+) in", str(some))[0]
    )
    assert bound == pytest.approx(gain - half, abs=0.006)  # one interval, to the digits that are printed
    assert bound <= some.lower < 0.2
    widths = [
        np.ptp([one.low[one.agent], one.high[one.agent]])
        for one in (
            even,
            tacit.exploit(pennies, tacit.MarkovPolicy.uniform(pennies), episodes=even.halving),
        )
    ]
    assert widths[1] / widths[0] == pytest.approx(0.5, abs=0.1)


def test_a_horizon_that_cuts_episodes_is_noted():
    seen = [
        tacit.evaluate(tacit.from_pettingzoo(Corridor(), horizon=h), lambda s: 6, episodes=5).notes for h in (3, 12)
    ]
    assert [sum("cuts episodes" in note for note in notes) for notes in seen] == [1, 0]


def test_one_function_for_all_is_asked_once_for_all():
    asked = []
    crowd = tacit.make("congestion", agents=20)
    tacit.evaluate(crowd, lambda h, s: asked.append((h, s)) or 0)
    assert len(asked) <= crowd.horizon * (64 + 6 * crowd.states)  # not 20 times as many


class Last:
    """Twenty steps of which only the last pays, up to 1."""

    actions, horizon, states = 2, 20, 1

    def reset(self, seed: int | None = None) -> int:
        self.rng, self.steps = np.random.default_rng(seed), 0
        return 0

    def step(self, actions: list[int]) -> Any:
        self.steps += 1
        last = self.steps == 20
        return 0, (self.rng.random() * (1 + actions[0]) / 2 if last else 0.0), last


def test_the_range_of_returns_makes_intervals_narrow():
    play = lambda seen: 0  # noqa: E731
    known = tacit.evaluate(tacit.from_pettingzoo(Last(), reward_range=(0, 1)), play, episodes=500)
    given, met = (tacit.evaluate(Last(), play, episodes=500, return_range=ends) for ends in ((0, 1), None))
    widths = [float(one.high[0] - one.low[0]) for one in (known, given, met)]
    assert max(widths[1:]) < widths[0] / 3
    assert all(one.low[0] <= 0.25 <= one.high[0] for one in (known, given, met))
    assert [len(one.notes) for one in (known, given, met)] == [0, 0, 1]
    found = tacit.exploit(Last(), play, episodes=400, plays=500, return_range=(0, 1))
    assert 0.15 < found.lower <= 0.25
    with pytest.raises(tacit.TacitError, match="return_range must hold all returns"):
        tacit.evaluate(Last(), play, episodes=500, return_range=(0, 0.25))


def test_intervals_without_a_known_range_cover():
    """Skewed returns, 60 of them, of no known range: 5 % of 300 intervals may miss the mean, and 3 % by chance."""
    arena = type("Arena", (), {"reward_range": None, "horizon": 50, "whole": True})()
    rng, missed = np.random.default_rng(5), 0
    for _ in range(300):
        rewards = np.zeros((60, 50, 1))
        rewards[:, -1, 0] = rng.gamma(0.5, 2.0, 60)
        ends = Ends(arena, None)
        ends.meet(Played(rewards, rewards, rewards))
        low, high = interval(rewards.sum(axis=1), 0.95, *ends.range)
        missed += not low[0] <= 1.0 <= high[0]
    assert missed / 300 <= 0.08
