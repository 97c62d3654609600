"""Agents on their own in environments: our own games bit for bit, other libraries' games, and odd ones."""

from __future__ import annotations

import signal
import warnings
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.engine import Advanced, Event
from tacit.environments.engine import DIFFERENT
from tacit.environments.observations import OVER

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
    from toys import Corridor, DropOut, Surprise, Whispers

LEARNERS = {
    "stage-v-cce": {},
    "stage-v-ce": {"bonus": 0.1},
    "v-learning": {},
    "pg-storm": {"eta": 0.01, "momentum": 0.1},
    "pg-sgd": {"eta": 0.01},
    "q-independent": {},
    "ucb-independent": {},
}
GAMES = {
    "good-state": {},
    "box-pushing": {"horizon": 5},
    "distancing": {"agents": 4, "horizon": 3},
    "random-general-sum": {"agents": 3, "actions": [2, 3, 2], "horizon": 4},
    "matching-pennies": {},
}


def saw_the_same(run: tacit.Run) -> bool:
    """Whether all agents saw the same state at every step, as the run tells it."""
    if DIFFERENT in run.notes and "average" in run.candidates:
        assert len(run.candidates["average"].policy.records) == run.game.agents
    assert (DIFFERENT in run.notes) == (DIFFERENT in run.warnings)
    return DIFFERENT not in run.notes


def _cases() -> list[Any]:
    """Return all pairs, compiled; in the short run those of one game and one of three agents; others interpreted."""
    pairs = [(name, learner) for name in GAMES for learner in LEARNERS]
    short = {("good-state", learner) for learner in LEARNERS} | {("random-general-sum", "stage-v-cce")}
    compiled = [pytest.param(*pair, True, marks=[] if pair in short else pytest.mark.slow) for pair in pairs]
    return compiled + [pytest.param(*pair, False) for pair in pairs if pair not in short]


@pytest.mark.parametrize(("name", "learner", "compiled"), _cases())
def test_our_own_games_bit_for_bit(name: str, learner: str, compiled: bool, request: pytest.FixtureRequest):
    if not compiled:
        request.getfixturevalue("interpreted")
    game = tacit.make(name, **GAMES[name])
    there = tacit.learn(tacit.to_pettingzoo(game), learner, episodes=60, seed=5, **LEARNERS[learner])
    here = tacit.learn(game, learner, episodes=60, seed=5, certify=False, **LEARNERS[learner])
    for mine, yours in zip(there.last.probs, here.last.probs, strict=True):
        np.testing.assert_array_equal(mine, yours)
    np.testing.assert_array_equal(there.reward, here.reward)
    np.testing.assert_array_equal(there.gaps.upper, here.gaps.upper)
    assert (there.gaps.source, there.gaps.kind) == (here.gaps.source, here.gaps.kind)
    assert dict(there.params) == dict(here.params)
    for column in ("episode", "reward", "gap"):
        np.testing.assert_array_equal(there.curve[column], here.curve[column])
    if here.sampled is not None:
        for mine, yours in zip(there.sampled.probs, here.sampled.probs, strict=True):
            np.testing.assert_array_equal(mine, yours)
    if isinstance(here.policy, tacit.policies.RecordedPolicy):
        np.testing.assert_array_equal(there.policy.visited, here.policy.visited)
        np.testing.assert_array_equal(there.policy.stored, here.policy.stored)
        assert there.policy.rule == here.policy.rule


