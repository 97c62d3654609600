"""Independent Q-learning whose exploration falls from episode to episode, or is Boltzmann's.

In episode t, counted from 0, an agent draws a uniform action with probability ε_t = exploration·exp(−decay·t), or
exploration/(1 + t)^power, and otherwise a best one; or it draws a ∝ exp(Q_h(s, a)/τ_t), and τ_t falls in the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tacit.core import generics
from tacit.core.elementary import exp, pow
from tacit.core.types import IntArray
from tacit.learners import ucb
from tacit.learners.spec import player


class ExplorationSchedule(NamedTuple):
    """How exploration falls."""

    first: float  # ε or τ at first
    shrink: float  # exp(−decay)
    power: float  # 0 for an exponential fall
    boltzmann: bool


@generics.jitable
def explores_next(schedule, explores, t):
    """Return ε or τ after t episodes or periods, from the one before."""
    if schedule.power > 0.0:
        return schedule.first * pow(1.0 + t, -schedule.power)
    return explores * schedule.shrink


@generics.jitable
def softmax_weight(Q, top, temperature, a):
    """Return exp((Q(a) − max Q)/τ)."""
    return exp(max((Q[a] - top) * (1.0 / max(temperature, 1e-300)), -1e3))


@generics.apart
def draw_softmax(Q, best, temperature, n, u):
    """Draw an action a ∝ exp(Q(a)/τ), where `best` is a best one."""
    top, total = Q[best], 0.0
    for a in range(n):
        total += softmax_weight(Q, top, temperature, a)
    left = u * total
    for a in range(n):
        left -= softmax_weight(Q, top, temperature, a)
        if left < 0.0:
            return a
    return best


class ScheduledQState(NamedTuple):
    """All agents' tables."""

    cells: Any  # [H+1, S, N]  Q [A]
    players: Any  # whose Q is where
    agents: Any  # [N]  explores: ε or τ; episodes played
    step: float
    schedule: ExplorationSchedule
    last: int  # the last step
    actions: IntArray  # [N]


@generics.policy.implement(ScheduledQState)
def policy(learner, i, h, s, out):
    """Write the greedy policy, beyond which `act` explores; or Boltzmann's."""
    if not learner.schedule.boltzmann:
        ucb.policy(learner, i, h, s, out)
        return
    n, Q = learner.actions[i], player(learner.players, learner.cells, i, h, s).Q
    top, _ = ucb.best(Q, n)
    total = 0.0
    for a in range(n):
        out[a] = softmax_weight(Q, top, learner.agents[i].explores, a)
        total += out[a]
    for a in range(n):
        out[a] /= total


@generics.act.implement(ScheduledQState)
def act(learner, i, h, s, u):
    """Explore, or play a best action."""
    n, Q, explores = learner.actions[i], player(learner.players, learner.cells, i, h, s).Q, learner.agents[i].explores
    if not learner.schedule.boltzmann:
        return ucb.draw_greedily(Q, n, explores, u)
    best = 0
    for a in range(n):
        if Q[a] > Q[best]:
            best = a
    return draw_softmax(Q, best, explores, n, u)


@generics.learn.implement(ScheduledQState)
def learn(learner, i, h, s, a, r, s_next):
    """Move Q towards the reward and the best that follows; after an episode, explore less."""
    Q, me = player(learner.players, learner.cells, i, h, s).Q, learner.agents[i]
    ahead, _ = ucb.best(player(learner.players, learner.cells, i, h + 1, s_next).Q, learner.actions[i])
    Q[a] += learner.step * (r + ahead - Q[a])
    if h == learner.last:
        me.episodes += 1
        me.explores = explores_next(learner.schedule, me.explores, me.episodes)
