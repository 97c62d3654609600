"""From functions over any hashable states to tables: all states that can be reached are found and numbered."""

from __future__ import annotations

import inspect
import itertools
import math
import sys
import time
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned
from tacit.games.boards import Image, StatePicture
from tacit.games.protocol import check_actions, is_game
from tacit.games.successors import Successors
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
    progress: bool | None = None,
    name: str | None = None,
    action_names: Sequence[Sequence[str]] | None = None,
    notes: Sequence[str] = (),
    picture: Callable[[Any], Image] | None = None,
) -> TabularGame:
    """Make a game from functions of states, by breadth-first search from the first ones.

    Parameters
    ----------
    transition : function of (state, actions), or of (state, actions, step)
        Pairs (probability, next state), or a dict {next state: probability}; states are anything hashable, `actions` is
        a tuple with one action for each agent. One that takes `step` is asked anew at each step, 0, 1, ….
    reward : function of (state, actions), or of (state, actions, step)
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
    progress : bool, optional
        Show on stderr how far the search is; by default on a terminal.
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
        raise TacitError(
            f"transition is {brief(transition)}; the functions of a game draw with numbers u and have no probabilities "
            f"to tabulate: write transition(state, actions), which returns pairs (probability, next state)"
        )
    if start is ...:
        raise TacitError("start is not given; it must be a state, or a dict {state: probability}")
    steps, discount = check_length(horizon, discount)
    each = check.list_of("actions", actions, "numbers, one for each agent", least=1)
    sizes = check_actions(each, len(each))
    check_axes(len(sizes))
    limit = check.integer("limit", limit, least=1)
    for what, function in (("transition", transition), ("reward", reward)):
        check.function(what, function, needed=True)
    timed = [_takes_step(what, function) for what, function in (("transition", transition), ("reward", reward))]
    if discount is not None and any(timed):
        raise TacitError("transition and reward must not take a step: a discounted game is the same at every step")
    steps = steps if discount is None else _ENDLESS
    search = _Search(transition, reward, sizes, steps, limit, _shown(progress))
    first, initial = _first(start)
    if any(timed):
        search.search_steps(first, *timed)
    else:
        search.search(first)
    names = [str(state) for state in search.states]
    draw = check.function("picture", picture)
    found = TabularGame(
        Owned(search.successors()),
        Owned(search.rewards()),
        [*initial, *[0.0] * (len(search.states) - len(first))],
        horizon,
        discount=discount,
        name=name,
        state_names=names if len(set(names)) == len(names) else None,
        action_names=action_names,
        notes=notes,
        picture=None if draw is None else StatePicture(search.states, draw),
    )
    found.edge = search.edge
    return found


def tabulate_steps(
    step: Callable[[Any, tuple[int, ...]], Sequence[tuple[float, Any, Sequence[float]]]],
    *,
    actions: Sequence[int],
    **given: Any,
) -> TabularGame:
    """Make a game of one function: step(state, actions) lists probabilities, next states and rewards [N].

    Where the next state is None play ends: a state "over" follows, which pays nothing. The rest is as in `tabulate`.

    >>> tabulate_steps(lambda s, joint: [(1.0, None, [joint[0], 0])], start="in", actions=[2, 1], horizon=3)
    TabularGame(2 agents, 2 states, 2×1 actions, horizon 3, rewards in [0, 1])
    """
    stay = [(1.0, None, [0.0] * len(actions))]

    def transition(state: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        found = stay if state == _OVER else step(state, joint)
        return [(chance, _OVER if after is None else after) for chance, after, _ in found]

    def reward(state: Any, joint: tuple[int, ...]) -> list[float]:
        total = [0.0] * len(actions)
        for chance, _, paid in stay if state == _OVER else step(state, joint):
            total = [so_far + chance * one for so_far, one in zip(total, paid, strict=True)]
        return total

    return tabulate(transition, reward, actions=actions, progress=False, **given)


def _takes_step(what: str, function: Callable[..., Any]) -> bool:
    """Return whether a function takes the step after a state and actions; raise unless it takes those."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some compiled functions do not say what they take
        return False
    try:
        if "step" in signature.parameters:
            signature.bind(None, (), 0)
            return True
        signature.bind(None, ())
        return False
    except TypeError:
        message = f"{what} is a function of {brief(str(signature))}; it must be one of (state, actions[, step])"
        after = "; of a reward that depends on the next state, return the expectation" if what == "reward" else ""
        raise TacitError(f"{message}{after}") from None


def _first(start: Any) -> tuple[list[Any], list[float]]:
    """Return the first states and their probabilities."""
    if not isinstance(start, dict):
        return [start], [1.0]
    if not start:
        raise TacitError("start is {}; it must be a state, or a dict {state: probability}")
    return list(start), [check.real(f"start[{brief(state)}]", p, least=0, most=1) for state, p in start.items()]


def _shown(progress: bool | None) -> bool:
    return sys.stderr.isatty() if progress is None else check.flag("progress", progress)


