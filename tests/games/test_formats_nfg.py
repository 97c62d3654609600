"""Strategic games as .nfg: both forms, what is wrong with a file, Gambit and OpenSpiel read and write the same."""

from __future__ import annotations

import itertools
import tracemalloc
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from format_samples import NAMED_PAYOFF_FORM, OUTCOME_FORM, PAYOFF_FORM, wide_game, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.core import memory
from tacit.games import formats
from tacit.games.formats import nearest
from tacit.games.tabular import TabularGame

# Strategic games in both forms of the .nfg format, and what is wrong with a file.


def load(folder: Path, text: str | bytes) -> TabularGame:
    return formats.load_nfg(write(folder, text, "game.nfg"))


def test_payoff_form(tmp_path: Path):
    game = load(tmp_path, PAYOFF_FORM)
    assert (game.name, game.actions, game.horizon) == ("A game", (2, 3), 1)
    assert game.rewards[0, 0, 0].tolist() == [[1, 0.75, 5.5], [2, 4, 0.6]]  # the first player's strategies run fastest
    assert np.array_equal(game.rewards[1], -game.rewards[0])
    assert game.action_names is None


def test_names_comment_and_numbers(tmp_path: Path):
    game = load(tmp_path, NAMED_PAYOFF_FORM)
    assert game.name == 'with "quotes"'
    assert game.action_names == (("up", "down"), ("l", "r"), ("only",))
    assert game.rewards[:, 0, 0, 1, 0, 0].tolist() == [4, 5, 6]
    assert game.rewards[:, 0, 0, 0, 1, 0].tolist() == [7, 8, 9]
    assert game.rewards[:, 0, 0, 1, 1, 0].tolist() == [-1 / 3, 0.5, 1]


def test_outcome_form(tmp_path: Path):
    game = load(tmp_path, OUTCOME_FORM)
    assert game.rewards[0, 0, 0].tolist() == [[3, 0], [5, 0]]  # the last profile has no outcome
    assert game.rewards[1, 0, 0].tolist() == [[3, 5], [0, 0]]
    assert game.action_names == (("C", "D"), ("C", "D"))


def test_outcomes_with_numbers_of_strategies(tmp_path: Path):
    text = OUTCOME_FORM.replace('{ { "C" "D" } { "C" "D" } }', "{ 2 2 }")
    assert load(tmp_path, text).rewards[0, 0, 0].tolist() == [[3, 0], [5, 0]]


@pytest.mark.parametrize("names", ['{ "x" "x" }', '{ "" "y" }'])
def test_names_that_repeat_are_given_up(tmp_path: Path, names: str):
    assert load(tmp_path, NAMED_PAYOFF_FORM.replace('{ "l" "r" }', names)).action_names is None


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(" ", "\t\n"),
        lambda text: text.replace(",", ""),
        lambda text: text.replace("{", "{ ").replace("}", "\n}"),
        lambda text: text.rstrip(),
        lambda text: text.replace(" }", "}").replace("{ ", "{"),
    ],
    ids=["crlf", "white-space", "no-commas", "loose-braces", "no-last-newline", "tight-braces"],
)
@pytest.mark.parametrize("text", [PAYOFF_FORM, OUTCOME_FORM], ids=["payoffs", "outcomes"])
def test_layout_changes_nothing(tmp_path: Path, text: str, change):
    assert np.array_equal(load(tmp_path, change(text)).rewards, load(tmp_path, text).rewards)


def test_horizon(tmp_path: Path):
    path = write(tmp_path, PAYOFF_FORM, "game.nfg")
    assert formats.load_nfg(path, horizon=5).horizon == 5
    with pytest.raises(tacit.TacitError, match="horizon must be"):
        formats.load_nfg(path, horizon=0)


@given(numerator=st.integers(-(10**40), 10**40), denominator=st.integers(1, 10**40))
def test_fractions_are_rounded_once(numerator: int, denominator: int):
    assert nearest(f"{numerator}/{denominator}") == float(Fraction(numerator, denominator))


@given(value=st.decimals(allow_nan=False, allow_infinity=False, places=30))
def test_decimals_are_rounded_once(value):
    assert nearest(str(value)) == float(Fraction(str(value)))


