"""Games as functions: three plain Python functions, compiled into the one loop, without joint tables.

Compiled loops are cached by the types of their arguments, and a type is stored by the name of its module and its own.
So each set of functions has a struct of its own, named by a digest of the functions, which this module has under that
name in every process that made the game.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.display import Document
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import lock
from tacit.games.protocol import NamedGame, check_actions, check_range

#: What the functions are called with; `params` comes last where there are any.
ARGUMENTS = {
    "start": ("u",),
    "advance": ("h", "s", "actions", "u"),
    "reward": ("i", "h", "s", "actions"),
    "decode": ("s",),
    "encode": ("state",),
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
    decode, encode : function of (s) and function of (state), optional
        For states that are more than a number: `decode` makes of a number from 0 to S − 1 what the other functions take
        for s, such as a tuple, and `encode` makes a number of what `start` and `advance` return.
    name, state_names, action_names, notes : optional
        For people.

    Notes
    -----
    The functions are compiled by numba: numbers, arrays, loops, `math` and NumPy, but no Python objects; they allocate
    nothing. They are compiled once and kept on disk, by what they do and not by where they stand, scripts included.
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
        decode: Callable[..., Any] | None = None,
        encode: Callable[..., Any] | None = None,
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
        self.functions = self.written = {"start": start, "advance": advance, "reward": reward}
        if (decode is None) != (encode is None):
            raise TacitError("decode and encode come together: one makes a state of a number, the other takes it back")
        both = {} if decode is None else {"decode": decode, "encode": encode}
        self._every: dict[str, Any] = {**both, **self.written}
        for what, function in self._every.items():
            _check_signature(what, function, self.params is not None)
        if decode is not None:
            check_inverse(decode, encode, self.states, self._given)
            self.functions = over_numbers(self.written, decode, encode, params=self.params is not None)
        self._describe(name, state_names, action_names, notes)
        self._check_calls()

    @property
    def digest(self) -> str:
        """A digest of all that the game is to its players, but for the code of libraries."""
        sizes = (self.agents, self.actions, self.states, self.horizon, self.reward_range)
        held = () if self.params is None else tuple(self.params.items())
        return fingerprint(*self.functions.values(), sizes, held)

    def kernels(self) -> Any:
        """Return the game as the compiled loop plays it."""
        from tacit.games.function_kernels import check_compiles, implement  # imports the compiler

        given = self._given
        digest = fingerprint(*self.functions.values())
        kind, new = struct(f"Rules_{digest}{'_params' if given else ''}", ("horizon", "states", "actions", "params"))
        if new:
            implement(kind, self.functions)
        check_compiles(digest, self.functions, self.written, given)
        made: Any = kind
        return made(self.horizon, self.states, lock(np.array(self.actions)), given)

    @property
    def _given(self) -> tuple[Any, ...]:
        """What functions are called with besides: the parameters as a struct, where there are any."""
        if self.params is None:
            return ()
        kind, _ = struct("Params_" + "_".join(self.params), tuple(self.params))
        return (kind(*self.params.values()),)

    def _check_calls(self) -> None:
        """Call each function once as plain Python: most slips show here, and in words."""
        actions = np.zeros(self.agents, dtype=np.int64)
        for what, arguments in (("start", (0.5,)), ("advance", (0, 0, actions, 0.5)), ("reward", (0, 0, 0, actions))):
            if what == "advance" and self.horizon == 1:
                continue
            function = self.functions[what]
            returns = "encode" if "encode" in self._every and what != "reward" else what
            which = f"{returns} ({where(self._every[returns])})"
            try:
                found = function(*arguments, *self._given)
            except Exception as error:  # whatever somebody's function does
                which = _whose(error, self._every, what)
                raise TacitError(f"{which} raised {type(error).__name__}: {one_line(error, 200)}") from error
            number = np.asarray(found)
            if number.ndim or number.dtype.kind not in ("biuf" if what == "reward" else "biu"):
                wanted = (
                    "a reward is a number" if what == "reward" else f"a state is a whole number to {self.states - 1}"
                )
                raise TacitError(f"{which} returned {brief(found)}; {wanted}")

    def show(self, **options: Any) -> Document:
        """Show the sizes; rewards and transitions are functions, which are not listed."""
        from tacit.games.showing import show_sizes

        return show_sizes(self, "rewards and transitions are functions, so they are not listed")


def _whose(error: BaseException, functions: Mapping[str, Any], called: str) -> str:
    """Return in words in which of the user's functions an error arose: the innermost."""
    found, trace = called, error.__traceback__
    while trace is not None:
        code, trace = trace.tb_frame.f_code, trace.tb_next
        found = next((name for name, own in functions.items() if getattr(own, "__code__", None) is code), found)
    return f"{found} ({where(functions[found])})"


