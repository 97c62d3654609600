"""A policy as one JSON document, for devices without Python; `docs/policy-json.md` describes it.

Reading is bounded by the memory that is free, and takes numbers, text, lists and objects only. A file that is cut
short or altered is reported by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NoReturn

from tacit.core import files, memory
from tacit.core.errors import TacitError, brief, one_line

FORMAT, VERSION = "tacit policy", 1

#: Bytes of memory that one byte of JSON may become: "{}," is a pointer of 8 bytes and an object of 64.
_SPREAD = 24


def is_json(path: str | os.PathLike[str]) -> bool:
    """Return whether a path asks for JSON by its ending."""
    return files.path(path).suffix.lower() == ".json"


def check_ending(path: str | os.PathLike[str], *endings: str) -> None:
    """Check that a path ends as files of policies do."""
    suffix = files.path(path).suffix.lower()
    if suffix not in endings:
        ending = f"the ending {suffix!r}" if suffix else "no ending"
        raise TacitError(f"{path} has {ending}; a file of this policy ends in {' or '.join(endings)}")


def write(path: str | os.PathLike[str], kind: str, content: Mapping[str, Any], *, play: str) -> None:
    """Write a document; `play` says in words how to play it."""
    header = {"format": FORMAT, "version": VERSION, "kind": kind, "play": play}
    files.write_pieces(path, [json.dumps({**header, **content}, separators=(",", ":"), allow_nan=False), "\n"])


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the document of a policy, or of one agent's part, and check its header."""
    place = files.path(path)
    found: dict[str, Any] = parse(
        files.read_utf8(place), f"{place}", "a whole JSON file: cut short, altered or of another kind"
    )
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise TacitError(f"{place} is not a policy: it must be a JSON object whose format is {FORMAT!r}")
    if found.get("version") != VERSION:
        raise TacitError(f"{place} has version {brief(found.get('version'))}; this tacit reads version {VERSION}")
    return {"kind": None, **found}


def entries(document: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list of the document."""
    value = document.get(key)
    if not isinstance(value, list):
        raise TacitError(f"its {key} is {brief(value)}; it must be a list")
    return value


def parse(content: str, what: str, expected: str) -> Any:
    """Return what JSON says, as far as memory holds it."""
    memory.require(_SPREAD * len(content), what)
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError, MemoryError) as error:
        raise TacitError(f"{what} is not {expected} ({one_line(error)})") from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
