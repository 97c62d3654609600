"""Compile the loops, and keep on disk those that are made of this package's kernels and nothing else.

A loop over a user's game, bandit, learner or output is compiled in memory, once a process: nobody can know all that a
user's functions read. All other loops depend on this package's sources and the versions of Python, numba and llvmlite
alone, and are stored under a digest of these.

    <root>/tacit-kernels/CACHEDIR.TAG        says that tacit made the directory
    <root>/tacit-kernels/<digest>/*.kernel   one file for each loop and signature

The root is `TACIT_CACHE_DIR`, or the user's cache directory. Loading a kernel runs it, so directories and files must
belong to this user and be closed to others; otherwise they are not used. A file is a line that says what it is, a
SHA-256 digest of its content and its name, and what numba's own cache would store, pickled: a file that was damaged,
cut short or exchanged is found out before it is unpickled, and compiled anew. Files are written to a temporary name and
renamed. The first process that needs a kernel holds a lock while it compiles; the others load what it has stored.
Directories that nobody has used for a month are removed. Where nothing can be written, kernels stay in memory.
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
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import filelock
import llvmlite
import numba
import platformdirs
from numba.types import BaseNamedTuple, BaseTuple

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
    key = function, tuple(_types(structs))  # numba takes a struct for one of another class with the same fields
    with _lock:
        if key not in _compiled:
            _compiled[key] = dispatcher(function, kernel_directory() if is_own(function) else None)
        return _compiled[key]


def _types(value: object) -> Iterator[type]:
    """Yield the NamedTuple types among the arguments, nested ones included."""
    if isinstance(value, tuple):
        if type(value) is not tuple:
            yield type(value)
        for part in value:
            yield from _types(part)


def dispatcher(function: Callable[..., Any], directory: Path | None) -> Callable[..., Any]:
    """Return numba's dispatcher, which compiles on its first call and stores the code if there is a directory."""
    loop: Any = numba.njit(**_OPTIONS)(function)
    if _settings is not None:
        _settings.loops.add(loop)
    if directory is not None:
        beyond.attach_cache(loop, KernelCache(function, directory))
    return loop  # type: ignore[no-any-return]


# while the compiler works -------------------------------------------------------------------------------------------


class _Interrupts:
    """Ctrl-C in the compiler.

    LLVM calls Python back, where an exception can only be reported and dropped. A KeyboardInterrupt that is dropped so
    is noted and raised again by `check`.
    """

    def __init__(self) -> None:
        self.dropped = False
        self._report = sys.unraisablehook

    def __enter__(self) -> None:
        self._report, sys.unraisablehook = sys.unraisablehook, self._note

    def __exit__(self, *exception: object) -> None:
        sys.unraisablehook = self._report

    def _note(self, unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self.dropped = True
        else:
            self._report(unraisable)

    def check(self) -> None:
        """Raise KeyboardInterrupt if one was dropped."""
        if self.dropped:
            self.dropped = False
            raise KeyboardInterrupt


class _Settings(getattr(beyond.event, "Listener", object)):  # type: ignore[misc]  # numba is not typed
    """The compiler's settings while it compiles a loop of ours; numba says when that begins and ends, kernels included.

    numba optimises every kernel by itself, and again in the loop that it is linked into: a little is enough at first.
    The loop joins operations on neighbours, which numba leaves off: rows of agents are short and unrolled (a fifth more
    steps with the certificate of four agents). Neither changes a bit. And Python does not look for garbage: nearly all
    that the compiler makes lives until it is done.
    """

    def __init__(self) -> None:
        self.loops: weakref.WeakSet[Any] = weakref.WeakSet()
        self._depth = 0  # the loop is 1, kernels are more
        self._before = numba.config.OPT, numba.config.SLP_VECTORIZE, True
        self._interrupts = _Interrupts()

    def on_start(self, event: Any) -> None:
        """Begin a loop, or a kernel within it; numba compiles in one thread at a time."""
        if self._depth == 0:
            if event.data["dispatcher"] not in self.loops:
                return
            self._before = numba.config.OPT, numba.config.SLP_VECTORIZE, gc.isenabled()
            self._interrupts.__enter__()
            gc.disable()
        self._depth += 1
        self._set()

    def on_end(self, event: Any) -> None:
        """End it."""
        if self._depth == 0:
            return
        self._depth -= 1
        self._set()
        if self._depth == 0:
            self._interrupts.__exit__()
            if self._before[2]:
                gc.enable()
            if self._interrupts.dropped or sys.exc_info()[0] is not None:  # it will not be stored
                _release_locks()
        self._interrupts.check()

    def _set(self) -> None:
        level, vectors, _ = self._before
        numba.config.OPT = 1 if self._depth > 1 else level
        numba.config.SLP_VECTORIZE = 1 if self._depth == 1 else vectors


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


# where machine code is kept -----------------------------------------------------------------------------------------

#: Packages above all kernels, in which none is defined: their sources say nothing about machine code.
ABOVE = ("cli", "experiments", "figures", "report")
_PACKAGE = Path(__file__).resolve().parents[1]

NAME, SUFFIX, LOCKED = "tacit-kernels", ".kernel", ".lock"
TAG = "CACHEDIR.TAG"  # https://bford.info/cachedir: programs that make backups leave such a directory out
_TAGGED = b"Signature: 8a477f597d28d172789f06886806bc55\n# Compiled by tacit; it can be removed at any time.\n"
_KEPT_SECONDS = 30 * 86_400
_DIGEST = re.compile(r"[0-9a-f]{24}")

_warned: set[Path] = set()


@cache
def package_digest(root: Path = _PACKAGE, *, without: tuple[str, ...] = ()) -> str:
    """Return a digest of the compiler's versions and of this package's sources, `without` those of some packages."""
    summed = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__} python {sys.version}".encode())
    for source in sorted(root.rglob("*.py")):
        name = source.relative_to(root)
        if name.parts[0] not in without:
            summed.update(str(name).encode() + b"\0" + source.read_bytes())
    return summed.hexdigest()[:24]


