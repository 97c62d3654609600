"""Certificates of counting games while learning: those of the joint tables, and of what was stored."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
import pytest
from random_counts import Tables

import tacit
from tacit.evaluation.certified import certified_bound


def same(one: tacit.Run, other: tacit.Run) -> None:
    for name in ("average", "recent"):
        mine, theirs = one.candidates[name], other.candidates[name]
        np.testing.assert_allclose(mine.gaps.upper, theirs.gaps.upper, atol=1e-10)
        assert mine.values is not None
        assert theirs.values is not None
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-10)
    assert (one.reward == other.reward).all()


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", ["adaptive-v-cce", "adaptive-v-ce", "stage-v-cce"])
@pytest.mark.parametrize("form", ["loads and counts", "two actions", "counts and scores"])
def test_streaming_is_that_of_the_joint_tables_and_of_the_record(form: str, learner: str):
    game = Tables(form).game()
    run = tacit.learn(game, learner, episodes=40, seed=4, points=2)
    same(run, tacit.learn(game.tabular(), learner, episodes=40, seed=4, points=2))
    for name in ("average", "recent"):
        values, gaps = certified_bound(game, run.candidates[name].policy, run.gaps.kind)
        np.testing.assert_allclose(np.maximum(gaps, 0), run.candidates[name].gaps.upper, atol=1e-10)
        np.testing.assert_allclose(values, run.candidates[name].values, atol=1e-10)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", ["adaptive-v-cce", "adaptive-v-ce"])
@pytest.mark.parametrize("kind", ["counts", "tables"])
def test_a_run_of_some_visits_certifies_its_returned_policy(kind: str, learner: str, tmp_path: Path):
    counts = Tables("loads and counts").game()
    game = counts if kind == "counts" else counts.tabular()
    seen: list[object] = []
    run = tacit.learn(game, learner, episodes=60, seed=1, points=2, visits_per_stage=2, progress=seen.append)
    assert any("2 visits of each stage are kept" in getattr(event, "text", "") for event in seen)
    policy = run.candidates["average"].policy
    assert isinstance(policy, tacit.policies.RecordedPolicy)
    for name in ("average", "recent"):
        found = tacit.evaluate(game, run.candidates[name].policy, gap=run.gaps.kind)
        np.testing.assert_allclose(found.gaps, run.candidates[name].gaps.upper, atol=1e-10)
        np.testing.assert_allclose(found.values, run.candidates[name].values, atol=1e-10)
    policy.save(tmp_path / "p.npz")
    again = tacit.policies.load(tmp_path / "p.npz")
    assert (tacit.evaluate(game, again, gap="cce").gaps == tacit.evaluate(game, policy, gap="cce").gaps).all()


@pytest.mark.usefixtures("interpreted")
def test_all_visits_of_a_stage_are_the_paper_s_policy():
    """With as many visits as a stage has, thinning leaves nothing out: it is stage-based V-learning's own policy."""
    game = Tables("two actions").game()
    whole = tacit.learn(game, "stage-v-cce", episodes=60, seed=1, points=2)
    same(tacit.learn(game, "stage-v-cce", episodes=60, seed=1, points=2, visits_per_stage=1000), whole)


@pytest.mark.usefixtures("interpreted")
def test_the_parts_of_a_sampled_policy_earn_its_value():
    """Each agent plays its part alone; the mean return is the certified value within 4 standard errors."""
    game = Tables("loads and counts").game()
    run = tacit.learn(game, "adaptive-v-cce", episodes=60, seed=1, points=2, visits_per_stage=2)
    parts, rng, plays = [run.policy.part(i) for i in range(3)], np.random.default_rng(0), 400
    returns = np.zeros((plays, 3))
    for k in range(plays):
        for part in parts:
            part.begin(k)
        s = game.start(rng.random())
        for h in range(game.horizon):
            s, rewards = game.step(h, s, [part.act(h, s) for part in parts], rng.random())
            returns[k] += rewards
    assert (np.abs(returns.mean(axis=0) - run.values) < 4 * returns.std(axis=0) / np.sqrt(plays)).all()


def test_compiled_is_interpreted(monkeypatch: pytest.MonkeyPatch):
    game = Tables("two actions").game()
    run = tacit.learn(game, "adaptive-v-cce", episodes=30, seed=4, points=2, visits_per_stage=2)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    plain = tacit.learn(game, "adaptive-v-cce", episodes=30, seed=4, points=2, visits_per_stage=2)
    assert run.gaps.upper.tobytes() == plain.gaps.upper.tobytes()
    one, other = (each.candidates["average"].policy for each in (run, plain))
    assert one.stored.tobytes() == other.stored.tobytes()


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("thin", [None, 2])
def test_a_checkpoint_resumes_to_the_same_bits(thin: int | None, tmp_path: Path):
    from tacit.engine.checkpoint import Checkpoint

    game = Tables("two actions").game()
    whole = tacit.learn(game, "adaptive-v-cce", episodes=30, seed=4, points=3, visits_per_stage=thin)

    def stop(event: object) -> None:
        if getattr(event, "done", 0) == 20:
            raise KeyboardInterrupt

    given = {"episodes": 30, "seed": 4, "points": 3, "visits_per_stage": thin}
    with pytest.warns(UserWarning, match="interrupted"):
        tacit.learn(game, "adaptive-v-cce", **given, checkpoint=Checkpoint(tmp_path / "c.npz", key="k"), progress=stop)
    resumed = tacit.learn(game, "adaptive-v-cce", **given, checkpoint=Checkpoint(tmp_path / "c.npz", key="k"))
    assert resumed.gaps.upper.tobytes() == whole.gaps.upper.tobytes()
    one, other = (each.candidates["average"].policy for each in (resumed, whole))
    assert one.stored.tobytes() == other.stored.tobytes()


def test_the_decision_to_thin_is_made_beforehand():
    from tacit.engine.recorded import visits_per_stage
    from tacit.learners import REGISTRY
    from tacit.options import Options

    learner = REGISTRY.make("adaptive-v-cce")
    large, small = tacit.make("congestion", agents=1000), tacit.make("congestion", agents=10)
    assert visits_per_stage(large, learner, Options(10**6)) == 47
    assert visits_per_stage(large, learner, Options(20_000)) == 116
    assert visits_per_stage(large, learner, Options(100)) is None
    assert visits_per_stage(small, learner, Options(10**5)) is None
    assert visits_per_stage(small, learner, Options(100, visits_per_stage=3)) == 3
