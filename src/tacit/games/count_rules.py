"""What is given of a counting game, as tables over statistics of the counts.

A function is called with whole arrays where it takes them, else point by point. What it says for arrays is compared
with what it says for single points here and there, since code written for one point (`max(counts)`, `if n > 3`) may
accept an array and mean something else.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import lock
from tacit.core.types import FloatArray, IntArray

Rewards = npt.ArrayLike | Callable[..., Any]

#: Calls of a function that makes tables, at most: they take a minute or two.
_CALLS = 2_000_000


class Statistic(NamedTuple):
    """What a table is over: X = Σ_i scores[a_i], from 0 to size − 1."""

    scores: tuple[int, ...]
    size: int


class Rules:
    """The tables of a counting game, made of arrays or functions.

    Attributes
    ----------
    numbers : dict from Statistic to int
        What tables are over, numbered in the order of their first use.
    reward_of, transition_of : list of A ints, int
        The statistic that each action's reward is over, and that of transitions.
    rewards : list of A arrays [H or 1, S, X]
    transitions : array [H or 1, S, S, X]
        Probabilities of the next state.
    """

    def __init__(
        self,
        rewards: Rewards,
        transitions: Rewards,
        *,
        agents: int,
        actions: int,
        states: int,
        horizon: int,
        load: bool,
        scores: tuple[int, ...] | None,
        stationary: bool,
    ) -> None:
        self.agents, self.actions, self.states, self.horizon = agents, actions, states, horizon
        self.load, self.scores = load, scores
        self._asked = 1 if stationary else horizon  # steps that functions are asked for
        self.numbers: dict[Statistic, int] = {}
        self.reward_of, self.rewards = self._read_rewards(rewards)
        self.transition_of, self.transitions = self._read_transitions(transitions)

    @cached_property
    def counts(self) -> IntArray:
        """All vectors of counts, [M, A]."""
        return count_vectors(self.agents, self.actions)

    def _number(self, scores: Iterable[int]) -> int:
        """Return the number of a statistic; a new one joins the others."""
        each = tuple(int(w) for w in scores)
        made = Statistic(each, self.agents * max(each) + 1)
        if made not in self.numbers:
            size = memory.floats(self.agents.bit_length() + 3, 2, made.size)
            memory.require(size, f"distributions of counts of {self.agents} agents and {self.actions} actions")
        return self.numbers.setdefault(made, len(self.numbers))

    def _read_rewards(self, given: Rewards) -> tuple[list[int], list[FloatArray]]:
        """Return for each action a statistic, and a table [H or 1, S, X] over it."""
        N, A, S = self.agents, self.actions, self.states
        points = np.arange(N + 1) if self.load else self.counts.T
        there = np.broadcast_to(points > 0, (A, points.shape[-1]))  # where somebody chose the action

        def ask(h: int) -> FloatArray:
            step = np.zeros((S, *there.shape))
            for s, a in itertools.product(range(S), range(A)):
                step[s, a, there[a]] = call_function("rewards", given, (h, s, a), points[..., there[a]])
            return step

        letters = f"S, A, {'N + 1' if self.load else 'M'}"
        table = np.where(there, self._table("rewards", given, ask, (S, *there.shape), letters, calls=S * A), 0.0)
        check.finite("rewards", table, ["h", "s", "a", "load" if self.load else "counts"])
        if not self.load:
            every = digits(N, A)
            where, size = self.counts @ every, N * int(max(every)) + 1
            spread = memory.zeros((A, len(table), S, size), "rewards over counts")
            for a in range(A):
                spread[a][:, :, where[there[a]]] = table[:, :, a, there[a]]
            return [self._number(every)] * A, [lock(own) for own in spread]
        if A == 1:  # everybody is there
            return [self._number((0,))], [lock(np.array(table[:, :, 0, N:]))]
        if A == 2:  # both loads say the same
            both = [np.ascontiguousarray(table[:, :, 0, ::-1]), np.array(table[:, :, 1])]
            return [self._number((0, 1))] * 2, [lock(own) for own in both]
        numbers = [self._number(int(b == a) for b in range(A)) for a in range(A)]
        return numbers, [lock(np.array(table[:, :, a])) for a in range(A)]

    def _read_transitions(self, given: Rewards) -> tuple[int, FloatArray]:
        """Return a statistic, and the probabilities of the next state [H or 1, S, S, X] over it."""
        N, A, S = self.agents, self.actions, self.states
        kept: Any = slice(None)  # totals that there are
        if self.scores is None:
            over, points, number, letter = digits(N, A), self.counts.T, len(self.counts), "M"
            where = self.counts @ over
        else:
            kept = points = np.flatnonzero(_possible(self.scores, N))
            number, letter = N * max(self.scores) + 1, "N·max(scores) + 1"
            least = min(self.scores)
            where = points - N * least
            over = np.array([0, 1] if A == 2 else [w - least for w in self.scores])

        def ask(h: int) -> list[FloatArray]:
            return [call_function("transitions", given, (h, s), points, S) for s in range(S)]

        held = self._table("transitions", given, ask, (S, number, S), f"S, {letter}, S", calls=S)
        if not callable(given):
            held = held.transpose(0, 1, 3, 2)[..., kept]  # [H or 1, S, S, points]
        axes = ["h", "s", "counts" if self.scores is None else "total", "next"]
        rows = np.ascontiguousarray(held.transpose(0, 1, 3, 2))
        check.distributions("transitions", rows, axes, over="next states")
        if self.scores is not None and A == 2:  # from the total score to how many chose action 1
            low, high = self.scores
            total = np.searchsorted(points, low * N + (high - low) * np.arange(N + 1))
            return self._number(over), lock(np.ascontiguousarray(held[..., total]))
        table = memory.zeros((*held.shape[:3], N * int(max(over)) + 1), "transitions over counts")
        table[:, :, 0] = 1.0  # what no joint action has is never read
        table[..., where] = held
        return self._number(over), lock(table)

    def _table(
        self, what: str, given: Rewards, ask: Callable[[int], Any], shape: tuple[int, ...], letters: str, calls: int
    ) -> FloatArray:
        """Return an array [H or 1, *shape] as it was given, or what a function says, which `ask` calls for one step."""
        if callable(given):
            if self._asked * calls > _CALLS:
                raise TacitError(
                    f"{what} would be called {self._asked * calls:,} times, for each step, state and action; "
                    f"stationary=True calls it for one step, where all are the same"
                )
            return _stack(ask(h) for h in range(self._asked))
        array = check.array(what, given)
        if array.shape[1:] != shape or len(array) not in (1, self.horizon):
            steps = "1" if self.horizon == 1 else f"1 or {self.horizon}"
            wanted = f"[{steps}, {', '.join(str(k) for k in shape)}]: [H or 1, {letters}]"
            raise TacitError(f"{what} has shape {array.shape}; it must be {wanted}")
        return array

    def reward_range(self, weights: FloatArray) -> tuple[float, float]:
        """Return the least and the largest reward of any agent, whose weights are [N, A]."""
        ends = []
        for a, table in enumerate(self.rewards):
            paid = table[..., self._totals_with(a)]
            worth = weights[:, a].min(), weights[:, a].max()
            ends += [w * r for w in worth for r in (float(paid.min()), float(paid.max()))]
        return float(min(ends)), float(max(ends))

    def _totals_with(self, action: int) -> Any:
        """Return which totals of its reward's statistic there are where somebody chose an action."""
        scores = np.array(list(self.numbers)[self.reward_of[action]].scores)
        if self.actions == 1:
            return slice(None)
        if self.load:
            return np.arange(self.agents) + scores[action]
        return self.counts[self.counts[:, action] > 0] @ scores


