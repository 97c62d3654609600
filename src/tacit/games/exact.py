"""Games with tables: they answer the two questions that every exact figure is made of.

`payoffs`: what does each action pay each agent at a step, where all play `rows` and `V` follows? And `push`: which
distribution of states follows? Values, best responses, gaps, gradients, certificates and behaviour are written over
these two, whatever kind of game answers them: tables over joint actions, or over counts of anonymous agents.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Sealed, lock
from tacit.core.types import FloatArray, IntArray
from tacit.games.protocol import Game, NamedGame, check_play, check_sizes

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from tacit.core.display import Document
    from tacit.games.tabular import TabularGame


#: Rewards are far from 0 where the least is so many times their span.
FAR = 1000.0

#: The policy of a step: [S, A_i] for each agent, who draw independently, or one joint draw [S, A_1, …, A_N].
Rows = Sequence[FloatArray] | FloatArray


def is_joint(rows: Rows) -> TypeIs[FloatArray]:
    """Return whether the rows are one joint draw."""
    return isinstance(rows, np.ndarray)


class ExactGame(NamedGame, Sealed, ABC):
    """A Markov game of N agents, S states and H steps with tables.

    Both questions take axes in front, for many policies at once: then `rows` are [..., S, A_i]. With a state `s` they
    are about this state alone, and the axis of states is left out: rows [..., A_i].
    """

    initial: FloatArray  # [S]
    picture: Callable[[int], npt.NDArray[np.uint8]] | None

    @abstractmethod
    def payoffs(
        self, h: int, rows: Rows, V: FloatArray | None, s: int | None = None, *, agents: Sequence[int] | None = None
    ) -> FloatArray:
        """Return the payoffs of each agent's actions at step h, where V [N, S] follows.

        Parameters
        ----------
        h : int
        rows : N arrays [S, A_i], or one array [S, A_1, …, A_N]
        V : array [..., N, S] or None
            Values of the next states, several at once if they like; None where nothing follows.
        s : int, optional
            Of this state alone.
        agents : sequence of int, optional
            Of these agents alone; V is theirs too.

        Returns
        -------
        array [..., N, S, A]
            A is the largest number of actions; who has fewer has its last one repeated. Of a joint draw
            [..., N, S, A, A]: the payoff of the second action where the first is recommended, times the probability
            of that recommendation.
        """

    @abstractmethod
    def push(self, h: int, rows: Rows, occupancy: FloatArray, s: int | None = None) -> FloatArray:
        """Return the distribution [..., S] after step h, from an `occupancy` [..., S] before.

        With a state s the occupancy [...] is the probability of being there.
        """

    def walk(self, rows: Rows) -> FloatArray:
        """Return the transitions [..., S, S] of the first step under `rows`."""
        if is_joint(rows):
            return np.stack([self.push(0, rows[s], np.ones(()), s) for s in range(self.states)])
        one = np.ones(rows[0].shape[:-2])
        at = [[table[..., s, :] for table in rows] for s in range(self.states)]
        return np.stack([self.push(0, rows_at, one, s) for s, rows_at in enumerate(at)], axis=-2)

    @abstractmethod
    def step(self, h: int, s: int, actions: Sequence[int], u: float) -> tuple[int, FloatArray]:
        """Draw the next state from a uniform number u in [0, 1). Return it and the rewards [N]."""

    @abstractmethod
    def shift_rewards(self) -> tuple[ExactGame, FloatArray] | None:
        """Return the game with each agent's least reward subtracted, and those rewards [N]. None where none is far off.

        Differences of returns are lost to rounding where rewards are far from 0 and near each other.
        """

    def to_random_horizon(self) -> ExactGame:
        """Return the game in which episodes are played. Itself, or where there is no last step, one that has one."""
        return self

    @abstractmethod
    def kernels(self) -> Any:
        """Return the game as the compiled loop plays it."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """A digest of all that the game is to its players."""

    @abstractmethod
    def tabular(self) -> TabularGame:
        """Return the game as tables over joint actions; refused where they would not fit."""

    @abstractmethod
    def agents_to_compare(self, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Return groups of agents that show whether all agents' values have a common potential."""

    @abstractmethod
    def induce_game(self, agents: Sequence[int], probs: Sequence[FloatArray]) -> TabularGame:
        """Return the game of some of the `agents_to_compare`, where the others play `probs` [H, S, A_j]."""

    def gain_alike(self, old: FloatArray, new: FloatArray) -> float | None:
        """Return the total gain of agents who move in turn from `old` [H or 1, S, A] to `new`.

        None where there is no quicker way than to evaluate one move after another.
        """
        return None

    @abstractmethod
    def numbers(self, *, same: bool = False) -> int:
        """Return how many numbers it takes to answer for one row at one state. Fewer where the `same` V follows all."""

    @abstractmethod
    def seconds_to_answer(self, rows: int) -> float:
        """Return roughly the seconds that so many rows at one state each take."""

    @property
    def joint_actions(self) -> int:
        """Number of joint actions, Π A_i."""
        return math.prod(self.actions)

    @property
    def joint_rows(self) -> int:
        """Joint actions that its tables list for each state. All, or none where only counts matter."""
        return self.joint_actions

    @abstractmethod
    def show(self, *, state: int | str | None = None, step: int | None = None, limit: int | None = 6) -> Document:
        """Show payoffs by state with the names of actions, and what leads where."""

    @cached_property
    def _start(self) -> tuple[IntArray, FloatArray]:
        """The states with positive initial probability, and the probabilities added up."""
        support = lock(np.flatnonzero(self.initial))
        return support, lock(cumulate_rows(self.initial[support], np.array([0, len(support)])))

    def start(self, u: float) -> int:
        """Draw the first state from a uniform number u in [0, 1)."""
        check.uniform(u)
        support, cumulative = self._start
        return int(support[pick(cumulative, 0, len(support), u)])

    def check_place(self, h: int, s: int, actions: Sequence[int]) -> tuple[int, int, list[int]]:
        """Return step, state and joint action as Python numbers. Raise unless they are of this game."""
        h = check.integer("h", h, least=0, most=self.horizon - 1)
        s = check.integer("s", s, least=0, most=self.states - 1)
        each = check.list_of("actions", actions, f"actions, one for each of {self.agents} agents", count=self.agents)
        pairs = enumerate(zip(each, self.actions, strict=True))
        return h, s, [check.integer(f"actions[{i}]", a, least=0, most=size - 1) for i, (a, size) in pairs]


