"""Exact values in the table of markov_soccer against episodes played in OpenSpiel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from spiel import pyspiel, state_name

import tacit
from tacit.games.openspiel import from_openspiel

EPISODES, HORIZON = 4000, 20
FALSE_ALARM = 1e-6


def test_played_returns():
    """Returns lie in [−1, 1]; the bound is Hoeffding's, so a right table fails at one seed in a million."""
    table = from_openspiel("markov_soccer", horizon=HORIZON)
    policy = attack(table)
    exact = tacit.evaluate(table, policy).values
    source, rng = pyspiel.load_game("markov_soccer"), np.random.default_rng(0)
    index = {name: s for s, name in enumerate(table.state_names)}
    played = [episode(source, policy, index, rng) for _ in range(EPISODES)]
    within = math.sqrt(2 * math.log(2 / FALSE_ALARM) / EPISODES)
    assert exact[0] > 3 * within  # the test could tell a wrong sign, or a table that never pays
    assert abs(np.mean(played) - exact[0]) < within


def attack(table: tacit.TabularGame) -> tacit.MarkovPolicy:
    """The first agent, whose goal is in the east, mostly goes east; the second plays evenly."""
    east = table.action_names[0].index("right")
    eager = np.full((1, table.states, 5), 0.1)
    eager[..., east] = 0.6
    return tacit.MarkovPolicy([eager, np.full((1, table.states, 5), 0.2)])


def episode(source: Any, policy: tacit.MarkovPolicy, index: dict[str, int], rng: np.random.Generator) -> float:
    state, moves = source.new_initial_state(), 0
    while not state.is_terminal() and (state.is_chance_node() or moves < HORIZON):
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=chances)))
        else:
            s = index[state_name(state)]
            state.apply_actions([int(rng.choice(5, p=own[s])) for own in policy.at(moves)])
            moves += 1
    return float(state.returns()[0])