def check_size(agents: int, actions: int, states: int, *, load: bool, scores: Sequence[int] | None) -> None:
    """Raise unless memory holds the tables of a counting game, by its sizes alone: before anything is made of them."""
    if not load or scores is None:
        check_counts(agents, actions)
    full = agents * (agents + 1) ** max(actions - 2, 0) + 1  # totals that tell every count
    totals = full if scores is None else agents * (max(scores) - min(scores)) + 1
    paid = agents + 1 if load else full
    size = memory.floats(2, states, actions, paid) + memory.floats(3, states, states, totals)
    size += memory.floats(2 * actions + 2, actions) + memory.floats(2, agents, actions)  # statistics, and weights
    memory.require(size, f"a counting game of {agents} agents, {states} states and {actions} actions")


def _possible(scores: tuple[int, ...], agents: int) -> npt.NDArray[np.bool_]:
    """Return which totals the scores of so many agents can add up to."""
    possible = np.zeros(agents * max(scores) + 1, dtype=bool)
    possible[0] = True
    for _ in range(agents):
        reached = np.zeros_like(possible)
        for w in set(scores):
            reached[w:] |= possible[: len(possible) - w]
        possible = reached
    return possible


def _stack(steps: Iterable[Any]) -> FloatArray:
    """Stack the tables of all steps; where all are the same, one stands for all."""
    held: list[FloatArray] = []
    first = np.zeros(0)
    for h, step in enumerate(steps):
        table = np.array(step)
        if h == 0:
            first = table
        elif not held and not np.array_equal(table, first):
            memory.require(memory.floats(h + 1, table.size), "tables of every step")
            held = [first] * h
        if held:
            held.append(table)
    return np.stack(held) if held else first[None]


