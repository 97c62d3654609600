"""The certificate of V-learning's output policy, computed while learning.

For each agent i, step h and state s it keeps the pair (V, V†): the value of the certified policy π̄ and an upper bound
on what a deviating agent can get. At each visit of (h, s), before anybody learns, with μ the agents' distributions,

    v_i    ← average of E_μ[r_i + P·V_{h+1,i}](s)                                and
    cce:  q_i(a)    ← average of E_{a_-i ~ μ_-i}[r_i + P·V†_{h+1,i}](s, a, a_-i)
    ce:   q_i(b, a) ← average of μ_i(b)·E_{a_-i ~ μ_-i}[r_i + P·V†_{h+1,i}](s, a, a_-i)

where the learner's `averaging` says how to average and when the averages take effect: then V ← v, and V† ← max_a q(a)
or Σ_b max_a q(b, a). This is the first inequality in the proof of [Mao2022, lemma:upperbound] with the true model in
place of samples: the deviator of the bound learns the hidden index after each step, so the bound is an upper one.

After K episodes the gap of π̄ is at most Σ_s ρ(s)·[max_a (1/K)·Σ_k q^k(a) − (1/K)·Σ_k V^k](s), with q^k and V^k in
force when episode k begins. The vectors of the first step are averaged over k before the maximum is taken, since the
deviator does not know k: for H = 1 the bound is exact.

A certificate at every visit may cost more than learning, and a record of all visits more memory than there is. But any
choice of visits makes a policy: at each (h, s) it draws one of the visits that were kept of the last stage that had
ended, and plays what the agents had there. So M visits of each stage may be kept, evenly spaced, and certificate and
record look at those alone. The certificate is exact for the policy that is made of them, whatever the learner's own
averages are; its cost grows with the logarithm of the number of episodes. Every agent can choose the same visits on its
own, and keeps only its own distributions there.

At a visit of a tabular game, first come the payoffs of every joint action, r_i + P·V_i and r_i + P·V†_i for all agents
beside each other: they change only when a value of the next step does, so small games keep them from visit to visit.
Then the agents are contracted one by one, the last first: what is left after agent j is

    X(a_1 … a_{j-1}) = Σ_a μ_j(a)·X(a_1 … a_{j-1}, a),  and agent j itself gets  q_j(a) += μ_1⋯μ_{j-1}·X_j(…, a).

So a visit costs about one multiplication for each agent and joint action, and joint actions in which two agents play
with probability 0 cost none. Averages over a stage need less: v and q are linear in the joint distribution μ_1⋯μ_N, so
its sum over the visits since the payoffs changed is enough, and payoffs are multiplied with it when they change again.

Deviations: where no average has taken effect yet, the policy is uniform to the end of the episode, and V and V† are
the values of that instead of the bounds 0 and H − h + 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from tacit.core import generics, memory
from tacit.core.compilation import compile_loop
from tacit.core.elementary import dot
from tacit.core.generics import pairs, plain, put
from tacit.core.memory import lock
from tacit.core.records import capacity, records
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.values import backward, shift_rewards
from tacit.games.exact import ExactGame
from tacit.games.kernels import CountTables, GameTables, write_induced
from tacit.games.protocol import Game
from tacit.games.tabular import TabularGame, as_tables
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import stage_lengths

#: Payoffs are kept from visit to visit where they take at most this many bytes: they should stay in a core's cache.
KEPT_BYTES = 1 << 20


def bound_source(game: ExactGame) -> str:
    """Return what a gap of a certified policy is. In a game of one step the bound is the gap itself."""
    return "exact" if game.horizon == 1 else "certificate"


class Schedule(NamedTuple):
    """Where each (h, s) is in its stages. [Mao2022, Sec. 3.1]"""

    stage: IntArray  # [C]  stages that have ended
    passed: IntArray  # [C]  visits of the running stage so far
    kept: IntArray  # [C]  those of them that are kept
    length: IntArray  # [J]  of each stage, as far as the run can get
    most: int  # M; 0 keeps all visits


def schedule(game: Game, episodes: int, most: int) -> Schedule:
    """Make the schedule of a run that keeps `most` visits of each stage."""
    C = game.horizon * game.states
    lengths = stage_lengths(game.horizon, episodes)
    stage, passed, kept = np.zeros((3, C), dtype=np.int64)
    return Schedule(stage.copy(), passed.copy(), kept.copy(), lock(np.append(lengths, np.iinfo(np.int64).max)), most)


def _every_visit() -> Schedule:
    """Return the schedule that keeps all visits, and leaves the stages to the learner."""
    nothing = np.zeros(0, dtype=np.int64)
    return Schedule(nothing, nothing.copy(), nothing.copy(), lock(nothing.copy()), 0)


def visits_to_certify(game: Game, episodes: int, most: int) -> int:
    """Return how many visits are kept at most. No (h, s) is visited more than once an episode.

    >>> import tacit
    >>> visits_to_certify(tacit.make("good-state", horizon=2), 12, 2)
    32
    """
    return game.horizon * game.states * int(np.minimum(stage_lengths(game.horizon, episodes), most).sum())


@generics.jitable
def is_kept(times, c):
    """Return whether the visit of cell c that is about to happen is kept. They lie evenly within the stage."""
    length = times.length[times.stage[c]]
    most = min(times.most, length)
    return times.kept[c] < most and times.passed[c] == ((2 * times.kept[c] + 1) * length) // (2 * most)


@generics.jitable
def pass_by(times, c, keep):
    """Count a visit of cell c. Return whether it ends the stage, and how many visits of it were kept."""
    times.passed[c] += 1
    if keep:
        times.kept[c] += 1
    kept = times.kept[c]
    ends = times.passed[c] == times.length[times.stage[c]]
    if ends:
        times.stage[c] += 1
        times.passed[c] = 0
        times.kept[c] = 0
    return ends, kept


class Payoffs(NamedTuple):
    """Payoffs of joint actions, first for the policy, then for deviating, and scratch arrays."""

    rewards: FloatArray  # [rows, N]  of the game, agents beside each other
    table: FloatArray  # [C or 1, joint actions, 2·N]
    version: IntArray  # [C]  changes of the next step's values when the table was computed
    changes: IntArray  # [H+1]  of the values of each step, from 1 on
    left: FloatArray  # [joint actions without the last agent's, 2·N]  where agents are many
    prob: FloatArray  # [1 + A_1 + A_1·A_2 + …]  of the first agents' joint actions


def payoffs(game: ExactGame) -> Payoffs:
    """Allocate the payoffs of a game; a counting game needs none."""
    N, H, C = game.agents, game.horizon, game.horizon * game.states
    rewards, joint, first = np.zeros((0, N)), 0, [1]
    tables = as_tables(game)
    if tables is not None:
        memory.require(tables.rewards.nbytes, "the rewards, a second time for the certificate")
        rewards, joint = np.ascontiguousarray(tables.rewards.reshape(N, -1).T), game.joint_actions
        first = [math.prod(game.actions[:j]) for j in range(N)]
    stored = memory.floats(C, joint, 2 * N) <= KEPT_BYTES
    return Payoffs(
        rewards=lock(rewards),
        table=memory.zeros((C if stored else 1, joint, 2 * N), "the payoffs"),
        version=np.zeros(C, dtype=np.int64),
        changes=np.ones(H + 1, dtype=np.int64),
        left=np.zeros((first[-1], 2 * N)),
        prob=np.zeros(sum(first)),
    )


class Certificate(NamedTuple):
    """The running certificate. B is 1 for cce, and the number of actions for ce (recommended actions b)."""

    V: FloatArray  # [H+1, S, N]  value of the policy
    best: FloatArray  # [H+1, S, N]  V†
    cells: Any  # [H, S, N]  v: running average of the value; q: of the deviations'; where `joint` waits, their sums
    first: Any  # [S, N]  q: in force at the first step; q_sum: Σ_k q^k, v_sum: Σ_k V^k, up to `since`
    since: IntArray  # [S]  episode from which what is in force counts
    clock: IntArray  # [1]  episodes that have begun
    times: Schedule  # which visits are kept
    mu: FloatArray  # [N, A]  scratch: the distributions
    reads: tuple[int, ...]  # one entry for an own look at the distributions; () where the record has written them to mu
    gain: FloatArray  # [N, A]  scratch: the deviations' values
    value: FloatArray  # [N]  scratch: the values
    payoffs: Payoffs  # of joint actions, where the game has tables
    joint: FloatArray  # [C, joint actions]  Σ μ_1⋯μ_N since the payoffs changed; [0] where every visit is contracted


def certificate(
    game: ExactGame,
    kind: str,
    *,
    averaging: str = "rate",
    times: Schedule | None = None,
    mu: FloatArray | None = None,
) -> Certificate:
    """Make the certificate before learning, for the visits of a schedule or for all.

    With averaging "stage" the averages must be means of stages, which cost less; "rate" takes any. A record that looks
    at the same visits just before shares its scratch array `mu` [N, A].
    """
    N, H, S, A = game.agents, game.horizon, game.states, max(game.actions)
    B = A if kind == "ce" else 1
    shape = (capacity(A) if kind == "ce" else 1, capacity(A))
    cells = records((H, S, N), [("v", "f8"), ("q", "f8", shape)], "the certificate")
    first = records((S, N), [("v_sum", "f8"), ("q", "f8", shape), ("q_sum", "f8", shape)], "the certificate")
    scratch = payoffs(game)
    waits = averaging == "stage" and len(scratch.table) == H * S and scratch.table.size > 0
    V, best, first["q"][:, :, :B, :A] = _uniform_values(game, B)
    return Certificate(
        V=V,
        best=best,
        cells=cells,
        first=first,
        since=np.zeros(S, dtype=np.int64),
        clock=np.zeros(1, dtype=np.int64),
        times=_every_visit() if times is None else times,
        mu=np.zeros((N, A)) if mu is None else mu,
        reads=(0,) if mu is None else (),
        gain=np.zeros((N, A)),
        value=np.zeros(N),
        payoffs=scratch,
        joint=np.zeros((H * S, game.joint_actions)) if waits else np.zeros(0),
    )


def _uniform_values(game: ExactGame, B: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the uniform policy's V and V† [H+1, S, N], and its first q [S, N, B, A]."""
    N, H, S, A = game.agents, game.horizon, game.states, max(game.actions)
    possible = _recommendable(game, B)  # [N, B]
    V, best, first_q = np.zeros((H + 1, S, N)), np.zeros((H + 1, S, N)), np.zeros((S, N, B, A))
    for step in backward(game, MarkovPolicy.uniform(game).at, "nash"):
        V[step.h], best[step.h] = step.V.T, step.best.T
    first_q[:] = np.swapaxes(step.gains, 0, 1)[:, :, None] * (possible / possible.sum(axis=1, keepdims=True))[..., None]
    return V, best, first_q * (np.arange(A) < np.array(game.actions)[:, None, None])


