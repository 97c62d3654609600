"""Agents with a common schedule that are too many for a model of joint actions: they take turns to move.

A turn is 5 episodes, or 0.1 % of those played if that is more. In turn t = 1, 2, … ⌈N/t⌉ of the N agents move, in the
order of their numbers; all others play what they have. So whoever moves finds a world that stands still, ever more so:
the share of those who move is that of fictitious play, 1/t, until they are one at a time. At the end of each episode an
agent takes in its steps, backwards:

    Q_h(s, a) = r̄_h(s, a) + W_h(s) + D_h(s, a),   V_h(s) = Σ_a π_h(a|s)·Q_h(s, a)

with running means r̄ of its rewards, W of V_{h+1}(s') after any action, and D of V_{h+1}(s') − W after this one. What an
agent knew before its turn counts as one visit in r̄ and W, and as 20 in D: among many, what an agent does soon shows in
its reward, and hardly in the next state. Whose turn it is takes an even action at half of its steps, and moves at the
end by predictive regret matching⁺ wherever it was.

Each agent needs to know its number and how many there are. Guarantees: none are proven.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import pick
from tacit.core import generics
from tacit.core.records import NONNEGATIVE, Fields, capacity, index, records
from tacit.core.types import FloatArray, IntArray
from tacit.learners import joint_model
from tacit.learners.joint_model import blend, match_ahead
from tacit.learners.spec import World

#: Episodes of a turn: at least so many, and one for so many played.
FEWEST, SHARE = 5, 1000
#: How often an agent whose turn it is takes an even action.
EVEN = 0.5
#: Visits that r̄ and W remember at most, and D; and those that what was known before one's turn counts for.
MEMORY, LONG_MEMORY = 8.0, 1000.0
BEFORE, LONG_BEFORE = 1.0, 20.0
#: What differs by less than this is the same.
ROUNDING = 1e-9


class TurnsState(NamedTuple):
    """All agents' policies and values."""

    cells: Any  # [H+1, S, N]
    steps: Any  # [H, N]  of the running episode
    agents: Any  # [N]
    q: FloatArray  # [A]  scratch
    actions: IntArray  # [N]
    team: int  # how many agents there are
    first: int  # the number in the team of the first agent here
    horizon: int


def init(world: World) -> TurnsState:
    """Make the state of all agents, or of one of the team."""
    H, S, N, A = world.horizon, world.states, world.agents, capacity(world.actions.max())
    cells = records((H + 1, S, N), cell_fields(S, A))
    for i, size in enumerate(world.actions):
        cells["prob"][:H, :, i, :size] = cells["average"][:H, :, i, :size] = 1.0 / size
    agents = records((N,), agent_fields(len(world.team)))
    agents["turn"], agents["moves"], agents["due"] = 1, 1, FEWEST
    return TurnsState(
        cells=cells,
        steps=records((H, N), step_fields(S, A)),
        agents=agents,
        q=np.zeros(A),
        actions=world.actions,
        team=len(world.team),
        first=world.first,
        horizon=H,
    )


def cell_fields(states: int, actions: int) -> Fields:
    """Return what an agent remembers at a step and state."""
    return [
        ("prob", NONNEGATIVE, actions),  # π
        ("regret", NONNEGATIVE, actions),
        ("average", NONNEGATIVE, actions),  # of the iterates
        ("reward", "f8", actions),  # r̄
        ("visits", NONNEGATIVE, actions),  # that r̄ remembers
        ("ahead", "f8"),  # W
        ("all_visits", NONNEGATIVE),  # that W remembers
        ("more", "f8", actions),  # D
        ("more_visits", NONNEGATIVE, actions),  # that D remembers
        ("met", index(2)),  # whether in this turn of one's own
        ("order", index(states)),  # of the k-th record of a step: the state that was met after k others in this turn
        ("moves", "i8"),
        ("weight", NONNEGATIVE),  # of all iterates in the average
    ]


def step_fields(states: int, actions: int) -> Fields:
    """Return what an agent remembers of each step: of the running episode, and of its turn."""
    return [("state", index(states)), ("action", index(actions)), ("reward", "f8"), ("met", index(states + 1))]


def agent_fields(team: int) -> Fields:
    """Return what an agent remembers besides."""
    return [
        ("episodes", "i8"),
        ("turn", "i8"),  # t
        ("next", index(team)),  # the agent that is the first to move in this turn
        ("moves", index(2)),  # whether this one does
        ("due", "i8"),  # the episode with which the next turn begins
    ]


