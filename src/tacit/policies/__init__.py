"""Policies: what agents play."""

from __future__ import annotations

import os

from tacit.policies.base import Part, Policy
from tacit.policies.markov import MarkovPart, MarkovPolicy
from tacit.policies.network import Input, Network, NetworkPart, NetworkPolicy
from tacit.policies.recorded import RecordedPart, RecordedPolicy


def load(path: str | os.PathLike[str]) -> Policy:
    """Read a policy of any kind that its `save` wrote, as `.npz` or `.json`.

    Parameters
    ----------
    path : path

    Returns
    -------
    MarkovPolicy, RecordedPolicy or NetworkPolicy

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


__all__ = [
    "Input",
    "MarkovPart",
    "MarkovPolicy",
    "Network",
    "NetworkPart",
    "NetworkPolicy",
    "Part",
    "Policy",
    "RecordedPart",
    "RecordedPolicy",
    "load",
]