def _recommendable(game: ExactGame, B: int) -> FloatArray:
    """Return 1 for each action that can be recommended to an agent, [N, B]. With B = 1, for one of them."""
    sizes = np.array(game.actions) if B > 1 else np.ones(game.agents)
    return (np.arange(B) < sizes[:, None]).astype(float)


@generics.observe.implement(Certificate)
def observe(cert, learner, game, seats, h, s):
    """Add the visit of (h, s) if it is kept. At the end of a stage, publish the averages.

    Where all visits are kept, the learner says how they are averaged and when that takes effect.
    """
    c = h * game.states + s
    if h == 0:
        cert.clock[0] += 1
    if cert.times.most == 0:
        keep = True
        alpha, publish = generics.averaging(learner, h, s)
        last = alpha
    else:
        keep = is_kept(cert.times, c)
        alpha = 1.0 / (cert.times.kept[c] + 1.0)
        publish, kept = pass_by(cert.times, c, keep)
        last = 1.0 / max(kept, 1)
    if keep:
        read_policies(cert.reads, learner, game, seats, h, s, cert.mu)
        add(cert.joint, cert, game, seats, h, s, alpha)
    if publish:
        take_effect(cert, game, seats, h, s, last)


@generics.apart
def take_effect(cert, game, seats, h, s, last):
    """Let the averages of (h, s) take effect; the last visit has the weight `last`."""
    complete(cert.joint, cert, game, seats, h, s, last)
    cert.payoffs.changes[plain(h)] += 1
    lasted = 0
    if h == 0:
        lasted = cert.clock[0] - cert.since[plain(s)]
        cert.since[plain(s)] = cert.clock[0]
    for i in range(len(seats)):
        n, cell = game.actions[i], cert.cells[plain(h), plain(s), i]
        if h == 0:
            count_first(cert.first[plain(s), i], cell, cert.V[0, plain(s), i], n, lasted)
        cert.V[plain(h), plain(s), i] = cell.v
        cert.best[plain(h), plain(s), i] = best_deviation(cell, n)