def digest_arrays(begin: str, arrays: Mapping[str, Any]) -> str:
    """Return a digest of arrays and numbers by their names, types, shapes and content."""
    summed = hashlib.sha256(begin.encode())
    for name, part in arrays.items():
        array = np.ascontiguousarray(part)
        summed.update(f"{name} {array.dtype.str} {array.shape};".encode() + array.tobytes())
    return summed.hexdigest()


def seconds_over_joint_actions(game: ExactGame, rows: int) -> float:
    """Return roughly the seconds to go through all joint actions for so many rows.

    Measured: seconds for each row, agent and joint action, and for each row and agent.
    """
    return rows * game.agents * (3e-9 * game.joint_actions + 5e-6)


def as_exact(game: object) -> ExactGame | None:
    """Return a game in which policies can be evaluated exactly. None in the place of any other."""
    return game if isinstance(game, ExactGame) else None


def check_exact(game: object, needed: str = "") -> ExactGame:
    """Return a game with tables, or raise; `needed` says for what."""
    tables = as_exact(game)
    if tables is None and needed:
        raise TacitError(f"{needed}, and the game {getattr(game, 'name', None) or brief(game)} has none")
    if tables is None:
        hint = "; tacit.tabulate makes tables of functions over states" if hasattr(game, "kernels") else ""
        raise TacitError(f"game must be a TabularGame or a CountGame, as from tacit.make; got {brief(game)}{hint}")
    return tables


def check_playable(game: Game) -> None:
    """Raise unless a game follows the protocol. One of functions must play by them."""
    check_sizes(game)
    if as_exact(game) is None:
        check_play(game)


def check_finite(game: ExactGame, what: str) -> None:
    """Raise where something speaks of finite games alone and a game is discounted."""
    if game.discount is not None:
        raise TacitError(f"game must have a horizon for {what}; got {game!r}")


def with_tables(game: object) -> TabularGame:
    """Return a game with joint tables: a counting game's are written out, if they fit."""
    return check_exact(game).tabular()


# Expectations over the other agents' actions: from payoffs of joint actions to those of each agent's actions.
#
# Payoffs are arrays [..., S, A_1, …, A_N]; what agents play is [..., S, A_i] for each, or one joint draw
# [..., S, A_1, …, A_N]. The axes in front broadcast. Sums are NumPy's own (einsum), never those of BLAS, whose order
# depends on its threads and on the processor.


