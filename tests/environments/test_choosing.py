"""Which candidate a run returns where no bound says it: when play shows one to be better, and with which episodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.environments.choosing import PlayedReturns, is_better
from tacit.environments.measuring import Ends
from tacit.environments.observations import count_floats, suggest_encode
from tacit.environments.play import Played

SPAN = 4.0


def episodes(gap: float, value: float, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the returns and gains of 1,000 episodes, in which all agents are alike."""
    noise = np.random.default_rng(seed).uniform(-1, 1, size=(1000, 2))
    return value + 0.5 * noise, gap + 0.5 * noise[:, ::-1]


def test_another_is_returned_if_it_is_shown_to_be_better():
    average = episodes(0.2, 0.0)
    assert not is_better(episodes(1.9, 0.0, seed=1), average, span=SPAN)
    assert not is_better(episodes(0.2, 0.0, seed=1), average, span=SPAN)
    assert is_better(episodes(0.05, 0.0), average, span=SPAN)  # by the same chance 0.15 is much
    assert is_better(episodes(0.2, 1.0, seed=1), average, span=SPAN)  # worth more, and no easier to exploit
    assert not is_better(episodes(0.9, 1.0, seed=1), average, span=SPAN)  # worth more, and easier to exploit
    assert not is_better((average[0] + [0.5, -0.5], average[1]), average, span=SPAN)  # worth more to one only
    assert not is_better(average, average, span=SPAN)


def test_what_is_no_better_is_rarely_shown_to_be():
    """At most 5 % of 200 pairs that are equally good; 4 standard deviations above that are 11 %."""
    pairs = [[episodes(0.2, 0.0, seed=2 * k + j) for j in range(2)] for k in range(200)]
    assert np.mean([is_better(*pair, span=SPAN) for pair in pairs]) < 0.11


@pytest.mark.parametrize("plays", [30, 100])
def test_rare_losses_are_not_missed(plays: int):
    """A candidate pays +1, or −100 with probability .03: it is worth −2.03, and the other is worth 0.

    A normal test calls it better in 40 % of cases with 30 plays (none of the losses was met), and in 5 % with 100.
    """
    rng = np.random.default_rng(0)
    nothing = np.zeros((plays, 1))
    wrong = [
        is_better((np.where(rng.random((plays, 1)) < 0.03, -100.0, 1.0), nothing), (nothing, nothing), span=101.0)
        for _ in range(500)
    ]
    assert np.mean(wrong) <= 0.05


class Seeds:
    """An environment of one agent that writes down the seeds of its episodes."""

    agents, actions, states, horizon, reward_range = 1, 2, 1, 1, (0, 1)

    def __init__(self) -> None:
        self.seeds: list[Any] = []

    def reset(self, seed: int | None = None) -> int:
        self.seeds.append(seed)
        self.coin = np.random.default_rng(seed)
        return 0

    def step(self, actions: list[int]) -> tuple[int, float, bool]:
        return 0, float(self.coin.random() < 0.4 + 0.2 * actions[0]), True


@pytest.fixture(scope="module")
def idle() -> tacit.Run:
    """A run in which no action changes anything."""
    return tacit.learn(Idle(), episodes=400)


class Idle:
    """Two agents are paid at random, whatever they do; both see nine numbers that mean nothing."""

    agents, actions, horizon, reward_range = 2, 3, 4, (0, 1)  # so nothing is scouted

    def __init__(self) -> None:
        self.steps = 0

    def reset(self, seed: int | None = None) -> tuple[int, ...]:
        self.rng = np.random.default_rng(seed)
        return tuple(self.rng.integers(2, size=9).tolist())

    def step(self, actions: list[int]) -> tuple[tuple[int, ...], list[float], bool]:
        self.steps += 1
        return tuple(self.rng.integers(2, size=9).tolist()), self.rng.random(2).tolist(), False


def test_a_run_that_learned_nothing_says_so(idle: tacit.Run):
    assert any("to be better than random play" in note or "not better" in note for note in idle.notes)
    assert {one.kind for one in idle.advice} == {"random"}
    causes = " ".join(one.text for one in idle.advice)
    assert "actions seem to change nothing" in causes
    assert "too rarely" in causes
    assert idle.returns is not None
    for mean, low, high in idle.returns.values():
        assert low <= 2.0 <= high  # four steps of 1/2
        assert low <= mean <= high


@pytest.mark.parametrize("episodes", [400, 8000])  # without trained responses and with them
def test_at_most_a_fifth_of_the_steps_is_played_beyond_training(episodes: int):
    env = Idle()
    run = tacit.learn(env, episodes=episodes)
    assert any("trained responses gain" in note for note in run.notes) == (episodes > 400)
    assert 1.1 <= env.steps / (4 * episodes) <= 1.2


class Exit:
    """One of six actions ends the episode, which random play finds late."""

    agents, actions, horizon, reward_range, states = 1, 6, 30, (-1, 0), 1

    def __init__(self) -> None:
        self.steps = self.episodes = 0
        self.before = 0  # steps of learning

    def reset(self, seed: int | None = None) -> int:
        self.before = self.steps if self.episodes <= 1000 else self.before
        self.episodes += 1
        return 0

    def step(self, actions: list[int]) -> Any:
        self.steps += 1
        return 0, -1.0, actions[0] == 3


