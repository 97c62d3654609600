"""Properties of csg models: which players stand together, and what each side wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tacit.core.errors import TacitError, brief
from tacit.games.objectives import Against, At, Collect, Objective, Reach
from tacit.games.prism.expressions import Expression, Reader, split
from tacit.games.prism.model import Model, State


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
            read, best = partial(self._collected, self._reward_name()), reader.take("max", "min")
        reader.take("=?")
        return read(), 1 if best == "max" else -1

    def _objective(self) -> Objective:
        if self.reader.take("P", "R") == "P":
            return self._path()
        return self._collected(self._reward_name())

    def _reward_name(self) -> str:
        self.reader.take("{")
        name = self.reader.quoted("the name of rewards")
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

    def _collected(self, name: str) -> Objective:
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
            if found.step == 0 and pay(self.model.start) != 0:
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
