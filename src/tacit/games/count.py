"""Counting games: agents that are anonymous to each other, exact for a thousand of them.

Rewards depend on the state, the own action, and how many agents chose each action; transitions on the state and the
counts. So tables are polynomial in the number of agents, and so is all that the oracle computes: under independent
policies the counts of the others are a sum of independent vectors, whose distribution is a convolution.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.display import count
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief, sentence
from tacit.core.memory import Owned, lock
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import FAR, ExactGame, Rows, digest_arrays, is_joint, stack_rows
from tacit.games.protocol import check_range
from tacit.games.tabular import TabularGame, check_axes

if TYPE_CHECKING:
    from tacit.core.display import Document
    from tacit.games.kernels import CountTables

ArrayOrFunction = npt.ArrayLike | Callable[..., Any]

#: Calls of a function that makes tables, at most: they take a minute or two.
_CALLS = 10_000_000

#: Pairs of agents that are compared, at most; where agents have many different weights, drawn evenly.
MOST_PAIRS = 40


class CountGame(ExactGame):
    """N anonymous agents with A actions each; only how many chose each action matters.

    Parameters
    ----------
    rewards : array or function
        With `load`, an array [H or 1, S, A, N + 1]: the reward of an action by how many chose it, oneself included; or
        a function of (h, s, a, n). Without, an array [H or 1, S, A, M] over all vectors of counts, in the order of
        `tacit.games.count_vectors(agents, actions)`; or a function of (h, s, a, counts), where counts[b] is how many
        agents chose b, oneself included. Entries in which nobody chose the own action are never read.
    transitions : array or function
        An array [H or 1, S, M, S] over the vectors of counts, or with `scores` [H or 1, S, X, S] over the total score
        from 0 to X − 1 = N·max(scores); or a function of (h, s, counts) or (h, s, total) that returns the S
        probabilities of the next state, or the next state.
    initial : array [S]
    horizon : int
    agents, actions : int
        N, and A, the same for all agents.
    load : bool
        Rewards depend on how many chose the own action, and not on how the others are spread.
    scores : sequence of A whole numbers, optional
        Transitions depend on Σ_i scores[a_i] alone, e.g. (0, 1) for how many chose action 1.
    stationary : bool
        Functions are the same at every step, and are called for the first alone.
    weights : array [N] or [N, A], optional
        What an agent's rewards are multiplied by; 1 if not given.
    name, state_names, action_names, notes : optional
        For people; `action_names` has A names.

    Notes
    -----
    A function is called once for each point of its table. `load` and `scores` are what makes games of many agents and
    actions fast: then all is computed from distributions of single sums, O(N²·log N) at each state, else from those of
    all counts, O(N^A·log N).

    Examples
    --------
    >>> import tacit
    >>> game = tacit.CountGame(
    ...     lambda h, s, a, n: -n, lambda h, s, x: [1.0], [1.0], 3, agents=1000, actions=2, load=True, scores=(0, 1)
    ... )
    >>> game
    CountGame(1000 agents, 1 state, 2 actions each, horizon 3, rewards in [-1000, -1])
    """

    def __init__(
        self,
        rewards: ArrayOrFunction,
        transitions: ArrayOrFunction,
        initial: npt.ArrayLike,
        horizon: int,
        *,
        agents: int,
        actions: int,
        load: bool = False,
        scores: Sequence[int] | None = None,
        stationary: bool = False,
        weights: npt.ArrayLike | None = None,
        name: str | None = None,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.horizon = check.integer("horizon", horizon)
        self.agents = check.integer("agents", agents)
        A = check.integer("actions", actions)
        self.load = check.flag("load", load)
        self.scores = None if scores is None else _read_scores(scores, A)
        self.actions: tuple[int, ...] = (A,) * self.agents
        self.initial = check.array("initial", initial)
        if self.initial.ndim != 1 or not len(self.initial):
            raise TacitError(f"initial must be a distribution over states, [S]; got shape {self.initial.shape}")
        check.distributions("initial", self.initial, ["s"], over="states")
        self.states: int = len(self.initial)
        check_size(self.agents, A, self.states, load=self.load, scores=self.scores)
        self.weights = self._read_weights(weights)
        rules = CountRules(self, rewards, transitions, stationary=check.flag("stationary", stationary))
        self.statistics = list(rules.numbers)
        self._reward_of, self._rewards = rules.reward_of, rules.rewards
        self._transition_of, self._transitions = rules.transition_of, rules.transitions
        self.reward_range = rules.reward_range(self.weights)
        check_range(self.reward_range, self.horizon)
        self._describe(name, state_names, None, notes)
        if action_names is not None:
            self.action_names = (check.names("action_names", action_names, A),) * self.agents
        self.picture = None

    @property
    def _actions_in_words(self) -> str:
        """How many actions agents have, in words."""
        return f"{count(self.actions[0], 'action')} each"

    @property
    def joint_actions(self) -> int:
        """Number of joint actions, A^N, of which none is ever listed."""
        number: int = self.actions[0] ** self.agents
        return number

    @property
    def joint_rows(self) -> int:
        """None: tables list counts."""
        return 0

    @property
    def transition_statistic(self) -> Statistic:
        """What transitions depend on."""
        return self.statistics[self._transition_of]

    def reward(self, h: int, s: int, action: int, counts: npt.ArrayLike) -> float:
        """Return the reward of an action of weight 1. `counts` [A] chose each, oneself included."""
        table = self._rewards[action]
        total = int(np.dot(self.statistics[self._reward_of[action]].scores, np.asarray(counts)))
        return float(table[h if len(table) > 1 else 0, s, total])

    def next_state(self, h: int, s: int, counts: npt.ArrayLike) -> FloatArray:
        """Return the distribution of the next state [S] where `counts` [A] chose each action."""
        total = int(np.dot(self.transition_statistic.scores, np.asarray(counts)))
        return self._transitions[h if len(self._transitions) > 1 else 0, s, :, total]

    def step(self, h: int, s: int, actions: Sequence[int], u: float) -> tuple[int, FloatArray]:
        """Draw the next state from a uniform number u in [0, 1). Return it and the rewards [N]."""
        h, s, actions = self.check_place(h, s, actions)
        check.uniform(u)
        chosen = np.asarray(actions, dtype=np.int64)
        counts = np.bincount(chosen, minlength=self.actions[0])
        paid = np.array([self.reward(h, s, a, counts) for a in range(len(counts))])
        row, total = h * self._tables["transition_stride"] + s, int(np.dot(self.transition_statistic.scores, counts))
        s_next = int((u >= self._tables["cumulative"][row, total, :-1]).sum())
        return s_next, self.weights[np.arange(self.agents), chosen] * paid[chosen]

    def kernels(self) -> CountTables:
        """Return the tables as the compiled loop reads them, with scratch arrays of its own."""
        from tacit.games.kernels import CountTables  # imports the compiler

        N, A, S = self.agents, self.actions[0], self.states
        levels = max(N - 1, 1).bit_length() + 2
        most = max(statistic.size for statistic in self.statistics)
        memory.require(memory.floats(levels, 2, most), f"distributions of counts of {N} agents and {A} actions")
        return CountTables(
            **self._tables,
            actions=lock(np.full(N, A)),
            horizon=self.horizon,
            states=S,
            load=np.zeros(A, dtype=np.int64),
            total=np.zeros(len(self.statistics), dtype=np.int64),
            once=lock(np.ones(N, dtype=np.int64)),
            probs=np.zeros((N, A)),
            sums=np.zeros((levels, 2, most + 2)),
            span=np.zeros((levels, 3), dtype=np.int64),
            todo=np.zeros((2 * levels, 5), dtype=np.int64),
            own_reward=np.zeros((N, A)),
            own_next=np.zeros((N, A, S)),
        )

    @cached_property
    def _tables(self) -> dict[str, Any]:
        """All that never changes, as kernels read it."""
        A, S, Q = self.actions[0], self.states, len(self.statistics)
        scores = np.array([statistic.scores for statistic in self.statistics])
        steps, group = np.zeros((Q, A), dtype=np.int64), np.zeros((Q, A), dtype=np.int64)
        different = np.zeros(Q, dtype=np.int64)
        for q, row in enumerate(scores):
            distinct, which = np.unique(row, return_inverse=True)
            steps[q, : len(distinct)], group[q], different[q] = distinct, which.ravel(), len(distinct)
        reward_steps = max(len(table) for table in self._rewards)
        full = [np.broadcast_to(table, (reward_steps, *table.shape[1:])) for table in self._rewards]
        sizes = np.array([table.shape[2] for table in full])
        block = np.concatenate([table.reshape(reward_steps * S, -1) for table in full], axis=1)
        first = np.arange(reward_steps * S)[:, None] * sizes.sum() + (np.cumsum(sizes) - sizes)
        support, start = self._start
        move = self._transitions.reshape(-1, S, self._transitions.shape[3])
        arrays = {
            "scores": scores,
            "sizes": np.array([statistic.size for statistic in self.statistics]),
            "steps": steps,
            "different": different,
            "group": group,
            "reward_statistic": np.array(self._reward_of),
            "reward_first": first.ravel(),
            "reward": np.ascontiguousarray(block).ravel(),
            "weight": np.array(self.weights),
            "transition": np.ascontiguousarray(move),
            "cumulative": _cumulate(np.ascontiguousarray(move.transpose(0, 2, 1))),
            "start_state": support,
            "start_cumulative": start,
        }
        return {
            **{key: lock(array) for key, array in arrays.items()},
            "transition_statistic": self._transition_of,
            "transition_stride": S if len(self._transitions) > 1 else 0,
            "reward_stride": S if reward_steps > 1 else 0,
        }

    def __getstate__(self) -> dict[str, Any]:
        cached = ("_tables", "_counts", "_start", "digest")
        return {key: value for key, value in self.__dict__.items() if key not in cached}

    @cached_property
    def digest(self) -> str:
        """A digest of all that the game is to its players."""
        return digest_arrays(f"counts {self.agents} {self.actions[0]} {self.horizon}", self._tables)

    def payoffs(
        self, h: int, rows: Rows, V: FloatArray | None, s: int | None = None, *, agents: Sequence[int] | None = None
    ) -> FloatArray:
        """Return what each agent's actions pay, from the distributions of the others' total scores."""
        if is_joint(rows):
            return self.tabular().payoffs(h, rows, V, s, agents=agents)
        from tacit.games.kernels import induced_payoffs  # imports the compiler

        rewards, transitions = induced_payoffs(self, h, self._stack(rows, s), s)
        if agents is not None:
            rewards, transitions = rewards[..., list(agents), :], transitions[..., list(agents), :, :]
        if s is None:
            rewards = np.swapaxes(rewards, -2, -3)
        if V is None:
            return rewards
        sums = "...snat,...nt->...nsa" if s is None else "...nat,...nt->...na"
        payoffs: FloatArray = rewards + np.einsum(sums, transitions, V)
        return payoffs

    def _stack(self, rows: Sequence[FloatArray], s: int | None) -> FloatArray:
        """Return what the agents play as one table, [..., S, N, A], or in a state s [..., N, A]."""
        if s is None:
            return np.swapaxes(stack_rows(rows), -2, -3)
        return np.concatenate(rows, axis=-1).reshape(*rows[0].shape[:-1], self.agents, -1)

    def push(self, h: int, rows: Rows, occupancy: FloatArray, s: int | None = None) -> FloatArray:
        """Return the distribution [..., S] after step h. The `occupancy` is [..., S], or [...] of a state s."""
        if is_joint(rows):
            return self.tabular().push(h, rows, occupancy, s)
        from tacit.games.kernels import next_state_probs  # imports the compiler

        following = next_state_probs(self, h, self._stack(rows, s), s)
        moved: FloatArray = occupancy[..., None] * following
        return moved if s is not None else moved.sum(axis=-2)

    def shift_rewards(self) -> tuple[CountGame, FloatArray] | None:
        """Return the game with each agent's least reward subtracted, and those rewards [N]. None where none is far off.

        Where an agent's actions have different weights, a constant added to its rewards is none of the tables'.
        """
        low, high = self.reward_range
        weight = float(self.weights[0, 0])
        if abs(low) <= FAR * (high - low) or not (self.weights == weight).all():
            return None
        shifted = copy.copy(self)
        shifted._rewards = [lock(table - low / weight) for table in self._rewards]
        shifted.reward_range = (0.0, high - low)
        return shifted, np.full(self.agents, low)

    def agents_to_compare(self, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Return a pair of agents for each two kinds of weights. Agents of the same weights are alike.

        Where the others keep to their policies, two agents face a game of two. The cross derivatives of their values
        are those of this game, so all agents' values have a common potential if and only if those of all pairs have,
        whatever the policy.
        """
        _, first, kind = np.unique(self.weights, axis=0, return_index=True, return_inverse=True)
        kind = kind.ravel()
        pairs = []
        for one, other in itertools.combinations_with_replacement(range(len(first)), 2):
            if one != other:
                pairs.append((int(first[one]), int(first[other])))
            elif (kind == one).sum() > 1:
                i, j = np.flatnonzero(kind == one)[:2]
                pairs.append((int(i), int(j)))
        if len(pairs) > MOST_PAIRS:
            pairs = [pairs[k] for k in rng.choice(len(pairs), MOST_PAIRS, replace=False)]
        return [(min(pair), max(pair)) for pair in pairs]

    def induce_game(self, agents: Sequence[int], probs: Sequence[FloatArray]) -> TabularGame:
        """Return the game of two agents where the others play `probs` [H, S, A]. It has tables over their actions."""
        from tacit.games.kernels import score_distribution  # imports the compiler

        i, j = agents
        H, S, A = self.horizon, self.states, self.actions[0]
        others = np.stack(probs)[[k not in (i, j) for k in range(self.agents)]]  # [N − 2, H, S, A]
        rewards, moves = np.zeros((2, H, S, A, A)), np.zeros((H, S, A, A, S))
        for h in range(H):
            for s in range(S):
                sums = [score_distribution(np.array(one.scores), others[:, h, s]) for one in self.statistics]
                for a in range(A):
                    q = self._reward_of[a]
                    scores, table = self.statistics[q].scores, self._rewards[a]
                    row = table[h if len(table) > 1 else 0, s]
                    for b in range(A):
                        at = scores[a] + scores[b]
                        paid = float(sums[q] @ row[at : at + len(sums[q])])
                        rewards[0, h, s, a, b] = self.weights[i, a] * paid
                        rewards[1, h, s, b, a] = self.weights[j, a] * paid
                scores, rest = self.transition_statistic.scores, sums[self._transition_of]
                table = self._transitions[h if len(self._transitions) > 1 else 0, s]  # [S, X]
                for a in range(A):
                    for b in range(A):
                        at = scores[a] + scores[b]
                        moves[h, s, a, b] = table[:, at : at + len(rest)] @ rest
        moves /= moves.sum(axis=-1, keepdims=True)
        return TabularGame(Owned(moves), Owned(rewards), self.initial, H)

    def gain_alike(self, old: FloatArray, new: FloatArray) -> float | None:
        """Return the total gain of agents who move in turn from `old` [H or 1, S, A] to `new`.

        It does not matter in which order they move: the m-th to move faces m that have and N − 1 − m that have not.
        None where agents differ in their weights.
        """
        from tacit.games.kernels import induced_by_kind  # imports the compiler

        N, S, A = self.agents, self.states, self.actions[0]
        if not (self.weights == self.weights[:1]).all():
            return None
        moved = np.repeat(np.arange(N), S)
        copies, number = np.stack([N - moved, moved], axis=1), np.where(moved > 0, 2, 1)
        states = np.tile(np.arange(S), N)
        V, V_moved = np.zeros((N, S)), np.zeros((N, S))
        for h in reversed(range(self.horizon)):
            rows, rows_moved = (policy[h if len(policy) > 1 else 0] for policy in (old, new))
            mu = np.tile(np.stack([rows, rows_moved], axis=1), (N, 1, 1))  # [N·S, 2, A]
            induced = induced_by_kind(self, h, states, mu, copies, number)
            reward = (self.weights[0] * induced.rewards[:, 0]).reshape(N, S, A)
            following = induced.transitions[:, 0].reshape(N, S, A, S)
            V = ((reward + np.einsum("msat,mt->msa", following, V)) * rows).sum(axis=2)
            V_moved = ((reward + np.einsum("msat,mt->msa", following, V_moved)) * rows_moved).sum(axis=2)
        return float(dot(V_moved - V, self.initial).sum())

    def seconds_to_answer(self, rows: int) -> float:
        """Return roughly the seconds that so many rows at one state each take.

        A nanosecond does ten of the products that convolutions are made of, and three of those that read tables
        (measured; a busy machine takes longer).
        """
        N, S = self.agents, self.states
        levels = max(N - 1, 1).bit_length()
        total = 0.0
        for q, statistic in enumerate(self.statistics):
            different = len(set(statistic.scores))
            spread = 12.0 * max(statistic.scores) * N**0.5  # the rest of a sum has no chance worth mentioning
            width = min(statistic.size, spread if different == 2 else statistic.size)
            reads = self._reward_of.count(q) + (different * S if q == self._transition_of else 0)
            total += N * width * (levels * different * 0.1 + reads * 0.35)
        return rows * (total * 1e-9 + N * self.actions[0] * S * 4e-9)

    def numbers(self, *, same: bool = False) -> int:
        """Return how many numbers it takes to answer for one row at one state."""
        return self.agents * self.actions[0] * (self.states + 2)

    def tabular(self) -> TabularGame:
        """Write the game out over joint actions; possible for few agents only."""
        N, A, S = self.agents, self.actions[0], self.states
        steps = max(len(table) for table in self._rewards)
        needed = memory.floats(N, steps * S + 3, A**N) + memory.floats(len(self._transitions), S, S + 1, A**N)
        memory.require(needed, f"{self!r} as tables over {A}^{N} joint actions")
        check_axes(N)
        choices = np.indices((A,) * N, dtype=np.int64).reshape(N, -1)  # [N, J]
        totals = [np.take(np.array(statistic.scores), choices).sum(axis=0) for statistic in self.statistics]
        rewards = np.zeros((N, steps, S, A**N))
        for i, chosen in enumerate(choices):
            for a, table in enumerate(self._rewards):
                joint = np.flatnonzero(chosen == a)  # the joint actions in which agent i chooses a
                rewards[i][:, :, joint] = self.weights[i, a] * table[:, :, totals[self._reward_of[a]][joint]]
        moves = self._transitions[:, :, :, totals[self._transition_of]].transpose(0, 1, 3, 2)
        return TabularGame(
            Owned(np.ascontiguousarray(moves).reshape(len(moves), S, *self.actions, S)),
            Owned(rewards.reshape(N, steps, S, *self.actions)),
            self.initial,
            self.horizon,
            name=self.name,
            state_names=self.state_names,
            action_names=self.action_names,
            notes=self.notes,
        )

    def show(self, *, state: int | str | None = None, step: int | None = None, limit: int | None = 6) -> Document:
        """Show what actions pay by how many chose them, and what leads where; as `TabularGame.show`.

        >>> import tacit
        >>> tacit.CountGame(lambda h, s, a, n: 10 / n, lambda h, s, x: [1.0], [1.0], 1, agents=2, actions=2, load=True,
        ...           scores=(0, 1), action_names=["left", "right"]).show()
        a game: 2 agents, 1 state, 2×2 actions, horizon 1, rewards in [5, 10]
        agents are anonymous: only how many chose what matters; this is step 0
        <BLANKLINE>
        reward of an action by how many chose it, oneself included
        how many  left  right
               1    10     10
               2     5      5
        """
        from tacit.games.showing import show_counts  # it builds on this file

        return show_counts(self, state=state, step=step, limit=limit)

    @cached_property
    def _counts(self) -> IntArray:
        """All vectors of counts, [M, A]."""
        return count_vectors(self.agents, self.actions[0])

    def _read_weights(self, weights: npt.ArrayLike | None) -> FloatArray:
        N, A = self.agents, self.actions[0]
        if weights is None:
            return lock(np.ones((N, A)))
        array = check.array("weights", weights)
        if array.shape not in ((N,), (N, A)) or not np.isfinite(array).all():
            raise TacitError(f"weights must be {N} finite numbers, or {N} for each action; got shape {array.shape}")
        return lock(np.array(np.broadcast_to(array.reshape(N, -1), (N, A))))


