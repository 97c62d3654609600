"""Compile the loops once and keep the machine code on disk, never running stale code.

numba notices a change of the file in which a compiled function stands, but not of the kernels it calls, and loads what
it has cached without a check. So the cache is tacit's own, in a directory named by a digest of all sources that take
part: this package's but for the layers above all kernels (`ABOVE`), and those of the modules in which the types of the
arguments are defined.

    <root>/tacit-kernels/CACHEDIR.TAG          says that tacit made the directory
    <root>/tacit-kernels/<digest>/CACHEDIR.TAG
    <root>/tacit-kernels/<digest>/*.kernel     one file for each function and signature

The root is `TACIT_CACHE_DIR`, or the user's cache directory. Loading a kernel runs it, so directories and files must
belong to this user and be closed to others; otherwise they are not used. Directories that nobody has used for a month
are removed: only those that have the name, the tag and the content of one that tacit made. No symbolic link below the
root is followed.

A file is a line that says what it is, a SHA-256 digest, and what numba's own cache would store, pickled. The digest is
of the content, the file's name and its directory's name. So a file that was damaged, cut short or exchanged for another
is found out before it is unpickled, from the very bytes that are then used, and the kernel is compiled anew. The digest
is no secret: it protects from damage, owner and mode protect from other users.

Files are written to a temporary name and renamed, and none refers to another: any number of processes may compile the
same kernel at once, and each finds a whole file or none. So that they do not, the first holds a lock,
and the others load what it has compiled. Where nothing can be written, kernels stay in memory.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import pickle
import re
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

#: Loops are called by Python alone, without its lock; kernels within them by `generics.OPTIONS`.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", **beyond.OPTIONS}
_OPTIONS.pop("no_cpython_wrapper", None)

_log = logging.getLogger("tacit")
_lock = threading.Lock()
_compiled: dict[tuple[Callable[..., Any], str], Callable[..., Any]] = {}


#: Steps that plain Python has done before the compiler would have begun.
FEW = 5_000


def compile_loop(function: Callable[..., Any], *structs: object, steps: int | None = None) -> Callable[..., Any]:
    """Return the compiled form of a loop for arguments like `structs`.

    It is the loop itself with NUMBA_DISABLE_JIT=1, and where a call takes so few `steps` that it is faster so.
    """
    if numba.config.DISABLE_JIT or (steps is not None and steps <= FEW):
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

    numba optimises every kernel by itself, and again in the loop that it is linked into: a little is enough at first,
    and no kernel but those that Python could call needs machine code of its own (half the time for a certified
    learner). The loop joins operations on neighbours, which numba leaves off: rows of agents are short and unrolled (a
    fifth more steps with the certificate of four agents). Neither changes a bit. And Python does not look for garbage:
    nearly all that the compiler makes lives until it is done.
    """

    def __init__(self) -> None:
        self.loops: weakref.WeakSet[Any] = weakref.WeakSet()
        self._running: list[bool] = []  # the loop and the kernels within it: whether each is a part of another
        self._before = numba.config.OPT, numba.config.SLP_VECTORIZE, True

    def on_start(self, event: Any) -> None:
        """Begin a loop, or a kernel within it; numba compiles in one thread at a time."""
        made = event.data["dispatcher"]
        if self._running:
            self._running.append(bool(made.targetoptions.get("no_cpython_wrapper")))
        elif made in self.loops:
            self._before = numba.config.OPT, numba.config.SLP_VECTORIZE, gc.isenabled()
            gc.disable()
            self._running.append(False)
        else:
            return
        self._set()

    def on_end(self, event: Any) -> None:
        """End it."""
        if self._running:
            self._running.pop()
            self._set()

    def _set(self) -> None:
        level, vectors, collects = self._before
        depth = len(self._running)
        numba.config.OPT = 1 if depth > 1 else level
        numba.config.SLP_VECTORIZE = 1 if depth == 1 else vectors
        beyond.make_part(depth > 1 and self._running[-1])
        if depth == 0:
            beyond.set_environments()
            if collects:
                gc.enable()


_settings = None if beyond.event is None else _Settings()
if _settings is not None:
    beyond.event.register("numba:compile", _settings)


def source_digest(structs: tuple[object, ...]) -> str:
    """Return a digest of all sources that take part in a loop over such arguments."""
    sources = {source for kind in _types(structs) if (source := _source(kind)) is not None}
    summed = hashlib.sha256(package_digest(without=ABOVE))
    for source in sorted(sources):
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


