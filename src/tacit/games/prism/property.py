"""What each side of a game wants: to reach a goal in time, to keep off something, to collect rewards.

The rules of a game say where joint actions lead from a state; an objective says what an agent gets on the way. What an
objective remembers, and the number of the step as long as one asks for it, becomes part of the state. A property of a
csg model says which players stand together, and what each side's objective is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from tacit.core.errors import TacitError, brief
from tacit.games.prism.expressions import Expression, Reader, split
from tacit.games.prism.model import Model, State
from tacit.games.tabular import TabularGame
from tacit.games.tabulate import tabulate_steps

#: Pairs (probability, next state) of a state and joint actions.
Rules = Callable[[Any, tuple[int, ...]], Sequence[tuple[float, Any]]]


class Objective(Protocol):
    """What an agent wants, until the number of `steps` is reached; None for ever."""

    @property
    def steps(self) -> int | None: ...  # noqa: D102

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Return whether the objective is still open after a step, and what the step pays."""


@dataclass(frozen=True)
class Reach:
    """The probability to come to `goal` within some steps, with `path` true on the way."""

    goal: Callable[[Any], bool]
    steps: int | None = None
    path: Callable[[Any], bool] | None = None

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay 1 for arriving."""
        late = self.steps is not None and t >= self.steps
        if not open_ or late:
            return False, 0.0
        if self.goal(s_next):
            return False, 1.0
        return (self.path is None or self.path(s_next)) and t + 1 != self.steps, 0.0


@dataclass(frozen=True)
class Collect:
    """The rewards of states and actions: of the first `steps`, or until a state is reached, or at one step alone."""

    reward: Callable[[Any, tuple[int, ...]], float]
    steps: int | None = None
    until: Callable[[Any], bool] | None = None

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
    steps: int

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay on arrival; what is paid before the first step is the same whatever anybody does, and left out."""
        return t + 1 < self.steps, self.reward(s_next) if t + 1 == self.steps else 0.0


@dataclass(frozen=True)
class Against:
    """Minus what another objective pays."""

    other: Objective

    @property
    def steps(self) -> int | None:
        """Until when it counts."""
        return self.other.steps

    def pay(self, t: int, open_: bool, s: Any, joint: tuple[int, ...], s_next: Any) -> tuple[bool, float]:
        """Pay the opposite."""
        still, paid = self.other.pay(t, open_, s, joint, s_next)
        return still, 0.0 - paid


def last_step(objectives: Sequence[Objective]) -> int:
    """Return the last step at which the number of the step matters; 0 if it never does."""
    return max(objective.steps or 0 for objective in objectives)


def make_game(
    name: str, rules: Rules, objectives: Sequence[Objective], *, start: Any, horizon: int | None, **more: Any
) -> TabularGame:
    """Make a table of rules and objectives; `more` is as in `tacit.tabulate`."""
    last = last_step(objectives)

    def step(state: Any, joint: tuple[int, ...]) -> list[tuple[float, Any, list[float]]]:
        t, s, open_ = state
        found = []
        for chance, s_next in rules(s, joint):
            after = [one.pay(t, o, s, joint, s_next) for one, o in zip(objectives, open_, strict=True)]
            still = tuple(o for o, _ in after)
            place = (min(t + 1, last), s_next, still) if any(still) else None
            found.append((chance, place, [paid for _, paid in after]))
        return found

    return tabulate_steps(step, start=(0, start, (True,) * len(objectives)), horizon=horizon, name=name, **more)


@dataclass(frozen=True)
class Property:
    """Sides of players, an objective for each, and whether one of them has no bound."""

    sides: list[list[str]]
    objectives: list[Objective]
    unbounded: bool


def read_property(text: str, model: Model) -> Property:
    """Read a property of one coalition or of two."""
    try:
        return _Property(Reader(model.expand(split(text)), model.labels, ends="it ends"), model).read()
    except TacitError as error:
        raise TacitError(f"property {brief(text, 200)}: {error}") from None