def _read(reads, learner, game, seats, h, s, mu):
    """Write all agents' distributions into mu [N, A], rounded as they would be stored."""
    for i in range(len(seats)):
        generics.policy(learner, i, h, s, mu[i])
        round_to_stored(mu[i], game.actions[i])


def _trust(reads, learner, game, seats, h, s, mu):
    """Do nothing: the record has written them."""


def _add_now(joint, cert, game, seats, h, s, alpha):
    """Average the payoffs of a visit into each agent's v and q."""
    generics.induced_payoffs(game, cert, seats, h, s)
    for i in range(len(seats)):
        cell = cert.cells[plain(h), plain(s), i]
        add_visit(cell, cert.value[i], cert.gain[i], cert.mu[i], game.actions[i], alpha)


def _add_later(joint, cert, game, seats, h, s, alpha):
    """Add a visit's joint distribution to those that wait for payoffs to change."""
    N, c = len(seats), h * game.states + s
    if alpha == 1.0:  # the first visit of a stage
        for i in range(N):
            clear(cert.cells[plain(h), plain(s), i], game.actions[i])
    if is_stale(cert.payoffs, h, c):
        renew_table(joint, cert, game, seats, h, s)
    add_distribution(seats, joint[plain(c)], cert, game)


@generics.apart
def renew_table(joint, cert, game, seats, h, s):
    """Multiply the payoffs of (h, s) with what waits for them, and compute them again."""
    c = h * game.states + s
    multiply(seats, joint[plain(c)], cert.payoffs.table[plain(c)], cert.cells[plain(h), plain(s)], game)
    fill_table(cert, game, seats, h, s, cert.payoffs.table[plain(c)])


