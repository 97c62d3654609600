"""Games whose equilibria are known from books."""

from __future__ import annotations

import numpy as np
import pytest

import tacit


def joint(table: list[list[float]]) -> tacit.MarkovPolicy:
    """The same correlated draw in the one state at every step."""
    return tacit.MarkovPolicy(np.array([[table]], dtype=float))


def mix(*own: list[float]) -> tacit.MarkovPolicy:
    return tacit.MarkovPolicy([[[p]] for p in own])


# Chicken, P(yield,yield) = a, (yield,dare) = b, (dare,yield) = c, (dare,dare) = d. A told agent obeys iff
# 2b ≥ a and 2c ≥ a (told to yield), c ≥ 2d and b ≥ 2d (told to dare): a polytope with these five vertices.
CHICKEN_VERTICES = [
    [[0, 1], [0, 0]],
    [[0, 0], [1, 0]],
    [[1 / 2, 1 / 4], [1 / 4, 0]],
    [[4 / 9, 2 / 9], [2 / 9, 1 / 9]],
    [[0, 2 / 5], [2 / 5, 1 / 5]],
]


@pytest.mark.parametrize("vertex", CHICKEN_VERTICES, ids=str)
def test_the_ce_gap_is_zero_at_every_vertex_of_the_chicken_polytope(vertex: list[list[float]]):
    assert tacit.evaluate(tacit.make("chicken"), joint(vertex), gap="ce").gap <= 1e-15


@pytest.mark.parametrize("vertex", CHICKEN_VERTICES, ids=str)
@pytest.mark.parametrize("other", range(4))
def test_the_ce_gap_is_positive_beyond_a_vertex(vertex: list[list[float]], other: int):
    """A tenth of the way towards each pure joint action: the gap is zero iff the four inequalities still hold."""
    pure = np.eye(4)[other].reshape(2, 2)
    point = 0.9 * np.array(vertex) + 0.1 * pure
    (a, b), (c, d) = point
    inside = 2 * b >= a - 1e-12 and 2 * c >= a - 1e-12 and c >= 2 * d - 1e-12 and b >= 2 * d - 1e-12
    gap = tacit.evaluate(tacit.make("chicken"), joint(point), gap="ce").gap
    assert (gap <= 1e-12) == inside


def test_the_ce_gap_is_zero_inside_the_polytope():
    centre = np.mean(CHICKEN_VERTICES, axis=0)
    assert tacit.evaluate(tacit.make("chicken"), joint(centre), gap="ce").gap <= 1e-15


def test_ce_gap_by_hand():
    """All on (yield, yield): each agent told to yield gains 7 − 6 by daring."""
    found = tacit.evaluate(tacit.make("chicken"), joint([[1, 0], [0, 0]]), gap="ce")
    assert found.gaps.tolist() == [1, 1]
    assert found.values.tolist() == [6, 6]


def test_a_traffic_light_is_a_coarse_equilibrium_that_the_deaf_would_lose_by_leaving():
    """(0, ½, ½, 0) pays 4.5; ignoring it pays 4 at best. Nobody gains by leaving, so the gap is zero, not negative."""
    found = tacit.evaluate(tacit.make("chicken"), joint([[0, 0.5], [0.5, 0]]), gap="cce")
    assert found.values.tolist() == [4.5, 4.5]
    assert found.gaps.tolist() == [0, 0]


def test_the_best_ce_of_chicken():
    found = tacit.solve(tacit.make("chicken"), "ce")
    assert found.values.tolist() == pytest.approx([5.25, 5.25], abs=1e-9)
    assert np.allclose(found.policy.probs[0][0, 0], [[0.5, 0.25], [0.25, 0]], atol=1e-9)


def test_the_mixed_nash_of_chicken():
    assert tacit.evaluate(tacit.make("chicken"), mix([2 / 3, 1 / 3], [2 / 3, 1 / 3])).gap <= 1e-14
    assert tacit.evaluate(tacit.make("chicken"), mix([2 / 3, 1 / 3], [1 / 2, 1 / 2])).gap > 0.01


@pytest.mark.parametrize("horizon", [1, 3])
@pytest.mark.parametrize(("name", "size"), [("matching-pennies", 2), ("rock-paper-scissors", 3)])
def test_the_value_of_symmetric_zero_sum_games_is_zero_and_play_uniform(name: str, size: int, horizon: int):
    game = tacit.make(name, horizon=horizon)
    found = tacit.solve(game, "nash")
    assert found.values.tolist() == pytest.approx([0, 0], abs=1e-12)
    for own in found.policy.probs:
        assert np.allclose(own, 1 / size, atol=1e-12)
    assert tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap <= 1e-15


