"""Games with an objective for each agent: to reach a goal in time, to keep off something, to collect rewards.

The rules of a game say where joint actions lead from a state; an objective says what an agent gets on the way. What an
objective remembers, and the number of the step as long as one asks for it, becomes part of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tacit.games.tabular import TabularGame
from tacit.games.tabulate import tabulate

#: Pairs (probability, next state) of a state and joint actions.
Rules = Callable[[Any, tuple[int, ...]], Sequence[tuple[float, Any]]]


class Objective(Protocol):
    """What an agent wants."""

    @property
    def last(self) -> int:
        """The last step at which the number of the step matters; 0 if it never does."""

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Return whether the objective is still open after a step, and what the step pays."""


@dataclass(frozen=True)
class Reach:
    """The probability to come to `goal` within some steps, with `path` true on the way."""

    goal: Callable[[Any], bool]
    within: int | None = None
    path: Callable[[Any], bool] | None = None

    @property
    def last(self) -> int:
        """The last step that counts."""
        return self.within or 0

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay 1 for arriving."""
        late = self.within is not None and t >= self.within
        if not open_ or late:
            return False, 0.0
        if self.goal(s_next):
            return False, 1.0
        return (self.path is None or self.path(s_next)) and t + 1 != self.within, 0.0


@dataclass(frozen=True)
class Collect:
    """The rewards of states and actions: of the first `steps`, or until a state is reached, or at one step alone."""

    reward: Callable[[Any, tuple[int, ...]], float]
    steps: int | None = None
    until: Callable[[Any], bool] | None = None

    @property
    def last(self) -> int:
        """The last step that counts."""
        return self.steps or 0

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay the reward of the state that is left."""
        if not open_ or (self.steps is not None and t >= self.steps):
            return False, 0.0
        over = (self.until is not None and self.until(s_next)) or t + 1 == self.steps
        return not over, self.reward(s, joint)


@dataclass(frozen=True)
class At:
    """The reward of the state after so many steps."""

    reward: Callable[[Any], float]
    step: int

    @property
    def last(self) -> int:
        """The step that counts."""
        return self.step

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay on arrival; what is paid before the first step is the same whatever anybody does, and left out."""
        return t + 1 < self.step, self.reward(s_next) if t + 1 == self.step else 0.0


@dataclass(frozen=True)
class Against:
    """Minus what another objective pays."""

    other: Objective

    @property
    def last(self) -> int:
        """The last step that counts."""
        return self.other.last

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay the opposite."""
        still, paid = self.other.pay(t, open_, s, joint, s_next)
        return still, 0.0 - paid


def game(
    name: str, rules: Rules, objectives: Sequence[Objective], *, start: Any, horizon: int | None, **more: Any
) -> TabularGame:
    """Make a table of rules and objectives; `more` is as in `tacit.tabulate`."""
    last = max(objective.last for objective in objectives)

    def steps(state: Any, joint: tuple[int, ...]) -> list[tuple[float, Any, list[float]]]:
        if state == "over":
            return [(1.0, "over", [0.0] * len(objectives))]
        t, s, open_ = state
        found = []
        for chance, s_next in rules(s, joint):
            after = [one.pay(t, o, s, joint, s_next) for one, o in zip(objectives, open_, strict=True)]
            still = tuple(o for o, _ in after)
            place = (min(t + 1, last), s_next, still) if any(still) else "over"
            found.append((chance, place, [paid for _, paid in after]))
        return found

    def transition(state: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        return [(chance, place) for chance, place, _ in steps(state, joint)]

    def reward(state: Any, joint: tuple[int, ...]) -> list[float]:
        parts = [[chance * one for one in paid] for chance, _, paid in steps(state, joint)]
        return [sum(own) for own in zip(*parts, strict=True)]

    first = (0, start, (True,) * len(objectives))
    return tabulate(transition, reward, start=first, horizon=horizon, progress=False, name=name, **more)
