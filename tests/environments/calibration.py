"""Games with tables, where the truth is known: how often intervals cover it, and how near training comes to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import tacit
from tacit.evaluation import best_response, evaluate, policy_values

SIZES = [(2, 4, 2, 3), (2, 6, 3, 4), (3, 3, 2, 4), (2, 3, 4, 2)]  # agents, states, actions, horizon


@dataclass
class Trial:
    values_covered: list[bool]
    gain_covered: list[bool]
    below_gap: list[bool]
    reached: list[float]  # of the exact gain of a best response


def rare_loss(number: int, plays: int) -> tuple[tacit.TabularGame, tacit.MarkovPolicy]:
    """A game in which agent 0's second action pays, and costs more by a loss of 1 once in 3 to 10 · `plays` episodes.

    Agent 1's coin moves the rewards of agent 0 by 0.0001, so that no two measurements are the same.
    """
    rng = np.random.default_rng(number)
    chance = float(rng.uniform(0.1, 0.3)) / plays
    transitions, rewards = np.zeros((1, 3, 2, 2, 3)), np.zeros((2, 2, 3, 2, 2))
    transitions[0, :, :, :, 1] = 1.0
    transitions[0, 0, 1] = [[0.0, 1.0 - chance, chance]] * 2
    rewards[0, 0, 0] = [[0.0, 0.0001], [chance / 2 + 0.0001, chance / 2]]
    rewards[0, 1, 1] = 1.0
    game = tacit.TabularGame(transitions, rewards, np.array([1.0, 0.0, 0.0]), 2)
    even = np.full((2, 3, 2), 0.5)
    return game, tacit.MarkovPolicy([np.broadcast_to([1.0, 0.0], (2, 3, 2)).copy(), even])


def trial(number: int, episodes: int, *, rare: bool = False) -> Trial:
    """Measure a random policy of a random game; everything random comes from its number."""
    agents, states, actions, horizon = SIZES[number % len(SIZES)]
    if rare:
        agents = 2
        game, policy = rare_loss(number, episodes // 2)
    else:
        sizes = {"agents": agents, "states": states, "actions": actions, "horizon": horizon}
        game = tacit.make("random-general-sum", **sizes, seed=number)
        policy = tacit.MarkovPolicy.random(game, seed=number, correlated=number % 3 == 0)
    exact = evaluate(game, policy, gap="cce")
    found = tacit.exploit(game, policy, episodes=episodes, seed=number)
    played = tacit.evaluate(game, policy, episodes=episodes, seed=number + 10_000)
    result = Trial([], [], [], [])
    result.below_gap.append(bool(found.lower <= exact.gap + 1e-9))
    for i in range(agents):
        true = gain(game, policy, i, found.responses[i])
        result.values_covered.append(bool(played.low[i] <= exact.values[i] <= played.high[i]))
        result.gain_covered.append(bool(found.low[i] <= true <= found.high[i]))
        result.below_gap.append(bool(found.low[i] <= exact.gaps[i] + 1e-9))
        best = best_response(game, policy, i).value - exact.values[i]
        result.reached.append(1.0 if best < 1e-9 else true / best)
    return result


def gain(game: tacit.TabularGame, policy: tacit.MarkovPolicy, agent: int, table: np.ndarray) -> float:
    """What a deviation gains exactly, by the tables: it plays table[h, s], and the policy where that is −1."""
    value = np.zeros((game.horizon + 1, game.states))
    for h in reversed(range(game.horizon)):
        joint = policy.joint(h)
        payoff = game.step_rewards(h)[agent] + game.expect(h, value[h + 1][None])[0]
        others = joint.sum(axis=1 + agent)  # [S, A_-i]
        for s in range(game.states):
            a = table[h, s] if s < table.shape[1] else -1
            if a >= 0:
                value[h, s] = (np.take(payoff[s], a, axis=agent) * others[s]).sum()
            else:
                value[h, s] = (payoff[s] * joint[s]).sum()
    return float(value[0] @ game.initial - policy_values(game, policy).initial[agent])
