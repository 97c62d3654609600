"""Games that are too large are refused after little work and with little memory. Work is counted, not timed."""

from __future__ import annotations

import tracemalloc

import pytest
from spiel import pyspiel

import tacit
from tacit.core import memory
from tacit.games import openspiel
from tacit.games.openspiel import Search, from_openspiel

#: Games, and how many outcomes may be followed before they are refused with a limit of 50,000.
LARGE = {
    "goofspiel": 400,
    "goofspiel(num_cards=6)": 3_000,
    "goofspiel(players=10,num_cards=10)": 20,
    "connect_four": 4_000,
    "chess": 200,
    "oshi_zumo(coins=10000)": 1,
    "pig(players=2,winscore=10)": 36_000,
    "pig(diceoutcomes=100000000)": 1,
    "laser_tag": 50_000,
    "coop_box_pushing(fully_observable=true)": 50_000,
    "2048": 50_000,
    "yacht": 50_000,
}


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Search]:
    """Every search that is begun."""
    begun: list[Search] = []
    run = Search._run

    def noted(self: Search) -> None:
        begun.append(self)
        run(self)

    monkeypatch.setattr(Search, "_run", noted)
    return begun


@pytest.mark.parametrize("text", LARGE)
def test_refused_soon(text: str, searches: list[Search]):
    with pytest.raises(tacit.TacitError, match=r"up to move \d+.*; give (a smaller )?horizon=.* or a larger limit="):
        from_openspiel(text, limit=50_000)
    assert searches[-1].followed <= LARGE[text]
    assert len(searches[-1]._layer) <= 50_000


@pytest.mark.parametrize("text", ["goofspiel(num_cards=6)", "laser_tag", "yacht"])
def test_little_is_held(text: str):
    """Python's share: keys, hashes and stages; OpenSpiel's states are as many as wait."""
    tracemalloc.start()
    with pytest.raises(tacit.TacitError, match="larger limit"):
        from_openspiel(text, limit=30_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000 * 500


def test_both_searches_share_the_work(searches: list[Search]):
    """The first finds that the moves before matter; what it followed counts for the second."""
    with pytest.raises(tacit.TacitError, match=r"outcomes or more; give horizon=, e\.g\. horizon=10 \(what is still"):
        from_openspiel("2048", limit=60_000)
    first, second = searches
    assert (first.timed, second.timed) == (False, True)
    assert first.followed < second.followed <= 60_000


def test_waiting_states_count(searches: list[Search]):
    """States count from when they are met, long before most of them are looked at."""
    with pytest.raises(tacit.TacitError, match="has more than 50,000 pairs of a state and a joint action: 296 states"):
        from_openspiel("goofspiel", limit=50_000)
    assert 296 * 169 > 50_000 >= 295 * 169
    assert len(searches[-1].stages) < 5


def test_memory_is_looked_at(monkeypatch: pytest.MonkeyPatch, searches: list[Search]):
    monkeypatch.setattr(memory, "available", lambda: 10_000_000)
    with pytest.raises(tacit.TacitError, match=r"laser_tag\(\), with .* states up to move \d so far, would take"):
        from_openspiel("laser_tag")
    assert searches[-1].followed == openspiel.CHECK


def test_long_texts_count_for_more(searches: list[Search]):
    with pytest.raises(tacit.TacitError, match="outcomes or more"):
        from_openspiel("goofspiel(num_cards=2000)", limit=20_000)
    assert len(searches[-1]._ways) < 2000


def test_too_many_actions_to_list():
    with pytest.raises(tacit.TacitError, match=r"mnk\(m=10000,n=10000\) has up to 100,000,000 actions; give it param"):
        from_openspiel("mnk(m=10000,n=10000)")


def test_openspiel_runs_out_of_memory(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr(openspiel, "table", fail)
    with pytest.raises(tacit.TacitError, match=r"not enough memory for 'tic_tac_toe\(\)'; make it or"):
        from_openspiel(pyspiel.load_game("tic_tac_toe"))


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("cards", [-1, 0])
def test_sizes_with_which_openspiel_destroys_memory(cards: int, made: bool):
    """Its first state is not made: it writes before the beginning of an array."""
    text = f"goofspiel(num_cards={cards})"
    with pytest.raises(tacit.TacitError, match="one of its parameters is negative or far too large"):
        from_openspiel(pyspiel.load_game(text) if made else text)


def test_box_pushing_for_five_moves():
    assert from_openspiel("coop_box_pushing(fully_observable=true)", horizon=5).states == 1697
