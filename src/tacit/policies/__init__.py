"""Policies: what agents play."""

from __future__ import annotations

import importlib
import os
from typing import Any

from tacit.core import files
from tacit.core.errors import TacitError, brief
from tacit.policies import document
from tacit.policies.deployed import DeployedPart, DeployedPolicy
from tacit.policies.markov import MarkovPolicy
from tacit.policies.part import MarkovPart, Part
from tacit.policies.recorded import RecordedPart, RecordedPolicy

#: Which class reads which kind of policy; a policy's file states its kind.
KINDS: dict[str, Any] = {
    "markov": MarkovPolicy,
    "certified": RecordedPolicy,
    "sampled": RecordedPolicy,
    "separate": RecordedPolicy,
    "thinned": DeployedPolicy,
}

Policy = MarkovPolicy | RecordedPolicy | DeployedPolicy


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
    kind = document.kind(path) if document.named(path) else _kind(path)
    if kind not in KINDS:
        other = {"agent": "an agent, which tacit.Agent.load reads", "game": "a game, which tacit.load reads"}
        told = other.get(kind, f"a policy of an unknown kind, {brief(kind)}; known: {', '.join(KINDS)}")
        raise TacitError(f"{path} holds {told}")
    policy: Policy = KINDS[kind].load(path)
    return policy


def _kind(path: str | os.PathLike[str]) -> str:
    """Return what a `.npz` states to hold; a game states nothing, and is known by its arrays."""
    arrays = files.read_arrays(path, only=("kind", "rewards", "initial"))  # a record may be large, and is read later
    if "kind" not in arrays and {"rewards", "initial"} <= set(arrays):
        return "game"
    found = arrays.get("kind")
    if found is None or found.dtype.kind != "U" or found.ndim:
        raise TacitError(f"{path} is no policy: it does not state its kind")
    return str(found)


def __getattr__(name: str) -> Any:
    """Find the names of the release before."""
    return getattr(importlib.import_module("tacit.policies._old_names"), name)


__all__ = [
    "DeployedPart",
    "DeployedPolicy",
    "MarkovPart",
    "MarkovPolicy",
    "Part",
    "RecordedPart",
    "RecordedPolicy",
    "load",
]
