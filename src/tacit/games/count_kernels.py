"""A counting game as kernels see it, and what its agents face: induced rewards and transitions.

At each (h, s) an agent's rewards [A] and next states [A, S] are expectations over the counts of the others. The sum of
independent scores is distributed as the convolution of the agents' distributions. All leave-one-out distributions come
by divide and conquer: halve the agents; what lies outside the left half is what lay outside both, joined by the right
half, and the other way round; a half of one agent has everybody else outside. Each of the log₂ N levels joins every
agent once, so the cost is N·log N convolutions with single agents, and nothing is ever divided out: all terms are
positive, so errors stay relative to the result. Agents that play the same are computed once.

Ends of a distribution below `NEGLIGIBLE` are dropped: of a sum of 1000 binary scores some 300 values are left. What is
dropped altogether is below 1e-20, less than rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.core import generics, memory
from tacit.core.compilation import compile_loop
from tacit.core.types import FloatArray, IntArray
from tacit.games import successors

if TYPE_CHECKING:
    from tacit.games.count import CountGame


class CountTables(NamedTuple):
    """What kernels read of a counting game.

    A statistic q of a joint action is X_q = Σ_i scores[q, a_i]: the load of an action, a weighted count, or all counts
    at once as the digits of one number.
    """

    scores: IntArray  # [Q, A]
    sizes: IntArray  # [Q]  X_q goes from 0 to sizes[q] − 1
    steps: IntArray  # [Q, A]  the different scores of a statistic, ascending
    different: IntArray  # [Q]  how many there are
    group: IntArray  # [Q, A]  which of them is the action's
    reward_statistic: IntArray  # [A]  what the reward of an action depends on
    reward_first: IntArray  # [H or 1 × S × A]  where its table begins
    reward: FloatArray  # [entries]
    weight: FloatArray  # [N, A]
    transition_statistic: int
    transition: FloatArray  # [H or 1 × S, S, X]  probabilities of the next state
    cumulative: FloatArray  # [H or 1 × S, X, S]  the same, added up
    start_state: IntArray  # [states with positive initial probability]
    start_cumulative: FloatArray
    actions: IntArray  # [N]
    horizon: int
    states: int
    transition_stride: int  # rows from one step to the next, 0 where all steps are the same
    reward_stride: int
    load: IntArray  # [A]  scratch: how many chose each action
    total: IntArray  # [Q]  scratch: X_q
    once: IntArray  # [N]  ones: each agent stands for itself
    chance: FloatArray  # [N, A]  scratch: each agent's distribution over the different scores
    sums: FloatArray  # [levels, 2, X + 2]  scratch: distributions of sums
    span: IntArray  # [levels, 3]  scratch: where they are positive, and which of the two rows holds them
    todo: IntArray  # [2·levels, 5]  scratch
    own_reward: FloatArray  # [N, A]  scratch: each agent's expected reward of each own action
    own_next: FloatArray  # [N, A, S]  scratch: and the distribution of the next state


pick = generics.jitable(successors.pick)


@generics.start.implement(CountTables)
def start(game, u):
    """Draw the first state."""
    return game.start_state[pick(game.start_cumulative, 0, len(game.start_state), u)]


@generics.place.implement(CountTables)
def place(game, h, s, actions):
    """Count who chose what, and compute the statistics."""
    for a in range(len(game.load)):
        game.load[a] = 0
    for i in range(len(game.actions)):
        game.load[actions[i]] += 1
    for q in range(len(game.total)):
        total = 0
        for a in range(len(game.load)):
            total += game.load[a] * game.scores[q, a]
        game.total[q] = total
    return h, s, actions


@generics.advance.implement(CountTables)
def advance(game, token, u):
    """Draw the next state."""
    h, s, _ = token
    row = game.cumulative[h * game.transition_stride + s, game.total[game.transition_statistic]]
    return pick(row, 0, game.states, u)


@generics.reward.implement(CountTables)
def reward(game, i, token):
    """Look up the reward of the own action at the own statistic."""
    h, s, actions = token
    a = actions[i]
    first = game.reward_first[(h * game.reward_stride + s) * len(game.load) + a]
    return game.weight[i, a] * game.reward[first + game.total[game.reward_statistic[a]]]


#: Chances at the ends of a distribution that are left out.
NEGLIGIBLE = 1e-30


@generics.apart
def see(game, mu, copies, number, h, s):
    """Write what each agent faces at (h, s): `own_reward` [D, A] for weight 1 and `own_next` [D, A, S].

    The first `number` rows of `mu` [D, A] are distributions, each played by `copies[d]` agents. After the last step
    there is no next state, and `own_next` is not written.
    """
    last = h == game.horizon - 1
    for q in range(len(game.sizes)):
        moves = q == game.transition_statistic and not last
        pays = False
        for a in range(len(game.reward_statistic)):
            pays = pays or game.reward_statistic[a] == q
        if moves or pays:
            add_chances(game, mu, number, q)
            leave_one_out(game, copies, number, h, s, q, pays, moves)


@generics.apart
def add_chances(game, mu, number, q):
    """Write each agent's distribution over the different scores of a statistic."""
    for d in range(number):
        for k in range(game.different[q]):
            game.chance[d, k] = 0.0
        for a in range(game.scores.shape[1]):
            game.chance[d, game.group[q, a]] += mu[d, a]


