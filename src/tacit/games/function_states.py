"""Games as functions over structured states: `decode` and `encode` stand between them and the numbers of states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacit.core.errors import TacitError, brief, one_line

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
