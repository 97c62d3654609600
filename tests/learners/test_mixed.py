"""A learner for each agent: in the compiled loop the same, bit for bit, as agents on their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core.streams import stream
from tacit.engine import Advanced, Event
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.fused import FusedEngine

EPISODES, SEED = 120, 7
GAMES = {
    "good-state": ("good-state", {"horizon": 4}),
    "three agents": ("random-general-sum", {"agents": 3, "actions": [2, 3, 2], "states": 3, "horizon": 3, "seed": 4}),
    "five agents": ("random-general-sum", {"agents": 5, "actions": 2, "states": 2, "horizon": 2, "seed": 4}),
}
#: Each as a team of any size takes them, in turn. ι is given: an agent on its own does not know the size of the run.
TEAMS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "v-learning and benchmarks": [
        ("stage-v-cce", {"bonus": 0.05, "iota": 3.0}),
        ("q-independent", {}),
        ("ucb-independent", {"bonus": 0.1}),
    ],
    "benchmarks": [("q-independent", {}), ("ucb-independent", {"bonus": 0.1})],
    "gradients": [
        ("pg-storm", {"eta": 1e-3, "exploration": 0.05, "start": "random"}),
        ("pg-sgd", {"eta": 1e-3}),
        ("npg", {"gradient": "sampled", "eta": 0.01}),
    ],
    "different bandits": [
        ("stage-v-ce", {"bonus": 0.05, "iota": 3.0}),
        ("v-learning", {"bonus": 0.05, "iota": 2.0}),
        ("stage-v-cce", {"bandit": "tsallis-inf", "bonus": 0.05, "iota": 3.0}),
    ],
}


def make(game: str, team: str) -> tuple[tacit.TabularGame, list[tuple[str, dict[str, Any]]]]:
    name, params = GAMES[game]
    made = tacit.make(name, **params)
    return made, [TEAMS[team][i % len(TEAMS[team])] for i in range(made.agents)]


def objects(members: list[tuple[str, dict[str, Any]]]) -> list[tacit.learners.Learner]:
    return [tacit.learners.REGISTRY.make(name, **params) for name, params in members]


def apart(game: tacit.TabularGame, members: list[tuple[str, dict[str, Any]]]) -> tuple[list[tacit.Agent], np.ndarray]:
    """Agents that know nothing of each other, in a plain loop, with the environment's own stream."""
    known = {"states": game.states, "horizon": game.horizon, "reward_range": game.reward_range, "seed": SEED}
    agents = [
        tacit.agent(name, actions=game.actions[i], index=i, **known, **params)
        for i, (name, params) in enumerate(members)
    ]
    world, returns = stream(SEED, 0), np.zeros((EPISODES, game.agents))
    for k in range(EPISODES):
        s = game.start(world.random())
        for h in range(game.horizon):
            actions = [agent.act(h, s) for agent in agents]
            last = h == game.horizon - 1
            s_next, rewards = game.step(h, s, actions, 0.0 if last else world.random())
            for agent, a, r in zip(agents, actions, rewards, strict=True):
                agent.learn(h, s, a, float(r), None if last else s_next)
            returns[k] += rewards
            s = s_next
    return agents, returns


#: The compiler takes seconds for each agent of a team: a team of two is compared with agents on their own below; for
#: five agents the loop is not unrolled.
SHORT = {("five agents", "benchmarks")}


@pytest.mark.parametrize(
    ("game", "team"),
    [
        pytest.param(game, team, marks=[] if (game, team) in SHORT else pytest.mark.slow)
        for game in GAMES
        for team in TEAMS
    ],
)
def test_the_compiled_loop_is_agents_on_their_own(game: str, team: str):
    made, members = make(game, team)
    learner = tacit.learners.Mixed(tuple(objects(members)), tuple(name for name, _ in members))
    engine = FusedEngine(made, learner, episodes=EPISODES, seed=SEED)
    together = engine.advance(EPISODES)
    agents, alone = apart(made, members)
    np.testing.assert_array_equal(together, alone)
    assert len({tuple(row) for row in alone}) > 1
    for mine, agent in zip(engine.distributions(), agents, strict=True):
        np.testing.assert_array_equal(mine, agent.policy)