class _Property:
    def __init__(self, reader: Reader, model: Model) -> None:
        self.reader, self.model, self.unbounded = reader, model, False

    def read(self) -> Property:
        """Read all of it."""
        reader = self.reader
        sides = self._sides()
        if reader.meet("{"):  # which equilibria: what tacit.solve is asked for instead
            while not reader.meet("}"):
                if not reader.current:
                    reader.refuse("}")
                reader.advance()
        if len(sides) == 1:
            others = [player for player in self.model.players if player not in sides[0]]
            objective, sign = self._single()
            both = [objective, Against(objective)] if sign > 0 else [Against(objective), objective]
            sides, objectives = ([sides[0], others], both) if others else ([sides[0]], both[:1])
        elif len(sides) == 2:
            cost = reader.take("max", "min") == "min"
            reader.take("=?")
            bracket = reader.meet("(")
            objectives = [self._objective()]
            while reader.meet("+"):
                objectives.append(self._objective())
            if bracket:
                reader.take(")")
            if cost:
                objectives = [Against(objective) for objective in objectives]
        else:
            raise TacitError("only one or two sides are read")
        reader.meet(";")
        if reader.current:
            reader.refuse("the end")
        if len(objectives) != len(sides):
            raise TacitError(f"there are {len(sides)} sides and {len(objectives)} objectives")
        return Property(sides, objectives, self.unbounded)

    def _sides(self) -> list[list[str]]:
        reader = self.reader
        reader.take("<<")
        sides: list[list[str]] = [[]]
        while not reader.meet(">>"):
            name = reader.name("a player")
            if name not in self.model.players:
                raise TacitError(f"there is no player {name}; known: {', '.join(self.model.players)}")
            sides[-1].append(name)
            if reader.meet(":"):
                sides.append([])
            else:
                reader.meet(",")
        named = [player for side in sides for player in side]
        if len(sides) > 1 and set(named) != set(self.model.players):
            raise TacitError("the sides must name all players")
        return sides

    def _single(self) -> tuple[Objective, int]:
        """Read `Pmax=? […]`, `R{"r"}min=? […]`, and whether more is better."""
        reader = self.reader
        read: Callable[[], Objective] = self._path
        if reader.current in ("Pmax", "Pmin"):
            best = reader.take("Pmax", "Pmin")[1:]
        else:
            reader.take("R")
            read, best = partial(self._collect, self._reward_name()), reader.take("max", "min")
        reader.take("=?")
        return read(), 1 if best == "max" else -1

    def _objective(self) -> Objective:
        if self.reader.take("P", "R") == "P":
            return self._path()
        return self._collect(self._reward_name())

    def _reward_name(self) -> str:
        self.reader.take("{")
        name = self.reader.string("the name of rewards")
        self.reader.take("}")
        return name

    def _state(self, expression: Expression) -> Any:
        """Return a test of states."""
        return lambda s: bool(expression(self.model.environment(s)))

    def _bound(self) -> int | None:
        if not self.reader.meet("<="):
            self.unbounded = True
            return None
        return self._step(1)

    def _step(self, least: int) -> int:
        """Read a bound: a number, a constant, or an expression in brackets."""
        reader = self.reader
        value = reader.operand()(self.model.constants)
        if not isinstance(value, int | float) or value != int(value) or value < least:
            raise TacitError(f"a bound is {brief(value)}; it must be a whole number from {least} on")
        return int(value)

    def _path(self) -> Objective:
        """Read `[ F<=3 x ]`, `[ x U<=3 y ]` or `[ X x ]`."""
        reader = self.reader
        reader.take("[")
        if reader.current == "G":
            raise TacitError("G is not read; ask for 1 minus the F of the opposite")
        path: Any = None
        next_ = reader.meet("X")
        if next_:
            within: int | None = 1
        elif reader.meet("F"):
            within = self._bound()
        else:
            path = self._state(reader.expression())
            reader.take("U")
            within = self._bound()
        goal = self._state(reader.expression())
        reader.take("]")
        if not next_:
            self._check_start(goal)
        return Reach(goal, within, path)

    def _collect(self, name: str) -> Objective:
        """Read `[ C<=3 ]`, `[ I=3 ]` or `[ F x ]` of rewards."""
        reader = self.reader
        pay = self.model.reward(name)
        reader.take("[")
        found: Objective | At
        if reader.meet("C"):
            reader.take("<=")
            found = Collect(pay, self._step(0))
        elif reader.meet("I"):
            reader.take("=")
            found = At(pay, self._step(0))
            if found.steps == 0 and pay(self.model.start) != 0:
                raise TacitError("I=0 asks for the reward of the first state, which nobody decides")
        elif reader.meet("F", "Fc"):
            self.unbounded = True
            goal = self._state(reader.expression())
            self._check_start(goal)
            found = Collect(pay, until=goal)
        else:
            reader.refuse("C<=, I= or F")
        reader.take("]")
        return found

    def _check_start(self, goal: Any) -> None:
        start: State = self.model.start
        if goal(start):
            raise TacitError("the goal holds in the first state already")
