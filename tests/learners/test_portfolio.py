"""Learners that take turns: each is where its own episodes alone would have brought it, and the best one answers."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.core.records import columns, parts
from tacit.engine.drive import Nothing
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs.portfolio import watch_members
from tacit.engine.outputs.recorded import record
from tacit.evaluation.certificate import certificate
from tacit.learners import REGISTRY, Portfolio

EPISODES = 101


def bits(*structs: object) -> list[bytes]:
    return [np.ascontiguousarray(c).tobytes() for one in structs for _, a in parts(one) for _, c in columns(a)]


@pytest.mark.usefixtures("interpreted")
def test_members_learn_from_their_own_episodes_only():
    """Bit for bit what each would be alone with the random numbers of its own episodes, certificate and record too."""
    game = tacit.make("random-general-sum", agents=2, actions=[2, 3], states=3, horizon=3, seed=4)
    spec = REGISTRY.make("portfolio", first=20)
    whose = np.array([1] * 20 + [0] * 20 + [0, 1] * 30 + [0])
    cert, kept = certificate(game, "cce"), record(game, EPISODES)
    together = FusedEngine(
        game,
        spec,
        episodes=EPISODES,
        seed=5,
        certificate=watch_members([cert, Nothing()], 20),
        record=watch_members([kept, Nothing()], 20),
    )
    draws = np.random.default_rng(1).random((1 + game.agents, EPISODES, game.horizon))
    returns = np.zeros((EPISODES, game.agents))
    together.play(draws, returns)
    for m, (_, own) in enumerate(spec.members):
        held = {"certificate": certificate(game, "cce"), "record": record(game, EPISODES)} if m == 0 else {}
        alone = FusedEngine(game, own, episodes=EPISODES, seed=5, **held)
        its = np.ascontiguousarray(draws[:, whose == m])
        gained = np.zeros((its.shape[1], game.agents))
        alone.play(its, gained)
        assert bits(spec.part(together.state, m)) == bits(alone.state)
        np.testing.assert_array_equal(returns[whose == m], gained)
        assert len(gained) == spec.share(m, EPISODES)
        if m == 0:
            assert bits(cert) == bits(alone.certificate)
            assert kept.stored.tobytes() == alone.record.stored.tobytes()
        late = np.average(gained, axis=0, weights=_late(len(gained)))
        np.testing.assert_allclose(spec.late_means(together.state)[m], late, rtol=1e-12)


def _late(episodes: int) -> np.ndarray:
    """The weights of a mean that moves by 10/(10 + n) in its n-th episode, from 0."""
    rates = 10 / (10 + np.arange(episodes))
    return rates * np.append(np.cumprod((1 - rates)[:0:-1])[::-1], 1.0)


@pytest.mark.usefixtures("interpreted")
def test_three_members_take_turns_in_order():
    game = tacit.make("chicken")
    members = {"a": "q-independent", "b": "model-independent", "c": "model-independent"}
    spec = Portfolio([(own, REGISTRY.make(name)) for own, name in members.items()], first=0)
    engine = FusedEngine(game, spec, episodes=20, seed=0)
    for done in range(1, 9):
        engine.advance(1)
        played = [int(spec.part(engine.state, m).agents["episodes"][0]) for m in (1, 2)]
        assert played == [(done + 1) // 3, done // 3] == [spec.share(m, done) for m in (1, 2)]


@pytest.mark.usefixtures("interpreted")
def test_three_members_first_have_episodes_in_a_row():
    members = {"a": "model-independent", "b": "model-independent", "c": "model-independent"}
    spec = Portfolio([(own, REGISTRY.make(name)) for own, name in members.items()], first=2)
    engine = FusedEngine(tacit.make("chicken"), spec, episodes=20, seed=0)
    had = [0, 0, 0]
    for done, m in enumerate([2, 2, 1, 1, 0, 0, 0, 1, 2, 0, 1, 2, 0], start=1):
        had[m] += 1
        engine.advance(1)
        assert [int(spec.part(engine.state, n).agents["episodes"][0]) for n in range(3)] == had
        assert [spec.share(n, done) for n in range(3)] == had


def test_the_answer_is_the_best_candidate_of_all():
    run = tacit.learn(tacit.make("good-state", horizon=5), "portfolio", episodes=1500, seed=1, first=500)
    assert {name.split()[0] for name in run.candidates} == {"adaptive-v-cce", "model-independent"}
    assert run.gap == min(one.gap for one in run.candidates.values()) < 1e-3
    assert run.gaps.kind == "cce"
    assert run.curve["gap"][-1] == run.gap
    found = tacit.evaluate(run.game, run.policy)
    assert found.gap == run.gap
    assert (found.values == run.values).all()


@pytest.mark.usefixtures("interpreted")
def test_the_certificate_is_that_of_the_stored_policy():
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=2, seed=3)
    run = tacit.learn(game, "portfolio", episodes=300, first=100)
    mixture = run.candidates["adaptive-v-cce average"]
    stored = tacit.evaluate(game, mixture.policy, gap="cce")
    np.testing.assert_allclose(stored.gaps, mixture.gaps.upper, atol=1e-9)
    assert (mixture.gaps.lower <= mixture.gaps.upper + 1e-12).all()
    assert mixture.gaps.lower.max() > 0


def test_in_an_environment_it_does_the_same_and_late_returns_decide():
    game = tacit.make("good-state", horizon=5)
    there = tacit.learn(tacit.to_pettingzoo(game), "portfolio", episodes=3000, seed=3, horizon=5)
    here = tacit.learn(game, "portfolio", episodes=3000, seed=3)
    for name, one in there.candidates.items():
        for mine, yours in zip(one.policy.probs, here.candidates[name].policy.probs, strict=True):
            np.testing.assert_array_equal(mine, yours)
    assert there.gaps.source == "none"
    assert there.chosen in there.candidates
    best = tacit.evaluate(game, here.candidates[there.chosen].policy).values.sum()
    assert best >= max(one.values.sum() for one in here.candidates.values()) - 0.5


@pytest.mark.parametrize(
    ("members", "sentence"),
    [("adaptive-v-cce", "at least two"), ("adaptive-v-cce,pg-exact", "takes no turns"), ("a,b", "no learner 'a'")],
)
def test_what_takes_no_turns_is_refused(members: str, sentence: str):
    with pytest.raises(tacit.TacitError, match=sentence):
        tacit.learn(tacit.make("chicken"), "portfolio", episodes=10, members=members)


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (3, "members is 3; it must be names"),
        ([3], "it must be names"),
        ("q-independent", "members is 'q-independent'; a portfolio has at least two"),
        ("q-independent,q-independent", "members has 'q-independent' twice"),
        ([("a", 1), ("b", 2)], "learner is 1; it must be a name"),
        ("q-independent,pg-exact", "takes no turns"),
        ("q-independent,portfolio", "portfolio takes turns itself; list the members of both"),
    ],
)
def test_members_that_cannot_be_are_refused(members: object, sentence: str):
    with pytest.raises(tacit.TacitError, match=sentence):
        tacit.learners.REGISTRY.make("portfolio", members=members)
    several = tacit.learners.REGISTRY.make("portfolio", members=["q-independent", "ucb-independent"])
    assert several == tacit.learners.REGISTRY.make("portfolio", members="q-independent, ucb-independent")
