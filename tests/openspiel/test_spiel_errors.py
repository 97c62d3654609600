"""What cannot be read is told in one sentence that says what would work."""

from __future__ import annotations

import re
import sys

import pytest
from spiel import pyspiel

import tacit
from tacit.games.openspiel import from_openspiel

BAD = {
    "goofspil": "OpenSpiel has no game 'goofspil'; did you mean 'goofspiel'? pyspiel.registered_names() lists them",
    "": "OpenSpiel has no game ''; pyspiel.registered_names() lists them",
    "goofspiel(cards=3)": "goofspiel has no parameter 'cards'; did you mean 'num_cards'? it takes: egocentric,",
    "goofspiel(num_cards=x)": "OpenSpiel cannot play 'goofspiel(num_cards=x)': Wrong type for parameter num_cards.",
    "goofspiel(num_cards=3": "OpenSpiel cannot play 'goofspiel(num_cards=3': Missing closing bracket",
    "kuhn_poker": "kuhn_poker() has imperfect information: its agents do not see the state; a game with perfect",
    "goofspiel(imp_info=true)": "goofspiel(imp_info=True) has imperfect information",
    "coop_box_pushing": "coop_box_pushing() has imperfect information: its agents do not see the state; fully",
    "stones_and_gems": "stones_and_gems() does not tell the probabilities of chance",
    "mfg_crowd_modelling": "mfg_crowd_modelling() is a mean-field game",
    "chess": "chess() has more than 1,200,000 pairs of a state and a joint action: ",
    "markov_soccer": "markov_soccer() has 1,444 states up to move 8, and to follow them through 1,000 moves takes ",
    "coop_box_pushing(fully_observable=true,horizon=0)": "has no state in which an agent moves",
}


@pytest.mark.parametrize(
    "text", [pytest.param(text, marks=pytest.mark.slow if text == "markov_soccer" else []) for text in BAD]
)
def test_games(text: str):
    with pytest.raises(tacit.TacitError, match=re.escape(BAD[text])) as caught:
        from_openspiel(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"horizon": 0}, "horizon is 0; it must be a whole number of at least 1"),
        ({"limit": 0.5}, "limit is 0.5; it must be a whole number of at least 1"),
        ({"key": "text"}, "key is 'text'; it must be a function of a pyspiel.State"),
        ({"limit": 100}, r"tic_tac_toe\(\) has more than 100 pairs of a state and a joint action: .* up to move 2"),
    ],
)
def test_parameters(params: dict[str, object], message: str):
    with pytest.raises(tacit.TacitError, match=message):
        from_openspiel("tic_tac_toe", **params)


def test_neither_text_nor_game():
    with pytest.raises(tacit.TacitError, match=r"game is 3; it must be a pyspiel.Game, or a string"):
        from_openspiel(3)


def test_turn_based_copies_hide_moves():
    copy = pyspiel.convert_to_turn_based(pyspiel.load_game("goofspiel(num_cards=3)"))
    with pytest.raises(tacit.TacitError, match="imperfect information"):
        from_openspiel(copy)


def test_not_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(tacit.TacitError, match=r"pyspiel is not installed; pip install 'tacit-marl\[openspiel\]'"):
        from_openspiel("tic_tac_toe")
