"""Games as kernels see them: tables over joint actions, tables over counts, and functions."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import errors

from tacit.core import generics, memory
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError, one_line
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import pick
from tacit.games.function import FunctionGame, where

if TYPE_CHECKING:
    from tacit.games.count import CountGame


class GameTables(NamedTuple):
    """What kernels read of a tabular game. Flat tables, one row for each step, state and joint action."""

    first: IntArray  # [rows + 1]  where the successors of a row begin
    state: npt.NDArray[np.int32]  # [entries]
    prob: FloatArray  # [entries]
    cumulative: FloatArray  # [entries]  within each row, ending in 1; each beside its state in memory
    rewards: FloatArray  # [N, rows]  those of a row side by side
    start_state: IntArray  # [states with positive initial probability]
    start_cumulative: FloatArray
    actions: IntArray  # [N]
    strides: tuple[int, ...] | IntArray  # [N]  joint actions from one action of agent i to the next
    horizon: int
    states: int
    joint_actions: int
    transition_stride: int  # rows from one step to the next, 0 where all steps are the same
    reward_stride: int
    width: int  # successors of every row; 0 where rows differ


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
    probs: FloatArray  # [N, A]  scratch: each agent's distribution over the different scores
    sums: FloatArray  # [levels, 2, X + 2]  scratch: distributions of sums
    span: IntArray  # [levels, 3]  scratch: where they are positive, and which of the two rows holds them
    todo: IntArray  # [2·levels, 5]  scratch
    own_reward: FloatArray  # [N, A]  scratch: each agent's expected reward of each own action
    own_next: FloatArray  # [N, A, S]  scratch: and the distribution of the next state


generics.jitable(pick)


@generics.initial_state.implement(GameTables)
@generics.initial_state.implement(CountTables)
def initial_state(game, u):
    """Draw the first state."""
    return game.start_state[pick(game.start_cumulative, 0, len(game.start_state), u)]


@generics.joint_action.implement(GameTables)
def joint_action(game, h, s, actions):
    """Return the step, and the joint action's place among those of all states."""
    joint = 0
    for i in range(len(game.strides)):
        joint += actions[i] * game.strides[i]
    return h, s * game.joint_actions + joint


@generics.next_state.implement(GameTables)
def next_state(game, token, u):
    """Draw the next state."""
    h, joint = token
    row = max(h * game.transition_stride + joint, 0)
    first = row * game.width
    end = first + game.width
    if not game.width:
        first = game.first[row]
        end = game.first[row + 1]
    return np.int64(game.state[pick(game.cumulative, first, end, u)])


@generics.reward.implement(GameTables)
def reward(game, i, token):
    """Look up agent i's reward."""
    h, joint = token
    return game.rewards[i, h * game.reward_stride + joint]


class EndlessTables(NamedTuple):
    """What kernels read of a discounted game that never resets. An episode is a period, from where the last one led."""

    tables: GameTables
    differ: (
        int  # whether rewards and transitions depend on the state: otherwise those of state 0 are read, and stay near
    )
    place: IntArray  # [1]  the state that play is in
    actions: IntArray  # [N]
    horizon: int  # 1
    states: int


@generics.initial_state.implement(EndlessTables)
def endless_initial_state(game, u):
    """Return the state that play is in."""
    return game.place[0]


@generics.joint_action.implement(EndlessTables)
def endless_joint_action(game, h, s, actions):
    """Return the joint action's place."""
    return generics.joint_action(game.tables, h, s * game.differ, actions)


@generics.next_state.implement(EndlessTables)
def endless_next_state(game, token, u):
    """Draw the next state, and stay there."""
    s = generics.next_state(game.tables, token, u)
    game.place[0] = s
    return s


@generics.reward.implement(EndlessTables)
def endless_reward(game, i, token):
    """Look up agent i's reward."""
    return generics.reward(game.tables, i, token)


@generics.joint_action.implement(CountTables)
def count_joint_action(game, h, s, actions):
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


@generics.next_state.implement(CountTables)
def count_next_state(game, token, u):
    """Draw the next state."""
    h, s, _ = token
    row = game.cumulative[h * game.transition_stride + s, game.total[game.transition_statistic]]
    return pick(row, 0, game.states, u)


@generics.reward.implement(CountTables)
def count_reward(game, i, token):
    """Look up the reward of the own action at the own statistic."""
    h, s, actions = token
    a = actions[i]
    first = game.reward_first[(h * game.reward_stride + s) * len(game.load) + a]
    return game.weight[i, a] * game.reward[first + game.total[game.reward_statistic[a]]]


