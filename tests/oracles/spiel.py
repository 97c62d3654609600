"""OpenSpiel, loaded quietly, and a policy of tacit played in it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.games.openspiel import from_openspiel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel has no wheel for this Python")
    from open_spiel.python import policy as spiel_policy
    from open_spiel.python.algorithms import expected_game_score, exploitability
    from open_spiel.python.egt import utils as egt

__all__ = ["Played", "egt", "exploitability", "pyspiel", "state_name"]


def state_name(state: Any) -> str:
    """The name that tacit gives a state; the turn-based copy of a simultaneous game puts a line before it."""
    text = str(state)
    return " ".join((text.partition("\n")[2] if text.startswith("Partial joint action") else text).split())


class Played(spiel_policy.Policy):
    """A product policy for the table of a game, played in OpenSpiel's game, made turn-based.

    An action that is not legal means the first legal one.
    """

    def __init__(self, text: str, *, seed: int | None) -> None:
        self.source = pyspiel.load_game(text)
        together = self.source.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        self.turns = pyspiel.convert_to_turn_based(self.source) if together else self.source
        super().__init__(self.turns, list(range(self.source.num_players())))
        self.moves_in_step = self.source.num_players() if together else 1
        self.table = from_openspiel(text)
        self.index = {name: s for s, name in enumerate(self.table.state_names or [])}
        self.actions = [{name: a for a, name in enumerate(own)} for own in self.table.action_names or []]
        uniform = tacit.MarkovPolicy.uniform(self.table)
        self.policy = uniform if seed is None else tacit.MarkovPolicy.random(self.table, seed=seed)

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        i = state.current_player() if player_id is None else player_id
        h = sum(action.player >= 0 for action in state.full_history()) // self.moves_in_step
        own = self.policy.at(h)[i][self.place(state, h)]
        chances = {a: own[self.actions[i][state.action_to_string(i, a)]] for a in state.legal_actions(i)}
        first = next(iter(chances))
        chances[first] += 1.0 - sum(chances.values())
        return chances

    def place(self, state: Any, h: int) -> int:
        if self.table.states == 1:
            return 0
        name = state_name(state)
        return self.index[name if name in self.index else f"{h}: {name}"]

    def value(self) -> np.ndarray:
        everyone = [self] * self.turns.num_players()
        return np.array(expected_game_score.policy_value(self.turns.new_initial_state(), everyone))