def kernel_directory() -> Path | None:
    """Return where this package's machine code is kept, made if it is not there; None where none can be trusted."""
    root = Path(os.environ.get("TACIT_CACHE_DIR") or platformdirs.user_cache_dir("tacit"))
    home = root / NAME
    directory = home / package_digest(without=ABOVE)
    try:
        for place in reversed([place for place in (directory, *directory.parents) if not place.exists()]):
            place.mkdir(mode=0o700, exist_ok=True)
        for place in (home, directory):
            if not _is_private(place.lstat()):
                if home not in _warned:
                    _log.warning("tacit: compiled code is not kept on disk: %s must be of mode 0700, and yours", place)
                _warned.add(home)
                return None
        if not os.path.lexists(home / TAG):
            files.write(home / TAG, _TAGGED, mode=0o600)
        os.utime(directory)
        _sweep(home)
    except (OSError, TacitError) as error:
        _log.info("tacit: compiled code is not kept on disk: %s", error)
        return None
    return directory


def _is_private(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode) and _belongs_to_us(status, forbidden=0o077)


def _belongs_to_us(status: os.stat_result, *, forbidden: int) -> bool:
    """Return whether a file or directory is this user's, and has none of the forbidden bits of its mode set."""
    if os.name != "posix":  # elsewhere modes say nothing; the user's own cache directory is protected by the system
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & forbidden


def _sweep(home: Path) -> None:
    """Remove directories that nobody has used for a month: each change of the sources leaves one behind."""
    if (home / TAG).read_bytes() != _TAGGED:
        return
    with os.scandir(home) as entries:
        for entry in entries:
            ours = entry.is_dir(follow_symlinks=False) and _DIGEST.fullmatch(entry.name)
            if ours and time.time() - entry.stat(follow_symlinks=False).st_mtime > _KEPT_SECONDS:
                shutil.rmtree(entry.path, ignore_errors=True)


# machine code on disk -----------------------------------------------------------------------------------------------

