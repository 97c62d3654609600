"""`tacit run` in environments: killed it goes on, failed it says so, stored it is evaluated by play."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")

GAME = "pettingzoo:toys.Corridor"
RUN = ["run", GAME, "adaptive-v-cce", "--episodes", "30", "--on", "threads", "--json"]

KEYS = ("value_low", "value", "value_high")


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    yield
    assert "toys" in sys.modules


def test_a_stored_run_is_evaluated_by_play(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([*RUN, "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    with pytest.raises(tacit.TacitError, match=r"--game pettingzoo:toys\.Corridor runs its code"):
        run_evaluate(str(tmp_path))
    assert main(["evaluate", str(tmp_path), "--game", GAME, "--episodes", "20", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (played,) = document["played"]
    assert played["gap"]["source"] == "trained"
    assert "a trained best response of agent" in played["told"]
    assert len(played["value"]) == 2
    assert all(low <= v <= high for low, v, high in zip(*(played[k] for k in KEYS), strict=True))
    assert main(["evaluate", str(tmp_path), "--game", GAME, "--episodes", "20"]) == 0
    assert f": values {played['values']}; {played['told']}" in " ".join(capsys.readouterr().out.split())


def test_what_was_measured_is_printed(capsys: pytest.CaptureFixture[str]):
    assert main(RUN) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document["returns"]) == {"policy", "random", "first tenth"}
    assert all(low <= mean <= high for mean, low, high in document["returns"].values())
    assert main(RUN[:-1]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"return {document['returns']['policy'][0]:.4g} (" in out
    assert all(" ".join(one.split()) in out for one in document["advice"])


def run_evaluate(place: str) -> None:
    import argparse

    from tacit.cli import evaluate

    given = {"episodes": 20, "candidate": None, "show": False, "seconds": 60.0}
    evaluate.run_evaluate(argparse.Namespace(runs=place, game=[], json=True, **given))
