"""The general-sum Markov game as arrays: of a finite horizon [Mao2022, Sec. 2], or discounted [Shapley 1953]."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned, freeze, lock, unwrap
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import (
    FAR,
    ExactGame,
    Rows,
    Successors,
    cumulate_rows,
    digest_arrays,
    from_dense,
    from_entries,
    is_joint,
    joint_draw,
    own_payoffs,
    pick,
    recommended_payoffs,
    seconds_over_joint_actions,
    stack_agents,
    to_dense,
)
from tacit.games.protocol import check_range

if TYPE_CHECKING:
    from scipy import sparse

    from tacit.core.display import Document
    from tacit.games.kernels import EndlessTables, GameTables

#: Above this share of positive probabilities a matrix product beats the lists of successors
#: (measured in benchmarks/evaluation.py).
DENSE_SHARE = 0.15

#: Up to this many agents the compiler knows their number.
KNOWN_AGENTS = 4

#: The largest discount: beyond, what solving costs in digits leaves too few.
MOST_DISCOUNT = 0.999999

#: The probability of going on at which play of a discounted game is cut off.
CUT_OFF = 1e-3


class TabularGame(ExactGame):
    """N agents, S states, H steps or a discount. Each agent has its own actions and its own reward.

    Parameters
    ----------
    transitions : array [H or 1, S, A_1, …, A_N, S] or Successors
        Probability of each next state. A leading 1 means the same at every step and is never copied H times; it may be
        left out: [S, A_1, …, A_N, S].
    rewards : array [N, H or 1, S, A_1, …, A_N]
        Reward of each agent, in the user's own units; [N, S, A_1, …, A_N] where all steps are the same.
    initial : array [S] or int
        Distribution of the first state, or the first state.
    horizon : int, optional
        Steps in an episode, H. Either this or a discount is given.
    discount : float, optional
        γ, at least 0 and below 1, of a game without a last step: returns are Σ_t γ^t·r_t. Its policies are stationary,
        [1, S, A_i], so that `game.horizon` is 1: a single step that is followed by itself.
    name, state_names, action_names : optional
        For people: a name, S names of states, and for each agent the names of its actions.
    picture : callable, optional
        Draws a state: from its number to an image, a uint8 array [height, width, 3].
    notes : sequence of str, optional
        What was left out or decided when the game was read from elsewhere; the command line prints them.

    Notes
    -----
    Arrays are copied and read-only, in copies of the game and unpickled ones too. Steps count from 0.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> game = tacit.TabularGame(np.ones((1, 2, 2, 1)), [[[[1, 0], [0, 1]]], [[[0, 1], [1, 0]]]], 0, 3)
    >>> game
    TabularGame(2 agents, 1 state, 2×2 actions, horizon 3, rewards in [0, 1])
    >>> forever = tacit.TabularGame(game.transitions, game.rewards, 0, discount=0.9)
    >>> tacit.evaluate(forever, tacit.MarkovPolicy.uniform(forever)).values.round(9)
    array([5., 5.])
    """

    def __init__(
        self,
        transitions: npt.ArrayLike | Successors | Owned[Any],
        rewards: npt.ArrayLike | Owned[Any],
        initial: npt.ArrayLike | Owned[Any],
        horizon: int | None = None,
        *,
        discount: float | None = None,
        name: str | None = None,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[Sequence[str]] | None = None,
        picture: Callable[[int], npt.NDArray[np.uint8]] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.horizon, self.discount = check_length(horizon, discount)
        self.rewards = _check_rewards(rewards, self.horizon, self.discount)
        self.agents: int = self.rewards.shape[0]
        self.states: int = self.rewards.shape[2]
        self.actions: tuple[int, ...] = self.rewards.shape[3:]
        self.initial = self._check_initial(initial)
        lists, owned = unwrap(transitions)
        if isinstance(lists, Successors):
            self.successors = self._check_successors(lists, owned)
            self.transition_steps = self.successors.rows // (self.states * self.joint_actions)
        else:
            self.transitions = self._check_transitions(transitions)
            self.transition_steps = len(self.transitions)
        self.reward_range = (float(self.rewards.min()), float(self.rewards.max()))
        check_range(self.reward_range, self.effective_horizon)
        self._describe(name, state_names, action_names, notes)
        self.picture = check.function("picture", picture)

    @cached_property
    def transitions(self) -> FloatArray:
        """Probabilities [H or 1, S, A_1, …, A_N, S]. Made on first use where the game was given as successors."""
        shape = (self.transition_steps, self.states, *self.actions, self.states)
        memory.require(memory.floats(*shape), f"the dense transitions {shape}")
        return lock(to_dense(self.successors, shape))

    @cached_property
    def successors(self) -> Successors:
        """The next states with positive probability. Made on first use where the game was given as an array."""
        return Successors(*(lock(array) for array in from_dense(self.transitions)))

    @cached_property
    def cumulative(self) -> FloatArray:
        """Cumulative probabilities of the successors within each row, [entries], ending in exactly 1."""
        first, _, prob = self.successors
        return lock(cumulate_rows(prob, first))

    @cached_property
    def _step_matrices(self) -> list[FloatArray | sparse.csr_array]:
        """For each step (or the one that stands for all) γP as [S·J, S]. It is dense or sparse, whichever is faster.

        A discounted game is one that ends with probability 1 − γ at each step; without a discount γ is 1.
        """
        rows = self.states * self.joint_actions
        if "transitions" in self.__dict__:
            entries = np.count_nonzero(self.transitions)
            if entries >= DENSE_SHARE * self.transitions.size or self.states == 1:
                each = self.transitions.reshape(-1, rows, self.states)
                return list(each if self.discount is None else self.discount * each)
        from scipy import sparse  # it takes longer to import than most games do to be solved

        first, state, prob = self.successors
        prob = prob if self.discount is None else self.discount * prob
        matrices: list[FloatArray | sparse.csr_array] = []
        for begin in range(0, len(first) - 1, rows):
            cut = slice(first[begin], first[begin + rows])
            matrix = (prob[cut], state[cut], first[begin : begin + rows + 1] - first[begin])
            matrices.append(sparse.csr_array(matrix, shape=(rows, self.states)))
        return matrices

    def _matrix(self, h: int, s: int | None = None) -> FloatArray | sparse.csr_array:
        """Return γP of step h as [S·J, S], or from state s as [J, S]."""
        matrix = self._step_matrices[h if self.transition_steps > 1 else 0]
        return matrix if s is None else matrix[s * self.joint_actions : (s + 1) * self.joint_actions]

    def expect(self, h: int, values: FloatArray, s: int | None = None) -> FloatArray:
        """Return γP_h v for each row v of `values` [m, S], as [m, S, A_1, …, A_N]. From one state, S is 1."""
        matrix = self._matrix(h, s)
        # no BLAS, which adds in an order that depends on its threads and on the processor
        ahead = np.einsum("ms,rs->mr", values, matrix) if isinstance(matrix, np.ndarray) else (matrix @ values.T).T
        return np.ascontiguousarray(ahead).reshape(len(values), -1, *self.actions)

    def joint_payoffs(
        self, h: int, V: FloatArray | None, s: int | None = None, *, agents: Sequence[int] | None = None
    ) -> FloatArray:
        """Return r + γP_h V of all joint actions, [..., N, S, A_1, …, A_N], from V [..., N, S]."""
        rewards = self.step_rewards(h) if agents is None else self.step_rewards(h)[list(agents)]
        rewards = rewards if s is None else rewards[:, s : s + 1]
        if V is None:
            return rewards
        ahead = self.expect(h, V.reshape(-1, self.states), s).reshape(*V.shape[:-1], *rewards.shape[1:])
        ahead += rewards
        return ahead

    def payoffs(
        self, h: int, rows: Rows, V: FloatArray | None, s: int | None = None, *, agents: Sequence[int] | None = None
    ) -> FloatArray:
        """Return what each agent's own actions pay. Payoffs of joint actions are averaged over what the others play."""
        tables = self.joint_payoffs(h, V, s, agents=agents)
        before: tuple[Any, ...] = (slice(None),) * (tables.ndim - self.agents - 2)
        recommended = is_joint(rows)
        mine = _at_one_state(rows, self.agents) if s is not None else rows
        contract: Any = recommended_payoffs if recommended else own_payoffs
        each = range(self.agents) if agents is None else agents
        payoffs = stack_agents(
            [contract(tables[(*before, k)], mine, i) for k, i in enumerate(each)], recommended=recommended
        )
        return payoffs if s is None else np.squeeze(payoffs, axis=-3 if recommended else -2)

    def push(self, h: int, rows: Rows, occupancy: FloatArray, s: int | None = None) -> FloatArray:
        """Return the distribution [..., S] after step h. The `occupancy` is [..., S], or [...] of a state s."""
        if is_joint(rows):
            joint = rows.reshape(*rows.shape[: rows.ndim - self.agents], -1)
        else:
            size = memory.floats(*rows[0].shape[:-1], self.joint_actions)
            memory.require(size, "the joint distribution of one step")
            joint = joint_draw(rows)
        weights = occupancy[..., None] * joint
        matrix = self._matrix(h, s)
        flat = weights.reshape(*weights.shape[: weights.ndim - (2 if s is None else 1)], -1)
        if isinstance(matrix, np.ndarray):
            onward: FloatArray = dot(flat, matrix)
            return onward
        moved: FloatArray = (matrix.T @ flat.reshape(-1, flat.shape[-1]).T).T
        return moved.reshape(*flat.shape[:-1], self.states)

    def walk(self, rows: Rows) -> FloatArray:
        """Return the transitions [..., S, S] of the first step where all play `rows`."""
        S, J, matrix = self.states, self.joint_actions, self._matrix(0)
        joint = rows.reshape(S, J) if is_joint(rows) else joint_draw(rows)
        if isinstance(matrix, np.ndarray):
            onward: FloatArray = np.einsum("...sj,sjt->...st", joint, matrix.reshape(S, J, S))
            return onward
        from scipy import sparse

        edges = (np.arange(S * J), np.arange(0, S * J + 1, J))
        draws = [sparse.csr_array((probs, *edges), shape=(S, S * J)) for probs in joint.reshape(-1, S * J)]
        return np.stack([(draw @ matrix).toarray() for draw in draws]).reshape(*joint.shape[:-1], S)

    def shift_rewards(self) -> tuple[TabularGame, FloatArray] | None:
        """Return the game with each agent's least reward subtracted, and those rewards [N]. None where none is far off.

        >>> import tacit
        >>> shifted, least = tacit.matrix_game([[1e12, 1e12 + 1]]).shift_rewards()
        >>> shifted.rewards.ravel().tolist(), least.tolist()
        ([0.0, 1.0], [1000000000000.0])
        """
        flat = self.rewards.reshape(self.agents, -1)
        least = flat.min(axis=1)
        if not (np.abs(least) > FAR * (flat.max(axis=1) - least)).any():
            return None
        memory.require(self.rewards.nbytes, "the rewards, shifted")
        rewards = self.rewards - least.reshape(-1, *[1] * (self.rewards.ndim - 1))
        moves = self.transitions if "transitions" in self.__dict__ else self.successors
        length = {"horizon": self.horizon} if self.discount is None else {"discount": self.discount}
        return TabularGame(Owned(moves), Owned(rewards), Owned(self.initial), **length), least

    def to_random_horizon(self) -> TabularGame:
        """Return the finite game in which a discounted one is played. It ends with 1 − γ at each step.

        Then all agents are in a further state, the last one, "over", which pays nothing. The horizon is such that play
        goes on after it with probability 1/1000 at most; what is cut off is at most that share of returns.

        >>> import tacit
        >>> game = tacit.make("chicken", discount=0.9)
        >>> game.to_random_horizon()
        TabularGame('chicken': 2 agents, 2 states, 2×2 actions, horizon 66, rewards in [0, 7])
        """
        if self.discount is None:
            return self
        S, J = self.states, self.joint_actions
        first, state, prob = self.successors
        every, over = np.arange((S + 1) * J), np.full((S + 1) * J, S)
        row = np.concatenate([np.repeat(every[:-J], np.diff(first)), every])
        probs = np.concatenate([self.discount * prob, np.repeat([1.0 - self.discount, 1.0], [S * J, J])])
        steps = 1 if self.discount == 0 else max(1, math.ceil(math.log(CUT_OFF) / math.log(self.discount)))
        names = self.state_names
        if names is not None:
            names = (*names, next(word for word in ("over", "ended", "the end", f"over {S}") if word not in names))
        game = TabularGame(
            Owned(from_entries(row, np.concatenate([state, over]), probs, (S + 1) * J)),
            Owned(np.concatenate([self.rewards, np.zeros_like(self.rewards[:, :, :1])], axis=2)),
            np.append(self.initial, 0.0),
            steps,
            name=self.name,
            state_names=names,
            action_names=self.action_names,
            notes=(
                *self.notes,
                f"episodes end with probability {1 - self.discount:.3g} at each step, after {steps} steps at the "
                f"latest; what is cut off is at most {CUT_OFF:g} of a return",
            ),
        )
        game.continues, game.endless = self.discount, self
        return game

    def with_discount(self, discount: float) -> TabularGame:
        """Return the same game without a last step, discounted. Its tables must be the same at every step.

        And they must hold beyond the horizon: those of `tacit.tabulate` do if all states were reached before.

        >>> import tacit
        >>> tacit.make("good-state").with_discount(0.95)
        TabularGame('good-state': 2 agents, 2 states, 2×2 actions, discount 0.95, rewards in [-2, 5])
        """
        if max(self.transition_steps, self.rewards.shape[1]) > 1:
            raise TacitError(f"{self!r} changes with the step; a discounted game is the same at every step")
        if self.edge:
            raise TacitError(
                f"{self!r} was tabulated up to its horizon, and nobody knows what follows {self.edge} of its states; "
                f"give tacit.tabulate a discount instead of a horizon, or a horizon that reaches all states"
            )
        return TabularGame(
            Owned(self.successors),
            Owned(self.rewards),
            Owned(self.initial),
            discount=discount,
            name=self.name,
            state_names=self.state_names,
            action_names=self.action_names,
            picture=self.picture,
            notes=self.notes,
        )

    def tabular(self) -> TabularGame:
        """Return the game itself."""
        return self

    def agents_to_compare(self, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Return all agents, as one group."""
        return [tuple(range(self.agents))]

    def induce_game(self, agents: Sequence[int], probs: Sequence[FloatArray]) -> TabularGame:
        """Return the game itself: it is compared with nobody left out."""
        return self

    def numbers(self, *, same: bool = False) -> int:
        """Return how many numbers it takes to answer for one row at one state."""
        return self.joint_actions if same else 4 * self.agents * self.joint_actions

    def seconds_to_answer(self, rows: int) -> float:
        """Return roughly the seconds that so many rows at one state each take."""
        return seconds_over_joint_actions(self, rows)

    def step_rewards(self, h: int) -> FloatArray:
        """Return the rewards [N, S, A_1, …, A_N] of step h, without a copy."""
        return self.rewards[:, h if self.rewards.shape[1] > 1 else 0]

    def step(self, h: int, s: int, actions: Sequence[int], u: float) -> tuple[int, FloatArray]:
        """Draw the next state from a uniform number u in [0, 1). Return it and the rewards [N]."""
        h, s, actions = self.check_place(h, s, actions)
        check.uniform(u)
        row = self.states * (h if self.transition_steps > 1 else 0) + s
        joint = int(np.ravel_multi_index(tuple(actions), self.actions))
        row = row * self.joint_actions + joint
        first, state, _ = self.successors
        s_next = int(state[pick(self.cumulative, first[row], first[row + 1], u)])
        rewards: FloatArray = self.step_rewards(h).reshape(self.agents, self.states, -1)[:, s, joint]
        return s_next, rewards

    def kernels(self) -> GameTables:
        """Return the tables as the compiled loop reads them. Of a discounted game, those of `to_random_horizon`."""
        return self._tables() if self.discount is None else self.to_random_horizon()._tables()

    def endless_kernels(self, start: int) -> EndlessTables:
        """Return the tables as play that never resets reads them, from a first state."""
        from tacit.games.kernels import EndlessTables  # imports the compiler

        tables, moves = self._tables(), self.successors
        each: list[Any] = [self.rewards.reshape(self.agents, self.states, -1).swapaxes(0, 1)]
        if tables.width:
            each += [array.reshape(self.states, -1) for array in (moves.state, moves.prob)]
        differ = not tables.width or any((array != array[:1]).any() for array in each)
        return EndlessTables(tables, int(differ), np.array([start]), tables.actions, 1, self.states)

    def _tables(self) -> GameTables:
        from tacit.games.kernels import GameTables  # imports the compiler

        block, lengths = self.states * self.joint_actions, np.diff(self.successors.first)
        support, start = self._start
        cumulative, state, rewards = self.cumulative, self.successors.state, self.rewards.reshape(self.agents, -1)
        if 2 * cumulative.nbytes + rewards.nbytes < memory.available() // 4:  # otherwise they are shared with the game
            cumulative, state = _put_beside(cumulative, state)
            rewards = lock(np.ascontiguousarray(rewards.T)).T
        return GameTables(
            first=self.successors.first,
            state=state,
            prob=self.successors.prob,
            cumulative=cumulative,
            rewards=rewards,
            start_state=support,
            start_cumulative=start,
            actions=lock(np.array(self.actions)),
            strides=by_agent([math.prod(self.actions[i + 1 :]) for i in range(self.agents)]),
            horizon=self.horizon,
            states=self.states,
            joint_actions=self.joint_actions,
            transition_stride=block if self.transition_steps > 1 else 0,
            reward_stride=block if self.rewards.shape[1] > 1 else 0,
            width=int(lengths[0]) if (lengths == lengths[0]).all() else 0,
        )

    @cached_property
    def digest(self) -> str:
        """A digest of all that the game is to its players."""
        tables = self.kernels()._asdict()
        del tables["width"]  # says nothing that `first` does not
        return digest_arrays("", tables)

    def show(self, *, state: int | str | None = None, step: int | None = None, limit: int | None = 6) -> Document:
        """Show payoffs by state with the names of actions, and what leads where.

        Parameters
        ----------
        state : int or str, optional
            Show this state alone, by its number or name.
        step : int, optional
            Which step, where rewards or transitions differ from step to step; the first if not given.
        limit : int or None
            States to show at most; None shows everything, of large tables too.

        Returns
        -------
        Document
            Plain text for `print` and notebooks, `.data` for programs.

        Examples
        --------
        >>> import tacit
        >>> tacit.make("chicken").show()
        chicken: 2 agents, 1 state, 2×2 actions, horizon 1, rewards in [0, 7]
        <BLANKLINE>
        payoffs: agent 0 picks the row, agent 1 the column; agent 0, agent 1
               yield  dare
        yield  6, 6   2, 7
        dare   7, 2   0, 0
        """
        from tacit.games.showing import show_tables  # it builds on this file

        return show_tables(self, state=state, step=step, limit=limit)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the game as `.npz` or `.nfg` (one state) atomically; see `tacit.load`."""
        from tacit.games import save  # formats build games, so they stand above this file

        save(self, path)

    def _check_initial(self, initial: npt.ArrayLike | Owned[Any]) -> FloatArray:
        if isinstance(initial, int | np.integer) and not isinstance(initial, bool):
            first = check.integer("initial", initial, least=0, most=self.states - 1)
            initial = Owned(np.eye(1, self.states, first)[0])
        rho = check.array("initial", initial)
        if rho.shape != (self.states,):
            raise TacitError(f"initial must have shape ({self.states},), by the states of rewards; got {rho.shape}")
        check.distributions("initial", rho, ["s"], over="states")
        return rho

    def _check_transitions(self, transitions: npt.ArrayLike | Owned[Any]) -> FloatArray:
        dense = check.array("transitions", transitions)
        shape, wanted = dense.shape, (self.states, *self.actions, self.states)
        if dense.ndim == len(wanted):  # the same at every step
            dense = dense[None]
        if dense.ndim != len(wanted) + 1 or dense.shape[1:] != wanted or dense.shape[0] not in (1, self.horizon):
            sizes = f"({_steps(self.horizon)}, {', '.join(map(str, wanted))}), by the states and actions of rewards"
            raise TacitError(f"transitions must be [H or 1, S, A_1, …, A_N, S], {sizes}; got shape {shape}")
        flat = dense.reshape(len(dense), self.states, self.joint_actions, self.states)
        check.distributions("transitions", flat, ["h", "s", ("joint", self.actions), "next"], over="next states")
        return dense

    def _check_successors(self, lists: Successors, owned: bool) -> Successors:
        kinds = (np.int64, np.int32, np.float64)
        for field, array, kind in zip(Successors._fields, lists, kinds, strict=True):
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iuf":
                raise TacitError(f"transitions.{field} must be an array of one axis; got {brief(array)}")
            with np.errstate(invalid="ignore"):
                if kind is not np.float64 and (array.astype(kind) != array).any():
                    raise TacitError(f"transitions.{field} must hold whole numbers below 2**31; got {brief(array)}")
        first, state, prob = (
            freeze(f"transitions.{field}", Owned(array) if owned else array, kind)
            for field, array, kind in zip(Successors._fields, lists, kinds, strict=True)
        )
        rows = self.states * self.joint_actions
        if lists.rows not in (rows, rows * self.horizon):
            wanted = f"S·ΠA_i = {rows} rows for {_steps(self.horizon)} steps"
            raise TacitError(f"transitions must list successors of {wanted}; got {lists.rows} rows")
        if first[0] != 0 or first[-1] != len(state) or len(prob) != len(state) or np.diff(first).min() < 1:
            raise TacitError("transitions.first must begin with 0, ascend, and end with the number of successors")
        row = np.repeat(np.arange(lists.rows), np.diff(first))
        outside = (state < 0) | (state >= self.states)
        self._check_rows(row, outside, state, f"has next state {{}}; states go from 0 to {self.states - 1}")
        self._check_rows(row, ~((prob > 0) & np.isfinite(prob)), prob, "has probability {}; list positive ones only")
        entry = row * self.states + state
        order = np.argsort(entry, kind="stable")
        twice = np.zeros(len(entry), dtype=bool)
        twice[order[1:]] = entry[order[1:]] == entry[order[:-1]]
        self._check_rows(row, twice, state, "lists next state {} twice; add its probabilities up")
        sums = np.add.reduceat(prob, first[:-1])
        wrong = np.abs(sums - 1) > check.SUM_TOLERANCE
        message = f"must sum to 1 (±{check.SUM_TOLERANCE:g}) over next states; got {{:.12g}}"
        self._check_rows(np.arange(lists.rows), wrong, sums, message)
        return Successors(first, state, prob)

    def _check_rows(self, row: IntArray, wrong: npt.NDArray[np.bool_], values: npt.NDArray[Any], message: str) -> None:
        """Raise for the first wrong value, with its step, state and joint action."""
        if wrong.any():
            at = int(np.argmax(wrong))
            h, s, *joint = map(int, np.unravel_index(row[at], (self.horizon, self.states, *self.actions)))
            where = f"[h={h}, s={s}, joint=({', '.join(map(str, joint))})]"
            raise TacitError(f"transitions{where} {message.format(values[at])}")


def by_agent(numbers: Sequence[int]) -> tuple[int, ...] | IntArray:
    """Return a number for each agent, as compiled code takes them. Few are a tuple, whose length the compiler knows."""
    return tuple(numbers) if len(numbers) <= KNOWN_AGENTS else lock(np.array(numbers))


def _put_beside(cumulative: FloatArray, state: npt.NDArray[np.int32]) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Return both arrays as views of pairs. Drawing a successor reads one place in memory instead of two."""
    pairs = np.zeros(len(state), dtype=[("cumulative", np.float64), ("state", np.int32), ("", np.int32)])
    pairs["cumulative"], pairs["state"] = cumulative, state
    return lock(pairs["cumulative"]), lock(pairs["state"])


def as_tables(game: object) -> TabularGame | None:
    """Return a game whose joint actions are listed in tables. None in the place of any other, of counts too."""
    return game if isinstance(game, TabularGame) else None


def check_game(game: object) -> None:
    """Raise unless `game` is a tabular game."""
    if as_tables(game) is None:
        raise TacitError(f"game must be a TabularGame, as from tacit.make or tacit.load; got {brief(game)}")


def check_axes(agents: int) -> None:
    """Refuse more agents than NumPy has axes for. Three are taken by agent, step and state."""
    if agents > 60:
        raise TacitError(f"{agents} agents are too many: an array has at most 64 axes, which makes 60 agents")


def check_length(horizon: object, discount: object) -> tuple[int, float | None]:
    """Return the steps that policies tell apart, and the discount."""
    if horizon is None and discount is None:
        raise TacitError("horizon or discount must be given, e.g. horizon=10 or discount=0.95")
    if discount is None:
        return check.integer("horizon", horizon), None
    if horizon is not None:
        raise TacitError(f"horizon or discount must be given, not both; got {brief(horizon)} and {brief(discount)}")
    gamma = check.real("discount", discount)
    if not 0 <= gamma <= MOST_DISCOUNT:
        raise TacitError(f"discount must be at least 0 and below 1 (at most {MOST_DISCOUNT}); got {brief(discount)}")
    return 1, gamma


def _check_rewards(rewards: npt.ArrayLike | Owned[Any], horizon: int, discount: float | None) -> FloatArray:
    array = check.array("rewards", rewards)
    if array.ndim > 2 and array.shape[0] == array.ndim - 2:  # the same at every step
        array = array[:, None]
    if array.ndim < 4 or array.shape[0] != array.ndim - 3:
        raise TacitError(f"rewards must be [N, H or 1, S, A_1, …, A_N]; got shape {array.shape}")
    if 0 in array.shape:
        raise TacitError(f"rewards must have at least one agent, state and action each; got shape {array.shape}")
    if array.shape[1] not in (1, horizon):
        length = f"horizon {horizon}" if discount is None else "a discount"
        raise TacitError(f"rewards must have {_steps(horizon)} steps with {length}; got {array.shape[1]}")
    flat = array.reshape(*array.shape[:3], -1)
    check.finite("rewards", flat, ["i", "h", "s", ("joint", array.shape[3:])])
    return array


def _steps(horizon: int) -> str:
    return "1" if horizon == 1 else f"1 or {horizon}"


def _at_one_state(rows: Rows, agents: int) -> Rows:
    """Give rows [..., A_i] of one state an axis of states, [..., 1, A_i]."""
    if is_joint(rows):
        return np.expand_dims(rows, rows.ndim - agents)
    return [probs[..., None, :] for probs in rows]
