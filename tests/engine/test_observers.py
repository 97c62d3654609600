"""The certificate and the record watch; they never change what is drawn or learned."""

from __future__ import annotations

import conformance as table
import numpy as np
import pytest

import tacit
from tacit.engine.fused import FusedEngine


@pytest.fixture(scope="module")
def game() -> tacit.TabularGame:
    return table.make_game("good-state")


def state_digest(game: tacit.TabularGame, *, watched: bool, kept: bool) -> str:
    session = table.session(game, table.make_learner("stage-v-cce"), 300, seed=3, watched=watched, kept=kept)
    returns = session.advance(300)
    bare = FusedEngine.__new__(FusedEngine)
    bare.state, bare.certificate, bare.record = session.state, (), ()
    return table.digest(bare, returns)


def test_watching_changes_nothing(game: tacit.TabularGame):
    seen = {state_digest(game, watched=w, kept=k) for w in (False, True) for k in (False, True)}
    assert len(seen) == 1


def test_learn_without_certificate_or_record_is_the_same_run(game: tacit.TabularGame):
    full = tacit.learn(game, "stage-v-cce", episodes=300, seed=3, bonus=0.1)
    bare = tacit.learn(game, "stage-v-cce", episodes=300, seed=3, bonus=0.1, certify=False, keep=False)
    assert (full.reward == bare.reward).all()
    assert all((one == two).all() for one, two in zip(full.last.probs, bare.last.probs, strict=True))
    average = full.candidates["average"]
    assert (average.gaps.source, bare.gaps.source) == ("certificate", "estimate")  # bonus 0.1 is not the theory's
    assert bare.values is None
    with pytest.raises(tacit.TacitError, match="no record"):
        _ = bare.policy


def test_the_number_of_points_changes_the_curve_only(game: tacit.TabularGame):
    few, many = (tacit.learn(game, "stage-v-cce", episodes=300, seed=3, bonus=0.1, points=p) for p in (3, 300))
    assert (len(few.curve), len(many.curve)) == (3, 300)
    assert few.gap == many.gap
    assert few.curve["episode"].tolist() == [100, 200, 300]
    assert (few.curve["gap"] == many.curve["gap"][[99, 199, 299]]).all()
    assert np.allclose(few.curve["reward_1"][0], many.curve["reward_1"][:100].mean())
    assert np.allclose(few.reward, [many.curve[f"reward_{i}"][-30:].mean() for i in range(2)])
