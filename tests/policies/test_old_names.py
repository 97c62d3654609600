"""Names of the release before make what the new ones make."""

from __future__ import annotations

import numpy as np
import pytest

import tacit

PLAYED = np.full((4, 1, 1), 0.5, np.float32)


def test_old_names_make_recorded_policies():
    own = tacit.CertifiedPolicy(np.zeros((4, 1), int), PLAYED, actions=[2], states=1)
    assert type(own) is tacit.RecordedPolicy
    assert tacit.SeparatePolicy([own, own]).agents == 2
    one = np.zeros(1, np.int64)
    some = tacit.SampledPolicy(one, one, one, one, PLAYED[:1, 0], actions=[2], states=1, horizon=1, episodes=2)
    assert type(some) is tacit.RecordedPolicy
    assert type(own.thinned(3)) is tacit.ThinnedPolicy is tacit.DeployedPolicy


def test_other_names_are_still_missing():
    with pytest.raises(AttributeError):
        _ = tacit.policies.NoSuchPolicy
