"""Policies: what agents play."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tacit.core import check, files
from tacit.core.errors import TacitError, brief, one_line
from tacit.policies import document
from tacit.policies.base import Part, Policy
from tacit.policies.deployed import DeployedPart, DeployedPolicy
from tacit.policies.markov import MarkovPart, MarkovPolicy
from tacit.policies.recorded import RecordedPart, RecordedPolicy

#: Which class reads which kind of file; a policy's file states its kind.
KINDS: dict[str, Any] = {kind: cls for cls in (MarkovPolicy, RecordedPolicy, DeployedPolicy) for kind in cls.kinds}


def load(path: str | os.PathLike[str]) -> Policy:
    """Read a policy of any kind that its `save` wrote, as `.npz` or `.json`.

    Parameters
    ----------
    path : path

    Returns
    -------
    MarkovPolicy, RecordedPolicy or DeployedPolicy

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tacit
    >>> from tacit.policies import load
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "policy.npz"
    >>> tacit.MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2]).save(path)
    >>> load(path)
    MarkovPolicy(product, 2 agents, 1 state, 2×2 actions, the same at every step)
    """
    kind = document.read(path)["kind"] if document.is_json(path) else _kind(path)
    if kind not in tuple(KINDS):
        other = {"agent": "an agent, which tacit.Agent.load reads", "game": "a game, which tacit.load reads"}
        unknown = f"a policy of an unknown kind, {brief(kind)}; known: {', '.join(KINDS)}"
        raise TacitError(f"{path} holds {other.get(brief(kind)[1:-1], unknown)}")
    policy: Policy = KINDS[kind].load(path)
    return policy


def load_part(path: object, content: Mapping[str, Any]) -> Part:
    """Return the part that a document of one agent holds."""
    number = check.integer("agent", content["agent"], least=0, most=2**31 - 1)
    kind = content["kind"]
    try:
        policy: Policy = KINDS[kind].from_document(content)
        if policy.agents != 1 or kind == "correlated":
            raise TacitError(f"it is a {policy!r}")
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise TacitError(f"{path} is not a part of a policy: {one_line(error, 300)}") from None
    part = policy.part(0)
    part.agent = number
    return part


def _kind(path: str | os.PathLike[str]) -> str:
    """Return what a `.npz` states to hold; a game states nothing, and is known by its arrays."""
    arrays = files.read_arrays(path, only=("kind", "rewards", "initial"))  # a record may be large, and is read later
    if "kind" not in arrays and {"rewards", "initial"} <= set(arrays):
        return "game"
    found = arrays.get("kind")
    if found is None or found.dtype.kind != "U" or found.ndim:
        raise TacitError(f"{path} is no policy: it does not state its kind")
    return str(found)


def _separate(each: Any) -> RecordedPolicy:
    """Make a recorded policy in which each agent has its own record, from a policy for each."""
    every = check.list_of("each", each, "recorded policies, one for each agent", least=1)
    records: list[Any] = [getattr(own, "record", None) for own in every]
    return RecordedPolicy.of_records(records, start=getattr(every[0], "start", "average"))


#: What the release before called these; its names still work in this one.
OLD_NAMES = {
    "CertifiedPart": RecordedPart,
    "CertifiedPolicy": RecordedPolicy,
    "SampledPolicy": RecordedPolicy.of_stages,
    "SeparatePolicy": _separate,
    "ThinnedPart": DeployedPart,
    "ThinnedPolicy": DeployedPolicy,
}


def __getattr__(name: str) -> Any:
    if name in OLD_NAMES:
        return OLD_NAMES[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "DeployedPart",
    "DeployedPolicy",
    "MarkovPart",
    "MarkovPolicy",
    "Part",
    "Policy",
    "RecordedPart",
    "RecordedPolicy",
    "load",
]