@pytest.mark.parametrize("name", ["matching-pennies", "rock-paper-scissors"])
@pytest.mark.parametrize("concept", ["cce", "ce"])
def test_every_correlated_equilibrium_of_a_zero_sum_game_pays_its_value(name: str, concept: str):
    assert tacit.solve(tacit.make(name), concept).values.tolist() == pytest.approx([0, 0], abs=1e-9)


def test_zero_sum_gap_by_hand():
    """Against (1, 0) in matching pennies the matcher gets 1 and the other loses nothing more by staying uniform."""
    found = tacit.evaluate(tacit.make("matching-pennies"), mix([0.5, 0.5], [1, 0]))
    assert found.gaps.tolist() == [1, 0]


def test_a_zero_sum_game_with_a_value_other_than_zero():
    """[[3, 1], [0, 2]]: row mixes (½, ½), column (¼, ¾), value 3/2; shifted by 10 it is still zero-sum in effect."""
    row = np.array([[3.0, 1.0], [0.0, 2.0]])
    for shift in (0.0, 10.0):
        found = tacit.solve(tacit.games.matrix_game([row, shift - row]), "nash")
        assert found.values.tolist() == pytest.approx([1.5, shift - 1.5], abs=1e-9)
        assert np.allclose(found.policy.probs[0], [0.5, 0.5], atol=1e-9)
        assert np.allclose(found.policy.probs[1], [0.25, 0.75], atol=1e-9)


def test_shapley():
    game = tacit.make("shapley")
    uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))
    assert uniform.values.tolist() == pytest.approx([1 / 3, 1 / 3], abs=1e-15)
    assert uniform.gap <= 1e-15
    assert tacit.solve(game, "ce").values.sum() == pytest.approx(1, abs=1e-9)
    # the six cells that pay somebody, evenly: Shapley's cycle, a correlated equilibrium with 1/2 each
    cycle = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]) / 6
    assert tacit.evaluate(game, joint(cycle.tolist()), gap="ce").gap <= 1e-15
    # no other product policy on a grid is an equilibrium
    grid = [[a / 6, b / 6, (6 - a - b) / 6] for a in range(7) for b in range(7 - a)]
    zero = [(x, y) for x in grid for y in grid if tacit.evaluate(game, mix(x, y)).gap < 1e-9]
    assert zero == [([2 / 6] * 3, [2 / 6] * 3)]


@pytest.mark.parametrize("concept", ["ce", "cce"])
def test_the_only_equilibrium_of_the_prisoners_dilemma_is_to_defect(concept: str):
    found = tacit.solve(tacit.make("prisoners-dilemma", horizon=2), concept)
    assert np.allclose(found.policy.probs[0], [[0, 0], [0, 1]], atol=1e-9)
    assert found.values.tolist() == pytest.approx([2, 2], abs=1e-9)


def test_cooperation_in_the_prisoners_dilemma_has_a_gap_of_two_a_round():
    game = tacit.make("prisoners-dilemma", horizon=4)
    assert tacit.evaluate(game, mix([1, 0], [1, 0])).gaps.tolist() == [8, 8]


def test_pure_equilibria_of_the_matrix_team():
    game = tacit.make("matrix-team")
    for a, b in np.ndindex(3, 3):
        gap = tacit.evaluate(game, mix(np.eye(3)[a].tolist(), np.eye(3)[b].tolist())).gap
        assert (gap == 0) == (a == b)


@pytest.mark.parametrize(("name", "best"), [("climbing", 11), ("penalty", 10), ("matrix-team", 10)])
def test_teams_reach_their_optimum(name: str, best: float):
    game = tacit.make(name)
    for concept in ("optimum", "nash", "ce", "cce"):
        assert tacit.solve(game, concept).values.tolist() == pytest.approx([best, best], abs=1e-9)


def test_a_nash_gap_needs_a_product_policy():
    with pytest.raises(tacit.TacitError, match="product policy"):
        tacit.evaluate(tacit.make("chicken"), joint([[0, 0.5], [0.5, 0]]), gap="nash")


def test_a_solution_says_how_far_it_is_and_shows_no_values_of_places_that_are_not_reached():
    found = tacit.solve(tacit.make("good-state", horizon=3), "nash")
    assert found.gap == found.evaluation.gap <= 1e-14
    assert "V=" not in repr(found)
