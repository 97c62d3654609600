"""What is known of a state and the joint actions that were played there, and how agents plan on it.

A record of a state has room for so many joint actions, each with so many next states: never a table of S² numbers. Of
too many next states the one of least weight is forgotten. A joint action is numbered with the last agent fastest.

Plans are made in sweeps backwards over the steps. At each (h, s) `value_joint_actions` writes what every joint action
is worth to each of several players, `respond` what each player's own actions are worth against what the others play,
and `match_ahead` lets a player move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.bandits.spec import share
from tacit.core import generics
from tacit.core.elementary import log, pow
from tacit.core.records import NONNEGATIVE, Fields, capacity
from tacit.core.types import FloatArray, IntArray

#: Weights of next states, in half the memory; whole ones are exact up to 2²⁴.
WEIGHT = np.dtype("f4", metadata={"least": 0})
#: Visits from which on counts are believed; before, the best return counts for some.
BELIEVED = 30.0
#: Exploration is min(most, (1 + k/PATIENCE)^DECAY).
PATIENCE, DECAY = 50.0, -0.34
#: Logarithm of the likelihood ratio that decides: an error of 1/1000.
LIMIT = 6.9


class Scratch(NamedTuple):
    """Room for plans, in which nothing is remembered: of S states, J joint actions, and players with A actions."""

    values: FloatArray  # [2, S, C]  V of the step that is planned and of the one after, each of which takes turns
    worth: FloatArray  # [C, J]
    tried: FloatArray  # [J]  visits of each joint action, those that a next state followed if one does
    play: FloatArray  # [P, A]  what players play at one step and state
    q: FloatArray  # [P, A]
    weight: FloatArray  # [P, A]
    left: FloatArray  # [P+1]
    digit: IntArray  # [P]  the actions of a joint action


def make_scratch(states: int, columns: int, joint: int, players: int, actions: int) -> Scratch:
    """Return room for plans."""
    return Scratch(
        values=np.zeros((2, states, columns)),
        worth=np.zeros((columns, joint)),
        tried=np.zeros(joint),
        play=np.zeros((players, actions)),
        q=np.zeros((players, actions)),
        weight=np.zeros((players, actions)),
        left=np.zeros(players + 1),
        digit=np.zeros(players, dtype=np.int64),
    )


# what is counted -----------------------------------------------------------------------------------------------------


def rows_for(joint_actions: int) -> int:
    """Return for how many joint actions a state has room: small games share a loop, which takes seconds to compile."""
    return max(16, capacity(joint_actions))


def fields(rows: int, successors: int, rewards: int = 1) -> Fields:
    """Return what is remembered of a state, for so many joint actions, next states of each, and rewarded agents."""
    return [
        ("seen", NONNEGATIVE, rows),  # weight of all visits
        ("reward", "f8", (rows, rewards)),  # Σ weight·r
        ("moved", NONNEGATIVE, rows),  # weight of the visits that a next state followed
        ("successors", "i4", rows),  # next states that were met
        ("next", "i4", (rows, successors)),
        ("count", WEIGHT, (rows, successors)),  # weight of the visits that they followed
    ]


#: Of a state's record at the first step.
MET: Fields = [
    ("rank", "i8"),  # 1 for the state that was met first, 0 for one that was not met
    ("state", "i8"),  # of the k-th record: the state that was met after k others
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
def meet(model, i, me, s):
    """Take a state in that was not met before, and return whether it was not."""
    if model[0, s, i].rank > 0:
        return False
    model[0, min(me.met, model.shape[1] - 1), i].state = s
    me.met += 1
    model[0, s, i].rank = me.met
    return True


@generics.jitable
def state_met(model, i, k):
    """Return the state that was met after k others."""
    return min(model[0, k, i].state, model.shape[1] - 1)


@generics.apart
def count_move(here, row, s_next, weight):
    """Count a next state and return its place; where there is no room for another, forget the one of least weight."""
    most = here.next.shape[1]
    known = min(here.successors[row], most)
    here.moved[row] += weight
    k = 0
    while k < known and here.next[row, k] != s_next:
        k += 1
    if k == known and known < most:
        here.successors[row] = known + 1
    elif k == most:
        k = lightest(here, row)
        here.moved[row] = max(0.0, here.moved[row] - float(here.count[row, k]))
        here.count[row, k] = 0.0
    here.next[row, k] = s_next
    here.count[row, k] = float(here.count[row, k]) + weight  # in double precision, interpreted too
    return k


@generics.apart
def lightest(here, row):
    """Return the next state of least weight."""
    found = 0
    for k in range(here.next.shape[1]):
        if here.count[row, k] < here.count[row, found]:
            found = k
    return found


@generics.jitable
def mean_reward(here, row, k):
    """Return agent k's mean reward, 0 where the joint action was not met."""
    return here.reward[row, k] / here.seen[row] if here.seen[row] > 0.0 else 0.0


