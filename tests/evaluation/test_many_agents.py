"""Nash equilibria of many players by the logit path, and of large games by sweeps; both with exact gaps."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.core.types import FloatArray
from tacit.evaluation.bimatrix import extreme_equilibria, pure_equilibria
from tacit.evaluation.logit import equilibrium
from tacit.evaluation.solve import Sweeps

#: [Nau, Canovas, Hansen, "On the geometry of Nash equilibria and correlated equilibria", 2004, section 4], as
#: payoffs[i, row, column, matrix].
NAU = np.array(
    [
        [[[3, 1], [0, 0]], [[0, 0], [1, 2]]],
        [[[0, 0], [2, 1]], [[1, 3], [0, 0]]],
        [[[2, 0], [0, 0]], [[0, 0], [0, 3]]],
    ],
    dtype=float,
)


def without_pure(actions: tuple[int, ...], number: int) -> list[FloatArray]:
    """Random games without an equilibrium in pure actions."""
    rng = np.random.default_rng(0)
    games = (rng.random((len(actions), *actions)) for _ in itertools.count())
    return list(itertools.islice((game for game in games if not pure_equilibria(game)), number))


def once(payoffs: FloatArray) -> tacit.TabularGame:
    return tacit.TabularGame(np.ones((1, *payoffs.shape[1:], 1)), payoffs[:, None], 0, 1)


def mixed_by_hand(payoffs: FloatArray) -> list[FloatArray]:
    """All mixed equilibria (p, q, r) of a 2×2×2 game: who is indifferent gives two of them as a function of p.

    Player 1 is indifferent where c + c_q·q + c_r·r + c_qr·q·r = 0, and so on; q(p) and r(p) are fractions of linear
    functions, from players 3 and 2, and the first equation becomes a quadratic one in p.
    """

    def bilinear(difference: FloatArray) -> FloatArray:  # of the chances of the others' first actions
        (both, first), (second, none) = difference
        return np.array([[none, second - none], [first - none, both - first - second + none]])

    one, two, three = (bilinear(np.subtract(*np.moveaxis(payoffs[i], i, 0))) for i in range(3))
    r = [np.poly1d(-two[::-1, 0]), np.poly1d(two[::-1, 1])]  # numerator and denominator, in p
    q = [np.poly1d(-three[::-1, 0]), np.poly1d(three[::-1, 1])]
    total = q[1] * r[1] * one[0, 0] + q[0] * r[1] * one[1, 0] + q[1] * r[0] * one[0, 1] + q[0] * r[0] * one[1, 1]
    found = [np.array([p, q[0](p) / q[1](p), r[0](p) / r[1](p)]) for p in total.roots if np.isreal(p)]
    return [np.real(x) for x in found if ((x > 0) & (x < 1)).all()]


def test_the_irrational_equilibrium_of_nau():
    found = tacit.solve(once(NAU), "nash")
    assert found.gap < 1e-12
    played = [own[0, 0, 0] for own in found.policy.probs]
    (by_hand,) = mixed_by_hand(NAU)
    np.testing.assert_allclose(played, by_hand, atol=1e-9)
    np.testing.assert_allclose(played, [0.619233, 0.479804, 0.378825], atol=5e-7)
    np.testing.assert_allclose(found.values, [0.8433, 0.8538, 0.5942], atol=5e-5)


@pytest.mark.parametrize("actions", [(3, 2, 2), (3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2, 2)])
def test_games_without_pure_equilibria(actions: tuple[int, ...]):
    for payoffs in without_pure(actions, 20):
        found = tacit.solve(once(payoffs), "nash")
        assert "logit" in found.method
        assert tacit.evaluate(once(payoffs), found.policy).gap < 1e-10


def test_six_agents_of_five_actions():
    (payoffs,) = without_pure((5,) * 6, 1)
    assert tacit.evaluate(once(payoffs), tacit.solve(once(payoffs), "nash").policy).gap < 1e-10


def test_of_two_players_the_path_ends_in_one_of_all_equilibria():
    for payoffs in without_pure((4, 5), 20):
        x, y = equilibrium(payoffs).rows
        every = extreme_equilibria(payoffs)
        assert min(sum(np.abs(own - mine).max(axis=1) for own, mine in zip(every.rows, (x, y), strict=True))) < 1e-9


@pytest.mark.parametrize(
    "payoffs",
    [
        np.zeros((3, 2, 2, 2)),
        np.repeat(np.array([[[1.0, -1], [-1, 1]], [[-1, 1], [1, -1]]]), 2, axis=1),  # two rows are the same
        np.repeat(NAU, 2, axis=3),
        1e9 * NAU - 1e12,
    ],
)
def test_degenerate_payoffs_and_units(payoffs: FloatArray):
    assert equilibrium(payoffs).gap < 1e-6


def test_markov_games_of_three_agents():
    game = tacit.make("random-general-sum", agents=3, actions=(3, 2, 3), states=4, horizon=4, seed=1)
    found = tacit.solve(game, "nash")
    assert "stages without pure ones" in found.method
    assert found.gap == tacit.evaluate(game, found.policy).gap < 1e-9
    np.testing.assert_allclose(found.V[:, 0] @ game.initial, found.values, atol=1e-12)


def test_sweeps_find_the_value_of_a_zero_sum_game():
    base = tacit.make("random-general-sum", actions=(3, 3), states=3, horizon=3, seed=2)
    game = tacit.TabularGame(base.transitions, np.stack([base.rewards[0], -base.rewards[0]]), base.initial, 3)
    exact = tacit.solve(game, "nash")
    found = tacit.solve(game, "nash", method="learn", tolerance=1e-3)
    assert found.ended == "tolerance"
    assert exact.gap < 1e-12
    assert found.gap == tacit.evaluate(game, found.policy).gap <= 1e-3
    assert abs(found.values - exact.values).max() <= found.gap  # neither can get more than it is worth


@pytest.mark.parametrize("concept", ["cce", "ce"])
def test_joint_play_of_sweeps(concept: str):
    """With agents of different numbers of actions, and no equilibrium in pure actions."""
    game = tacit.make("random-general-sum", agents=3, actions=(3, 2, 4), states=2, horizon=2, seed=1)
    sweeps = Sweeps(game, concept)
    for _ in range(300):
        sweeps.advance()
    gaps = {name: tacit.evaluate(game, policy, gap=concept).gap for name, policy in sweeps.policies().items()}
    assert gaps["joint average"] < 0.01 * tacit.evaluation.uniform_gap(game)
    assert not sweeps.policies()["joint average"].product


def test_large_games_are_solved_by_sweeps():
    game = tacit.make("congestion", agents=30, horizon=2)
    found = tacit.solve(game, "cce")
    assert found.gap <= 1e-4 * tacit.evaluation.uniform_gap(game)
    with pytest.raises(tacit.TacitError, match="objective"):
        tacit.solve(game, "cce", objective="egalitarian")


def test_what_takes_too_long_is_approximated_and_the_choice_is_told():
    game, lines = tacit.make("random-general-sum", seed=3, horizon=5, states=5), []
    found = tacit.solve(game, "cce", seconds=1e-6, progress=lines.append)
    assert (found.ended, len(lines)) == ("seconds", 1)
    assert "by sweeps instead" in lines[0]
    assert "1 sweeps" in found.method
    with pytest.raises(tacit.TacitError, match="of 25 stage games are solved exactly"):
        tacit.solve(game, "cce", seconds=1e-6, method="exact")
    with pytest.raises(tacit.TacitError, match="optimum"):
        tacit.solve(game, seconds=1.0)


def test_ctrl_c_keeps_the_best(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    advance = Sweeps.advance

    def interrupted(sweeps: Sweeps) -> None:
        advance(sweeps)
        if sweeps.done == 40:
            raise KeyboardInterrupt

    monkeypatch.setattr(Sweeps, "advance", interrupted)
    assert main(["solve", "chicken", "cce", "--method", "learn", "--tolerance", "1e-30", "--json"]) == 130
    found = json.loads(capsys.readouterr().out)
    assert (found["ended"], found["gap"]["kind"]) == ("interrupted", "cce")
    assert "40 sweeps" in found["method"]


def test_equilibria_of_three_players_are_listed():
    rng = np.random.default_rng(1)
    for payoffs in (NAU, *rng.normal(size=(8, 3, 2, 2, 2))):
        found = tacit.equilibria(once(payoffs))
        assert len(found) % 2 == 1  # of almost all games [Wilson, 1971]
        assert found.gap < 1e-12
        assert (found.sure, found.infinite) == (False, False)
        first = [[own[0, 0, 0] for own in policy.probs] for policy in found.policies]
        for by_hand in mixed_by_hand(payoffs):
            assert np.abs(np.array(first) - by_hand).max(axis=1).min() < 1e-9
        pure = [own for own in np.ndindex(2, 2, 2) if (1.0 - np.array(own)).tolist() in first]
        assert pure == pure_equilibria(payoffs)


def test_solve_lists_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    agree = np.zeros((3, 1, 1, 2, 2, 2))
    agree[:, ..., 0, 0, 0], agree[:, ..., 1, 1, 1] = 2, 1
    tacit.TabularGame(np.ones((1, 1, 2, 2, 2, 1)), agree, 0, 1).save(tmp_path / "agree.npz")
    assert main(["solve", str(tmp_path / "agree.npz"), "nash"]) == 0
    told = capsys.readouterr().out
    assert "equilibria found; there may be others" in told
    assert "2: 1  0 gets  1 gets  2 gets" in told
