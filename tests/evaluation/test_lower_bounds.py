"""Lower bounds from a record alone: valid, and what a fixed deviation is worth, against two other ways."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.evaluation.certified import certified_bound
from tacit.evaluation.gaps import lower_bounds
from tacit.policies import RecordedPolicy


def random_policy(game: tacit.TabularGame, episodes: int, start: str) -> RecordedPolicy:
    rng = np.random.default_rng(0)
    visited = rng.integers(game.states, size=(episodes, game.horizon))
    stored = [rng.dirichlet(np.ones(a), (episodes, game.horizon))[..., :-1] for a in game.actions]
    probs = np.concatenate(stored, axis=2).astype(np.float32)
    return RecordedPolicy(visited, probs, actions=game.actions, states=game.states, start=start)


def worth(game: tacit.TabularGame, policy: RecordedPolicy, agent: int, actions: np.ndarray) -> float:
    """What an agent gets that plays fixed actions [H, S] while the others play the policy."""
    fixed = np.zeros((game.agents, game.horizon, game.states), dtype=np.int64)
    fixed[agent] = actions
    values, gains = certified_bound(game, policy, "cce", fixed=fixed)
    return float(values[agent] + gains[agent])


@pytest.fixture(scope="module")
def game() -> tacit.TabularGame:
    return tacit.make("random-general-sum", states=2, actions=[2, 3], horizon=3, seed=1)


@pytest.mark.parametrize("start", ["average", "recent"])
def test_bounds_are_on_their_side(game: tacit.TabularGame, start: str) -> None:
    policy = random_policy(game, 200, start)
    for kind in ("cce", "ce"):
        found = tacit.evaluate(game, policy, gap=kind)
        lower = lower_bounds(game, policy)
        assert (lower <= found.gaps + 1e-12).all()
    assert lower.max() > 0


@pytest.mark.parametrize("agent", [0, 1])
def test_a_deviation_is_worth_what_the_policy_is_that_has_it_built_in(game: tacit.TabularGame, agent: int) -> None:
    policy = random_policy(game, 300, "recent")  # nobody meets a first stage that has not ended
    actions = np.random.default_rng(agent).integers(game.actions[agent], size=(game.horizon, game.states))
    rows = actions[np.arange(game.horizon), policy.visited]  # what the deviator would have played at each visit
    stored = policy.stored.copy()
    own = slice(0, 1) if agent == 0 else slice(1, 3)
    stored[..., own] = np.eye(game.actions[agent], dtype=np.float32)[rows][..., :-1]
    built_in = RecordedPolicy(policy.visited, stored, actions=game.actions, states=game.states, start="recent")
    expected = tacit.evaluate(game, built_in, gap="cce").values[agent]
    assert worth(game, policy, agent, actions) == pytest.approx(expected, abs=1e-9)


def test_a_deviation_in_a_matrix_game_by_hand() -> None:
    game = tacit.make("matching-pennies")
    stored = np.full((40, 1, 2), 0.25, dtype=np.float32)  # both play heads with 1/4, but in the first, even stage
    policy = RecordedPolicy(np.zeros((40, 1), dtype=int), stored, actions=[2, 2], states=1, start="recent")
    tails = np.array([[1]])
    assert worth(game, policy, 0, tails) == pytest.approx(0.5)
    assert lower_bounds(game, policy) == pytest.approx([0.25, 0.75])
