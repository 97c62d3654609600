"""All equilibria of bimatrix games, equilibria stage by stage, and objectives."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rational import rational_equilibria

import tacit
from tacit.cli.main import main
from tacit.evaluation.bimatrix import extreme_equilibria, pure_equilibria


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("chicken", 3), ("battle-of-the-sexes", 3), ("prisoners-dilemma", 1), ("stag-hunt", 3),
        ("matching-pennies", 1), ("rock-paper-scissors", 1), ("shapley", 1), ("climbing", 3),
    ],
)  # fmt: skip
def test_classics(name: str, count: int):
    found = tacit.equilibria(tacit.make(name))
    assert len(found) == count
    assert found.gap < 1e-9
    assert not found.infinite


def _check(payoffs: np.ndarray, written: type = float) -> bool:
    """Compare with the rational oracle, to the last bit; return whether the game is degenerate."""
    expected = rational_equilibria(*([[written(value) for value in row] for row in own] for own in payoffs.tolist()))
    found = extreme_equilibria(payoffs)
    pairs = list(zip(*(map(tuple, own.tolist()) for own in found.rows), strict=True))
    nearest = {(tuple(map(float, x)), tuple(map(float, y))) for x, y in expected.equilibria}
    assert (set(pairs), len(pairs)) == (nearest, len(expected.equilibria)), payoffs.tolist()
    assert len(set(found.component.tolist())) == expected.sets
    assert found.degenerate == expected.degenerate
    assert found.degenerate or len(pairs) % 2 == 1
    return found.degenerate


@pytest.mark.parametrize("games", [50, pytest.param(2000, marks=pytest.mark.slow)])
def test_games_of_small_integers(games: int):
    rng = np.random.default_rng(0)
    degenerate = sum(
        _check(rng.integers(0, rng.integers(2, 10), (2, *rng.integers(1, 5, 2))).astype(float)) for _ in range(games)
    )
    assert games / 3 < degenerate < games


@pytest.mark.parametrize("games", [15, pytest.param(500, marks=pytest.mark.slow)])
def test_payoffs_of_very_different_size(games: int):
    rng = np.random.default_rng(1)
    for _ in range(games):
        shape = (2, *rng.integers(2, 5, 2))
        _check(rng.integers(-3, 4, shape) * 10.0 ** rng.integers(0, 13, shape))
        _check(rng.integers(-3, 4, shape) / 10.0 ** rng.integers(0, 7, shape), written=str)
        _check(rng.normal(size=shape) * 2.0 ** rng.integers(-40, 40, shape))


def test_many_labels(monkeypatch: pytest.MonkeyPatch):
    """2×70 actions have more labels than a word has bits; NumPy 1 counts bits otherwise."""
    payoffs = np.random.default_rng(3).random((2, 2, 70))
    found = extreme_equilibria(payoffs)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    again = extreme_equilibria(payoffs)
    np.testing.assert_array_equal(found.rows[1], again.rows[1])
    for x, y in zip(*found.rows, strict=True):
        assert (payoffs[0] @ y).max() - x @ payoffs[0] @ y < 1e-12
        assert (x @ payoffs[1]).max() - x @ payoffs[1] @ y < 1e-12
    assert len(found.component) % 2 == 1


def test_a_vertex_that_rounding_hid():
    """Against row 2 both columns are equally good, and it stays best while column 0 has at least 2/3."""
    found = tacit.equilibria(tacit.matrix_game([[[1, 3], [1, 2], [2, 1]], [[1, 2], [3, 0], [1, 1]]]))
    sets = {tuple(p.probs[1][0, 0].tolist()) for p in found.policies if p.probs[0][0, 0, 2] == 1}
    assert sets == {(1.0, 0.0), (2 / 3, 1 / 3)}
    assert found.infinite
    assert "infinitely many equilibria, in 2 connected sets" in str(found)


def test_degenerate_though_dominated_actions_make_it_so():
    """Row 1 is never played, but against it both columns are equally good."""
    found = extreme_equilibria(np.array([[[2.0, 3], [0, 1]], [[1, 0], [1, 1]]]))
    assert (len(found.component), found.degenerate) == (1, True)


def test_seventy_five_equilibria():
    """More than 2⁶ − 1. [von Stengel, "New maximal numbers of equilibria in bimatrix games", 1999]"""
    A = np.array([
        [9504, -660, 19976, -20526, 1776, -8976], [-111771, 31680, -130944, 168124, -8514, 52764],
        [397584, -113850, 451176, -586476, 29216, -178761], [171204, -45936, 208626, -263076, 14124, -84436],
        [1303104, -453420, 1227336, -1718376, 72336, -461736], [737154, -227040, 774576, -1039236, 48081, -300036],
    ])  # fmt: skip
    mirror = [4, 5, 2, 3, 0, 1]
    found = tacit.equilibria(tacit.matrix_game([A, A[np.ix_(mirror, mirror)].T]))
    assert (len(found), found.degenerate) == (75, False)


def test_eight_extreme_equilibria():
    """A degenerate game of 3×5 actions. [Nashpy, issue 82]"""
    A = [[0, 0, 6, 0, 0], [0, 0, 3, 2, 1], [4, 3, 0, 0, 1]]
    B = [[3, 0, 2, 1, 0], [0, 2, 0, 0, 4], [4, 0, 2, 4, 4]]
    found = tacit.equilibria(tacit.matrix_game(-np.array([A, B])))
    assert (len(found), found.degenerate, found.infinite) == (8, True, True)


def test_rounding_of_what_follows_does_not_break_ties():
    """Row 0 brings 0.1 and 0.2 later, row 1 brings 0.3: equal, though not in floats; only row 1 helps the other."""
    rewards = np.zeros((2, 2, 2, 2, 1))  # [N, H, S, rows, columns]
    rewards[0, 0, 0, :, 0], rewards[0, 1, 1] = [0.1, 0.3], 0.2
    rewards[1, 0, 0, 1, 0] = 1.0
    transitions = np.zeros((2, 2, 2, 1, 2))
    transitions[:, :, 0, 0, 1] = transitions[:, :, 1, 0, 0] = 1.0
    game = tacit.TabularGame(transitions, rewards, np.array([1.0, 0.0]), 2)
    np.testing.assert_allclose(tacit.solve(game, "nash").values, [0.3, 1.0])


def test_a_degenerate_game_has_a_set_of_equilibria():
    """Row 0 is indifferent for the column player, who may mix as long as row 0 stays best: y_0 from 1/2 to 1."""
    game = tacit.matrix_game([[[1, 1], [0, 2]], [[1, 1], [0, 2]]])
    found = tacit.equilibria(game)
    assert found.infinite
    sets = {tuple(p.probs[1][0, 0].round(9)) for p, c in zip(found.policies, found.component, strict=True) if c == 0}
    assert sets == {(1.0, 0.0), (0.5, 0.5)}
    assert "infinitely many" in str(found.show())


def test_constant_payoffs():
    found = extreme_equilibria(np.zeros((2, 2, 3)))
    assert found.component.tolist() == [0] * 6  # every pair of pure actions is extreme, and connected with others


def test_pure_equilibria_of_three_players():
    payoffs = np.random.default_rng(0).random((3, 2, 3, 2))
    for joint in np.ndindex(2, 3, 2):
        stays = all(
            payoffs[(i, *joint)]
            >= max(payoffs[(i, *joint[:i], a, *joint[i + 1 :])] for a in range(payoffs.shape[1 + i]))
            for i in range(3)
        )
        assert stays == (joint in pure_equilibria(payoffs))


def test_markov_games_backwards():
    game = tacit.make("random-general-sum", seed=4, horizon=3, states=3)
    worth = {}
    for rule in ("welfare", "first", "agent:0"):
        found = tacit.solve(game, "nash", objective=rule)
        assert tacit.evaluate(game, found.policy).gap < 1e-9
        assert rule in found.method
        worth[rule] = found.values
    last = tacit.solve(tacit.make("chicken"), "nash", objective="agent:1")
    np.testing.assert_allclose(last.values, [2, 7], atol=1e-9)


@pytest.mark.parametrize("concept", ["cce", "ce"])
@pytest.mark.parametrize("seed", range(3))
def test_objectives(seed: int, concept: str):
    """Each objective's solution is an equilibrium, and none of the others is better by it."""
    game = tacit.make("random-general-sum", seed=seed, horizon=1, states=1, actions=[2, 3])
    solved = {o: tacit.solve(game, concept, objective=o) for o in ("welfare", "egalitarian", "agent:1")}
    for found in solved.values():
        assert tacit.evaluate(game, found.policy, gap=concept).gap < 1e-7
    values = {o: found.values for o, found in solved.items()}
    assert max(v.sum() for v in values.values()) == pytest.approx(values["welfare"].sum(), abs=1e-7)
    assert max(v.min() for v in values.values()) == pytest.approx(values["egalitarian"].min(), abs=1e-7)
    assert max(v[1] for v in values.values()) == pytest.approx(values["agent:1"][1], abs=1e-7)


def test_commands(capsys: pytest.CaptureFixture[str]):
    assert main(["solve", "chicken", "nash"]) == 0
    assert "3 equilibria, and no other" in capsys.readouterr().out
    assert main(["solve", "prisoners-dilemma", "nash", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equilibria"][0]["agents"] == [{"cooperate": 0, "defect": 1}] * 2
    assert main(["solve", "chicken", "ce", "--objective", "agent:9"]) == 2
    assert "agent from 0 to 1" in capsys.readouterr().err
    assert main(["solve", "chicken", "optimum", "--objective", "agent:0"]) == 2


@pytest.mark.parametrize("sucker", [-3.0, -1e3, -1e6, -1e8, -1e9, -1e12])
def test_a_dilemma_has_one_equilibrium_however_bad_the_worst_is(sucker: float):
    game = tacit.matrix_game([[[-1, sucker], [0, -2]], [[-1, 0], [sucker, -2]]])
    found = tacit.equilibria(game)
    assert (len(found), found.gap) == (1, 0.0)
    assert tacit.solve(game, "nash").values.tolist() == [-2, -2]