def where(function: Any) -> str:
    """Return the file and line of a function."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    return "a function without source" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def _check_signature(what: str, function: Any, params: bool) -> None:
    wanted = (*ARGUMENTS[what], *(("params",) if params else ()))
    if not callable(function):
        raise TacitError(f"{what} is {brief(function)}; it must be a function of ({', '.join(wanted)})")
    try:
        inspect.signature(getattr(function, "py_func", function)).bind(*wanted)
    except TypeError:
        given = ", ".join(inspect.signature(getattr(function, "py_func", function)).parameters)
        raise TacitError(
            f"{what} ({where(function)}) takes ({given}); it is called with ({', '.join(wanted)})"
        ) from None
    except ValueError:  # no signature to look at
        return


def _check_params(params: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if params is None:
        return None
    if not isinstance(params, Mapping) or not params:
        raise TacitError(f"params is {brief(params)}; it must be a mapping from names to numbers and arrays")
    found: dict[str, Any] = {}
    for key, value in params.items():
        if not isinstance(key, str) or not re.fullmatch(r"[A-Za-z]\w*", key):
            raise TacitError(f"params has the name {brief(key)}; names are letters, digits and underscores")
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TacitError(f"params[{key!r}] is {brief(value)}; it must be a number or an array of numbers")
        found[key] = array.item() if array.ndim == 0 else lock(np.array(array))
    return found


#: States that are decoded and encoded again when a game is made, at most.
TRIED = 10_000

Functions = dict[str, Callable[..., Any]]


def over_numbers(functions: Functions, decode: Any, encode: Any, *, params: bool) -> Functions:
    """Return start, advance and reward as functions of the numbers of states."""
    begin, move, pay = functions["start"], functions["advance"], functions["reward"]
    if params:
        return {
            "start": lambda u, params: encode(begin(u, params), params),
            "advance": lambda h, s, a, u, params: encode(move(h, decode(s, params), a, u, params), params),
            "reward": lambda i, h, s, a, params: pay(i, h, decode(s, params), a, params),
        }
    return {
        "start": lambda u: encode(begin(u)),
        "advance": lambda h, s, a, u: encode(move(h, decode(s), a, u)),
        "reward": lambda i, h, s, a: pay(i, h, decode(s), a),
    }


def check_inverse(decode: Any, encode: Any, states: int, given: tuple[Any, ...]) -> None:
    """Raise unless `encode` takes every decoded state back to its number; of many states, some are tried."""
    for s in range(0, states, -(-states // TRIED)):
        try:
            inner = decode(s, *given)
            back = encode(inner, *given)
        except Exception as error:  # whatever somebody's function does
            raise TacitError(f"state {s}: decode or encode raised {type(error).__name__}: {one_line(error)}") from error
        if back != s:
            raise TacitError(f"decode({s}) is {brief(inner)}, and encode of that is {brief(back)}; it must be {s}")


def fingerprint(*functions: Any) -> str:
    """Return a digest that changes when the functions, those they call, or the values they read change.

    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda y: y + 1), fingerprint(abs) == fingerprint(max)
    (False, False)
    """
    summed = hashlib.sha256()
    seen: set[int] = set()
    for function in functions:
        _add(function, summed, seen)
    return summed.hexdigest()[:24]


def _add(value: Any, summed: Any, seen: set[int]) -> None:
    if id(value) in seen:
        summed.update(b"again;")
        return
    match value:
        case FunctionType():
            seen.add(id(value))
            names = _add_code(value.__code__, summed)
            for part in (*(value.__defaults__ or ()), *(cell.cell_contents for cell in value.__closure__ or ())):
                _add(part, summed, seen)
            for name in names:
                if name in value.__globals__:
                    summed.update(f"{name}=".encode())
                    _add(value.__globals__[name], summed, seen)
        case object(py_func=plain):  # a function that somebody compiled already
            _add(plain, summed, seen)
        case np.ndarray():
            summed.update(f"{value.dtype.str} {value.shape};".encode() + np.ascontiguousarray(value).tobytes())
        case ModuleType():
            summed.update(f"{value.__name__} {getattr(value, '__version__', '')};".encode())
        case tuple() | list():
            for part in value:
                _add(part, summed, seen)
        case _:
            summed.update(f"{type(value).__name__} {value!r};".encode())


def _add_code(code: CodeType, summed: Any) -> list[str]:
    """Add code and the code within it; return the names that they look up."""
    summed.update(code.co_code)
    summed.update(repr((code.co_names, code.co_varnames)).encode())
    names = list(code.co_names)
    for constant in code.co_consts:
        match constant:
            case CodeType():
                names += _add_code(constant, summed)
            case _:
                summed.update(f"{constant!r};".encode())
    return names


_made: dict[str, type] = {}


def struct(name: str, fields: tuple[str, ...]) -> tuple[type, bool]:
    """Return the NamedTuple of a name, and whether it is new."""
    new = name not in _made
    if new:
        kind = namedtuple(name, fields)  # type: ignore[misc]
        kind.__module__ = __name__
        _made[name] = kind
    return _made[name], new


def __getattr__(name: str) -> Any:
    if name in _made:
        return _made[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
