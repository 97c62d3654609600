"""From functions over any hashable states to tables. All states that can be reached are found and numbered."""

from __future__ import annotations

import inspect
import itertools
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.games.exact import Successors
from tacit.games.protocol import check_actions, is_game
from tacit.games.showing import Image, StatePicture
from tacit.games.tabular import TabularGame, check_axes, check_length

#: States × joint actions that are looked at unless more are asked for.
LIMIT = 5_000_000

#: What follows the end of play.
_OVER = "over"

#: Steps of a search that ends when no state is new.
_ENDLESS = 10**15


def tabulate(
    transition: Callable[..., Any],
    reward: Callable[..., Any] = ...,  # type: ignore[assignment]
    *,
    start: Any = ...,
    actions: Sequence[int] = (),
    horizon: int | None = None,
    discount: float | None = None,
    limit: int = LIMIT,
    name: str | None = None,
    action_names: Sequence[Sequence[str]] | None = None,
    notes: Sequence[str] = (),
    picture: Callable[[Any], Image] | None = None,
) -> TabularGame:
    """Make a game from functions of states, by breadth-first search from the first ones.

    Parameters
    ----------
    transition : function of (state, actions)
        Pairs (probability, next state), or a dict {next state: probability}; states are anything hashable, `actions` is
        a tuple with one action for each agent. Where the step matters, it is part of the state: (step, …).
    reward : function of (state, actions)
        N numbers, one for each agent, or one number for all. Where a reward depends on the next state too, its
        expectation over next states: values and gaps are the same.
    start : hashable, or dict {state: probability}
        The first state, or its distribution.
    actions : sequence of N ints
        The number of actions of each agent.
    horizon : int
        Steps in an episode. States that cannot be reached before the last one are left out, and where only the last
        step can be taken no transition is asked for.
    discount : float, optional
        Instead of a horizon: of a game without a last step, in which all states that can be reached are looked at.
    limit : int
        Most states × joint actions to look at; the search ends with an error when there are more.
    name, action_names, notes : optional
        For people, as in TabularGame. States are named as `str` shows them, if no two look the same.
    picture : function of a state, optional
        Draws a state as an array [height, width, 3] of bytes.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> def transition(state, actions):
    ...     return [(1.0, (state + sum(actions)) % 3)]
    >>> tacit.tabulate(transition, lambda state, actions: float(state == 2), start=0, actions=[2, 2], horizon=4)
    TabularGame(2 agents, 3 states, 2×2 actions, horizon 4, rewards in [0, 1])
    """
    if is_game(transition):
        wanted = "transition must be a function of (state, actions) that returns pairs (probability, next state)"
        raise TacitError(f"{wanted}; got {brief(transition)}")
    if start is ...:
        raise TacitError("start must be given: a state, or a dict {state: probability}")
    steps, discount = check_length(horizon, discount)
    each = check.list_of("actions", actions, "numbers, one for each agent", least=1)
    sizes = check_actions(each, len(each))
    check_axes(len(sizes))
    limit = check.integer("limit", limit, least=1)
    for what, function in (("transition", transition), ("reward", reward)):
        _check_signature(what, check.function(what, function, needed=True))
    search = StateSearch(transition, reward, sizes, steps if discount is None else _ENDLESS, limit=limit)
    first, initial = _first(start)
    search.run(first)
    transitions, rewards = search.tables()
    names = [str(state) for state in search.states]
    draw = check.function("picture", picture)
    game = TabularGame(
        Owned(transitions),
        Owned(rewards),
        [*initial, *[0.0] * (len(search.states) - len(first))],
        horizon,
        discount=discount,
        name=name,
        state_names=names if len(set(names)) == len(names) else None,
        action_names=action_names,
        notes=notes,
        picture=None if draw is None else StatePicture(search.states, draw),
    )
    game.edge = search.edge
    return game