def test_rock_paper_scissors_of_pettingzoo():
    """One round: all see the same, and the agents come near the even mix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rps = pytest.importorskip("pettingzoo.classic.rps_v2", reason="pygame is not installed")
        env = rps.parallel_env(max_cycles=1)
    run = tacit.learn(tacit.from_pettingzoo(env, reward_range=(-1, 1)), "stage-v-cce", episodes=4000, bonus=0.1)
    assert saw_the_same(run)
    assert run.game.horizon == 1
    assert isinstance(run.policy, tacit.policies.RecordedPolicy)
    state = run.game.state(3)  # "nothing yet"
    assert set(np.unique(run.policy.visited)) == {state}
    played = run.policy.stored[:, 0].astype(float).mean(axis=0)
    assert played == pytest.approx([1 / 3] * 4, abs=0.05)
    ours = tacit.learn(tacit.make("rock-paper-scissors"), "stage-v-cce", episodes=4000, bonus=0.1, certify=False)
    assert run.gap == pytest.approx(ours.gap, rel=0.05)  # four states there, one here: ι differs by log 4


def test_rounds_in_which_agents_see_different_things_are_told():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rps = pytest.importorskip("pettingzoo.classic.rps_v2", reason="pygame is not installed")
        env = rps.parallel_env(max_cycles=3)
    with pytest.warns(UserWarning, match="the agents saw different observations; the guarantees ask for"):
        run = tacit.learn(env, "stage-v-cce", episodes=50)
    assert not saw_the_same(run)
    assert run.gaps.source == "none"
    assert np.isnan(run.gap)
    assert run.policy is run.candidates["average"].policy
    assert run.notes[0].startswith("a few random episodes suggest horizon=3")


def nearest(view: np.ndarray) -> object:
    """Where a pursuer sees the evader."""
    where = np.argwhere(view[:, :, 2] > 0)
    return tuple(where[0].tolist()) if len(where) else "nowhere"


@pytest.mark.usefixtures("interpreted")
def test_pursuit_with_a_small_encoding():
    """A game of PettingZoo with pictures as observations; the encoding makes them 26 states."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pursuit = pytest.importorskip("pettingzoo.sisl.pursuit_v5", reason="pygame is not installed")
    runs = []
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            env = pursuit.parallel_env(x_size=5, y_size=5, n_evaders=1, n_pursuers=2, obs_range=5, max_cycles=8)
        with pytest.warns(UserWarning, match="the agents saw different observations"):
            runs.append(
                tacit.learn(
                    tacit.from_pettingzoo(env, encode=nearest, reward_range=(-1, 10)), "stage-v-cce", episodes=40
                )
            )
    assert 5 < runs[0].game.states <= 27
    assert runs[0].game.horizon == 8
    for mine, yours in zip(runs[0].last.probs, runs[1].last.probs, strict=True):
        np.testing.assert_array_equal(mine, yours)


@pytest.mark.parametrize("space", ["box", "multi"])
def test_states_are_numbered_as_they_are_met(space: str):
    run = tacit.learn(Corridor(space=space), "stage-v-cce", episodes=300, seed=1)
    assert saw_the_same(run)
    assert run.game.observations[0].met == run.game.observations[1].met
    assert run.game.states <= 16 + 1  # and "over"
    assert run.game.state(np.array([0, 0])) == 0
    assert run.game.horizon == 12  # by truncation
    assert OVER in run.game.observations[0].met
    with pytest.raises(tacit.TacitError, match="never met"):
        run.game.state(np.array([9, 9]))