_HEAD = b"tacit kernel 1\n"
_DIGEST_SIZE = 32
_LARGEST = 1 << 28
_PATIENCE = 300.0  # seconds for which somebody else who compiles is waited for
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


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
        self._function = function
        self._directory = directory

    @property
    def cache_path(self) -> str:
        """The directory."""
        return str(self._directory)

    def enable(self) -> None:
        """Be as ever: there is no way to switch it off."""

    disable = flush = enable

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled form of a signature, or None where there is none that can be used."""
        target_context.refresh()
        lasting = _is_lasting(sig)
        loaded = self._load(sig, target_context) if lasting else None
        if loaded is None:
            announce(lasting)
        return loaded

    def _load(self, sig: Any, target_context: Any) -> Any:
        key = self._key(sig, target_context.codegen())
        place = self._place(key)
        content = self._verify(place)
        if content is None:
            _take_lock(place)  # until it is stored: another process may be compiling it just now
            content = self._verify(place)
        if content is None:
            return None
        _release_locks()
        interrupts = _Interrupts()
        try:
            with interrupts:
                stored, reduced = pickle.loads(content)
                return beyond.rebuild(target_context, reduced) if stored == key else None
        except Exception as error:  # as when a module that it names is gone; nothing has been run yet
            _log.info("tacit: %s cannot be loaded and is compiled anew: %s", place, error)
            return None
        finally:
            interrupts.check()

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Store what was compiled, where that is possible."""
        if not _is_lasting(sig):
            return
        key = self._key(sig, cres.codegen)
        place = self._place(key)
        try:
            content = beyond.reduce(key, cres)
            files.write(place, _HEAD + self._digest(place, content) + content, mode=0o600)
        except (TacitError, OSError, AttributeError, TypeError, RuntimeError, pickle.PicklingError) as error:
            _log.info("tacit: compiled code stays in memory: %s", error)
        finally:
            _release_locks()

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """Return what must be the same for machine code to be used again, besides the sources."""
        code = hashlib.sha256(self._function.__code__.co_code).hexdigest()
        return sig, codegen.magic_tuple(), self._function.__module__, self._function.__qualname__, code

    def _place(self, key: tuple[Any, ...]) -> Path:
        """Return the file of a key; two keys of the same text are distinguished when they are loaded."""
        sig, *others = key
        named = [f"{kind.__module__}.{kind.__qualname__}" for kind in _classes(sig)]
        text = repr((str(sig), named, others))
        name = f"{self._function.__name__}-{hashlib.sha256(text.encode()).hexdigest()[:32]}{SUFFIX}"
        return self._directory / name

    def _verify(self, place: Path) -> bytes | None:
        """Return the content of a file that is as it was written, and None for any other."""
        try:
            content = _read(place)
        except OSError:
            return None
        begin = len(_HEAD) + _DIGEST_SIZE
        if content is None or content[: len(_HEAD)] != _HEAD:
            return None
        stated, payload = content[len(_HEAD) : begin], content[begin:]
        return payload if stated == self._digest(place, payload) else None

    def _digest(self, place: Path, content: bytes) -> bytes:
        return hashlib.sha256(f"{place.parent.name}/{place.name}\n".encode() + content).digest()


#: Locks of what this process is compiling: one, since numba compiles in one thread at a time.
_locks: list[filelock.BaseFileLock] = []


def _take_lock(kernel: Path) -> None:
    """Wait until no other process compiles a kernel; the lock is held until it is stored, or the compiler has failed.

    It never decides about a result: where it cannot be had, because the disk knows no locks or its holder takes too
    long, the kernel is compiled once more.
    """
    _release_locks()
    lock = filelock.FileLock(kernel.with_name(f".{kernel.name}{LOCKED}"), mode=0o600, thread_local=False)
    with suppress(OSError, filelock.Timeout):
        lock.acquire(timeout=_PATIENCE, poll_interval=0.1)
        _locks.append(lock)


def _release_locks() -> None:
    """Let other processes go on."""
    while _locks:
        lock = _locks.pop()
        with suppress(OSError):
            lock.release()
            Path(lock.lock_file).unlink(missing_ok=True)


def _read(place: Path) -> bytes | None:
    """Read a regular file that belongs to this user and that nobody else can write to."""
    handle = os.open(place, _READ)
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(handle)
        ours = stat.S_ISREG(status.st_mode) and _belongs_to_us(status, forbidden=0o022)
        return stream.read(_LARGEST) if ours and status.st_size < _LARGEST else None


def _classes(kind: Any) -> Iterator[type]:
    """Yield the NamedTuple classes in a signature, nested ones included."""
    if isinstance(kind, BaseNamedTuple):
        yield kind.instance_class
    if isinstance(kind, tuple | BaseTuple):
        for part in kind:
            yield from _classes(part)
    if hasattr(kind, "inner"):  # a pinned struct
        yield from _classes(kind.inner)


def _is_lasting(sig: Any) -> bool:
    """Return whether all structs of a signature are this package's own, so that its loop is stored."""
    return all(is_own(kind) for kind in _classes(sig))