def own_payoffs(payoff: FloatArray, rows: Sequence[FloatArray], i: int) -> FloatArray:
    """Return E_{a_-i ~ π_-i}[payoff] as [..., S, A_i], where the others draw independently from `rows`.

    One agent is summed out at a time, from the ends of the array towards agent i, so that each pass is a product
    of contiguous blocks and the array shrinks by a factor A_j: the cost is that of reading the payoff once. The first
    agents go first, since theirs are the longer blocks.
    """
    reduced = payoff.reshape(*payoff.shape[: payoff.ndim - len(rows)], -1)
    for row in rows[:i]:
        reduced = np.einsum("...a,...ar->...r", row, reduced.reshape(*reduced.shape[:-1], row.shape[-1], -1))
    for row in reversed(rows[i + 1 :]):
        reduced = np.einsum("...ra,...a->...r", reduced.reshape(*reduced.shape[:-1], -1, row.shape[-1]), row)
    # who is alone has the same payoffs whatever is played, and several policies at once need an axis all the same
    return reduced if len(rows) > 1 else np.broadcast_to(reduced, np.broadcast_shapes(reduced.shape, rows[i].shape))


def recommended_payoffs(payoff: FloatArray, joint: FloatArray, i: int) -> FloatArray:
    """Return Σ_{a_-i} μ(b, a_-i)·payoff(a, a_-i) as [..., S, b, a]: recommended b, agent i plays a."""
    agents = joint.ndim - 1
    paid: FloatArray = np.einsum("...bj,...aj->...ba", own_first(joint, i, agents), own_first(payoff, i, agents))
    return paid


def own_first(array: FloatArray, i: int, agents: int) -> FloatArray:
    """Bring agent i's axis before the others' and flatten those: [..., S, A_i, Π_{j≠i} A_j]."""
    first = array.ndim - agents
    moved = np.moveaxis(array, first + i, first)
    return moved.reshape(*moved.shape[: first + 1], -1)


def pair_payoffs(payoff: FloatArray, rows: Sequence[FloatArray], i: int, j: int) -> FloatArray:
    """Return E_{a_-ij}[payoff] as [S, A_i, A_j], i < j, over independent others."""
    reduced = payoff
    for k in reversed(range(len(rows))):
        if k not in (i, j):
            reduced = np.einsum("s...a,sa->s...", np.moveaxis(reduced, 1 + k, -1), rows[k])
    return reduced


def joint_draw(rows: Sequence[FloatArray]) -> FloatArray:
    """Return the joint distributions [..., J] of independent ones [..., A_i]."""
    joint = rows[0]
    for row in rows[1:]:
        both = joint[..., :, None] * row[..., None, :]
        joint = both.reshape(*both.shape[:-2], -1)
    return joint


def stack_rows(rows: Sequence[FloatArray]) -> FloatArray:
    """Stack the agents' rows [..., S, A_i] as [..., N, S, A], padded with probability 0.

    >>> stack_rows([np.array([[1.0]]), np.array([[0.5, 0.5]])]).tolist()
    [[[1.0, 0.0]], [[0.5, 0.5]]]
    """
    widths = {row.shape[-1] for row in rows}
    most = max(widths)
    if len(widths) > 1:
        rows = [np.concatenate([row, np.zeros((*row.shape[:-1], most - row.shape[-1]))], axis=-1) for row in rows]
    lead, states = rows[0].shape[:-2], rows[0].shape[-2]
    return np.concatenate(rows, axis=-2).reshape(*lead, len(rows), states, most)  # for a thousand faster than np.stack


def stack_agents(parts: Sequence[FloatArray], *, recommended: bool = False) -> FloatArray:
    """Stack the agents' payoffs [..., S, A_i] as [..., N, S, A]. Who has fewer actions has its last one repeated.

    Where actions are recommended, payoffs [..., S, b, a] as [..., N, S, A, A]; what is never recommended pays nothing.
    """
    most = max(part.shape[-1] for part in parts)
    filled = []
    for part in parts:
        missing = most - part.shape[-1]
        if missing and recommended:
            part = np.concatenate([part, np.zeros((*part.shape[:-2], missing, part.shape[-1]))], axis=-2)
        filled.append(np.concatenate([part, *[part[..., -1:]] * missing], axis=-1) if missing else part)
    return np.stack(filled, axis=-4 if recommended else -3)


