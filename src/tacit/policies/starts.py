"""Policies made of a record can begin in two ways; both are in the same file."""

from __future__ import annotations

import copy
from typing import Any

from tacit.core import check
from tacit.policies.certified import STARTS
from tacit.policies.separate import SeparatePolicy


def beginning(policy: Any, start: str) -> Any:
    """Return a policy of the same record that begins with "average" or "latest"; they share their arrays."""
    other = copy.copy(policy)
    other.start = check.choice("start", start, STARTS)
    if isinstance(policy, SeparatePolicy):
        other.each = tuple(beginning(own, start) for own in policy.each)
    return other
