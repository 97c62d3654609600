"""The squared distance to the best response. [Mao2022, eqn:gap]"""

from __future__ import annotations

import numpy as np
import pytest

import tacit


def mix(*own: list[float]) -> tacit.MarkovPolicy:
    return tacit.MarkovPolicy([[[p]] for p in own])


def test_by_hand():
    """Prisoner's dilemma, both defect with ¼: the best response is (0, 1), and ‖(¾, ¼) − (0, 1)‖² = 9/8 for each."""
    assert tacit.evaluation.l2_gap(tacit.make("prisoners-dilemma"), mix([0.75, 0.25], [0.75, 0.25])) == pytest.approx(
        9 / 4
    )


def test_both_cooperate():
    assert tacit.evaluation.l2_gap(tacit.make("prisoners-dilemma"), mix([1, 0], [1, 0])) == pytest.approx(4)


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("matching-pennies", mix([0.5, 0.5], [0.5, 0.5])),
        ("rock-paper-scissors", mix([1 / 3] * 3, [1 / 3] * 3)),
        ("shapley", mix([1 / 3] * 3, [1 / 3] * 3)),
        ("chicken", mix([2 / 3, 1 / 3], [2 / 3, 1 / 3])),
        ("battle-of-the-sexes", mix([2 / 3, 1 / 3], [1 / 3, 2 / 3])),
        ("matrix-team", mix([1, 0, 0], [1, 0, 0])),
    ],
)
def test_zero_at_equilibria(name: str, policy: tacit.MarkovPolicy):
    assert tacit.evaluation.l2_gap(tacit.make(name), policy) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("seed", range(8))
def test_the_papers_formula_where_best_responses_are_pure(seed: int):
    """One round, generic payoffs: ‖μ − μ†(ν)‖² + ‖ν − ν†(μ)‖², computed directly."""
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, 3, 4))
    mu, nu = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    mu_best, nu_best = np.eye(3)[(A @ nu).argmax()], np.eye(4)[(mu @ B).argmax()]
    want = ((mu - mu_best) ** 2).sum() + ((nu - nu_best) ** 2).sum()
    found = tacit.evaluation.l2_gap(tacit.games.matrix_game([A, B]), mix(mu.tolist(), nu.tolist()))
    assert found == pytest.approx(want, abs=1e-14)


def test_with_ties_the_nearest_best_response_counts():
    """Actions 0 and 1 are equally best; (.2, .5, .3) is nearest to (.35, .65, 0): .0225 + .0225 + .09."""
    game = tacit.TabularGame(np.ones((1, 1, 3, 1)), [[[[1, 1, 0]]]], [1], 1)
    assert tacit.evaluation.l2_gap(game, mix([0.2, 0.5, 0.3])) == pytest.approx(0.135)


def test_the_nearest_point_is_inside_the_simplex():
    """From (0, 0.1, 0.9) to the face of actions 0 and 1, by quadratic search over the face."""
    game = tacit.TabularGame(np.ones((1, 1, 3, 1)), [[[[1, 1, 0]]]], [1], 1)
    grid = np.linspace(0, 1, 100_001)
    want = ((grid - 0) ** 2 + (1 - grid - 0.1) ** 2 + 0.81).min()
    assert tacit.evaluation.l2_gap(game, mix([0, 0.1, 0.9])) == pytest.approx(want, abs=1e-9)


def test_steps_add_up_in_a_repeated_game():
    policy = mix([0.75, 0.25], [0.75, 0.25])
    assert tacit.evaluation.l2_gap(tacit.make("prisoners-dilemma", horizon=3), policy) == pytest.approx(3 * 9 / 4)


def test_states_that_are_never_reached_do_not_count():
    P = np.zeros((1, 2, 2, 2))
    P[0, :, :, 0] = 1
    game = tacit.TabularGame(P, [[[[1, 0], [1, 0]]]], [1, 0], 2)
    policy = tacit.MarkovPolicy([[[[1, 0], [0, 1]]]])
    assert tacit.evaluation.l2_gap(game, policy) == 0
    assert tacit.evaluate(game, policy).gap == 0


@pytest.mark.parametrize("seed", range(5))
def test_zero_at_exact_team_and_zero_sum_equilibria(seed: int):
    game = tacit.make("random-team", states=3, actions=(2, 3), seed=seed)
    assert tacit.evaluation.l2_gap(game, tacit.solve(game, "nash").policy) == pytest.approx(0, abs=1e-12)


def test_a_correlated_policy_is_refused():
    game = tacit.make("chicken")
    with pytest.raises(tacit.TacitError, match="product policy"):
        tacit.evaluation.l2_gap(game, tacit.MarkovPolicy.random(game, correlated=True))


@pytest.mark.parametrize("tie", [None, "x", -1, float("nan")])
def test_a_wrong_tie_is_named(tie: object):
    game = tacit.make("chicken")
    with pytest.raises(tacit.TacitError, match="tie"):
        tacit.evaluation.l2_gap(game, tacit.MarkovPolicy.uniform(game), tie=tie)
