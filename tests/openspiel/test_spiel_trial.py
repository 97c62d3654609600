"""Games whose making does not end, takes all memory or ends the process are tried where they can be stopped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from spiel import pyspiel

import tacit
from tacit.games import openspiel
from tacit.games.openspiel import from_openspiel

REFUSED = {
    "blotto(coins=100,fields=6)": "OpenSpiel takes more than",
    "repeated_game(stage_game=blotto(coins=100,fields=6),num_repetitions=3)": "OpenSpiel takes more than",
    "goofspiel(num_cards=1000000000)": "has up to 1,000,000,000 actions",
    "nim(pile_sizes=1000000000;1000000000)": "has up to 2,000,000,001 actions",
    "connect_four(rows=100000,columns=100000)": "OpenSpiel takes more than",
    "cliff_walking(height=1000000,width=1000000)": "is negative or far too large",
    "go(board_size=1000)": "OpenSpiel cannot play 'go(board_size=1000)': The current Go",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_does_not_end_is_refused(text: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    monkeypatch.setattr(openspiel, "CPU", 1)
    monkeypatch.setattr(openspiel, "MEMORY", 500_000_000)

    def never(*_: Any) -> None:
        raise AssertionError("it was made here")

    monkeypatch.setattr(pyspiel, "load_game", never)
    with pytest.raises(tacit.TacitError) as error:
        from_openspiel(text)
    assert REFUSED[text] in str(error.value)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""  # the sentence is all that is said


def test_games_that_end_are_made_as_before():
    assert from_openspiel("blotto(coins=4,fields=3)").actions == (15, 15)


def test_a_process_that_cannot_be_had_is_done_without(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(openspiel.sys, "executable", "/no/such/python")
    assert from_openspiel("blotto(coins=4,fields=3)").actions == (15, 15)


@pytest.mark.skipif(os.name != "posix", reason="pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "game.nfg")
    with pytest.raises(tacit.TacitError, match=r"game\.nfg is a pipe"):
        from_openspiel(f"nfg_game(filename={tmp_path / 'game.nfg'})")