def _add_few(seats, row, cert, game):
    """Walk over the joint actions as over a tree, whose depth the compiler knows."""
    most = cert.first[0, 0].q.shape[1]
    add_products(seats, row, cert.mu, game.actions, most, game.strides, 0, 1.0)


def _add_many(seats, row, cert, game):
    """Go through joint actions of all agents but the last, then its actions."""
    last = len(seats) - 1
    begin, count = write_prefix_probs(cert, game, len(seats))
    for before in range(count):
        prob = cert.payoffs.prob[plain(begin + before)]
        for a in range(game.actions[last]):
            row[plain(before * game.actions[last] + a)] += prob * cert.mu[last, a]


def _add_product(left, joint, mu, actions, most, strides, row, prob):
    """Add the probability of a joint action."""
    joint[plain(row)] += prob


def _add_products(left, joint, mu, actions, most, strides, row, prob):
    """Add the probabilities of joint actions in which earlier agents' actions lead to `row`."""
    j = len(strides) - len(left)
    stride = 1 if len(left) == 1 else strides[j]
    for a in range(min(actions[j], most)):
        add_products(left[1:], joint, mu, actions, most, strides, row + a * stride, prob * mu[j, a])


def _complete_now(joint, cert, game, seats, h, s, last):
    """Do nothing: v and q are averages already."""


def _complete_later(joint, cert, game, seats, h, s, last):
    """Make v and q the means of a stage. Its last visit has the weight `last`."""
    c = h * game.states + s
    multiply(seats, joint[plain(c)], cert.payoffs.table[plain(c)], cert.cells[plain(h), plain(s)], game)
    for i in range(len(seats)):
        scale(cert.cells[plain(h), plain(s), i], game.actions[i], last)


