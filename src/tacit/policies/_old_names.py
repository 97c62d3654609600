"""Names of the release before, which still work in this one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.policies.deployed import DeployedPart, DeployedPolicy
from tacit.policies.recorded import RecordedPart, RecordedPolicy

CertifiedPolicy, CertifiedPart = RecordedPolicy, RecordedPart
ThinnedPolicy, ThinnedPart = DeployedPolicy, DeployedPart


class SampledPolicy(RecordedPolicy):
    """`RecordedPolicy.of_stages`."""

    def __new__(cls, *args: Any, **kwargs: Any) -> RecordedPolicy:  # type: ignore[misc]
        """Make a recorded policy of some visits of each stage."""
        return RecordedPolicy.of_stages(*args, **kwargs)


class SeparatePolicy(RecordedPolicy):
    """`RecordedPolicy.of_records`, from policies instead of their records."""

    def __new__(cls, each: Sequence[RecordedPolicy]) -> RecordedPolicy:  # type: ignore[misc]
        """Make a recorded policy in which each agent has its own record."""
        for i, own in enumerate(check.list_of("each", each, "recorded policies, one for each agent")):
            if not isinstance(own, RecordedPolicy):
                raise TacitError(f"each[{i}] is {brief(own)}; it must be a recorded policy of one agent")
        return RecordedPolicy.of_records([own.record for own in each], start=each[0].start if len(each) else "average")
