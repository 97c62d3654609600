"""Policies: what agents play."""

from __future__ import annotations

from tacit.policies.certified import CertifiedPart, CertifiedPolicy
from tacit.policies.markov import MarkovPolicy
from tacit.policies.thinned import ThinnedPart, ThinnedPolicy

__all__ = ["CertifiedPart", "CertifiedPolicy", "MarkovPolicy", "ThinnedPart", "ThinnedPolicy"]
