"""A part of a policy learned in an environment numbers what its agent sees as learning did."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.environments.observations import OVER, Observations
from tacit.policies.base import number_observations, observation_key


class Views:
    """Agent 0 sees a word and the step, agent 1 an array: the word is what both must play."""

    actions = (2, 3)
    horizon = 3
    reward_range = (0.0, 1.0)

    def reset(self, seed: int | None = None) -> list[Any]:
        self.rng, self.h = np.random.default_rng(seed), 0
        return self.seen()

    def seen(self) -> list[Any]:
        self.word = int(self.rng.integers(2))
        return [("hot" if self.word else "cold", self.h), np.array([self.word, self.h])]

    def step(self, actions: list[int]) -> tuple[list[Any], list[float], bool]:
        paid = [float(a == self.word) for a in actions]
        self.h += 1
        return self.seen(), paid, False


@pytest.fixture(scope="module")
def run() -> tacit.Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they see different things
        return tacit.learn(Views(), "adaptive-v-cce", episodes=200, seed=0)


@pytest.fixture
def learned(run: tacit.Run) -> tacit.MarkovPolicy:
    return run.last


def test_devices_play_what_was_learned_from_what_they_see(learned: tacit.MarkovPolicy, tmp_path: Path):
    for i in range(2):
        learned.save(tmp_path / f"{i}.json", agent=i)
    parts = [tacit.policies.Part.load(tmp_path / f"{i}.json") for i in range(2)]
    assert [learned.observations[i].known(("hot", 0)) for i in range(1)] == [parts[0].number(("hot", 0))]
    env, total = Views(), np.zeros(2)
    for seed in range(50):
        seen = env.reset(seed)
        for part in parts:
            part.begin(seed)
        for h in range(3):
            seen, paid, _ = env.step([part.act(h, part.number(own)) for part, own in zip(parts, seen, strict=True)])
            total += paid
    assert (total / 150 > 0.8).all()  # 0.5 and 0.33 if states were mixed up


def test_the_same_in_memory_pickled_and_whole(learned: tacit.MarkovPolicy, tmp_path: Path):
    learned.save(tmp_path / "all.json")
    whole = tacit.MarkovPolicy.load(tmp_path / "all.json")
    whole.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "all.json").read_bytes()
    for own in (learned.part(1), pickle.loads(pickle.dumps(learned.part(1))), whole.part(1)):
        assert own.observations is not None
        assert [own.number(np.array(seen)) for seen in own.observations] == list(range(len(own.observations)))
        assert own.number((1, 0)) == own.number([1, 0]) == own.number(np.array([1, 0], dtype=np.int8))


@pytest.mark.parametrize("candidate", ["last", "average"])
def test_a_npz_holds_what_was_observed(run: tacit.Run, candidate: str, tmp_path: Path):
    """Of tables, and of a record for each agent."""
    policy = run.candidates[candidate].policy
    policy.save(tmp_path / "all.npz")
    loaded = tacit.policies.load(tmp_path / "all.npz")
    assert type(loaded) is type(policy)
    for i in range(2):
        assert loaded.part(i).observations == policy.part(i).observations
        assert (
            tacit.policies.Part.load(tmp_path / "all.npz", agent=i).number(("hot", 0) if i == 0 else (1, 0)) is not None
        )


@pytest.mark.usefixtures("interpreted")
def test_a_npz_of_one_record_for_all_holds_what_was_observed(tmp_path: Path):
    record = tacit.policies.RecordedPolicy(
        np.zeros((4, 1), int), np.full((4, 1, 1), 0.5, np.float32), actions=[2], states=1
    )
    run = tacit.learn(tacit.make("chicken"), "adaptive-v-cce", episodes=50, visits_per_stage=2)
    sampled = run.candidates["average"].policy
    for policy in (record, sampled):
        policy.observations = (["red"],) * policy.agents
        policy.save(tmp_path / "x.npz")
        assert tacit.policies.load(tmp_path / "x.npz").observations == policy.observations


@pytest.mark.parametrize("text", ["", "[", "[[0]]", "[[0], [NaN]]", "[[0, 0], [0]]", "[" * 100_000, "{}"])
def test_a_npz_of_altered_observations_is_refused(text: str, learned: tacit.MarkovPolicy, tmp_path: Path):
    tables = {f"probs_{i}": table for i, table in enumerate(learned.probs)}
    np.savez(tmp_path / "x.npz", kind="markov", **tables, observations=text)
    with pytest.raises(tacit.TacitError, match=r"x\.npz is not a Markov policy: .*observation"):
        tacit.MarkovPolicy.load(tmp_path / "x.npz")


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_loaded_policy_is_measured_in_the_states_that_it_knows(
    learned: tacit.MarkovPolicy, ending: str, tmp_path: Path
):
    learned.save(tmp_path / f"all.{ending}")
    loaded = tacit.MarkovPolicy.load(tmp_path / f"all.{ending}")
    found = [tacit.evaluate(Views(), one, episodes=60).values for one in (learned, loaded)]
    np.testing.assert_array_equal(*found)
    assert found[0].min() > 2.4  # of 3


def test_what_was_never_seen_is_played_evenly(learned: tacit.MarkovPolicy):
    part = learned.part(1)
    chosen = []
    for seed in range(600):
        part.begin(seed)
        unknown: list[Any] = [(7, 7), {1, 2}, object()]
        assert [part.number(seen) for seen in unknown] == [None] * 3
        chosen += [part.act(h, part.number(unknown[h])) for h in range(3)]
    assert np.abs(np.bincount(chosen, minlength=3) - 600).max() < 100  # five standard deviations


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("kind", ["certified", "sampled"])
def test_no_state_in_other_kinds(kind: str):
    game = tacit.make("chicken")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = tacit.learn(game, "stage-v-cce", episodes=100, visits_per_stage=8 if kind == "sampled" else None)
    policy: Any = run.candidates["average"].policy
    part = policy.part(0)
    part.begin(0)
    assert part.act(0, None) in (0, 1)
    with pytest.raises(tacit.TacitError, match="does not say what its agent observes"):
        part.number(0)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (3, "a list for each of 1 agents"),
        ([[0], [1]], "a list for each of 1 agents"),
        ([[0, 0]], "twice"),
        ([[[1], [1.0]]], "twice"),
        ([list(range(99))], "at most . entries; got 99"),
    ],
)
def test_damaged_lists(learned: tacit.MarkovPolicy, tmp_path: Path, wrong: Any, told: str):
    place = tmp_path / "part.json"
    learned.save(place, agent=0)
    document = json.loads(place.read_text()) | {"observations": wrong}
    place.write_text(json.dumps(document))
    with pytest.raises(tacit.TacitError, match=told) as error:
        tacit.policies.Part.load(place)
    assert str(place) in str(error.value)


def test_observations_of_all_spaces_as_they_are_shown():
    spaces = pytest.importorskip("gymnasium.spaces")
    space = spaces.Tuple(
        [
            spaces.Discrete(3, start=5),
            spaces.Dict({"at": spaces.MultiDiscrete([2, 4]), "on": spaces.MultiBinary((2, 1))}),
        ]
    )
    space.seed(0)
    own = Observations(space, None, "agent 0", numbered=False)
    shown = [space.sample() for _ in range(20)]
    numbers = [own.number(own.key(seen)) for seen in shown]
    own.number(OVER)
    listed = own.to_list()
    assert listed is not None
    assert listed[-1] == {"over": True}
    found = number_observations(listed)
    assert [found[observation_key(seen)] for seen in shown] == numbers
    numbered = Observations(spaces.Discrete(3, start=5), None, "agent 0", numbered=True)
    assert numbered.to_list() == [5, 6, 7]
    odd = Observations(spaces.Discrete(3), frozenset, "agent 0", numbered=False)
    odd.number(odd.key([1]))
    assert odd.to_list() is None
