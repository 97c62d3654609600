"""Agents that share a seed, a schedule and this program, and nothing else: no message is ever sent.

This is a class of information of its own. An agent sees the state, its own action and its own reward, as every agent
here does; but it knows beforehand how many agents there are, which of them it is, how many actions each has, and a
seed that all of them have. All agents must see the same state.

- *Probing.* In some episodes, and at some steps of all others, the joint action is a function of the common seed, the
  episode and the step, so every agent knows it. Agent i counts P(s'|s, a_1, …, a_N) and its own rewards
  r_i(s, a_1, …, a_N) (`joint_model.py`), for each step and for all steps at once, and plans on the former where
  its counts say that steps differ.
- *T, as if rewards were common.* Agent i plans the joint policy that is best for its own rewards, by backward
  induction, and plays its part. If rewards are common, all have the same plan, so each knows what the others do.
- *Z, as if rewards were opposite* (two agents). Agent i lets predictive regret matching⁺ play against itself for
  rewards r_i and −r_i, and draws both agents' actions with numbers from the common seed. If rewards sum to a constant,
  each again knows what the other does.
- *G, nothing assumed.* Agent i infers what the others did from its own reward and the next state (Bayes, in its own
  model), hence what they play at (h, s), hence what all its own actions are worth; and moves by predictive regret
  matching⁺ at the end of each stage of a cell, 3 % of the visits so far. Averages weigh the n-th stage by n².

T and Z are hypotheses, and each step at which they are played tests them. With L(a) the likelihood of the agent's own
reward and of the next state after the joint action a, there is one sum for each agent m of the team, of

    log( mean_b L(b) / L(foretold) ),   where b is what was foretold but for what agent m does,

each the logarithm of a likelihood ratio, whose expectation stays at most 1 while the hypothesis is true. Where one of
them is above log 1000 the hypothesis is refuted: by Ville's inequality, with an error of at most 1/1000 for each agent
where the model's likelihoods are the true ones. Where all are below −log 1000 it is confirmed, if so are the sums over
steps whose plan follows from rewards, and not from ties, which are alike for any rewards; steps whose plan follows from
hope are left out. Then it takes all episodes, T before Z. All agents of a true hypothesis have the same sums, and so
decide together; what an agent did itself tells it nothing of the others, so the sum of each other one must speak. Noise
of rewards is taken as Gaussian, with one variance that is estimated from rewards of the same joint action. What has not
followed a joint action yet is as likely as it is in that state after any.

Until something is confirmed, T, Z and G take turns by the schedule, and only known joint actions are counted. T and Z,
once confirmed, plan on foretold ones too; once both are refuted, G on next states of inferred ones. Each has counts of
its own: what is confirmed may be refuted after all. The test looks at known ones only.

Where there are too many joint actions for all of this, agents take turns to move instead (`seeded_turns.py`).

Guarantees: none are proven beyond that of the test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import pick, share
from tacit.core import check, generics
from tacit.core.elementary import exp, log
from tacit.core.memory import lock
from tacit.core.records import NONNEGATIVE, Fields, capacity, index, record, records
from tacit.core.types import FloatArray, IntArray
from tacit.learners import joint_model, seeded_turns
from tacit.learners.joint_model import (
    LIMIT,
    Scratch,
    compare_move,
    compare_reward,
    count_move,
    explored,
    foresee,
    mean_reward,
    meet,
    reward_variance,
)
from tacit.learners.seeded_plans import FIRM, GENERAL, OPPOSED, PROBE, TEAM, part, plan, view
from tacit.learners.seeded_turns import TurnsState
from tacit.learners.spec import Learner, World

#: Episodes that only probe: the first of them, and later one in so many.
HEAD, RARE = 20, 10
#: Steps that explore by joint actions from the common seed, at most.
MOST = 0.2
#: No likelihood of a reward is smaller than this.
UNLIKELY = 1e-4


@dataclass(frozen=True)
class ModelSeeded(Learner):
    """Agents that model and plan with a common seed, and are told of each other: nothing to choose.

    Parameters
    ----------
    steps : str
        "auto" keeps a model for each step and one for all, and lets the counts decide; "shared" or "own" keep only the
        latter or the former, where it is known whether the game changes from step to step.
    successors : int
        Next states of a joint action that an agent remembers. With J joint actions, rounded up to 4, 8, 16, …, a model
        takes J·(32 + 12·successors) bytes for each state and agent, three times for two agents and twice for more, and
        H + 1 times that for "auto".
    joint : int
        Joint actions up to which agents model them. Where there are more, they take turns to move
        (`seeded_turns.py`), any number of agents, and the other parameters have no meaning.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("good-state"), "model-seeded", episodes=500)
    >>> run.gap, run.values.round(2)
    (0.0, array([45.5, 45.5]))
    """

    steps: str = "auto"
    successors: int = 16
    joint: int = 4096

    def __post_init__(self) -> None:
        check.choice("steps", self.steps, ["auto", "shared", "own"])
        check.integer("successors", self.successors, least=1, most=1 << 20)
        check.integer("joint", self.joint, least=0, most=1 << 20)

    @property
    def informed(self) -> bool:
        """Its agents know of each other, and have a seed in common."""
        return True

    @property
    def rangeless(self) -> bool:
        """Rewards enter as they are."""
        return True

    @property
    def recent(self) -> bool:
        """It averages its iterates."""
        return True

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        if math.prod(world.team) > self.joint:
            return {"joint": self.joint, "agents": "take turns"}
        return {"steps": self.steps, "successors": self.successors, "joint": self.joint}

    def init(self, world: World) -> SeededState | TurnsState:
        """Make the state of all agents, or of one of the team."""
        H, S, N, team = world.horizon, world.states, world.agents, world.team
        J, A = math.prod(team), capacity(max(team))
        if self.joint < J:
            return seeded_turns.init(world)
        steps = {"auto": H + 1, "own": H, "shared": 1}[self.steps]
        model = records(
            (steps, S, N),
            model_fields(joint_model.rows_for(J), self.successors, 3 if len(team) == 2 else 2),
            "the agents' models of the world",
        )
        cells = records((H, S, N), cell_fields(len(team), A, J))
        for m, size in enumerate(team):
            cells["belief"][:, :, :, m, :size] = 1.0 / size
            if m < 2:
                cells["opposed"][:, :, :, :, m, :size] = cells["opposed_average"][:, :, :, m, :size] = 1.0 / size
        for i in range(N):
            size = team[world.first + i]
            cells["prob"][:, :, i, :size] = cells["average"][:, :, i, :size] = 1.0 / size
        agents = records((N,), agent_fields(len(team)))
        agents["due"], agents["look"], agents["low"], agents["high"] = HEAD, 2 * HEAD, 1e300, -1e300
        agents["evidence"][:, 1] = 0.0 if len(team) == 2 else 2 * LIMIT
        agents["refuted"][:, 1] = len(team) != 2
        if len(team) == 1:
            agents["mode"], agents["confirmed"][:, 0], agents["evidence"][:, 0] = TEAM, 1, FIRM
        strides = [math.prod(team[m + 1 :]) for m in range(len(team))]
        return SeededState(
            cells=cells,
            model=model,
            returns=records((H, N), [("reward", "f8"), ("most", "f8"), ("least", "f8")]),
            agents=agents,
            likely=np.zeros(J),
            scratch=joint_model.make_scratch(S, 4, J, max(len(team), 2), A),
            actions=lock(np.array(team)),
            strides=lock(np.array(strides)),
            rows=J,
            first=world.first,
            seed=fold(world.seed),
            horizon=H,
        )


def cell_fields(team: int, actions: int, joint: int) -> Fields:
    """Return what an agent remembers at a step and state."""
    return [
        ("choice", index(joint)),  # T: the joint action to try
        ("answer", index(joint + 1)),  # T: 1 + the best joint action of those that were met, 0 for none
        ("sharp", index(3)),  # T: 1 if that is what is tried, 2 if it is better than all others too
        ("opposed", NONNEGATIVE, (2, 2, actions)),  # Z: what both play with hope, and what they answer without
        ("opposed_regret", NONNEGATIVE, (2, 2, actions)),
        ("opposed_average", NONNEGATIVE, (2, actions)),  # of answers
        ("prob", NONNEGATIVE, actions),  # G
        ("regret", NONNEGATIVE, actions),
        ("average", NONNEGATIVE, actions),
        ("deficit", "f8", actions),  # how often each should have been played in this stage, less how often it was
        ("inferred", NONNEGATIVE, (team, actions)),  # how often the others seem to have played each in this stage
        ("belief", NONNEGATIVE, (team, actions)),  # what they played in the stages before
        ("visits", "i8"),  # of this stage
        ("total", "i8"),  # of the stages before
        ("stages", "i8"),
        ("weight", NONNEGATIVE),  # of all iterates in the average
    ]


def model_fields(rows: int, successors: int, plans: int) -> Fields:
    """Return what an agent remembers of a state, at a step or at all steps."""
    counts = [
        *joint_model.fields(rows, successors),
        ("known", "i4", rows),  # visits with this joint action from the common seed
        ("sure", joint_model.WEIGHT, (rows, successors)),  # next states of those visits
    ]
    return [*joint_model.MET, ("counts", record(counts), plans)]  # of G, T and Z


def agent_fields(team: int) -> Fields:
    """Return what an agent remembers besides."""
    return [
        ("episodes", "i8"),  # k
        ("kind", index(4)),  # of this episode, by the schedule
        ("mode", index(4)),  # what the agent believes
        ("due", "i8"),  # k of the next plan
        ("look", "i8"),  # k from which on the agent next decides what to believe
        ("plans", "i8"),
        ("sweeps", "i8"),
        ("met", "i8"),  # states that were met
        ("links", "f8"),  # next states of known joint actions
        ("spent", "f8"),  # products of all plans, for each step
        *joint_model.ERRORS,
        ("evidence", "f8", (2, team)),  # against T and Z, by what each agent of the team seems to have done
        ("telling", "f8", (2, team)),  # that of it from where a plan follows from rewards
        ("confirmed", index(2), 2),  # whether they are
        ("refuted", index(2), 2),
        ("own", index(2)),  # whether steps differ
        ("apart", "f8"),  # evidence of that in next states
    ]


class SeededState(NamedTuple):
    """All agents' models, plans and beliefs."""

    cells: Any  # [H, S, N]
    model: Any  # [H+1, S, N], [H, S, N] or [1, S, N]
    returns: Any  # [H, N]
    agents: Any  # [N]
    likely: FloatArray  # [J]  scratch
    scratch: Scratch
    actions: IntArray  # [n]  of all agents of the team
    strides: IntArray  # [n]  what one more of an agent's action adds to the number of the joint action
    rows: int  # J
    first: int  # the number in the team of the first agent here
    seed: int  # the common one, folded
    horizon: int


