"""Action masks: no forbidden action is ever played, by learners, responses or policies."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tacit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from gymnasium.spaces import Box, Dict, Discrete
    from pettingzoo import ParallelEnv


class Masked(ParallelEnv):
    """Two agents with three actions, of which action `word` is forbidden; the highest allowed pays most.

    `where` says where the mask is; a forbidden action fails.
    """

    possible_agents = ["a", "b"]  # noqa: RUF012
    metadata = {"name": "masked"}  # noqa: RUF012
    horizon, reward_range = 2, (0.0, 1.0)

    def __init__(self, where: str = "observation") -> None:
        self.where = where
        mask = Box(0, 1, (3,), dtype=np.int8)
        self.space = Dict({"word": Discrete(3), "action_mask": mask}) if where == "observation" else Discrete(3)

    def observation_space(self, agent: str) -> Any:
        return self.space

    def action_space(self, agent: str) -> Any:
        return Discrete(3)

    def shown(self) -> Any:
        self.mask = np.ones(3, np.int8)
        self.mask[self.word] = 0
        held = {"action_mask": self.mask}
        if self.where == "observation":
            return {name: {"word": self.word, **held} for name in self.agents}, {name: {} for name in self.agents}
        return dict.fromkeys(self.agents, self.word), dict.fromkeys(self.agents, held)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.steps, self.word = self.possible_agents[:], 0, (seed or 0) % 3
        return self.shown()

    def step(self, actions: dict[str, int]) -> Any:
        for a in actions.values():
            assert self.mask[a], f"action {a} is forbidden"
        live, self.steps, self.word = self.agents, self.steps + 1, (self.word + 1) % 3
        observations, infos = self.shown()
        late = dict.fromkeys(live, self.steps == 2)
        self.agents = [] if self.steps == 2 else live
        rewards = {name: actions[name] / 2 for name in live}
        return observations, rewards, dict.fromkeys(live, False), late, infos


@pytest.mark.parametrize("where", ["observation", "info"])
@pytest.mark.parametrize("learner", ["adaptive-v-cce", "q-independent"])
def test_no_forbidden_action_is_played(where: str, learner: str):
    run = tacit.learn(Masked(where), learner, episodes=300)
    found = tacit.exploit(Masked(where), run.last, episodes=200)
    assert found.values.min() > 1.4  # of 5/3 at most: 1 and 1, 1 and 1/2, 1/2 and 1
    assert found.gap < 0.3
    if where == "observation":
        for own, table in zip(run.last.observations, run.last.probs, strict=True):
            for s in range(len(own.met)):
                mask = own.masks().get(s)
                if mask is not None:
                    assert (table[:, s][:, np.array(mask) == 0] == 0).all()
        np.testing.assert_allclose(run.last.probs[0].sum(axis=2), 1.0)


def test_policies_from_elsewhere_meet_the_mask():
    even = tacit.evaluate(Masked(), lambda seen: [1 / 3] * 3, episodes=300)  # renormalised: 3/4, 1/2 and 1/4
    assert (even.low <= 1.0).all()
    assert (even.high >= 1.0).all()
    reads = tacit.evaluate(Masked(), lambda seen: int(np.flatnonzero(seen["action_mask"]).max()), episodes=300)
    assert reads.values == pytest.approx(5 / 3, abs=0.1)
    with pytest.raises(tacit.TacitError, match="chose nothing that the action mask"):
        tacit.evaluate(Masked(), lambda seen: 1, episodes=20)


@pytest.mark.filterwarnings("ignore:agent . observed")
def test_a_part_alone_plays_no_forbidden_action():
    policy = tacit.learn(Masked(), "adaptive-v-cce", episodes=20).candidates["average"].policy
    part, met = policy.part(0), []
    for seed in range(60):
        part.begin(seed=seed)
        observations, _ = (env := Masked()).reset(seed=seed)
        for h in range(2):
            seen = {**observations["a"], "word": observations["a"]["word"] + 3 * (seed % 2)}  # known, or never met
            met.append(env.mask[part.act(h, observation=seen)])
            observations, *_ = env.step(dict.fromkeys("ab", int(env.mask.argmax())))
    assert all(met)
    part.begin(seed=0)
    with pytest.raises(tacit.TacitError, match="one entry for each of 3 actions"):
        part.act(0, observation={"word": 0, "action_mask": [0, 1]})


def test_a_mask_of_another_size_is_told():
    env = Masked()
    env.shown = lambda: ({name: {"word": 0, "action_mask": [1, 1]} for name in env.agents}, {})
    with pytest.raises(tacit.TacitError, match="one entry for each of 3 actions"):
        tacit.evaluate(env, lambda seen: 1, episodes=2)


def test_tictactoe_is_learned_among_legal_moves():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classic = pytest.importorskip("pettingzoo.classic.tictactoe_v3")
    env = classic.raw_env()
    illegal = []
    place = env.board.play_turn
    legal = env.board.legal_moves

    def watch(agent: int, move: int) -> Any:
        illegal.append(move not in legal())
        return place(agent, move)

    env.board.play_turn = watch
    run = tacit.learn(tacit.from_pettingzoo(env, horizon=9, reward_range=(-1, 1)), "q-independent", episodes=40)
    assert run.episodes == 40
    assert len(illegal) >= 40 * 5
    assert not any(illegal)