@generics.apart
def foresee(here, weights, first, end, s_next, prior):
    """Return the probability of a next state by the weights of those that followed joint actions of a range.

    `prior` is its probability among those that have not followed yet, whose chance is that of escape in prediction by
    partial matching: (1 + next states that were met)/(visits + 1 + next states that were met).
    """
    own, total, fresh = 0.0, 0.0, 1.0
    for row in range(first, end):
        for k in range(min(here.successors[row], here.next.shape[1])):
            weight = float(weights[row, k])
            total += weight
            fresh += 1.0 if weight > 0.0 else 0.0
            own += weight if here.next[row, k] == s_next else 0.0
    return (own + fresh * prior) / (total + fresh)


@generics.jitable
def explored(k, most):
    """Return how often agents explore in episode k."""
    return min(most, pow(1.0 + k / PATIENCE, DECAY))


# whether steps differ ------------------------------------------------------------------------------------------------


@generics.jitable
def compare_reward(me, own, every, row, k, r):
    """Compare how well counts of the step and those of all steps foretell agent k's reward, before it is counted."""
    seen, seen_ever = own.seen[row], every.seen[row]
    if seen > 0.0:
        error, error_ever = r - mean_reward(own, row, k), r - mean_reward(every, row, k)
        me.square[0] += error * error * seen / (seen + 1.0)
        me.square[1] += error_ever * error_ever * seen_ever / (seen_ever + 1.0)
        me.degrees += 1.0
        me.fewer += log((1.0 + 1.0 / seen) / (1.0 + 1.0 / seen_ever))


@generics.apart
def compare_move(own, weights, every, weights_ever, row, s_next, met):
    """Return the logarithm of how much better counts of the step foretell a next state than those of all steps."""
    by_step = foresee(own, weights, row, row + 1, s_next, 1.0 / met)
    return log(by_step / foresee(every, weights_ever, row, row + 1, s_next, 1.0 / met))


@generics.jitable
def reward_variance(me, level):
    """Return the variance of rewards, by means of the step (level 0) or of all steps."""
    span = 1e-6 * (me.high - me.low)
    return (me.square[level] / me.degrees if me.degrees > 0.0 else 0.0) + span * span


@generics.jitable
def rewards_differ(me):
    """Return whether means of the step foretell rewards better, by the likelihood ratio of Gaussian noise.

    The error of a mean of n rewards has the variance σ²·(1 + 1/n).
    """
    return me.square[1] - me.square[0] > (2.0 * LIMIT + me.fewer) * reward_variance(me, 0)


# planning ------------------------------------------------------------------------------------------------------------