#: Packages above all kernels, in which none is defined: their sources say nothing about machine code.
ABOVE = ("cli", "experiments", "figures", "paper", "view")
_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def package_digest(root: Path = _PACKAGE, *, without: tuple[str, ...] = ()) -> bytes:
    """Return a digest of the compiler's versions and of this package's sources, `without` those of some packages."""
    summed = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__} python {sys.version}".encode())
    for source in sorted(root.rglob("*.py")):
        name = source.relative_to(root)
        if name.parts[0] not in without:
            summed.update(str(name).encode() + b"\0" + source.read_bytes())
    return summed.digest()


@cache
def _content(source: str) -> bytes:
    try:
        return Path(source).read_bytes()
    except OSError:  # as within a zip file: what cannot be compared is never taken for the same
        return os.urandom(16)


# where machine code is kept -----------------------------------------------------------------------------------------

NAME = "tacit-kernels"
SUFFIX, LOCKED = ".kernel", ".lock"
TAG = "CACHEDIR.TAG"  # https://bford.info/cachedir: programs that make backups leave such a directory out
_TAGGED = b"Signature: 8a477f597d28d172789f06886806bc55\n# Compiled by tacit; it can be removed at any time.\n"
_KEPT_SECONDS = 30 * 86_400
_DIGEST = re.compile(r"[0-9a-f]{24}")
_OURS = re.compile(
    rf"\w+-[0-9a-f]{{32}}{re.escape(SUFFIX)}|\..*({re.escape(files.PART)}|{re.escape(LOCKED)})|{re.escape(TAG)}"
)

_warned: set[Path] = set()


class _Untrusted(Exception):
    """A directory of the cache that others could have written to."""


def kernel_directory(digest: str) -> Path | None:
    """Return the directory of a digest, made if it is not there; None where there is none that can be trusted."""
    root = Path(os.environ.get("TACIT_CACHE_DIR") or platformdirs.user_cache_dir("tacit"))
    home = root / NAME
    try:
        _make(root)
        _claim(home)
        if _claim(home / digest):
            _sweep(home)
    except _Untrusted as error:
        if home not in _warned:
            _warned.add(home)
            _log.warning("tacit: compiled code is not kept on disk: %s", error)
        return None
    except (OSError, TacitError) as error:
        _log.info("tacit: compiled code is not kept on disk: %s", error)
        return None
    with suppress(OSError):
        os.utime(home / digest)
    return home / digest


def belongs_to_us(found: os.stat_result, *, forbidden: int) -> bool:
    """Return whether a file or directory is this user's, and has none of the forbidden bits of its mode set."""
    if os.name != "posix":  # elsewhere modes say nothing; the user's own cache directory is protected by the system
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & forbidden


def _make(place: Path) -> None:
    """Make a directory and those above it that are missing, all for this user alone."""
    for missing in reversed([each for each in (place, *place.parents) if not each.exists()]):
        with suppress(FileExistsError):  # another process was faster
            missing.mkdir(mode=0o700)


def _claim(place: Path) -> bool:
    """Make a directory of our own, unless it is there, and check whose it is; return whether it was made."""
    made = True
    try:
        place.mkdir(mode=0o700)
    except FileExistsError:
        made = False
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or not belongs_to_us(found, forbidden=0o077):
        raise _Untrusted(f"{place} must be a directory of this user alone (mode 0700)")
    if not os.path.lexists(place / TAG):
        with suppress(TacitError):  # without it the directory is only never swept
            files.write(place / TAG, _TAGGED, mode=0o600)
    return made


def _sweep(home: Path) -> None:
    """Remove directories that nobody has used for a month: each change of the sources leaves one behind."""
    if not _is_tagged(home):
        return
    with os.scandir(home) as entries:
        directories = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    for entry in directories:
        with suppress(OSError):
            old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _KEPT_SECONDS
            if old and _DIGEST.fullmatch(entry.name) and _is_tagged(Path(entry.path)):
                _remove(Path(entry.path))


def _remove(place: Path) -> None:
    """Remove a directory with its kernels; one that holds anything else stays as it is."""
    with os.scandir(place) as entries:
        held = list(entries)
    if all(entry.is_file(follow_symlinks=False) and _OURS.fullmatch(entry.name) for entry in held):
        for entry in sorted(held, key=lambda entry: entry.name == TAG):  # the tag last
            os.unlink(entry.path)
        place.rmdir()


