"""`tacit prove`, `tacit verify` and `tacit run --prove`."""

import json
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main


def test_a_policy_is_proven_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    policy, proof = str(tmp_path / "ce.npz"), str(tmp_path / "proof.json.gz")
    tacit.solve(tacit.make("chicken"), "ce").policy.save(policy)
    assert main(["prove", "chicken", policy, "--gap", "ce", "-o", proof]) == 0
    assert main(["verify", proof]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("proven: ce gap ≤ ")
    assert lines[1].startswith("proven: ce gap at most ")
    assert main(["prove", "chicken", policy, "--gap", "nash", "-o", proof]) == 2


def test_a_run_is_proven(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    proof = tmp_path / "proof.json"
    line = ["run", "chicken", "npg", "--episodes", "50", "--json", "--prove", str(proof)]
    assert main(line) == 0
    found = json.loads(capsys.readouterr().out)
    bounds = [agent["bound"] for agent in json.loads(proof.read_text())["agents"]]
    assert max(bounds) == pytest.approx(found["gap"]["max"], abs=1e-9)
    assert main([*line, "--out", str(tmp_path / "runs")]) == 0
    assert main(["prove", "chicken", str(tmp_path / "runs"), "-o", str(tmp_path / "again.json")]) == 0
    assert main(["verify", str(tmp_path / "again.json")]) == 0
    assert main([*line, "--seeds", "2"]) == 2


def test_a_false_proof_and_another_file_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "proof.json"
    game = tacit.make("prisoners-dilemma")
    document = tacit.prove(game, tacit.MarkovPolicy.uniform(game)).document
    document["agents"][1]["high"][0][0] = 0.0
    file.write_text(json.dumps(document))
    assert main(["verify", str(file)]) == 1
    assert capsys.readouterr().out == "not proven: at step 0, state 0, high of agent 1 fails its inequality\n"
    file.write_text("[]")
    assert main(["verify", str(file)]) == 2
