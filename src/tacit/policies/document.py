"""A policy as one JSON document, for devices without Python; `docs/policy-json.md` describes it.

Reading is bounded by the memory that is free, and takes numbers, text, lists and objects only. A file that is cut
short or altered is reported by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief, one_line
from tacit.policies.observed import SPREAD

FORMAT, VERSION = "tacit policy", 1

#: Which class reads which kind.
READERS = {"product": "MarkovPolicy", "correlated": "MarkovPolicy", "thinned": "DeployedPolicy"}


def named(path: str | os.PathLike[str]) -> bool:
    """Return whether a path asks for JSON by its ending."""
    return files.path(path).suffix.lower() == ".json"


def check_ending(path: str | os.PathLike[str], *endings: str) -> None:
    """Check that a path ends as files of policies do."""
    suffix = files.path(path).suffix.lower()
    if suffix not in endings:
        ending = f"the ending {suffix!r}" if suffix else "no ending"
        raise TacitError(f"{path} has {ending}; a file of this policy ends in {' or '.join(endings)}")


def check_part(path: str | os.PathLike[str], agent: int | None, agents: int) -> int | None:
    """Return the agent whose part is asked for; only JSON holds a part alone."""
    if agent is None:
        return None
    if not named(path):
        raise TacitError(f"cannot write the part of agent {brief(agent)} to {path}; a part alone is a .json file")
    return check.integer("agent", agent, least=0, most=agents - 1)


def whole_only(path: str | os.PathLike[str], agent: int | None, instead: str) -> None:
    """Raise where a part alone is asked for, of a policy that is only written whole."""
    if agent is not None:
        other = f"; {instead}('part.json', agent={brief(agent)}) writes a small one" if instead else ""
        raise TacitError(
            f"cannot write the part of agent {brief(agent)} alone to {path}: this policy is written whole as .npz, and "
            f"Part.load(…, agent={brief(agent)}) reads a part of it{other}"
        )


def write(path: str | os.PathLike[str], kind: str, content: Mapping[str, Any], *, play: str) -> None:
    """Write a document; `play` says in words how to play it."""
    header = {"format": FORMAT, "version": VERSION, "kind": kind, "play": play}
    files.write_pieces(path, [json.dumps({**header, **content}, separators=(",", ":"), allow_nan=False), "\n"])


def kind(path: str | os.PathLike[str]) -> str:
    """Return the kind of policy that a document holds."""
    document = _parsed(files.path(path))
    stated = document.get("kind") if isinstance(document, dict) else None
    return "thinned" if stated == "thinned" else "markov"


def read(path: str | os.PathLike[str], reader: str) -> dict[str, Any]:
    """Read the document of a whole policy of a kind that the class `reader` takes."""
    place = files.path(path)
    document: dict[str, Any] = _parsed(place)  # if the header says so
    try:
        _check_header(place, document, reader)
    except RecursionError:  # while showing a wrong value
        raise TacitError(f"{place} is not a policy: it is nested too deeply") from None
    return document


def is_part(path: str | os.PathLike[str]) -> bool:
    """Return whether a document holds one agent's part alone."""
    document = _parsed(files.path(path))
    return isinstance(document, dict) and "agent" in document


def read_part(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the document of one agent's part."""
    place = files.path(path)
    document: dict[str, Any] = _parsed(place)
    alone = {key: value for key, value in document.items() if key != "agent"}
    try:
        _check_header(place, alone, READERS.get(str(document.get("kind")), ""))
    except RecursionError:
        raise TacitError(f"{place} is not a policy: it is nested too deeply") from None
    return document


def _check_header(place: Path, document: Any, reader: str) -> None:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TacitError(f"{place} is not a policy: it must be a JSON object whose format is {FORMAT!r}")
    if document.get("version") != VERSION:
        raise TacitError(f"{place} has version {brief(document.get('version'))}; this tacit reads version {VERSION}")
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in READERS:
        raise TacitError(f"{place} has kind {brief(kind)}; known: {', '.join(READERS)}")
    if READERS[kind] != reader:
        raise TacitError(f"{place} holds another kind of policy; read it with {READERS[kind]}.load")
    if "agent" in document:
        agent = brief(document["agent"])
        raise TacitError(f"{place} holds the part of agent {agent} alone; read the document of all agents instead")


def entries(document: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list of the document."""
    value = document.get(key)
    if not isinstance(value, list):
        raise TacitError(f"its {key} is {brief(value)}; it must be a list")
    return value


def _parsed(place: Path) -> Any:
    content = files.read_text(place)
    memory.require(SPREAD * len(content), f"{place}")
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError, MemoryError) as error:
        told = one_line(error)
        raise TacitError(f"{place} is not a whole JSON file: cut short, altered or of another kind ({told})") from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
