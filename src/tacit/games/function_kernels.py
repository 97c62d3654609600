"""The kernels of a game that is functions, and what the compiler has to say about them, in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import errors

from tacit.core import generics
from tacit.core.errors import TacitError, one_line
from tacit.games.function import Functions, where

_checked: set[tuple[str, str]] = set()


def implement(kind: type, functions: Functions) -> None:
    """Implement the kernels of a game for its struct, whose `params` the functions are given last."""
    begin, move, pay = (callable_from_kernels(function) for function in functions.values())

    @generics.start.implement(kind)
    def start(game, u):
        return begin(u, *game.params)

    @generics.advance.implement(kind)
    def advance(game, token, u):
        h, s, actions = token
        return move(h, s, actions, u, *game.params)

    @generics.reward.implement(kind)
    def reward(game, i, token):
        h, s, actions = token
        return pay(i, h, s, actions, *game.params)

    @generics.place.implement(kind)
    def place(game, h, s, actions):
        return h, s, actions


_callable: set[Any] = set()


def callable_from_kernels(function: Any) -> Any:
    """Return a plain function that kernels may call, and so may whatever plain functions it calls itself."""
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        raise TacitError(f"{function!r} is no plain Python function; write one with def or lambda")
    if plain not in _callable:
        _callable.add(plain)
        generics.jitable(plain)
        cells = [cell.cell_contents for cell in plain.__closure__ or ()]
        called = [plain.__globals__.get(name) for name in plain.__code__.co_names] + cells
        for other in called:
            if isinstance(other, FunctionType) and not other.__module__.startswith(("numpy", "numba", "math")):
                callable_from_kernels(other)
    return plain


def check_compiles(
    digest: str,
    functions: dict[str, Callable[..., Any]],
    written: dict[str, Callable[..., Any]],
    params: tuple[Any, ...],
) -> None:
    """Raise with file, line and a sentence where a function does not compile; `written` are those of the user."""
    if numba.config.DISABLE_JIT:
        return
    key = (digest, str(numba.typeof(params)))
    if key in _checked:
        return
    whole, real, actions = numba.int64, numba.float64, numba.typeof(np.zeros(1, dtype=np.int64))
    last = tuple(numba.typeof(part) for part in params)
    signatures = {
        "start": (real, *last),
        "advance": (whole, whole, actions, real, *last),
        "reward": (whole, whole, whole, actions, *last),
    }
    for what, function in functions.items():
        plain = getattr(written[what], "py_func", written[what])
        try:
            result = _compiled_alone(callable_from_kernels(function), signatures[what])
        except errors.NumbaError as error:
            raise TacitError(f"{_place(error, plain)}: {what} does not compile: {in_words(str(error))}") from None
        except Exception as error:  # the compiler's own defects, as where code is not Python's
            raise TacitError(f"{where(plain)}: {what} does not compile: {one_line(error, 200)}") from None
        good = isinstance(result, numba.types.Integer | numba.types.Boolean)
        if what == "reward":
            good = good or isinstance(result, numba.types.Float)
        if not good:
            wanted = "a number" if what == "reward" else "a whole number"
            raise TacitError(f"{where(plain)}: {what} returns {result}; it must return {wanted}")
    _checked.add(key)


def _compiled_alone(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Compile a function by itself, as kernels are; return the type that it returns."""
    made: Any = numba.njit(**generics.OPTIONS)(function)
    made.compile(arguments)
    return made.overloads[made.signatures[0]].signature.return_type


def _place(error: errors.NumbaError, function: Callable[..., Any]) -> str:
    """Return file and line of what the compiler stumbled over, or of the function."""
    found = re.findall(r'File "([^"]+)", line (\d+)', re.sub(r"\x1b\[[0-9;]*m", "", str(error)))
    own = [(path, line) for path, line in found if function.__code__.co_filename.endswith(path)]
    if own:
        return f"{function.__code__.co_filename}:{own[-1][1]}"
    loc: Any = getattr(error, "loc", None)
    theirs = loc is not None and loc.filename == function.__code__.co_filename
    return f"{loc.filename}:{loc.line}" if theirs else where(function)


def in_words(message: str) -> str:
    """Return the sentence of numba's that says most, without its dump.

    >>> in_words("Failed in nopython mode pipeline (step: x)\\nUnknown attribute 'q' of type float64\\n\\nFile ...")
    "Unknown attribute 'q' of type float64"
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    if "NRT required" in plain:
        return "it makes an array, a list or another object; kernels allocate nothing, so write a loop over numbers"
    skipped = ("Failed in", "During:", "File ", "This error", "To find out", "- Resolution", "There are", "- Of which")
    lines = [line.strip() for line in plain.splitlines()]
    said = [line for line in lines if line and not line.startswith(skipped) and not set(line) <= set("^~-<> ")]
    return one_line(said[0] if said else plain, 200)
