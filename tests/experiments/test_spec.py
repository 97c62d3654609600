"""An experiment's file is the image of its dataclass, and whatever is wrong in it is told by the path of its key."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, summarize
from tacit.experiments.spec import plan
from tacit.games import is_file
from tacit.learners import PAPER

words = st.text(min_size=1).filter(lambda word: word != "none" and word.isprintable())
values = st.one_of(
    st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text(max_size=5), st.none()
).filter(lambda value: value != "none")
tables = st.dictionaries(st.text(max_size=5), st.one_of(values, st.lists(st.integers(0, 9))), max_size=3)


@given(
    st.builds(
        Experiment,
        name=words,
        episodes=st.integers(1, 10**9),
        games=st.lists(st.builds(GameSpec, words, tables), min_size=1, max_size=3).map(tuple),
        learners=st.lists(st.builds(LearnerSpec, words, tables, st.none() | words), min_size=1, max_size=3).map(tuple),
        seeds=st.integers(1, 99),
        first_seed=st.integers(0, 99),
        certify=st.sampled_from([None, True, False]),
        keep=st.booleans(),
    )
)
def test_round_trip(experiment: Experiment):
    with tempfile.TemporaryDirectory() as place:
        experiment.save(Path(place) / "a.toml")
        again = Experiment.load(Path(place) / "a.toml")
    games = [str(Path(place) / one.name) if is_file(one.name) else one.name for one in experiment.games]
    assert [one.name for one in again.games] == games
    assert replace(again, games=experiment.games) == experiment


def test_round_trip_of_a_file(tmp_path: Path):
    experiment = Experiment("a", 10, (GameSpec("chicken"),), (LearnerSpec("ucb-central", {"reference": None}),))
    experiment.save(tmp_path / "a.toml")
    assert Experiment.load(tmp_path / "a.toml") == experiment


WHOLE = """
name = "a"
episodes = 10
[[games]]
name = "chicken"
[[learners]]
name = "npg"
params = {eta = 0.1}
"""

WRONG = {
    "an unknown key": ("seedz = 3\n" + WHOLE, "seedz is an unknown key; did you mean 'seeds'?"),
    "an unknown key below": (WHOLE + "labl = 'x'", "learners[0].labl is an unknown key; did you mean 'label'?"),
    "a missing key": (WHOLE.replace('name = "a"', ""), "name is missing"),
    "a missing key below": (WHOLE.replace('name = "chicken"', ""), "games[0].name is missing"),
    "a wrong type": (WHOLE.replace("10", '"ten"'), "episodes must be"),
    "a float for an int": (WHOLE.replace("10", "10.5"), "episodes must be"),
    "a flag for an int": (WHOLE.replace("10", "true"), "episodes must be"),
    "a word for a flag": ("keep = 'yes'\n" + WHOLE, "keep must be"),
    "a number for a name": (WHOLE.replace('"chicken"', "3"), "games[0].name must be text"),
    "a word for a table": (
        "games = [3]\nepisodes = 1\nname = 'a'\nlearners = []",
        "games[0] must be a name, or a GameSpec(name, params); got 3",
    ),
    "no learners": (
        "games = [{name = 'x'}]\nepisodes = 1\nname = 'a'\nlearners = []",
        "learners must have",
    ),
    "params that are no table": (WHOLE.replace("{eta = 0.1}", "3"), "learners[0].params must be a table"),
    "no TOML": ("name = ", "is not a TOML file"),
    "no text": (b"\xff\xfe", "is not a TOML file"),
}


@pytest.mark.parametrize("which", WRONG)
def test_what_is_wrong_is_told_with_its_path(which: str, tmp_path: Path):
    text, said = WRONG[which]
    path = tmp_path / "a.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(tacit.TacitError) as error:
        Experiment.load(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def experiment(**changes: Any) -> Experiment:
    learner = LearnerSpec("stage-v-cce", changes.pop("params", {}))
    given: dict[str, Any] = {"games": (GameSpec("chicken", changes.pop("game", {})),), "learners": (learner,)}
    return Experiment(**{"name": "a", "episodes": 10, **given, **changes})


def hash_of(given: Experiment) -> str:
    return plan(given, keep=True)[0].hash


def test_defaults_are_part_of_what_a_run_is():
    assert hash_of(experiment(params={"bonus": 6})) == hash_of(experiment()) == hash_of(experiment(name="b"))


@pytest.mark.parametrize(
    "change",
    [
        {"episodes": 11},
        {"first_seed": 1},
        {"points": 3},
        {"certify": True},
        {"keep": False},
        {"params": {"bonus": 0.1}},
        {"game": {"horizon": 2}},
    ],
    ids=str,
)
def test_a_changed_spec_is_another_run(change: dict[str, Any]):
    assert hash_of(experiment(**change)) != hash_of(experiment())


def test_a_changed_game_file_is_another_run(tmp_path: Path):
    path = tmp_path / "game.npz"
    hashes = []
    for horizon in (1, 2):
        tacit.make("chicken", horizon=horizon).save(path)
        hashes.append(hash_of(experiment(games=(GameSpec(str(path)),))))
    assert hashes[0] != hashes[1]


def test_a_game_file_is_looked_for_beside_the_experiment(tmp_path: Path):
    tacit.make("chicken").save(tmp_path / "game.npz")
    experiment(games=(GameSpec("game.npz"),)).save(tmp_path / "a.toml")
    assert run_experiment(Experiment.load(tmp_path / "a.toml")).outcomes[0].agents == 2


def test_the_same_learner_twice_is_told():
    twice = (LearnerSpec("npg"), LearnerSpec("npg", {"eta": "auto"}, "again"))
    with pytest.raises(tacit.TacitError, match="chicken with again is the same as with npg"):
        plan(experiment(learners=twice), keep=True)


def test_a_preset_becomes_its_parameters():
    given = experiment(
        games=(GameSpec("good-state"),), learners=(LearnerSpec("pg-storm", {"preset": "paper", "momentum": 1}),)
    )
    params = plan(given, keep=True)[0].learner.params
    assert "preset" not in params
    assert params["momentum"] == 1
    assert params["eta"] == PAPER["good-state"]["pg-storm"]["eta"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Experiment("a", 10, "chicken", options={}), "options must be"),
        (lambda: Experiment("a", 10, "chicken", thin=3), "thin is an unknown key"),
        (lambda: run_experiment("x"), "experiment must be"),
        (lambda: summarize("x"), "values"),
        (lambda: summarize([[1.0]]), "one number for each seed"),
    ],
)
def test_wrong_arguments_are_one_sentence(call: Any, words: str):
    with pytest.raises(tacit.TacitError, match=words):
        call()
