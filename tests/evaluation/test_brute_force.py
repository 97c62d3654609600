"""The oracle against every trajectory and every deterministic deviation of tiny games."""

from __future__ import annotations

import brute
import numpy as np
import pytest

import tacit

SIZES = [((2, 2), 2), ((2, 3), 2), ((1, 2), 2), ((3,), 2), ((2, 2, 2), 2), ((2, 1, 2), 2), ((2, 3, 2), 1)]
SWAP_SIZES = [((2, 2), 2), ((3, 2), 1), ((1, 2), 2), ((2, 2, 1), 2), ((2, 2, 2), 1)]


def games(actions: tuple[int, ...], states: int, stationary: bool) -> tuple[tacit.TabularGame, brute.Game]:
    rng = np.random.default_rng([len(actions), *actions, states])
    steps = 1 if stationary else 2
    P = rng.dirichlet(np.full(states, 0.5), (steps, states, *actions))
    R = rng.normal(size=(len(actions), steps, states, *actions))
    rho = rng.dirichlet(np.ones(states))
    return tacit.TabularGame(P, R, rho, 2), brute.Game(P, R, rho, 2)


@pytest.mark.parametrize("stationary", [False, True])
@pytest.mark.parametrize(("actions", "states"), SIZES, ids=str)
def test_product_policies(actions: tuple[int, ...], states: int, stationary: bool):
    game, plain = games(actions, states, stationary)
    policy = tacit.MarkovPolicy.random(game, seed=1)
    play = brute.product_play(list(policy.probs))
    values = brute.values(plain, play)
    best = [brute.best_deaf(plain, play, i) for i in range(plain.N)]
    gaps = [b - v for b, v in zip(best, values, strict=True)]
    for kind in (None, "nash", "cce", "ce"):
        found = tacit.evaluate(game, policy, gap=kind)
        assert found.values.tolist() == pytest.approx(values, abs=1e-12)
        assert found.gaps.tolist() == pytest.approx(gaps, abs=1e-12)
        assert found.gap == pytest.approx(max(gaps), abs=1e-12)
        assert found.kind == (kind or "nash")
    for i in range(plain.N):
        assert tacit.evaluation.best_response(game, policy, i).value == pytest.approx(best[i], abs=1e-12)
    assert np.allclose(tacit.evaluation.occupancy(game, policy), brute.occupancy(plain, play), atol=1e-14)


@pytest.mark.parametrize(("actions", "states"), SIZES, ids=str)
def test_coarse_gaps_of_correlated_policies(actions: tuple[int, ...], states: int):
    game, plain = games(actions, states, False)
    policy = tacit.MarkovPolicy.random(game, seed=2, correlated=True)
    play = brute.correlated_play(policy.probs[0])
    values = brute.values(plain, play)
    best = [brute.best_deaf(plain, play, i) for i in range(plain.N)]
    found = tacit.evaluate(game, policy)
    assert found.kind == "cce"
    assert found.values.tolist() == pytest.approx(values, abs=1e-12)
    # mixing helps nobody who ignores the draw, but he may lose against staying: the gap is then zero from below
    want = [b - v for b, v in zip(best, values, strict=True)]
    assert found.gaps.tolist() == pytest.approx([max(w, 0) for w in want], abs=1e-12)
    for i in range(plain.N):
        assert tacit.evaluation.best_response(game, policy, i).value == pytest.approx(best[i], abs=1e-12)
    assert np.allclose(tacit.evaluation.occupancy(game, policy), brute.occupancy(plain, play), atol=1e-14)


@pytest.mark.parametrize(("actions", "states"), SWAP_SIZES, ids=str)
def test_swap_gaps_of_correlated_policies(actions: tuple[int, ...], states: int):
    game, plain = games(actions, states, False)
    policy = tacit.MarkovPolicy.random(game, seed=3, correlated=True)
    play = brute.correlated_play(policy.probs[0])
    values = brute.values(plain, play)
    want = [brute.best_swap(plain, play, i) - values[i] for i in range(plain.N)]
    found = tacit.evaluate(game, policy, gap="ce")
    assert found.gaps.tolist() == pytest.approx(want, abs=1e-12)
    assert found.kind == "ce"


@pytest.mark.parametrize("actions", [(2, 3), (2, 2, 2)], ids=str)
def test_the_reported_deviation_earns_what_it_claims(actions: tuple[int, ...]):
    game, plain = games(actions, 2, False)
    policy = tacit.MarkovPolicy.random(game, seed=4, correlated=True)
    play = brute.correlated_play(policy.probs[0])
    found = tacit.evaluation.deviations(game, policy, "ce")
    for i, choices in enumerate(found.choices):
        changed = brute.deviate(plain, play, i, lambda h, s, b, c=choices: int(c[h, s, b]))
        assert brute.values(plain, changed)[i] == pytest.approx(found.best[i, 0] @ plain.rho, abs=1e-12)
        response = tacit.evaluation.best_response(game, policy, i)
        changed = brute.deviate(plain, play, i, lambda h, s, b, c=response.actions: int(c[h, s]))
        assert brute.values(plain, changed)[i] == pytest.approx(response.value, abs=1e-12)


def test_action_values_and_values_of_later_steps():
    game, plain = games((2, 3), 2, False)
    policy = tacit.MarkovPolicy.random(game, seed=5)
    found = tacit.evaluation.policy_values(game, policy)
    play = brute.product_play(list(policy.probs))
    last = {s: [sum(p * plain.R[(i, 1, s, *a)] for a, p in play(1, s).items()) for i in (0, 1)] for s in (0, 1)}
    for i, s in np.ndindex(2, 2):
        assert found.V[i, 1, s] == pytest.approx(last[s][i], abs=1e-13)
        for a in plain.joints():
            want = plain.R[(i, 0, s, *a)] + sum(plain.P[(0, s, *a, t)] * last[t][i] for t in (0, 1))
            assert found.Q(i, 0)[(s, *a)] == pytest.approx(want, abs=1e-13)
            assert found.Q(i, 1)[(s, *a)] == plain.R[(i, 1, s, *a)]
    assert (found.V[:, 2] == 0).all()
    assert found.initial.tolist() == pytest.approx(brute.values(plain, play), abs=1e-13)


@pytest.mark.parametrize(("actions", "states"), [((2, 2), 2), ((2, 3), 1), ((3,), 2), ((2, 1, 2), 2)], ids=str)
def test_optimum(actions: tuple[int, ...], states: int):
    game, plain = games(actions, states, False)
    found = tacit.solve(game, "optimum")
    assert found.values.sum() == pytest.approx(brute.best_total(plain), abs=1e-12)
    assert tacit.evaluate(game, found.policy).values.tolist() == pytest.approx(found.values.tolist(), abs=1e-12)


def test_optimum_with_weights():
    game, plain = games((2, 2), 2, False)
    weighted = brute.Game(plain.P, plain.R * np.array([3.0, -1.0])[:, None, None, None, None], plain.rho, 2)
    found = tacit.solve(game, "optimum", weights=[3, -1])
    assert found.values @ [3, -1] == pytest.approx(brute.best_total(weighted), abs=1e-12)