def _read_scores(scores: Sequence[int], actions: int) -> tuple[int, ...]:
    each = check.list_of("scores", scores, "whole numbers, one for each action", count=actions)
    return tuple(check.integer(f"scores[{a}]", w, least=0, most=10**6) for a, w in enumerate(each))


def _cumulate(rows: FloatArray) -> FloatArray:
    """Return running sums, exactly 1 from the last positive probability on."""
    cumulative = np.zeros_like(rows)
    total = np.zeros(rows.shape[:-1])
    for s in range(rows.shape[-1]):
        total = total + rows[..., s]
        cumulative[..., s] = total
    last = rows.shape[-1] - 1 - np.argmax((rows > 0)[..., ::-1], axis=-1)
    cumulative[np.arange(rows.shape[-1]) >= last[..., None]] = 1.0
    return cumulative


# Rewards and transitions, arrays or functions, as tables over statistics of the counts.


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
    ranges : list of A pairs
        Each action's least and largest reward.
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
        possible = chosen if A > 1 or not self.load else points[None] == N
        paid = [table[:, :, a, possible[a]] for a in range(A)]
        self.ranges = [(float(rows.min()), float(rows.max())) for rows in paid]
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
                calls_of_all = f"{what} would be called {self._steps * calls:,} times"
                raise TacitError(f"{calls_of_all}; stationary=True calls it for one step, where all are the same")
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
        sizes = zip(self.ranges, weights.min(axis=0), weights.max(axis=0), strict=True)
        ends = [float(w) * r for ends, *pair in sizes for w in pair for r in ends]
        return min(ends), max(ends)


def check_size(agents: int, actions: int, states: int, *, load: bool, scores: Sequence[int] | None) -> None:
    """Raise unless memory holds the tables of a counting game, by its sizes alone. Nothing is made yet."""
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
        counts = f"{agents} agents and {actions} actions have about 1e+{log / math.log(10):.0f} counts"
        raise TacitError(f"{counts}, too many for any memory; load=True and scores need none")
    number = number_of_counts(agents, actions)
    size = 4 * memory.floats(number, actions)
    memory.require(size, f"the {number:,} counts of {agents} agents and {actions} actions")


def digits(agents: int, actions: int) -> IntArray:
    """Return the scores [A] with which the sum of all agents' scores tells every count. They are 0, 1, N+1, (N+1)², …

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