CASES = [
    ("EFG 2 R", 1, "there is 'EFG' where NFG must be"),
    (PAYOFF_FORM.replace("NFG 1", "NFG 2"), 1, "there is '2' where 1 must be"),
    (PAYOFF_FORM.replace("1 R", "1 X"), 1, "there is 'X' where R or D must be"),
    (PAYOFF_FORM.replace('"A game"', "A game"), 1, "where the title in quotes must be"),
    (PAYOFF_FORM.replace('game"', "game"), 1, "where"),
    (PAYOFF_FORM.replace('"Row" "Column"', ""), 1, "there are no players"),
    (PAYOFF_FORM.replace('"Row"', "Row"), 1, "a player's name in quotes"),
    (PAYOFF_FORM.replace("{ 2 3 }", "{ 2 }"), 1, "a number of strategies"),
    (PAYOFF_FORM.replace("{ 2 3 }", "{ 2 3 4 }"), 1, "there is '4' where } must be"),
    (PAYOFF_FORM.replace("{ 2 3 }", "{ 0 3 }"), 1, "there is '0' where a number of strategies from 1"),
    (PAYOFF_FORM.replace("{ 2 3 }", "{ 2 -3 }"), 1, "there is '-3'"),
    (PAYOFF_FORM.replace("{ 2 3 }", "{ 2 3.0 }"), 1, "there is '3.0'"),
    (PAYOFF_FORM.replace("{ 2 3 }", "{ 200000 300000 }"), 3, "too short for a table of 120000000000 numbers"),
    (PAYOFF_FORM.replace("{ 2 3 }", "{ 2 4 }"), 4, "the file ends where payoff 13 of 16"),
    (PAYOFF_FORM.replace("{ 2 3 }", "{ 2 2 }"), 4, "there is '5.5' where the end of the file must be"),
    (PAYOFF_FORM.replace("5.5", "x"), 4, "there is 'x' where payoff 9 of 12, a finite number"),
    (PAYOFF_FORM.replace("3/4", "3/0"), 3, "there is '3/0'"),
    (PAYOFF_FORM.replace("3/4", "3/4/5"), 3, "there is '3/4/5'"),
    (PAYOFF_FORM.replace("3/4", "1.5/2"), 3, "there is '1.5/2'"),
    (PAYOFF_FORM.replace("6e-1", "1e999999999"), 4, "there is '1e999999999'"),
    (PAYOFF_FORM.replace("6e-1", "nan"), 4, "there is 'nan'"),
    (PAYOFF_FORM.replace("6e-1", "inf"), 4, "there is 'inf'"),
    (PAYOFF_FORM.replace("6e-1", "1_0"), 4, "there is '1_0'"),
    (PAYOFF_FORM.replace("6e-1", "9" * 6000 + "/7"), 4, "where payoff 11 of 12"),
    (PAYOFF_FORM.replace("6e-1", "9" * 4000 + "/7"), 4, "where payoff 11 of 12"),
    (PAYOFF_FORM.rstrip().removesuffix("-6e-1"), 4, "the file ends where payoff 12 of 12"),
    (OUTCOME_FORM.replace("1 2 3 0", "1 2 4 0"), 10, "there is '4' where the number of an outcome from 0 to 3"),
    (OUTCOME_FORM.replace("1 2 3 0", "1 2 3"), 10, "the file ends"),
    (OUTCOME_FORM.replace("3, 3", "3"), 6, "there is '}' where a payoff"),
    (OUTCOME_FORM.replace("3, 3", "3, 3, 3"), 6, "there is '3' where } must be"),
    (OUTCOME_FORM.replace('{ "C" "D" } {', "{ } {"), 2, "a strategy's name in quotes"),
    (OUTCOME_FORM.replace('{ { "C" "D" } {', '{ { "C" "D" '), 2, "there is '}' where { must be"),
    (b'NFG 1 R "\xff"', 1, "byte 0xff is not UTF-8"),
    (f'NFG 1 R "many" {{ {chr(34) * 2 + " "} }} {{ 2 }}'.replace('"" ', '"" ' * 61), 1, "61 agents are too many"),
]


