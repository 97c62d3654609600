"""One process compiles a kernel, the others of this machine wait for it and load what it has written.

A lock never decides about a result: where it cannot be had, because the disk knows no locks or its holder takes too
long, the kernel is compiled once more, and whole files are renamed into place as ever.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import filelock

#: How lock files end, and for how many seconds somebody else is waited for.
SUFFIX = ".lock"
_PATIENCE = 300.0


class KernelLock:
    """Held from the moment that a kernel is not found until it is stored."""

    def __init__(self) -> None:
        self._held: dict[Path, filelock.BaseFileLock] = {}

    def take(self, kernel: Path) -> None:
        """Wait until no other process compiles a kernel."""
        self.release(kernel)  # of a compilation that failed
        lock = filelock.FileLock(kernel.with_name(f".{kernel.name}{SUFFIX}"), mode=0o600, thread_local=False)
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
