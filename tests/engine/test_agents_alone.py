"""Agents that know nothing of each other, in a plain Python loop, do what the fused loop does, bit for bit."""

from __future__ import annotations

import conformance as table
import numpy as np
import pytest

from tacit.testing.checks import own_records

EPISODES = 60

#: Those of a kind that others show are compared in the long run. The agents of pg-two-timescale differ in their steps.
ALWAYS = {"wolf-phc", "pg-two-timescale"}
LONG = [name for name in table.LEARNERS if "tsallis-inf" in name or name in table.PUBLISHED.keys() - ALWAYS]


@pytest.mark.parametrize(
    "learner", [pytest.param(name, marks=pytest.mark.slow if name in LONG else []) for name in table.LEARNERS]
)
def test_agents_alone_equal_the_fused_loop(learner: str):
    for name in table.GAMES:
        game, spec = table.make_game(name), table.make_learner(learner)
        session, returns = table.fused(game, spec, EPISODES)
        agents, alone = table.apart(game, learner, table.iota_of(game, spec, EPISODES), EPISODES)
        assert (returns == alone).all(), name
        for i, agent in enumerate(agents):
            together = own_records(session.state, i, game.actions[i])
            single = own_records(agent.state, 0, game.actions[i])
            assert together.keys() == single.keys()
            for key, value in together.items():
                assert value.shape == single[key].shape, (name, i, key)
                assert value.tobytes() == single[key].tobytes(), (name, i, key)


def test_every_learner_has_learned_something_in_the_table():
    """The comparison above means something: stages ended, and distributions moved away from even."""
    for name in table.GAMES:
        game = table.make_game(name)
        session, _ = table.fused(game, table.make_learner("stage-v-cce"), EPISODES)
        assert (session.state.cells["length"] > game.horizon).any(), name
        assert (session.state.cells["upper"][:-1] != np.arange(game.horizon, 0, -1.0)[:, None, None]).any(), name


@pytest.mark.parametrize("learner", table.GRADIENTS)
def test_every_gradient_has_moved_in_the_table(learner: str):
    for name in table.GAMES:
        game, spec = table.make_game(name), table.make_learner(learner)
        still = table.session(game, spec, EPISODES)
        moved, _ = table.fused(game, spec, EPISODES)
        before, after = (one.policy(one.distributions()).probs for one in (still, moved))
        assert all((np.abs(old - new) > 1e-4).any() for old, new in zip(before, after, strict=True)), name


def test_another_seed_gives_another_run():
    game, spec = table.make_game("good-state"), table.make_learner("stage-v-cce")
    one, other = (table.digest(*table.fused(game, spec, EPISODES, seed=seed)) for seed in (1, 2))
    assert one != other


def test_chunks_do_not_matter():
    game, spec = table.make_game("good-state"), table.make_learner("stage-v-cce")
    whole, returns = table.fused(game, spec, EPISODES)
    pieces = table.session(game, spec, EPISODES)
    parts = np.concatenate([pieces.advance(n) for n in (1, 6, EPISODES - 7)])
    assert table.digest(pieces, parts) == table.digest(whole, returns)