@generics.apart
def leave_one_out(game, copies, number, h, s, q, pays, moves):
    """Go through the tree of halves depth first; at each leaf, read the tables against the others' distribution.

    `todo` holds halves [begin, end) with their level, and the agents that join what lay outside of both halves.
    """
    todo, sums, span, chance = game.todo, game.sums, game.span, game.chance
    steps, different = game.steps[q], game.different[q]
    actions = game.scores.shape[1]
    sums[0, 0, 0] = 1.0
    span[0, 0] = 0
    span[0, 1] = 0
    span[0, 2] = 0
    todo[0, 0] = 0
    todo[0, 1] = number
    todo[0, 2] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        begin, end, level = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2]
        if level > 0:
            upper = span[level - 1, 2]
            span[level, 0] = span[level - 1, 0]
            span[level, 1] = span[level - 1, 1]
            span[level, 2] = 0
            for x in range(span[level, 0], span[level, 1] + 1):
                sums[level, 0, x] = sums[level - 1, upper, x]
            for d in range(todo[waiting, 3], todo[waiting, 4]):
                for _ in range(copies[d]):
                    join(sums[level], span[level], chance[d], steps, different)
        if end - begin > 1:
            middle = (begin + end) // 2
            todo[waiting, 0] = middle
            todo[waiting, 1] = end
            todo[waiting, 2] = level + 1
            todo[waiting, 3] = begin
            todo[waiting, 4] = middle
            todo[waiting + 1, 0] = begin
            todo[waiting + 1, 1] = middle
            todo[waiting + 1, 2] = level + 1
            todo[waiting + 1, 3] = middle
            todo[waiting + 1, 4] = end
            waiting += 2
            continue
        for _ in range(copies[begin] - 1):  # the others that play the same
            join(sums[level], span[level], chance[begin], steps, different)
        low = span[level, 0]
        others = sums[level, span[level, 2], low : span[level, 1] + 1]
        for a in range(actions):
            own = low + game.scores[q, a]
            if pays and game.reward_statistic[a] == q:
                first = game.reward_first[(h * game.reward_stride + s) * actions + a] + own
                game.own_reward[begin, a] = dot(others, game.reward[first : first + len(others)])
            if moves:
                same = 0  # an earlier action with the same score has the same next states
                while game.group[q, same] != game.group[q, a]:
                    same += 1
                for t in range(game.states):
                    if same < a:
                        game.own_next[begin, a, t] = game.own_next[begin, same, t]
                    else:
                        table = game.transition[h * game.transition_stride + s, t, own : own + len(others)]
                        game.own_next[begin, a, t] = dot(others, table)


@generics.apart
def join(sums, span, chance, steps, different):
    """Let one more agent join a sum: new(x) = Σ_k chance[k]·old(x − steps[k])."""
    low = span[0]
    high = span[1]
    n = high - low + 1
    old = sums[span[2], low : high + 2]
    reach = steps[different - 1]
    other = sums[1 - span[2]]
    new = other[low : high + reach + 1]
    if different == 2 and reach == 1:
        stay = chance[0]
        move = chance[1]
        new[0] = stay * old[0]
        for x in range(n - 1):
            new[x + 1] = stay * old[x + 1] + move * old[x]
        new[n] = move * old[n - 1]
    else:
        first = chance[0]
        for x in range(n):
            new[x] = first * old[x]
        for x in range(n, n + reach):
            new[x] = 0.0
        for k in range(1, different):
            share = chance[k]
            if share > 0.0:
                part = other[low + steps[k] : high + steps[k] + 1]
                for x in range(n):
                    part[x] += share * old[x]
    begin = 0
    end = n - 1 + reach
    while begin < end and new[begin] < NEGLIGIBLE:
        begin += 1
    while end > begin and new[end] < NEGLIGIBLE:
        end -= 1
    span[0] = low + begin
    span[1] = low + end
    span[2] = 1 - span[2]


