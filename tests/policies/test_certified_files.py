"""Recorded policies on disk: what is read is what was written, or a TacitError that names the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from answers import learn_average

import tacit
from tacit.policies import RecordedPolicy


@pytest.fixture(scope="module")
def run() -> tacit.Run:
    game = tacit.make("random-general-sum", states=3, actions=[2, 3], horizon=3, seed=1)
    return learn_average(game, "stage-v-cce", episodes=200, seed=2, bonus=0.05)


def same(one: RecordedPolicy, two: RecordedPolicy) -> bool:
    keys = ("visited", "stored", "actions", "states", "horizon")
    return all(np.array_equal(getattr(one, key), getattr(two, key)) for key in keys)


@pytest.fixture
def policy(run: tacit.Run) -> RecordedPolicy:
    return run.policy


def test_round_trip(policy: RecordedPolicy, tmp_path: Path):
    policy.save(tmp_path / "policy.npz")
    assert same(type(policy).load(tmp_path / "policy.npz"), policy)
    assert [place.name for place in tmp_path.iterdir()] == ["policy.npz"]


@pytest.mark.parametrize("rule", ["stage", "rate"])
def test_the_rule_and_the_certificate_survive(rule: str, run: tacit.Run, tmp_path: Path):
    policy = run.policy
    kept = RecordedPolicy(policy.visited, policy.stored, actions=policy.actions, states=policy.states, rule=rule)
    kept.save(tmp_path / "policy.npz")
    back = RecordedPolicy.load(tmp_path / "policy.npz")
    assert back.rule == rule
    one, two = (tacit.evaluate(run.game, each, gap="cce") for each in (kept, back))
    assert (one.gaps == two.gaps).all()
    one, two = (tacit.evaluate(run.game, each, episodes=50) for each in (kept, back))
    assert (one.returns == two.returns).all()


def loaded_or_message(kind: type, place: Path) -> RecordedPolicy | str:
    try:
        return kind.load(place)
    except tacit.TacitError as error:
        return str(error)


@pytest.mark.parametrize("seed", range(3))
def test_damage_is_noticed_or_harmless(policy: RecordedPolicy, seed: int, tmp_path: Path):
    place = tmp_path / "policy.npz"
    policy.save(place)
    whole, rng = place.read_bytes(), np.random.default_rng(seed)
    taken = 0
    for spot in np.concatenate(
        [rng.integers(len(whole), size=60), rng.integers(len(whole) * 9 // 10, len(whole), size=60)]
    ):
        damaged = bytearray(whole)
        damaged[spot] ^= 1 << int(rng.integers(8))
        place.write_bytes(damaged)
        found = loaded_or_message(type(policy), place)
        if isinstance(found, str):
            assert str(place) in found
            assert "\n" not in found
        else:
            assert same(found, policy)
            taken += 1
    assert taken < 90


def test_a_file_cut_short_is_refused(policy: RecordedPolicy, tmp_path: Path):
    place = tmp_path / "policy.npz"
    policy.save(place)
    whole = place.read_bytes()
    for length in np.linspace(0, len(whole) - 1, 60).astype(int):
        place.write_bytes(whole[:length])
        with pytest.raises(tacit.TacitError, match=r"policy\.npz"):
            type(policy).load(place)


def altered(policy: RecordedPolicy, place: Path, **changes: object) -> Path:
    policy.save(place)
    with np.load(place) as arrays:
        held = {**arrays, **changes}
    np.savez(place, **{key: value for key, value in held.items() if value is not None})
    return place


WRONG = {
    "no actions": {"actions": None},
    "text for actions": {"actions": np.array(["a", "b"])},
    "a matrix of actions": {"actions": np.ones((2, 2), dtype=int)},
    "no states": {"states": None},
    "two states fields": {"states": np.array([1, 2])},
    "half a state": {"states": np.array(2.5)},
    "zero states": {"states": np.array(0)},
    "stored of another shape": {"stored": np.zeros((3, 3), dtype=np.float32)},
    "stored as text": {"stored": np.array(["x"])},
    "everything empty": {"stored": np.zeros(0), "states": np.zeros(0), "actions": np.zeros(0)},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_whole_file_with_wrong_contents_is_refused(what: str, policy: RecordedPolicy, tmp_path: Path):
    place = altered(policy, tmp_path / "policy.npz", **WRONG[what])
    with pytest.raises(tacit.TacitError, match=r"policy\.npz") as caught:
        type(policy).load(place)
    assert "\n" not in str(caught.value)


CERTIFIED_WRONG = {
    "a state too high": lambda p: {"visited": np.full(p.visited.shape, p.states)},
    "a state below zero": lambda p: {"visited": np.full(p.visited.shape, -1)},
    "no number": lambda p: {"stored": np.full(p.stored.shape, np.nan, dtype=np.float32)},
    "above one": lambda p: {"stored": np.full(p.stored.shape, 1.5, dtype=np.float32)},
    "unknown rule": lambda p: {"rule": np.array("stages")},
    "states as floats": lambda p: {"visited": p.visited.astype(float)},
}


@pytest.mark.parametrize("what", CERTIFIED_WRONG)
def test_a_certified_policy_checks_its_arrays(what: str, run: tacit.Run, tmp_path: Path):
    place = altered(run.policy, tmp_path / "policy.npz", **CERTIFIED_WRONG[what](run.policy))
    with pytest.raises(tacit.TacitError, match=r"policy\.npz"):
        RecordedPolicy.load(place)


def test_sums_are_checked(run: tacit.Run, tmp_path: Path):
    stored = np.full(run.policy.stored.shape, 0.9, dtype=np.float32)  # agent 1 has three actions: 0.9 + 0.9
    with pytest.raises(tacit.TacitError, match=r"policy\.npz"):
        RecordedPolicy.load(altered(run.policy, tmp_path / "policy.npz", stored=stored))


def test_one_kind_is_not_read_as_the_other(run: tacit.Run, tmp_path: Path):
    tacit.MarkovPolicy.uniform(run.game).save(tmp_path / "markov.npz")
    with pytest.raises(tacit.TacitError, match="not a recorded policy"):
        RecordedPolicy.load(tmp_path / "markov.npz")
    with pytest.raises(tacit.TacitError, match="no file"):
        RecordedPolicy.load(tmp_path / "nothing.npz")
