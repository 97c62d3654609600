"""A device plays its part with NumPy alone: no compiler, no SciPy, nothing else of tacit's requirements."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tacit

DEVICE = """
import sys

ALLOWED = {"numpy", "tacit"}

class Refuse:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root not in ALLOWED and root not in sys.stdlib_module_names:
            raise ImportError(f"{name} is not on this device")

sys.meta_path.insert(0, Refuse())
import json
import tacit

found = {}
for path, agent in json.loads(sys.argv[1]):
    part = tacit.policies.Part.load(path, agent=agent)
    played = []
    for seed in range(20):
        part.begin(seed)
        played += [part.act(h, (seed + h) % 2) for h in range(4)]
    found[path] = played
assert not {"numba", "scipy", "psutil"} & set(sys.modules)
print(json.dumps(found))
"""


@pytest.fixture
def policies() -> dict[str, object]:
    rng = np.random.default_rng(0)
    visited = rng.integers(2, size=(300, 4))
    stored = rng.dirichlet(np.ones(3), (300, 4, 2))[..., :2].reshape(300, 4, 4).astype(np.float32)
    made = {
        rule: tacit.policies.RecordedPolicy(visited, stored, actions=[3, 3], states=2, rule=rule)
        for rule in ("stage", "rate")
    }
    correlated = tacit.MarkovPolicy(rng.dirichlet(np.ones(9), (4, 2)).reshape(4, 2, 3, 3))
    product = tacit.MarkovPolicy([rng.dirichlet(np.ones(3), (4, 2)) for _ in range(2)])
    return {**made, "correlated": correlated, "product": product}


def test_parts_play_the_same_without_the_compiler(policies: dict[str, object], tmp_path: Path):
    asked, expected = [], {}
    for name, policy in policies.items():
        path = tmp_path / f"{name}.npz"
        policy.save(path)
        asked.append((str(path), 1))
        if name == "product":
            alone = tmp_path / f"{name}.json"
            policy.save(alone, agent=1)
            asked.append((str(alone), None))
    for path, _ in asked:
        part = policies[Path(path).stem].part(1)
        expected[path] = []
        for seed in range(20):
            part.begin(seed)
            expected[path] += [part.act(h, (seed + h) % 2) for h in range(4)]
    done = subprocess.run([sys.executable, "-c", DEVICE, json.dumps(asked)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


def test_parts_draw_as_the_policy_says(policies: dict[str, object]):
    """Frequencies of a part against its distributions: 1500 draws, within 5 standard deviations."""
    product, correlated = policies["product"], policies["correlated"]
    counts, pairs = np.zeros(3), np.zeros((3, 3))
    own, two = product.part(1), [correlated.part(i) for i in range(2)]
    for seed in range(1500):
        own.begin(seed)
        counts[own.act(0, 1)] += 1
        for part in two:
            part.begin(seed)
        pairs[two[0].act(0, 1), two[1].act(0, 1)] += 1
    np.testing.assert_allclose(counts / 1500, product.probs[1][0, 1], atol=0.065)
    np.testing.assert_allclose(pairs / 1500, correlated.probs[0][0, 1], atol=0.065)


def test_parts_are_fast(policies: dict[str, object]):
    """At most 10 µs an action on an idle core; 40 here, by the processor's clock, since tests share their machine."""
    for name, policy in policies.items():
        part = policy.part(0)
        best = np.inf
        for _ in range(20):
            spent = 0.0
            for seed in range(10):
                part.begin(seed)
                began = time.process_time()
                for h in range(4):
                    part.act(h, 1)
                spent += time.process_time() - began
            best = min(best, spent / 40)
        assert best < 40e-6, name


def test_wrong_parts_are_told(policies: dict[str, object], tmp_path: Path):
    policies["product"].save(tmp_path / "p.npz")
    policies["product"].save(tmp_path / "p.json", agent=1)
    with pytest.raises(tacit.TacitError, match="say whose part"):
        tacit.policies.Part.load(tmp_path / "p.npz")
    with pytest.raises(tacit.TacitError, match="holds the part of agent 1, not of agent 0"):
        tacit.policies.Part.load(tmp_path / "p.json", agent=0)
    part = tacit.policies.Part.load(tmp_path / "p.json")
    with pytest.raises(tacit.TacitError, match="call begin"):
        part.act(0, 0)
    part.begin(0)
    with pytest.raises(tacit.TacitError, match="step 0 comes next"):
        part.act(1, 0)
    with pytest.raises(tacit.TacitError, match="s must be"):
        part.act(0, 9)


def test_what_is_refused_uses_no_step_up():
    """A device that asks with a wrong state asks again."""
    game = tacit.make("good-state", horizon=3)
    run = tacit.learn(game, "stage-v-cce", episodes=50, bonus=0.1)
    sampled = tacit.learn(game, "stage-v-cce", episodes=50, bonus=0.1, visits_per_stage=2).policy
    for policy in (run.last, run.candidates["average"].policy, sampled):
        asked, plain = policy.part(1), policy.part(1)
        asked.begin(seed=3)
        plain.begin(seed=3)
        for h in range(3):
            with pytest.raises(tacit.TacitError, match="s must be"):
                asked.act(h, 99)
            assert asked.act(h, 1) == plain.act(h, 1)
