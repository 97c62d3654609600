"""Games as functions: three plain Python functions, compiled into the one loop, without joint tables."""

from __future__ import annotations

import inspect
import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from tacit.core import check, snapshots
from tacit.core.display import Document
from tacit.core.errors import TacitError, blame, brief
from tacit.core.memory import lock
from tacit.games.protocol import NamedGame, check_actions, check_range

#: What the functions are called with; `params` comes last where there are any.
ARGUMENTS = {
    "start": ("u",),
    "advance": ("h", "s", "actions", "u"),
    "reward": ("i", "h", "s", "actions"),
}


class FunctionGame(NamedGame):
    """A game of N agents given by functions.

    Parameters
    ----------
    start : function of (u)
        The first state, from 0 to S − 1, from a uniform number u in [0, 1): all chance comes in this way.
    advance : function of (h, s, actions, u)
        The next state, from the step h, the state s, the array of all agents' actions [N], and a uniform number.
    reward : function of (i, h, s, actions)
        Agent i's reward.
    agents, states, horizon : int
        N, S and H.
    actions : int or sequence of N ints
        The number of actions of all agents, or of each.
    reward_range : (low, high)
        Rewards lie within it.
    params : mapping, optional
        Numbers and arrays by name. With it, each function takes one argument more, the last, and reads
        `params.cost`. Other parameters do not compile anew.
    name, state_names, action_names, notes : optional
        For people.

    Notes
    -----
    The functions are compiled by numba: numbers, arrays, loops, `math` and NumPy, but no Python objects; they allocate
    nothing. They are compiled once a process. Globals, closures and values of modules (`helper.PAY`) that they read,
    and the functions that they call, are copied when the game is made. A game that is unpickled where its functions
    read other values is refused.
    `tacit.testing.check_game(game)` checks that they do what the sizes say.

    Examples
    --------
    >>> import tacit
    >>> def start(u):
    ...     return 0
    >>> def advance(h, s, actions, u):
    ...     return 1 if u < 0.5 else 0
    >>> def reward(i, h, s, actions):
    ...     return 1.0 * actions[i]
    >>> tacit.FunctionGame(start, advance, reward, agents=20, actions=8, states=2, horizon=10, reward_range=(0, 7))
    FunctionGame(20 agents, 2 states, 8^20 actions, horizon 10, rewards in [0, 7])
    """

    def __init__(
        self,
        start: Callable[..., Any],
        advance: Callable[..., Any],
        reward: Callable[..., Any],
        *,
        agents: int,
        actions: int | Sequence[int],
        states: int,
        horizon: int,
        reward_range: tuple[float, float],
        params: Mapping[str, Any] | None = None,
        name: str | None = None,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[Sequence[str]] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.agents = check.integer("agents", agents)
        self.states = check.integer("states", states)
        self.horizon = check.integer("horizon", horizon)
        self.actions = check_actions(actions, self.agents)
        self.reward_range = check.interval("reward_range", reward_range)
        check_range(self.reward_range, self.horizon)
        self.params = _check_params(params)
        self.written: dict[str, Any] = {"start": start, "advance": advance, "reward": reward}
        for what, function in self.written.items():
            _check_signature(what, function, self.params is not None)
        self._copy_functions()
        self._describe(name, state_names, action_names, notes)
        self._check_calls()

    def _copy_functions(self) -> None:
        """Copy the functions, which read for good what holds now. `copies` are those that they call too."""
        plain: list[Any] = [getattr(function, "py_func", function) for function in self.written.values()]
        copied, self.copies = snapshots.copy_functions(plain)
        self.functions: dict[str, Any] = dict(zip(self.written, copied, strict=True))

    def __getstate__(self) -> tuple[dict[str, Any], str]:
        state = {key: value for key, value in self.__dict__.items() if key not in ("functions", "copies")}
        return state, self.digest

    def __setstate__(self, state: tuple[dict[str, Any], str]) -> None:
        attributes, digest = state
        self.__dict__.update(attributes)
        self._copy_functions()
        if self.digest != digest:
            raise TacitError(
                "the functions of a game must read the values that held when it was made; "
                "a global or a module has changed since: make the game anew"
            )

    @property
    def digest(self) -> str:
        """A digest of all that the game is to its players."""
        sizes = (self.agents, self.actions, self.states, self.horizon, self.reward_range)
        return snapshots.digest(list(self.functions.values()), sizes, self.params)

    @property
    def description(self) -> tuple[Any, ...]:
        """What the functions do and read, to be compared."""
        return snapshots.describe(list(self.functions.values()))

    def kernels(self) -> Any:
        """Return the game as the compiled loop plays it."""
        from tacit.games.kernels import implement  # imports the compiler

        kind: Any = implement(self)
        return kind(self.horizon, self.states, lock(np.array(self.actions)), self._given)

    @property
    def _given(self) -> tuple[Any, ...]:
        """What functions are called with besides: the parameters as a struct, where there are any."""
        return () if self.params is None else (_params_type(*self.params)(*self.params.values()),)

    def _check_calls(self) -> None:
        """Call each function once as plain Python: most slips show here, and in words."""
        actions = np.zeros(self.agents, dtype=np.int64)
        for what, arguments in (("start", (0.5,)), ("advance", (0, 0, actions, 0.5)), ("reward", (0, 0, 0, actions))):
            if what == "advance" and self.horizon == 1:
                continue
            called = f"{what} ({where(self.written[what])})"
            with blame(f"{called} failed"):
                returned = self.functions[what](*arguments, *self._given)
            number = np.asarray(returned)
            if number.ndim or number.dtype.kind not in ("biuf" if what == "reward" else "biu"):
                wanted = "a number" if what == "reward" else f"a whole number from 0 to {self.states - 1}"
                raise TacitError(f"{called} must return {wanted}; got {brief(returned)}")

    def show(self, **options: Any) -> Document:
        """Show the sizes; rewards and transitions are functions, which are not listed."""
        from tacit.games.showing import show_sizes

        return show_sizes(self, "rewards and transitions are functions, so they are not listed")


def where(function: Any) -> str:
    """Return the file and line of a function."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    return "a function without source" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def _check_signature(what: str, function: Any, params: bool) -> None:
    wanted = (*ARGUMENTS[what], *(("params",) if params else ()))
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        raise TacitError(f"{what} must be a Python function of ({', '.join(wanted)}); got {brief(function)}")
    takes = inspect.signature(plain)
    try:
        takes.bind(*wanted)
    except TypeError:
        names = ", ".join(takes.parameters)
        raise TacitError(f"{what} ({where(function)}) must take ({', '.join(wanted)}); it takes ({names})") from None


@cache
def _params_type(*names: str) -> type:
    """Return the type of a struct of parameters, one for each list of names."""
    return namedtuple("Params", names)


def _check_params(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if params is None:
        return None
    if not isinstance(params, Mapping) or not params:
        raise TacitError(f"params is {brief(params)}; it must be a mapping from names to numbers and arrays")
    checked: dict[str, Any] = {}
    for key, value in params.items():
        if not isinstance(key, str) or not re.fullmatch(r"[A-Za-z]\w*", key):
            raise TacitError(f"params has the name {brief(key)}; names are letters, digits and underscores")
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TacitError(f"params[{key!r}] is {brief(value)}; it must be a number or an array of numbers")
        checked[key] = array.item() if array.ndim == 0 else lock(np.array(array))
    return checked
