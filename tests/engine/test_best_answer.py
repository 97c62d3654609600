"""A run answers with the candidate of the smallest gap, or one close to it that all prefer; the oracle says both."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.engine.run import Candidate, Gaps, choose


@pytest.mark.parametrize("learner", ["adaptive-v-cce", "adaptive-v-ce", "stage-v-cce"])
@pytest.mark.parametrize("name", ["good-state", "chicken", "matching-pennies"])
def test_the_answer_has_the_smallest_gap_or_is_preferred(name, learner):
    game = tacit.make(name)
    run = tacit.learn(game, learner, episodes=400, seed=3)
    least = min(run.candidates.values(), key=lambda one: one.gap)
    assert run.gap == least.gap or (run.values >= least.values).all()
    assert run.gap <= least.gap + max(0.02 * run.uniform_gap, 0.1 * least.gap)
    assert run.policy is run.candidates[run.chosen].policy
    kind = run.gaps.kind
    assert {one.gaps.kind for one in run.candidates.values()} == {kind}
    for key, one in run.candidates.items():
        assert f"gap {one.gaps.size}" in repr(run.candidates[key])
        found = tacit.evaluate(game, one.policy, gap=kind)
        np.testing.assert_allclose(found.gaps, one.gaps.upper, atol=1e-9, err_msg=key)
        np.testing.assert_allclose(found.values, one.values, atol=1e-9, err_msg=key)


def test_different_games_have_different_answers():
    """In pure coordination the last iterate is best, where equilibria mix it is the worst."""
    mixed = tacit.learn(tacit.make("matching-pennies"), "adaptive-v-cce", episodes=3000)
    assert mixed.chosen in ("markov", "product")
    assert mixed.candidates["last"].gap > 2 * mixed.gap
    pure = tacit.learn(tacit.make("prisoners-dilemma", horizon=3), "adaptive-v-cce", episodes=3000)
    assert pure.chosen == "last"


def test_of_equals_the_simplest_is_chosen():
    run = tacit.learn(tacit.games.matrix_game(np.ones((2, 2, 2))), "adaptive-v-cce", episodes=5)
    assert {one.gap for one in run.candidates.values()} == {0.0}
    assert run.chosen == "last"


def _judged(**candidates: tuple[float, list[float] | None]) -> dict[str, Candidate]:
    return {
        name: Candidate.with_gaps(
            Gaps("cce", np.array([gap, 0.0]), "certificate"), None if values is None else np.array(values)
        )
        for name, (gap, values) in candidates.items()
    }


def test_what_all_prefer_is_chosen_where_its_gap_is_close():
    """Close is 2 % of uniform play's gap, here 0.2, or a tenth of the smallest."""
    known = _judged(average=(0.0, [5, 5]), recent=(0.1, [6, 4]), last=(0.19, [5, 6]))
    assert choose(known, lambda: 10.0) == "recent"  # nobody's gap is smaller but the average's, which "last" dominates
    known["recent"] = _judged(recent=(0.1, [4, 4]))["recent"]
    assert choose(known, lambda: 10.0) == "last"
    assert choose(known, lambda: 9.0) == "average"  # 0.19 is not close
    assert choose(known, lambda: 10.0, target=0.05) == "average"
    assert choose(_judged(average=(2.0, [5, 5]), last=(2.2, [6, 6])), lambda: 0.0) == "last"
    assert choose(_judged(average=(2.0, [5, 5]), last=(2.1, [6, 4])), lambda: 99.0) == "average"
    assert choose(_judged(average=(2.0, None), last=(2.1, [6, 4])), lambda: 99.0) == "average"


def test_uniform_play_is_evaluated_only_where_it_decides():
    def fail() -> float:
        raise AssertionError

    assert choose(_judged(average=(0.0, [5, 5]), last=(0.1, [5, 5])), fail) == "average"


@pytest.mark.slow
def test_the_answer_is_not_dominated_on_box_pushing():
    """The average over all episodes has no gap but holds the random play of the beginning; the last iterate has 1 %."""
    run = tacit.learn(tacit.make("box-pushing", horizon=5), "adaptive-v-cce", episodes=100_000)
    assert (run.candidates["average"].gap, run.chosen) == (0.0, "last")
    assert run.values.min() > run.candidates["average"].values.max() + 20
    stopped = tacit.learn(tacit.make("box-pushing", horizon=5), "adaptive-v-cce", episodes=100_000, gap=0.0)
    assert (stopped.ended, stopped.gap) == ("gap", 0.0)


def test_the_curve_has_every_candidate_and_the_answer():
    run = tacit.learn(tacit.make("good-state"), "adaptive-v-cce", episodes=600, points=12)
    each = np.stack([run.curve[f"gap_{name}"] for name in ("average", "recent", "last")])  # tables come at the end
    assert (run.curve["gap"] == each).any(axis=0).all()
    assert (run.curve["gap"] <= np.maximum(1.1 * each.min(axis=0), each.min(axis=0) + 0.02 * run.uniform_gap)).all()
    assert run.gap <= 1.1 * run.curve["gap"][-1]


def test_tables_do_not_depend_on_what_is_kept():
    one, other = (
        tacit.learn(tacit.make("matching-pennies"), "adaptive-v-cce", episodes=500, keep=keep) for keep in (True, False)
    )
    assert (one.chosen, one.gap) == (other.chosen, other.gap)
    np.testing.assert_array_equal(one.policy.probs[0], other.policy.probs[0])


def test_without_a_record_the_numbers_stay_and_the_policy_says_why_it_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tacit.engine.recorded.SMALL_RECORD", 0)
    run = tacit.learn(tacit.make("matching-pennies"), "adaptive-v-cce", episodes=2000, keep=False)
    assert run.chosen in ("average", "recent")
    assert run.gap < 0.2
    with pytest.raises(tacit.TacitError, match="kept no record"):
        run.policy  # noqa: B018
    assert "not kept" in repr(run.candidates["average"])


def test_without_tables_nobody_knows_the_best_and_the_papers_answers():
    run = tacit.learn(tacit.make("good-state"), "adaptive-v-cce", episodes=50, certify=False)
    assert run.chosen == "average"


def test_the_gap_is_printed_beside_that_of_the_uniform_policy():
    game = tacit.make("good-state")
    run = tacit.learn(game, "adaptive-v-cce", episodes=500)
    assert run.uniform_gap == pytest.approx(tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap)
    assert f"(uniform policy: {run.uniform_gap:.4g})" in str(run)