# Counting games: what agents face at each (h, s), their rewards [A] and next states [A, S], are expectations over the
# counts of the others. The sum of independent scores is distributed as the convolution of the agents' distributions.
# All leave-one-out distributions come by divide and conquer: halve the agents; what lies outside the left half is what
# lay outside both, joined by the right half, and the other way round; a half of one agent has everybody else outside.
# Each of the log₂ N levels joins every agent once, so the cost is N·log N convolutions with single agents, and nothing
# is ever divided out: all terms are positive, so errors stay relative to the result. Agents that play the same are
# computed once.
#
# Ends of a distribution below `NEGLIGIBLE` are dropped: of a sum of 1000 binary scores some 300 values are left. What
# is dropped altogether is below 1e-20, less than rounding.

#: Probabilities at the ends of a distribution that are left out.
NEGLIGIBLE = 1e-30


@generics.apart
def write_induced(game, mu, copies, number, h, s):
    """Write what each agent faces at (h, s). That is `own_reward` [D, A] for weight 1 and `own_next` [D, A, S].

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
            score_probs(game, mu, number, q)
            leave_one_out(game, copies, number, h, s, q, pays, moves)


@generics.apart
def score_probs(game, mu, number, q):
    """Write each agent's distribution over the different scores of a statistic."""
    for d in range(number):
        for k in range(game.different[q]):
            game.probs[d, k] = 0.0
        for a in range(game.scores.shape[1]):
            game.probs[d, game.group[q, a]] += mu[d, a]


@generics.apart
def leave_one_out(game, copies, number, h, s, q, pays, moves):
    """Go through the tree of halves depth first. At each leaf, read the tables against the others' distribution.

    `todo` holds halves [begin, end) with their level, and the agents that join what lay outside of both halves.
    """
    todo, sums, span, probs = game.todo, game.sums, game.span, game.probs
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
                    convolve(sums[level], span[level], probs[d], steps, different)
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
            convolve(sums[level], span[level], probs[begin], steps, different)
        low = span[level, 0]
        others = sums[level, span[level, 2], low : span[level, 1] + 1]
        for a in range(actions):
            least = low + game.scores[q, a]  # the least total of all agents' scores
            if pays and game.reward_statistic[a] == q:
                first = game.reward_first[(h * game.reward_stride + s) * actions + a] + least
                game.own_reward[begin, a] = dot(others, game.reward[first : first + len(others)])
            if moves:
                same = 0  # an earlier action with the same score has the same next states
                while game.group[q, same] != game.group[q, a]:
                    same += 1
                for t in range(game.states):
                    if same < a:
                        game.own_next[begin, a, t] = game.own_next[begin, same, t]
                    else:
                        table = game.transition[h * game.transition_stride + s, t, least : least + len(others)]
                        game.own_next[begin, a, t] = dot(others, table)


@generics.apart
def convolve(sums, span, probs, steps, different):
    """Let one more agent join a sum: new(x) = Σ_k probs[k]·old(x − steps[k])."""
    low = span[0]
    high = span[1]
    n = high - low + 1
    old = sums[span[2], low : high + 2]
    reach = steps[different - 1]
    other = sums[1 - span[2]]
    new = other[low : high + reach + 1]
    if different == 2 and reach == 1:
        stay = probs[0]
        move = probs[1]
        new[0] = stay * old[0]
        for x in range(n - 1):
            new[x + 1] = stay * old[x + 1] + move * old[x]
        new[n] = move * old[n - 1]
    else:
        first = probs[0]
        for x in range(n):
            new[x] = first * old[x]
        for x in range(n, n + reach):
            new[x] = 0.0
        for k in range(1, different):
            share = probs[k]
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


def induce_rows(game, mu, copies, number, h, states, reward, next_state):
    """Write what each distribution faces at step h. In states[k] they are the first `number[k]` of `mu[k]`."""
    for k in range(len(states)):
        write_induced(game, mu[k], copies[k], number[k], h, states[k])
        for d in range(number[k]):
            for a in range(reward.shape[2]):
                reward[k, d, a] = game.own_reward[d, a]
                for t in range(next_state.shape[3]):
                    next_state[k, d, a, t] = game.own_next[d, a, t]


