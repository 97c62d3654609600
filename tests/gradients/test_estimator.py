"""The learner's REINFORCE estimator, by exact expectation over all trajectories. [Mao2022, lemma:unbiased_bounded]

The estimates are the learner's first directions, read from its state after it was put through each trajectory.
"""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import centred, estimate, full, live, trajectories, value, world_of_one

import tacit
from tacit.core.elementary import project_each
from tacit.evaluation import policy_gradient
from tacit.learners import NPG, PGStorm

GAMES = [
    {"agents": 1, "states": 2, "actions": [3], "horizon": 3, "seed": 0},
    {"agents": 2, "states": 2, "actions": [2, 3], "horizon": 2, "seed": 1},
    {"agents": 3, "states": 1, "actions": [2, 2, 2], "horizon": 2, "seed": 2},
]
EXPLORATION = [0.02, 0.3, 1.0]


def unit_game(params: dict) -> tacit.TabularGame:
    """A random game with rewards in [0, 1]."""
    return tacit.make("random-general-sum", **params)


def mixed(theta: np.ndarray, explore: float) -> np.ndarray:
    return (1 - explore) * theta + explore / theta.shape[2]


def at_vertices(game: tacit.TabularGame) -> list[np.ndarray]:
    """Parameters at vertices, where the estimator is noisiest."""
    return [np.eye(a)[np.zeros((game.horizon, game.states), int)] for a in game.actions]


@pytest.mark.parametrize("explore", EXPLORATION)
@pytest.mark.parametrize("params", GAMES)
def test_unbiased(params: dict, explore: float):
    """Sampled: one random θ for each game; the expectation is exact, over every trajectory.

    It equals the derivative with respect to θ of Σ_τ P(τ)R(τ), as the lemma's proof has it, and along the simplex the
    gradient formula, which leaves out rewards before step h: they add the same to all actions of a state.
    """
    game = unit_game(params)
    theta = full(game, tacit.MarkovPolicy.random(game, seed=3))
    pi = [mixed(own, explore) for own in theta]
    exact = policy_gradient(game, tacit.MarkovPolicy(pi)).gradients
    for i in range(game.agents):
        mean = sum(
            p.chance * estimate(game, PGStorm(exploration=explore), theta[i], p, i) for p in trajectories(game, pi)
        )
        np.testing.assert_allclose(centred(mean), centred((1 - explore) * exact[i]), atol=1e-12)
        for place in [
            (0, 0, 0),
            tuple(n - 1 for n in theta[i].shape),
        ]:  # V is affine in one entry: a difference is exact
            high, low = [own.copy() for own in pi], [own.copy() for own in pi]
            high[i][place] += 0.5
            low[i][place] -= 0.5
            slope = value(game, high, i) - value(game, low, i)
            assert mean[place] == pytest.approx((1 - explore) * slope, abs=1e-12)


@pytest.mark.parametrize("explore", EXPLORATION)
@pytest.mark.parametrize("params", GAMES)
def test_variance_bound(params: dict, explore: float):
    """E‖ĝ − ∇V‖² ≤ A²H⁴/ε̃. Sampled: a random θ and one at vertices for each game; the expectation is exact."""
    game = unit_game(params)
    bound = max(game.actions) ** 2 * game.horizon**4 / explore
    for theta in (full(game, tacit.MarkovPolicy.random(game, seed=3)), at_vertices(game)):
        pi = [mixed(own, explore) for own in theta]
        for i in range(game.agents):
            drawn = [
                (p.chance, estimate(game, PGStorm(exploration=explore), theta[i], p, i)) for p in trajectories(game, pi)
            ]
            mean = sum(chance * g for chance, g in drawn)
            variance = sum(chance * float(((g - mean) ** 2).sum()) for chance, g in drawn)
            assert 0 <= variance <= bound


def test_variance_bound_is_nearly_needed():
    """With all rewards 1, one step and small ε̃ the variance is (1 − ε̃)²(A − 1)A/ε̃·(1 + O(ε̃)): the bound's order."""
    explore, A = 0.001, 4
    game = tacit.games.matrix.matrix_game(np.ones((1, A)))
    theta = at_vertices(game)
    pi = [mixed(own, explore) for own in theta]
    drawn = [(p.chance, estimate(game, PGStorm(exploration=explore), theta[0], p, 0)) for p in trajectories(game, pi)]
    mean = sum(chance * g for chance, g in drawn)
    variance = sum(chance * float(((g - mean) ** 2).sum()) for chance, g in drawn)
    assert 0.7 < variance / (A**2 / explore) <= 1


