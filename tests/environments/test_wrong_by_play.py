"""What is wrong with a measurement by play is said, not measured."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from test_masks import Masked

import tacit


class Walk(gymnasium.Env):
    """Six steps; each pays 1, and half steps are met only after action 1."""

    observation_space = gymnasium.spaces.Box(0.0, 10.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.h, self.at = 0, 0.0
        return np.array([self.at], np.float32), {}

    def step(self, action):
        self.h, self.at = self.h + 1, self.at + (0.5 if action else 1.0)
        return np.array([self.at], np.float32), 1.0 + action, self.h == 6, False, {}


SEEN = [[float(at)] for at in range(7)]


def test_a_table_that_ends_before_the_episodes_is_noted():
    policy = tacit.MarkovPolicy([np.full((3, 7, 2), 0.5) * [2, 0]], observations=[SEEN])
    found = tacit.evaluate(Walk(), policy, episodes=20)
    assert any("cuts episodes" in note for note in found.notes)
    whole = tacit.MarkovPolicy([np.full((6, 7, 2), 0.5) * [2, 0]], observations=[SEEN])
    assert not any("cuts episodes" in note for note in tacit.evaluate(Walk(), whole, episodes=20).notes)


def test_states_that_no_observation_names_are_refused():
    with pytest.raises(tacit.TacitError, match="observations must have an entry for each of 7 states"):
        tacit.MarkovPolicy([np.full((6, 7, 2), 0.5)], observations=[SEEN[:3]])


def test_a_response_that_meets_what_the_policy_does_not_is_trained_on_features():
    found = tacit.exploit(Walk(), lambda o, h: 0, episodes=60, plays=40)
    assert "features" in found.deviations
    assert found.gap > 0


def test_a_range_that_rewards_leave_is_refused():
    with pytest.raises(tacit.TacitError, match="reward_range must hold all rewards; got rewards from 1 to 1"):
        tacit.evaluate(tacit.from_pettingzoo(Walk(), reward_range=(0, 0.5)), lambda o, h: 0, episodes=20)


def test_memory_of_a_predict_may_be_a_number():
    class Counts:
        def predict(self, observation, state=None, episode_start=None, deterministic=False):
            return 0, (state or 0) + 1

    assert tacit.evaluate(Walk(), Counts(), episodes=20).values == pytest.approx([6.0])


class Rarely:
    """Pays 1 in every episode, but for one in a thousand, which costs 100."""

    actions, horizon = 2, 1

    def reset(self, seed: int | None = None) -> Any:
        self.unlucky = np.random.default_rng(seed).random() < 0.001
        return 0

    def step(self, actions: list[int]) -> Any:
        return 0, -100.0 if self.unlucky else 1.0, True


def test_a_loss_that_was_not_met_is_no_interval_of_width_zero():
    found = tacit.evaluate(Rarely(), lambda seen: 0, episodes=100)
    assert "±" not in str(found)
    assert "values 1 (always) (95 % intervals" in str(found)
    assert "others come in at most 3 % of episodes (95 % confidence)" in str(found)  # 0.97^100 = 0.048
    known = tacit.evaluate(tacit.from_pettingzoo(Rarely(), reward_range=(-100, 1)), lambda seen: 0, episodes=100)
    assert known.low[0] < 1 - 0.001 * 101 < known.high[0] + 1e-9
    assert "always" not in str(known)
    gained = tacit.exploit(Rarely(), lambda seen: 0, episodes=100, plays=100)
    assert "no gain shown" in str(gained)
    assert "others come in at most 3 % of episodes" in str(gained)


def fails(observation: Any) -> Any:
    raise KeyError("speed")


class Gap(gymnasium.Env):
    """Shows a number that is nan in the third step."""

    observation_space = gymnasium.spaces.Box(-1.0, 1.0, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.h = 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.h += 1
        return np.array([0.5, np.nan if self.h == 2 else 0.0], np.float32), 0.0, self.h == 4, False, {}


class Boundless(Gap):
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,))


class Plays:
    def act(self, seen: Any, step: int) -> int:
        return 0


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: tacit.evaluate(Walk(), Plays, episodes=5), r"^a policy must be an object, such as Plays"),
        (lambda: tacit.exploit(Walk(), [Plays], episodes=5), r"^a policy must be an object, such as Plays"),
        (lambda: tacit.evaluate(tacit.make("chicken"), Plays), r"^a policy must be an object, such as Plays"),
        (
            lambda: tacit.evaluate(tacit.make("chicken"), tacit.MarkovPolicy),
            r"^a policy must be an object, such as MarkovPolicy",
        ),
        (lambda: tacit.evaluate(Walk, lambda o: 0, episodes=5), r"^an environment must be an object, Walk"),
        (lambda: tacit.learn(Walk, episodes=5), r"^an environment must be an object, Walk\(…\); got the class Walk$"),
        (lambda: tacit.learn(Rarely, episodes=5), r"^an environment must be an object, Rarely"),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Walk(), encode=tacit.Bins), episodes=5),
            r"^encode must be .*tacit\.Bins\(6\)",
        ),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Walk(), encode=fails), episodes=5),
            r"^what agent observed must be made hashable by encode; .*: KeyError: 'speed'$",
        ),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Gap(), encode=tacit.Bins(3)), episodes=5),
            r"^what agent observed must be made hashable by encode.*none of them nan",
        ),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Boundless(), encode=tacit.Bins(3)), episodes=5),
            r"^observations of agent must be as many finite numbers",
        ),
    ],
)
def test_what_is_at_fault_is_named(call: Any, told: str):
    with pytest.raises(tacit.TacitError, match=told):
        call()


class Forbids(Masked):
    """Allows nothing in its second step, to agent a or to both."""

    both = True

    def shown(self) -> Any:
        observations, infos = super().shown()
        if self.steps == 1:
            for name in self.agents if self.both else ["a"]:
                observations[name] = {**observations[name], "action_mask": np.zeros(3, np.int8)}
        return observations, infos


class Waits(Forbids):
    both = False

    def step(self, actions: dict[str, int]) -> Any:
        self.mask[:] = 1  # what is played without a turn does not matter
        return super().step(actions)


def test_a_mask_of_zeros_is_refused_where_nobody_may_act():
    with pytest.raises(tacit.TacitError, match="action masks must allow some agent an action"):
        tacit.learn(Forbids(), "q-independent", episodes=3)
    run = tacit.learn(Waits(), "q-independent", episodes=3)  # it is b's turn
    assert run.episodes == 3


@pytest.mark.parametrize("deviator", ["features", lambda env, episodes: lambda seen: 2])
def test_responses_play_nothing_that_is_forbidden(deviator: Any):
    found = tacit.exploit(Masked(), lambda seen, step: [0.4, 0.4, 0.2], 0, episodes=60, plays=40, deviators=deviator)
    [gain] = found.tried[0].values()
    assert gain == found.gains[0] > 0
    response = found.responses[0]
    for word in range(3):
        seen = {"word": word, "action_mask": np.array([a != word for a in range(3)], np.int8)}
        response.begin(0)
        for h in range(2):
            assert seen["action_mask"][response.act(h, seen)]


class Lowest(Masked):
    """The lowest action that is allowed pays most; for it stands the first one that is forbidden."""

    def step(self, actions: dict[str, int]) -> Any:
        observations, rewards, *rest = super().step(actions)
        return observations, {name: 1.0 - paid for name, paid in rewards.items()}, *rest


def test_tables_of_responses_name_nothing_that_is_forbidden():
    run = tacit.learn(Lowest(), "q-independent", episodes=30)
    found = tacit.exploit(Lowest(), run.last, 0, episodes=400, plays=40, deviators="table")
    masks, table = run.last.observations[0].masks(), found.responses[0]
    assert list(found.tried[0]) == ["table"]
    assert len(masks) == 3
    for s, mask in masks.items():
        assert all(a < 0 or mask[a] for a in table[:, s])


class Words:
    """Two words, by turns of a coin; it states its horizon, and never ends an episode itself."""

    agents, actions, horizon, reward_range = 2, 2, 3, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> str:
        self.rng = np.random.default_rng(seed)
        return self.show()

    def show(self) -> str:
        self.word = int(self.rng.integers(2))
        return ("low", "high")[self.word]

    def step(self, actions: list[int]) -> Any:
        paid = [float(a == self.word) for a in actions]
        return self.show(), paid, False


def test_observations_that_a_table_does_not_have_are_noted():
    low, both = np.array([[[1.0, 0.0]]] * 3), np.array([np.eye(2)] * 3)
    whole = tacit.evaluate(Words(), tacit.MarkovPolicy([both, both], observations=[["low", "high"]] * 2), episodes=200)
    assert (whole.values.tolist(), whole.notes) == ([3.0, 3.0], ())
    half = tacit.MarkovPolicy([low, low], observations=[["low"]] * 2)
    for found in (tacit.evaluate(Words(), half, episodes=200), tacit.exploit(Words(), half, episodes=200)):
        (told,) = (note for note in found.notes if "not in the policy's tables" in note)
        assert 40 < float(told.split("(")[1].split(" %")[0]) < 60


def test_a_horizon_that_the_environment_states_cuts_nothing():
    both = tacit.MarkovPolicy([np.array([np.eye(2)] * 3)] * 2, observations=[["low", "high"]] * 2)
    assert not tacit.evaluate(Words(), both, episodes=20).notes
    (told,) = tacit.evaluate(tacit.from_pettingzoo(Words(), horizon=2), both, episodes=20).notes
    assert "horizon=2 cuts episodes" in told


def test_tables_of_agents_in_one_array_are_told_from_a_correlated_policy():
    with pytest.raises(tacit.TacitError, match=r"one table \[H, S, A\] for each agent: give them as a list"):
        tacit.MarkovPolicy(np.full((3, 4, 2, 2), 0.5))
    assert tacit.MarkovPolicy(list(np.full((3, 4, 2, 2), 0.5))).product