@pytest.mark.parametrize(
    ("text", "line", "told"), CASES, ids=[f"{told[:30]}-{k}" for k, (*_, told) in enumerate(CASES)]
)
def test_told_with_file_and_line(tmp_path: Path, text: str | bytes, line: int, told: str):
    path = write(tmp_path, text, "wrong.nfg")
    with pytest.raises(tacit.TacitError) as caught:
        formats.load_nfg(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert told in message
    assert "\n" not in message


def test_no_text_file(tmp_path: Path):
    with pytest.raises(tacit.TacitError, match="no file"):
        formats.load_nfg(tmp_path / "none.nfg")
    with pytest.raises(tacit.TacitError, match="is a directory"):
        formats.load_nfg(tmp_path)
    with pytest.raises(tacit.TacitError, match="is empty"):
        load(tmp_path, "")


def test_what_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(tmp_path, PAYOFF_FORM.replace("{ 2 3 }", "{ 20 30 }") + "1 " * 1200, "large.nfg")
    monkeypatch.setattr(memory, "available", lambda: 20_000)
    with pytest.raises(tacit.TacitError, match=r"large\.nfg:3: a table of 1200 numbers would take"):
        formats.load_nfg(path)


def test_payoffs_beyond_a_game(tmp_path: Path):
    with pytest.raises(tacit.TacitError, match=r"game\.nfg: rewards must stay"):
        load(tmp_path, PAYOFF_FORM.replace("5.5", "1e200"))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32),
    actions=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    name=st.none() | st.text(max_size=8),
)
def test_round_trip(tmp_path: Path, seed: int, actions: list[int], name: str | None):
    rng = np.random.default_rng(seed)
    shape = (len(actions), *actions)
    payoffs = rng.normal(size=shape) * 10.0 ** rng.integers(-100, 100, size=shape)
    payoffs[rng.random(shape) < 0.2] = -0.0
    formats.save_nfg(tacit.games.matrix_game(payoffs, name=name), tmp_path / "game.nfg")
    assert np.array_equal(formats.load_nfg(tmp_path / "game.nfg").rewards[:, 0, 0], payoffs)


def test_what_cannot_be_written(tmp_path: Path):
    with pytest.raises(tacit.TacitError, match="more than one state"):
        formats.save_nfg(tacit.make("good-state"), tmp_path / "game.nfg")
    steps = np.zeros((1, 2, 1, 2))
    steps[0, 1] = 1
    with pytest.raises(tacit.TacitError, match="changes with the step"):
        formats.save_nfg(TabularGame(np.ones((1, 1, 2, 1)), steps, [1], 2), tmp_path / "game.nfg")
    assert not list(tmp_path.iterdir())


def test_a_long_title_takes_little_memory(tmp_path: Path):
    place = tmp_path / "long.nfg"
    place.write_text(f'NFG 1 R "{"x" * 10**6}" {{ "a" "b" }} {{ 1 1 }} 1 2')
    tracemalloc.start()
    try:
        tacit.load(place)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30 * 10**6


# Strategic games to Gambit's own reader of .nfg, and back from its writer.


@pytest.fixture(scope="module")
def pygambit():
    """Gambit takes minutes to compile, so that it is no dependency: `pip install pygambit` where this is to run."""
    return pytest.importorskip("pygambit")


def gambit_payoffs(game: object) -> np.ndarray:
    """Look up every profile."""
    actions = [len(player.strategies) for player in game.players]
    found = np.zeros((len(actions), *actions))
    for profile in itertools.product(*(range(a) for a in actions)):
        outcome = game[profile]
        if outcome is not None:  # where there is none, nothing is paid
            found[(slice(None), *profile)] = [float(outcome[player]) for player in game.players]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("actions", [(3,), (2, 2), (3, 2), (2, 3, 4), (2, 2, 2, 2)])