class _Search:
    """The states so far, in the order in which they were met, and the tables of those that were looked at."""

    def __init__(
        self,
        transition: Callable[..., Any],
        reward: Callable[..., Any],
        sizes: tuple[int, ...],
        horizon: int,
        limit: int,
        shown: bool,
    ) -> None:
        self.transition, self.reward, self.sizes, self.horizon = transition, reward, sizes, horizon
        self.limit, self.shown, self.edge = limit, shown, 0
        self.joint = list(itertools.product(*map(range, sizes)))
        self.states: list[Hashable] = []
        self.numbers: dict[Hashable, int] = {}
        self.first, self.state, self.prob = array("q", [0]), array("i"), array("d")
        self.paid = array("d")

    def search(self, first: list[Any]) -> None:
        """Look at all states that can be reached, step by step."""
        for state in first:
            self._number(state)
        done, shown_at = 0, time.monotonic()
        for step in range(self.horizon):
            level = range(done, len(self.states))
            for s in level:
                if (s + 1) * len(self.joint) > self.limit:
                    raise TacitError(
                        f"there are more than {self.limit:,} states × joint actions: {len(self.states):,} states after "
                        f"{step} steps and {len(self.joint)} joint actions; give a larger limit= or a smaller game"
                    )
                self._look(s, last=step == self.horizon - 1)
                if self.shown and time.monotonic() - shown_at > 0.2:
                    shown_at = time.monotonic()
                    print(f"\rtabulate: {s + 1:,} of {len(self.states):,} states", end="", file=sys.stderr)
            self.edge = len(level) if step == self.horizon - 1 else 0
            done = level.stop
            if done == len(self.states):
                break
        if self.shown:
            print(f"\rtabulate: {done:,} states, {len(self.state):,} transitions", file=sys.stderr)

    def search_steps(self, first: list[Any], timed_transition: bool, timed_reward: bool) -> None:
        """Find what can be reached at each step, then write down each step's table; elsewhere nothing happens."""
        transition, reward = self.transition, self.reward
        reached = [{self._number(state) for state in first}]
        for step in range(self.horizon - 1):
            self.transition = partial(transition, step=step) if timed_transition else transition
            for s in sorted(reached[step]):
                self._check_limit(step)
                for joint in self.joint:
                    self._lead(self.states[s], joint, self.transition(self.states[s], joint))
            reached.append(set(self.state))
            del self.state[:], self.prob[:]
        for step, here in enumerate(reached):
            self.transition = partial(transition, step=step) if timed_transition else transition
            self.reward = partial(reward, step=step) if timed_reward else reward
            for s in range(len(self.states)):
                if s in here:
                    self._look(s, last=step == self.horizon - 1)
                    continue
                for _ in self.joint:
                    self.state.append(s)
                    self.prob.append(1.0)
                    self.first.append(len(self.state))
                    self.paid.extend([math.nan] * len(self.sizes))

    def _check_limit(self, step: int) -> None:
        if self.horizon * len(self.states) * len(self.joint) > self.limit:
            raise TacitError(
                f"there are more than {self.limit:,} steps × states × joint actions: {len(self.states):,} states after "
                f"{step} steps and {len(self.joint)} joint actions; give a larger limit= or a smaller game"
            )

    def _number(self, state: Any) -> int:
        try:
            number = self.numbers.get(state)
        except TypeError:
            raise TacitError(f"{brief(state)} is no state: states must be hashable, e.g. tuples") from None
        if number is None:
            number = self.numbers[state] = len(self.states)
            self.states.append(state)
        return number

    def _look(self, s: int, *, last: bool) -> None:
        """Write down what every joint action does in a state."""
        here, N = self.states[s], len(self.sizes)
        first, state, prob, paid = self.first, self.state, self.prob, self.paid
        for joint in self.joint:
            if last:  # where it leads does not matter any more
                state.append(s)
                prob.append(1.0)
            else:
                self._lead(here, joint, self.transition(here, joint))
            first.append(len(state))
            given = self.reward(here, joint)
            try:
                if isinstance(given, int | float):
                    paid.extend([given] * N)
                elif len(given) != N:
                    raise TypeError
                else:
                    paid.extend(given)
            except TypeError:
                message = f"reward({brief(here)}, {joint}) is {brief(given)}"
                raise TacitError(f"{message}; it must be a number, or one for each of {N} agents") from None

    def _lead(self, here: Any, joint: tuple[int, ...], given: Any) -> None:
        """Write down the next states of one joint action."""
        state, prob = self.state, self.prob
        pairs: Iterable[Any] = ((p, s) for s, p in given.items()) if isinstance(given, dict) else given
        begin, total = len(state), 0.0
        try:
            for p, s_next in pairs:
                if p > 0.0:
                    state.append(self._number(s_next))
                    prob.append(p)
                elif p != 0.0:
                    raise TacitError(f"transition({brief(here)}, {joint}) has the probability {brief(p)}")
                total += p
        except TacitError:
            raise
        except (TypeError, ValueError):
            raise TacitError(
                f"transition({brief(here)}, {joint}) is {brief(given)}; it must be pairs (probability, next state)"
            ) from None
        if abs(total - 1.0) > check.SUM_TOLERANCE:
            raise TacitError(
                f"the probabilities of transition({brief(here)}, {joint}) sum to {total:.12g}, and must to 1"
            )
        if len(state) - begin > 1:
            self._merge(begin)

    def _merge(self, begin: int) -> None:
        """Add up what was listed more than once since `begin`."""
        found: dict[int, float] = {}
        for s, p in zip(self.state[begin:], self.prob[begin:], strict=True):
            found[s] = found.get(s, 0.0) + p
        if len(found) < len(self.state) - begin:
            del self.state[begin:], self.prob[begin:]
            self.state.extend(found)
            self.prob.extend(found.values())

    def successors(self) -> Successors:
        """Return the lists of next states."""
        return Successors(
            np.frombuffer(self.first, dtype=np.int64),
            np.frombuffer(self.state, dtype=np.int32),
            np.frombuffer(self.prob, dtype=np.float64),
        )

    def rewards(self) -> Any:
        """Return the rewards [N, H or 1, S, A_1, …, A_N]; where nobody comes, the least that is paid anywhere."""
        N, S = len(self.sizes), len(self.states)
        table = np.frombuffer(self.paid, dtype=np.float64).reshape(-1, N)
        if len(table) > S * len(self.joint):
            table = np.where(np.isnan(table), np.nanmin(table), table)
        return np.ascontiguousarray(table.T).reshape(N, -1, S, *self.sizes)
