"""What is known of a state and the joint actions that were played there: visits, rewards and the next states met.

A record of a state has room for so many joint actions, each with so many next states: never a table of S² numbers.
Where there are no more joint actions than rows, a joint action is its row; otherwise rows are found by hashing, and a
joint action that comes when all are taken is not remembered. Of too many next states the one of least weight is
forgotten. A joint action is numbered with the last agent fastest.
"""

from __future__ import annotations

import numpy as np

from tacit.bandits.rows import share
from tacit.core import generics
from tacit.core.records import NONNEGATIVE, Fields, capacity

#: Weights of next states, in half the memory; whole ones are exact up to 2²⁴.
WEIGHT = np.dtype("f4", metadata={"least": 0})


def rows_for(joint_actions: int) -> int:
    """Return for how many joint actions a state has room: small games share a loop, which takes seconds to compile."""
    return max(16, capacity(joint_actions))


def fields(rows: int, successors: int, rewards: int = 1) -> Fields:
    """Return what is remembered of a state, for so many joint actions, next states of each, and rewarded agents."""
    return [
        ("joint", "i8", rows),  # 1 + the joint action of a row, 0 where there is none; where rows are hashed
        ("seen", NONNEGATIVE, rows),  # weight of all visits
        ("reward", "f8", (rows, rewards)),  # Σ weight·r
        ("square", NONNEGATIVE, (rows, rewards)),  # Σ weight·(r − mean)²
        ("moved", NONNEGATIVE, rows),  # weight of the visits that a next state followed
        ("successors", "i4", rows),  # next states that were met
        ("next", "i4", (rows, successors)),
        ("count", WEIGHT, (rows, successors)),  # weight of the visits that they followed
    ]


@generics.jitable
def find(here, joint, joint_actions):
    """Return the row of a joint action, a fresh one if it was not met, or −1 if there is none left."""
    rows = len(here.joint)
    if joint_actions <= rows:
        return joint
    row = (joint * 1103515245 + 12345) % 2147483647 % rows
    for _ in range(rows):
        if here.joint[row] == 0:
            here.joint[row] = joint + 1
        if here.joint[row] == joint + 1:
            return row
        row = row + 1 if row + 1 < rows else 0
    return -1


@generics.jitable
def look_up(here, joint, joint_actions):
    """Return the row of a joint action, or −1 if it was not met."""
    rows = len(here.joint)
    if joint_actions <= rows:
        return joint
    row = (joint * 1103515245 + 12345) % 2147483647 % rows
    for _ in range(rows):
        if here.joint[row] == joint + 1:
            return row
        if here.joint[row] == 0:
            return -1
        row = row + 1 if row + 1 < rows else 0
    return -1


@generics.jitable
def count_reward(here, row, k, r, weight):
    """Take in agent k's reward of a visit; before `count_visit` of the same visit."""
    seen = here.seen[row]
    more = r - (here.reward[row, k] / seen if seen > 0.0 else r)
    here.square[row, k] += weight * seen / (seen + weight) * more * more
    here.reward[row, k] += weight * r


@generics.jitable
def count_visit(here, row, weight):
    """Count a visit."""
    here.seen[row] += weight


@generics.jitable
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


@generics.jitable
def expect(here, row, values):
    """Return the mean of `values` [S] over the next states, 0 where none followed."""
    total = 0.0
    for k in range(min(here.successors[row], here.next.shape[1])):
        total += float(here.count[row, k]) * values[min(here.next[row, k], len(values) - 1)]
    return total / here.moved[row] if here.moved[row] > 0.0 else 0.0


@generics.jitable
def chance(here, row, s_next):
    """Return the share of a next state."""
    for k in range(min(here.successors[row], here.next.shape[1])):
        if here.next[row, k] == s_next:
            return float(here.count[row, k]) / here.moved[row] if here.moved[row] > 0.0 else 0.0
    return 0.0


@generics.jitable
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


# what agents play, of those that keep a policy and its average in their cells -----------------------------------------


def weigh(learner, i, h, s, out):
    """Write π; `act` explores beyond it."""
    share(learner.cells[h, s, i].prob, 1.0, learner.actions[i], out)


def average(learner, i, h, s, out):
    """Write the average of the iterates."""
    share(learner.cells[h, s, i].average, 1.0, learner.actions[i], out)
