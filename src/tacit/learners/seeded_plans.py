"""The plans of agents with a common seed: what each of them believes, T, Z and G. See `model_seeded.py`."""

from __future__ import annotations

import math

import numpy as np

from tacit.core import generics
from tacit.learners.joint_model import expect, match_ahead, mean_reward

#: Episodes of a batch: at least so many, and one for so many played.
FEWEST, SHARE = 10, 50
#: Products of a plan, for each step, that are paid for by playing one step; and episodes that a plan need not wait for.
PRODUCTS, CREDIT = 500.0, 2000.0
#: Products of a plan for each joint action and each of its next states, whatever is planned. All agents must plan at
#: the same time, so only what all of them know counts.
WORK, LINK = 7.0, 5.0
#: Sweeps of regret matching in each plan; in their average the t-th has a weight of about t^POWER.
SWEEPS, POWER = 3, 5.0
#: What was met less than TRIED times is worth the best return so far, as if by OPTIMISM visits; in T what was never met
#: is worth more, by this share of the range of returns, so that all is tried.
OPTIMISM, TRIED, EAGER = 0.3, 30.0, 0.2
#: A stage of a cell: at least so many visits, and this share of those before.
VISITS, STAGE = 2, 0.03
#: How much the belief of the stage before counts, in visits.
BELIEF = 0.3
#: Logarithm of the likelihood ratio at which a hypothesis is refuted or, negative, confirmed.
LIMIT = 6.9
#: What differs by less than this share of the range of rewards is the same.
ROUNDING = 1e-9

#: What an episode is for, by the schedule, and what an agent has come to believe, 0 while it does not know.
PROBE, TEAM, OPPOSED, GENERAL = 0, 1, 2, 3


@generics.jitable
def part(learner, joint, m):
    """Return agent m's action of a joint action."""
    return joint // learner.strides[m] % learner.team[m]


@generics.jitable
def view(learner, i, h, s, role):
    """Return what the plan of a role reads of a state: at the step, or at all steps; Z has counts of its own."""
    steps = learner.model.shape[0]
    level = h if steps == learner.horizon or learner.agents[i].own == 1 else steps - 1
    return learner.model[min(level, steps - 1), s, i].counts[1 if role == OPPOSED else 0]