@generics.apart
def dot(one, other):
    """Return Σ_x one(x)·other(x); four sums side by side keep the processor busy."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    quarter = len(one) // 4
    for k in range(quarter):
        x = 4 * k
        a += one[x] * other[x]
        b += one[x + 1] * other[x + 1]
        c += one[x + 2] * other[x + 2]
        d += one[x + 3] * other[x + 3]
    for x in range(4 * quarter, len(one)):
        a += one[x] * other[x]
    return (a + b) + (c + d)


def face(game, mu, copies, number, h, states, reward, next_state):
    """Write what each of `number[k]` distributions `mu[k]` faces at step h in the states[k], for all k."""
    for k in range(len(states)):
        see(game, mu[k], copies[k], number[k], h, states[k])
        for d in range(number[k]):
            for a in range(reward.shape[2]):
                reward[k, d, a] = game.own_reward[d, a]
                for t in range(next_state.shape[3]):
                    next_state[k, d, a, t] = game.own_next[d, a, t]


def lead(game, mu, h, states, next_state):
    """Write where it leads at step h in the states[k] that the agents play mu[k] [N, A], for all k."""
    q = game.transition_statistic
    sums, span = game.sums[0], game.span[0]
    for k in range(len(states)):
        add_chances(game, mu[k], len(mu[k]), q)
        sums[0, 0] = 1.0
        span[0] = 0
        span[1] = 0
        span[2] = 0
        for d in range(len(mu[k])):
            join(sums, span, game.chance[d], game.steps[q], game.different[q])
        total = sums[span[2], span[0] : span[1] + 1]
        for t in range(game.states):
            table = game.transition[h * game.transition_stride + states[k], t, span[0] : span[1] + 1]
            next_state[k, t] = dot(total, table)


class Induced(NamedTuple):
    """What agents face at some rows of one step."""

    rewards: FloatArray  # [..., N, A]
    transitions: FloatArray  # [..., N, A, S]; zero after the last step


def induce(game: CountGame, h: int, rows: FloatArray, s: int | None) -> Induced:
    """Return what agents face at step h where they play `rows` [..., S, N, A], or [..., N, A] in state s."""
    N, A, S = game.agents, game.actions[0], game.states
    flat, states = _flatten(game, rows, s)
    n = len(flat)
    memory.require(memory.floats(n, N, A, 2 * (S + 2)), "what the agents of a counting game face")
    mu, copies = np.zeros((n, N, A)), np.zeros((n, N), dtype=np.int64)
    number, which = np.zeros(n, dtype=np.int64), np.zeros((n, N), dtype=np.int64)
    for k, own in enumerate(flat):
        found, back, times = _different(own)
        mu[k, : len(found)], copies[k, : len(found)], number[k], which[k] = found, times, len(found), back
    each = induce_kinds(game, h, states, mu, copies, number)
    index = which[:, :, None]
    rewards = game.weights * np.take_along_axis(each.rewards, index, axis=1)
    transitions = np.take_along_axis(each.transitions, index[..., None], axis=1)
    return Induced(rewards.reshape(rows.shape), transitions.reshape(*rows.shape, S))


def induce_kinds(
    game: CountGame, h: int, states: IntArray, mu: FloatArray, copies: IntArray, number: IntArray
) -> Induced:
    """Return what each kind of agent faces at step h in `states` [n], rewards without the agents' weights.

    In states[k] there are number[k] kinds; copies[k, m] agents play mu[k, m].
    """
    rewards, transitions = np.zeros(mu.shape), np.zeros((*mu.shape, game.states))
    tables = game.kernels()
    compile_loop(face, tables)(tables, mu, copies, number, h, states, rewards, transitions)
    return Induced(rewards, transitions)


def follow(game: CountGame, h: int, rows: FloatArray, s: int | None) -> FloatArray:
    """Return the distributions of the next state where all play `rows` [..., S, N, A], or [..., N, A] in state s."""
    flat, states = _flatten(game, rows, s)
    following = np.zeros((len(flat), game.states))
    tables = game.kernels()
    compile_loop(lead, tables)(tables, flat, h, states, following)
    return following.reshape(*rows.shape[:-2], game.states)


def add_up(scores: FloatArray, probs: FloatArray) -> FloatArray:
    """Return the distribution of Σ_k scores[a_k] where each k plays its row of `probs` [n, A].

    >>> add_up(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])).tolist()
    [0.25, 0.5, 0.25]
    """
    total = np.ones(1)
    for own in probs:
        joined = np.zeros(len(total) + int(scores.max()))
        for score, chance in zip(scores, own, strict=True):
            joined[score : score + len(total)] += chance * total
        total = joined
    return total


def _flatten(game: CountGame, rows: FloatArray, s: int | None) -> tuple[FloatArray, IntArray]:
    """Return rows [n, N, A] of all states, or of state s, and the states that they are of, [n]."""
    flat = np.ascontiguousarray(rows.reshape(-1, *rows.shape[-2:]))
    if s is not None:
        return flat, np.full(len(flat), s, dtype=np.int64)
    return flat, np.tile(np.arange(game.states), len(flat) // game.states)


def _different(rows: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the different rows, which of them each row is, and how many rows are the same."""
    if len(rows) > 1 and (rows == rows[0]).all():
        return rows[:1], np.zeros(len(rows), dtype=np.int64), np.array([len(rows)])
    view = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * 8))).ravel()
    _, first, back, times = np.unique(view, return_index=True, return_inverse=True, return_counts=True)
    return rows[first], back.ravel(), times
