"""Parts that see: bins in the file, unknown observations counted and said, `predict`, tables stored once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.policies import Part
from tacit.policies.base import StoredBins

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")
spaces = gymnasium.spaces

SPACE = spaces.Dict(
    {"at": spaces.Box(-1.0, 1.0, (2,)), "pair": spaces.Tuple([spaces.Discrete(3), spaces.Box(0, 9, (1,))])}
)


class Plane(gymnasium.Env):  # type: ignore[misc]
    """One agent on a plane; an action is right where it says on which side of 0 the first number lies."""

    action_space, observation_space, horizon, reward_range = spaces.Discrete(2), SPACE, 3, (0.0, 1.0)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self.observation_space.seed(seed)
        self.shown = self.observation_space.sample()
        return self.shown, {}

    def step(self, action: Any) -> Any:
        paid, self.shown = float(action == (self.shown["at"][0] > 0)), self.observation_space.sample()
        return self.shown, paid, False, False, {}


BINS = tacit.Bins({"at": [2, 1], "pair": [None, 2]})


@pytest.fixture(scope="module")
def run() -> tacit.Run:
    env = tacit.from_gymnasium(Plane(), encode=BINS)
    return tacit.learn(env, "q-independent", steps="shared", episodes=200, certify=False)


def shown(count: int = 50) -> list[Any]:
    SPACE.seed(7)
    return [SPACE.sample() for _ in range(count)]


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_file_holds_the_bins(run: tacit.Run, ending: str, tmp_path: Path):
    run.last.save(tmp_path / f"policy.{ending}")
    part = Part.load(tmp_path / f"policy.{ending}", agent=0)
    for k, observation in enumerate(shown()):
        part.begin(k)
        here = run.last.part(0)
        here.begin(k)
        s = run.game.state(observation)  # type: ignore[attr-defined]
        assert part.number(observation) == here.number(observation) == s
        assert part.act(0, observation=observation) == here.act(0, s)
    assert part.unknown == 0
    again = tacit.policies.load(tmp_path / f"policy.{ending}")
    again.save(tmp_path / f"again.{ending}")
    assert Part.load(tmp_path / f"again.{ending}", agent=0).number(shown()[0]) == part.number(shown()[0])
    env = tacit.from_gymnasium(Plane(), horizon=3)  # without encode: the file knows it
    values = [tacit.evaluate(env, policy, episodes=50).values for policy in (again, run.last)]
    np.testing.assert_array_equal(*values)


def test_what_is_unknown_is_counted_and_said(run: tacit.Run, tmp_path: Path):
    run.last.save(tmp_path / "policy.json", agent=0)
    part = Part.load(tmp_path / "policy.json")
    odd = {"at": np.array([0.1, np.nan]), "pair": (0, [1.0])}
    part.begin(0)
    with pytest.warns(UserWarning, match="never met in learning"):
        assert part.act(0, observation=odd) in (0, 1)
    assert part.act(1, observation=[1, 2]) in (0, 1)  # another structure; said once
    part.act(2, observation=shown()[0])
    assert part.unknown == 2


def test_a_function_is_not_in_a_file(tmp_path: Path):
    env = tacit.from_gymnasium(Plane(), encode=lambda observation: bool(observation["at"][0] > 0))
    run = tacit.learn(env, "q-independent", episodes=50, certify=False)
    here = run.last.part(0)
    here.begin(0)
    assert here.act(0, observation=shown()[0]) in (0, 1)
    run.last.save(tmp_path / "part.json", agent=0)
    part = Part.load(tmp_path / "part.json")
    part.begin(0)
    with pytest.raises(tacit.TacitError, match="encode, a function"):
        part.act(0, observation=shown()[0])
    assert part.act(0, part.number(True)) in (0, 1)


@pytest.mark.parametrize(
    "stored", [3, {}, {"numbers": [[[1.0, 0.0], [1, 2, 3]]]}, {"numbers": [[[0.0], [1]]]}, {"numbers": [["x", [1]]]}]
)
def test_damaged_bins_are_refused(stored: Any, run: tacit.Run, tmp_path: Path):
    path = tmp_path / "part.json"
    run.last.save(path, agent=0)
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "encode": [stored]}))
    with pytest.raises(tacit.TacitError, match=r"encode"):
        Part.load(path)
    path.write_text(json.dumps({**document, "encode": [None, None]}))
    with pytest.raises(tacit.TacitError, match=r"each of 1 agents"):
        Part.load(path)


def test_a_shared_table_is_stored_once(run: tacit.Run, tmp_path: Path):
    assert run.last.steps == 3
    for ending in ("json", "npz"):
        run.last.save(tmp_path / f"policy.{ending}")
        loaded: Any = tacit.policies.load(tmp_path / f"policy.{ending}")
        np.testing.assert_array_equal(loaded.probs[0], run.last.probs[0])
    assert len(json.loads((tmp_path / "policy.json").read_text())["probs"][0]) == 1
    with np.load(tmp_path / "policy.npz") as arrays:
        assert arrays["probs_0"].shape[0] == 1
    joint = tacit.MarkovPolicy(np.full((4, 2, 2, 3), 1 / 6))
    for ending in ("json", "npz"):
        joint.save(tmp_path / f"joint.{ending}")
        assert tacit.MarkovPolicy.load(tmp_path / f"joint.{ending}").steps == 4


def test_predict_is_that_of_stable_baselines(run: tacit.Run):
    for observation in shown():
        action, state = run.last.predict(observation, deterministic=True)
        assert action == run.last.probs[0][0, run.game.state(observation)].argmax()  # type: ignore[attr-defined]
        assert state == 1
    state = None
    for k in range(5):
        action, state = run.last.predict(shown()[k], state, episode_start=[k == 3])
        assert action in (0, 1)
        assert state == (k + 1 if k < 3 else k - 2)
    chicken = tacit.solve(tacit.make("chicken"), "ce").policy
    joint = {tuple(chicken.predict([0, 0])[0]) for _ in range(100)}
    assert joint <= {(0, 0), (0, 1), (1, 0)}  # one joint draw
    with pytest.raises(tacit.TacitError, match="deterministic must be False"):
        chicken.predict([0, 0], deterministic=True)
    for alone in (0, [0], {"first": 0}):
        with pytest.raises(tacit.TacitError, match="one entry for each of 2 agents"):
            chicken.predict(alone)


def test_32_bit_tables_are_normalised():
    probs = np.random.default_rng(0).dirichlet(np.ones(7), (5, 3)).astype(np.float32)
    assert np.abs(probs.astype(float).sum(axis=2) - 1).max() > 1e-9
    policy = tacit.MarkovPolicy([probs])
    assert np.abs(policy.probs[0].sum(axis=2) - 1).max() < 1e-15
    np.testing.assert_allclose(policy.probs[0], probs, atol=1e-7)
    joint = tacit.MarkovPolicy(probs.reshape(5, 3, 7, 1))
    np.testing.assert_array_equal(joint.probs[0].ravel(), policy.probs[0].ravel())
    with pytest.raises(tacit.TacitError, match="must sum to 1"):
        tacit.MarkovPolicy([probs * np.float32(1.01)])


def test_edges_belong_to_the_bin_above():
    bins = StoredBins({"order": None, "numbers": [[[0.0], [-1.0, 1.0]], None]})
    assert [bins([x, 5]) for x in (-0.1, 0.0, 0.1)] == [(-1.0, 5), (1.0, 5), (1.0, 5)]
