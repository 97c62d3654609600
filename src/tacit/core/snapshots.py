"""Copies of users' functions, which read for good what held when they were copied.

A copy has the code of its original, and globals and a closure of its own: numbers and arrays as they are now, and
copies of the functions that it calls, those read through a module (`helper.PAY`) included. A function that numba has
compiled is copied as it was written. Functions of NumPy, numba, SciPy, the standard library and this package stay
themselves.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tacit.core.memory import lock

_LIBRARIES = {"numba", "numpy", "scipy", __name__.partition(".")[0], *sys.stdlib_module_names} - {"__main__"}


def is_of_library(thing: Any) -> bool:
    """Return whether a function or class is of a library that compiles with tacit."""
    return str(thing.__module__).partition(".")[0] in _LIBRARIES


def copy_functions(functions: Sequence[FunctionType]) -> tuple[list[FunctionType], list[FunctionType]]:
    """Return copies of functions, and all copies, with those of what they call.

    >>> x = 1
    >>> def f():
    ...     return x
    >>> (copy,), _ = copy_functions([f])
    >>> x = 7
    >>> f(), copy()
    (7, 1)
    """
    copies: dict[int, FunctionType] = {}
    return [_copy_function(function, copies) for function in functions], list(copies.values())


def _copy_function(function: FunctionType, copies: dict[int, FunctionType]) -> FunctionType:
    if id(function) in copies:
        return copies[id(function)]
    scope: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
    cells = {name: CellType() for name in function.__code__.co_freevars}
    copy = FunctionType(function.__code__, scope, function.__name__, None, tuple(cells.values()))
    copies[id(function)] = copy  # first, since functions may call themselves and each other
    copy.__defaults__ = _copy(function.__defaults__, copies)
    copy.__kwdefaults__ = _copy(function.__kwdefaults__, copies)
    copy.__module__, copy.__qualname__, copy.__doc__ = function.__module__, function.__qualname__, function.__doc__
    names = set(_names(function.__code__))
    modules: dict[int, ModuleType] = {}
    for name, value in _globals(function).items():
        scope[name] = _copy(_read_module(value, names, modules, copies), copies)
    for name, value in _closure(function).items():
        cells[name].cell_contents = _copy(_read_module(value, names, modules, copies), copies)
    return copy


class _ModuleCopy(ModuleType):
    """A module with what functions read through another."""


def _read_module(value: Any, names: set[str], modules: dict[int, ModuleType], copies: dict[int, FunctionType]) -> Any:
    """Return of a user's module one with copies of what `names` read through it. Anything else as it is."""
    if not isinstance(value, ModuleType) or value.__name__.partition(".")[0] in _LIBRARIES:
        return value
    if id(value) not in modules:
        copy = modules[id(value)] = _ModuleCopy(value.__name__)  # first, since modules may import each other
        for name in sorted(names & vars(value).keys()):
            vars(copy)[name] = _copy(_read_module(vars(value)[name], names, modules, copies), copies)
    return modules[id(value)]


def _copy(value: Any, copies: dict[int, FunctionType]) -> Any:
    match value:
        case FunctionType() if not is_of_library(value):
            return _copy_function(value, copies)
        case _ if isinstance(getattr(value, "py_func", None), FunctionType) and not is_of_library(value):
            return _copy_function(value.py_func, copies)
        case np.ndarray():
            return lock(np.array(value))
        case tuple():
            parts = [_copy(part, copies) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        case list():
            return [_copy(part, copies) for part in value]
        case dict():
            return {key: _copy(part, copies) for key, part in value.items()}
    return value


def _globals(function: FunctionType) -> dict[str, Any]:
    """Return the globals that a function may read, by name."""
    names = sorted(set(_global_names(function.__code__)))
    return {name: function.__globals__[name] for name in names if name in function.__globals__}


def _closure(function: FunctionType) -> dict[str, Any]:
    """Return the variables around a function that it reads, by name."""
    variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # it has no value yet
            variables[name] = cell.cell_contents
    return variables


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and its inner functions look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _global_names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals that code reads, those of the functions within it included."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _global_names(constant)


# what functions do, to be compared --------------------------------------------------------------------------------


def describe(functions: Sequence[FunctionType]) -> tuple[Any, ...]:
    """Return what copied functions do and read: equal for functions that compile to the same.

    >>> def add(k):
    ...     return lambda x: x + k
    >>> describe([add(1)]) == describe([add(1)]), describe([add(1)]) == describe([add(1.0)])
    (True, False)
    """
    seen: dict[int, int] = {}
    return tuple(_describe_function(function, seen) for function in functions)


def digest(functions: Sequence[FunctionType], *values: Any) -> str:
    """Return a digest of functions and other values, the same in all processes."""
    return hashlib.sha256(repr((describe(functions), _describe(values, {}))).encode()).hexdigest()[:24]


def _describe_function(function: FunctionType, seen: dict[int, int]) -> tuple[Any, ...]:
    if id(function) in seen:
        return ("function", seen[id(function)])
    seen[id(function)] = len(seen)
    values = (function.__defaults__, function.__kwdefaults__, _closure(function), _globals(function))
    return (*_describe_code(function.__code__), *(_describe(value, seen) for value in values))


def _describe_code(code: CodeType) -> tuple[Any, ...]:
    constants = (_describe_code(c) if isinstance(c, CodeType) else _describe(c, {}) for c in code.co_consts)
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, tuple(constants)


def _describe(value: Any, seen: dict[int, int]) -> Any:
    match value:
        case FunctionType() if not is_of_library(value):
            return _describe_function(value, seen)
        case np.ndarray():
            return value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()
        case tuple() | list():
            return (type(value).__name__, *(_describe(part, seen) for part in value))
        case dict():
            return tuple((key, _describe(part, seen)) for key, part in value.items())
        case _ModuleCopy() if id(value) in seen:
            return "module", seen[id(value)]
        case _ModuleCopy():
            seen[id(value)] = len(seen)
            attributes = {name: part for name, part in vars(value).items() if not name.startswith("__")}
            return "module", value.__name__, _describe(attributes, seen)
        case None | bool() | int() | float() | complex() | str() | bytes() | np.generic():
            return type(value).__name__, repr(value)
    return _Other(value)


class _Other:
    """Anything else, such as a module or a class. The same only as itself, and in texts by its name."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Other) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)

    def __repr__(self) -> str:
        if isinstance(self._value, ModuleType):
            return f"{self._value.__name__} {getattr(self._value, '__version__', '')}"
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(self._value))