# the common seed and the schedule ------------------------------------------------------------------------------------


def fold(seed: int) -> int:
    """Return a number below 2³¹ − 1 that stands for a seed of any size, so that products stay below 2⁶³.

    >>> fold(7), fold(2**64)
    (8, 13)
    """
    return (seed % 2147483647 + seed // 2147483647 + 1) % 2147483647


@generics.jitable
def stir(x):
    """Return a number below 2³¹ − 1 that depends on another in no simple way; products stay below 2⁶³."""
    x = (x * 1583458089 + 1) % 2147483647
    x = x ^ (x >> 15)
    x = (x * 784588716 + 1) % 2147483647
    return x ^ (x >> 13)


@generics.apart
def common(learner, k, h, number):
    """Return a uniform number in [0, 1) that all agents know, by the seed, the episode, the step and its own number."""
    x = stir(learner.seed)
    x = stir(x + k % 2147483647)
    x = stir(stir(x + h) + number)
    return x / 2147483648.0


@generics.jitable
def schedule(learner, k):
    """Return what episode k is for."""
    x = common(learner, k, learner.horizon, 0)
    if k < HEAD or x * RARE < 1.0:
        return PROBE
    x = common(learner, k, learner.horizon, 1)
    return TEAM if x < 0.3 else OPPOSED if x < 0.7 else GENERAL


@generics.jitable
def role_of(me):
    """Return what an agent does in this episode: a plan that is confirmed takes over, T before Z."""
    if me.kind == PROBE:
        return PROBE
    if me.mode == TEAM or me.mode == OPPOSED:
        return me.mode
    return GENERAL if me.kind != GENERAL and me.refuted[me.kind - 1] == 1 else me.kind


@generics.apart
def told(learner, i, h, s):
    """Return the joint action that the common seed says, −1 where agents play as they have planned."""
    me = learner.agents[i]
    k, rows = me.episodes, learner.rows
    if me.kind != PROBE and common(learner, k, h, 0) >= explored(k, MOST):
        return -1
    chosen = min(int(common(learner, k, h, 1) * rows), rows - 1)
    if me.kind == PROBE and common(learner, k, learner.horizon, 2) < 0.5:  # the one that is known least
        known = learner.model[min(h, learner.model.shape[0] - 1), s, i].counts[0].known
        first = chosen
        for d in range(1, rows):
            j = first + d if first + d < rows else first + d - rows
            if known[j] < known[chosen]:
                chosen = j
    return chosen


@generics.apart
def foretold(learner, i, h, s, role):
    """Return the joint action of T or Z."""
    cell, k = learner.cells[h, s, i], learner.agents[i].episodes
    if role == TEAM:
        return cell.choice
    first = pick(cell.opposed[0, 0], 1.0, learner.actions[0], common(learner, k, h, 2))
    second = pick(cell.opposed[0, 1], 1.0, learner.actions[1], common(learner, k, h, 3))
    return first * learner.strides[0] + second


# acting and answering ------------------------------------------------------------------------------------------------


@generics.act.implement(SeededState)
def act(learner, i, h, s, u):
    """Play one's part of a joint action that all know or that is foretold; otherwise draw what the stage lacks."""
    m, role = learner.first + i, role_of(learner.agents[i])
    joint = told(learner, i, h, s)
    if joint < 0 and role != GENERAL:
        joint = foretold(learner, i, h, s, role)
    if joint >= 0:
        return part(learner, joint, m)
    cell, n, total = learner.cells[h, s, i], learner.actions[m], 0.0
    for a in range(n):
        total += max(0.0, cell.prob[a] + cell.deficit[a])
    left = u * total
    for a in range(n - 1):
        left -= max(0.0, cell.prob[a] + cell.deficit[a])
        if left < 0.0:
            return a
    return n - 1


@generics.weigh.implement(SeededState)
def weigh(learner, i, h, s, out):
    """Write the plan that the agent believes in."""
    cell, m, mode = learner.cells[h, s, i], learner.first + i, learner.agents[i].mode
    n = learner.actions[m]
    if mode == TEAM:
        for a in range(n):
            out[a] = 1.0 / n if cell.answer == 0 else 1.0 if part(learner, cell.answer - 1, m) == a else 0.0
    elif mode == OPPOSED:
        share(cell.opposed[1, m], 1.0, n, out)
    else:
        share(cell.prob, 1.0, n, out)


@generics.average.implement(SeededState)
def average(learner, i, h, s, out):
    """Write the average of the iterates of that plan."""
    cell, m, mode = learner.cells[h, s, i], learner.first + i, learner.agents[i].mode
    n = learner.actions[m]
    if mode == TEAM:
        generics.weigh(learner, i, h, s, out)
    elif mode == OPPOSED:
        share(cell.opposed_average[m], 1.0, n, out)
    else:
        share(cell.average, 1.0, n, out)


# learning ------------------------------------------------------------------------------------------------------------


@generics.learn.implement(SeededState)
def learn(learner, i, h, s, a, r, s_next):
    """Count the step, or test and infer by it; after the last of a batch, plan."""
    me, m, last = learner.agents[i], learner.first + i, h + 1 == learner.horizon
    meet(learner.model, i, me, s)
    if not last:
        meet(learner.model, i, me, s_next)
    me.low, me.high = min(me.low, r), max(me.high, r)
    role, joint = role_of(me), told(learner, i, h, s)
    if joint >= 0:
        joint += (a - part(learner, joint, m)) * learner.strides[m]
        compare_steps(learner, i, h, s, joint, r, s_next)
        count(learner, i, h, s, joint, r, s_next, PROBE)
    elif role == GENERAL:
        infer(learner, i, h, s, a, r, s_next)
        cell = learner.cells[h, s, i]
        cell.visits += 1
        for b in range(learner.actions[m]):
            cell.deficit[b] += cell.prob[b]
        cell.deficit[a] -= 1.0
    else:
        joint = foretold(learner, i, h, s, role)
        joint += (a - part(learner, joint, m)) * learner.strides[m]
        if me.kind == role:
            weigh_evidence(learner, i, h, s, joint, r, s_next, role)
        if me.confirmed[role - 1] == 1 and is_paid_so(learner, i, h, s, joint, r, role):
            count(learner, i, h, s, joint, r, s_next, role)
    learner.returns[h, i].reward = r
    if last:
        gained = 0.0
        for d in range(learner.horizon):  # the largest and the least return from each step on
            own = learner.returns[learner.horizon - 1 - d, i]
            gained += own.reward
            own.most = max(own.most, gained) if me.episodes > 0 else gained
            own.least = min(own.least, gained) if me.episodes > 0 else gained
        me.episodes += 1
        if me.episodes >= me.due:
            plan(learner, i)
        me.kind = schedule(learner, me.episodes)


@generics.jitable
def level_of(learner, h, k):
    """Return where the model of a step is, k = 0, or that of all steps, k = 1; −1 where there is none."""
    steps = learner.model.shape[0]
    return min(h, steps - 1) if k == 0 else learner.horizon if steps > learner.horizon else -1


@generics.apart
def count(learner, i, h, s, joint, r, s_next, role):
    """Count a joint action, at its step and for all steps: for all plans if all know it, for its own if foretold."""
    steps, known = learner.model.shape[0], 1 if role == PROBE else 0
    for k in range(2):
        level = level_of(learner, h, k)
        plans = learner.model[max(level, 0), s, i].counts
        for which in range(len(plans) if level >= 0 else 0):
            if role in (PROBE, which):
                here = plans[which]
                here.known[joint] += known
                here.reward[joint, 0] += r
                here.seen[joint] += 1.0
                if h + 1 < learner.horizon:
                    fresh = count_next(here, joint, s_next, 1.0, known)
                    if known == 1 and which == 0 and (k == 1 or steps <= learner.horizon):
                        learner.agents[i].links += fresh / steps if steps == learner.horizon else fresh


@generics.apart
def count_next(here, joint, s_next, weight, known):
    """Count a next state; return 1 if it was not known to follow."""
    k = count_move(here, joint, s_next, weight)
    before = float(here.sure[joint, k]) if here.count[joint, k] > weight + 1e-6 else 0.0  # not that of one forgotten
    here.sure[joint, k] = before + known
    return 1.0 if before == 0.0 else 0.0


@generics.jitable
def compare_steps(learner, i, h, s, joint, r, s_next):
    """Compare how the model of the step and that of all steps foretell what is about to be counted."""
    me, by_step = learner.agents[i], level_of(learner, h, 0)
    own = learner.model[by_step, s, i].counts[0]
    every = learner.model[max(by_step, level_of(learner, h, 1)), s, i].counts[0]
    compare_reward(me, own, every, joint, 0, r)
    if h + 1 < learner.horizon:
        me.apart += compare_move(own, own.sure, every, every.sure, joint, s_next, me.met)


@generics.jitable
def noise_of(learner, i):
    """Return the variance of rewards of the same joint action."""
    me = learner.agents[i]
    return reward_variance(me, 0 if learner.model.shape[0] == learner.horizon or me.own == 1 else 1)


@generics.apart
def likelihood(learner, h, here, joint, r, s_next, noise, prior):
    """Return how likely a reward and a next state are after a joint action that was met; rewards by their kernel."""
    found, seen = 1.0, here.seen[joint]
    if noise > 0.0:
        error = r - mean_reward(here, joint, 0)
        found = max(UNLIKELY, exp(max(-50.0, -0.5 * error * error / (noise * (1.0 + 1.0 / seen)))))
    if h + 1 < learner.horizon:
        found *= foresee(here, here.sure, joint, joint + 1, s_next, prior)
    return found


@generics.jitable
def chance_of(learner, i, here, s_next):
    """Return the probability of a next state whatever is done: what follows rarely does not tell of another action."""
    return foresee(here, here.sure, 0, learner.rows, s_next, 1.0 / learner.agents[i].met)


@generics.apart
def weigh_evidence(learner, i, h, s, joint, r, s_next, role):
    """Add to the evidence against a hypothesis; where it is true, all agents have the same and decide together."""
    me, here, clear = learner.agents[i], view(learner, i, h, s, role), clarity(learner, i, h, s, role)
    if here.known[joint] == 0 or clear == 0:
        return
    noise, prior = noise_of(learner, i), chance_of(learner, i, here, s_next)
    expected = likelihood(learner, h, here, joint, r, s_next, noise, prior)
    for m in range(len(learner.actions)):
        total, rows, first = 0.0, 0, joint - part(learner, joint, m) * learner.strides[m]
        for a in range(learner.actions[m]):
            j = first + a * learner.strides[m]
            if here.known[j] > 0:
                total += expected if j == joint else likelihood(learner, h, here, j, r, s_next, noise, prior)
                rows += 1
        ratio = log(total / rows / expected)
        me.evidence[role - 1, m] = max(FIRM, me.evidence[role - 1, m] + ratio)
        if clear == 2:
            me.telling[role - 1, m] = max(FIRM, me.telling[role - 1, m] + ratio)


@generics.jitable
def clarity(learner, i, h, s, role):
    """Return 0 where a plan follows from hope, 1 from ties too, which are alike for any rewards, and 2 from rewards."""
    cell, here, total = learner.cells[h, s, i], view(learner, i, h, s, role), 0.0
    if role == TEAM:
        return cell.sharp
    for j in range(learner.rows):
        if here.known[j] == 0:
            return 0
    for z in range(2):
        for a in range(learner.actions[z]):
            total += cell.opposed_regret[0, z, a]
    return 2 if total > 0.0 else 0


@generics.jitable
def is_paid_so(learner, i, h, s, joint, r, role):
    """Return whether a reward can be that of a joint action."""
    here = view(learner, i, h, s, role)
    error = r - mean_reward(here, joint, 0)
    return here.seen[joint] <= 0.0 or error * error <= 36.0 * noise_of(learner, i)


@generics.apart
def infer(learner, i, h, s, a, r, s_next):
    """Infer what the others did, from their play so far and what came of it."""
    me, m, here, cell = learner.agents[i], learner.first + i, view(learner, i, h, s, GENERAL), learner.cells[h, s, i]
    noise, team, likely, total = noise_of(learner, i), len(learner.actions), learner.likely, 0.0
    prior = chance_of(learner, i, here, s_next)
    for j in range(learner.rows):
        if part(learner, j, m) == a:
            chance = 1.0
            for k in range(team):
                if k != m:
                    chance *= cell.belief[k, part(learner, j, k)] + 0.02
            known = here.known[j] > 0
            likely[j] = chance * (likelihood(learner, h, here, j, r, s_next, noise, prior) if known else 0.2)
            total += likely[j]
    for j in range(learner.rows):
        if part(learner, j, m) == a:
            weight = likely[j] / total
            for k in range(team):
                if k != m:
                    cell.inferred[k, part(learner, j, k)] += weight
            if me.mode == GENERAL and weight > 1e-3 and here.seen[j] > 0.0 and h + 1 < learner.horizon:
                for k in range(2):
                    if level_of(learner, h, k) >= 0:
                        count_next(learner.model[level_of(learner, h, k), s, i].counts[0], j, s_next, weight, 0)
