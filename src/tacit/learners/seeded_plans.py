"""The plans of agents with a common seed: what each of them believes, T, Z and G. See `model_seeded.py`."""

from __future__ import annotations

import numpy as np

from tacit.core import generics
from tacit.learners.joint_model import (
    LIMIT,
    blend,
    hope,
    match_ahead,
    respond,
    rewards_differ,
    state_met,
    value_joint_actions,
)

#: Episodes of a batch: at least so many, and one for so many played.
FEWEST, SHARE = 10, 50
#: Products of a plan, for each step, that take as long as playing one step; and episodes that are not waited for.
PRODUCTS, CREDIT = 300.0, 200.0
#: Products of a plan for each joint action and each of its next states, whatever is planned. All agents must plan at
#: the same time, so only what all of them know counts.
WORK, LINK = 7.0, 5.0
#: Sweeps of regret matching in each plan; in their average the t-th has a weight of about t^POWER.
SWEEPS, POWER = 3, 5.0
#: The best return counts for so many visits; in T what was never met is worth more, by this share of the range of
#: returns, so that all is tried.
OPTIMISM, EAGER = 0.3, 0.2
#: A stage of a cell: at least so many visits, and this share of those before.
VISITS, STAGE = 2, 0.03
#: How much the belief of the stage before counts, in visits.
BELIEF = 0.3
#: The evidence against a hypothesis goes no lower than this.
FIRM = -20.0
#: What differs by less than this share of the range of rewards is the same.
ROUNDING = 1e-9

#: What an episode is for, by the schedule, and what an agent has come to believe, 0 while it does not know.
PROBE, TEAM, OPPOSED, GENERAL = 0, 1, 2, 3

# Values are in four columns: with hope (0 and 1) and without (2 and 3), of which 0 and 2 are those of the team's even
# agents, 1 and 3 those of its odd ones. An agent's own are `own` and `own + 2`, those of its opponent the others.


@generics.jitable
def part(learner, joint, m):
    """Return agent m's action of a joint action."""
    return joint // learner.strides[m] % learner.actions[m]


@generics.jitable
def view(learner, i, h, s, role):
    """Return what the plan of a role reads of a state, at the step or at all steps: each has counts of its own."""
    steps = learner.model.shape[0]
    level = h if steps == learner.horizon or learner.agents[i].own == 1 else steps - 1
    return learner.model[min(level, steps - 1), s, i].counts[role % GENERAL]


