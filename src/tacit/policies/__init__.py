"""Policies: what agents play."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tacit.core import archive, check
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
    arrays = archive.read(path, only=("kind", "rewards", "initial"))  # a record may be large, and is read later
    if "kind" not in arrays and {"rewards", "initial"} <= set(arrays):
        return "game"
    found = arrays.get("kind")
    if found is None or found.dtype.kind != "U" or found.ndim:
        raise TacitError(f"{path} is no policy: it does not state its kind")
    return str(found)


# names of the release before -----------------------------------------------------------------------------------------

CertifiedPolicy, CertifiedPart = RecordedPolicy, RecordedPart
ThinnedPolicy, ThinnedPart = DeployedPolicy, DeployedPart


class SampledPolicy(RecordedPolicy):
    """The old name of `RecordedPolicy.of_stages`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> RecordedPolicy:  # type: ignore[misc]
        """Make a recorded policy of some visits of each stage."""
        return RecordedPolicy.of_stages(*args, **kwargs)


class SeparatePolicy(RecordedPolicy):
    """The old name of `RecordedPolicy.of_records`, which takes the records instead of policies made of them."""

    def __new__(cls, each: Sequence[RecordedPolicy]) -> RecordedPolicy:  # type: ignore[misc]
        """Make a recorded policy in which each agent has its own record."""
        for i, own in enumerate(check.listed("each", each, "recorded policies, one for each agent")):
            if not isinstance(own, RecordedPolicy):
                raise TacitError(f"each[{i}] is {brief(own)}; it must be a recorded policy of one agent")
        return RecordedPolicy.of_records([own.record for own in each], start=each[0].start if len(each) else "average")


__all__ = [
    "CertifiedPart",
    "CertifiedPolicy",
    "DeployedPart",
    "DeployedPolicy",
    "MarkovPart",
    "MarkovPolicy",
    "Part",
    "RecordedPart",
    "RecordedPolicy",
    "SampledPolicy",
    "SeparatePolicy",
    "ThinnedPart",
    "ThinnedPolicy",
    "load",
]