@pytest.mark.parametrize("explore", [0.05, 0.5])
@pytest.mark.parametrize("params", GAMES)
def test_mean_squared_smoothness(params: dict, explore: float):
    """E_π‖ĝ(π) − ĝ(π')‖² ≤ A³H³/ε̃³·‖π − π'‖², the same trajectories in both estimators.

    Sampled: three pairs of agent i's policies for each game, near, far and at opposite vertices. This is what the lemma
    states: trajectories are drawn from π in both; that E_π[ĝ(π')] is ∇V(π') is not claimed, and not so.
    """
    game = unit_game(params)
    constant = max(game.actions) ** 3 * game.horizon**3 / explore**3
    spec = PGStorm(exploration=explore)
    near = full(game, tacit.MarkovPolicy.random(game, seed=3))
    far = full(game, tacit.MarkovPolicy.random(game, seed=4))
    vertex = at_vertices(game)
    beside = [0.99 * x + 0.01 * y for x, y in zip(near, far, strict=True)]
    for one, two in [(near, beside), (near, far), (vertex, [own[:, :, ::-1] for own in vertex])]:
        pi = [mixed(own, explore) for own in one]
        paths = list(trajectories(game, pi))
        for i in range(game.agents):
            square = sum(
                p.chance * float(((estimate(game, spec, one[i], p, i) - estimate(game, spec, two[i], p, i)) ** 2).sum())
                for p in paths
            )
            distance = float(((mixed(one[i], explore) - mixed(two[i], explore)) ** 2).sum())
            assert 0 < square <= constant * distance


@pytest.mark.parametrize("params", GAMES)
def test_sampled_natural_gradient_is_unbiased(params: dict):
    """E[change of logits] = η·d_h(s)·Q̄_h(s, a) up to what all actions share: exact, one random policy for each game.

    Whatever the baseline is: here the return of one earlier visit of each step and state, another for each agent.
    """
    game, eta, explore = unit_game(params), 0.1, 0.2
    theta = full(game, tacit.MarkovPolicy.random(game, seed=3))
    pi = [mixed(own, explore) for own in theta]
    exact = policy_gradient(game, tacit.MarkovPolicy(pi)).gradients
    for i in range(game.agents):
        mean, world = np.zeros_like(pi[i]), world_of_one(game, i, theta[i])
        for path in trajectories(game, pi):
            state = NPG(eta=eta, gradient="sampled", exploration=explore).init(world)
            state.cells["visits"], state.cells["mean"] = 1, 0.3 + i
            live(state, path, i, pi[i])
            mean += path.chance * centred(state.cells["logits"][:, :, 0, : pi[i].shape[2]] - np.log(theta[i]))
        np.testing.assert_allclose(mean, centred(eta / world.unit * exact[i]), atol=1e-12)


def second_direction(game: tacit.TabularGame, own_ratio: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the exact mean of the old policy's estimate w·ĝ(θ_1, ξ_2), and the gradients at θ_1 and θ_2.

    With a = 0, d_2 = ĝ(θ_2, ξ_2) + d_1 − w·ĝ(θ_1, ξ_2), so the old estimate can be read off the second direction.
    """
    explore = 0.2
    spec = PGStorm(eta=0.05, momentum=0.0, exploration=explore, own_ratio=own_ratio)
    theta = np.full((game.horizon, game.states, 2), 0.5)
    first = next(iter(trajectories(game, [mixed(theta, explore)])))
    after = spec.init(world_of_one(game, 0, theta))
    live(after, first, 0, mixed(theta, explore))
    d1 = after.cells["direction"][:, :, 0, :2].copy()
    moved = project_each(theta + 0.05 * d1)
    pi = mixed(moved, explore)
    mean = np.zeros_like(theta)
    for path in trajectories(game, [pi]):
        state = spec.init(world_of_one(game, 0, theta))
        live(state, first, 0, mixed(theta, explore))
        live(state, path, 0, pi)
        visited = np.zeros(theta.shape[:2], bool)
        visited[range(game.horizon), path.states] = True
        fresh = estimate(game, PGStorm(exploration=explore), moved, path, 0)
        d2 = state.cells["direction"][:, :, 0, :2]
        mean += path.chance * np.where(visited[:, :, None], fresh + d1 - d2, 0)
    gradients = [
        (1 - explore) * policy_gradient(game, tacit.MarkovPolicy([mixed(own, explore)])).gradients[0]
        for own in (theta, moved)
    ]
    return mean, gradients[0], gradients[1]


@pytest.fixture(scope="module")
def alone() -> tacit.TabularGame:
    """One agent, so that its own importance ratio is the whole one."""
    return tacit.make("random-general-sum", agents=1, states=2, actions=2, horizon=2, seed=6)


def test_own_ratio_makes_the_old_estimate_unbiased(alone: tacit.TabularGame):
    """For a single agent E[w·ĝ(θ_old, ξ_new)] = ∇V(θ_old), w being the ratio of the trajectory's probabilities."""
    mean, old, _ = second_direction(alone, own_ratio=True)
    np.testing.assert_allclose(centred(mean), centred(old), atol=1e-12)


def test_without_a_ratio_the_old_estimate_is_biased(alone: tacit.TabularGame):
    """The bias that the deviation speaks of is there; its size is bounded by how far the policy moved."""
    mean, old, new = second_direction(alone, own_ratio=False)
    assert np.abs(centred(mean) - centred(old)).max() > 1e-3
    assert not np.allclose(centred(old), centred(new), atol=1e-4)
