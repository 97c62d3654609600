"""Which candidate a run returns where no bound says it: when play shows one to be better, and with which episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.environments.measuring import is_better

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


def test_each_purpose_plays_episodes_of_its_own():
    env = Seeds()
    run = tacit.learn(env, "adaptive-v-cce", episodes=1000)
    learning = set(env.seeds[:1000])
    choosing = set(env.seeds[1000:])
    assert any("further episodes" in note for note in run.notes)
    env.seeds = []
    tacit.evaluate(env, run.policy, episodes=300)
    tacit.exploit(env, run.policy, episodes=300)
    measuring = set(env.seeds)
    assert len(learning) > 990
    assert len(choosing) > 100
    assert not learning & choosing
    assert not learning & measuring
    assert not choosing & measuring
