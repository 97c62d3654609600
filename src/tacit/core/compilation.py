"""Compile the loops once and keep the machine code on disk, never running stale code.

numba notices a change of the file in which a compiled function stands, but not of the kernels it calls, and loads what
it has cached without a check. So the cache is tacit's own (`kernel_cache`), in a directory named by a digest of all
sources that take part: this package's, and those of the modules in which the types of the arguments are defined.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba

from tacit.core.kernel_cache import KernelCache
from tacit.core.kernel_directory import kernel_directory

#: See `generics.OPTIONS`; C never calls a loop.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}

_lock, _compiling = threading.Lock(), threading.RLock()
_compiled: dict[tuple[Callable[..., Any], str], Callable[..., Any]] = {}


def compiled(function: Callable[..., Any], *structs: object) -> Callable[..., Any]:
    """Return the compiled form of a loop for arguments like `structs`; with NUMBA_DISABLE_JIT=1 the loop itself."""
    if numba.config.DISABLE_JIT:
        return function
    key = (function, source_digest(structs))
    with _lock:
        if key not in _compiled:
            _compiled[key] = dispatcher(function, kernel_directory(key[1]))
        return _compiled[key]


def dispatcher(function: Callable[..., Any], directory: Path | None) -> Callable[..., Any]:
    """Return numba's dispatcher of a function, which compiles on its first call, with a cache where there is one."""
    loop: Any = numba.njit(**_OPTIONS)(function)
    loop._compiler.compile = _with_short_vectors(loop._compiler.compile)
    if directory is not None:
        loop._cache = KernelCache(function, directory)
    found: Callable[..., Any] = loop
    return found


def _with_short_vectors(compile: Callable[..., Any]) -> Callable[..., Any]:
    """Let the compiler join operations on neighbours, which numba leaves off: rows of agents are short and unrolled.

    Measured: a fifth more steps with the certificate of four agents, no difference without. It changes no bit.
    """

    def joined(*args: Any, **kwargs: Any) -> Any:
        with _compiling, _without_collecting():  # as numba's own lock does; the option is everybody's
            before, numba.config.SLP_VECTORIZE = numba.config.SLP_VECTORIZE, 1
            try:
                return compile(*args, **kwargs)
            finally:
                numba.config.SLP_VECTORIZE = before

    return joined


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Keep Python from looking for garbage: nearly all objects that the compiler makes live until it is done."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def source_digest(structs: tuple[object, ...]) -> str:
    """Return a digest of all sources that take part in a loop over such arguments."""
    files = {source for kind in _types(structs) if (source := _source(kind)) is not None}
    summed = hashlib.sha256(_package_digest())
    for source in sorted(files):
        summed.update(source.encode() + b"\0" + _content(source))
    return summed.hexdigest()[:24]


def _types(value: object) -> Iterator[type]:
    """Yield the NamedTuple types among the arguments, nested ones included."""
    if isinstance(value, tuple):
        if type(value) is not tuple:
            yield type(value)
        for part in value:
            yield from _types(part)


def _source(kind: type) -> str | None:
    """Return the file that defines a type, unless it belongs to this package, whose files count anyway."""
    if kind.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return None
    return getattr(sys.modules.get(kind.__module__), "__file__", None)


@cache
def _package_digest() -> bytes:
    root = Path(__file__).resolve().parents[1]
    summed = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__} python {sys.version}".encode())
    for source in sorted(root.rglob("*.py")):
        summed.update(str(source.relative_to(root)).encode() + b"\0" + source.read_bytes())
    return summed.digest()


@cache
def _content(source: str) -> bytes:
    try:
        return Path(source).read_bytes()
    except OSError:  # as within a zip file: what cannot be compared is never taken for the same
        return os.urandom(16)