def number_of_counts(agents: int, actions: int) -> int:
    """Return how many vectors of counts there are, (N+A−1 choose A−1).

    >>> number_of_counts(8, 4)
    165
    """
    return math.comb(agents + actions - 1, actions - 1)


def count_vectors(agents: int, actions: int) -> IntArray:
    """Return all vectors of counts of `agents` agents, [M, A], in ascending order.

    Parameters
    ----------
    agents, actions : int

    Returns
    -------
    int array [M, A]

    Examples
    --------
    >>> import tacit
    >>> tacit.count_vectors(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    agents, actions = check.integer("agents", agents), check.integer("actions", actions)
    check_counts(agents, actions)
    number = number_of_counts(agents, actions)
    # bars among stars: the places of A − 1 bars among N + A − 1 things
    flat = itertools.chain.from_iterable(itertools.combinations(range(agents + actions - 1), actions - 1))
    bars = np.fromiter(flat, dtype=np.int64, count=number * (actions - 1)).reshape(number, actions - 1)
    edges = np.concatenate([np.full((number, 1), -1), bars, np.full((number, 1), agents + actions - 1)], axis=1)
    counts: IntArray = np.diff(edges, axis=1) - 1
    return counts


def check_counts(agents: int, actions: int) -> None:
    """Raise unless all vectors of counts fit into memory; there may be too many of them to be counted.

    >>> check_counts(1000, 1000)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: 1000 agents and 1000 actions have about 1e+600 counts, too many for any memory; ...
    """
    log = math.lgamma(agents + actions) - math.lgamma(agents + 1) - math.lgamma(actions)
    if log > math.log(1e18):
        raise TacitError(
            f"{agents} agents and {actions} actions have about 1e+{log / math.log(10):.0f} counts, too many for any "
            f"memory; load=True and scores, where a game has them, need no counts"
        )
    number = number_of_counts(agents, actions)
    size = 4 * memory.floats(number, actions)
    memory.require(size, f"the {number:,} counts of {agents} agents and {actions} actions")


def digits(agents: int, actions: int) -> IntArray:
    """Return the scores [A] with which the sum of all agents' scores tells every count: 0, 1, N+1, (N+1)², …

    >>> digits(2, 4)
    array([0, 1, 3, 9])
    """
    return np.array([0] + [(agents + 1) ** a for a in range(actions - 1)])


#: Points at which arrays are compared with single calls.
_COMPARED = 12


def call_function(what: str, function: Any, at: tuple[int, ...], points: IntArray, states: int = 0) -> FloatArray:
    """Return a function's numbers at `points` [M] or [A, M], called as function(*at, point).

    With `states` = 0 a number for each point, [M]; otherwise a distribution, [S, M], from probabilities [S] or [S, M],
    or from one next state for each point.
    """

    def call(k: int) -> FloatArray:
        point: Any = int(points[k]) if points.ndim == 1 else points[:, k].copy()
        said = f"{what}({', '.join(str(x) for x in at)}, {brief(point if points.ndim == 1 else point.tolist())})"
        try:
            given = np.asarray(function(*at, point))
        except Exception as error:  # whatever somebody's function does
            raise TacitError(f"{said} raised {type(error).__name__}: {one_line(error, 200)}") from error
        found = _result(given[..., None] if given.dtype.kind in "biuf" else given, 1, states)
        if found is None:
            wanted = f"{states} probabilities, or a next state" if states else "a number"
            raise TacitError(f"{said} returned {brief(given.tolist())}; it must be {wanted}")
        single: FloatArray = found[..., 0]
        return single

    def agrees(k: int) -> bool:
        try:
            return bool(np.array_equal(call(k), whole[..., k], equal_nan=True))
        except TacitError:  # it is written for arrays alone
            return True

    number = points.shape[-1]
    whole: Any = None
    try:
        with np.errstate(all="ignore"):
            whole = _result(np.asarray(function(*at, points)), number, states)
    except Exception:  # it is not written for arrays
        whole = None
    some = np.unique(np.linspace(0, number - 1, _COMPARED).astype(np.int64))
    if whole is not None and all(agrees(k) for k in some):
        found: FloatArray = whole
        return found
    return np.stack([call(k) for k in range(number)], axis=-1)


def _result(given: Any, number: int, states: int) -> FloatArray | None:
    """Return what a function gave for so many points as floats [M] or [S, M], or None where it is no such thing."""
    if given.dtype.kind not in "biuf":
        return None
    if states == 0:
        return given.astype(np.float64) if given.shape == (number,) else None
    if given.shape == (number,) and given.dtype.kind in "iu":
        inside = (given >= 0) & (given < states)
        return (np.arange(states)[:, None] == given).astype(np.float64) if inside.all() else None
    return given.astype(np.float64) if given.shape == (states, number) else None