@generics.apart
def plan(learner, i):
    """Decide what to believe, plan what is played backwards over the steps, and begin the next batch."""
    me = learner.agents[i]
    me.plans += 1
    decide(learner, i)
    for sweep in range(SWEEPS + 2):
        role = TEAM if sweep == 0 else GENERAL if sweep > SWEEPS else OPPOSED
        if not is_planned(me, role):
            continue
        me.sweeps += 1 if role == OPPOSED else 0
        for d in range(learner.horizon):
            for k in range(min(me.met, learner.model.shape[1])):
                s = state_met(learner.model, i, k)
                if role == TEAM:
                    choose_jointly(learner, i, d, s)
                elif role == OPPOSED:
                    oppose(learner, i, d, s)
                else:
                    answer_others(learner, i, d, s)
    me.spent += WORK * me.met * learner.rows + LINK * me.links
    me.due = max(int(me.spent / PRODUCTS - CREDIT), me.episodes + max(FEWEST, me.episodes // SHARE))


@generics.jitable
def is_planned(me, role):
    """Return whether an agent still plans in this way."""
    if role == TEAM:
        return me.refuted[0] == 0 or me.plans == 1
    return me.mode != TEAM and me.refuted[1] == 0 if role == OPPOSED else me.mode == 0 or me.mode == GENERAL


@generics.jitable
def decide(learner, i):
    """Decide whether steps differ, and which hypothesis stands."""
    me = learner.agents[i]
    if learner.model.shape[0] > learner.horizon:
        me.own = 1 if rewards_differ(me) or me.apart > LIMIT else 0
    if me.episodes < me.look:
        return
    me.look = 2 * me.episodes
    for k in range(2):
        most, most_telling = FIRM, FIRM
        for m in range(len(learner.actions)):
            most, most_telling = max(most, me.evidence[k, m]), max(most_telling, me.telling[k, m])
        if most > LIMIT:
            me.refuted[k], me.confirmed[k] = 1, 0
        elif most < -LIMIT and most_telling < -LIMIT and me.refuted[k] == 0:
            me.confirmed[k] = 1
    me.mode = TEAM if me.confirmed[0] == 1 else OPPOSED if me.confirmed[1] == 1 else 0
    if me.refuted[0] == 1 and me.refuted[1] == 1:
        me.mode = GENERAL


@generics.jitable
def choose_jointly(learner, i, d, s):
    """Plan the joint action that is best for oneself: what to try, with hope, and what to answer with, without."""
    h, me, own, room = learner.horizon - 1 - d, learner.agents[i], (learner.first + i) % 2, learner.scratch
    cell, best = learner.cells[h, s, i], learner.returns[h, i].most
    unknown, least = best + EAGER * (best - learner.returns[h, i].least), ROUNDING * (me.high - me.low)
    value_joint_actions(learner, view(learner, i, h, s, TEAM), d, own, own, 4, 2)
    hope(learner, own, best, OPTIMISM)
    cell.choice, cell.answer = 0, 0
    most, found, second = -np.inf, -np.inf, -np.inf
    for j in range(learner.rows):
        worth = room.worth[own, j] if room.tried[j] > 0.0 else unknown
        if worth > most + least:
            cell.choice, most = j, worth
        if room.tried[j] > 0.0:
            sure = room.worth[own + 2, j]
            if sure > found + least:
                cell.answer, found, second = j + 1, sure, found
            else:
                second = max(second, sure)
    settled = cell.choice + 1 == cell.answer and second > -np.inf
    cell.sharp = 0 if not settled else 2 if found > second + least else 1
    room.values[d % 2, s, own], room.values[d % 2, s, own + 2] = most, found if cell.answer > 0 else 0.0


@generics.jitable
def oppose(learner, i, d, s):
    """Let regret matching play against itself for rewards r and −r.

    It does so twice: with hope, which is what agents play while they learn, and without, which is what they answer
    with.
    """
    h, me, own, room = learner.horizon - 1 - d, learner.agents[i], (learner.first + i) % 2, learner.scratch
    cell = learner.cells[h, s, i]
    value_joint_actions(learner, view(learner, i, h, s, OPPOSED), d, own, 0, 4, 1)
    hope(learner, own, learner.returns[h, i].most, OPTIMISM)
    hope(learner, 1 - own, -learner.returns[h, i].least, OPTIMISM)
    for which in range(2):
        for z in range(2):
            for a in range(learner.actions[z]):
                room.play[z, a] = cell.opposed[which, z, a]
        respond(learner, 2, 2 * which, 1, which == 0)
        for z in range(2):
            n, prob = learner.actions[z], cell.opposed[which, z]
            if which == 1:
                blend(cell.opposed_average[z], prob, n, (POWER + 1.0) / (me.sweeps + POWER))
            least = ROUNDING * (me.high - me.low)
            value = match_ahead(cell.opposed_regret[which, z], prob, room.q[z], n, least)
            room.values[d % 2, s, 2 * which + z] = value


@generics.jitable
def answer_others(learner, i, d, s):
    """Evaluate all own actions against what the others seem to play; where a stage is over, match regrets."""
    h, me, m, room = learner.horizon - 1 - d, learner.agents[i], learner.first + i, learner.scratch
    cell, n, own, team = learner.cells[h, s, i], learner.actions[m], m % 2 + 2, len(learner.actions)
    if cell.stages == 0 and cell.answer > 0:
        for a in range(n):
            cell.prob[a] = 1.0 if part(learner, cell.answer - 1, m) == a else 0.0
    value_joint_actions(learner, view(learner, i, h, s, GENERAL), d, own, own, own + 1, 1)
    for b in range(team):
        for a in range(learner.actions[b]):
            room.play[b, a] = cell.prob[a] if b == m else play_of(cell, b, a)
    respond(learner, team, own, 0, False)
    value = 0.0
    for a in range(n):
        value += cell.prob[a] * room.q[m, a]
    room.values[d % 2, s, own] = value
    if cell.visits >= max(VISITS, int(STAGE * cell.total)):
        end_stage(learner, cell, m, ROUNDING * (me.high - me.low))


@generics.jitable
def play_of(cell, b, action):
    """Return how often another agent plays an action, as it seems."""
    return (cell.inferred[b, action] + BELIEF * cell.belief[b, action]) / (cell.visits + BELIEF)


@generics.jitable
def end_stage(learner, cell, m, least):
    """Average what was played, match regrets, and begin the next stage."""
    n, weight = learner.actions[m], float(cell.stages + 1) * (cell.stages + 1)
    cell.stages += 1
    cell.weight += weight
    blend(cell.average, cell.prob, n, weight / cell.weight)
    match_ahead(cell.regret, cell.prob, learner.scratch.q[m], n, least)
    for b in range(len(learner.actions)):
        for a in range(learner.actions[b]):
            if b != m:
                cell.belief[b, a] = learner.scratch.play[b, a]
            cell.inferred[b, a] = 0.0
    for a in range(n):
        cell.deficit[a] = 0.0
    cell.total += cell.visits
    cell.visits = 0