def next_rows(game, mu, h, states, next_state):
    """Write the next states' probabilities at step h. In states[k] the agents play mu[k] [N, A]."""
    q = game.transition_statistic
    sums, span = game.sums[0], game.span[0]
    for k in range(len(states)):
        score_probs(game, mu[k], len(mu[k]), q)
        sums[0, 0] = 1.0
        span[0] = 0
        span[1] = 0
        span[2] = 0
        for d in range(len(mu[k])):
            convolve(sums, span, game.probs[d], game.steps[q], game.different[q])
        total = sums[span[2], span[0] : span[1] + 1]
        for t in range(game.states):
            table = game.transition[h * game.transition_stride + states[k], t, span[0] : span[1] + 1]
            next_state[k, t] = dot(total, table)


class Induced(NamedTuple):
    """What agents face at some rows of one step."""

    rewards: FloatArray  # [..., N, A]
    transitions: FloatArray  # [..., N, A, S]; zero after the last step


def induced_payoffs(game: CountGame, h: int, rows: FloatArray, s: int | None) -> Induced:
    """Return what agents face at step h. `rows` are [..., S, N, A], or [..., N, A] in state s."""
    N, A, S = game.agents, game.actions[0], game.states
    flat, states = _flatten(game, rows, s)
    n = len(flat)
    memory.require(memory.floats(n, N, A, 2 * (S + 2)), "what the agents of a counting game face")
    mu, copies = np.zeros((n, N, A)), np.zeros((n, N), dtype=np.int64)
    number, which = np.zeros(n, dtype=np.int64), np.zeros((n, N), dtype=np.int64)
    for k, rows_k in enumerate(flat):
        distinct, which[k], times = _different(rows_k)
        number[k] = len(distinct)
        mu[k, : number[k]], copies[k, : number[k]] = distinct, times
    each = induced_by_kind(game, h, states, mu, copies, number)
    index = which[:, :, None]
    rewards = game.weights * np.take_along_axis(each.rewards, index, axis=1)
    transitions = np.take_along_axis(each.transitions, index[..., None], axis=1)
    return Induced(rewards.reshape(rows.shape), transitions.reshape(*rows.shape, S))


def induced_by_kind(
    game: CountGame, h: int, states: IntArray, mu: FloatArray, copies: IntArray, number: IntArray
) -> Induced:
    """Return what each kind of agent faces at step h in `states` [n]. Rewards are without weights.

    In states[k] there are number[k] kinds; copies[k, m] agents play mu[k, m].
    """
    rewards, transitions = np.zeros(mu.shape), np.zeros((*mu.shape, game.states))
    tables = game.kernels()
    compile_loop(induce_rows, tables)(tables, mu, copies, number, h, states, rewards, transitions)
    return Induced(rewards, transitions)


def next_state_probs(game: CountGame, h: int, rows: FloatArray, s: int | None) -> FloatArray:
    """Return distributions of the next state. `rows` are [..., S, N, A], or [..., N, A] in state s."""
    flat, states = _flatten(game, rows, s)
    following = np.zeros((len(flat), game.states))
    tables = game.kernels()
    compile_loop(next_rows, tables)(tables, flat, h, states, following)
    return following.reshape(*rows.shape[:-2], game.states)


def score_distribution(scores: FloatArray, probs: FloatArray) -> FloatArray:
    """Return the distribution of Σ_k scores[a_k] where each k plays its row of `probs` [n, A].

    >>> score_distribution(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])).tolist()
    [0.25, 0.5, 0.25]
    """
    total = np.ones(1)
    for row in probs:
        joined = np.zeros(len(total) + int(scores.max()))
        for score, prob in zip(scores, row, strict=True):
            joined[score : score + len(total)] += prob * total
        total = joined
    return total


