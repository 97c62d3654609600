"""Arrays on disk: `.npz` written whole or not at all, read without pickle and within stated memory.

Every array's own header is compared with the size its archive states, and their sum with the memory that is free,
before anything is read. A file that is cut short or altered is reported by name, never half used.
"""

from __future__ import annotations

import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.atomic import written
from tacit.core.errors import TacitError, brief

Array = npt.NDArray[Any]

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
        raise TacitError(f"{brief(value)} is no path: it has a null character")
    return Path(value)


def write(target: str | os.PathLike[str], arrays: Mapping[str, npt.ArrayLike]) -> None:
    """Write arrays to `target`, whole or not at all."""
    named: dict[str, Any] = {key: np.asarray(value) for key, value in arrays.items()}
    with written(path(target)) as stream:
        np.savez_compressed(stream, **named)


def read(source: str | os.PathLike[str]) -> dict[str, Array]:
    """Read every array of a `.npz`; numbers and strings only, never objects."""
    place = path(source)
    try:
        with zipfile.ZipFile(place) as archive:
            members = archive.infolist()
            if len(members) != _stated_members(place):
                raise TacitError(f"{place} is altered: its directory does not list as many arrays as it states")
            strange = [info.filename for info in members if not info.filename.endswith(".npy")]
            if strange:
                raise TacitError(f"{place} is altered or of another kind: it holds {brief(strange[0])}, no array")
            memory.require(sum(info.file_size for info in members), f"{place}")
            return {info.filename[:-4]: _member(archive, info, place) for info in members}
    except FileNotFoundError:
        raise TacitError(f"no file {place}") from None
    except IsADirectoryError:
        raise TacitError(f"{place} is a directory, not a .npz file") from None
    except PermissionError:
        raise TacitError(f"{place} may not be read") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise TacitError(f"{place} is not a whole .npz file: cut short, altered or of another kind ({error})") from None


def word(source: str | os.PathLike[str], name: str) -> str:
    """Read one short text of a `.npz`."""
    found = read(source).get(name)
    if found is None or found.dtype.kind != "U" or found.ndim:
        raise TacitError(f"{source} does not state its {name}")
    return str(found)


def _stated_members(place: Path) -> int:
    """Number of members in the zip's end record; zipfile itself skips members silently when a length is altered."""
    with open(place, "rb") as stream:
        stream.seek(-22, os.SEEK_END)
        signature, _, _, _, total, _, _, comment = struct.unpack("<4s4H2LH", stream.read(22))
    return int(total) if signature == b"PK\5\6" and comment == 0 else -1


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: Path) -> Array:
    with archive.open(info) as stream:
        shape, dtype = _header(stream, info, place)  # type: ignore[arg-type]
    if dtype.hasobject:
        raise TacitError(f"{place}: array {info.filename[:-4]!r} holds Python objects; only numbers and text are read")
    with archive.open(info) as stream:
        header = info.file_size - int(np.prod(shape, dtype=object)) * dtype.itemsize
        if not 0 < header < 65_536:
            raise TacitError(
                f"{place}: array {info.filename[:-4]!r} claims shape {shape} of {dtype}, "
                f"which is not what its {info.file_size} bytes hold"
            )
        try:
            loaded: Array = np.lib.format.read_array(stream, allow_pickle=False)
        except _DAMAGE as error:
            raise TacitError(f"{place}: array {info.filename[:-4]!r} cannot be read ({error})") from None
    return loaded


def _header(stream: BinaryIO, info: zipfile.ZipInfo, place: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(stream)
    except _DAMAGE as error:
        raise TacitError(f"{place}: array {info.filename[:-4]!r} has a damaged header ({error})") from None
    return shape, dtype
