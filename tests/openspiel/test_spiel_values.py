"""Values and gaps of policies in the table against those in OpenSpiel's whole tree of the game.

Values are OpenSpiel's expected scores. Best responses are OpenSpiel's where the game has information states, and
those of tests/openspiel/tree.py for all.
"""

from __future__ import annotations

import numpy as np
import pytest
from spiel import Played, exploitability, state_name
from tree import best_value

import tacit

TURNS = [
    "nim(pile_sizes=1;2;2)",
    "breakthrough(rows=3,columns=2)",
    "connect_four(rows=3,columns=3,x_in_row=3)",
    "dots_and_boxes(num_rows=1,num_cols=1)",
    "misere(game=nim(pile_sizes=1;3))",
    "start_at(game=tic_tac_toe(),history=4;0;2;6)",
    "pig(winscore=4,horizon=5,diceoutcomes=3)",
    "pig(players=3,winscore=3,horizon=4,diceoutcomes=3)",
    "catch(rows=4,columns=3)",
    "cliff_walking(height=2,width=3,horizon=5)",
]
TOGETHER = [
    "goofspiel(num_cards=3,points_order=descending)",
    "goofspiel(num_cards=3)",
    "goofspiel(num_cards=3,points_order=ascending,returns_type=total_points)",
    "goofspiel(num_cards=3,players=3,points_order=descending)",
    "oshi_zumo(coins=3,size=1,horizon=3)",
    "markov_soccer(grid=.AO\n.B.,horizon=2)",
    "laser_tag(grid=S.\n.S,horizon=1)",
    "pathfinding(grid=A.b\na.B,players=2,horizon=2)",
    "repeated_game(stage_game=matrix_pd(),num_repetitions=3)",
    "repeated_game(stage_game=matching_pennies_3p(),num_repetitions=2)",
]


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("text", TURNS + TOGETHER)
def test_values_and_gaps(text: str, seed: int | None):
    played = Played(text, seed=seed)
    ours = tacit.evaluate(played.table, played.policy, gap="nash")
    values = played.value()
    assert ours.values == pytest.approx(values, abs=1e-9)
    best = [best_value(played, i) for i in range(played.table.agents)]
    assert ours.gaps == pytest.approx(np.array(best) - values, abs=1e-9)
    if played.source.get_type().provides_information_state_string:
        theirs = exploitability.nash_conv(played.turns, played, return_only_nash_conv=False)
        assert ours.gaps == pytest.approx(theirs.player_improvements, abs=1e-9)


@pytest.mark.parametrize("seed", [None, 1])
def test_box_pushing(seed: int | None):
    """The tree of two moves has 16,384 leaves; its states tell the rewards so far, those of the table do not."""
    played = BoxPushing("coop_box_pushing(fully_observable=true,horizon=2)", seed=seed)
    ours = tacit.evaluate(played.table, played.policy, gap="nash")
    best = [best_value(played, i) for i in (0, 1)]
    assert ours.values == pytest.approx(played.value(), abs=1e-9)
    assert ours.gaps == pytest.approx(np.array(best) - ours.values, abs=1e-9)


class BoxPushing(Played):
    """Robots cannot change sides within two moves, so the board tells the state."""

    def place(self, state: object, h: int) -> int:
        _, board = state_name(state).split("Total rewards: ")
        board = board.partition(" ")[2]
        (found,) = [s for name, s in self.index.items() if name.startswith(board)]
        return found
