"""A learner in the loop: compiled and interpreted, its distributions, and a run that resumes from a checkpoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core import generics, streams
from tacit.core.errors import TacitError
from tacit.core.records import arrays
from tacit.core.types import FloatArray
from tacit.engine import loop
from tacit.engine.fused import FusedEngine, seats
from tacit.engine.observers import Nothing, record
from tacit.evaluation.certificate import certificate
from tacit.games.exact import is_exact
from tacit.games.protocol import Game
from tacit.learners.spec import Learner, world_of
from tacit.testing.states import copy, numbers, require_alike_states, require_same_states
from tacit.testing.violation import (
    Violation,
    both_ways,
    require,
    require_alike,
    require_distribution,
    require_frequencies,
    require_same,
)

SEED, DRAWS = 11, 4000


def watching(spec: Learner, game: Game, episodes: int) -> tuple[Any, Any]:
    """Return what watches the loop: record and, where there are tables, certificate; nothing for other outputs."""
    if spec.output != "certified":
        return Nothing(), Nothing()
    tables = certificate(game, spec.equilibrium) if is_exact(game) else Nothing()
    return tables, record(game, episodes)


def play_both_ways(
    name: str, spec: Learner, game: Game, episodes: int, tolerance: float
) -> tuple[FusedEngine, FloatArray]:
    """Play the compiled loop, and see that the interpreted one gives the same bits, or the same to a tolerance."""
    kernels, state = game.kernels(), spec.init(world_of(spec, game, episodes=episodes, seed=SEED))
    seen = watching(spec, game, episodes)
    draws = np.array([streams.stream(SEED, role).random((episodes, game.horizon)) for role in range(1 + game.agents)])
    returns = np.zeros((episodes, game.agents))
    chosen, places = np.zeros(game.agents, dtype=np.int64), seats(game.agents)
    compiled, plain = both_ways(loop.episodes, name, kernels, state, *seen)
    nobody = np.zeros((game.agents, 0, game.horizon))
    compiled(kernels, state, *seen, places, draws[0, :0], nobody, chosen, returns[:0])
    plain(kernels, state, *seen, places, draws[0], draws[1:], chosen, returns)
    cert, kept = watching(spec, game, episodes)
    engine = FusedEngine(game, spec, episodes=episodes, seed=SEED, certificate=cert, record=kept)
    fused = engine.advance(episodes)
    sentence = f"{name} does not do the same compiled and interpreted"
    require_alike_states(state, engine.state, sentence, tolerance)
    for (path, left), (_, right) in zip(arrays(seen), arrays((cert, kept)), strict=True):
        require_alike(left, right, f"{sentence}; {path} of what watches differs", tolerance)
    require_alike(returns, fused, sentence, tolerance)
    fresh = spec.init(engine.world)
    moved = [a.tobytes() != b.tobytes() for (_, a), (_, b) in zip(numbers(fresh), numbers(state), strict=True)]
    require(any(moved), f"{name} learned nothing in {episodes} episodes: its records are as they were")
    return engine, fused


def check_weights(name: str, engine: FusedEngine) -> None:
    """See that `weigh` writes distributions, and that `act` draws from them, or evenly as often as it is said to."""
    game, rng = engine.game, np.random.default_rng(SEED)
    for i, probs in enumerate(engine.distributions()):
        for h in range(game.horizon):
            for s in range(min(game.states, 20)):
                require_distribution(probs[h, s], f"what weigh of {name} writes for agent {i} at h={h}, s={s}")
    if engine.learner.central or engine.learner.informed:  # its agents' actions hang together
        return
    for i, size in enumerate(game.actions):
        h, s = int(rng.integers(game.horizon)), int(rng.integers(game.states))
        state, out = copy(engine.state), np.full(size + 1, np.nan)
        generics.weigh(state, i, h, s, out)
        require(bool(np.isnan(out[size])), f"weigh of {name} writes more than the actions of agent {i}")
        acts = [int(generics.act(state, i, h, s, u)) for u in rng.random(DRAWS)]
        require(
            min(acts) >= 0 and max(acts) < size, f"act of {name} returned {max(acts)}; agent {i} has {size} actions"
        )
        counts = np.bincount(acts, minlength=size)
        explores = engine.learner.explores(state, i)
        beside = f", or evenly with the probability {explores:g} that it explores with" if explores else ""
        told = f"act of {name} does not draw from weigh{beside}, for agent {i} at h={h}, s={s}"
        expected = (1 - explores) * np.maximum(out[:size], 0) + explores / size
        require_frequencies(counts, expected, told, comparisons=game.agents)


def check_checkpoint(name: str, spec: Learner, game: Game, whole: FusedEngine, returns: FloatArray) -> None:
    """See that a run stopped and resumed in a new engine ends with the same bits."""
    episodes, half = len(returns), len(returns) // 2
    engines = []
    for _ in range(2):
        cert, kept = watching(spec, game, episodes)
        engines.append(FusedEngine(game, spec, episodes=episodes, seed=SEED, certificate=cert, record=kept))
    engines[0].advance(half)
    kept = {key: array.copy() for key, array in engines[0].snapshot().items()}
    try:
        engines[1].check(kept, half)
    except TacitError as error:
        raise Violation(f"a checkpoint of {name} would be taken for damaged: {error}") from error
    engines[1].restore(kept)
    rest = engines[1].advance(episodes - half)
    sentence = f"{name} does not end the same when it resumes from a checkpoint"
    require_same(rest, returns[half:], sentence)
    require_same_states(whole.state, engines[1].state, sentence)
