"""Counting games: agents that are anonymous to each other, exact for a thousand of them.

Rewards depend on the state, the own action, and how many agents chose each action; transitions on the state and the
counts. So tables are polynomial in the number of agents, and so is all that the oracle computes: under independent
policies the counts of the others are a sum of independent vectors, whose distribution is a convolution.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.ownership import Owned, lock
from tacit.core.types import FloatArray, IntArray
from tacit.games import count_rules, successors
from tacit.games.contraction import stack_rows
from tacit.games.count_rules import check_counts, count_vectors, digits
from tacit.games.exact import ExactGame, Rows
from tacit.games.protocol import check_range
from tacit.games.tabular import TabularGame, check_axes, checked_names, count

if TYPE_CHECKING:
    from tacit.core.display import Document
    from tacit.games.count_kernels import CountTables

Rewards = npt.ArrayLike | Callable[..., Any]

#: Pairs of agents that are compared, at most; where agents have many different weights, drawn evenly.
MOST_PAIRS = 40

#: Calls of a function that makes tables, at most: they take a minute or two.
_CALLS = 2_000_000


class Statistic(NamedTuple):
    """What a table is over: X = Σ_i scores[a_i], from 0 to size − 1."""

    scores: tuple[int, ...]
    size: int


class CountGame(ExactGame):
    """N agents with the same A actions, to each of whom only the numbers of agents at each action matter.

    Parameters
    ----------
    rewards : array or function
        With `load`, an array [H or 1, S, A, N + 1]: the reward of an action by how many chose it, oneself included; or
        a function of (h, s, a, n). Without, an array [H or 1, S, A, M] over all vectors of counts, in the order of
        `tacit.count_vectors(agents, actions)`; or a function of (h, s, a, counts), where counts[b] is the number of
        agents that chose b, oneself included. Entries in which nobody chose the own action are never read.
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
    Functions may take arrays (n [N], counts [A, M]) and return one number for each entry; otherwise they are called
    point by point. `load` and `scores` are what makes games of many agents and actions fast: then all is computed from
    distributions of single sums, O(N²·log N) at each state, else from those of all counts, O(N^A·log N).

    Examples
    --------
    >>> import tacit
    >>> game = tacit.CountGame(
    ...     lambda h, s, a, n: -n, lambda h, s, x: [1.0], [1.0], 3, agents=1000, actions=2, load=True, scores=(0, 1)
    ... )
    >>> game
    CountGame(1000 agents, 1 state, 2 actions each, horizon 3, rewards in [-1000, -1])
    """

    anonymous = True

    def __init__(
        self,
        rewards: Rewards,
        transitions: Rewards,
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
        self.scores = None if scores is None else _checked_scores(scores, A)
        self.actions: tuple[int, ...] = (A,) * self.agents
        self.initial = check.array("initial", initial)
        if self.initial.ndim != 1 or not len(self.initial):
            raise TacitError(f"initial has shape {self.initial.shape}; it must be a distribution over states, [S]")
        check.distributions("initial", self.initial, ["s"], over="states")
        self.states: int = len(self.initial)
        check_size(self.agents, A, self.states, load=self.load, scores=self.scores)
        self._called = 1 if check.flag("stationary", stationary) else self.horizon  # steps that functions are asked for
        self.weights = self._checked_weights(weights)
        self.statistics: list[Statistic] = []
        self._numbers: dict[Statistic, int] = {}  # of statistics
        self._reward_of: list[int] = []  # the statistic that each action's reward is over
        self._rewards = self._checked_rewards(rewards)  # for each action a table [H or 1, S, X]
        self._transitions = self._checked_transitions(transitions)  # [H or 1, S, S, X]
        self.reward_range = self._range()
        check_range(self.reward_range, self.horizon)
        if name is not None and not isinstance(name, str):
            raise TacitError(f"name is {brief(name)}; it must be a string")
        self.name = name
        self.state_names = None if state_names is None else checked_names("state_names", state_names, self.states)
        names = None if action_names is None else checked_names("action_names", action_names, A)
        self.action_names = None if names is None else (names,) * self.agents
        if not isinstance(notes, Sequence) or isinstance(notes, str):
            raise TacitError(f"notes is {brief(notes)}; it must be a list")
        self.notes = tuple(notes)
        self.observation_names, self.picture = None, None

    @property
    def joint_actions(self) -> int:
        """Number of joint actions, A^N, of which none is ever listed."""
        number: int = self.actions[0] ** self.agents
        return number

    @property
    def transition_statistic(self) -> Statistic:
        """What transitions depend on."""
        return self.statistics[self._transition_of]

    def reward(self, h: int, s: int, action: int, counts: npt.ArrayLike) -> float:
        """Return the reward of an action, of weight 1, where `counts` [A] chose each, oneself included."""
        table = self._rewards[action]
        total = int(np.dot(self.statistics[self._reward_of[action]].scores, np.asarray(counts)))
        return float(table[h if len(table) > 1 else 0, s, total])

    def next_state(self, h: int, s: int, counts: npt.ArrayLike) -> FloatArray:
        """Return the distribution of the next state [S] where `counts` [A] chose each action."""
        total = int(np.dot(self.transition_statistic.scores, np.asarray(counts)))
        return self._transitions[h if len(self._transitions) > 1 else 0, s, :, total]

    def step(self, h: int, s: int, actions: Sequence[int], u: float) -> tuple[int, FloatArray]:
        """Draw the next state from a uniform number u in [0, 1); return it and the rewards [N]."""
        self.check_place(h, s, actions)
        check.uniform(u)
        chosen = np.asarray(actions)
        counts = np.bincount(chosen, minlength=self.actions[0])
        row = np.ascontiguousarray(self.next_state(h, s, counts))[None]
        s_next = successors.pick(_added_up(row)[0], 0, self.states, u)
        paid = np.array([self.reward(h, s, a, counts) if counts[a] else 0.0 for a in range(self.actions[0])])
        rewards: FloatArray = self.weights[np.arange(self.agents), chosen] * paid[chosen]
        return int(s_next), rewards

    def play(self, h: int, s: IntArray, actions: IntArray, u: FloatArray) -> tuple[IntArray, FloatArray]:
        """Do what `step` does for many plays at once: states [n], actions [n, N] and u [n]; nothing is checked."""
        A = self.actions[0]
        counts = np.stack([(actions == a).sum(axis=1) for a in range(A)], axis=1)  # [n, A]
        totals = [counts @ np.array(statistic.scores) for statistic in self.statistics]
        rewards = np.zeros(actions.shape)
        for a, table in enumerate(self._rewards):
            paid = table[h if len(table) > 1 else 0, s, totals[self._reward_of[a]]]
            rewards += np.where(actions == a, self.weights[:, a] * paid[:, None], 0.0)
        row = (h * self._tables["transition_stride"]) + s
        cumulative = self._tables["cumulative"][row, totals[self._transition_of]]  # [n, S]
        return (u[:, None] >= cumulative[:, :-1]).sum(axis=1), rewards

    def kernels(self) -> CountTables:
        """Return the tables as the compiled loop reads them, with room of its own."""
        from tacit.games.count_kernels import CountTables  # imports the compiler

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
            chance=np.zeros((N, A)),
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
        for q, own in enumerate(scores):
            found, which = np.unique(own, return_inverse=True)
            steps[q, : len(found)], group[q], different[q] = found, which.ravel(), len(found)
        held = max(len(table) for table in self._rewards)
        full = [np.broadcast_to(table, (held, *table.shape[1:])) for table in self._rewards]
        sizes = np.array([table.shape[2] for table in full])
        block = np.concatenate([table.reshape(held * S, -1) for table in full], axis=1)
        first = np.arange(held * S)[:, None] * sizes.sum() + (np.cumsum(sizes) - sizes)
        support, start = self._start
        move = self._transitions.reshape(-1, S, self._transitions.shape[3])
        held_fast = {
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
            "cumulative": _added_up(np.ascontiguousarray(move.transpose(0, 2, 1))),
            "start_state": support,
            "start_cumulative": start,
        }
        return {
            **{key: lock(array) for key, array in held_fast.items()},
            "transition_statistic": self._transition_of,
            "transition_stride": S if len(self._transitions) > 1 else 0,
            "reward_stride": S if held > 1 else 0,
        }

    def __getstate__(self) -> dict[str, Any]:
        made = ("_tables", "_counts", "_start", "digest")
        return {key: value for key, value in self.__dict__.items() if key not in made}

    @cached_property
    def digest(self) -> str:
        """A digest of all that the game is to its players."""
        summed = hashlib.sha256(f"counts {self.agents} {self.actions[0]} {self.horizon}".encode())
        for name, part in self._tables.items():
            array = np.ascontiguousarray(part)
            summed.update(f"{name} {array.dtype.str} {array.shape};".encode() + array.tobytes())
        return summed.hexdigest()

    def stage(
        self, h: int, V: FloatArray | None, s: int | None = None, *, agents: Sequence[int] | None = None
    ) -> Callable[[Rows], FloatArray]:
        """Return the stage game at step h, in which V follows: a function from `rows` to `payoffs`."""
        from tacit.games import count_kernels  # imports the compiler

        def payoffs(rows: Rows) -> FloatArray:
            if isinstance(rows, np.ndarray):
                return self.tabular().payoffs(h, rows, V, s, agents=agents)
            rewards, transitions = count_kernels.induce(self, h, self._stack(rows, s), s)
            if agents is not None:
                rewards, transitions = rewards[..., list(agents), :], transitions[..., list(agents), :, :]
            if s is None:
                rewards = np.swapaxes(rewards, -2, -3)
            if V is None:
                return rewards
            sums = "...snat,...nt->...nsa" if s is None else "...nat,...nt->...na"
            found: FloatArray = rewards + np.einsum(sums, transitions, V)
            return found

        return payoffs

    def _stack(self, rows: Sequence[FloatArray], s: int | None) -> FloatArray:
        """Return what the agents play as one table, [..., S, N, A], or in a state s [..., N, A]."""
        if s is None:
            return np.swapaxes(stack_rows(rows), -2, -3)
        return np.concatenate(rows, axis=-1).reshape(*rows[0].shape[:-1], self.agents, -1)

    def push(self, h: int, rows: Rows, occupancy: FloatArray, s: int | None = None) -> FloatArray:
        """Return the distribution [..., S] after step h of an `occupancy` [..., S], or [...] of a state s."""
        if isinstance(rows, np.ndarray):
            return self.tabular().push(h, rows, occupancy, s)
        from tacit.games.count_kernels import follow  # imports the compiler

        following = follow(self, h, self._stack(rows, s), s)
        moved: FloatArray = occupancy[..., None] * following
        return moved if s is not None else moved.sum(axis=-2)

    def agents_to_compare(self, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Return a pair of agents for each two kinds of weights: agents of the same weights are alike.

        Where the others keep to their policies, two agents face a game of two. The cross derivatives of their values
        are those of this game, so all agents' values have a common potential if and only if those of all pairs have,
        whatever the policy.
        """
        _, first, kind = np.unique(self.weights, axis=0, return_index=True, return_inverse=True)
        kind = kind.ravel()
        found = []
        for one, other in combinations_with_replacement(range(len(first)), 2):
            if one != other:
                found.append((int(first[one]), int(first[other])))
            elif (kind == one).sum() > 1:
                i, j = np.flatnonzero(kind == one)[:2]
                found.append((int(i), int(j)))
        if len(found) > MOST_PAIRS:
            found = [found[k] for k in rng.choice(len(found), MOST_PAIRS, replace=False)]
        return [(min(pair), max(pair)) for pair in found]

    def induce_game(self, agents: Sequence[int], probs: Sequence[FloatArray]) -> TabularGame:
        """Return the game of two agents where the others play `probs` [H, S, A]: tables over their actions."""
        from tacit.games.count_kernels import add_up  # imports the compiler

        i, j = agents
        H, S, A = self.horizon, self.states, self.actions[0]
        others = np.stack(probs)[[k not in (i, j) for k in range(self.agents)]]  # [N − 2, H, S, A]
        rewards, moves = np.zeros((2, H, S, A, A)), np.zeros((H, S, A, A, S))
        for h in range(H):
            for s in range(S):
                sums = [add_up(np.array(own.scores), others[:, h, s]) for own in self.statistics]
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
        """Return what agents gain who move one after another from `old` [H or 1, S, A], that all play, to `new`.

        It does not matter in which order they move: the m-th to move faces m that have and N − 1 − m that have not.
        None where agents differ in their weights.
        """
        from tacit.games.count_kernels import induce_kinds  # imports the compiler

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
            found = induce_kinds(self, h, states, mu, copies, number)
            reward = (self.weights[0] * found.rewards[:, 0]).reshape(N, S, A)
            following = found.transitions[:, 0].reshape(N, S, A, S)
            V = ((reward + np.einsum("msat,mt->msa", following, V)) * rows).sum(axis=2)
            V_moved = ((reward + np.einsum("msat,mt->msa", following, V_moved)) * rows_moved).sum(axis=2)
        return float(dot(V_moved - V, self.initial).sum())

    def seconds_to_answer(self, rows: int) -> float:
        """Return roughly how long it takes to answer for so many rows at one state each, from the operations.

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
            reads = sum(own == q for own in self._reward_of) + (different * S if q == self._transition_of else 0)
            total += N * width * (levels * different * 0.1 + reads * 0.35)
        return rows * (total * 1e-9 + N * self.actions[0] * S * 4e-9)

    def numbers(self, *, same: bool = False) -> int:
        """Return how many numbers it takes to answer for one row at one state."""
        return self.agents * self.actions[0] * (self.states + 2)

    def tabular(self) -> TabularGame:
        """Write the game out over joint actions; possible for few agents only."""
        N, A, S = self.agents, self.actions[0], self.states
        held = max(len(table) for table in self._rewards)
        needed = memory.floats(N, held * S + 3, A**N) + memory.floats(len(self._transitions), S, S + 1, A**N)
        memory.require(needed, f"{self!r} as tables over {A}^{N} joint actions")
        check_axes(N)
        choices = np.indices((A,) * N, dtype=np.int64).reshape(N, -1)  # [N, J]
        totals = [np.take(np.array(statistic.scores), choices).sum(axis=0) for statistic in self.statistics]
        rewards = np.zeros((N, held, S, A**N))
        for i, chosen in enumerate(choices):
            for a, table in enumerate(self._rewards):
                own = np.flatnonzero(chosen == a)
                paid = self.weights[i, a] * table[:, :, totals[self._reward_of[a]][own]]
                rewards[i][:, :, own] = paid
        moves = self._transitions[:, :, :, totals[self._transition_of]].transpose(0, 1, 3, 2)
        return TabularGame(
            Owned(np.ascontiguousarray(moves).reshape(len(moves), S, *self.actions, S)),
            Owned(rewards.reshape(N, held, S, *self.actions)),
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

    def __repr__(self) -> str:
        title = f"{self.name!r}: " if self.name else ""
        low, high = self.reward_range
        return (
            f"CountGame({title}{count(self.agents, 'agent')}, {count(self.states, 'state')}, "
            f"{count(self.actions[0], 'action')} each, horizon {self.horizon}, rewards in [{low:g}, {high:g}])"
        )

    def _statistic(self, scores: Sequence[int] | IntArray) -> int:
        """Return the number of a statistic; it joins the list when it is new."""
        made = Statistic(tuple(int(w) for w in scores), self.agents * int(max(scores)) + 1)
        if made not in self._numbers:
            size = memory.floats(self.agents.bit_length() + 3, 2, made.size)
            memory.require(size, f"distributions of counts of {self.agents} agents and {self.actions[0]} actions")
            self._numbers[made] = len(self.statistics)
            self.statistics.append(made)
        return self._numbers[made]

    @cached_property
    def _counts(self) -> IntArray:
        """All vectors of counts, [M, A]."""
        return count_vectors(self.agents, self.actions[0])

    def _checked_weights(self, weights: npt.ArrayLike | None) -> FloatArray:
        N, A = self.agents, self.actions[0]
        if weights is None:
            return lock(np.ones((N, A)))
        given = check.array("weights", weights)
        if given.shape not in ((N,), (N, A)) or not np.isfinite(given).all():
            raise TacitError(f"weights has shape {given.shape}; it must be {N} finite numbers, or {N} for each action")
        return lock(np.array(np.broadcast_to(given.reshape(N, -1), (N, A))))

    def _checked_rewards(self, rewards: Rewards) -> list[FloatArray]:
        """Return for each action a table [H or 1, S, X] over its statistic."""
        N, A = self.agents, self.actions[0]
        if self.load:
            points = np.arange(1, N + 1)
            table = self._fill("rewards", rewards, points, N + 1, "N + 1", from_one=True)
            if A == 1:  # everybody is there
                self._reward_of = [self._statistic((0,))]
                return [lock(np.array(table[:, :, 0, N:]))]
            if A == 2:  # both loads say the same
                self._reward_of = [self._statistic((0, 1))] * 2
                return [lock(np.ascontiguousarray(table[:, :, 0, ::-1])), lock(np.array(table[:, :, 1]))]
            self._reward_of = [self._statistic([int(b == a) for b in range(A)]) for a in range(A)]
            return [lock(np.array(table[:, :, a])) for a in range(A)]
        full = self._statistic(digits(N, A))
        self._reward_of = [full] * A
        where = self._counts @ np.array(self.statistics[full].scores)
        table = self._fill("rewards", rewards, self._counts.T, len(where), "M", own=True)
        spread = memory.zeros((A, len(table), self.states, self.statistics[full].size), "rewards over counts")
        for a in range(A):
            possible = self._counts[:, a] > 0
            spread[a][:, :, where[possible]] = table[:, :, a, possible]
        return [lock(own) for own in spread]

    def _checked_transitions(self, transitions: Rewards) -> FloatArray:
        """Return the probabilities of the next state [H or 1, S, S, X] over their statistic."""
        N, A, S = self.agents, self.actions[0], self.states
        if self.scores is None:
            self._transition_of = self._statistic(digits(N, A))
            points, told = self._counts.T, "M"
            where = self._counts @ np.array(self.transition_statistic.scores)
            number = len(where)
        else:
            points = np.flatnonzero(_possible(self.scores, N))
            number, told = N * max(self.scores) + 1, "N·max(scores) + 1"
            least = min(self.scores)
            where = points - N * least
            self._transition_of = self._statistic((0, 1) if A == 2 else [w - least for w in self.scores])
        if callable(transitions):
            steps = (
                [count_rules.table("transitions", transitions, (h, s), points, S) for s in range(S)]
                for h in range(self._steps_asked("transitions", S))
            )
            held = _steps(steps)  # [H or 1, S, S, points]
        else:
            given = check.array("transitions", transitions)
            if given.shape[1:] != (S, number, S) or len(given) not in (1, self.horizon):
                raise TacitError(
                    f"transitions has shape {given.shape}; it must be [{_steps_told(self.horizon)}, {S}, {number}, {S}]"
                    f": [H or 1, S, {told}, S]"
                )
            held = given.transpose(0, 1, 3, 2)
            held = held if self.scores is None else held[..., points]
        over = "counts" if self.scores is None else "total"
        check.distributions(
            "transitions",
            np.ascontiguousarray(held.transpose(0, 1, 3, 2)),
            ["h", "s", over, "next"],
            over="next states",
        )
        statistic = self.transition_statistic
        if self.scores is not None and A == 2:  # from the total score to how many chose action 1
            low, high = self.scores
            total = np.searchsorted(points, low * N + (high - low) * np.arange(N + 1))
            return lock(np.ascontiguousarray(held[..., total]))
        table = memory.zeros((*held.shape[:3], statistic.size), "transitions over counts")
        table[:, :, 0] = 1.0  # what no joint action has is never read
        table[..., where] = held
        return lock(table)

    def _fill(
        self,
        what: str,
        given: Rewards,
        points: IntArray,
        number: int,
        told: str,
        *,
        from_one: bool = False,
        own: bool = False,
    ) -> FloatArray:
        """Return rewards [H or 1, S, A, number] from an array or a function; what cannot be is 0."""
        S, A, horizon = self.states, self.actions[0], self.horizon
        if callable(given):

            def one(h: int, s: int, a: int) -> FloatArray:
                row = np.zeros(number)
                there = points[a] > 0 if own else slice(None)
                at = np.arange(number)[there] if own else points
                row[at] = count_rules.table(what, given, (h, s, a), points[..., there])
                return row

            table = _steps(
                [[one(h, s, a) for a in range(A)] for s in range(S)] for h in range(self._steps_asked(what, S * A))
            )
        else:
            array = check.array(what, given)
            if array.shape[1:] != (S, A, number) or array.shape[0] not in (1, horizon):
                raise TacitError(
                    f"{what} has shape {array.shape}; it must be [{_steps_told(horizon)}, {S}, {A}, {number}]: "
                    f"[H or 1, S, A, {told}]"
                )
            table = np.array(array)
            if from_one:
                table[..., 0] = 0.0
            if own:
                table[:, :, points == 0] = 0.0
        check.finite(what, table, ["h", "s", "a", "load" if from_one else "counts"])
        return table

    def _steps_asked(self, what: str, calls: int) -> int:
        """Return for how many steps a function is called, `calls` times each; raise where that would take hours."""
        if self._called * calls > _CALLS:
            raise TacitError(
                f"{what} would be called {self._called * calls:,} times, for each step, state and action; "
                f"stationary=True calls it for one step, where all are the same"
            )
        return self._called

    def _range(self) -> tuple[float, float]:
        """Return the least and the largest reward of any agent."""
        ends = []
        for a, table in enumerate(self._rewards):
            possible = self._possible_totals(a)
            low, high = float(table[..., possible].min()), float(table[..., possible].max())
            ends += [w * r for w in (self.weights[:, a].min(), self.weights[:, a].max()) for r in (low, high)]
        return float(min(ends)), float(max(ends))

    def _possible_totals(self, action: int) -> npt.NDArray[np.bool_]:
        """Return which totals of its reward's statistic there are where somebody chose an action, [X]."""
        statistic = self.statistics[self._reward_of[action]]
        mine = np.zeros(statistic.size, dtype=bool)
        if self.actions[0] == 1:
            mine[:] = True
        elif self.load:
            mine[np.arange(self.agents) + statistic.scores[action]] = True
        else:
            mine[self._counts[self._counts[:, action] > 0] @ np.array(statistic.scores)] = True
        return mine


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


def _checked_scores(scores: Sequence[int], actions: int) -> tuple[int, ...]:
    if not isinstance(scores, Sequence | np.ndarray) or isinstance(scores, str) or len(scores) != actions:
        raise TacitError(f"scores is {brief(scores)}; it must be {actions} whole numbers, one for each action")
    return tuple(check.integer(f"scores[{a}]", w, least=0, most=10**6) for a, w in enumerate(scores))


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


def _steps(steps: Any) -> FloatArray:
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


def _steps_told(horizon: int) -> str:
    return "1" if horizon == 1 else f"1 or {horizon}"


def _added_up(rows: FloatArray) -> FloatArray:
    """Return running sums along the last axis that are exactly 1 from the last positive probability on."""
    cumulative = np.zeros_like(rows)
    total = np.zeros(rows.shape[:-1])
    for s in range(rows.shape[-1]):
        total = total + rows[..., s]
        cumulative[..., s] = total
    last = rows.shape[-1] - 1 - np.argmax((rows > 0)[..., ::-1], axis=-1)
    cumulative[np.arange(rows.shape[-1]) >= last[..., None]] = 1.0
    return cumulative
