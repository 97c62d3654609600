"""Play that never resets: against a transcription in plain Python, in chunks, resumed, and where it stops."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.core import streams
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.drive import Nothing
from tacit.engine.events import Advanced
from tacit.engine.fused import FusedEngine
from tacit.learners import QIndependent

LEARNER = {"step": 0.3, "exploration": 1.0, "decay": 2e-3, "initial": "uniform-rivals"}


@pytest.fixture(scope="module")
def game():
    return tacit.make("pricing", prices=4, costs=[1.0, 0.9])


def transcribe(game, periods, still, seed, step, exploration, decay=0.0, **_):
    """Play with the agents' own random streams; return Q, the greedy actions, the last state, and the periods played.

    Two agents that learn by Q-learning with exploration exp(−decay·t), as the literature states it.
    """
    draws = [streams.stream(seed, role) for role in range(3)]
    profits, delta = game.rewards[:, 0, 0], game.discount
    first = [profits[0].mean(axis=1), profits[1].mean(axis=0)]
    Q = [np.tile(own / (1 - delta), (game.states, 1)) for own in first]
    best = [own.argmax(axis=1) for own in Q]
    s, changed = game.start(draws[0].random()), 0
    for t in range(periods):
        epsilon = exploration * math.exp(-decay * t)
        chosen = []
        for i in range(2):
            u = draws[1 + i].random()
            chosen.append(int(u / epsilon * 4) if u < epsilon else int(best[i][s]))
        follows = 4 * chosen[0] + chosen[1]
        for i, a in enumerate(chosen):
            Q[i][s, a] = (1 - step) * Q[i][s, a] + step * (profits[i][tuple(chosen)] + delta * Q[i][follows].max())
            if Q[i][s].argmax() != best[i][s]:
                best[i][s], changed = Q[i][s].argmax(), t + 1
        s = follows
        if t + 1 - changed >= still:
            return Q, best, s, t + 1
    return Q, best, s, periods


@pytest.mark.parametrize("seed", range(3))
def test_it_is_q_learning_as_the_literature_states_it(game, seed):
    Q, best, place, periods = transcribe(game, 20_000, 500, seed, **LEARNER)
    run = tacit.learn(game, "q-independent", periods=20_000, still=500, seed=seed, certify=False, **LEARNER)
    assert (run.episodes, run.place, run.ended) == (periods, place, "still")
    assert 500 < periods < 20_000
    for i in range(2):
        assert run.policy.probs[i][0].argmax(axis=1).tolist() == best[i].tolist()
    assert run.visits.sum() == periods
    engine = FusedEngine(game, QIndependent(**LEARNER), episodes=1, seed=seed, endless=True)
    engine.advance(periods)
    for i in range(2):
        np.testing.assert_allclose(engine.state.cells["Q"][0, :, i, :4], Q[i], rtol=1e-9)


def test_chunks_change_nothing(game):
    def state(sizes):
        engine = FusedEngine(game, QIndependent(**LEARNER), episodes=1, seed=5, record=Nothing(), endless=True)
        returns = np.concatenate([engine.advance(size) for size in sizes])
        return engine.state.cells.tobytes(), engine.state.agents.tobytes(), engine.place, returns.tobytes()

    assert state([40_000]) == state([1, 16_384, 99, 40_000 - 16_484])


def test_a_checkpoint_resumes_to_the_same_bits(game, tmp_path):
    def learn(**more):
        return tacit.learn(game, "q-independent", periods=60_000, still=50_000, seed=1, points=20, **LEARNER, **more)

    def stop(event):
        if isinstance(event, Advanced) and event.done > 3000:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="periods"):
        part = learn(progress=stop, checkpoint=Checkpoint(tmp_path / "c.npz", key="a"))
    assert part.interrupted
    assert part.episodes < 50_000
    run, whole = learn(checkpoint=Checkpoint(tmp_path / "c.npz", key="a")), learn()
    assert run.visits.tolist() == whole.visits.tolist()
    assert (run.place, run.episodes, run.ended) == (whole.place, whole.episodes, whole.ended)
    assert run.curve.tobytes() == whole.curve.tobytes()
    assert all((a == b).all() for a, b in zip(run.policy.probs, whole.policy.probs, strict=True))


def test_boltzmann_draws_in_proportion_to_exp_of_q():
    game = tacit.make("pricing", prices=3, memory=0)
    learner = QIndependent(step=0.0, temperature=0.5, initial="uniform-rivals")
    engine = FusedEngine(game, learner, episodes=1, seed=0, endless=True)
    Q = engine.state.cells["Q"][0, 0, 0, :3].copy()
    weight = np.exp((Q - Q.max()) / 0.5)
    share = weight / weight.sum()
    u = np.random.default_rng(0).random(20_000)
    from tacit.core.generics import act

    counts = np.bincount([act(engine.state, 0, 0, 0, x) for x in u], minlength=3) / len(u)
    np.testing.assert_allclose(counts, share, atol=0.02)  # five standard deviations
    assert learner.explores(engine.state, 0) == 0.0


def test_one_agent_finds_the_best_policy_of_a_random_game():
    rng = np.random.default_rng(2)
    moves, rewards = rng.dirichlet(np.ones(3), (3, 2)), rng.random((1, 3, 2))
    game = tacit.TabularGame(moves, rewards, 0, discount=0.8)
    run = tacit.learn(game, "q-independent", periods=200_000, step=0.01, exploration=0.3)
    assert run.gap < 1e-9
    assert run.ended == "periods"
    assert "200,000 periods" in str(run)


def test_agents_may_learn_differently(game):
    pair = [QIndependent(**LEARNER), QIndependent(step=0.1, temperature=0.1, decay=1e-3)]
    run = tacit.learn(game, pair, periods=100_000, still=1000, certify=False)
    assert run.ended == "still"
    assert run.place is not None


def test_a_gap_or_the_clock_ends_it(game):
    assert tacit.learn(game, "q-independent", periods=10_000, gap=100.0).ended == "gap"
    assert tacit.learn(game, "q-independent", periods=10**12, seconds=0.05).ended == "seconds"


def test_the_command_line_counts_periods(capsys):
    line = (
        "run pricing q-independent --game-set prices=3 --periods 20000 --still 500 --set decay=0.01 --set exploration=1"
    )
    assert main([*line.split(), "--points", "3"]) == 0
    text = capsys.readouterr().out
    assert "greedy policies stood still" in text
    assert " periods" in text
    assert main([*line.split(), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["ended"], summary["limits"]["still"]) == (["still"], 500)
    assert summary["episodes_done"][0] < 20_000


def test_bad_calls_are_one_sentence(game):
    finite = tacit.make("good-state")
    bad = [
        ({"periods": 10, "episodes": 20}, game, "q-independent", "not both"),
        ({"episodes": 10, "still": 5}, game, "q-independent", "give periods too"),
        ({"periods": 10}, finite, "q-independent", "periods is for discounted games"),
        ({"periods": 10}, game, "stage-v-cce", "stage-v-cce learns from how episodes end"),
        ({"periods": 10}, game, None, "portfolio learns from how episodes end"),
        ({"periods": 0}, game, "q-independent", "periods must be"),
        ({"episodes": 10, "initial": "uniform-rivals"}, game, "q-independent", "initial is of play that never resets"),
        ({"periods": 10, "temperature": 0}, game, "q-independent", "temperature must be"),
        ({"periods": 10, "initial": "x"}, game, "q-independent", "initial"),
    ]
    for options, where, learner, message in bad:
        with pytest.raises(tacit.TacitError, match=message):
            tacit.learn(where, learner, **options)
