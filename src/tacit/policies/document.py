"""A policy as one JSON document, for devices without Python; `docs/policy-json.md` describes it.

Reading is bounded by the memory that is free, and takes numbers, text, lists and objects only. A file that is cut
short or altered is reported by name.

A policy learned in an environment holds `observations`, one object for each agent whose `to_list()` returns what the
agent observed, by the number of the state: so a device finds the number of the state that it sees. Files of the policy
hold these lists, a `.npz` as one text of JSON.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

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


# what agents observe -------------------------------------------------------------------------------------------------

#: What stands for "the agent is out of the game", which no device ever looks up.
OVER = {"over": True}

#: Bits of the largest whole number that is taken; no environment counts so far.
_BITS = 1024


def plain(value: Any) -> Any:
    """Return an observation as JSON has it: tuples and arrays are lists; raise TacitError where JSON has nothing.

    >>> plain((np.int64(1), ("low", None), np.array([0.5, 2.0])))
    [1, ['low', None], [0.5, 2.0]]
    """
    match value:
        case np.ndarray() | np.generic():
            return plain(value.tolist())
        case None | bool():
            return value
        case int() if value.bit_length() <= _BITS:
            return int(value)
        case str():
            return str.__str__(value)  # of an enumeration, its value
        case float() if math.isfinite(value):
            return float(value)
        case list() | tuple():
            return [plain(part) for part in value]
        case Mapping() if all(isinstance(name, str) for name in value):
            return {str(name): plain(part) for name, part in value.items()}
    raise TacitError(f"{brief(value)} is not a number, text, or a list or an object of them")


def key(observation: Any) -> Hashable:
    """Return an observation as something that is equal for equal observations, tuple, list or array."""
    return _hashable(plain(observation))


def observations_of(policy: Any, agents: Sequence[int]) -> dict[str, Any]:
    """Return the field of a policy's document that holds what these agents observed; nothing where it is not known."""
    held = policy.observations
    each = [] if held is None else [as_list(held[i], policy.states) for i in agents]
    return {"observations": each} if each and None not in each else {}


def as_list(own: Any, states: int) -> list[Any] | None:
    """Return what one agent observed, from a list or from who numbers it; None where JSON cannot hold it."""
    found: list[Any] | None = own.to_list() if hasattr(own, "to_list") else own
    return None if found is None else found[:states]


def read_observations(content: Mapping[str, Any], agents: int, states: int) -> tuple[list[Any], ...] | None:
    """Return what a file says that each agent observed, None where it says nothing."""
    found = content.get("observations")
    if found is None:
        return None
    if isinstance(found, np.ndarray):  # of a `.npz`
        found = parse(str(files.single("observations", found)), "the text of its observations", "JSON")
    if not isinstance(found, list) or len(found) != agents or not all(isinstance(own, list) for own in found):
        raise TacitError(f"its observations are {brief(found)}; they must be a list for each of {agents} agents")
    for i, own in enumerate(found):
        if len(own) > states:
            raise TacitError(f"observations[{i}] has {len(own)} entries for {states} states")
        numbers(own)
    return tuple(found)


def observation_arrays(policy: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the array of a policy's `.npz` that holds what its agents observed; none where it is not known."""
    found = observations_of(policy, range(policy.agents))
    return {name: np.array(json.dumps(lists, separators=(",", ":"))) for name, lists in found.items()}


def numbers(own: Sequence[Any]) -> dict[Hashable, int]:
    """Return the number of each observation of a list."""
    try:
        found = {key(observation): s for s, observation in enumerate(own)}
    except RecursionError:
        raise TacitError("its observations are nested too deeply") from None
    if len(found) != len(own):
        raise TacitError("it has an observation twice")
    return found


def _hashable(value: Any) -> Hashable:
    match value:
        case list():
            return tuple(_hashable(part) for part in value)
        case dict():
            return frozenset((name, _hashable(part)) for name, part in value.items())
    return value  # type: ignore[no-any-return]
