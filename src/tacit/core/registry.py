"""Names for games, learners and bandits; plugins and extras of other packages.

A plugin that cannot be used is left out and named once, on stderr unless the program that uses tacit sets up the logger
"tacit" otherwise. It is no warning: where warnings are errors, one broken plugin would disable all of tacit.

Extras are packages that tacit can use and does not need: they are imported where they are used, or asked for by name.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Generic, TypeVar

from tacit.core import check
from tacit.core.errors import TacitError, brief, one_line, sentence

T = TypeVar("T")

_log = logging.getLogger("tacit")


class Registry(Generic[T]):
    """A table from names to factories with keyword parameters.

    Plugins join through the entry-point group `tacit.<plural of kind>`; a built-in name is never replaced by one.
    `adopt` may turn whatever is registered into a factory. A name with a slash, as of a game of the atlas, is known and
    not listed.

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
        self._lock = threading.RLock()  # a plugin may use the registry while it is imported

    def add(
        self,
        name: str,
        factory: Callable[..., T],
        *,
        about: str = "",
        fixed: Mapping[str, Any] | None = None,
        **defaults: Any,
    ) -> None:
        """Register a factory. Listings show what it is about, by default the first line of its docstring.

        A name may fix some of the factory's parameters, which are then none of its own, and give others new defaults.

        >>> numbers = Registry[int]("number")
        >>> numbers.add("sum", lambda *, a=1, b=1: a + b, about="Add two.", fixed={"b": 2}, a=5)
        >>> numbers.make("sum"), numbers.parameters("sum"), numbers.summary("sum")
        (7, {'a': 5}, 'Add two.')
        """
        if name in self._factories:
            raise TacitError(f"{self.kind} {name!r} is registered already; choose another name")
        adopted = factory if self._adopt is None else self._adopt(factory)
        self._factories[name] = _vary(adopted, about, fixed or {}, defaults) if about else adopted

    def __iter__(self) -> Iterator[str]:
        self._meet_plugins()
        return (name for name in self._factories if not re.match(r"[\w-]+/", name))

    def __contains__(self, name: object) -> bool:
        self._meet_plugins()
        return isinstance(name, str) and name in self._factories

    def factory(self, name: str) -> Callable[..., T]:
        """Return the factory of a name, or raise with a suggestion."""
        return self._factories[name if name in self else check.choice(self.kind, name, list(self))]

    def parameters(self, name: str) -> dict[str, Any]:
        """Return the keyword parameters of a name with their defaults."""
        return {p.name: p.default for p in inspect.signature(self.factory(name)).parameters.values()}

    def summary(self, name: str) -> str:
        """Return the first line of a factory's docstring."""
        return (inspect.getdoc(self.factory(name)) or "").split("\n", 1)[0]

    def make(self, name: str, /, **params: Any) -> T:
        """Call the factory of a name; an unknown parameter is an error with a suggestion."""
        factory = self.factory(name)
        parameters = self.parameters(name)
        for key in params:
            if key not in parameters:
                takes = ", ".join(f"{k}={v!r}" for k, v in parameters.items()) or "none"
                near = check.suggestion(key, parameters)
                raise TacitError(f"{self.kind} {name!r} has no parameter {key!r}{near} its parameters: {takes}")
        return factory(**params)

    def leave_out(self, name: str, error: object) -> None:
        """Go on without a plugin, and say so."""
        self._factories.pop(name, None)
        _log.warning("tacit: the %s plugin %s cannot be used: %s", self.kind, brief(name), one_line(error, 300))

    def _meet_plugins(self) -> None:
        with self._lock:
            if self._plugins_met:
                return
            self._plugins_met = True
            try:
                points = list(entry_points(group=f"tacit.{self.kind}s"))
            except Exception as error:  # another package's metadata
                _log.warning("tacit: no %s plugins can be found: %s", self.kind, sentence(error))
                return
            for point in points:
                if point.name not in self._factories:
                    self._meet(point)

    def _meet(self, point: EntryPoint) -> None:
        try:
            factory = point.load()
            if not callable(factory):
                raise TypeError(f"a {type(factory).__name__} cannot be called")
            inspect.signature(factory)
        except (Exception, SystemExit) as error:  # whatever another package does while it is imported
            self.leave_out(point.name, f"{point.value}: {sentence(error)}")
        else:
            self.add(point.name, factory)


def _vary(
    factory: Callable[..., T], about: str, fixed: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Callable[..., T]:
    """Return a factory with fixed parameters and other defaults. The parameters of those come first, in their order."""

    def make(**params: Any) -> T:
        return factory(**{**defaults, **params, **fixed})

    original = inspect.signature(factory).parameters
    names = [*defaults, *(name for name in original if name not in defaults and name not in fixed)]
    parameters = [original[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in names]
    parameters = [one.replace(default=defaults.get(one.name, one.default)) for one in parameters]
    _, _, rest = (inspect.getdoc(factory) or "").partition("\n")
    make.__doc__, make.__module__, make.__annotations__ = f"{about}\n{rest}", factory.__module__, {"return": factory}
    make.__dict__["__signature__"] = inspect.Signature(parameters)
    return make


#: What pip calls this package: the name "tacit" belongs to another project on the package index.
DISTRIBUTION = "tacit-marl"


def pip_command(extra: str) -> str:
    """Return the command that installs an extra.

    >>> pip_command("ray")
    "pip install 'tacit-marl[ray]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module without its warnings, or say how to install it.

    >>> require("math", "numbers").pi
    3.141592653589793
    >>> require("no_such_module", "nothing")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: no_such_module is not installed; pip install 'tacit-marl[nothing]'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(module)
        except ImportError as error:
            missing = isinstance(error, ModuleNotFoundError) and error.name == module
            trouble = "is not installed" if missing else f"cannot be imported ({error})"
            raise TacitError(f"{module} {trouble}; {pip_command(extra)}") from None
