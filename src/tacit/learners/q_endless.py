"""Independent Q-learning in play that never resets: one table, explicit discount. [Calvano et al. 2020]

    Q(s, a) ← Q(s, a) + step·(r + γ·max_{a'} Q(s', a') − Q(s, a))

Exploration falls with the periods t as elsewhere with the episodes (`q_scheduled.py`): ε_t = exploration·exp(−decay·t),
from t = 0. Among equally good actions the one that was greedy before stays greedy, at first the lowest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tacit.core import generics
from tacit.core.records import NONNEGATIVE, capacity, index, records
from tacit.core.types import IntArray
from tacit.learners.q_scheduled import ExplorationSchedule, draw_softmax, explores_next
from tacit.learners.spec import World


class EndlessQState(NamedTuple):
    """All agents' tables."""

    cells: Any  # [1, S, N]  Q [A], the greedy action
    agents: Any  # [N]  ε or τ, periods played, period of the last change of a greedy action
    step: float
    discount: float
    schedule: ExplorationSchedule
    actions: IntArray  # [N]


def make_state(world: World, *, step: float, first: Any, schedule: ExplorationSchedule) -> EndlessQState:
    """Make the state of all agents, from the first Q [S, A_i] of each or one number."""
    A = capacity(world.actions.max())
    fields = [("Q", "f8", A), ("greedy", index(A))]
    cells = records((1, world.states, world.agents), fields)
    for i, size in enumerate(world.actions):
        cells["Q"][0, :, i, :size] = first[i] if isinstance(first, tuple) else first
        cells["greedy"][0, :, i] = cells["Q"][0, :, i, :size].argmax(axis=-1)
    agents = records((world.agents,), [("explores", NONNEGATIVE), ("periods", "i8"), ("changed", "i8")])
    agents["explores"] = schedule.first
    return EndlessQState(cells, agents, step, world.discount or 0.0, schedule, world.actions)


@generics.policy.implement(EndlessQState)
def policy(learner, i, h, s, out):
    """Write the greedy policy, which runs return; `act` explores beyond it."""
    for a in range(learner.actions[i]):
        out[a] = 0.0
    out[learner.cells[0, s, i].greedy] = 1.0


@generics.act.implement(EndlessQState)
def act(learner, i, h, s, u):
    """Explore, or play the greedy action."""
    cell, explores, n = learner.cells[0, s, i], learner.agents[i].explores, learner.actions[i]
    if learner.schedule.boltzmann:
        return draw_softmax(cell.Q, cell.greedy, explores, n, u)
    if u < explores:
        return min(int(u / explores * n), n - 1)
    return cell.greedy


@generics.learn.implement(EndlessQState)
def learn(learner, i, h, s, a, r, s_next):
    """Move Q towards the reward and the best that follows, and note whether the greedy action changes."""
    cell, following, me = learner.cells[0, s, i], learner.cells[0, s_next, i], learner.agents[i]
    Q, greedy = cell.Q, cell.greedy
    before = Q[a]
    Q[a] += learner.step * (r + learner.discount * following.Q[following.greedy] - before)
    me.periods += 1
    me.explores = explores_next(learner.schedule, me.explores, me.periods)
    best = greedy
    if a != greedy:
        if Q[a] > Q[greedy]:
            best = a
    elif Q[a] < before:
        for b in range(learner.actions[i]):
            if Q[b] > Q[best]:
                best = b
    if best != greedy:
        cell.greedy = best
        me.changed = me.periods
