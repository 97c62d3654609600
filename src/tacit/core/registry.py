"""Names for games, learners and bandits: one line each here, or an entry point in another package."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from tacit.core import check
from tacit.core.errors import TacitError

T = TypeVar("T")


class Registry(Generic[T]):
    """A table from names to factories with keyword parameters.

    Plugins join through the entry-point group `tacit.<plural of kind>`; a built-in name is never replaced by one.
    `adopt` may turn whatever is registered into a factory.

    >>> numbers = Registry[int]("number")
    >>> numbers.add("answer", lambda *, base=40: base + 2)
    >>> numbers.make("answer", base=0)
    2
    >>> numbers.make("answr")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: no number 'answr'; did you mean 'answer'? known: answer
    """

    def __init__(self, kind: str, *, adopt: Callable[[Any], Callable[..., T]] | None = None) -> None:
        self.kind, self._adopt = kind, adopt
        self._factories: dict[str, Callable[..., T]] = {}
        self._plugins_met = False

    def add(self, name: str, factory: Callable[..., T]) -> None:
        """Register a factory; its docstring's first line is what listings show."""
        if name in self._factories:
            raise TacitError(f"{self.kind} {name!r} is registered already; choose another name")
        self._factories[name] = factory if self._adopt is None else self._adopt(factory)

    def __iter__(self) -> Iterator[str]:
        self._meet_plugins()
        return iter(self._factories)

    def factory(self, name: str) -> Callable[..., T]:
        """Return the factory of a name, or raise with a suggestion."""
        return self._factories[check.choice(self.kind, name, list(self))]

    def parameters(self, name: str) -> dict[str, Any]:
        """Return the keyword parameters of a name with their defaults."""
        return {p.name: p.default for p in inspect.signature(self.factory(name)).parameters.values()}

    def summary(self, name: str) -> str:
        """Return the first line of a factory's docstring."""
        return (inspect.getdoc(self.factory(name)) or "").split("\n", 1)[0]

    def make(self, name: str, /, **params: Any) -> T:
        """Call the factory of a name; an unknown parameter is an error with a suggestion."""
        factory = self.factory(name)
        known = self.parameters(name)
        for key in params:
            if key not in known:
                takes = ", ".join(f"{k}={v!r}" for k, v in known.items()) or "none"
                near = check.suggestion(key, known)
                raise TacitError(f"{self.kind} {name!r} has no parameter {key!r}{near} its parameters: {takes}")
        return factory(**params)

    def _meet_plugins(self) -> None:
        if self._plugins_met:
            return
        self._plugins_met = True
        for point in entry_points(group=f"tacit.{self.kind}s"):
            if point.name not in self._factories:
                self.add(point.name, point.load())
