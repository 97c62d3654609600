"""Compiled kernels on disk: one file for each function and signature, checked before anything in it is used.

A file is a line that says what it is, a SHA-256 digest, and what numba's own cache would store, pickled. The digest is
of the content, the file's name and its directory's name, which is a digest of all sources. So a file that was damaged,
cut short or exchanged for another is found out before it is unpickled, from the very bytes that are then used, and the
kernel is compiled anew. The digest is no secret: it protects from damage. What protects from other users is that file
and directory must belong to this one and be closed to others (see `kernel_directory`).

Files are written to a temporary name and renamed, and none refers to another: any number of processes may compile the
same kernel at once, and each finds a whole file or none. So that they do not, the first holds a lock,
and the others load what it has compiled. Where nothing can be written, kernels stay in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import filelock
from numba.types import BaseNamedTuple, BaseTuple

from tacit.core import atomic, beyond
from tacit.core.errors import TacitError
from tacit.core.kernel_directory import LOCKED, SUFFIX, belongs_to_us

_HEAD = b"tacit kernel 1\n"
_DIGEST_SIZE = 32
_LARGEST = 1 << 28
_PATIENCE = 300.0  # seconds for which somebody else who compiles is waited for
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_log = logging.getLogger("tacit")

#: Who is told in this thread that something is compiled.
_listening = threading.local()


@contextlib.contextmanager
def telling(tell: Callable[[str], None] | None) -> Iterator[None]:
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


class KernelLock:
    """Held from the moment that a kernel is not found until it is stored.

    It never decides about a result: where it cannot be had, because the disk knows no locks or its holder takes too
    long, the kernel is compiled once more, and whole files are renamed into place as ever.
    """

    def __init__(self) -> None:
        self._held: dict[Path, filelock.BaseFileLock] = {}

    def take(self, kernel: Path) -> None:
        """Wait until no other process compiles a kernel."""
        self.release(kernel)  # of a compilation that failed
        lock = filelock.FileLock(kernel.with_name(f".{kernel.name}{LOCKED}"), mode=0o600, thread_local=False)
        with contextlib.suppress(OSError, filelock.Timeout):
            lock.acquire(timeout=_PATIENCE, poll_interval=0.1)
            self._held[kernel] = lock

    def release(self, kernel: Path) -> None:
        """Let others go on."""
        lock = self._held.pop(kernel, None)
        if lock is not None:
            with contextlib.suppress(OSError):
                lock.release()
                Path(lock.lock_file).unlink(missing_ok=True)


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
        self._lock = KernelLock()

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
        if not _lasting(sig):
            announce()
            return None
        found = self._stored(sig, target_context)
        if found is None:
            announce()
        return found

    def _stored(self, sig: Any, target_context: Any) -> Any:
        key = self._key(sig, target_context.codegen())
        place = self._place(key)
        content = self._verified(place)
        if content is None:
            self._lock.take(place)  # until it is stored: another process may be compiling it just now
            content = self._verified(place)
        if content is None:
            return None
        self._lock.release(place)
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
            self._lock.release(place)
            return
        try:
            content = beyond.dumps((key, cres._reduce()))
            atomic.write(place, _HEAD + self._digest(place, content) + content, mode=0o600)
        except (TacitError, OSError, AttributeError, TypeError, pickle.PicklingError) as error:
            _log.info("tacit: compiled code stays in memory: %s", error)
        finally:
            self._lock.release(place)

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

    def _verified(self, place: Path) -> bytes | None:
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
    handle = os.open(place, _FLAGS)
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
