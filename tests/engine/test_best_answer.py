"""A run answers with the candidate of the smallest gap, and every candidate's gap is what the oracle says."""

from __future__ import annotations

import numpy as np
import pytest

import tacit


@pytest.mark.parametrize("learner", ["adaptive-v-cce", "adaptive-v-ce", "stage-v-cce"])
@pytest.mark.parametrize("name", ["good-state", "chicken", "matching-pennies"])
def test_the_answer_has_the_smallest_gap(name, learner):
    game = tacit.make(name)
    run = tacit.learn(game, learner, episodes=400, seed=3)
    gaps = {key: one.gap for key, one in run.candidates.items()}
    assert run.gap == min(gaps.values()) == gaps[run.chosen]
    assert run.policy is run.candidates[run.chosen].policy
    kind = run.gaps.kind
    assert {one.gaps.kind for one in run.candidates.values()} == {kind}
    for key, one in run.candidates.items():
        found = tacit.evaluate(game, one.policy, gap=kind)
        np.testing.assert_allclose(found.gaps, one.gaps.upper, atol=1e-9, err_msg=key)
        np.testing.assert_allclose(found.values, one.values, atol=1e-9, err_msg=key)


def test_different_games_have_different_answers():
    """In pure coordination the last iterate is best, where equilibria mix it is the worst."""
    mixed = tacit.learn(tacit.make("matching-pennies"), episodes=3000)
    assert mixed.chosen in ("average", "latest")
    assert mixed.candidates["last"].gap > 2 * mixed.gap
    pure = tacit.learn(tacit.make("prisoners-dilemma", horizon=3), episodes=3000)
    assert pure.chosen == "last"


def test_of_equals_the_simplest_is_chosen():
    run = tacit.learn(tacit.games.matrix_game(np.ones((2, 2, 2))), episodes=5)
    assert {one.gap for one in run.candidates.values()} == {0.0}
    assert run.chosen == "last"


def test_the_curve_has_every_candidate_and_the_best():
    run = tacit.learn(tacit.make("good-state"), episodes=600, points=12)
    each = np.stack([run.curve[f"gap_{name}"] for name in run.candidates])
    np.testing.assert_array_equal(run.curve["gap"], each.min(axis=0))
    assert run.curve["gap"][-1] == run.gap


def test_without_a_record_the_numbers_stay_and_the_policy_says_why_it_is_missing():
    run = tacit.learn(tacit.make("matching-pennies"), episodes=2000, keep=False)
    assert run.chosen in ("average", "latest")
    assert run.gap < 0.2
    with pytest.raises(tacit.TacitError, match="kept no record"):
        run.policy  # noqa: B018
    assert "not kept" in repr(run.candidates["average"])


def test_without_tables_nobody_knows_the_best_and_the_papers_answers():
    run = tacit.learn(tacit.make("good-state"), episodes=50, certify=False)
    assert run.chosen == "average"
    assert run.share is None


def test_the_share_is_of_the_gap_of_uniform_play():
    game = tacit.make("good-state")
    run = tacit.learn(game, episodes=500)
    even = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    assert run.share == pytest.approx(run.gap / even)
    assert f"{100 * run.share:.3g} % of uniform play's" in repr(run)
    assert tacit.learn(tacit.make("matching-pennies"), episodes=50).share is None  # even play is one