def _flatten(game: CountGame, rows: FloatArray, s: int | None) -> tuple[FloatArray, IntArray]:
    """Return rows [n, N, A] of all states, or of state s, and their states [n]."""
    flat = np.ascontiguousarray(rows.reshape(-1, *rows.shape[-2:]))
    if s is not None:
        return flat, np.full(len(flat), s, dtype=np.int64)
    return flat, np.tile(np.arange(game.states), len(flat) // game.states)


def _different(rows: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the distinct rows, which of them each row is, and their counts."""
    if len(rows) > 1 and (rows == rows[0]).all():
        return rows[:1], np.zeros(len(rows), dtype=np.int64), np.array([len(rows)])
    view = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * 8))).ravel()
    _, first, back, times = np.unique(view, return_index=True, return_inverse=True, return_counts=True)
    return rows[first], back.ravel(), times


# Games that are functions, and what the compiler says about them, in words.


class Rules(NamedTuple):
    """A game of functions; each set of functions has a subtype of its own."""

    horizon: int
    states: int
    actions: Any  # [N]
    params: tuple[Any, ...]  # what functions take last: nothing, or a struct of parameters


_types: dict[Any, type] = {}
_checked: set[Any] = set()
_lock = threading.Lock()


def implement(game: FunctionGame) -> type:
    """Return the type of a game's struct, with its kernels. Games whose functions do and read the same share it."""
    description = game.description
    with _lock:
        if description not in _types:
            for copy in game.copies:
                generics.jitable(copy)
            _types[description] = _implement(generics.subtype(Rules), **game.functions)
    kind = _types[description]
    key = kind, str(numba.typeof(game._given))
    if key not in _checked and not numba.config.DISABLE_JIT:
        _check_compiles(game)
        _checked.add(key)
    return kind


def _implement(kind: type, start: Any, advance: Any, reward: Any) -> type:
    @generics.initial_state.implement(kind)
    def initial_state(game, u):
        return start(u, *game.params)

    @generics.next_state.implement(kind)
    def next_state(game, token, u):
        h, s, actions = token
        return advance(h, s, actions, u, *game.params)

    @generics.reward.implement(kind)
    def payoff(game, i, token):
        h, s, actions = token
        return reward(i, h, s, actions, *game.params)

    @generics.joint_action.implement(kind)
    def joint_action(game, h, s, actions):
        return h, s, actions

    return kind


def _check_compiles(game: FunctionGame) -> None:
    """Raise with file, line and a sentence where a function does not compile."""
    integer, real, actions = numba.int64, numba.float64, numba.typeof(np.zeros(1, dtype=np.int64))
    last = tuple(numba.typeof(part) for part in game._given)
    signatures = {
        "start": (real, *last),
        "advance": (integer, integer, actions, real, *last),
        "reward": (integer, integer, integer, actions, *last),
    }
    for what, function in game.functions.items():
        plain: Any = getattr(game.written[what], "py_func", game.written[what])
        try:
            returned = _compiled_alone(function, signatures[what])
        except errors.NumbaError as error:
            raise TacitError(f"{_place(error, plain)}: {what} does not compile: {in_words(str(error))}") from None
        except Exception as error:  # the compiler's own defects, as where code is not Python's
            raise TacitError(f"{where(plain)}: {what} does not compile: {one_line(error, 200)}") from None
        numbers = numba.types.Integer | numba.types.Boolean
        if not isinstance(returned, numbers | numba.types.Float if what == "reward" else numbers):
            wanted = "a number" if what == "reward" else "an integer"
            raise TacitError(f"{where(plain)}: {what} must return {wanted}; it returns {returned}")


def _compiled_alone(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Compile a function by itself, as kernels are; return the type that it returns."""
    compiled: Any = numba.njit(**generics.OPTIONS)(function)
    compiled.compile(arguments)
    return compiled.overloads[compiled.signatures[0]].signature.return_type


def _place(error: errors.NumbaError, function: Callable[..., Any]) -> str:
    """Return file and line of what the compiler stumbled over, or of the function."""
    file = function.__code__.co_filename
    places = re.findall(r'File "([^"]+)", line (\d+)', re.sub(r"\x1b\[[0-9;]*m", "", str(error)))
    lines = [line for path, line in places if file.endswith(path)]
    return f"{file}:{lines[-1]}" if lines else where(function)


def in_words(message: str) -> str:
    """Return the sentence of numba's that says most, without its dump.

    >>> in_words("Failed in nopython mode pipeline (step: x)\\nUnknown attribute 'q' of type float64\\n\\nFile ...")
    "Unknown attribute 'q' of type float64"
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    if "NRT required" in plain or "returning of array" in plain:
        return "it allocates memory, as for an array or a list; kernels are plain loops over numbers"
    skipped = ("Failed in", "During:", "File ", "This error", "To find out", "- Resolution", "There are", "- Of which")
    lines = [line.strip() for line in plain.splitlines()]
    said = [line for line in lines if line and not line.startswith(skipped) and not set(line) <= set("^~-<> ")]
    return one_line(said[0] if said else plain, 200)