def tabulate_steps(
    step: Callable[[Any, tuple[int, ...]], Sequence[tuple[float, Any, Sequence[float]]]],
    *,
    actions: Sequence[int],
    **more: Any,
) -> TabularGame:
    """Make a game of one function: step(state, actions) lists probabilities, next states and rewards [N].

    Where the next state is None play ends: a state "over" follows, which pays nothing. The rest is as in `tabulate`.

    >>> tabulate_steps(lambda s, joint: [(1.0, None, [joint[0], 0])], start="in", actions=[2, 1], horizon=3)
    TabularGame(2 agents, 2 states, 2×1 actions, horizon 3, rewards in [0, 1])
    """
    stay = [(1.0, None, [0.0] * len(actions))]

    def transition(state: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        outcomes = stay if state == _OVER else step(state, joint)
        return [(prob, _OVER if s_next is None else s_next) for prob, s_next, _ in outcomes]

    def reward(state: Any, joint: tuple[int, ...]) -> list[float]:
        total = [0.0] * len(actions)
        for prob, _, paid in stay if state == _OVER else step(state, joint):
            total = [so_far + prob * one for so_far, one in zip(total, paid, strict=True)]
        return total

    return tabulate(transition, reward, actions=actions, **more)


def _check_signature(what: str, function: Callable[..., Any]) -> None:
    """Raise unless a function takes a state and actions. Some compiled ones do not say what they take."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, ())
    except TypeError:
        after = "; of a reward that depends on the next state, return the expectation" if what == "reward" else ""
        wanted = f"{what} must be a function of (state, actions)"
        raise TacitError(f"{wanted}; got one of {brief(str(signature))}{after}") from None


def _first(start: Any) -> tuple[list[Any], list[float]]:
    """Return the first states and their probabilities."""
    if not isinstance(start, dict):
        return [start], [1.0]
    if not start:
        raise TacitError("start must be a state, or a dict {state: probability} with at least one; got {}")
    return list(start), [check.real(f"start[{brief(state)}]", p, least=0, most=1) for state, p in start.items()]


class StateSearch:
    """The states in the order of their discovery, and rows of those expanded.

    Attributes
    ----------
    states : list
    edge : int
        How many states were expanded at the last step alone, so that nothing is known of what follows them.
    """

    def __init__(
        self,
        transition: Callable[..., Any],
        reward: Callable[..., Any],
        sizes: tuple[int, ...],
        horizon: int,
        *,
        limit: int,
    ) -> None:
        self._transition, self._reward = transition, reward
        self._sizes, self._horizon, self._limit = sizes, horizon, limit
        self._joint = list(itertools.product(*map(range, sizes)))
        self.states: list[Hashable] = []
        self.edge = 0
        self._numbers: dict[Hashable, int] = {}
        self._first, self._state, self._prob = array("q", [0]), array("i"), array("d")
        self._paid = array("d")

    def run(self, first: list[Any]) -> None:
        """Expand all states that can be reached, in the order in which they are."""
        for state in first:
            self._number(state)
        expanded = 0
        for step in range(self._horizon):
            level, last = range(expanded, len(self.states)), step == self._horizon - 1
            self.edge = len(level) if last else 0
            for s in level:
                if len(self.states) * len(self._joint) > self._limit:
                    raise TacitError(
                        f"there are more than {self._limit:,} states × joint actions: {len(self.states):,} states "
                        f"after {step} steps, {len(self._joint)} joint actions; give a larger limit= or a smaller game"
                    )
                self._expand(s, last=last)
            expanded = level.stop
            if expanded == len(self.states):
                break

    def _number(self, state: Any) -> int:
        try:
            number = self._numbers.get(state)
        except TypeError:
            raise TacitError(f"{brief(state)} is no state: states must be hashable, e.g. tuples") from None
        if number is None:
            number = self._numbers[state] = len(self.states)
            self.states.append(state)
        return number

    def _expand(self, s: int, *, last: bool) -> None:
        """Write down what every joint action does in a state. Where the last step leads does not matter."""
        here = self.states[s]
        for joint in self._joint:
            probs = {s: 1.0} if last else self._next_probs(here, joint)
            self._state.extend(probs)
            self._prob.extend(probs.values())
            self._first.append(len(self._state))
            self._paid.extend(self._rewards(here, joint))

    def _next_probs(self, here: Any, joint: tuple[int, ...]) -> dict[int, float]:
        """Return the probabilities of the next states by their numbers."""
        returned = self._transition(here, joint)
        pairs: Iterable[Any] = ((p, s) for s, p in returned.items()) if isinstance(returned, dict) else returned
        probs: dict[int, float] = {}
        total = 0.0
        try:
            for p, s_next in pairs:
                if p > 0.0:
                    number = self._number(s_next)
                    probs[number] = probs.get(number, 0.0) + p
                elif p != 0.0:
                    raise TacitError(f"transition({brief(here)}, {joint}) has the probability {brief(p)}")
                total += p
        except TacitError:
            raise
        except (TypeError, ValueError):
            call = f"transition({brief(here)}, {joint})"
            raise TacitError(f"{call} must be pairs (probability, next state); got {brief(returned)}") from None
        if abs(total - 1.0) > check.SUM_TOLERANCE:
            raise TacitError(f"the probabilities of transition({brief(here)}, {joint}) must sum to 1; got {total:.12g}")
        return probs

    def _rewards(self, here: Any, joint: tuple[int, ...]) -> Sequence[float]:
        """Return a reward for each agent."""
        returned, agents = self._reward(here, joint), len(self._sizes)
        try:
            paid = array("d", [returned] * agents if isinstance(returned, int | float) else returned)
        except TypeError:
            paid = array("d")
        if len(paid) != agents:
            wanted = f"a number, or one for each of {agents} agents"
            raise TacitError(f"reward({brief(here)}, {joint}) must be {wanted}; got {brief(returned)}")
        return paid

    def tables(self) -> tuple[Successors, FloatArray]:
        """Return the successors and the rewards [N, 1, S, A_1, …, A_N]."""
        lists = Successors(np.array(self._first), np.array(self._state, dtype=np.int32), np.array(self._prob))
        rewards = np.array(self._paid).reshape(-1, len(self._sizes))
        return lists, np.ascontiguousarray(rewards.T).reshape(len(self._sizes), 1, len(self.states), *self._sizes)


# Objectives, as in PRISM-games' properties: reach a goal in time, collect rewards, be paid at one step. The rules of a
# game say where joint actions lead from a state; an objective says what an agent is paid on the way. The step, as long
# as an objective depends on it, and whether each objective is still open become part of the state.

#: Pairs (probability, next state) of a state and a joint action.
Transition = Callable[[Any, tuple[int, ...]], Sequence[tuple[float, Any]]]


class Objective(Protocol):
    """What an agent is paid for, within the first `steps`. None where there is no bound."""

    @property
    def steps(self) -> int | None: ...  # noqa: D102

    def pay(self, t: int, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Return whether an open objective stays open after step t, and what the step pays."""


@dataclass(frozen=True)
class Reach:
    """1 for reaching `goal` within some steps, where `path` holds on the way."""

    goal: Callable[[Any], bool]
    steps: int | None = None
    path: Callable[[Any], bool] = lambda s: True

    def pay(self, t: int, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay on arrival."""
        if self.goal(s_next):
            return False, 1.0
        return self.path(s_next) and t + 1 != self.steps, 0.0


@dataclass(frozen=True)
class Collect:
    """The rewards of the first `steps`, or until a state is reached."""

    reward: Callable[[Any, tuple[int, ...]], float]
    steps: int | None = None
    until: Callable[[Any], bool] = lambda s: False

    def pay(self, t: int, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay the reward of the state that is left."""
        return not self.until(s_next) and t + 1 != self.steps, self.reward(s, joint)


@dataclass(frozen=True)
class PayAt:
    """The reward of the state after so many steps."""

    reward: Callable[[Any], float]
    steps: int

    def pay(self, t: int, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay on arrival."""
        last = t + 1 == self.steps
        return not last, self.reward(s_next) if last else 0.0


@dataclass(frozen=True)
class Against:
    """Minus what another objective pays."""

    other: Objective

    @property
    def steps(self) -> int | None:
        """The other's bound."""
        return self.other.steps

    def pay(self, t: int, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay the opposite."""
        still_open, paid = self.other.pay(t, s, joint, s_next)
        return still_open, 0.0 - paid


def objective_game(
    name: str,
    rules: Transition,
    objectives: Sequence[Objective],
    *,
    initial: Any,
    horizon: int | None = None,
    **more: Any,
) -> TabularGame:
    """Make a game of rules and an objective for each agent. `more` is as in `tacit.tabulate`.

    Without a horizon, the largest bound of the objectives is the horizon.
    """
    bound = max(objective.steps or 0 for objective in objectives)

    def step(state: Any, joint: tuple[int, ...]) -> list[tuple[float, Any, list[float]]]:
        t, s, are_open = state
        outcomes = []
        for prob, s_next in rules(s, joint):
            after = [
                objective.pay(t, s, joint, s_next) if is_open else (False, 0.0)
                for objective, is_open in zip(objectives, are_open, strict=True)
            ]
            still_open = tuple(is_open for is_open, _ in after)
            state_next = (min(t + 1, bound), s_next, still_open) if any(still_open) else None
            outcomes.append((prob, state_next, [paid for _, paid in after]))
        return outcomes

    first = (0, initial, (True,) * len(objectives))
    return tabulate_steps(step, start=first, horizon=horizon or bound, name=name, **more)
