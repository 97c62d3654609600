"""Optima and minimax values of the table against OpenSpiel's value iteration and search."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable

import pytest
from spiel import pyspiel

import tacit
from tacit.evaluation import Solution, occupancy
from tacit.games.openspiel import from_openspiel

Values = Callable[..., dict[str, float]]


@pytest.fixture
def value_iteration(monkeypatch: pytest.MonkeyPatch) -> Values:
    """OpenSpiel's value iteration; its linear programs ask for another package and serve simultaneous games only."""
    solver = "open_spiel.python.algorithms.lp_solver"
    monkeypatch.setitem(sys.modules, solver, types.ModuleType(solver))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from open_spiel.python import algorithms

        monkeypatch.setattr(algorithms, "lp_solver", sys.modules[solver], raising=False)
        from open_spiel.python.algorithms.value_iteration import value_iteration
    return value_iteration


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("catch(rows=6,columns=4)", "optimum"),
        ("nim(pile_sizes=1;2;3)", "nash"),
        ("nim(pile_sizes=2;3,is_misere=false)", "nash"),
        ("start_at(game=tic_tac_toe(),history=4;0;1)", "nash"),
    ],
)
def test_every_state(text: str, concept: str, value_iteration: Values):
    """Every state is met at one depth only, so value iteration without steps finds the same numbers."""
    game = from_openspiel(text)
    check_values(game, tacit.solve(game, concept), value_iteration(pyspiel.load_game(text), -1, 1e-12))


@pytest.mark.slow
def test_tic_tac_toe_is_a_draw(value_iteration: Values):
    game = from_openspiel("tic_tac_toe")
    solution = tacit.solve(game, "nash")
    assert solution.values == pytest.approx([0.0, 0.0], abs=1e-9)
    assert tacit.evaluate(game, solution.policy, gap="nash").gaps == pytest.approx([0.0, 0.0], abs=1e-9)
    check_values(game, solution, value_iteration(pyspiel.load_game("tic_tac_toe"), -1, 1e-12))


def check_values(game: tacit.TabularGame, solution: Solution, theirs: dict[str, float]) -> None:
    names = {" ".join(key.split()): value for key, value in theirs.items()}
    for s, name in enumerate(game.state_names[:-1]):
        assert solution.V[0, depth(game, s), s] == pytest.approx(names[name], abs=1e-9), name


def depth(game: tacit.TabularGame, wanted: int) -> int:
    """The step at which a state is reached under the uniform policy."""
    reached = occupancy(game, tacit.MarkovPolicy.uniform(game))
    for h in range(game.horizon):
        if reached[h, wanted] > 0:
            return h
    raise AssertionError(f"{wanted} is never reached")


def test_cliff_walking_optimum():
    """On the board of 4×8 the shortest way is one up, seven to the right, one down."""
    state = pyspiel.load_game("cliff_walking").new_initial_state()
    for action in [1, *[0] * 7, 3]:
        state.apply_action(action)
    assert state.is_terminal()
    game = from_openspiel("cliff_walking")
    assert tacit.solve(game, "optimum").values == pytest.approx(state.returns())


def test_goofspiel_is_fair():
    """The rules are the same for both, so its value is 0; and a best response to the equilibrium gains nothing."""
    game = from_openspiel("goofspiel(num_cards=4,points_order=descending)")
    solution = tacit.solve(game, "nash")
    assert solution.values == pytest.approx([0.0, 0.0], abs=1e-9)
    assert tacit.evaluate(game, solution.policy, gap="nash").gaps == pytest.approx([0.0, 0.0], abs=1e-9)
