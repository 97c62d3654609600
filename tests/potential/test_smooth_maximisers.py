"""λ over all deterministic maximisers, whatever their number and order: against the definition, policy by policy."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import tacit
from tacit.evaluation import policy_values
from tacit.games.matrix import matrix_game


def by_definition(game: tacit.TabularGame, omega: float) -> tuple[float, int]:
    """The largest λ and the number of maximisers, from values of one policy at a time and Φ by quadrature."""
    low = game.reward_range[0]
    even = np.full(game.states, 1 / game.states)
    game = tacit.TabularGame(game.transitions, game.rewards - low, even, game.horizon)
    cells = game.horizon * game.states
    plans = [
        [np.reshape(p, (game.horizon, game.states)) for p in itertools.product(range(a), repeat=cells)]
        for a in game.actions
    ]
    profiles = list(itertools.product(*[range(len(own)) for own in plans]))

    def policy(profile: tuple[int, ...]) -> tacit.MarkovPolicy:
        return tacit.MarkovPolicy.deterministic([own[k] for own, k in zip(plans, profile, strict=True)], game.actions)

    V = {profile: policy_values(game, policy(profile)).V[:, 0] for profile in profiles}
    found = tacit.potential(game)
    phi = {profile: found.value(policy(profile)) for profile in profiles}
    best = [profile for profile in profiles if phi[profile] >= max(phi.values()) - 1e-9]
    lams = []
    for star in best:
        lam = math.inf
        for pi, i, s in itertools.product(profiles, range(game.agents), range(game.states)):
            if V[star][i, s] > 1e-9:
                mixed = (*pi[:i], star[i], *pi[i + 1 :])
                lam = min(lam, (V[mixed][i, s] + omega * V[pi][i, s]) / V[star][i, s])
        lams.append(lam)
    return max(lams), len(best)


def test_the_order_of_actions_does_not_matter():
    """Only (19, 0) is safe on both sides: row 19 pays whatever the column, column 0 whatever the row."""
    table = np.zeros((20, 2))
    table[:, 0] = 1
    table[19, 1] = 1
    for rows in (table, table[::-1], table[:, ::-1], np.roll(table, 7, axis=0)):
        found = tacit.smoothness(matrix_game([rows, rows]))
        assert found.lam == 1
        assert found.maximisers == 21
        assert by_definition(matrix_game([rows, rows]), 0.5) == (1, 21)


@pytest.mark.parametrize("seed", range(12))
def test_many_maximisers(seed: int):
    """Teams of few values have many maximisers; own terms keep the potential and tell the agents apart."""
    rng = np.random.default_rng(seed)
    table = (rng.random((7, 6)) < 0.8).astype(float)
    tables = np.stack([table, table])
    if seed % 2:
        tables[0] += rng.integers(0, 2, (1, 6))
        tables[1] += rng.integers(0, 2, (7, 1))
    for omega in (0.0, 0.5):
        found = tacit.smoothness(matrix_game(tables), omega=omega)
        assert (found.lam, found.maximisers) == (
            pytest.approx(by_definition(matrix_game(tables), omega)[0]),
            int(table.sum()),
        )
        assert found.maximisers > 16
        order = [rng.permutation(size) for size in table.shape]
        shuffled = tables[:, order[0]][:, :, order[1]]
        assert tacit.smoothness(matrix_game(shuffled), omega=omega).lam == pytest.approx(found.lam)
        swapped = tables[::-1].transpose(0, 2, 1)
        assert tacit.smoothness(matrix_game(swapped), omega=omega).lam == pytest.approx(found.lam)


@pytest.mark.parametrize("seed", range(4))
def test_steps_states_and_three_agents(seed: int):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(2), (1, 2, 2, 2))
    team = np.broadcast_to(rng.integers(0, 2, (1, 1, 2, 2, 2)), (2, 1, 2, 2, 2)).astype(float)
    two = tacit.TabularGame(P, team, [1.0, 0.0], 2)
    three = tacit.make("random-potential", agents=3, states=1, actions=[2, 3, 2], horizon=2, seed=seed)
    for game in (two, three):
        found = tacit.smoothness(game, omega=0.3)
        lam, maximisers = by_definition(game, 0.3)
        assert (found.lam, found.maximisers) == (pytest.approx(lam), maximisers)
        assert tacit.potential(game).value(found.best) >= -1e-9 or game is two


def test_a_mixture_may_allow_more():
    """Rows 0 and 1 are both best beside column 0; an even mix of them gets 1/2 against columns 1 and 2, each alone 0.

    λ is over deterministic π*, as the documentation says: sound, and smaller than what a mixture would allow.
    """
    table = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    assert tacit.smoothness(matrix_game([table, table]), omega=0.0).lam == 0
    assert np.min([0.5, 0.5] @ np.array(table)) == 0.5
