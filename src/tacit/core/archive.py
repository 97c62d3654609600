"""Arrays on disk: `.npz` written atomically, read without pickle and within stated memory.

Every array's own header is compared with the size its archive states, and their sum with the memory that is free and
with the size of the file, before anything is read; zipfile then reads no more than was stated. A file that is cut short
or altered is reported by name, never half used.
"""

from __future__ import annotations

import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tacit.core import memory, reading
from tacit.core.atomic import written
from tacit.core.errors import TacitError, brief, one_line

Array = npt.NDArray[Any]

#: Up to this many bytes an archive may expand as it likes, above at most this many times.
SMALL, FOLD = 256_000_000, 250

#: Bytes of a zip's directory, some 10,000 arrays; and entries that an array without any may claim by its other axes.
DIRECTORY, EMPTY = 1_000_000, 10**9

#: Numbers and text, by NumPy's letters.
KINDS = "biufcSU"

#: What NumPy raises when the header of an array is damaged.
_DAMAGE = (
    ValueError,
    TypeError,
    SyntaxError,
    KeyError,
    OverflowError,
    RecursionError,
    MemoryError,
    tokenize.TokenError,
)


def path(value: object) -> Path:
    """Return a path, or say what is wrong with it."""
    if not isinstance(value, str | os.PathLike):
        raise TacitError(f"a path must be a string or pathlib.Path, got {brief(value)}")
    if "\0" in os.fspath(value):
        raise TacitError(f"{brief(value)} is not a path: it has a null character")
    return Path(value)


def write(target: str | os.PathLike[str], arrays: Mapping[str, npt.ArrayLike], *, level: int = 6) -> None:
    """Write arrays to `target` atomically, with zlib's level of compression."""
    with (
        written(path(target)) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive,
    ):
        for key, value in arrays.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, _plain(np.asarray(value)), allow_pickle=False)


def _plain(array: Array) -> Array:
    """Return an array whose type says nothing but what its numbers are: files hold no more."""
    return array if array.dtype.metadata is None else array.view(array.dtype.str)


def read(
    source: str | os.PathLike[str], *, limited: bool = True, only: Collection[str] | None = None
) -> dict[str, Array]:
    """Read the arrays of a `.npz`, or those of them that `only` names; numbers and text, never objects.

    An archive that states to expand enormously is refused, unless `limited` is false: then memory alone decides.
    """
    place = path(source)
    try:
        with reading.opened(place) as (stream, size):
            total = _stated_members(stream, size, place)
            stream.seek(0)
            with zipfile.ZipFile(stream) as archive:
                members = archive.infolist()
                if len(members) != total:
                    raise TacitError(f"{place} is altered: its directory does not list as many arrays as it states")
                _check_members(members, place)
                expanded = sum(info.file_size for info in members)
                if limited and expanded > max(SMALL, FOLD * size):
                    raise TacitError(
                        f"{place} has {memory.human(size)} and would expand to {memory.human(expanded)}; "
                        f"more than {FOLD} times is refused beyond {memory.human(SMALL)}"
                    )
                memory.require(expanded, f"{place}")
                named = {info.filename[:-4]: info for info in members}
                return {
                    name: _member(archive, info, place) for name, info in named.items() if only is None or name in only
                }
    except TacitError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        told = one_line(error, 100)
        raise TacitError(f"{place} is not a whole .npz file: cut short, altered or of another kind ({told})") from None


def words(name: str, array: Array) -> list[str]:
    """Return an array of text as a list; a single text is a list of one."""
    if array.ndim > 1 or array.dtype.kind != "U":
        raise TacitError(
            f"{name} has shape {brief(array.shape)} of {brief(str(array.dtype))}; it must be a list of text"
        )
    return [str(word) for word in np.atleast_1d(array)]


def integers(name: str, array: Array) -> list[int]:
    """Return an array of whole numbers as a list; a single number is a list of one."""
    if array.ndim > 1 or array.dtype.kind not in "iu":
        raise TacitError(
            f"{name} has shape {brief(array.shape)} of {brief(str(array.dtype))}; it must be a list of whole numbers"
        )
    found: list[int] = np.atleast_1d(array).tolist()
    return found


def single(name: str, array: Array) -> Any:
    """Return the only entry of an array."""
    if array.size != 1:
        raise TacitError(f"{name} has shape {brief(array.shape)}; it must be a single entry")
    return array.item()


def _stated_members(stream: BinaryIO, size: int, place: Path) -> int:
    """Return the number of members in the zip's end record, having looked at how long its directory is.

    zipfile itself skips members silently when a length is altered, and reads a directory of any length.
    """
    stream.seek(max(0, size - 98))
    tail = stream.read(98)
    if len(tail) < 22:
        raise TacitError(f"{place} is not a whole .npz file: it has {size} bytes")
    signature, _, _, _, total, length, _, comment = struct.unpack("<4s4H2LH", tail[-22:])
    if signature != b"PK\5\6":
        raise TacitError(f"{place} is not a whole .npz file: cut short, altered or of another kind")
    if tail[-42:-38] == b"PK\6\7":  # an archive of more than 2 GB has its sizes in a longer record before
        length = max(length % 0xFFFFFFFF, int.from_bytes(tail[-58:-50], "little"))
    if length > DIRECTORY:
        raise TacitError(f"{place} is altered: its directory has {memory.human(length)}")
    return int(total) if comment == 0 else -1


def _check_members(members: list[zipfile.ZipInfo], place: Path) -> None:
    names = [info.filename for info in members]
    strange = [name for name in names if not name.endswith(".npy")]
    if strange:
        raise TacitError(f"{place} is altered or of another kind: it holds {brief(strange[0])}, no array")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TacitError(f"{place} is altered: it holds {brief(twice[0])} twice")
    for info in members:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise TacitError(
                f"{place} is altered or of another kind: {brief(info.filename)} is packed in an unknown way"
            )
        if info.file_size > 1100 * info.compress_size + 1000:  # deflate never expands further
            raise TacitError(
                f"{place} is altered: {brief(info.filename)} cannot expand from {info.compress_size} to "
                f"{info.file_size} bytes"
            )


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: Path) -> Array:
    name = brief(info.filename[:-4])
    with archive.open(info) as stream:
        shape, dtype = _header(stream, name, place)  # type: ignore[arg-type]
    if dtype.hasobject:
        raise TacitError(f"{place}: array {name} holds Python objects; only numbers and text are read")
    if dtype.kind not in KINDS or not dtype.itemsize:
        raise TacitError(f"{place}: array {name} holds {brief(str(dtype))}; only numbers and text are read")
    entries = math.prod(shape)
    header = info.file_size - entries * dtype.itemsize
    vast = not entries and math.prod(axis for axis in shape if axis) > EMPTY  # no entries, and rows to walk over
    if not 0 < header < 65_536 or min(shape, default=0) < 0 or vast:
        raise TacitError(
            f"{place}: array {name} claims shape {brief(shape)} of {dtype}, "
            f"which is not what its {info.file_size} bytes hold"
        )
    with archive.open(info) as stream:
        try:
            loaded: Array = np.lib.format.read_array(stream, allow_pickle=False)
        except _DAMAGE as error:
            raise TacitError(f"{place}: array {name} cannot be read ({one_line(error, 100)})") from None
        if stream.read(1):
            raise TacitError(f"{place}: array {name} is followed by something else")
    return loaded


def _header(stream: BinaryIO, name: str, place: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(stream)
    except _DAMAGE as error:
        raise TacitError(f"{place}: array {name} has a damaged header ({one_line(error, 100)})") from None
    return shape, dtype
