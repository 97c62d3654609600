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
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba

from tacit.core import beyond
from tacit.core.kernel_cache import KernelCache
from tacit.core.kernel_directory import kernel_directory

#: Loops are called by Python alone, without its lock; kernels within them by `generics.OPTIONS`.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", **beyond.OPTIONS}
_OPTIONS.pop("no_cpython_wrapper", None)

_lock = threading.Lock()
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
    if _settings is not None:
        _settings.loops.add(loop)
    if directory is not None and beyond.can_store() and hasattr(loop, "_cache"):
        loop._cache = KernelCache(function, directory)
    found: Callable[..., Any] = loop
    return found


class _Settings(getattr(beyond.event, "Listener", object)):  # type: ignore[misc]  # numba is not typed
    """The compiler's settings while it compiles a loop of ours; numba says when that begins and ends, kernels included.

    numba optimises every kernel by itself, and again in the loop that it is linked into: a little is enough at first (a
    third less time for a certified learner). The loop joins operations on neighbours, which numba leaves off: rows of
    agents are short and unrolled (a fifth more steps with the certificate of four agents). Neither changes a bit. And
    Python does not look for garbage: nearly all that the compiler makes lives until it is done.
    """

    def __init__(self) -> None:
        self.loops: weakref.WeakSet[Any] = weakref.WeakSet()
        self._depth, self._before = 0, (numba.config.OPT, numba.config.SLP_VECTORIZE, True)

    def on_start(self, event: Any) -> None:
        """Begin a loop, or a kernel within it; numba compiles in one thread at a time."""
        if self._depth == 0:
            if event.data["dispatcher"] not in self.loops:
                return
            self._before = numba.config.OPT, numba.config.SLP_VECTORIZE, gc.isenabled()
            gc.disable()
        self._depth += 1
        self._set()

    def on_end(self, event: Any) -> None:
        """End it."""
        if self._depth > 0:
            self._depth -= 1
            self._set()

    def _set(self) -> None:
        level, vectors, collects = self._before
        numba.config.OPT = 1 if self._depth > 1 else level
        numba.config.SLP_VECTORIZE = 1 if self._depth == 1 else vectors
        if self._depth == 0 and collects:
            gc.enable()


_settings = None if beyond.event is None else _Settings()
if _settings is not None:
    beyond.event.register("numba:compile", _settings)


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