@generics.jitable
def multiply(seats, joint, table, cells, game):
    """Add Σ_a joint(a)·payoffs(a) to all agents' v and q, and set `joint` to 0."""
    N = len(seats)
    for i in range(N):
        cell, n, stride = cells[i], game.actions[i], game.strides[i]
        recommends = cell.q.shape[0] > 1
        for j in range(game.joint_actions // n):
            first = j // stride * n * stride + j % stride  # where agent i plays 0 and the others as in j
            total = 0.0
            for b in range(n):
                prob = joint[plain(first + b * stride)]
                total += prob
                cell.v += prob * table[plain(first + b * stride), i]
                if recommends and prob > 0.0:
                    for a in range(n):
                        cell.q[b, a] += prob * table[plain(first + a * stride), N + i]
            if not recommends:
                for a in range(n):
                    cell.q[0, a] += total * table[plain(first + a * stride), N + i]
    for j in range(game.joint_actions):
        joint[plain(j)] = 0.0


@generics.jitable
def clear(cell, n):
    """Set v and q to 0."""
    cell.v = 0.0
    for b in range(n if cell.q.shape[0] > 1 else 1):
        for a in range(n):
            cell.q[b, a] = 0.0


@generics.jitable
def scale(cell, n, factor):
    """Multiply v and q by a factor."""
    cell.v *= factor
    for b in range(n if cell.q.shape[0] > 1 else 1):
        for a in range(n):
            cell.q[b, a] *= factor


@generics.jitable
def add_visit(cell, value, gain, mu, n, alpha):
    """Average the expectations of a visit into an agent's v and q [B, A]."""
    cell.v += alpha * (value - cell.v)
    n = min(n, cell.q.shape[1])  # which it is; so the compiler knows the most that it can be, and unrolls
    if cell.q.shape[0] > 1:
        for b in range(n):
            for a in range(n):
                cell.q[b, a] += alpha * (mu[b] * gain[a] - cell.q[b, a])
    else:
        for a in range(n):
            cell.q[0, a] += alpha * (gain[a] - cell.q[0, a])


@generics.jitable
def count_first(first, cell, value, n, lasted):
    """Add up what was in force at the first step, before q replaces it."""
    first.v_sum += lasted * value
    n = min(n, cell.q.shape[1])
    for b in range(n if cell.q.shape[0] > 1 else 1):
        for a in range(n):
            first.q_sum[b, a] += lasted * first.q[b, a]
            first.q[b, a] = cell.q[b, a]


@generics.jitable
def best_deviation(cell, n):
    """Return V† of the averages q that come into force now."""
    total = 0.0
    n = min(n, cell.q.shape[1])
    for b in range(n if cell.q.shape[0] > 1 else 1):
        top = cell.q[b, 0]
        for a in range(n):
            top = max(top, cell.q[b, a])
        total += top
    return total


@generics.jitable
def round_to_stored(probs, n):
    """Round n probabilities, in place, as storing all but the last in 32 bits does.

    What is certified is what is stored.
    """
    total = 0.0
    for a in range(n - 1):
        probs[a] = np.float64(np.float32(probs[a]))
        total += probs[a]
    complete_stored(probs, n, total)


@generics.jitable
def complete_stored(probs, n, total):
    """Write the last of n probabilities. The others are rounded and add up to `total`."""
    rest = max(1.0 - total, 0.0)
    probs[n - 1] = rest
    scale = total + rest
    if scale != 1.0:  # it nearly always is 1, and a division takes its time
        for a in range(n):
            probs[a] = probs[a] / scale


# what each agent expects at a visit: of all that they play, and of each own action ------------------------------------


def _fill_few(seats, table, rewards, game, h, s, V, best):
    """Compute all agents' payoffs of a joint action at once."""
    N = len(seats)
    row = h * game.transition_stride + s * game.joint_actions
    reward_row = h * game.reward_stride + s * game.joint_actions
    last = h == game.horizon - 1
    for joint in range(game.joint_actions):
        sums = pairs(seats)
        for i in range(N):
            sums = put(sums, i, rewards[plain(reward_row + joint), i])
            sums = put(sums, N + i, rewards[plain(reward_row + joint), i])
        if not last:
            for k in range(game.first[plain(row + joint)], game.first[plain(row + joint + 1)]):
                p, s_next = game.prob[plain(k)], plain(game.state[plain(k)])
                for i in range(N):
                    sums = put(sums, i, sums[i] + p * V[s_next, i])
                for i in range(N):
                    sums = put(sums, N + i, sums[N + i] + p * best[s_next, i])
        for i in range(2 * N):
            table[joint, i] = sums[i]


def _fill_many(seats, table, rewards, game, h, s, V, best):
    """Compute one agent's payoffs after the other's."""
    N = len(seats)
    row = h * game.transition_stride + s * game.joint_actions
    reward_row = h * game.reward_stride + s * game.joint_actions
    last = h == game.horizon - 1
    for joint in range(game.joint_actions):
        begin, end = game.first[plain(row + joint)], game.first[plain(row + joint + 1)]
        if last:
            end = begin
        for i in range(N):
            staying = rewards[plain(reward_row + joint), i]
            deviating = staying
            for k in range(begin, end):
                p, s_next = game.prob[plain(k)], plain(game.state[plain(k)])
                staying += p * V[s_next, i]
                deviating += p * best[s_next, i]
            table[joint, i] = staying
            table[joint, N + i] = deviating


def _contract_few(seats, table, scratch, cert, game):
    """Walk over the joint actions as over a tree, whose depth the compiler knows."""
    most = cert.first[0, 0].q.shape[1]
    for i in range(1, len(seats)):
        for a in range(min(game.actions[i], most)):
            cert.gain[i, a] = 0.0
    value = walk(seats, seats, table, cert.mu, cert.gain, game.actions, most, game.strides, 0, 1.0)
    for i in range(len(seats)):
        cert.value[i] = value[i]


def _leaf(left, seats, table, mu, gain, actions, most, strides, row, prob):
    """Return the payoffs of a joint action."""
    sums = pairs(seats)
    for i in range(2 * len(seats)):
        sums = put(sums, i, table[plain(row), i])
    return sums


def _node(left, seats, table, mu, gain, actions, most, strides, row, prob):
    """Contract the next agent. Its own actions' payoffs are weighted with the probability of the others before."""
    N = len(seats)
    j = N - len(left)
    stride = 1 if len(left) == 1 else strides[j]
    sums = pairs(seats)
    for a in range(min(actions[j], most)):
        p = mu[j, a]
        if len(left) == 1 or p > 0.0 or prob > 0.0:
            below = walk(left[1:], seats, table, mu, gain, actions, most, strides, row + a * stride, prob * p)
            if j == 0:
                gain[j, a] = below[N + j]
            else:
                gain[j, a] += prob * below[N + j]
            for i in range(2 * N):
                sums = put(sums, i, sums[i] + p * below[i])
    return sums


def _contract_many(seats, table, scratch, cert, game):
    """Contract one agent after the other. `prob` holds level after level of the joint actions of the first agents."""
    N = len(seats)
    for i in range(N):
        for a in range(game.actions[i]):
            cert.gain[i, a] = 0.0
    begin, count = write_prefix_probs(cert, game, N)
    contract_agent(table, scratch, cert, game, N, N - 1, begin, count)
    for back in range(1, N):
        j = N - 1 - back
        count //= game.actions[j]
        begin -= count
        contract_agent(scratch.left, scratch, cert, game, N, j, begin, count)
    for i in range(N):
        cert.value[i] = scratch.left[0, i]


@generics.jitable
def write_prefix_probs(cert, game, N):
    """Write the probabilities of joint actions of the first 0, 1, …, N − 1 agents. Return where the last level begins.

    Also return how many there are in it.
    """
    prob = cert.payoffs.prob
    prob[0] = 1.0
    begin, count = 0, 1
    for j in range(N - 1):
        for before in range(count):
            for a in range(game.actions[j]):
                prob[plain(begin + count + before * game.actions[j] + a)] = prob[plain(begin + before)] * cert.mu[j, a]
        begin += count
        count *= game.actions[j]
    return begin, count


@generics.jitable
def contract_agent(rows, scratch, cert, game, N, j, begin, count):
    """Contract agent j. From `rows` [count·A_j, 2·N] to `left` [count, 2·N], which may be the same."""
    for before in range(count):
        prob = scratch.prob[plain(begin + before)]
        out = scratch.left[plain(before)]
        for a in range(game.actions[j]):
            p = cert.mu[j, a]
            row = rows[plain(before * game.actions[j] + a)]
            cert.gain[j, a] += prob * row[N + j]
            if a == 0:
                for i in range(2 * N):
                    out[i] = p * row[i]
            elif p > 0.0:
                for i in range(2 * N):
                    out[i] += p * row[i]


def _dispatch(choose: Callable[[Any], Any]) -> Any:
    """Make a function that runs the kernel which its first argument chooses. By value, or for numba by type."""

    def run(first: Any, *rest: Any) -> Any:
        return choose(first)(first, *rest)

    overload(run, strict=False, jit_options=generics.OPTIONS)(lambda first, *rest: choose(first))
    return run


def _few(seats: Any) -> bool:
    """Return whether the compiler knows the number of agents."""
    return isinstance(seats, tuple | types.BaseTuple)


read_policies = _dispatch(lambda reads: _read if len(reads) else _trust)
#: Add a visit with its weight: `joint` says whether payoffs are multiplied now or when they change.
add = _dispatch(lambda joint: _add_later if joint.ndim == 2 else _add_now)
#: Add the joint distribution μ_1⋯μ_N to a row of `joint`.
add_distribution = _dispatch(lambda seats: _add_few if _few(seats) else _add_many)
add_products = _dispatch(lambda left: _add_products if len(left) else _add_product)
#: Make v and q the averages that take effect.
complete = _dispatch(lambda joint: _complete_later if joint.ndim == 2 else _complete_now)
#: Compute the payoffs of all joint actions of (h, s) from the values of the next step [S, N].
fill = _dispatch(lambda seats: _fill_few if _few(seats) else _fill_many)
#: Write `cert.value` [N] and `cert.gain` [N, A] from the payoffs of all joint actions.
contract = _dispatch(lambda seats: _contract_few if _few(seats) else _contract_many)
#: Return the expected payoffs [2·N] below a node: where the agents before `left` play what leads to `row`.
walk = _dispatch(lambda left: _node if len(left) else _leaf)


@generics.induced_payoffs.implement(GameTables)
def tabular_payoffs(game, cert, seats, h, s):
    """Take expectations over the joint actions."""
    scratch, c = cert.payoffs, h * game.states + s
    stored = len(scratch.table) > 1
    table = scratch.table[plain(c if stored else 0)]
    if not stored or is_stale(scratch, h, c):
        fill_table(cert, game, seats, h, s, table)
    contract(seats, table, scratch, cert, game)


@generics.jitable
def is_stale(payoffs, h, c):
    """Return whether the next step's values changed after cell c's payoffs were computed."""
    changes = payoffs.changes[plain(h + 1)]
    stale = payoffs.version[plain(c)] != changes
    payoffs.version[plain(c)] = changes
    return stale


@generics.jitable
def fill_table(cert, game, seats, h, s, table):
    """Compute the payoffs of all joint actions of (h, s)."""
    fill(seats, table, cert.payoffs.rewards, game, h, s, cert.V[plain(h + 1)], cert.best[plain(h + 1)])


@generics.induced_payoffs.implement(CountTables)
def count_payoffs(game, cert, seats, h, s):
    """Take expectations over the counts of the others, for all agents at once."""
    write_induced(game, cert.mu, game.once, len(seats), h, s)
    last = h == game.horizon - 1
    for i in range(len(seats)):
        cert.value[i] = 0.0
        for a in range(game.actions[i]):
            staying = game.weight[i, a] * game.own_reward[i, a]
            deviating = staying
            if not last:
                for s_next in range(game.states):
                    staying += game.own_next[i, a, s_next] * cert.V[h + 1, s_next, i]
                    deviating += game.own_next[i, a, s_next] * cert.best[h + 1, s_next, i]
            cert.gain[i, a] = deviating
            cert.value[i] += cert.mu[i, a] * staying


# what the certificate says --------------------------------------------------------------------------------------------


class Bound(NamedTuple):
    """What a certificate says after the episodes so far."""

    values: FloatArray  # [N]  exact value of the policy
    gaps: FloatArray  # [N]  bound on what each agent can gain


def bound(game: ExactGame, cert: Certificate) -> Bound:
    """Read the certificate: the policy's exact values and the bound on each agent's gap."""
    episodes = int(cert.clock[0])
    lasting = (episodes - cert.since)[:, None]
    value = (cert.first["v_sum"] + lasting * cert.V[0]) / episodes  # [S, N]
    q = (cert.first["q_sum"] + lasting[..., None, None] * cert.first["q"]) / episodes  # [S, N, B, A]
    return _bound(game, cert, value, q)


def recent(game: ExactGame, cert: Certificate) -> Bound:
    """Read the certificate of the policy that begins with what is in force now.

    π̄ draws the episode k with which it begins evenly from all K; any other distribution gives a policy too, with the
    same sums over it. Here k is K + 1 for certain: the deviator knows it, and for H = 1 the bound is exact as well.
    """
    return _bound(game, cert, cert.V[0], cert.first["q"])


def _bound(game: ExactGame, cert: Certificate, value: FloatArray, q: FloatArray) -> Bound:
    """Return the bound from values [S, N] and deviations' values [S, N, B, A] at first."""
    A = max(game.actions)
    B = A if q.shape[2] > 1 else 1
    there = np.arange(A) < np.array(game.actions)[:, None, None]  # [N, 1, A]
    picked = np.where(there, q[:, :, :B, :A], -np.inf).max(axis=-1)  # [S, N, B]
    best = dot(game.initial, np.where(_recommendable(game, B) > 0, picked, 0.0).sum(axis=2))
    values = dot(game.initial, value)
    return Bound(values, best - values)


# the last iterate, in each row of the curve -------------------------------------------------------------------------


class ProductEvaluator:
    """Evaluates product policies of one game; after a few calls it is compiled.

    The same numbers as `evaluate`, up to rounding: sums have another order.

    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> values, gaps = ProductEvaluator(game)(tacit.MarkovPolicy.uniform(game))
    >>> values.tolist(), gaps.tolist()
    ([2.25, 2.25], [0.75, 0.75])
    """

    def __init__(self, game: TabularGame) -> None:
        self._game, least = shift_rewards(game)
        tables = self._game.tabular()
        self._moved, self._steps = least * game.effective_horizon, 0
        N, rows = game.agents, game.states * game.joint_actions
        memory.require(tables.rewards.nbytes, "the rewards, a second time to evaluate the last iterate")
        rewards = np.ascontiguousarray(tables.rewards.reshape(N, -1, rows).transpose(1, 2, 0))  # [H or 1, S·J, N]
        self._tables = (*tables.successors, rewards, np.array(game.actions))
        self._scratch = np.zeros(N, dtype=np.int64), np.zeros(N), np.zeros((N, max(game.actions)))
        self._V, self._best = np.zeros((2, game.horizon + 1, game.states, N))

    def __call__(self, policy: MarkovPolicy) -> tuple[FloatArray, FloatArray]:
        """Return the values [N] and nash gaps [N] of a product policy."""
        game = self._game
        self._steps += 10 * game.horizon * game.states * game.joint_actions * game.agents
        shape = game.agents, game.horizon, game.states, max(game.actions)
        probs = np.zeros(shape)
        for table, own in zip(probs, policy.probs, strict=True):
            table[..., : own.shape[-1]] = own
        compile_loop(evaluate_product, steps=self._steps)(*self._tables, probs, *self._scratch, self._V, self._best)
        values = dot(game.initial, self._V[0])
        return values + self._moved, np.maximum(dot(game.initial, self._best[0]) - values, 0.0)


def evaluate_product(first, state, prob, rewards, actions, probs, chosen, after, gain, V, best):
    """Write values and those of best responses, [H + 1, S, N], to `probs` [N, H, S, A].

    A joint action's others play it with the probability of the agents before, times that of the agents after.
    """
    N, H, S, A = probs.shape
    joint_actions = rewards.shape[1] // S
    transition_stride = rewards.shape[1] if len(first) - 1 > rewards.shape[1] else 0
    for back in range(H):
        h = H - 1 - back
        reward_step = h if len(rewards) > 1 else 0
        for s in range(S):
            for i in range(N):
                V[h, s, i] = 0.0
                for a in range(A):
                    gain[i, a] = 0.0
            for joint in range(joint_actions):
                row = s * joint_actions + joint
                begin, end = first[h * transition_stride + row], first[h * transition_stride + row + 1]
                rest, prob_after = joint, 1.0
                for j in range(N - 1, -1, -1):
                    chosen[j] = rest % actions[j]
                    rest //= actions[j]
                    after[j] = prob_after
                    prob_after *= probs[j, h, s, chosen[j]]
                prob_before = 1.0
                for i in range(N):
                    others, own = prob_before * after[i], probs[i, h, s, chosen[i]]
                    if others > 0.0:
                        staying = rewards[reward_step, row, i]
                        deviating = staying
                        if h + 1 < H:
                            for k in range(begin, end):
                                staying += prob[k] * V[h + 1, state[k], i]
                                deviating += prob[k] * best[h + 1, state[k], i]
                        V[h, s, i] += others * own * staying
                        gain[i, chosen[i]] += others * deviating
                    prob_before *= own
            for i in range(N):
                best[h, s, i] = gain[i, 0]
                for a in range(1, actions[i]):
                    best[h, s, i] = max(best[h, s, i], gain[i, a])
