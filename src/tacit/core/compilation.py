"""Compile the loops, and keep those of this package's own kernels on disk.

A loop over a user's game, bandit, learner or output is compiled in memory, once a process: nobody can know all that a
user's functions read. All other loops depend on this package's sources and the versions of Python, numba and llvmlite
alone, and are stored under a digest of these, one file for each loop and signature:

    <root>/tacit-kernels/<digest>/*.kernel

The root is `TACIT_CACHE_DIR`, or the user's cache directory. A file holds what numba's own cache would store, pickled.
Loading it runs it, so both directories must belong to this user and be closed to others; otherwise they are not used.
Files are written to a temporary name and renamed; one that cannot be loaded is compiled anew. Directories that nobody
has used for a month are removed. Where nothing can be written, kernels stay in memory.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import pickle
import re
import shutil
import stat
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import platformdirs

from tacit.core import beyond, files
from tacit.core.errors import TacitError
from tacit.core.generics import is_own

#: Loops are called by Python alone, without its lock; kernels within them by `generics.OPTIONS`.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", **beyond.OPTIONS}
_OPTIONS.pop("no_cpython_wrapper", None)

_log = logging.getLogger("tacit")
_lock = threading.Lock()
_compiled: dict[tuple[Callable[..., Any], tuple[type, ...]], Callable[..., Any]] = {}

#: Steps that plain Python has done before the compiler would have begun.
FEW = 5_000


def compile_loop(function: Callable[..., Any], *structs: object, steps: int | None = None) -> Callable[..., Any]:
    """Return the compiled form of a loop for arguments like `structs`.

    It is the loop itself with NUMBA_DISABLE_JIT=1, and where a call takes so few `steps` that it is faster so.
    """
    if numba.config.DISABLE_JIT or (steps is not None and steps <= FEW):
        return function
    kinds = tuple(_types(structs))  # numba takes a struct for one of another class with the same fields
    with _lock:
        if (function, kinds) not in _compiled:
            stored = is_own(function) and all(is_own(kind) for kind in kinds)
            _compiled[function, kinds] = dispatcher(function, kernel_directory(cache_root()) if stored else None)
        return _compiled[function, kinds]


def _types(value: object) -> Iterator[type]:
    """Yield the NamedTuple types among the arguments, nested ones included."""
    if isinstance(value, tuple):
        if type(value) is not tuple:
            yield type(value)
        for part in value:
            yield from _types(part)


def dispatcher(function: Callable[..., Any], directory: Path | None) -> Callable[..., Any]:
    """Return numba's dispatcher, which stores code where there is a directory."""
    loop: Any = numba.njit(**_OPTIONS)(function)
    if _settings is not None:
        _settings.stored[loop] = directory is not None
    if directory is not None:
        beyond.attach_cache(loop, KernelCache(function, directory))
    return loop  # type: ignore[no-any-return]


# while the compiler works -------------------------------------------------------------------------------------------


@contextmanager
def _raise_interrupts() -> Iterator[None]:
    """Raise a Ctrl-C when the block ends. LLVM calls Python back, where an exception is only reported and dropped."""
    report, interrupted = sys.unraisablehook, threading.Event()

    def note(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            interrupted.set()
        else:
            report(unraisable)

    sys.unraisablehook = note
    try:
        yield
    finally:
        sys.unraisablehook = report
    if interrupted.is_set():
        raise KeyboardInterrupt


class _Settings(getattr(beyond.event, "Listener", object)):  # type: ignore[misc]  # numba is not typed
    """The compiler's settings while it compiles a loop of ours. numba says when that begins and ends, kernels included.

    numba optimises every kernel by itself, and again in the loop that it is linked into: a little is enough at first.
    The loop joins operations on neighbours, which numba leaves off: rows of agents are short and unrolled (a fifth more
    steps with the certificate of four agents). Neither changes a bit. And Python does not look for garbage: nearly all
    that the compiler makes lives until it is done. numba compiles in one thread at a time.
    """

    def __init__(self) -> None:
        self.stored: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()  # whether a loop is
        self._before = numba.config.OPT, numba.config.SLP_VECTORIZE, True
        self._guards: list[Any] = []  # of the loop that is compiled, and of each kernel around the current one

    def on_start(self, event: Any) -> None:
        """Begin a loop, or a kernel within it."""
        if not self._guards:
            if event.data["dispatcher"] not in self.stored:
                return
            announce(self.stored[event.data["dispatcher"]])
            self._before = numba.config.OPT, numba.config.SLP_VECTORIZE, gc.isenabled()
            gc.disable()
        self._guards.append(_raise_interrupts())
        self._guards[-1].__enter__()
        self._set()

    def on_end(self, event: Any) -> None:
        """End it."""
        if not self._guards:
            return
        guard = self._guards.pop()
        self._set()
        if not self._guards and self._before[2]:
            gc.enable()
        guard.__exit__(None, None, None)

    def _set(self) -> None:
        level, vectors, _ = self._before
        numba.config.OPT = 1 if len(self._guards) > 1 else level
        numba.config.SLP_VECTORIZE = 1 if len(self._guards) == 1 else vectors


_settings = None if beyond.event is None else _Settings()
if _settings is not None:
    beyond.event.register("numba:compile", _settings)


_listening = threading.local()


@contextmanager
def announce_to(listener: Callable[[str], None] | None) -> Iterator[None]:
    """While it is entered, tell `listener`, once, when this thread begins to compile."""
    _listening.tell = listener
    try:
        yield
    finally:
        _listening.tell = None


def announce(lasting: bool = True) -> None:
    """Say that the compiler is at work."""
    listener = getattr(_listening, "tell", None)
    if listener is not None:
        _listening.tell = None
        listener(
            f"compiling: seconds, once {'for this kind of learner and game; kept on disk' if lasting else 'a process'}"
        )


# machine code on disk -----------------------------------------------------------------------------------------------

#: Packages above all kernels, in which none is defined: their sources say nothing about machine code.
ABOVE = ("cli", "experiments", "figures", "report")
_PACKAGE = Path(__file__).resolve().parents[1]

NAME, SUFFIX = "tacit-kernels", ".kernel"
_UNUSED_SECONDS = 30 * 86_400
_DIGEST = re.compile(r"[0-9a-f]{24}")


@cache
def package_digest(root: Path = _PACKAGE, *, without: tuple[str, ...] = ()) -> str:
    """Return a digest of the compiler's versions and of this package's sources."""
    summed = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__} python {sys.version}".encode())
    for source in sorted(root.rglob("*.py")):
        name = source.relative_to(root)
        if name.parts[0] not in without:
            summed.update(str(name).encode() + b"\0" + source.read_bytes())
    return summed.hexdigest()[:24]


