"""Tables of OpenSpiel's games against OpenSpiel: payoffs, values, best responses, optima, episodes; bounds, errors."""

from __future__ import annotations

import math
import re
import sys
import tracemalloc
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from spiel import Played, egt, exploitability, pyspiel, state_name
from tree import best_value

import tacit
from tacit.evaluation import Solution, occupancy
from tacit.games import openspiel
from tacit.games.openspiel import PositionSearch, from_openspiel

# Payoffs of normal forms and repeated games against what OpenSpiel's own tables say.


ONE_SHOT = [
    kind.short_name
    for kind in pyspiel.registered_games()
    if kind.information == pyspiel.GameType.Information.ONE_SHOT and kind.default_loadable
]


@pytest.mark.parametrize("text", [*ONE_SHOT, "blotto(players=3,coins=4)", "blotto(coins=5,fields=2)"])
def test_payoffs(text: str):
    ours = from_openspiel(text)
    assert ours.horizon == ours.states == 1
    np.testing.assert_array_equal(ours.rewards[:, 0, 0], egt.game_payoffs_array(pyspiel.load_game(text)))


def test_three_players_from_a_tensor():
    payoffs = np.random.default_rng(3).normal(size=(3, 2, 3, 4))
    names = [[f"{i}:{a}" for a in range(size)] for i, size in enumerate((2, 3, 4))]
    source = pyspiel.create_tensor_game("short", "long", names, [payoff.ravel().tolist() for payoff in payoffs])
    ours = from_openspiel(source, horizon=5)
    np.testing.assert_array_equal(ours.rewards[:, 0, 0], payoffs)
    assert (ours.horizon, ours.action_names) == (5, tuple(tuple(own) for own in names))


@pytest.mark.parametrize(("horizon", "rounds"), [(None, 4), (2, 2), (9, 9)])
def test_repeated_games(horizon: int | None, rounds: int):
    payoffs = np.random.default_rng(4).normal(size=(2, 2, 3))
    stage = pyspiel.create_matrix_game(*payoffs.tolist())
    ours = from_openspiel(pyspiel.create_repeated_game(stage, {"num_repetitions": 4}), horizon=horizon)
    np.testing.assert_array_equal(ours.rewards[:, 0, 0], payoffs)
    assert (ours.horizon, ours.states) == (rounds, 1)


def test_equal_names_are_numbered():
    stage = pyspiel.create_matrix_game("m", "m", ["go", "go"], ["go"], [[1.0], [2.0]], [[0.0], [0.0]])
    assert from_openspiel(stage).action_names == (("go", "go (2)"), ("go",))


def test_poker_as_a_normal_form():
    """OpenSpiel turns Kuhn poker into 27×64 pure strategies; its value is known to be −1/18."""
    game = from_openspiel(pyspiel.extensive_to_matrix_game(pyspiel.load_game("kuhn_poker")))
    assert tacit.solve(game, "nash").values == pytest.approx([-1 / 18, 1 / 18], abs=1e-9)


def test_too_many_joint_actions():
    with pytest.raises(tacit.TacitError, match=r"blotto\(\) has 4,356 joint actions; give a larger limit than 4,000"):
        from_openspiel("blotto", limit=4000)


# Values and gaps of policies in the table against those in OpenSpiel's whole tree of the game.


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


# Optima and minimax values of the table against OpenSpiel's value iteration and search.


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


# Exact values in the table of markov_soccer against episodes played in OpenSpiel.


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


# Which states are one: clocks, depths, horizons, keys, and refusals where a key says too little.


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


# Games that are too large are refused after little work and with little memory. Work is counted, not timed.


#: Games, and how many outcomes may be followed before they are refused with a limit of 50,000.
LARGE = {
    "goofspiel": 400,
    "goofspiel(num_cards=6)": 3_000,
    "goofspiel(players=10,num_cards=10)": 20,
    "connect_four": 4_000,
    "chess": 200,
    "oshi_zumo(coins=10000)": 1,
    "pig(players=2,winscore=10)": 50_000,
    "laser_tag": 50_000,
    "2048": 50_000,
    "yacht": 50_000,
}


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[PositionSearch]:
    """Every search that is begun."""
    begun: list[PositionSearch] = []
    run = PositionSearch._run

    def noted(self: PositionSearch) -> None:
        begun.append(self)
        run(self)

    monkeypatch.setattr(PositionSearch, "_run", noted)
    return begun


@pytest.mark.parametrize("text", LARGE)
def test_refused_soon(text: str, searches: list[PositionSearch]):
    with pytest.raises(tacit.TacitError, match=r"up to move \d+.*horizon=.*limit="):
        from_openspiel(text, limit=50_000)
    assert searches[-1].outcomes <= LARGE[text]
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


