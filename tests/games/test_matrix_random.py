"""Random games: the seed decides everything, and each kind has the structure it promises."""

from __future__ import annotations

import numpy as np
import pytest

import tacit

KINDS = ["random-general-sum", "random-team", "random-potential"]
FORMS = [{}, {"stationary": True}, {"states": 6, "successors": 2}, {"states": 6, "successors": 2, "stationary": True}]


def same(one: tacit.TabularGame, other: tacit.TabularGame) -> bool:
    return bool((one.rewards == other.rewards).all() and (one.transitions == other.transitions).all())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_seed_decides_everything(kind: str, form: dict[str, object]):
    params = {"agents": 3, "actions": (2, 1, 3), "states": 3, **form}
    assert same(tacit.make(kind, seed=4, **params), tacit.make(kind, seed=4, **params))
    assert not same(tacit.make(kind, seed=4, **params), tacit.make(kind, seed=5, **params))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_sizes_and_ranges(kind: str, form: dict[str, object]):
    game = tacit.make(kind, **{"agents": 3, "actions": (2, 1, 3), "states": 3, "horizon": 4, **form})
    steps = 1 if form.get("stationary") else 4
    assert game.rewards.shape[1] == game.transition_steps == steps
    assert game.rewards.min() >= 0
    assert game.rewards.max() <= 1
    positive = (game.transitions > 0).sum(axis=-1)
    assert (positive == form.get("successors", game.states)).all()


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_team_shares_one_reward(form: dict[str, object]):
    game = tacit.make("random-team", **{"agents": 4, "actions": (2, 3, 1, 2), **form})
    assert (game.rewards == game.rewards[:1]).all()


def test_general_sum_rewards_differ_between_agents():
    game = tacit.make("random-general-sum", agents=3)
    assert not np.isclose(game.rewards[0], game.rewards[1]).any()
    assert abs(np.corrcoef(tacit.make("random-general-sum", states=50).rewards.reshape(2, -1))[0, 1]) < 0.2


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_no_action_moves_a_random_potential_game(form: dict[str, object]):
    game = tacit.make("random-potential", **{"agents": 3, "actions": (2, 3, 2), **form})
    P = game.transitions.reshape(game.transition_steps, game.states, -1, game.states)
    assert (P[:, :, :1] == P).all()


def test_a_random_potential_game_has_a_potential():
    """What agent i gains by changing its action is the change of one function φ, so gains along cycles add to zero."""
    game = tacit.make("random-potential", agents=3, actions=(2, 3, 2), seed=3)
    r = game.rewards
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        for (h, s, *joint), a, b in (
            (index, a, b)
            for index in np.ndindex(r.shape[1:])
            for a in range(game.actions[i])
            for b in range(game.actions[j])
        ):
            corners = [list(joint) for _ in range(4)]
            corners[1][i] = corners[2][i] = a
            corners[2][j] = corners[3][j] = b
            at = [(h, s, *corner) for corner in corners]
            cycle = r[i][at[1]] - r[i][at[0]] + r[j][at[2]] - r[j][at[1]]
            cycle += r[i][at[3]] - r[i][at[2]] + r[j][at[0]] - r[j][at[3]]
            assert abs(cycle) < 1e-12


def test_a_random_potential_game_is_not_a_team():
    r = tacit.make("random-potential", agents=2).rewards
    assert not np.isclose(r[0], r[1]).any()


def test_values_of_a_potential_game_move_with_its_potential():
    """For policies that differ in one agent alone, V_i changes by what the other agents' common part does."""
    game = tacit.make("random-potential", agents=2, actions=2, seed=1)
    one, other = (tacit.MarkovPolicy.random(game, seed=k) for k in (1, 2))
    policies = {
        (a, b): tacit.MarkovPolicy([(one, other)[a].probs[0], (one, other)[b].probs[1]]) for a in (0, 1) for b in (0, 1)
    }
    V = {key: tacit.evaluate(game, policy).values for key, policy in policies.items()}
    around = V[1, 0][0] - V[0, 0][0] + V[1, 1][1] - V[1, 0][1] + V[0, 1][0] - V[1, 1][0] + V[0, 0][1] - V[0, 1][1]
    assert abs(around) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"agents": 0},
        {"states": 0},
        {"actions": 0},
        {"actions": [2]},
        {"actions": [2, 0]},
        {"actions": "22"},
        {"actions": None},
        {"horizon": 0},
        {"seed": -1},
        {"seed": None},
        {"seed": 0.5},
        {"successors": 0},
        {"successors": 3},
        {"stationary": 1},
        {"stationary": "yes"},
    ],
    ids=str,
)
def test_wrong_parameters_are_named(kind: str, wrong: dict[str, object]):
    with pytest.raises(tacit.TacitError, match=next(iter(wrong))):
        tacit.make(kind, **wrong)
