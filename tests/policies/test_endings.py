"""A file's ending says its format, and others are refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.policies import RecordedPolicy


@pytest.mark.parametrize("name", ["policy.xyz", "policy", "policy.npz.bak"])
def test_other_endings_are_refused(name: str, tmp_path: Path):
    whole = RecordedPolicy(np.zeros((4, 1), int), np.full((4, 1, 2), 0.5, np.float32), actions=[2, 2], states=1)
    for policy in (tacit.MarkovPolicy.uniform(tacit.make("chicken")), whole):
        with pytest.raises(tacit.TacitError, match=r"ends in \.npz"):
            policy.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
