"""One object of options from `tacit.learn` to a stored run: whoever takes options takes all of them."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.main import parser
from tacit.cli.options import given_options
from tacit.experiments import Experiment, GameSpec, LearnerSpec
from tacit.experiments.spec import RunSpec, convert, dumps, plan
from tacit.options import FIELDS, Options

GIVEN = {"episodes": 7, "seed": 3, "points": 5, "keep": False, "certify": True, "gap": 1.0, "seconds": 2.0}
EVERY = Options(**GIVEN, visits_per_stage=2)  # type: ignore[arg-type]
LINE = "--episodes 7 --seed 3 --points 5 --no-keep --certify yes --gap 1 --seconds 2 --visits-per-stage 2"


def test_every_option_is_a_keyword_of_learn_with_the_same_default():
    taken = inspect.signature(tacit.learn).parameters
    assert {name: taken[name].default for name in FIELDS} == {name: one.default for name, one in FIELDS.items()}
    assert all(f"\n{name} : " in (inspect.getdoc(tacit.learn) or "") for name in FIELDS)


def test_every_option_is_taken_from_the_command_line():
    args = parser().parse_args(["run", "chicken", *LINE.split()])
    assert Options(**given_options(args)) == EVERY
    assert given_options(parser().parse_args(["run", "chicken"])) == {}


def test_every_option_comes_through_an_experiment_and_its_file_to_each_run(tmp_path: Path):
    experiment = Experiment("e", games=(GameSpec("chicken"),), learners=(LearnerSpec("npg"),), seeds=2, options=EVERY)
    flat = {name: getattr(EVERY, name) for name in FIELDS if name != "seed"}
    assert experiment == Experiment("e", games="chicken", learners="npg", seeds=2, first_seed=3, **flat)
    assert experiment.options == EVERY
    experiment.save(tmp_path / "e.toml")
    assert Experiment.load(tmp_path / "e.toml") == experiment
    runs = plan(experiment, keep=True)
    assert [run.options.seed for run in runs] == [3, 4]
    assert runs[0].options == EVERY
    assert convert(tomllib.loads(dumps(runs[1])), RunSpec) == runs[1]


@pytest.mark.parametrize("given", [{"points": 0}, {"gap": -1}, {"seconds": 0}, {"certify": 1}, {"keep": None}])
def test_a_wrong_option_is_told_by_its_name(given: dict[str, object]):
    (name,) = given
    with pytest.raises(tacit.TacitError, match=f"^{name} must be"):
        Options(5, **given)  # type: ignore[arg-type]


def test_where_runs_are_done_is_a_name_or_an_executor():
    experiment = Experiment("x", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),))
    with pytest.raises(tacit.TacitError, match="on must be threads"):
        experiment.run(on=np.ones(2))  # type: ignore[arg-type]