@generics.apart
def plan(learner, i):
    """Decide what to believe, plan what is played, and begin the next batch."""
    me = learner.agents[i]
    me.plans += 1
    decide(learner, i)
    if me.refuted[0] == 0 or me.plans == 1:
        plan_team(learner, i)
    if me.mode != TEAM and me.refuted[1] == 0:
        for _ in range(SWEEPS):
            me.sweeps += 1
            sweep_opposed(learner, i)
    if me.mode == 0 or me.mode == GENERAL:
        respond(learner, i)
    me.spent += WORK * me.met * learner.rows + LINK * me.links
    paid = int(me.spent / PRODUCTS - CREDIT)
    me.due = max(paid, me.episodes + max(FEWEST, me.episodes // SHARE))


@generics.jitable
def decide(learner, i):
    """Decide whether steps differ, and which hypothesis stands."""
    me = learner.agents[i]
    if learner.model.shape[0] > learner.horizon and me.degrees[0] >= 3.0:
        span = 1e-6 * (me.high - me.low)
        own, all_steps = me.square[0] / me.degrees[0], me.square[1] / me.degrees[1]
        beyond = 1.0 + 4.0 * math.sqrt(2.0 / me.degrees[0] + 2.0 / me.degrees[1])
        me.own = 1 if all_steps > beyond * own + span * span or me.apart > LIMIT else 0
    if me.episodes < me.look:
        return
    me.look = 2 * me.episodes
    for k in range(2):
        if me.evidence[k] > LIMIT:
            me.refuted[k], me.confirmed[k] = 1, 0
        elif me.evidence[k] < -LIMIT and me.refuted[k] == 0:
            me.confirmed[k] = 1
    if me.confirmed[0] == 1:
        me.mode = TEAM
    elif me.confirmed[1] == 1 and me.refuted[0] == 1:  # before, it would spoil the others' test of T
        me.mode = OPPOSED
    else:
        me.mode = GENERAL if me.refuted[0] == 1 and me.refuted[1] == 1 else 0


@generics.jitable
def tried(here, joint, d):
    """Return how often a joint action was tried, and a next state followed where there is one."""
    return here.moved[joint] if d > 0 and here.seen[joint] > 0.0 else here.seen[joint]


@generics.jitable
def hope(times, worth, best):
    """Return what a joint action that was tried so many times may be worth: first it is near to the best return."""
    return worth if times >= TRIED else (times * worth + OPTIMISM * best) / (times + OPTIMISM)


@generics.jitable
def plan_team(learner, i):
    """Plan the joint policy that is best for oneself: what to try, with hope, and what to answer with, without."""
    me, states = learner.agents[i], learner.model.shape[1]
    least = ROUNDING * (me.high - me.low)
    for d in range(learner.horizon):
        h = learner.horizon - 1 - d
        best_return = learner.returns[h, i].most
        unknown = best_return + EAGER * (best_return - learner.returns[h, i].least)
        for k in range(min(me.met, states)):
            s = min(learner.model[0, k, i].state, states - 1)
            here, cell = view(learner, i, h, s, TEAM), learner.cells[h, s, i]
            cell.choice, cell.answer = 0, 0
            most, found, second = 0.0, -np.inf, -np.inf
            for j in range(learner.rows):
                worth, times = unknown, tried(here, j, d)
                if times > 0.0:
                    sure = worth_of(learner, here, j, d, 0)
                    if sure > found + least:
                        cell.answer, found, second = j + 1, sure, found
                    else:
                        second = max(second, sure)
                    worth = hope(times, worth_of(learner, here, j, d, 1), best_return)
                if j == 0 or worth > most + least:
                    cell.choice, most = j, worth
            cell.sharp = 1 if cell.choice + 1 == cell.answer and second > -np.inf and found > second + least else 0
            keep_value(learner, d, 0, s, found if cell.answer > 0 else 0.0)
            keep_value(learner, d, 1, s, most)


@generics.jitable
def worth_of(learner, here, joint, d, which):
    """Return the mean reward and the value that follows, d steps before the last."""
    return mean_reward(here, joint, 0) + (expect(here, joint, learner.scratch[(d + 1) % 2, :, which]) if d > 0 else 0.0)


@generics.jitable
def keep_value(learner, d, which, s, value):
    """Keep a value for the step before."""
    learner.scratch[d % 2, s, which] = value


@generics.jitable
def sweep_opposed(learner, i):
    """Let regret matching play against itself for rewards r and −r, once at every step and state.

    It does so twice: with hope, which is what agents play while they learn, and without, which is what they answer
    with. There what was not tried is left out: an action is worth what it is beside the actions it was tried with.
    """
    me, states, m = learner.agents[i], learner.model.shape[1], learner.first + i
    q, tests, team = learner.q, learner.tests, learner.team
    for d in range(learner.horizon):
        h = learner.horizon - 1 - d
        mine, others = learner.returns[h, i].most, -learner.returns[h, i].least
        after = learner.scratch[(d + 1) % 2]
        for k in range(min(me.met, states)):
            s = min(learner.model[0, k, i].state, states - 1)
            here, cell = view(learner, i, h, s, OPPOSED), learner.cells[h, s, i]
            play = cell.opposed
            for z in range(2):
                for a in range(team[z]):
                    q[0, z, a], q[1, z, a], tests[z, a] = 0.0, 0.0, 0.0
            for a in range(team[0]):
                for b in range(team[1]):
                    j = a * team[1] + b
                    gain, loss, times = mine, others, tried(here, j, d)
                    if times > 0.0:
                        r = mean_reward(here, j, 0)
                        x, y, sure, unsure = expect_all(here, j, after) if d > 0 else (0.0, 0.0, 0.0, 0.0)
                        gain, loss = hope(times, x + r, mine), hope(times, y - r, others)
                        sure, unsure = sure + r, unsure - r
                        q[1, 0, a] += play[1, 1, b] * (sure if m == 0 else unsure)
                        q[1, 1, b] += play[1, 0, a] * (sure if m == 1 else unsure)
                        tests[0, a] += play[1, 1, b]
                        tests[1, b] += play[1, 0, a]
                    q[0, 0, a] += play[0, 1, b] * (gain if m == 0 else loss)
                    q[0, 1, b] += play[0, 0, a] * (gain if m == 1 else loss)
            for z in range(2):
                leave_out(q[1, z], tests[z], play[1, z], team[z])
                for which in range(2):
                    value = move_opposed(me, cell, which, z, q[which, z], team[z])
                    learner.scratch[d % 2, s, 2 * which + (0 if z == m else 1)] = value


@generics.jitable
def expect_all(here, joint, values):
    """Return the means of all four values [S, 4] over the next states."""
    w, x, y, z = 0.0, 0.0, 0.0, 0.0
    for k in range(min(here.successors[joint], here.next.shape[1])):
        s, weight = min(here.next[joint, k], len(values) - 1), float(here.count[joint, k])
        w += weight * values[s, 0]
        x += weight * values[s, 1]
        y += weight * values[s, 2]
        z += weight * values[s, 3]
    scale = 1.0 / here.moved[joint]
    return w * scale, x * scale, y * scale, z * scale


@generics.jitable
def leave_out(q, tests, prob, n):
    """Divide sums by the weights that they are of; an action that was never tried is worth what is played."""
    value, known = 0.0, 0.0
    for a in range(n):
        if tests[a] > 0.0:
            q[a] /= tests[a]
            value += prob[a] * q[a]
            known += prob[a]
    for a in range(n):
        if tests[a] <= 0.0:
            q[a] = value / known if known > 0.0 else 0.0


@generics.jitable
def move_opposed(me, cell, which, z, q, n):
    """Average what is played, match regrets, and return what it was worth."""
    prob, average, rate = cell.opposed[which, z], cell.opposed_average[z], (POWER + 1.0) / (me.sweeps + POWER)
    if which == 1:
        for a in range(n):
            average[a] += rate * (prob[a] - average[a])
    return match_ahead(cell.opposed_regret[which, z], prob, q, n, ROUNDING * (me.high - me.low))


@generics.jitable
def respond(learner, i):
    """Evaluate all own actions against what the others seem to play; where a stage is over, match regrets."""
    me, states, m = learner.agents[i], learner.model.shape[1], learner.first + i
    q, tests, team, n, stride = learner.q[0, 0], learner.tests[0], learner.team, learner.team[m], learner.strides[m]
    for d in range(learner.horizon):
        h = learner.horizon - 1 - d
        for k in range(min(me.met, states)):
            s = min(learner.model[0, k, i].state, states - 1)
            here, cell = view(learner, i, h, s, GENERAL), learner.cells[h, s, i]
            if cell.stages == 0 and cell.answer > 0:
                for a in range(n):
                    cell.prob[a] = 1.0 if part(learner, cell.answer - 1, m) == a else 0.0
            for a in range(n):
                q[a], tests[a] = 0.0, 0.0
            for j in range(learner.rows):
                if tried(here, j, d) > 0.0:
                    weight, a = 1.0, j // stride % n
                    for b in range(len(team)):
                        if b != m:
                            weight *= play_of(cell, b, part(learner, j, b))
                    q[a] += weight * worth_of(learner, here, j, d, 0)
                    tests[a] += weight
            leave_out(q, tests, cell.prob, n)
            value = 0.0
            for a in range(n):
                value += cell.prob[a] * q[a]
            keep_value(learner, d, 0, s, value)
            if cell.visits >= max(VISITS, int(STAGE * cell.total)):
                end_stage(cell, q, n, team, m, ROUNDING * (me.high - me.low))


@generics.jitable
def play_of(cell, b, action):
    """Return how often another agent plays an action, as it seems."""
    return (cell.inferred[b, action] + BELIEF * cell.belief[b, action]) / (cell.visits + BELIEF)


@generics.jitable
def end_stage(cell, q, n, team, m, least):
    """Average what was played, match regrets, and begin the next stage."""
    cell.stages += 1
    weight = float(cell.stages) * cell.stages
    cell.weight += weight
    for a in range(n):
        cell.average[a] += weight / cell.weight * (cell.prob[a] - cell.average[a])
        cell.deficit[a] = 0.0
    match_ahead(cell.regret, cell.prob, q, n, least)
    for b in range(len(team)):
        if b != m:
            for a in range(team[b]):
                cell.belief[b, a] = play_of(cell, b, a)
        for a in range(team[b]):
            cell.inferred[b, a] = 0.0
    cell.total += cell.visits
    cell.visits = 0