def test_episodes_of_random_play_may_be_longer_than_those_of_training():
    env = Exit()
    tacit.learn(env, "q-backward", episodes=1000)
    assert 1.03 <= env.steps / env.before <= 1.2


class Range:
    """An arena of which nothing is played."""

    horizon, whole = 1, True

    def __init__(self, reward_range: Any) -> None:
        self.reward_range = reward_range


def chosen_among(returns: dict[str, np.ndarray], *, reward_range: Any, met: tuple[float, float]) -> tuple[str, str]:
    """Return which candidate is chosen by these returns, and the note that says so."""
    table = object.__new__(PlayedReturns)
    table.candidates, table.returns, table.gains, table.settled = dict(returns), returns, {}, False
    table.ends = Ends(Range(reward_range), None)  # type: ignore[arg-type]
    for one in returns.values():
        table.ends.meet(Played(one[:, None], one[:, None], one[:, None]))
    table.ends.include(*met)
    run: Any = tacit.learn(tacit.make("chicken"), "q-independent", episodes=20)
    run = table.choose(replace(run, chosen="average", candidates=dict.fromkeys(returns, run.candidates["last"])))
    return run.chosen, run.notes[-1]


def test_what_nobody_has_met_is_said_to_be_left_out():
    """Thirty plays without the loss that nobody has met: "shown" holds only if there is none."""
    returns = {"average": np.zeros((30, 1)), "last": np.ones((30, 1))}
    assert chosen_among(returns, reward_range=(-100.0, 1.0), met=(0.0, 1.0))[0] == "average"
    assert chosen_among(returns, reward_range=None, met=(-100.0, 1.0))[0] == "average"
    assert (
        "shown to be better (95 % confidence, if no return lies outside ["
        in chosen_among(returns, reward_range=None, met=(0.0, 1.0))[1]
    )
    many = {name: np.repeat(one, 40, axis=0) for name, one in returns.items()}
    assert "(95 % confidence):" in chosen_among(many, reward_range=(-1.0, 1.0), met=(0.0, 1.0))[1]


def test_every_run_is_measured_however_short():
    run = tacit.learn(Idle(), episodes=5)
    assert set(run.returns or ()) == {"policy", "random", "first tenth"}


def test_tables_of_single_steps_are_named_as_a_cause():
    run = tacit.learn(Idle(), "q-independent", episodes=50)
    assert any("tacit.learn(env, 'q-independent', steps='shared', episodes=50)" in one.text for one in run.advice)
    run = tacit.learn(Idle(), "stage-v-cce", episodes=50)  # whose steps share nothing
    assert any("tacit.learn(env, 'q-backward', episodes=50)" in one.text for one in run.advice)


def test_equal_returns_are_named_as_a_cause():
    class Even(Idle):
        def step(self, actions: list[int]) -> Any:
            return super().step(actions)[0], [1.0, 1.0], False

    run = tacit.learn(Even(), episodes=50)
    assert run.advice[0].text.startswith("not better than random play: every episode paid 4,")


def test_where_rewards_cancel_out_the_average_is_returned():
    run = tacit.learn(tacit.to_pettingzoo(tacit.make("matching-pennies")), episodes=600)
    assert run.chosen == "recent"
    assert not run.advice


def test_responses_that_still_gain_show_nothing():
    weak, strong = episodes(0.05, 0.0), episodes(0.9, 0.0)
    assert is_better(weak, strong, span=SPAN)
    assert not is_better(weak, strong, span=SPAN, settled=False)


def test_bins_are_suggested_for_this_number_of_dimensions():
    assert "from_pettingzoo(env, encode=tacit.Bins(6)), 6 bins for each of 4 numbers" in suggest_encode(4, 1_400)
    with pytest.raises(tacit.TacitError, match=r"from_gymnasium\(env, encode=tacit.Bins\(31\)\)"):
        tacit.learn("gymnasium:MountainCar-v0")
    assert "Bins" not in suggest_encode(84, 1_400)
    assert "'ppo'" in suggest_encode(84, 1_400)


def test_bins_are_suggested_for_the_numbers_within_a_dict():
    spaces = pytest.importorskip("gymnasium").spaces
    box, mask = spaces.Box(-1, 1, (2,)), spaces.MultiBinary(3)
    assert count_floats(spaces.Dict({"observation": box, "action_mask": mask})) == 2
    assert count_floats(spaces.Tuple([box, spaces.Discrete(3), box])) == 4
    assert count_floats(mask) == 0


def test_each_purpose_plays_episodes_of_its_own():
    env = Seeds()
    run = tacit.learn(env, "adaptive-v-cce", episodes=1000)
    learning = set(env.seeds[:1000])
    choosing = set(env.seeds[1000:])
    assert run.returns is not None
    assert len(env.seeds) <= 1200
    env.seeds = []
    tacit.evaluate(env, run.policy, episodes=300)
    tacit.exploit(env, run.policy, episodes=300)
    measuring = set(env.seeds)
    assert len(learning) > 990
    assert len(choosing) > 60
    assert not learning & choosing
    assert not learning & measuring
    assert not choosing & measuring


class Short(Idle):
    """Idle, but over after two of its steps, which the horizon does not say."""

    horizon = 200

    def step(self, actions: list[int]) -> Any:
        shown, rewards, _ = super().step(actions)
        return shown, rewards, True


def test_where_episodes_end_early_their_steps_are_counted_not_the_horizon():
    run = tacit.learn(Short(), "q-backward", episodes=300)
    assert "random" in run.returns
