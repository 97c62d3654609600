"""Policies: what agents play."""

from __future__ import annotations

from tacit.policies.markov import MarkovPolicy

__all__ = ["MarkovPolicy"]