def test_room_grows_with_the_states_and_nothing_is_lost():
    """The numbering and the room for it change nothing: agents that know all states ahead do the same."""
    found = tacit.learn(
        tacit.from_pettingzoo(Corridor(cells=12, space="box"), reward_range=(-1, 10), horizon=12),
        "stage-v-cce",
        episodes=400,
        iota=5.0,
    )
    known = tacit.learn(
        tacit.from_pettingzoo(
            Corridor(cells=12, space="float"),
            reward_range=(-1, 10),
            horizon=12,
            encode=lambda at: tuple((at * 11).round().astype(int)),
        ),
        "stage-v-cce",
        episodes=400,
        iota=5.0,
    )
    assert found.game.states > 50
    np.testing.assert_array_equal(found.reward, known.reward)
    np.testing.assert_array_equal(found.policy.stored, known.policy.stored)
    big = tacit.agent("stage-v-cce", states=200, actions=2, horizon=12, reward_range=(-1, 10), iota=5.0)
    small = tacit.agent("stage-v-cce", states=3, actions=2, horizon=12, reward_range=(-1, 10), iota=5.0)
    rng = np.random.default_rng(0)
    for k in range(300):
        s = int(rng.integers(3 + k // 2))
        if s >= small.world.states - 12:
            small.grow(small.world.states + 20)
        for h in range(12):
            a = small.act(h, s)
            assert a == big.act(h, s)
            s_next = int(rng.integers(3 + k // 2))
            for agent in (small, big):
                agent.learn(h, s, a, float(rng.bit_generator.state["state"]["state"] % 7), s_next)
            s = s_next
    np.testing.assert_array_equal(small.policy, big.policy[:, : small.world.states])
    assert small.estimate == big.estimate


@pytest.mark.parametrize(
    "learner", ["stage-v-cce", "stage-v-ce", "v-learning", "pg-storm", "q-independent", "ucb-independent"]
)
def test_growing_changes_nothing_for_any_learner(learner: str):
    given = {"pg-storm": {"eta": 0.05, "momentum": 0.2}, "q-independent": {}, "ucb-independent": {}}
    params = given.get(learner, {"iota": 5.0})  # which an agent would otherwise take from the number of states
    options = {"actions": 3, "horizon": 4, "reward_range": (0, 1), "seed": 3, **params}
    big = tacit.agent(learner, states=40, **options)
    small = tacit.agent(learner, states=2, **options)
    rng = np.random.default_rng(1)
    for k in range(200):
        reach = min(40, 2 + k // 3)
        small.grow(max(small.world.states, reach))
        s = int(rng.integers(reach))
        for h in range(4):
            a = small.act(h, s)
            assert a == big.act(h, s)
            r, s_next = float(rng.random()), int(rng.integers(reach))
            small.learn(h, s, a, r, s_next)
            big.learn(h, s, a, r, s_next)
            s = s_next
    np.testing.assert_array_equal(small.policy, big.policy[:, : small.world.states])


def test_agents_learn_to_walk():
    run = tacit.learn(Corridor(), "q-independent", episodes=1500, seed=0)
    assert run.curve["reward"][-50:].mean() > 6 > 3 > run.curve["reward"][0]  # always walking is worth about 7


def test_agents_that_drop_out():
    with pytest.warns(UserWarning, match="different observations"):  # those who are out see "over"
        run = tacit.learn(DropOut(), "stage-v-cce", episodes=400, bonus=0.1)
    assert run.game.horizon == 3
    np.testing.assert_array_less(run.reward, [1.01, 2.01, 3.01])
    assert run.reward[2] > run.reward[0]


@pytest.mark.parametrize(("spoil", "kept"), [("b", 0), ("a", 1)])
def test_only_an_agents_own_observations_and_rewards_reach_it(spoil: str, kept: int):
    runs = []
    for env in (Whispers(), Whispers(spoil)):
        with pytest.warns(UserWarning, match="different observations"):
            runs.append(tacit.learn(env, "stage-v-cce", episodes=200, bonus=0.1))
    mine, spoiled = (run.last.probs for run in runs)
    np.testing.assert_array_equal(mine[kept], spoiled[kept])
    assert not np.array_equal(mine[1 - kept], spoiled[1 - kept])


def test_what_is_not_known_is_found_or_the_run_starts_over():
    """A reward that the scouting did not see widens the range when it is met."""
    run = tacit.learn(Surprise(), "stage-v-cce", episodes=100)
    assert run.game.reward_range == (1, 51)
    assert "suggest horizon=1 and reward_range=(1, 1)" in run.notes[0]
    assert run.notes[1:-1] == ("rewards are taken to lie in [1, 51]: the run met 50 and started over",)
    assert "mean return over agents 50" in run.notes[-1]
    assert run.gaps.source == "estimate"
    with pytest.raises(tacit.TacitError, match=r"must lie in reward_range \(0, 1\); got 50"):
        tacit.learn(tacit.from_pettingzoo(Surprise(), reward_range=(0, 1)), "stage-v-cce", episodes=100)
    endless = tacit.learn(Corridor(limit=None), "stage-v-cce", episodes=300, seed=2)
    assert endless.game.horizon >= 4
    assert "suggest horizon=" in endless.notes[0]


def test_the_bound_is_one_where_all_is_known_and_shared():
    given = {"reward_range": (-1, 10), "horizon": 12}

    def learn(options: dict[str, Any], **params: Any) -> tacit.Run:
        return tacit.learn(tacit.from_pettingzoo(Corridor(), **options), "stage-v-cce", episodes=50, **params)

    known = learn(given)
    assert known.gaps.source == "model-free"
    assert known.notes[:-1] == (
        "the bound holds if what all agents see is the state of a Markov game, which nobody can check from outside",
    )
    assert learn(given, bonus=0.1).gaps.source == "estimate"
    for left_out in given:
        rest = {key: value for key, value in given.items() if key != left_out}
        assert learn(rest).gaps.source == "estimate"


def test_without_a_record_there_is_no_certified_policy():
    run = tacit.learn(Corridor(), "stage-v-cce", episodes=20, keep=False)
    with pytest.raises(tacit.TacitError, match="kept no record"):
        run.policy  # noqa: B018


def test_control_c_keeps_what_was_done():
    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done == 30:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.warns(UserWarning, match="interrupted: the run holds 30 of 100 episodes"):
            run = tacit.learn(Corridor(), "stage-v-cce", episodes=100, progress=stop)
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.interrupted
    assert run.episodes == 30
    assert run.policy.episodes == 30


def test_a_single_agent_without_tables():
    """Blackjack has no table, and episodes of different lengths."""
    run = tacit.learn(
        tacit.from_gymnasium(gymnasium.make("Blackjack-v1"), reward_range=(-1, 1)),
        "q-independent",
        episodes=3000,
        seed=0,
    )
    assert run.game.agents == 1
    assert saw_the_same(run)
    uniform = run.curve["reward"][:5].mean()
    assert run.curve["reward"][-20:].mean() > uniform
    assert 200 < run.game.states <= 32 * 11 * 2 + 1


@pytest.mark.usefixtures("interpreted")
def test_gymnasium_environments_with_tables_are_games():
    run = tacit.learn(tacit.from_gymnasium(gymnasium.make("FrozenLake-v1"), horizon=20), "stage-v-cce", episodes=60)
    assert isinstance(run.game, tacit.TabularGame)
    assert run.gaps.source in ("certificate", "exact")  # of a mixture, or of its table


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: tacit.learn(Corridor(space="float"), "stage-v-cce", episodes=5), "encode=tacit.Bins"),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Corridor(), encode=lambda at: [1]), "stage-v-cce", episodes=5),
            "must be made hashable by encode",
        ),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Corridor(), encode=3), "stage-v-cce", episodes=5),
            "encode must be .*; got 3",
        ),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Corridor(), encode=lambda at: 1 // 0), "stage-v-cce", episodes=5),
            "what left observed must be made hashable by encode.*: ZeroDivisionError",
        ),
        (lambda: tacit.learn(Corridor(), "stage-v-cce", episodes=5, checkpoint=object()), "must be a .*Checkpoint"),
        (lambda: tacit.learn(Corridor(), "npg", episodes=5), "needs the game's tables"),
        (lambda: tacit.learn(Corridor(), "stage-v-cce", episodes=5, certify=True), "needs the tables"),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Corridor(), horizon=0), "stage-v-cce", episodes=5),
            "horizon must be",
        ),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Corridor(), reward_range=(1, 0)), "stage-v-cce", episodes=5),
            "reward_range must be",
        ),
        (
            lambda: tacit.learn(tacit.from_pettingzoo(Corridor(), reward_range=(0, 1)), "stage-v-cce", episodes=5),
            "must lie in reward_range.*; got -1",
        ),
        (
            lambda: tacit.learn(Corridor(), "stage-v-cce", episodes=5, preset="paper"),
            "the paper gives no settings for stage-v-cce on corridor",
        ),
        (
            lambda: tacit.learn(gymnasium.make_vec("CartPole-v1", 2), "stage-v-cce", episodes=5),
            "must be one environment.*; got a vector of 2",
        ),
        (lambda: tacit.learn(object(), "stage-v-cce", episodes=5), "must be a TabularGame"),
        (lambda: tacit.learn(gymnasium.make("Pendulum-v1"), "stage-v-cce", episodes=5), "must be Discrete, Multi"),
        (
            lambda: tacit.learn(tacit.make("chicken"), "npg", episodes=5, horizon=3),
            "horizon is an option of environments",
        ),
        (lambda: tacit.learn(Corridor(), "pg-storm", episodes=500, start="random", eta=0.1), "cannot meet new states"),
    ],
)
def test_wrong_calls_are_told(call, told: str):
    with pytest.raises(tacit.TacitError, match=told):
        call()


