"""Which states are one: clocks, depths, horizons, keys, and refusals where a key says too little."""

from __future__ import annotations

import numpy as np
import pytest
from spiel import pyspiel

import tacit
from tacit.games.openspiel import from_openspiel


def test_a_clock_that_pays_separates_depths():
    """After its last move oshi_zumo pays by the wrestler's place; with a horizon before it, nothing is separated."""
    whole = from_openspiel("oshi_zumo(coins=3,size=1,horizon=4)")
    assert any("number of moves" in note for note in whole.notes)
    assert "3: Coins: 3 3, Field: #.W.#" in whole.state_names
    cut = from_openspiel("oshi_zumo(coins=3,size=1,horizon=4)", horizon=3)
    assert "Coins: 3 3, Field: #.W.#" in cut.state_names
    assert not any("number of moves" in note for note in cut.notes)


def test_a_clock_that_only_ends_the_game_does_not():
    game = from_openspiel("cliff_walking(horizon=30)")
    assert game.horizon == 30
    assert game.states == 3 * 8 + 1 + 1  # three free rows, the start, and over


def test_a_horizon_beyond_the_clock_stops_with_it():
    """The game lasts three moves; longer play adds nothing."""
    text = "cliff_walking(height=2,width=4,horizon=3)"
    policies = [tacit.MarkovPolicy.uniform(from_openspiel(text, horizon=h)) for h in (3, 6)]
    short, long = (tacit.evaluate(from_openspiel(text, horizon=h), p) for h, p in zip((3, 6), policies, strict=True))
    assert long.values == pytest.approx(short.values, abs=1e-12)


@pytest.mark.parametrize("moves", [1, 2, 5])
def test_a_horizon_cuts(moves: int):
    """The first moves of a longer game are those of a game that lasts as long."""
    cut = from_openspiel("cliff_walking(horizon=40)", horizon=moves)
    short = from_openspiel(f"cliff_walking(horizon={moves})")
    uniform = [tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).values for game in (cut, short)]
    assert cut.horizon == moves
    assert uniform[0] == pytest.approx(uniform[1], abs=1e-12)


def test_who_is_to_move_is_part_of_a_state():
    """The text of breakthrough is the board alone, and captures let either side be to move on the same board."""
    game = from_openspiel("breakthrough(rows=4,columns=2)")
    assert any(name.endswith("(2)") for name in game.state_names)


def test_a_key_of_ones_own():
    """Points that were won in another order leave the same hands and the same game."""
    text = "goofspiel(num_cards=4,points_order=random,returns_type=point_difference)"
    by_text = from_openspiel(text)
    by_cards = from_openspiel(text, key=cards)
    assert by_cards.states < 0.6 * by_text.states
    uniform = [tacit.evaluate(game, tacit.MarkovPolicy.uniform(game), gap="nash") for game in (by_text, by_cards)]
    assert uniform[0].gaps == pytest.approx(uniform[1].gaps, abs=1e-12)


def cards(state: object) -> tuple[object, ...]:
    """Hands, the cards dealt, the last of them, and the lead: all that matters for what follows."""
    *hands, dealt, points = [line.split(": ")[1].split() for line in str(state).strip().split("\n")]
    lead = int(points[0]) - int(points[1])
    return (str(hands), *sorted(dealt), dealt[-1], lead)


def test_a_key_that_says_too_little():
    with pytest.raises(tacit.TacitError, match=r"different states with the same key, 0; pass key="):
        from_openspiel("catch(rows=4,columns=3)", key=lambda state: 0)


def test_positions_that_must_not_come_back():
    """Go forbids to repeat a position, and its text does not tell the earlier ones."""
    with pytest.raises(tacit.TacitError, match=r"go\(board_size=2\) has different states with the same key"):
        from_openspiel("go(board_size=2)", horizon=4)


def test_actions_that_are_not_legal():
    game = from_openspiel("nim(pile_sizes=1;2)")
    names = game.action_names[0]
    s = game.state_names.index("(1): 0 2")  # the second player moves; only pile 2 is left
    legal = [names.index(name) for name in names if name.startswith("pile:2")]
    dense = game.transitions[0, s]
    first = dense[0, legal[0]]
    for a in range(len(names)):
        if a not in legal:
            np.testing.assert_array_equal(dense[:, a], np.tile(first, (len(names), 1)))
    np.testing.assert_array_equal(dense, np.tile(dense[:1], (len(names), 1, 1)))  # the first player has no influence
    assert any("not legal" in note for note in game.notes)


def test_robots_that_changed_places():
    """A board of coop_box_pushing shows two robots alike; the state tells them apart."""
    from tacit.games.openspiel import _box_board

    left, right, forward, stay = range(4)
    one = [right, forward, left, *[forward] * 5, left, forward, left]
    two = [stay, stay, stay, *[forward] * 5, left, left, stay]
    game = pyspiel.load_game("coop_box_pushing(fully_observable=true)")
    start, board = game.new_initial_state(), _box_board(game)
    end = start.clone()
    for joint in zip(one, two, strict=True):
        end.apply_actions(list(joint))
        for outcome in (0, 0, 2):  # both succeed, the first robot goes first
            end.apply_action(outcome)
    assert str(start).split("\n")[3:] == str(end).split("\n")[3:]
    assert board(start) != board(end)
    assert board(start).endswith("first robot at (6, 1)")
    assert board(end).endswith("first robot at (6, 6)")