def cache_root() -> Path:
    """Return the directory that the user chose for compiled code, or the system's for caches."""
    return Path(os.environ.get("TACIT_CACHE_DIR") or platformdirs.user_cache_dir("tacit"))


@cache
def kernel_directory(root: Path) -> Path | None:
    """Return where this package's machine code is kept, made if it is not there. None where none can be trusted."""
    home = root / NAME
    directory = home / package_digest(without=ABOVE)
    try:
        for folder in (home, directory):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(folder.lstat()):
                _log.warning("tacit: compiled code is not kept on disk: %s must be of mode 0700, and yours", folder)
                return None
        os.utime(directory)
        _sweep(home)
    except OSError as error:
        _log.info("tacit: compiled code is not kept on disk: %s", error)
        return None
    return directory


def _is_private(status: os.stat_result) -> bool:
    """Return whether a directory is this user's and closed to others. Modes say nothing where there is no POSIX."""
    ours = os.name != "posix" or (status.st_uid == os.geteuid() and not status.st_mode & 0o077)
    return stat.S_ISDIR(status.st_mode) and ours


def _sweep(home: Path) -> None:
    """Remove directories that nobody has used for a month. Each change of the sources leaves one behind."""
    with os.scandir(home) as entries:
        for entry in entries:
            ours = entry.is_dir(follow_symlinks=False) and _DIGEST.fullmatch(entry.name)
            if ours and time.time() - entry.stat(follow_symlinks=False).st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(entry.path, ignore_errors=True)


class KernelCache:
    """What numba's dispatcher asks for machine code, and gives it to.

    Parameters
    ----------
    function : callable
        What is compiled.
    directory : Path
        From `kernel_directory`.
    """

    def __init__(self, function: Callable[..., Any], directory: Path) -> None:
        self._function, self._directory = function, directory
        self.cache_path = str(directory)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the stored code of a signature, or None."""
        target_context.refresh()
        key = self._key(sig, target_context.codegen())
        file = self._file(key)
        try:
            with _raise_interrupts():
                stored, reduced = pickle.loads(file.read_bytes())
                return beyond.rebuild(target_context, reduced) if stored == key else None
        except FileNotFoundError:
            return None
        except Exception as error:  # whatever damaged bytes are to pickle and numba
            _log.info("tacit: %s cannot be loaded and is compiled anew: %s", file, error)
            return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Store what was compiled, where that is possible."""
        key = self._key(sig, cres.codegen)
        try:
            files.write(self._file(key), beyond.reduce(key, cres), mode=0o600)
        except (TacitError, AttributeError, TypeError, RuntimeError, pickle.PicklingError) as error:
            _log.info("tacit: compiled code stays in memory: %s", error)

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Return what distinguishes machine code, besides the sources."""
        code = hashlib.sha256(self._function.__code__.co_code).hexdigest()
        return sig, codegen.magic_tuple(), self._function.__module__, self._function.__qualname__, code

    def _file(self, key: tuple[Any, ...]) -> Path:
        """Return the file of a key. Two keys of the same text are distinguished when they are loaded."""
        text = repr((str(key[0]), *key[1:]))
        return self._directory / f"{self._function.__name__}-{hashlib.sha256(text.encode()).hexdigest()[:32]}{SUFFIX}"