@pytest.mark.parametrize("name", [None, 'with "quotes" and \\'])
def test_to_gambit_and_back(tmp_path: Path, actions: tuple[int, ...], name: str | None, pygambit):
    game = wide_game(actions, name)
    path = tmp_path / "game.nfg"
    formats.save_nfg(game, path)
    theirs = pygambit.read_nfg(path)
    assert np.array_equal(gambit_payoffs(theirs), game.rewards[:, 0, 0])
    back = formats.load_nfg(write(tmp_path, theirs.to_nfg(), "theirs.nfg"))  # the outcome form
    assert np.array_equal(back.rewards, game.rewards)


@pytest.mark.slow
@pytest.mark.parametrize("text", [PAYOFF_FORM, NAMED_PAYOFF_FORM.replace("+1", "1").replace(",", ""), OUTCOME_FORM])
def test_gambit_reads_the_same(tmp_path: Path, text: str, pygambit):
    path = write(tmp_path, text, "game.nfg")
    theirs, ours = pygambit.read_nfg(path), formats.load_nfg(path)
    assert np.array_equal(gambit_payoffs(theirs), ours.rewards[:, 0, 0])
    if ours.action_names is not None:
        assert ours.action_names == tuple(tuple(s.label for s in player.strategies) for player in theirs.players)


@pytest.mark.slow
def test_gambit_finds_equilibria_without_gap(tmp_path: Path, pygambit):
    """Gambit's equilibria of a game of ours have no gap."""
    game = tacit.make("chicken")
    formats.save_nfg(game, tmp_path / "game.nfg")
    for profile in pygambit.nash.enummixed_solve(pygambit.read_nfg(tmp_path / "game.nfg"), rational=False).equilibria:
        probs = [np.array([[[float(p) for _, p in own]]]) for _, own in profile.mixed_strategies()]
        policy = tacit.MarkovPolicy(probs)
        assert tacit.evaluate(game, policy, gap="nash").gap == pytest.approx(0, abs=1e-12)


# Strategic games to OpenSpiel's own reader of .nfg, and back from its writer.


@pytest.fixture(scope="module")
def pyspiel():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pyspiel", reason="OpenSpiel has no wheel for this Python")


def openspiel_payoffs(game: object, actions: tuple[int, ...]) -> np.ndarray:
    """Play every profile once."""
    found = np.zeros((len(actions), *actions))
    for profile in itertools.product(*(range(a) for a in actions)):
        state = game.new_initial_state()
        state.apply_actions(list(profile))
        found[(slice(None), *profile)] = state.returns()
    return found


@pytest.mark.parametrize("actions", [(2, 2), (3, 2), (1, 4), (2, 3, 4), (2, 2, 2, 2)])
@pytest.mark.parametrize("name", [None, "a name", 'with "quotes" and \\'])
def test_to_openspiel_and_back(tmp_path: Path, actions: tuple[int, ...], name: str | None, pyspiel):
    game = wide_game(actions, name)
    path = tmp_path / "game.nfg"
    formats.save_nfg(game, path)
    theirs = pyspiel.load_game("nfg_game", {"filename": str(path)})
    assert np.array_equal(openspiel_payoffs(theirs, actions), game.rewards[:, 0, 0])
    back = formats.load_nfg(write(tmp_path, pyspiel.game_to_nfg_string(theirs), "theirs.nfg"))
    assert back.rewards == pytest.approx(game.rewards, rel=1e-5)  # it writes six digits


@pytest.mark.parametrize("name", ["matrix_pd", "matrix_rps", "matrix_shapleys_game"])
def test_games_of_openspiel(tmp_path: Path, name: str, pyspiel):
    theirs = pyspiel.load_matrix_game(name)
    ours = formats.load_nfg(write(tmp_path, pyspiel.game_to_nfg_string(theirs), "theirs.nfg"))
    assert np.array_equal(ours.rewards[:, 0, 0], openspiel_payoffs(theirs, ours.actions))


def test_openspiel_reads_the_same(tmp_path: Path, pyspiel):
    path = write(tmp_path, PAYOFF_FORM, "game.nfg")
    theirs = pyspiel.load_game("nfg_game", {"filename": str(path)})
    assert np.array_equal(formats.load_nfg(path).rewards[:, 0, 0], openspiel_payoffs(theirs, (2, 3)))