def test_both_searches_share_the_work(searches: list[PositionSearch]):
    """The first finds that the moves before matter; what it followed counts for the second."""
    with pytest.raises(tacit.TacitError, match="up to move"):
        from_openspiel("2048", limit=60_000)
    first, second = searches
    assert (first.timed, second.timed) == (False, True)
    assert first.outcomes < second.outcomes <= 60_000


def test_waiting_states_count(searches: list[PositionSearch]):
    """States count from when they are met, long before most of them are looked at."""
    with pytest.raises(tacit.TacitError, match="has 296 states"):
        from_openspiel("goofspiel", limit=50_000)
    assert 296 * 169 > 50_000 >= 295 * 169
    assert len(searches[-1].moves) < 5


def test_a_search_ends_after_some_seconds(searches: list[PositionSearch]):
    with pytest.raises(tacit.TacitError, match="seconds="):
        from_openspiel("laser_tag", seconds=0.2)
    assert 0 < searches[-1].outcomes < 1_000_000


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("mnk(m=10000,n=10000)", "100,000,000 actions"),
        ("goofspiel(num_cards=1000000000)", "1,000,000,000 actions"),
        ("nim(pile_sizes=1000000000;1000000000)", "2,000,000,001 actions"),
        ("pig(diceoutcomes=100000000)", "100,000,000 outcomes of chance"),
        ("connect_four(rows=100000,columns=10000)", "1,000,000,000 moves"),
    ],
)
def test_sizes_are_refused_before_a_state_is_made(text: str, size: str):
    with pytest.raises(tacit.TacitError, match=f"has up to {size}"):
        from_openspiel(text)


def test_openspiel_runs_out_of_memory(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr(openspiel, "_tabulate", fail)
    with pytest.raises(tacit.TacitError, match=r"cannot play 'tic_tac_toe\(\)': std::bad_alloc"):
        from_openspiel(pyspiel.load_game("tic_tac_toe"))


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("cards", [-1, 0])
def test_sizes_with_which_openspiel_destroys_memory(cards: int, made: bool):
    """Its first state is not made: it writes before the beginning of an array."""
    text = f"goofspiel(num_cards={cards})"
    with pytest.raises(tacit.TacitError, match="one of its parameters is out of range"):
        from_openspiel(pyspiel.load_game(text) if made else text)


# What cannot be read is refused in one sentence that says what would work.


BAD = {
    "goofspil": "OpenSpiel has no game 'goofspil'; did you mean 'goofspiel'? pyspiel.registered_names() lists them",
    "": "OpenSpiel has no game ''; pyspiel.registered_names() lists them",
    "goofspiel(cards=3)": "OpenSpiel cannot play 'goofspiel(cards=3)': Unknown parameter",
    "goofspiel(num_cards=x)": "OpenSpiel cannot play 'goofspiel(num_cards=x)': Wrong type for parameter num_cards.",
    "goofspiel(num_cards=3": "OpenSpiel cannot play 'goofspiel(num_cards=3': Missing closing bracket",
    "kuhn_poker": "kuhn_poker() has imperfect information: its agents do not see the state; a game with perfect",
    "goofspiel(imp_info=true)": "goofspiel(imp_info=True) has imperfect information",
    "coop_box_pushing": "coop_box_pushing() has imperfect information: its agents do not see the state; a game",
    "stones_and_gems": "stones_and_gems() does not tell the probabilities of chance",
    "mfg_crowd_modelling": "mfg_crowd_modelling() is a mean-field game",
    "chess": "chess() has ",
    "markov_soccer": "markov_soccer() has 1,444 states up to move ",
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
        ({"horizon": 0}, "horizon must be"),
        ({"limit": 0.5}, "limit must be"),
        ({"key": "text"}, "key must be"),
        ({"limit": 100}, r"tic_tac_toe\(\) has .* up to move 2"),
    ],
)
def test_parameters(params: dict[str, object], message: str):
    with pytest.raises(tacit.TacitError, match=message):
        from_openspiel("tic_tac_toe", **params)


def test_neither_text_nor_game():
    with pytest.raises(tacit.TacitError, match=r"game must be a pyspiel.Game"):
        from_openspiel(3)


def test_turn_based_copies_hide_moves():
    copy = pyspiel.convert_to_turn_based(pyspiel.load_game("goofspiel(num_cards=3)"))
    with pytest.raises(tacit.TacitError, match="imperfect information"):
        from_openspiel(copy)


def test_not_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(tacit.TacitError, match=r"pyspiel is not installed; pip install 'tacit-marl\[openspiel\]'"):
        from_openspiel("tic_tac_toe")