generics.weigh.implement(TurnsState)(joint_model.weigh)
generics.average.implement(TurnsState)(joint_model.average)


@generics.act.implement(TurnsState)
def act(learner, i, h, s, u):
    """Draw from π, and evenly at half of the steps where it is one's turn."""
    n = learner.actions[i]
    if learner.agents[i].moves == 1:
        if u < EVEN:
            return min(int(u / EVEN * n), n - 1)
        u = (u - EVEN) / (1.0 - EVEN)
    return pick(learner.cells[h, s, i].prob, 1.0, n, u)


@generics.learn.implement(TurnsState)
def learn(learner, i, h, s, a, r, s_next):
    """Keep the step; after the last, learn from all of them, and end the turn if it is over."""
    step = learner.steps[h, i]
    step.state, step.action, step.reward = s, a, r
    if h + 1 == learner.horizon:
        me, following = learner.agents[i], 0.0
        for d in range(learner.horizon):
            following = take_in(learner, i, learner.horizon - 1 - d, following)
        me.episodes += 1
        if me.episodes >= me.due:
            end_turn(learner, i)


@generics.jitable
def take_in(learner, i, h, following):
    """Take in what an action paid and what followed; return what the cell is worth."""
    step, n, states = learner.steps[h, i], learner.actions[i], learner.cells.shape[1]
    cell, a = learner.cells[h, step.state, i], step.action
    if learner.agents[i].moves == 1 and cell.met == 0:
        learner.cells[h, min(step.met, states - 1), i].order = step.state
        step.met, cell.met = min(step.met + 1, states), 1
        cell.all_visits = min(cell.all_visits, BEFORE)
        for b in range(n):
            cell.visits[b], cell.more_visits[b] = min(cell.visits[b], BEFORE), min(cell.more_visits[b], LONG_BEFORE)
    cell.visits[a] = min(cell.visits[a] + 1.0, MEMORY)
    cell.reward[a] += (step.reward - cell.reward[a]) / cell.visits[a]
    cell.all_visits = min(cell.all_visits + 1.0, MEMORY)
    cell.ahead += (following - cell.ahead) / cell.all_visits
    cell.more_visits[a] = min(cell.more_visits[a] + 1.0, LONG_MEMORY)
    cell.more[a] += (following - cell.ahead - cell.more[a]) / (cell.more_visits[a] + 1.0)
    return evaluate(cell, learner.q, n) + cell.ahead


@generics.jitable
def evaluate(cell, q, n):
    """Write r̄ + D into the scratch, and return what π is worth by it; what was never tried is worth that."""
    value, known = 0.0, 0.0
    for a in range(n):
        q[a] = cell.reward[a] + cell.more[a]
        if cell.visits[a] > 0.0:
            value += cell.prob[a] * q[a]
            known += cell.prob[a]
    value = value / known if known > 0.0 else 0.0
    for a in range(n):
        if cell.visits[a] <= 0.0:
            q[a] = value
    return value


@generics.apart
def end_turn(learner, i):
    """Move if it was one's turn, and find out whether the next is."""
    me, team, states = learner.agents[i], learner.team, learner.cells.shape[1]
    if me.moves == 1:
        for h in range(learner.horizon):
            step = learner.steps[h, i]
            for k in range(min(step.met, states)):
                move(learner.cells[h, min(learner.cells[h, k, i].order, states - 1), i], learner.q, learner.actions[i])
            step.met = 0
    me.next = (me.next + movers(team, me.turn)) % team
    me.turn += 1
    me.moves = 1 if (learner.first + i - me.next + team) % team < movers(team, me.turn) else 0
    me.due = me.episodes + max(FEWEST, me.episodes // SHARE)


@generics.jitable
def movers(team, turn):
    """Return how many agents move in a turn."""
    return (team + turn - 1) // turn


@generics.jitable
def move(cell, q, n):
    """Match regrets at a cell, and move the average."""
    cell.met = 0
    evaluate(cell, q, n)
    match_ahead(cell.regret, cell.prob, q, n, ROUNDING)
    cell.moves += 1
    weight = float(cell.moves) * cell.moves
    cell.weight += weight
    blend(cell.average, cell.prob, n, weight / cell.weight)
