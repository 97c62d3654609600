"""Learners that take turns draw what each would draw alone: the portfolio is never behind the better of its members."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.core.records import columns, parts
from tacit.engine.fused import FusedEngine
from tacit.learners import REGISTRY

GAME = {"agents": 2, "actions": [2, 3], "states": 3, "horizon": 3, "seed": 4}


def bits(state: object) -> list[bytes]:
    return [np.ascontiguousarray(c).tobytes() for _, a in parts(state) for _, c in columns(a)]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("pieces", [(64,), (1, 2, 4, 5, 52)])
@pytest.mark.parametrize("first", [0, 7, 32, 100])
def test_a_member_is_what_it_is_alone_after_as_many_episodes(pieces: tuple[int, ...], first: int):
    game, spec = tacit.make("random-general-sum", **GAME), REGISTRY.make("portfolio", first=first)
    engine = FusedEngine(game, spec, episodes=64, seed=5)
    returns = np.concatenate([engine.advance(n) for n in pieces])
    whose = {0: [0, 1] * 32, 7: [1] * 7 + [0] * 7 + [0, 1] * 25, 32: [1] * 32 + [0] * 32, 100: [1] * 64}[first]
    for m, (_, own) in enumerate(spec.members):
        alone = FusedEngine(game, own, episodes=64, seed=5)
        gained = alone.advance(whose.count(m))
        np.testing.assert_array_equal(returns[np.array(whose) == m], gained)
        assert bits(spec.part(engine.state, m)) == bits(alone.state)


@pytest.mark.parametrize("first", [0, 500])
def test_after_twice_the_episodes_the_answer_is_no_worse_than_the_better_members(first: int):
    """Equal to the last bit, so no statistics: gaps and values of each member's candidates are those of its own run."""
    game = tacit.make("random-general-sum", **GAME)
    run = tacit.learn(game, "portfolio", episodes=1200, seed=3, first=first)
    for name in ("adaptive-v-cce", "model-independent"):
        alone = tacit.learn(game, name, episodes=600, seed=3)
        its = {key.removeprefix(f"{name} "): one for key, one in run.candidates.items() if key.startswith(name)}
        assert set(its) == set(alone.candidates)
        for key, one in alone.candidates.items():
            np.testing.assert_array_equal(its[key].gaps.upper, one.gaps.upper)
            np.testing.assert_array_equal(its[key].values, one.values)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("first", [0, 50])
def test_rows_of_the_curve_show_the_members_as_they_are_alone(first: int):
    game = tacit.make("random-general-sum", **GAME)
    run = tacit.learn(game, "portfolio", episodes=400, seed=3, gap=1e-9, first=first)
    for name, later in (("adaptive-v-cce", first), ("model-independent", 0)):
        alone = tacit.learn(game, name, episodes=200, seed=3, gap=1e-9)
        episodes = np.where(alone.curve["episode"] <= first, later + alone.curve["episode"], 2 * alone.curve["episode"])
        rows = np.isin(run.curve["episode"], episodes)
        assert rows.sum() == len(episodes)
        np.testing.assert_array_equal(run.curve[f"gap_{name}"][rows], alone.curve["gap"])


def test_a_run_that_ends_before_a_member_begins_answers_with_the_others():
    run = tacit.learn(tacit.make("good-state", horizon=4), "portfolio", episodes=90, seed=1, gap=0.0)
    assert {name.split()[0] for name in run.candidates} == {"model-independent"}
    assert run.chosen in run.candidates
    assert np.isnan(run.curve["gap_adaptive-v-cce"]).all()
