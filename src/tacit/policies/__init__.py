"""Policies: what agents play."""

from __future__ import annotations

import os
from typing import Any

from tacit.core import archive, check
from tacit.policies import document
from tacit.policies.certified import CertifiedPart, CertifiedPolicy
from tacit.policies.markov import MarkovPolicy
from tacit.policies.part import MarkovPart, Part
from tacit.policies.sampled import SampledPolicy
from tacit.policies.separate import SeparatePolicy
from tacit.policies.thinned import ThinnedPart, ThinnedPolicy

#: Which class reads which kind of policy; a policy's file states its kind.
KINDS: dict[str, Any] = {
    "markov": MarkovPolicy,
    "certified": CertifiedPolicy,
    "sampled": SampledPolicy,
    "thinned": ThinnedPolicy,
    "separate": SeparatePolicy,
}

Policy = MarkovPolicy | CertifiedPolicy | SampledPolicy | ThinnedPolicy | SeparatePolicy


def load(path: str | os.PathLike[str]) -> Policy:
    """Read a policy of any kind that its `save` wrote, as `.npz` or `.json`.

    Parameters
    ----------
    path : path

    Returns
    -------
    MarkovPolicy, CertifiedPolicy, SampledPolicy, ThinnedPolicy or SeparatePolicy

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "policy.npz"
    >>> MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2]).save(path)
    >>> load(path)
    MarkovPolicy(product, 2 agents, 1 state, 2×2 actions, the same at every step)
    """
    kind = document.kind(path) if document.named(path) else archive.word(path, "kind")
    policy: Policy
    policy = KINDS[check.choice(f"the kind of {path}", kind, list(KINDS))].load(path)
    return policy


__all__ = [
    "CertifiedPart",
    "CertifiedPolicy",
    "MarkovPart",
    "MarkovPolicy",
    "Part",
    "SampledPolicy",
    "SeparatePolicy",
    "ThinnedPart",
    "ThinnedPolicy",
    "load",
]
