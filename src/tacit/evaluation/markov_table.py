"""A recorded policy with its hidden index averaged out: one table of joint actions.

The distribution of (state, index) is followed forwards over the visits of the record, as `behaviour` does, by compiled
loops over the successors of tables, and over some visits of each step and state where there are many.
"""

from __future__ import annotations

import numpy as np

from tacit.core.compilation import compile_loop
from tacit.games.exact import stack_rows
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy, restore_agents


def markov_table(game: TabularGame, policy: RecordedPolicy, *, visits: int = 1024) -> MarkovPolicy:
    """Return what a policy plays at each step and state, as a correlated Markov policy.

    The table has exactly the values of the policy, since the same joint actions are as likely at the same steps and
    states; its gaps are its own. Of more than so many visits of a step and state, evenly spaced ones are averaged,
    by what they count, and that holds of the policy that is made of those.

    >>> import tacit
    >>> game = tacit.make("chicken")
    >>> run = tacit.learn(game, "adaptive-v-cce", episodes=500)
    >>> markov_table(game, run.candidates["recent"].policy).product
    False
    """
    record, tables, H, S, K = policy.record, game.kernels(), game.horizon, game.states, policy.episodes
    by_rate = record.rule == "rate"
    ends = record.keys if by_rate else record.stages.key  # cell·K + episode after which an average is in force
    joint = np.zeros((H, S, game.joint_actions))
    lost, share = np.zeros((H + 1, S)), np.zeros(len(ends))
    cells = np.arange(H * S + 1) * K
    for s in np.flatnonzero(game.initial):
        own = slice(*np.searchsorted(ends, cells[s : s + 2]))
        since = np.concatenate([[0], ends[own] - cells[s] + 1])  # the first index for which an entry is in force
        if policy.start == "recent":
            chance = (np.arange(len(since)) == len(since) - 1) * game.initial[s]
        else:
            chance = np.diff(since, append=K) * (game.initial[s] / K)
        lost[0, s], share[own] = chance[0], chance[1:]
    scratch = np.zeros(game.joint_actions), np.zeros(S), np.zeros(S, dtype=np.int64)
    for h in range(H):
        edges = cells[h * S : (h + 1) * S + 1]
        first = np.searchsorted(record.keys, edges)
        here = slice(first[0], first[-1])
        if by_rate:
            weight = share[here]
            compile_loop(spread_by_rate, steps=len(weight))(first - first[0], weight, H)
        else:
            weight = np.zeros(first[-1] - first[0])
            stages = slice(*np.searchsorted(ends, [edges[0], edges[-1]]))
            begin, end = record.stages.begin[stages], record.stages.end[stages]
            for b, e, chance in zip(begin - first[0], end - first[0], share[stages], strict=True):
                weight[b:e] = chance / (e - b)
        if np.diff(first).max() > visits:
            compile_loop(space_evenly)(first - first[0], weight, visits)
        held = np.flatnonzero(weight)
        keys = record.keys[here][held]
        k, states = keys % K, keys // K - h * S
        mu = np.swapaxes(stack_rows(restore_agents(record.rows(k, h), record.actions)), 0, 1)  # [n, N, A]
        chances = weight[held], mu, lost[h], joint[h]
        steps = len(held) * game.joint_actions
        compile_loop(follow, tables, steps=steps)(
            tables, h, states, k, *chances, ends, cells, share, lost[h + 1], *scratch
        )
    total = joint.sum(axis=-1, keepdims=True)
    joint = np.divide(joint, total, out=np.full_like(joint, 1 / game.joint_actions), where=total > 0)
    return MarkovPolicy(joint.reshape(H, S, *game.actions))


def spread_by_rate(first, share, horizon):
    """Turn what averages with the rate α_t = (H + 1)/(H + t) count into what their visits count, in place."""
    for s in range(len(first) - 1):
        ahead = 0.0
        for v in range(first[s + 1] - 1, first[s] - 1, -1):
            alpha = (horizon + 1) / (horizon + 1 + v - first[s])
            ahead += share[v]
            share[v] = alpha * ahead
            ahead *= 1.0 - alpha


def space_evenly(first, weight, most):
    """Leave at most so many visits of each state, evenly spaced by weight, and let them count for the others."""
    for s in range(len(first) - 1):
        total, count = 0.0, 0
        for v in range(first[s], first[s + 1]):
            total += weight[v]
            count += weight[v] > 0.0
        if count > most:
            each, passed, taken = total / most, 0.0, 0
            for v in range(first[s], first[s + 1]):
                passed += weight[v]
                times = min(int(passed / each + 0.5), most) - taken
                taken += times
                weight[v] = times * each


def follow(tables, h, states, k, weight, mu, lost, joint, ends, cells, share, lost_next, draw, moved, touched):
    """Add what is played at step h to `joint` [S, J], and pass on who comes where to what is in force there.

    A visit v, of episode k[v] in states[v], counts weight[v]; `lost` [S] play evenly, from here to the end.
    """
    J, S = tables.joint_actions, tables.states
    for v in range(len(states) + S):
        even = v >= len(states)
        s = v - len(states) if even else states[v]
        chance = lost[s] if even else weight[v]
        if chance <= 0.0:
            continue
        draw[0], size = chance, 1
        for i in range(len(tables.actions)):
            n = tables.actions[i]
            for j in range(size - 1, -1, -1):
                before = draw[j]
                for a in range(n):
                    draw[j * n + a] = before * (1.0 / n if even else mu[v, i, a])
            size *= n
        met = 0
        for j in range(J):
            joint[s, j] += draw[j]
            row = h * tables.transition_stride + s * J + j
            if h + 1 < tables.horizon and draw[j] > 0.0:
                for entry in range(tables.first[row], tables.first[row + 1]):
                    s_next = tables.state[entry]
                    if moved[s_next] == 0.0:
                        touched[met] = s_next
                        met += 1
                    moved[s_next] += draw[j] * tables.prob[entry]
        for m in range(met):
            s_next = touched[m]
            cell = (h + 1) * S + s_next
            if even:
                lost_next[s_next] += moved[s_next]
            else:
                entry, above = -1, len(ends)  # the last that ended before episode k
                while above - entry > 1:
                    middle = (entry + above) // 2
                    if ends[middle] < cells[cell] + k[v]:
                        entry = middle
                    else:
                        above = middle
                if entry >= 0 and ends[entry] >= cells[cell]:
                    share[entry] += moved[s_next]
                else:
                    lost_next[s_next] += moved[s_next]
            moved[s_next] = 0.0