class Faulty(Corridor):
    """Something is wrong with it."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def reset(self, seed: int | None = None, options: object = None) -> object:
        observations, infos = super().reset(seed, options)
        if self.fault == "reset raises":
            raise RuntimeError("no power")
        if self.fault == "no infos":
            return observations
        if self.fault == "somebody is missing":
            return {"left": observations["left"]}, infos
        return observations, infos

    def step(self, actions: dict[str, int]) -> object:
        observations, rewards, *rest = super().step(actions)
        if self.fault == "step raises":
            raise RuntimeError("no power")
        if self.fault == "four values":
            return observations, rewards, *rest[:2]
        if self.fault == "a list":
            return observations, [1.0, 2.0], *rest
        wrong = {"none": None, "word": "x", "nan": np.nan, "array": np.array([0.5])}
        if self.fault in wrong:
            rewards = dict.fromkeys(rewards, wrong[self.fault])
        return observations, rewards, *rest


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("reset raises", "corridor failed in reset: RuntimeError: no power"),
        ("step raises", "corridor failed in step: RuntimeError: no power"),
        ("no infos", r"reset of corridor must return \(observations, infos\); got"),
        ("somebody is missing", "must observe something at reset; got none of 'right'"),
        ("four values", "must return .observations, rewards, terminations, truncations, infos."),
        ("a list", "the rewards of corridor must be a dict, by agent; got .1.0, 2.0."),
        ("none", "the reward of left must be"),
        ("word", "the reward of left must be"),
        ("nan", "the reward of left must be"),
        ("array", "the reward of left must be .*; got array"),
    ],
)
@pytest.mark.parametrize("scouted", [True, False])
def test_what_is_wrong_with_an_environment_is_one_sentence(fault: str, told: str, scouted: bool):
    given = {} if scouted else {"horizon": 12, "reward_range": (-1, 10)}
    with pytest.raises(tacit.TacitError, match=told):
        tacit.learn(tacit.from_pettingzoo(Faulty(fault), **given), "stage-v-cce", episodes=5)


class Forgetful(Corridor):
    """Says that an episode is over, and leaves the agents where they are."""

    def step(self, actions: dict[str, int]) -> object:
        assert self.steps < 12
        found = super().step(actions)
        self.agents = self.possible_agents[:]
        return found


def test_who_is_flagged_as_done_is_out_whatever_the_list_of_agents_says():
    run = tacit.learn(
        tacit.from_pettingzoo(Forgetful(), horizon=20, reward_range=(-1, 10)), "stage-v-cce", episodes=100
    )
    assert OVER in run.game.observations[0].met


def test_a_state_of_ones_own_that_is_called_over():
    run = tacit.learn(
        tacit.from_pettingzoo(Corridor(), encode=lambda at: "over" if at.sum() else "start"),
        "stage-v-cce",
        episodes=100,
    )
    assert [str(key) for key in run.game.observations[0].met] == ["start", "over", "over"]


class Numbers(Whispers):
    """Shows numbers that are not in its space."""

    def __init__(self, shown: object) -> None:
        super().__init__()
        self.shown = shown

    def toss(self) -> dict[str, object]:
        return dict.fromkeys(self.possible_agents, self.shown)


@pytest.mark.parametrize("shown", [2, -1, 1.5, None, "x"])
def test_what_is_not_in_a_space_is_told(shown: object):
    with pytest.raises(tacit.TacitError, match="a observed"):
        tacit.learn(Numbers(shown), "stage-v-cce", episodes=5)


def test_a_wrapped_table_is_played_and_not_read():
    """Wrappers may change anything; only those that are known to change nothing let the table speak."""
    plain = gymnasium.make("FrozenLake-v1", is_slippery=False)
    hundred = gymnasium.wrappers.TransformReward(plain, lambda reward: 100 * reward)
    assert isinstance(tacit.learn(plain, "q-independent", episodes=50).game, tacit.TabularGame)
    run = tacit.learn(tacit.from_pettingzoo(hundred, reward_range=(0, 100)), "q-independent", episodes=50)
    assert run.game.name == "FrozenLake-v1"
    assert run.game.horizon == 100  # the time limit


def test_rewards_beyond_any_sum_are_told():
    with pytest.raises(tacit.TacitError, match="must stay within"):
        tacit.learn(tacit.from_pettingzoo(Corridor(), reward_range=(-1e308, 1e308)), "stage-v-cce", episodes=5)


def test_a_policy_is_sampled_before_any_state_is_met():
    for seed in range(5):
        run = tacit.learn(Corridor(), "q-independent", episodes=1, seed=seed)
        assert run.sampled is not None
        assert run.sampled.states == run.last.states == run.game.states


@pytest.mark.parametrize("scale", [2.0, 100.0])
def test_what_an_environment_states_does_not_count_behind_a_wrapper_that_may_change_it(scale: float):
    lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    wrapped = gymnasium.wrappers.TransformReward(lake, lambda reward: scale * reward - 1)
    run = tacit.learn(wrapped, "stage-v-cce", episodes=100)
    assert run.game.reward_range[0] == -1
    assert run.gaps.source == "estimate"


class Strict(FrozenLakeEnv):
    """Its table says something else than what it does."""

    def step(self, action: int) -> object:
        observation, reward, *rest = super().step(action)
        return observation, reward - 1.0, *rest


def test_a_table_that_a_subclass_may_belie_is_not_read():
    run = tacit.learn(tacit.from_pettingzoo(Strict(), horizon=10, reward_range=(-1, 0)), "q-independent", episodes=30)
    assert not isinstance(run.game, tacit.TabularGame)
    assert (run.reward < 0).all()
    limited = gymnasium.wrappers.TimeLimit(gymnasium.make("FrozenLake-v1"), 500)
    assert tacit.from_gymnasium(limited).horizon == 100


def test_a_fickle_passenger_is_played():
    run = tacit.learn(gymnasium.make("Taxi-v4", fickle_passenger=True), "q-independent", episodes=2)
    assert run.game.horizon == 200


class Odd(Corridor):
    """Wrong in odd ways."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault
        if fault == "agents":
            self.possible_agents = 5
        if fault == "range":
            self.reward_range = ("a", np.inf, 3)

    def step(self, actions: dict[str, int]) -> object:
        observations, rewards, terminations, truncations, infos = super().step(actions)
        if self.fault == "flags":
            terminations = dict.fromkeys(terminations, np.array([True, False]))
        if self.fault == "list":
            del self.agents
        if self.fault == "exit":
            raise SystemExit(3)
        return observations, rewards, terminations, truncations, infos


