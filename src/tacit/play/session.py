"""A session: the fused loop in chunks, with its random streams. What it holds is all there is to a run."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from tacit.core import memory, streams
from tacit.core.compilation import compiled
from tacit.core.types import FloatArray
from tacit.evaluation.certificate import Certificate
from tacit.games.tables import GameTables, tables
from tacit.games.tabular import TabularGame
from tacit.learners import Learner, World, theorem_iota
from tacit.play import loop
from tacit.play.checkpoint import Arrays, pack, unpack
from tacit.play.observers import Nothing, Record, Trace, so_far
from tacit.policies import MarkovPolicy

#: Steps in a chunk: its uniform numbers stay within a core's cache.
CHUNK_STEPS = 16_384


def world_of(game: TabularGame, learner: Learner, *, episodes: int, seed: int) -> World:
    """Return what the agents of a run know: the sizes, ι as given or as the theorem has it, and where they start."""
    return World(
        game.states,
        np.array(game.actions),
        game.horizon,
        game.reward_range,
        _iota(game, learner, episodes),
        _start(game, getattr(learner, "start", "uniform"), seed),
    )


def _iota(game: TabularGame, learner: Learner, episodes: int) -> float:
    given = getattr(learner, "iota", 0.0)  # learners without a logarithmic factor have no use for it
    if given is not None:
        return float(given)
    return theorem_iota(
        agents=game.agents,
        states=game.states,
        actions=max(game.actions),
        episodes=episodes,
        horizon=game.horizon,
        confidence=learner.confidence,  # type: ignore[attr-defined]
    )


def _start(game: TabularGame, start: str | MarkovPolicy, seed: int) -> tuple[FloatArray, ...]:
    if isinstance(start, MarkovPolicy):
        start.check_fits(game)
        return start.probs
    if start == "random":
        return tuple(random_start(game.horizon, game.states, a, seed, i) for i, a in enumerate(game.actions))
    return ()


def random_start(horizon: int, states: int, actions: int, seed: int, index: int) -> FloatArray:
    """Return agent i's random starting point [H, S, A], from the seed and its number alone."""
    return streams.stream(seed, streams.START + index).dirichlet(np.ones(actions), (horizon, states))


def chunk_of(horizon: int) -> int:
    """Return how many episodes are best played at once."""
    return max(1, CHUNK_STEPS // horizon)


class Session:
    """One run in progress."""

    def __init__(
        self,
        game: TabularGame,
        learner: Learner,
        world: World,
        *,
        seed: int,
        certificate: Certificate | Trace | None = None,
        record: Record | None = None,
    ) -> None:
        self.game = game
        size = memory.floats(12, world.agents, world.cells, int(world.actions.max()))
        memory.require(size, "the state of the learners")
        self.state: Any = learner.init(world)  # type: ignore[attr-defined]
        self.certificate: Certificate | Trace | Nothing = Nothing() if certificate is None else certificate
        self.record: Record | Nothing = Nothing() if record is None else record
        self.seconds = 0.0  # learning only, compilation left out
        self._tables: GameTables = tables(game)
        self._streams = [streams.stream(seed, role) for role in range(1 + game.agents)]
        self._strides = np.array([int(np.prod(game.actions[i + 1 :])) for i in range(game.agents)])
        self._chosen = np.zeros(game.agents, dtype=np.int64)
        self._loop = compiled(loop.episodes, self._tables, self.state, self.certificate, self.record)
        self._run(0)  # compile, or load what was compiled before

    @property
    def chunk(self) -> int:
        """Episodes that are best played at once."""
        return chunk_of(self.game.horizon)

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes; return the agents' returns [episodes, N]."""
        sizes = [min(self.chunk, episodes - begin) for begin in range(0, episodes, self.chunk)]
        return np.concatenate([self._run(size) for size in sizes])

    def snapshot(self) -> Arrays:
        """Return the states of learners, certificate, record and generators."""
        kept = so_far(self.record) if isinstance(self.record, Record) else None
        return {
            **pack((self.state, self.certificate, kept)),
            "streams": np.array(json.dumps([stream.bit_generator.state for stream in self._streams])),
            "seconds": np.array(self.seconds),
        }

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot."""
        unpack((self.state, self.certificate), arrays)
        if isinstance(self.record, Record):
            self.record.clock[...] = arrays[".2.clock"]
            unpack((None, None, so_far(self.record)), arrays)
        for stream, state in zip(self._streams, json.loads(str(arrays["streams"])), strict=True):
            stream.bit_generator.state = state
        self.seconds = float(arrays["seconds"])

    def _run(self, episodes: int) -> FloatArray:
        began = time.perf_counter()
        draws = np.empty((1 + self.game.agents, episodes, self.game.horizon))
        for stream, room in zip(self._streams, draws, strict=True):
            stream.random(out=room)
        returns = np.zeros((episodes, self.game.agents))
        seats = (0,) * self.game.agents
        self._loop(
            self._tables,
            self.state,
            self.certificate,
            self.record,
            seats,
            draws[0],
            draws[1:],
            self._strides,
            self._chosen,
            returns,
        )
        if episodes:
            self.seconds += time.perf_counter() - began
        return returns
