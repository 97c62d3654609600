"""Best deviations by walking the whole tree of a game with perfect information; no two states are taken for one.

In the turn-based copy of a simultaneous game the later agents must not react to the earlier, so the tree is that of
the game itself.
"""

from __future__ import annotations

import itertools
from typing import Any

from spiel import Played


def best_value(played: Played, deviator: int) -> float:
    """The largest expected return of an agent when the others keep to their policies."""
    return _best(played, played.source.new_initial_state(), deviator, 0)


def _best(played: Played, state: Any, deviator: int, h: int) -> float:
    if state.is_terminal():
        return float(state.returns()[deviator])
    if state.is_chance_node():
        return sum(p * _best(played, state.child(outcome), deviator, h) for outcome, p in state.chance_outcomes())
    if not state.is_simultaneous_node():
        mover = state.current_player()
        ahead = {a: _best(played, state.child(a), deviator, h + 1) for a in state.legal_actions()}
        if mover == deviator:
            return max(ahead.values())
        return sum(p * ahead[a] for a, p in played.action_probabilities(state, mover).items())
    agents = range(state.num_players())
    mixed = [played.action_probabilities(state, i) for i in agents]
    worth = dict.fromkeys(mixed[deviator], 0.0)
    for joint in itertools.product(*mixed):
        chance = 1.0
        for i in agents:
            chance *= mixed[i][joint[i]] if i != deviator else 1.0
        after = state.clone()
        after.apply_actions(list(joint))
        worth[joint[deviator]] += chance * _best(played, after, deviator, h + 1)
    return max(worth.values())
