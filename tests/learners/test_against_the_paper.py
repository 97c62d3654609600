"""The learners against a plain transcription of the paper's algorithms, on the same draws."""

from __future__ import annotations

import numpy as np
import pytest
from transcription import Transcribed

import tacit
from tacit.core.streams import agent_role, stream

EPISODES = 300
IOTA = 4.0


def own_next(P: np.ndarray, u: float) -> int:
    """Inverse-transform sampling, spelled out."""
    cumulative = 0.0
    for s, p in enumerate(P):
        cumulative += p
        if p > 0 and u < cumulative:
            return s
    return int(np.flatnonzero(P)[-1])


@pytest.mark.parametrize("kind", ["cce", "ce"])
@pytest.mark.parametrize(
    "params",
    [
        {"states": 2, "actions": [2, 3], "horizon": 3, "seed": 1},
        {"states": 2, "actions": [4, 2], "horizon": 1, "seed": 2},
        {"states": 3, "actions": [2, 2], "horizon": 2, "seed": 3},
    ],
    ids=["H=3", "H=1", "H=2"],
)
def test_same_actions_values_stages_and_distributions(kind: str, params: dict):
    game = tacit.make("random-general-sum", **params)
    H, S, seed, bonus = game.horizon, game.states, 17, 0.05
    low, high = game.reward_range
    agents = [
        tacit.agent(
            f"stage-v-{kind}",
            states=S,
            actions=A,
            horizon=H,
            reward_range=game.reward_range,
            seed=seed,
            index=i,
            iota=IOTA,
            bonus=bonus,
        )
        for i, A in enumerate(game.actions)
    ]
    plain = [Transcribed(kind, S, A, H, IOTA, bonus) for A in game.actions]
    draws = [stream(seed, agent_role(i)) for i in range(game.agents)]
    world = stream(seed, 0)
    for _ in range(EPISODES):
        s = own_next(game.initial, world.random())
        for h in range(H):
            actions = [agent.act(h, s) for agent in agents]
            assert actions == [one.act(h + 1, s, draw.random()) for one, draw in zip(plain, draws, strict=True)]
            s_next = s if h == H - 1 else own_next(game.transitions[(h, s, *actions)], world.random())
            for i, a in enumerate(actions):
                r = game.rewards[(i, h, s, *actions)]
                agents[i].learn(h, s, a, r, s_next)
                plain[i].learn(h + 1, s, a, (r - low) / (high - low), s_next)
            s = s_next
        for agent, one in zip(agents, plain, strict=True):
            state = agent.state
            for h in range(H):
                for s in range(S):
                    ours, cell = state.cells[h, s, 0], (h + 1, s)
                    assert abs(ours.upper - one.upper[cell]) < 1e-12
                    assert abs(ours.lower - one.lower[cell]) < 1e-12
                    assert (ours.visits, ours.length) == (one.N_stage[cell], one.T[cell])
                    assert np.abs(agent.policy[h, s] - one.mu[cell]).max() < 1e-12
    for agent, one in zip(agents, plain, strict=True):
        assert abs(agent.estimate - one.bound / EPISODES * (high - low)) < 1e-9
        assert max(one.T.values()) > H  # stages have ended
        assert any(one.lower[cell] > 0 for cell in one.lower)
