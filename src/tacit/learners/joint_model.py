"""Counts of joint actions, and planning on them for all agents at once.

A record of a state counts so many joint actions, each with so many next states: never a table of S² numbers. Of too
many next states the one of least weight is forgotten. A joint action is numbered with the last agent fastest.

Steps share their counts until those of each step predict next states or rewards better, by a likelihood ratio of 1000:
next states by prediction by partial matching, rewards by Gaussian noise around means of n rewards, σ²·(1 + 1/n).

A plan is a sweep backwards over the steps. At each (h, s) `value_joint_actions` writes E_i(s, a) of every agent and
joint action, `respond` the value of each agent's own actions against the others' policies, and `match_ahead` moves a
policy by predictive regret matching⁺ [Farina, Kroer, Sandholm 2021]:

    E_i(s, a) = r̄_i(s, a) + γ·Σ_{s'} P̂(s'|s, a)·V_{i,h+1}(s'), the best return so far where a was never tried
    Q_i(a_i) = E_{a_-i ~ π}[E_i(s, a)],  V_i = Σ_{a_i} π_i(a_i)·Q_i(a_i),  D(a_i) = Q_i(a_i) − V_i
    R ← max(R + D, 0),  π_i ∝ max(R + D, 0)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.core import generics
from tacit.core.elementary import log
from tacit.core.records import NONNEGATIVE, Fields, capacity
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import from_entries
from tacit.games.tabular import TabularGame

#: Weights of next states, in half the memory; whole ones are exact up to 2²⁴.
WEIGHT = np.dtype("f4", metadata={"least": 0})
#: Logarithm of the likelihood ratio that decides whether steps differ.
LIMIT = 6.9


class Scratch(NamedTuple):
    """Memory for plans, in which nothing is remembered."""

    values: FloatArray  # [N, J]  E
    q: FloatArray  # [N, A]
    before: FloatArray  # [N+1]  probability of what the agents before the i-th do
    digit: IntArray  # [N]  the actions of a joint action


def make_scratch(agents: int, joint: int, actions: int) -> Scratch:
    """Return memory for plans."""
    digit = np.zeros(agents, dtype=np.int64)
    return Scratch(np.zeros((agents, joint)), np.zeros((agents, actions)), np.zeros(agents + 1), digit)


# joint actions --------------------------------------------------------------------------------------------------------


@generics.jitable
def count_on(digit, actions):
    """Move the actions of a joint action on to the next one."""
    i = len(actions) - 1
    while i >= 0:
        digit[i] += 1
        if digit[i] < actions[i]:
            break
        digit[i] = 0
        i -= 1


@generics.jitable
def part(joint, actions, i):
    """Return agent i's action of a joint action."""
    for k in range(i + 1, len(actions)):
        joint //= actions[k]
    return joint % actions[i]


# counts ---------------------------------------------------------------------------------------------------------------


def fields(joint: int, successors: int, agents: int) -> Fields:
    """Return what is remembered of a state."""
    rows = max(16, capacity(joint))  # small games share a loop, which takes seconds to compile
    return [
        ("rank", "i8"),  # 1 for the state that was met first, 0 for one that was not met; at the first step
        ("state", "i8"),  # of the k-th record: the state that was met after k others
        ("seen", NONNEGATIVE, rows),  # visits
        ("reward", "f8", (rows, agents)),  # Σ r
        ("moved", NONNEGATIVE, rows),  # visits that a next state followed
        ("successors", "i4", rows),  # next states that were met
        ("next", "i4", (rows, successors)),
        ("count", WEIGHT, (rows, successors)),  # visits that they followed
    ]


#: By whose errors is judged whether rewards differ from step to step, of an agent.
ERRORS: Fields = [
    ("low", "f8"),  # least and largest reward so far
    ("high", "f8"),
    ("square", NONNEGATIVE, 2),  # squared errors of rewards: by the step's own mean, by that of all steps
    ("degrees", NONNEGATIVE),  # how many of them
    ("fewer", NONNEGATIVE),  # what a step's mean loses by being one of fewer rewards, as a sum of logarithms
]