@generics.apart
def value_joint_actions(learner, here, d, player, first, end, by):
    """Write what each joint action is worth d steps before the last, r̄ + Σ P̂·V, for columns of a range.

    Of one agent's own rewards, a column is to that agent if it is even as its number is, otherwise to an opponent.
    """
    room = learner.scratch
    worth, tried, after, agents = room.worth, room.tried, room.values[(d + 1) % 2], here.reward.shape[1]
    for j in range(learner.rows):
        tried[j] = here.moved[j] if d > 0 and here.seen[j] > 0.0 else here.seen[j]
        for c in range(first, end, by):
            worth[c, j] = 0.0
        if tried[j] > 0.0:
            if d > 0:
                for k in range(min(here.successors[j], here.next.shape[1])):
                    s, part = min(here.next[j, k], len(after) - 1), float(here.count[j, k]) / here.moved[j]
                    for c in range(first, end, by):
                        worth[c, j] += part * after[s, c]
            for c in range(first, end, by):
                r = mean_reward(here, j, c if agents > 1 else 0)
                worth[c, j] += r if agents > 1 or c % 2 == player % 2 else -r


@generics.apart
def hope(learner, c, best, visits):
    """Let what was tried less than 30 times be worth the best return too, as if by so many visits."""
    worth, tried = learner.scratch.worth, learner.scratch.tried
    for j in range(learner.rows):
        if tried[j] < BELIEVED:
            worth[c, j] = (tried[j] * worth[c, j] + visits * best) / (tried[j] + visits)


@generics.apart
def respond(learner, players, c, by, everything):
    """Write q, what each own action of the players is worth by the columns c, c + by, …, where all play `play`.

    Without `everything`, joint actions that were never tried are left out: an action is worth what it is beside those
    that it was tried with, and one that was never tried what is played.
    """
    room = learner.scratch
    play, q, weight, left, digit = room.play, room.q, room.weight, room.left, room.digit
    for i in range(players):
        digit[i] = 0
        for a in range(learner.actions[i]):
            q[i, a], weight[i, a] = 0.0, 0.0
    for j in range(learner.rows):
        if everything or room.tried[j] > 0.0:
            left[0] = 1.0
            for i in range(players):  # the chance of what the players before i do
                left[i + 1] = left[i] * play[i, digit[i]]
            right = 1.0
            for k in range(players):
                i = players - 1 - k
                q[i, digit[i]] += left[i] * right * room.worth[c + by * i, j]
                weight[i, digit[i]] += left[i] * right
                right *= play[i, digit[i]]
        i = players - 1
        while i >= 0:
            digit[i] += 1
            if digit[i] < learner.actions[i]:
                break
            digit[i] = 0
            i -= 1
    for i in range(players):
        value, known = 0.0, 0.0
        for a in range(learner.actions[i]):
            if weight[i, a] > 0.0:
                q[i, a] /= weight[i, a]
                value += play[i, a] * q[i, a]
                known += play[i, a]
        for a in range(learner.actions[i]):
            if weight[i, a] <= 0.0:
                q[i, a] = value / known if known > 0.0 else 0.0


@generics.apart
def match_ahead(regret, prob, q, n, least):
    """Move by predictive regret matching⁺ for n actions that are worth q; return what `prob` was worth.

    R ← max(R + D, 0) with D(a) = q(a) − value, then prob ∝ max(R + D, 0), where the second D foretells the next one.
    Where all of that sums to `least` at most, prob stays. [Farina, Kroer, Sandholm 2021, "Faster game solving via
    predictive Blackwell approachability"]
    """
    value = 0.0
    for a in range(n):
        value += prob[a] * q[a]
    total = 0.0
    for a in range(n):
        more = q[a] - value
        regret[a] = max(0.0, regret[a] + more)
        total += max(0.0, regret[a] + more)
    if total > least:
        for a in range(n):
            prob[a] = max(0.0, regret[a] + (q[a] - value)) / total
    return value


@generics.jitable
def blend(average, prob, n, rate):
    """Move an average towards what is played."""
    for a in range(n):
        average[a] += rate * (prob[a] - average[a])


# what agents play, of those that keep a policy and its average in their cells -----------------------------------------


def weigh(learner, i, h, s, out):
    """Write π; `act` explores beyond it."""
    share(learner.cells[h, s, i].prob, 1.0, learner.actions[i], out)


def average(learner, i, h, s, out):
    """Write the average of the iterates."""
    share(learner.cells[h, s, i].average, 1.0, learner.actions[i], out)
