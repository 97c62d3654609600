"""Equilibria of stage games inside a kernel: payoffs in, a distribution over joint actions out.

- "cce": all agents run predictive regret matching⁺ (`joint_model.py`) against each other; the distribution is the
  average of what they play, round t with weight t. Its gap is the largest weighted regret.
- "ce": the same with a regret matcher for each recommended action and the stationary distribution of what they advise
  [Blum, Mansour 2007], whose average has small swap regret.
- "nash": the deterministic equilibrium of largest welfare where there is one; otherwise the product of the marginals of
  "cce", which is an equilibrium of a zero-sum game of two agents, and elsewhere only an approximation.
- "friend": each agent's part of the joint action that is best for itself.

Rounds end when the gap is at most TOLERANCE of the span of the payoffs, or after ROUNDS; of "nash" in a zero-sum game
it is at most twice that. Joint actions are numbered with the last agent fastest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core import generics
from tacit.core.records import capacity
from tacit.core.types import FloatArray, IntArray
from tacit.learners.joint_model import count_on, match_ahead

#: Kinds, by the number that kernels get.
KINDS = ("nash", "cce", "ce", "friend")
NASH, CCE, CE, FRIEND = range(4)
#: Largest gap of a stage game's solution, over the span of its payoffs, and the most rounds for it.
TOLERANCE, ROUNDS = 0.005, 400
#: Steps of the power iteration for a stationary distribution.
STATIONARY = 8


class StageScratch(NamedTuple):
    """Memory for a stage game, in which nothing is remembered."""

    values: FloatArray  # [N, J]  payoffs
    joint: FloatArray  # [J]  the solution
    prob: FloatArray  # [N, A]
    q: FloatArray  # [N, A]  of own actions against what the others play
    regret: FloatArray  # [N, A, A]  of a recommended action and another; of external regret the first row alone
    advice: FloatArray  # [N, A, A]
    gain: FloatArray  # [N, A, A]  weighted sums of what another action would have gained
    before: FloatArray  # [N + 1]
    digit: IntArray  # [N]


def make_scratch(actions: IntArray, joint: int) -> StageScratch:
    """Return memory for stage games."""
    N, A = len(actions), capacity(actions.max())
    return StageScratch(
        values=np.zeros((N, joint)),
        joint=np.zeros(joint),
        prob=np.zeros((N, A)),
        q=np.zeros((N, A)),
        regret=np.zeros((N, A, A)),
        advice=np.zeros((N, A, A)),
        gain=np.zeros((N, A, A)),
        before=np.zeros(N + 1),
        digit=np.zeros(N, dtype=np.int64),
    )


@generics.apart
def play_round(w, actions, joints, weight):
    """Write q against what all agents play, and add that to the average."""
    N = len(actions)
    for i in range(N):
        w.digit[i] = 0
        for a in range(actions[i]):
            w.q[i, a] = 0.0
    w.before[0] = 1.0
    for j in range(joints):
        for i in range(N):
            w.before[i + 1] = w.before[i] * w.prob[i, w.digit[i]]
        w.joint[j] += weight * w.before[N]
        after = 1.0
        for k in range(N):
            i = N - 1 - k
            w.q[i, w.digit[i]] += w.before[i] * after * w.values[i, j]
            after *= w.prob[i, w.digit[i]]
        count_on(w.digit, actions)


@generics.apart
def learn_round(w, i, n, weight, swap):
    """Let agent i learn from q. Return the sum over its recommendations of the largest gain so far."""
    prob, q = w.prob[i], w.q[i]
    value = 0.0
    for a in range(n):
        value += prob[a] * q[a]
    total = 0.0
    for a in range(n if swap else 1):
        most = 0.0
        for b in range(n):
            w.gain[i, a, b] += weight * (prob[a] * (q[b] - q[a]) if swap else q[b] - value)
            most = max(most, w.gain[i, a, b])
        total += most
    if not swap:
        match_ahead(w.regret[i, 0], prob, q, n)
        return total
    for a in range(n):
        advised, sum_ahead, ahead = 0.0, 0.0, w.advice[i, a]
        for b in range(n):
            advised += ahead[b] * q[b]
        for b in range(n):
            w.regret[i, a, b] = max(0.0, w.regret[i, a, b] + prob[a] * (q[b] - advised))
            sum_ahead += w.regret[i, a, b]
        if sum_ahead > 0.0:
            for b in range(n):
                ahead[b] = w.regret[i, a, b] / sum_ahead
    for _ in range(STATIONARY):
        for b in range(n):
            q[b] = 0.5 * prob[b]
            for a in range(n):
                q[b] += 0.5 * prob[a] * w.advice[i, a, b]
        for b in range(n):
            prob[b] = q[b]
    return total


@generics.apart
def match_regrets(w, actions, joints, swap):
    """Write the average play of regret matchers into `joint`."""
    N, low, high = len(actions), w.values[0, 0], w.values[0, 0]
    for i in range(N):
        for j in range(joints):
            low, high = min(low, w.values[i, j]), max(high, w.values[i, j])
        for a in range(actions[i]):
            w.prob[i, a] = 1.0 / actions[i]
            for b in range(actions[i]):
                w.regret[i, a, b], w.gain[i, a, b] = 0.0, 0.0
                w.advice[i, a, b] = 1.0 / actions[i]
    for j in range(joints):
        w.joint[j] = 0.0
    weights = 0.0
    for t in range(1, ROUNDS + 1):
        weights += t
        play_round(w, actions, joints, float(t))
        gap = 0.0
        for i in range(N):
            gap = max(gap, learn_round(w, i, actions[i], float(t), swap))
        if gap <= TOLERANCE * (high - low) * weights:
            break
    for j in range(joints):
        w.joint[j] /= weights


@generics.apart
def best_pure(w, actions, joints):
    """Return the deterministic equilibrium of largest welfare, -1 where there is none."""
    N, chosen, most = len(actions), -1, 0.0
    for j in range(joints):
        stable, welfare, stride = True, 0.0, 1
        for k in range(N):
            i = N - 1 - k
            played = j // stride % actions[i]
            for a in range(actions[i]):
                if w.values[i, j + (a - played) * stride] > w.values[i, j]:
                    stable = False
            welfare += w.values[i, j]
            stride *= actions[i]
        if stable and (chosen < 0 or welfare > most):
            chosen, most = j, welfare
    return chosen


@generics.apart
def make_product(w, actions, joints):
    """Replace `joint` by the product of its marginals."""
    N = len(actions)
    for i in range(N):
        w.digit[i] = 0
        for a in range(actions[i]):
            w.prob[i, a] = 0.0
    for j in range(joints):
        for i in range(N):
            w.prob[i, w.digit[i]] += w.joint[j]
        count_on(w.digit, actions)
    for j in range(joints):
        w.joint[j] = 1.0
        for i in range(N):
            w.joint[j] *= w.prob[i, w.digit[i]]
        count_on(w.digit, actions)


@generics.apart
def befriend(w, actions, joints):
    """Write the joint action in which all follow their own best one."""
    N, together = len(actions), 0
    for i in range(N):
        best, stride = 0, 1
        for j in range(1, joints):
            if w.values[i, j] > w.values[i, best]:
                best = j
        for k in range(i + 1, N):
            stride *= actions[k]
        together = together * actions[i] + best // stride % actions[i]
    for j in range(joints):
        w.joint[j] = 0.0
    w.joint[together] = 1.0


@generics.apart
def solve(w, actions, joints, kind):
    """Write the solution of the stage game `values` into `joint`."""
    if kind == FRIEND:
        befriend(w, actions, joints)
        return
    pure = best_pure(w, actions, joints) if kind == NASH else -1
    if pure >= 0:
        for j in range(joints):
            w.joint[j] = 0.0
        w.joint[pure] = 1.0
        return
    match_regrets(w, actions, joints, kind == CE)
    if kind == NASH:
        make_product(w, actions, joints)


@generics.jitable
def marginal(joint, actions, joints, i, out):
    """Write agent i's part of a distribution over joint actions."""
    stride = 1
    for k in range(i + 1, len(actions)):
        stride *= actions[k]
    for a in range(actions[i]):
        out[a] = 0.0
    for j in range(joints):
        out[j // stride % actions[i]] += joint[j]