@generics.jitable
def meet(model, clock, s):
    """Take a state in that was not met before, and return whether it was not."""
    if model[0, s, 0].rank > 0:
        return False
    model[0, min(clock.met, model.shape[1] - 1), 0].state = s
    clock.met += 1
    model[0, s, 0].rank = clock.met
    return True


@generics.jitable
def count_rewards(here, row, agents):
    """Count a visit of a joint action, and the rewards of all agents."""
    here.seen[row] += 1.0
    for i in range(len(agents)):
        here.reward[row, i] += agents[i].reward


@generics.apart
def count_move(here, row, s_next):
    """Count a next state. Where there is no capacity for another, forget the one of least weight."""
    most = here.next.shape[1]
    size = min(here.successors[row], most)
    here.moved[row] += 1.0
    k = 0
    while k < size and here.next[row, k] != s_next:
        k += 1
    if k == size and size < most:
        here.successors[row] = size + 1
    elif k == most:
        k = least_visited(here, row)
        here.moved[row] = max(0.0, here.moved[row] - float(here.count[row, k]))
        here.count[row, k] = 0.0
    here.next[row, k] = s_next
    here.count[row, k] = float(here.count[row, k]) + 1.0  # in double precision, interpreted too


@generics.apart
def least_visited(here, row):
    """Return the next state of least weight."""
    rarest = 0
    for k in range(here.next.shape[1]):
        if here.count[row, k] < here.count[row, rarest]:
            rarest = k
    return rarest


@generics.jitable
def mean_reward(here, row, i):
    """Return agent i's mean reward, 0 where the joint action was not met."""
    return here.reward[row, i] / here.seen[row] if here.seen[row] > 0.0 else 0.0


# whether steps differ -------------------------------------------------------------------------------------------------


@generics.apart
def predict(here, row, s_next, prior):
    """Return the probability of a next state after a joint action.

    `prior` is its probability among those that have not followed yet. Their probability is that of escape in prediction
    by partial matching: (1 + next states that were met)/(visits + 1 + next states that were met).
    """
    count, total, fresh = 0.0, 0.0, 1.0
    for k in range(min(here.successors[row], here.next.shape[1])):
        weight = float(here.count[row, k])
        total += weight
        fresh += 1.0 if weight > 0.0 else 0.0
        count += weight if here.next[row, k] == s_next else 0.0
    return (count + fresh * prior) / (total + fresh)


@generics.jitable
def compare_reward(me, step, every, row, i, r):
    """Compare how counts of the step and of all steps predict agent i's reward."""
    seen, seen_ever = step.seen[row], every.seen[row]
    if seen > 0.0:
        error, error_ever = r - mean_reward(step, row, i), r - mean_reward(every, row, i)
        me.square[0] += error * error * seen / (seen + 1.0)
        me.square[1] += error_ever * error_ever * seen_ever / (seen_ever + 1.0)
        me.degrees += 1.0
        me.fewer += log((1.0 + 1.0 / seen) / (1.0 + 1.0 / seen_ever))


@generics.jitable
def rewards_differ(me):
    """Return whether means of the step predict rewards better, by likelihood."""
    span = 1e-6 * (me.high - me.low)
    variance = (me.square[0] / me.degrees if me.degrees > 0.0 else 0.0) + span * span
    return me.square[1] - me.square[0] > (2.0 * LIMIT + me.fewer) * variance


# planning -------------------------------------------------------------------------------------------------------------


@generics.apart
def value_joint_actions(learner, here, h):
    """Write E of all agents and joint actions at step h, or G where untried."""
    values, last, states = learner.scratch.values, h + 1 == learner.horizon, learner.cells.shape[1]
    after = learner.cells[min(h + 1, len(learner.cells) - 1)]
    for j in range(learner.joint):
        tried = here.seen[j] if last else here.moved[j]
        for i in range(len(learner.actions)):
            value = 0.0
            if tried > 0.0 and not last:
                for k in range(min(here.successors[j], here.next.shape[1])):
                    value += float(here.count[j, k]) * after[min(here.next[j, k], states - 1), i].value
                value *= learner.discount / here.moved[j]
            values[i, j] = value + mean_reward(here, j, i) if tried > 0.0 else learner.agents[i].best


