"""The mismatch coefficient against all deterministic joint policies of tiny games."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

import tacit
from tacit.evaluation import occupancy


def by_exhaustion(game: tacit.TabularGame, explore: Sequence[float] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Largest and smallest d_h(s) over all deterministic joint Markov policies, by pushing distributions forward.

    The policy at the last step moves nothing, so it is left out. Extremes over all policies, correlated ones too, are
    attained by deterministic ones; with `explore`, each agent's is mixed with so much of the even distribution.
    """
    H, S = game.horizon, game.states
    P = np.broadcast_to(game.transitions, (H, *game.transitions.shape[1:])).reshape(H, S, -1, S)
    shares = [explore[i] if explore else 0.0 for i in range(game.agents)]
    mixing = np.ones((1, 1))  # [chosen joint action, played joint action]
    for share, a in zip(shares, game.actions, strict=True):
        mixing = np.kron(mixing, (1 - share) * np.eye(a) + share / a)
    P = np.einsum("cj,hsjt->hsct", mixing, P)
    most, least = np.zeros((H, S)), np.full((H, S), np.inf)
    for plan in itertools.product(range(P.shape[2]), repeat=(H - 1) * S):
        d = np.zeros((H, S))
        d[0] = game.initial
        for h in range(H - 1):
            for s in range(S):
                d[h + 1] += d[h, s] * P[h, s, plan[h * S + s]]
        most, least = np.maximum(most, d), np.minimum(least, d)
    return most, least


def check(game: tacit.TabularGame) -> None:
    most, least = by_exhaustion(game)
    found = tacit.mismatch(game)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(most > 0, most / least, 1.0)
    assert pytest.approx(ratio.max()) == found.D
    at = (found.step, found.state)
    assert (found.most, found.least) == (pytest.approx(most[at]), pytest.approx(least[at], abs=1e-15))
    for policy, expected in ((found.most_policy, found.most), (found.least_policy, found.least)):
        assert occupancy(game, policy)[at] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("stationary", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_random_games(stationary: bool, seed: int):
    check(tacit.make("random-general-sum", states=2, horizon=3, stationary=stationary, seed=seed))
    check(tacit.make("random-general-sum", states=3, horizon=2, stationary=stationary, seed=seed))
    check(tacit.make("random-general-sum", agents=1, actions=2, states=3, horizon=4, stationary=stationary, seed=seed))


def test_uneven_first_states():
    game = tacit.make("random-general-sum", states=2, horizon=3, seed=5)
    check(tacit.TabularGame(game.transitions, game.rewards, [0.9, 0.1], 3))
    check(tacit.TabularGame(game.transitions, game.rewards, [1.0, 0.0], 3))  # s1 cannot be first: it does not count


def test_good_state_by_hand():
    """The team goes to a state with probability 0.9 at most and 0.1 at least."""
    found = tacit.mismatch(tacit.make("good-state", slip=0.1))
    assert pytest.approx(9) == found.D
    assert (found.most, found.least) == (pytest.approx(0.9), pytest.approx(0.1))


def test_one_step_is_one():
    assert tacit.mismatch(tacit.make("random-general-sum", states=4, horizon=1)).D == 1


def test_infinite_where_a_state_can_be_avoided():
    game = tacit.make("good-state", slip=0.0, horizon=3)
    found = tacit.mismatch(game)
    assert math.inf == found.D
    assert found.most > 0
    assert found.least == 0
    assert occupancy(game, found.least_policy)[found.step, found.state] == 0
    assert occupancy(game, found.most_policy)[found.step, found.state] == pytest.approx(found.most)


def test_states_that_nobody_reaches_do_not_count():
    P = np.zeros((1, 3, 2, 1, 3))
    P[0, :2, :, 0] = [[[0.7, 0.3, 0], [0.4, 0.6, 0]], [[0.5, 0.5, 0], [0.5, 0.5, 0]]]
    P[0, 2, :, 0] = [0, 0, 1]
    game = tacit.TabularGame(P, np.zeros((2, 1, 3, 2, 1)), [1, 0, 0], 2)
    assert pytest.approx(2.0) == tacit.mismatch(game).D  # 0.6/0.3
    check(game)


@pytest.mark.parametrize("explore", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_over_greedy_policies(explore: float, seed: int):
    """Deterministic policies mixed with ε̃, and for `deviating` one agent after the other that does not mix."""
    sparse = tacit.make("random-general-sum", states=3, actions=[2, 2], horizon=2, seed=seed)
    P = np.where(sparse.transitions > 0.4, sparse.transitions, 0.0) + np.eye(3)[:, None, None] * 1e-3  # D is infinite
    first = [1.0, 0.0, 0.0]
    sparse = tacit.TabularGame(P / P.sum(axis=-1, keepdims=True), sparse.rewards, first, 2)
    for game in (sparse, tacit.make("random-general-sum", states=2, actions=[3, 2], horizon=3, seed=seed)):
        most, least = by_exhaustion(game, [explore] * 2)
        found = tacit.mismatch(game, exploration=explore)
        ratio = np.where(most > 0, most / np.where(least > 0, least, 1.0), 1.0)
        assert pytest.approx(ratio.max()) == found.D
        at = (found.step, found.state)
        for policy, expected in ((found.most_policy, most[at]), (found.least_policy, least[at])):
            assert occupancy(game, policy)[at] == pytest.approx(expected)
            assert min(own.min() for own in policy.probs) >= explore / 3 - 1e-12


def test_greedy_policies_reach_what_can_be_avoided():
    """Good-state without slips, by hand: (a_0, b_1) is drawn with chance (0.95)² at most and (0.05)² at least."""
    found = tacit.mismatch(tacit.make("good-state", slip=0.0), exploration=0.1)
    assert math.inf == tacit.mismatch(tacit.make("good-state", slip=0.0)).D
    assert (found.most, found.least) == (pytest.approx(0.95**2), pytest.approx(0.05**2))
    assert pytest.approx(361) == found.D
    box = tacit.mismatch(tacit.make("box-pushing"), exploration=0.1)
    assert 1e12 < box.D < math.inf


def test_without_exploration_nothing_changes():
    game = tacit.make("good-state")
    plain, zero = tacit.mismatch(game), tacit.mismatch(game, exploration=0)
    assert plain.D == zero.D
    with pytest.raises(tacit.TacitError, match=r"exploration must be"):
        tacit.mismatch(game, exploration=1.5)
