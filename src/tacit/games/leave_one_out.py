"""What each agent of a counting game faces: the distribution of a sum of the others' scores, for all agents at once.

The sum of independent scores is distributed as the convolution of the agents' distributions. All leave-one-out
distributions come by divide and conquer: halve the agents; what lies outside the left half is what lay outside both,
joined by the right half, and the other way round; a half of one agent has everybody else outside. Each of the log₂ N
levels joins every agent once, so the cost is N·log N convolutions with single agents, and nothing is ever divided out:
all terms are positive, so errors stay relative to the result.

Ends of a distribution below `NEGLIGIBLE` are dropped: of a sum of 1000 binary scores some 300 values are left. What is
dropped altogether is below 1e-20, less than rounding.
"""

from __future__ import annotations

from tacit.core import generics

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
