"""Best responses and welfare-maximal equilibria against linear programs over occupancy measures and joint play."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import tacit


def best_response_by_lp(game: tacit.TabularGame, policy: tacit.MarkovPolicy, i: int) -> float:
    """Maximise Σ x(h,s,a)·r(h,s,a) over flows x ≥ 0 of the MDP that agent i faces when the others stay."""
    H, S, A = game.horizon, game.states, game.actions[i]
    r, P = np.zeros((H, S, A)), np.zeros((H, S, A, S))
    for h, s in itertools.product(range(H), range(S)):
        joint = policy.joint(h)[s]
        for a in range(A):
            for others in np.ndindex(joint.shape):
                mine = (*others[:i], a, *others[i + 1 :])
                r[h, s, a] += joint[others] * game.rewards[(i, h, s, *mine)]
                P[h, s, a] += joint[others] * game.transitions[(h, s, *mine)]
    flow, into = [], []
    for h, s in itertools.product(range(H), range(S)):
        row = np.zeros((H, S, A))
        row[h, s] = 1
        if h:
            row[h - 1] -= P[h - 1, :, :, s]
        flow.append(row.ravel())
        into.append(game.initial[s] if h == 0 else 0.0)
    return -linprog(-r.ravel(), A_eq=np.array(flow), b_eq=into).fun


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("actions", [(3, 2), (2, 3, 2), (2, 1, 2, 3)], ids=str)
def test_best_response(actions: tuple[int, ...], correlated: bool):
    game = tacit.make("random-general-sum", agents=len(actions), actions=actions, states=3, horizon=4, seed=8)
    policy = tacit.MarkovPolicy.random(game, seed=1, correlated=correlated)
    for i in range(game.agents):
        value = best_response_by_lp(game, policy, i)
        assert tacit.evaluation.best_response(game, policy, i).value == pytest.approx(value, abs=1e-8)


def welfare_by_lp(payoffs: np.ndarray, concept: str) -> float:
    """Largest total payoff among the (coarse) correlated equilibria of one normal form, written out cell by cell."""
    joints = list(np.ndindex(payoffs.shape[1:]))
    rows = []
    for i, A in enumerate(payoffs.shape[1:]):
        for told in [None] if concept == "cce" else range(A):
            for played in range(A):
                gain = []
                for joint in joints:
                    swapped = (*joint[:i], played, *joint[i + 1 :])
                    heard = told is None or joint[i] == told
                    gain.append(payoffs[(i, *swapped)] - payoffs[(i, *joint)] if heard else 0.0)
                rows.append(gain)
    total = [sum(payoffs[(i, *joint)] for i in range(len(payoffs))) for joint in joints]
    return -linprog(-np.array(total), rows, np.zeros(len(rows)), np.ones((1, len(joints))), [1.0]).fun


@pytest.mark.parametrize("concept", ["cce", "ce"])
@pytest.mark.parametrize("actions", [(2, 2), (3, 4), (2, 3, 2), (2, 2, 2, 2)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_stage_equilibria_have_the_largest_welfare(concept: str, actions: tuple[int, ...], seed: int):
    payoffs = np.random.default_rng([seed, *actions]).normal(size=(len(actions), *actions))
    found = tacit.solve(tacit.games.matrix_game(payoffs), concept)
    assert found.values.sum() == pytest.approx(welfare_by_lp(payoffs, concept), abs=1e-7)
