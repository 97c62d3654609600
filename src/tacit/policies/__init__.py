"""Policies: what agents play."""

from __future__ import annotations

import os
from typing import Any

from tacit.core import check
from tacit.policies.base import Part, Policy
from tacit.policies.deployed import DeployedPart, DeployedPolicy
from tacit.policies.markov import MarkovPart, MarkovPolicy
from tacit.policies.recorded import RecordedPart, RecordedPolicy


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
    return Policy.load(path)


def _separate(each: Any) -> RecordedPolicy:
    """Make a recorded policy in which each agent has its own record, as `RecordedPolicy.of_records` does.

    Parameters
    ----------
    each : sequence of N RecordedPolicy
        Whose records they are.

    Returns
    -------
    RecordedPolicy

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> played = np.full((4, 1, 1), 0.5, np.float32)
    >>> own = tacit.RecordedPolicy(np.zeros((4, 1), int), played, actions=[2], states=1)
    >>> tacit.SeparatePolicy([own, own]).agents
    2
    """
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