@pytest.mark.parametrize("fault", ["agents", "flags", "list", "exit"])
def test_odd_faults_are_sentences_too(fault: str):
    with pytest.raises(tacit.TacitError, match="corridor failed in"):
        tacit.learn(Odd(fault), "stage-v-cce", episodes=5)


def test_yes_and_no_are_rewards():
    class YesNo(Corridor):
        def step(self, actions: dict[str, int]) -> object:
            observations, rewards, *rest = super().step(actions)
            return observations, {name: reward > 0 for name, reward in rewards.items()}, *rest

    assert tacit.learn(YesNo(), "stage-v-cce", episodes=20).game.reward_range == (0, 1)


class Views(Whispers):
    """Both see the same, in spaces of different sizes."""

    def observation_space(self, agent: str) -> object:
        return gymnasium.spaces.Discrete(2 if agent == "a" else 200_000)

    def toss(self) -> dict[str, int]:
        coin = int(self.rngs["a"].integers(2))
        return {"a": coin, "b": coin}


def test_those_who_see_the_same_give_it_the_same_number():
    run = tacit.learn(Views(), "stage-v-cce", episodes=50)
    assert saw_the_same(run)
    assert [run.game.state(1, agent=i) for i in (0, 1)] == [run.game.state(1)] * 2
