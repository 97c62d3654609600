"""What agents observe in an environment, as JSON: how a device finds the number of the state that it sees.

A policy learned in an environment holds `observations`, one object for each agent whose `to_list()` returns what the
agent observed, by the number of the state. Files of the policy hold these lists, a `.npz` as one text of JSON. Reading
takes plain JSON values only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import files
from tacit.core.errors import TacitError, brief
from tacit.policies import document

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


def of(policy: Any, agents: Sequence[int]) -> dict[str, Any]:
    """Return the field of a policy's document that holds what these agents observed; nothing where it is not known."""
    held = policy.observed if policy.observations is None else policy.observations
    each = [] if held is None else [as_list(held[i], policy.states) for i in agents]
    return {"observations": each} if each and None not in each else {}


def as_list(own: Any, states: int) -> list[Any] | None:
    """Return what one agent observed, from a list or from who numbers it; None where JSON cannot hold it."""
    found: list[Any] | None = own.to_list() if hasattr(own, "to_list") else own
    return None if found is None else found[:states]


def read(content: Mapping[str, Any], agents: int, states: int) -> tuple[list[Any], ...] | None:
    """Return what a document says that each agent observed, None where it says nothing."""
    found = content.get("observations")
    if found is None:
        return None
    if not isinstance(found, list) or len(found) != agents or not all(isinstance(own, list) for own in found):
        raise TacitError(f"its observations are {brief(found)}; they must be a list for each of {agents} agents")
    for i, own in enumerate(found):
        if len(own) > states:
            raise TacitError(f"observations[{i}] has {len(own)} entries for {states} states")
        numbers(own)
    return tuple(found)


def arrays(policy: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the array of a policy's `.npz` that holds what its agents observed; none where it is not known."""
    found = of(policy, range(policy.agents))
    return {name: np.array(json.dumps(lists, separators=(",", ":"))) for name, lists in found.items()}


def read_arrays(found: Mapping[str, npt.NDArray[Any]], policy: Any) -> tuple[list[Any], ...] | None:
    """Return what the `.npz` of a policy says that each agent observed, None where it says nothing."""
    if "observations" not in found:
        return None
    content = str(files.single("observations", found["observations"]))
    lists = document.parse(content, "the text of its observations", "JSON")
    return read({"observations": lists}, policy.agents, policy.states)


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