def _is_tagged(place: Path) -> bool:
    tag = place / TAG
    with suppress(OSError):
        return stat.S_ISREG(tag.lstat().st_mode) and tag.stat().st_size == len(_TAGGED) and tag.read_bytes() == _TAGGED
    return False


# machine code on disk -----------------------------------------------------------------------------------------------

_HEAD = b"tacit kernel 1\n"
_DIGEST_SIZE = 32
_LARGEST = 1 << 28
_PATIENCE = 300.0  # seconds for which somebody else who compiles is waited for
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

#: Who is told in this thread that something is compiled.
_listening = threading.local()


@contextmanager
def announce_to(tell: Callable[[str], None] | None) -> Iterator[None]:
    """While it is entered, let `tell` know, once, when machine code is not found and has to be compiled."""
    _listening.tell = tell
    try:
        yield
    finally:
        _listening.tell = None


def announce() -> None:
    """Say that the compiler is at work."""
    tell = getattr(_listening, "tell", None)
    if tell is not None:
        _listening.tell = None
        tell("compiling: seconds, once for this kind of learner and game; kept on disk")


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
        self._held: dict[Path, filelock.BaseFileLock] = {}

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
        found = self._load(sig, target_context) if _lasting(sig) else None
        if found is None:
            announce()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        key = self._key(sig, target_context.codegen())
        place = self._place(key)
        content = self._verify(place)
        if content is None:
            self._take_lock(place)  # until it is stored: another process may be compiling it just now
            content = self._verify(place)
        if content is None:
            return None
        self._release_lock(place)
        try:
            stored, reduced = pickle.loads(content)
            return beyond.CompileResult._rebuild(target_context, *reduced) if stored == key else None
        except Exception as error:  # as when a module that it names is gone; nothing has been run yet
            _log.info("tacit: %s cannot be loaded and is compiled anew: %s", place, error)
            return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Store what was compiled, where that is possible."""
        if not _lasting(sig):
            return
        key = self._key(sig, cres.codegen)
        place = self._place(key)
        if cres.lifted or cres.library.has_dynamic_globals:
            self._release_lock(place)
            return
        try:
            content = beyond.dumps((key, cres._reduce()))
            files.write(place, _HEAD + self._digest(place, content) + content, mode=0o600)
        except (TacitError, OSError, AttributeError, TypeError, pickle.PicklingError) as error:
            _log.info("tacit: compiled code stays in memory: %s", error)
        finally:
            self._release_lock(place)

    def _take_lock(self, kernel: Path) -> None:
        """Wait until no other process compiles a kernel; the lock is held until it is stored.

        It never decides about a result: where it cannot be had, because the disk knows no locks or its holder takes too
        long, the kernel is compiled once more, and whole files are renamed into place as ever.
        """
        self._release_lock(kernel)  # of a compilation that failed
        lock = filelock.FileLock(kernel.with_name(f".{kernel.name}{LOCKED}"), mode=0o600, thread_local=False)
        with suppress(OSError, filelock.Timeout):
            lock.acquire(timeout=_PATIENCE, poll_interval=0.1)
            self._held[kernel] = lock

    def _release_lock(self, kernel: Path) -> None:
        """Let others go on."""
        lock = self._held.pop(kernel, None)
        if lock is not None:
            with suppress(OSError):
                lock.release()
                Path(lock.lock_file).unlink(missing_ok=True)

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
        summed = hashlib.sha256(f"{place.parent.name}/{place.name}\n".encode())
        summed.update(content)
        return summed.digest()


def _read(place: Path) -> bytes | None:
    """Read a regular file that belongs to this user and that nobody else can write to."""
    handle = os.open(place, _READ)
    with os.fdopen(handle, "rb") as stream:
        found = os.fstat(handle)
        ours = stat.S_ISREG(found.st_mode) and belongs_to_us(found, forbidden=0o022)
        return stream.read(_LARGEST) if ours and found.st_size < _LARGEST else None


def _classes(kind: Any) -> Iterator[type]:
    """Yield the NamedTuple classes in a signature, nested ones included."""
    if isinstance(kind, BaseNamedTuple):
        yield kind.instance_class
    if isinstance(kind, tuple | BaseTuple):
        for part in kind:
            yield from _classes(part)
    if hasattr(kind, "inner"):  # a pinned struct
        yield from _classes(kind.inner)


def _lasting(sig: Any) -> bool:
    """Return whether another process will find the same types: those of a script it makes anew."""
    return all(kind.__module__ != "__main__" for kind in _classes(sig))