@pytest.mark.usefixtures("interpreted")
def test_learn_takes_a_list_of_names_or_objects():
    game, members = make("good-state", "v-learning and benchmarks")
    given = objects(members)
    run = tacit.learn(game, given, episodes=EPISODES, seed=SEED, points=4)
    agents, returns = apart(game, members)
    for mine, agent in zip(run.last.probs, agents, strict=True):
        np.testing.assert_array_equal(mine, agent.policy)
    np.testing.assert_allclose(run.reward, returns[-EPISODES // 10 :].mean(axis=0), rtol=1e-12)
    assert (run.gaps.kind, run.gaps.source) == ("nash", "exact")  # a product policy, judged as such
    assert run.policy is run.last
    assert run.gap == pytest.approx(tacit.evaluate(game, run.last).gap, abs=1e-12)
    named = tacit.learn(game, ["stage-v-cce", "q-independent"], episodes=50)
    assert named.learner == "[stage-v-cce, q-independent]"
    assert [named.params[f"agent {i}"]["learner"] for i in (0, 1)] == ["stage-v-cce", "q-independent"]
    assert named.params["agent 0"]["bonus"] == 6.0


@pytest.mark.usefixtures("interpreted")
def test_agents_that_learn_alike_are_no_special_case():
    """Twice the same learner in a list is the same run as that learner for all."""
    game = tacit.make("good-state", horizon=4)
    same = tacit.learn(game, "q-independent", episodes=EPISODES, seed=SEED)
    listed = tacit.learn(game, ["q-independent"] * 2, episodes=EPISODES, seed=SEED)
    assert same.curve.tobytes() == listed.curve.tobytes()
    for mine, yours in zip(same.last.probs, listed.last.probs, strict=True):
        np.testing.assert_array_equal(mine, yours)


@pytest.mark.usefixtures("interpreted")
def test_the_theorems_iota_is_that_of_the_whole_run():
    game = tacit.make("good-state", horizon=4)
    alone = tacit.learn(game, "stage-v-cce", episodes=EPISODES)
    mixed = tacit.learn(game, ["stage-v-cce", "q-independent"], episodes=EPISODES)
    assert mixed.params["agent 0"]["iota"] == alone.params["iota"]


@pytest.mark.usefixtures("interpreted")
def test_interrupted_and_resumed_it_ends_with_the_same_bits(tmp_path: Path):
    game, members = make("good-state", "v-learning and benchmarks")

    def stop(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= 50:
            raise KeyboardInterrupt

    def learn(**more: Any) -> tacit.Run:
        return tacit.learn(game, objects(members), episodes=EPISODES, seed=SEED, points=6, **more)

    with pytest.warns(UserWarning, match="interrupted"):
        learn(progress=stop, checkpoint=Checkpoint(tmp_path / "c.npz", key="a"))
    resumed, whole = learn(checkpoint=Checkpoint(tmp_path / "c.npz", key="a")), learn()
    assert resumed.curve.tobytes() == whole.curve.tobytes()
    for mine, yours in zip(resumed.last.probs, whole.last.probs, strict=True):
        assert mine.tobytes() == yours.tobytes()


@pytest.mark.usefixtures("interpreted")
def test_in_an_environment_each_agent_has_its_own_too():
    pytest.importorskip("pettingzoo")
    game, members = make("good-state", "gradients")
    here = tacit.learn(game, objects(members), episodes=60, seed=SEED)
    there = tacit.learn(tacit.to_pettingzoo(game), objects(members), episodes=60, seed=SEED)
    for mine, yours in zip(here.last.probs, there.last.probs, strict=True):
        np.testing.assert_array_equal(mine, yours)
    np.testing.assert_array_equal(here.curve["reward"], there.curve["reward"])


@pytest.mark.parametrize(
    ("learner", "params", "message"),
    [
        (["stage-v-cce"], {}, "learner must list one for each of 2 agents"),
        (["stage-v-cce"] * 3, {}, "learner must list one for each of 2 agents"),
        ([], {}, "learner must list one for each of 2 agents"),
        (["stage-v-cce", "ucb-central"], {}, "ucb-central does not learn from one agent's own play"),
        (["pg-exact", "stage-v-cce"], {}, "pg-exact does not learn from one agent's own play"),
        (["npg", "npg"], {}, "npg does not learn from one agent's own play"),
        (["stage-v-cce", "q-indep"], {}, "did you mean 'q-independent'"),
        (["stage-v-cce", 3], {}, "learner must be"),
        (["stage-v-cce", "q-independent"], {"bonus": 0.1}, "leave out bonus"),
        (["stage-v-cce", ["q-independent"]], {}, "learner must be"),
    ],
)
def test_teams_that_cannot_be(learner: list[Any], params: dict[str, Any], message: str):
    with pytest.raises(tacit.TacitError, match=message) as caught:
        tacit.learn(tacit.make("chicken"), learner, episodes=5, **params)
    assert "\n" not in str(caught.value)