@generics.apart
def respond(learner, h, s):
    """Write q, the values of own actions at (h, s) against the others' policies."""
    scratch, cells, N = learner.scratch, learner.cells[min(h, len(learner.cells) - 1), s], len(learner.actions)
    values, q, before, digit = scratch.values, scratch.q, scratch.before, scratch.digit
    for i in range(N):
        digit[i] = 0
        for a in range(learner.actions[i]):
            q[i, a] = 0.0
    for j in range(learner.joint):
        before[0] = 1.0
        for i in range(N):
            before[i + 1] = before[i] * cells[i].prob[digit[i]]
        after = 1.0
        for k in range(N):
            i = N - 1 - k
            q[i, digit[i]] += before[i] * after * values[i, j]
            after *= cells[i].prob[digit[i]]
        count_on(digit, learner.actions)


@generics.apart
def match_ahead(regret, prob, q, n):
    """Move by predictive regret matching⁺ for n actions of value q. Return the value of `prob` before."""
    value = 0.0
    for a in range(n):
        value += prob[a] * q[a]
    total = 0.0
    for a in range(n):
        regret[a] = max(0.0, regret[a] + q[a] - value)
        total += max(0.0, regret[a] + q[a] - value)
    if total > 0.0:
        for a in range(n):
            prob[a] = max(0.0, regret[a] + q[a] - value) / total
    return value


# the model as a game --------------------------------------------------------------------------------------------------


def model_game(state: Any) -> TabularGame:
    """Return the counts of a learner's state as a game.

    What was not tried at a step is taken from other steps; what was never tried in a state pays, and leads to, what the
    joint actions that were tried there did on average; a state that was never met leads to itself and pays nothing.
    """
    N, J, H, S = len(state.actions), state.joint, state.horizon, state.model.shape[1]
    model = {name: state.model[name][:, :, 0, :J] for name in ("seen", "moved", "reward", "next", "count")}
    counts = np.where(model["next"] < S, model["count"], 0.0).astype(float)
    if state.clock["differ"][0] and len(state.model) > 1:
        tried, led = (model[name][:H] > 0 for name in ("seen", "moved"))
        seen = np.where(tried, model["seen"][:H], model["seen"][H])
        reward = np.where(tried[..., None], model["reward"][:H], model["reward"][H])
        following = np.where(led[..., None], model["next"][:H], model["next"][H])
        counts = np.where(led[..., None], counts[:H], counts[H])
    else:
        seen, reward, following, counts = model["seen"][-1:], model["reward"][-1:], model["next"][-1:], counts[-1:]
    steps = len(seen)
    mean = reward.sum(axis=2) / np.maximum(seen.sum(axis=2), 1.0)[..., None]  # [steps, S, N]
    rewards = np.where(seen[..., None] > 0, reward / np.maximum(seen, 1.0)[..., None], mean[:, :, None])
    h, s, j, k = np.nonzero(counts)
    onward, weight = following[h, s, j, k], counts[h, s, j, k]
    pooled = from_entries(h * S + s, onward, weight, steps * S)  # from each state, whatever was done there
    unknown = counts.sum(axis=3) == 0
    cell = np.nonzero(unknown)[0] * S + np.nonzero(unknown)[1]  # of each row that never led anywhere
    number = np.diff(pooled.first)[cell]
    entry = (
        np.repeat(pooled.first[cell], number) + np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    )
    rows = np.arange(seen.size).reshape(seen.shape)
    stuck = np.flatnonzero(unknown.ravel())[number == 0]
    moves = from_entries(
        np.concatenate([rows[h, s, j], np.repeat(np.flatnonzero(unknown.ravel()), number), stuck]),
        np.concatenate([onward, pooled.state[entry], stuck // J % S]),
        np.concatenate([weight, pooled.prob[entry], np.ones(len(stuck))]),
        seen.size,
    )
    total = np.repeat(np.add.reduceat(moves.prob, moves.first[:-1]), np.diff(moves.first))
    table = np.moveaxis(rewards, -1, 0).reshape(N, steps, S, *state.actions.tolist())
    length = {"horizon": H} if state.over < 0 and not state.endless else {"discount": state.discount}
    return TabularGame(moves._replace(prob=moves.prob / total), table, np.ones(S) / S, **length)
