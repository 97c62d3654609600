"""Files: read within bounds, written atomically, and never half used; errors name the file.

Only regular files are read, never more than their stated size and never more than there is memory for: a pipe or a
device with the name of a file would block or never end. A file is written to a temporary name beside its place, synced,
then renamed.

Arrays are `.npz` without pickle. Every array's own header is compared with the size its archive states, and their sum
with the memory that is free, before anything is read; zipfile then reads no more than was stated, and compares
checksums. A file that is cut short or altered is reported by name.
"""

from __future__ import annotations

import math
import os
import secrets
import stat
import threading
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.errors import TacitError, brief, one_line

Array = npt.NDArray[Any]

#: How temporary names end; what a killed process has left can be told by it.
PART = ".part"

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

#: Seconds between attempts to replace a file: Windows refuses while a reader has the old one open.
_WAITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if os.name == "nt" else ()

_local = threading.local()


def path(value: object) -> Path:
    """Return a path, or say what is wrong with it."""
    if not isinstance(value, str | os.PathLike):
        raise TacitError(f"a path must be a string or pathlib.Path; got {brief(value)}")
    if "\0" in os.fspath(value):
        raise TacitError(f"{brief(value)} is not a path: it has a null character")
    return Path(value)


@contextmanager
def name_errors(file: Path, verb: str = "write") -> Iterator[None]:
    """Let errors of the disk name the file that is written or read."""
    try:
        yield
    except TacitError:
        raise
    except (OSError, ValueError) as error:
        raise TacitError(f"cannot {verb} {file}: {getattr(error, 'strerror', None) or error}") from None


# writing ---------------------------------------------------------------------------------------------------------


@contextmanager
def skip_sync() -> Iterator[None]:
    """Sync nothing that this thread writes within the block."""
    _local.skips = True
    try:
        yield
    finally:
        _local.skips = False


@contextmanager
def write_to(file: Path, *, mode: int = 0o666, sync: bool = True) -> Iterator[BinaryIO]:
    """Open a file to write to. It takes its place when the block ends without an error.

    Without `sync` a failure of power may leave it empty, which a process that is killed never does.

    The system takes the umask off `mode`, as it does for every new file; nothing here reads or sets the umask, which
    all threads share.
    """
    with name_errors(file):
        if file.exists() and not file.is_file():  # a device, a pipe or a directory
            raise OSError("it is there, and no regular file")
        temporary = file.with_name(f".{file.name[:40]}.{secrets.token_hex(8)}{PART}")
        handle = os.open(temporary, _WRITE, mode)
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                if sync and not getattr(_local, "skips", False):
                    os.fsync(stream.fileno())
            _replace(temporary, file)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


def _replace(temporary: Path, file: Path) -> None:
    """Put a file in its place."""
    for wait in _WAITS:
        with suppress(PermissionError):
            os.replace(temporary, file)
            return
        time.sleep(wait)
    os.replace(temporary, file)


def write(file: Path, content: bytes, *, mode: int = 0o666, sync: bool = True) -> None:
    """Write a file atomically."""
    with write_to(file, mode=mode, sync=sync) as stream:
        stream.write(content)


# reading ---------------------------------------------------------------------------------------------------------


