"""`tacit learners` tells every parameter of every learner, in few enough columns."""

from __future__ import annotations

import json

import pytest

from tacit.cli.listing import describe
from tacit.cli.main import main
from tacit.learners import REGISTRY, StageV
from tacit.learners.facts import FACTS, INFORMATION, describe_learner


@pytest.mark.parametrize("name", list(REGISTRY))
def test_every_parameter_has_words(name: str):
    words = describe(REGISTRY.factory(name))
    for key in REGISTRY.parameters(name):
        assert words.get(key), f"{key} of {name} has no words in a docstring"


@pytest.mark.parametrize("name", list(REGISTRY))
def test_every_learner_has_its_facts(name: str):
    assert all(FACTS[name])
    assert describe_learner(name)["information"] in INFORMATION


def test_learners_are_listed_by_what_agents_must_know(capsys: pytest.CaptureFixture[str]):
    assert main(["learners"]) == 0
    text = capsys.readouterr().out
    places = [text.index(f"learners: {kind}") for kind in INFORMATION]
    assert places == sorted(places)
    assert places[0] < text.index("\nwolf-phc:") < places[1] < text.index("\nq-phases:") < places[2]
    assert places[2] < text.index("\nmodel-central:") < places[3] < text.index("\npg-exact:") < places[4]
    assert "2017; made for: any; proved: Nash in weakly acyclic games" in text


def test_a_class_of_another_package_has_no_facts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(REGISTRY, "_factories", dict(REGISTRY._factories))
    REGISTRY.add("needs-more", lambda *, x: x)
    unknown = {"information": "decentralized", "year": "", "guarantee": "", "games": ""}
    assert describe_learner("needs-more") == unknown


def test_a_function_has_the_words_of_what_it_makes():
    assert describe(REGISTRY.factory("stage-v-cce"))["loss"] == describe(StageV)["loss"]


def test_hints_that_cannot_be_read_do_no_harm():
    def plugin(*, x: int = 1) -> Nowhere:  # type: ignore[name-defined]  # noqa: F821
        """Make something.

        Parameters
        ----------
        x : int
            A number.
        """

    assert describe(plugin) == {"x": "A number."}
    assert describe(lambda *, y=1: y) == {}


def test_the_document_has_defaults_and_words(capsys: pytest.CaptureFixture[str]):
    assert main(["learners", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["learners"]}
    assert list(rows) == list(REGISTRY)
    assert rows["pg-storm"]["parameters"]["momentum"] == 0.5
    assert rows["pg-storm"]["words"]["momentum"] == "Momentum parameter a in [0, 1]; 1 is no momentum."


def test_eighty_columns_are_enough(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    from rich.cells import cell_len
    from rich.console import Console

    monkeypatch.setattr("tacit.cli.options.console", lambda: Console(width=80))
    assert main(["learners"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert any(
        line.startswith("  momentum=0.5     Momentum parameter a in [0, 1]; 1 is no momentum.") for line in lines
    )
