"""Where compiled kernels are kept: a directory that belongs to this user alone, and holds nothing of anybody else's.

    <root>/tacit-kernels/CACHEDIR.TAG          says that tacit made the directory
    <root>/tacit-kernels/<digest>/CACHEDIR.TAG
    <root>/tacit-kernels/<digest>/*.kernel     see `kernel_cache`

The root is `TACIT_CACHE_DIR`, or the user's cache directory. Loading a kernel runs it, so directories and files must
belong to this user and be closed to others; otherwise they are not used. Directories that nobody has used for a month
are removed: only those that have the name, the tag and the content of one that tacit made. No symbolic link below the
root is followed.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

import platformdirs

from tacit.core import atomic
from tacit.core.errors import TacitError

NAME = "tacit-kernels"
SUFFIX, LOCKED = ".kernel", ".lock"
TAG = "CACHEDIR.TAG"  # https://bford.info/cachedir: programs that make backups leave such a directory out
_TAGGED = b"Signature: 8a477f597d28d172789f06886806bc55\n# Compiled by tacit; it can be removed at any time.\n"
_KEPT_SECONDS = 30 * 86_400
_DIGEST = re.compile(r"[0-9a-f]{24}")
_OURS = re.compile(
    rf"\w+-[0-9a-f]{{32}}{re.escape(SUFFIX)}|\..*({re.escape(atomic.PART)}|{re.escape(LOCKED)})|{re.escape(TAG)}"
)

_log = logging.getLogger("tacit")
_told: set[Path] = set()


class _Untrusted(Exception):
    """A directory of the cache that others could have written to."""


def kernel_directory(digest: str) -> Path | None:
    """Return the directory of a digest, made if it is not there; None where there is none that can be trusted."""
    root = Path(os.environ.get("TACIT_CACHE_DIR") or platformdirs.user_cache_dir("tacit"))
    home = root / NAME
    try:
        _make(root)
        _tagged(home)
        if _tagged(home / digest):
            _sweep(home)
    except _Untrusted as error:
        if home not in _told:
            _told.add(home)
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


def _tagged(place: Path) -> bool:
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
            atomic.write(place / TAG, _TAGGED, mode=0o600)
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