# The transition function as lists of successors, and drawing from them by inverse-transform sampling.


class Successors(NamedTuple):
    """Compressed sparse rows; row (h·S + s)·J + joint, with joint row-major, last agent fastest.

    Attributes
    ----------
    first : int array [rows + 1]
        Where each row begins in the other two arrays.
    state : int array
        The next states of all rows, row after row.
    prob : float array
        Their probabilities.

    Examples
    --------
    >>> import tacit
    >>> lists = tacit.make("good-state", horizon=1).successors
    >>> lists.state[lists.first[0] : lists.first[1]].tolist()
    [0, 1]
    """

    first: IntArray  # [rows + 1]  where each row begins
    state: npt.NDArray[np.int32]  # [entries]  next state
    prob: FloatArray  # [entries]  its probability, > 0

    @property
    def rows(self) -> int:
        """Number of (h, s, joint action) triples."""
        return len(self.first) - 1


def from_dense(transitions: FloatArray) -> Successors:
    """Keep the positive entries of an array [..., S].

    >>> from_dense(np.array([[0.0, 1.0], [0.25, 0.75]])).state
    array([1, 0, 1], dtype=int32)
    """
    rows = transitions.reshape(-1, transitions.shape[-1])
    positive = rows > 0
    first = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(positive.sum(axis=1), out=first[1:])
    return Successors(first, np.nonzero(positive)[1].astype(np.int32), rows[positive])


def from_entries(row: npt.ArrayLike, state: npt.ArrayLike, prob: npt.ArrayLike, rows: int) -> Successors:
    """Gather (row, next state, probability) triples in any order. Repeated pairs add up, zeros are dropped."""
    row, state, prob = np.asarray(row, np.int64), np.asarray(state, np.int32), np.asarray(prob, np.float64)
    order = np.lexsort((state, row))
    row, state, prob = row[order], state[order], prob[order]
    fresh = np.ones(len(row), dtype=bool)
    fresh[1:] = (row[1:] != row[:-1]) | (state[1:] != state[:-1])
    starts = np.flatnonzero(fresh)
    summed = np.add.reduceat(prob, starts) if len(prob) else prob
    row, state = row[starts], state[starts]
    keep = summed != 0
    first = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(row[keep], minlength=rows), out=first[1:])
    return Successors(first, state[keep], summed[keep])


def take_rows(lists: Successors, rows: IntArray) -> Successors:
    """Return these rows, in their order and as often as they are named.

    >>> take_rows(from_dense(np.array([[0.5, 0.5], [0.0, 1.0]])), np.array([1, 0])).state
    array([1, 0, 1], dtype=int32)
    """
    lengths = np.diff(lists.first)[rows]
    first = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.arange(first[-1]) + np.repeat(lists.first[rows] - first[:-1], lengths)
    return Successors(first, lists.state[entries], lists.prob[entries])


def to_dense(successors: Successors, shape: tuple[int, ...]) -> FloatArray:
    """Write the lists into an array of zeros of this shape."""
    dense = np.zeros((successors.rows, shape[-1]))
    row = np.repeat(np.arange(successors.rows), np.diff(successors.first))
    dense[row, successors.state] = successors.prob
    return dense.reshape(shape)


def cumulate_rows(prob: FloatArray, first: IntArray) -> FloatArray:
    """Return the running sums of `prob` within each row [first[k], first[k+1]).

    The last entry of a row is exactly 1, so that rounding never draws past its end. Sums run within the row alone,
    one vectorised pass for each place in a row, since a sum over the whole array would lose digits.
    """
    cumulative = prob.copy()
    begin, length = first[:-1], np.diff(first)
    for place in range(1, int(length.max(initial=0))):
        begin, length = begin[length > place], length[length > place]
        cumulative[begin + place] += cumulative[begin + place - 1]
    cumulative[first[1:] - 1] = 1.0
    return cumulative


def pick(cumulative: FloatArray, first: int, end: int, u: float) -> int:
    """Return the smallest k in [first, end) with u < cumulative[k], for u in [0, 1).

    A binary search: a draw costs the logarithm of the number of successors, never the number of states. Its last step
    is no branch, since where a draw ends cannot be predicted.
    """
    last = end - 1
    while first + 1 < last:
        middle = (first + last) // 2
        if u < cumulative[middle]:
            last = middle
        else:
            first = middle + 1
    if first < last:
        first += 0 if u < cumulative[first] else 1
    return first
