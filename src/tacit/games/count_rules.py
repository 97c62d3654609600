"""Rewards and transitions of a counting game, arrays or functions, as tables over statistics of the counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.errors import TacitError, brief, sentence
from tacit.core.memory import lock
from tacit.core.types import FloatArray, IntArray

if TYPE_CHECKING:
    from tacit.games.count import CountGame

ArrayOrFunction = npt.ArrayLike | Callable[..., Any]

#: Calls of a function that makes tables, at most: they take a minute or two.
_CALLS = 10_000_000


class Statistic(NamedTuple):
    """What a table is over: X = Σ_i scores[a_i], from 0 to size − 1."""

    scores: tuple[int, ...]
    size: int


class CountRules:
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
        self, game: CountGame, rewards: ArrayOrFunction, transitions: ArrayOrFunction, *, stationary: bool
    ) -> None:
        self.agents, self.actions, self.states, self.horizon = game.agents, game.actions[0], game.states, game.horizon
        self.load, self.scores = game.load, game.scores
        self._steps = 1 if stationary else self.horizon  # for which functions are called
        self.numbers: dict[Statistic, int] = {}
        self.reward_of, self.rewards = self._read_rewards(rewards)
        self.transition_of, self.transitions = self._read_transitions(transitions)

    @cached_property
    def counts(self) -> IntArray:
        """All vectors of counts, [M, A]."""
        return count_vectors(self.agents, self.actions)

    def _number(self, scores: Iterable[int]) -> int:
        """Return the number of a statistic; a new one joins the others."""
        each = tuple(int(score) for score in scores)
        statistic = Statistic(each, self.agents * max(each) + 1)
        if statistic not in self.numbers:
            size = memory.floats(self.agents.bit_length() + 3, 2, statistic.size)
            memory.require(size, f"distributions of counts of {self.agents} agents and {self.actions} actions")
        return self.numbers.setdefault(statistic, len(self.numbers))

    def _read_rewards(self, rewards: ArrayOrFunction) -> tuple[list[int], list[FloatArray]]:
        """Return for each action a statistic, and a table [H or 1, S, X] over it."""
        N, A, S = self.agents, self.actions, self.states
        points = np.arange(N + 1) if self.load else self.counts.T
        chosen = np.broadcast_to(points > 0, (A, points.shape[-1]))  # where somebody chose the action

        def call(h: int) -> FloatArray:
            step = np.zeros((S, *chosen.shape))
            for s, a in itertools.product(range(S), range(A)):
                step[s, a, chosen[a]] = call_function("rewards", rewards, (h, s, a), points[..., chosen[a]])
            return step

        letters = f"S, A, {'N + 1' if self.load else 'M'}"
        table = self._table("rewards", rewards, call, (S, *chosen.shape), letters, calls=S * chosen.size)
        table = np.where(chosen, table, 0.0)
        check.finite("rewards", table, ["h", "s", "a", "load" if self.load else "counts"])
        if not self.load:
            scores = digits(N, A)
            totals, size = self.counts @ scores, N * int(max(scores)) + 1
            by_total = memory.zeros((A, len(table), S, size), "rewards over counts")
            for a in range(A):
                by_total[a][:, :, totals[chosen[a]]] = table[:, :, a, chosen[a]]
            return [self._number(scores)] * A, [lock(rows) for rows in by_total]
        if A == 1:  # everybody is there
            return [self._number((0,))], [lock(np.array(table[:, :, 0, N:]))]
        if A == 2:  # both loads say the same
            both = [np.ascontiguousarray(table[:, :, 0, ::-1]), np.array(table[:, :, 1])]
            return [self._number((0, 1))] * 2, [lock(rows) for rows in both]
        numbers = [self._number(int(b == a) for b in range(A)) for a in range(A)]
        return numbers, [lock(np.array(table[:, :, a])) for a in range(A)]

    def _read_transitions(self, transitions: ArrayOrFunction) -> tuple[int, FloatArray]:
        """Return a statistic, and the probabilities of the next state [H or 1, S, S, X] over it."""
        N, A, S = self.agents, self.actions, self.states
        possible: Any = slice(None)
        if self.scores is None:
            scores, points, number, letter = digits(N, A), self.counts.T, len(self.counts), "M"
            totals = self.counts @ scores
        else:
            possible = points = np.flatnonzero(_possible(self.scores, N))
            number, letter = N * max(self.scores) + 1, "N·max(scores) + 1"
            least = min(self.scores)
            totals = points - N * least
            scores = np.array([0, 1] if A == 2 else [score - least for score in self.scores])

        def call(h: int) -> list[FloatArray]:
            return [call_function("transitions", transitions, (h, s), points, S) for s in range(S)]

        probs = self._table(
            "transitions", transitions, call, (S, number, S), f"S, {letter}, S", calls=S * points.shape[-1]
        )
        if not callable(transitions):
            probs = probs.transpose(0, 1, 3, 2)[..., possible]  # [H or 1, S, S, points]
        axes = ["h", "s", "counts" if self.scores is None else "total", "next"]
        rows = np.ascontiguousarray(probs.transpose(0, 1, 3, 2))
        check.distributions("transitions", rows, axes, over="next states")
        if self.scores is not None and A == 2:  # from the total score to how many chose action 1
            low, high = self.scores
            at = np.searchsorted(points, low * N + (high - low) * np.arange(N + 1))
            return self._number(scores), lock(np.ascontiguousarray(probs[..., at]))
        table = memory.zeros((*probs.shape[:3], N * int(max(scores)) + 1), "transitions over counts")
        table[:, :, 0] = 1.0  # what no joint action has is never read
        table[..., totals] = probs
        return self._number(scores), lock(table)

    def _table(
        self,
        what: str,
        source: ArrayOrFunction,
        call: Callable[[int], Any],
        shape: tuple[int, ...],
        letters: str,
        calls: int,
    ) -> FloatArray:
        """Return an array [H or 1, *shape], or a function's table, which `call` makes step by step."""
        if callable(source):
            if self._steps * calls > _CALLS:
                raise TacitError(
                    f"{what} would be called {self._steps * calls:,} times, for each step, state, action and count; "
                    f"stationary=True calls it for one step, where all are the same"
                )
            size = memory.floats(2, self._steps, *shape)
            memory.require(size, f"{what} of every step (stationary=True makes one step, where all are the same)")
            tables = np.stack([np.array(call(h)) for h in range(self._steps)])
            return tables[:1] if (tables == tables[:1]).all() else tables
        array = check.array(what, source)
        if array.shape[1:] != shape or len(array) not in (1, self.horizon):
            steps = "1" if self.horizon == 1 else f"1 or {self.horizon}"
            wanted = f"[{steps}, {', '.join(str(k) for k in shape)}]: [H or 1, {letters}]"
            raise TacitError(f"{what} must have shape {wanted}; got {array.shape}")
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
    >>> tacit.games.count_vectors(2, 2).tolist()
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
    """Raise unless all vectors of counts fit into memory. There may be too many of them to be counted.

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


def call_function(what: str, function: Any, at: tuple[int, ...], points: IntArray, states: int = 0) -> FloatArray:
    """Return a function's numbers at `points` [M] or [A, M], called as function(*at, point).

    With `states` = 0 a number for each point, [M]; otherwise a distribution, [S, M], from probabilities [S] or from the
    next state.
    """
    table = np.zeros((*([states] if states else []), points.shape[-1]))
    for k, point in enumerate(points.T):
        try:
            returned = np.asarray(function(*at, point))
        except Exception as error:  # whatever somebody's function does
            raise TacitError(f"{_call_text(what, at, point)} raised {sentence(error)}") from error
        if states and returned.ndim == 0 and returned.dtype.kind in "iu" and 0 <= returned < states:
            table[returned, k] = 1.0
        elif returned.dtype.kind in "biuf" and returned.shape == table.shape[:-1]:
            table[..., k] = returned
        else:
            wanted = f"{states} probabilities, or a next state" if states else "a number"
            raise TacitError(f"{_call_text(what, at, point)} must return {wanted}; got {brief(returned.tolist())}")
    return table


def _call_text(what: str, at: tuple[int, ...], point: Any) -> str:
    return f"{what}({', '.join(str(x) for x in at)}, {brief(point.tolist())})"