@contextmanager
def open_regular(file: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file; give the stream and its size in bytes."""
    with name_errors(file, "read"):
        try:
            _check_regular(file, os.stat(file))  # opening a device may already do something
            stream = os.fdopen(os.open(file, _READ), "rb")
        except FileNotFoundError:
            raise TacitError(f"no file {file}") from None
    with stream:
        status = os.fstat(stream.fileno())
        _check_regular(file, status)
        yield stream, status.st_size


def _check_regular(file: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a pipe, a socket or a device"
        raise TacitError(f"{file} is {kind}, not a file")


def read(file: Path, *, limit: int | None = None, spread: int = 1) -> bytes:
    """Read a file whole.

    Parameters
    ----------
    file : Path
    limit : int, optional
        The largest number of bytes that is read at all.
    spread : int
        Bytes of memory that each byte of the file may become.
    """
    with open_regular(file) as (stream, size), name_errors(file, "read"):
        if limit is not None and size > limit:
            raise TacitError(f"{file} has {memory.human(size)}; such a file has at most {memory.human(limit)}")
        memory.require(spread * size, f"{file}")
        content = stream.read(size + 1)
    if len(content) > size:
        raise TacitError(f"{file} grows while it is read; wait until it is written")
    return content


# arrays ----------------------------------------------------------------------------------------------------------

#: Entries that an array without any may claim by its other axes.
EMPTY = 10**9

#: Numbers and text, by NumPy's letters.
KINDS = "biufcSU"


def write_arrays(target: str | os.PathLike[str], arrays: Mapping[str, npt.ArrayLike], *, compress: bool = True) -> None:
    """Write arrays to `target` atomically."""
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with write_to(path(target)) as stream, zipfile.ZipFile(stream, "w", method) as archive:
        for key, value in arrays.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, _plain(np.asarray(value)), allow_pickle=False)


def _plain(array: Array) -> Array:
    """Return an array whose type says nothing but what its numbers are. Files hold no more."""
    return array if array.dtype.metadata is None else array.view(array.dtype.str)


def read_arrays(source: str | os.PathLike[str]) -> dict[str, Array]:
    """Read the arrays of a `.npz`. Numbers and text, never objects, and no more than memory holds."""
    file = path(source)
    try:
        with open_regular(file) as (stream, _), zipfile.ZipFile(stream) as archive:
            members = archive.infolist()
            stream.seek(-22, os.SEEK_END)
            stated = int.from_bytes(stream.read(22)[10:12], "little")  # zipfile skips members if a length is altered
            names = {info.filename for info in members}
            packed = all(info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in members)
            if not packed or not len(names) == len(members) == stated or not all(n.endswith(".npy") for n in names):
                raise TacitError(f"{file} is altered or of another kind: its members must be different arrays")
            memory.require(sum(info.file_size for info in members), f"{file}")
            return {info.filename[:-4]: _member(archive, info, file) for info in members}
    except TacitError:
        raise
    except Exception as error:  # whatever zipfile and NumPy make of damaged bytes
        said = one_line(error, 100)
        raise TacitError(f"{file} is not a whole .npz file: cut short, altered or of another kind ({said})") from None


def words(name: str, array: Array) -> list[str]:
    """Return an array of text as a list. A single text is a list of one."""
    return _list(name, array, "U", "text")


def integers(name: str, array: Array) -> list[int]:
    """Return an array of whole numbers as a list. A single number is a list of one."""
    return _list(name, array, "iu", "whole numbers")


def _list(name: str, array: Array, kinds: str, of: str) -> list[Any]:
    if array.ndim > 1 or array.dtype.kind not in kinds:
        kind = brief(str(array.dtype))
        raise TacitError(f"{name} must be a list of {of}; got shape {brief(array.shape)} of {kind}")
    entries: list[Any] = np.atleast_1d(array).tolist()
    return entries


def single(name: str, array: Array) -> Any:
    """Return the only entry of an array."""
    if array.size != 1:
        raise TacitError(f"{name} must be a single entry; got shape {brief(array.shape)}")
    return array.item()


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, file: Path) -> Array:
    """Read an array whose header claims what its size in the archive holds."""
    name = brief(info.filename[:-4])
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(stream)
        if dtype.kind not in KINDS or not dtype.itemsize:
            raise TacitError(f"{file}: array {name} holds {brief(str(dtype))}; only numbers and text are read")
        entries = math.prod(shape)
        header = info.file_size - entries * dtype.itemsize
        vast = not entries and math.prod(axis for axis in shape if axis) > EMPTY  # no entries, and rows to walk over
        if not 0 < header < 65_536 or min(shape, default=0) < 0 or vast:
            claim = f"claims shape {brief(shape)} of {dtype}"
            raise TacitError(f"{file}: array {name} {claim}, which is not what its {info.file_size} bytes hold")
        stream.seek(0)
        loaded: Array = np.lib.format.read_array(stream, allow_pickle=False)
        if stream.read(1):
            raise TacitError(f"{file}: array {name} is followed by something else")
    return loaded


# text ------------------------------------------------------------------------------------------------------------

#: Bytes that reading takes for each byte of a file: the bytes and the string, which Python may store as 4 bytes each.
_PER_BYTE = 5


def read_utf8(file: Path) -> str:
    """Read a text file whole; anything else is refused by name."""
    content = read(file, spread=_PER_BYTE)
    if not content.strip():
        raise TacitError(f"{file} is empty")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TacitError(f"{file}:{line}: byte {content[error.start]:#04x} is not UTF-8, so it is not text") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TacitError(f"{file}:{line}: there is a null character; it is not a text file")
    return text


def write_pieces(target: str | os.PathLike[str], pieces: Iterable[str]) -> None:
    """Write a text file piece by piece atomically."""
    with write_to(path(target)) as stream:
        for piece in pieces:
            stream.write(piece.encode())
