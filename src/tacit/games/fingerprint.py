"""A digest of what a plain function does: its code, and whatever functions and values its code refers to."""

from __future__ import annotations

import hashlib
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


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
    if isinstance(value, FunctionType):
        seen.add(id(value))
        _add_code(value.__code__, summed)
        for default in value.__defaults__ or ():
            _add(default, summed, seen)
        for cell in value.__closure__ or ():
            _add(cell.cell_contents, summed, seen)
        for name in _names(value.__code__):
            if name in value.__globals__:
                summed.update(f"{name}=".encode())
                _add(value.__globals__[name], summed, seen)
    elif hasattr(value, "py_func"):  # a function that somebody compiled already
        _add(value.py_func, summed, seen)
    elif isinstance(value, np.ndarray):
        summed.update(f"{value.dtype.str} {value.shape};".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, ModuleType):
        summed.update(f"{value.__name__} {getattr(value, '__version__', '')};".encode())
    elif isinstance(value, tuple | list):
        for part in value:
            _add(part, summed, seen)
    else:
        summed.update(f"{type(value).__name__} {value!r};".encode())


def _add_code(code: CodeType, summed: Any) -> None:
    summed.update(code.co_code)
    summed.update(repr((code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _add_code(constant, summed)
        else:
            summed.update(f"{constant!r};".encode())


def _names(code: CodeType) -> list[str]:
    """Return the names that code and the code within it look up."""
    found = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _names(constant)
    return found
