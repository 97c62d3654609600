"""Compile the loops once and keep the machine code on disk, never running stale code.

numba notices a change of the file in which a compiled function stands, but not of the kernels it calls, and its index
cannot be read any more when a plugin is uninstalled. So the cache directory is named by a digest of all sources that
take part: this package's, and those of the modules in which the types of the arguments are defined.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import platformdirs

_KEPT_DAYS = 30
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}  # see generics.OPTIONS
_DAMAGED = (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, UnicodeDecodeError)
_lock = threading.Lock()
_compiled: dict[tuple[Callable[..., Any], str], Callable[..., Any]] = {}


def compiled(function: Callable[..., Any], *structs: object) -> Callable[..., Any]:
    """Return the compiled form of a loop for arguments like `structs`; with NUMBA_DISABLE_JIT=1 the loop itself."""
    if numba.config.DISABLE_JIT:
        return function
    key = (function, source_digest(structs))
    with _lock:
        if key not in _compiled:
            _compiled[key] = _compile(*key)
        return _compiled[key]


def _compile(function: Callable[..., Any], digest: str) -> Callable[..., Any]:
    """Return the loop; where what is cached turns out to be damaged, it is thrown away and compiled anew."""
    directory = _directory(digest)
    loop = _dispatcher(function, directory)
    if directory is None:
        return loop

    def guarded(*args: Any) -> Any:
        nonlocal loop
        try:
            return loop(*args)
        except _DAMAGED:  # raised while loading, before anything has run
            shutil.rmtree(directory, ignore_errors=True)
            loop = _dispatcher(function, _directory(digest))
            return loop(*args)

    return guarded


def _dispatcher(function: Callable[..., Any], directory: Path | None) -> Callable[..., Any]:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory or "")
    try:
        loop: Callable[..., Any] = numba.njit(cache=directory is not None, **_OPTIONS)(function)
        return loop
    finally:
        numba.config.CACHE_DIR = before


def _directory(digest: str) -> Path | None:
    """Return the cache directory, or None where none can be written."""
    root = Path(os.environ.get("TACIT_CACHE_DIR") or platformdirs.user_cache_dir("tacit"))
    place = root / digest
    try:
        fresh = not place.exists()
        place.mkdir(parents=True, exist_ok=True)
        os.utime(place)
        if fresh:
            _sweep(root)
    except OSError:
        return None
    return place if os.access(place, os.W_OK) else None


def _sweep(root: Path) -> None:
    """Remove caches that nobody has used for a month: each change of the sources leaves one behind."""
    for old in root.iterdir():
        if old.is_dir() and time.time() - old.stat().st_mtime > _KEPT_DAYS * 86_400:
            shutil.rmtree(old, ignore_errors=True)


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
    summed = hashlib.sha256(f"numba {numba.__version__} python {sys.version}".encode())
    for source in sorted(root.rglob("*.py")):
        summed.update(str(source.relative_to(root)).encode() + b"\0" + source.read_bytes())
    return summed.digest()


@cache
def _content(source: str) -> bytes:
    return Path(source).read_bytes()
