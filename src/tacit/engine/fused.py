"""The fused engine: all agents in the compiled loop, in chunks, with their random streams."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import numpy as np

from tacit.core import check, generics, memory, streams
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.engine import loop
from tacit.engine.checkpoint import Arrays, pack, unpack
from tacit.engine.drive import Engine, Nothing
from tacit.engine.run import Gaps
from tacit.games.tabular import by_agent
from tacit.learners import Learner, World, v_base
from tacit.learners.spec import world_of
from tacit.policies import MarkovPolicy

#: Steps in a chunk: its uniform numbers stay within a core's cache.
CHUNK_STEPS = 16_384

#: Uniform numbers in a chunk of very many agents, at most (64 MB).
CHUNK_DRAWS = 1 << 23


def seats(agents: int) -> tuple[int, ...] | IntArray:
    """Return one entry for each agent, for few in a tuple of known length."""
    return by_agent((0,) * agents)


def chunk_of(horizon: int) -> int:
    """Return how many episodes are best played at once."""
    return max(1, CHUNK_STEPS // horizon)


def read_distributions(state: Any, world: World, states: int, *, recent: bool = False) -> list[FloatArray]:
    """Return each agent's distributions at the first states of a world, [H, states, A_i]."""
    table = memory.zeros((world.agents, world.horizon, states, int(world.actions.max())), "the last iterate")
    read = compile_loop(loop.distributions, state, steps=100 * table.size)  # a run reads as often as its curve has rows
    read(state, world.horizon, states, recent, table)
    return to_distributions(table, world)


def to_distributions(table: FloatArray, world: World) -> list[FloatArray]:
    """Return a table [N, H, S, A] as each agent's distributions [H, S, A_i]."""
    if not np.isfinite(table).all():
        raise TacitError("the policies are no longer numbers; learn with a smaller step (eta)")
    return [probs[:, :, : int(size)] for probs, size in zip(table, world.actions, strict=True)]


class FusedEngine(Engine):
    """All agents of a game with kernels, in a run of `episodes` episodes."""

    def __init__(
        self,
        game: Any,
        learner: Learner,
        *,
        episodes: int,
        seed: int,
        certificate: Any = Nothing(),  # noqa: B008
        record: Any = Nothing(),  # noqa: B008
        endless: bool = False,
    ) -> None:
        self.game, self.learner = game, learner
        self.world = world = world_of(learner, game, episodes=episodes, seed=seed, endless=endless)
        self.chunk = max(1, min(CHUNK_STEPS, CHUNK_DRAWS // game.agents) // game.horizon)
        self.state: Any = generics.seal(learner.init(world))
        self.certificate, self.record = generics.seal(certificate), generics.seal(record)
        self.seconds = 0.0
        self._streams = [streams.stream(seed, role) for role in range(1 + game.agents)]
        kernels = game.endless_kernels(game.start(self._streams[0].random())) if endless else game.kernels()
        self._kernels = generics.seal(kernels)
        self._place = kernels.place if endless else None
        self._episodes = 0
        self._seats = seats(game.agents)
        self._chosen = np.zeros(game.agents, dtype=np.int64)
        self._uniforms = np.zeros(1 + (1 + game.agents) * self.chunk * game.horizon)
        self._loop = compile_loop(loop.episodes, self._kernels, self.state, self.certificate, self.record)
        self.play(*self._draws(0), np.zeros((0, game.agents)))  # compile, or load what was compiled before

    @property
    def place(self) -> int | None:
        """The state that play which never resets is in."""
        return None if self._place is None else int(self._place[0])

    @property
    def settled(self) -> int:
        """The period since which no agent's greedy policy has changed."""
        return max(self.learner.changed(self.state, i) for i in range(self.game.agents))

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes; return the agents' returns [episodes, N]."""
        returns = np.zeros((episodes, self.game.agents))
        for begin in range(0, episodes, self.chunk):
            self._run(returns[begin : begin + self.chunk])
        return returns

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return each agent's distributions, [H, S, A_i]."""
        return read_distributions(self.state, self.world, self.game.states, recent=recent)

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy."""
        return MarkovPolicy(distributions)

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return each agent's own bounds where the theorem covers the run, otherwise estimates."""
        total = v_base.bound_sum(self.state)
        if total is None:
            return Gaps.unknown(kind, self.game.agents)
        initial = getattr(self.game, "initial", None)
        drawn = initial is None or int(np.count_nonzero(initial)) > 1
        upper, source = v_base.judge(self.learner, self.world, total, done, drawn=drawn)
        return Gaps(kind, upper, source, most=self.world.largest_gap)

    def snapshot(self) -> Arrays:
        """Return the states of learners, observers and generators."""
        watched = (snapshot(observer, name) for name, observer in self._observers().items())
        return {
            **pack(self.state, "learner"),
            **{key: array for arrays in watched for key, array in arrays.items()},
            "streams": np.array(json.dumps([stream.bit_generator.state for stream in self._streams])),
            "episodes": np.array(self._episodes),
            "seconds": np.array(self.seconds),
            **({} if self._place is None else {"place": self._place.copy()}),
        }

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        unpack(self.state, arrays, "learner")
        for name, observer in self._observers().items():
            setattr(self, name, restore(observer, arrays, name))
        for stream, state in zip(self._streams, json.loads(str(arrays["streams"])), strict=True):
            stream.bit_generator.state = state
        self._episodes, self.seconds = int(arrays["episodes"]), float(arrays["seconds"])
        if self._place is not None:
            self._place[0] = check.integer("place", int(arrays["place"][0]), least=0, most=self.game.states - 1)

    def _observers(self) -> dict[str, Any]:
        return {"certificate": self.certificate, "record": self.record}

    def play(self, game_u: FloatArray, agent_u: FloatArray, returns: FloatArray) -> None:
        """Play with given uniform numbers, and add rewards to `returns` [episodes, N]."""
        watched = (self.certificate, self.record)
        self._loop(self._kernels, self.state, *watched, self._seats, game_u, agent_u, self._chosen, returns)

    def _run(self, returns: FloatArray) -> None:
        began = time.perf_counter()
        self.play(*self._draws(len(returns)), returns)
        self._episodes += len(returns)
        self.seconds += time.perf_counter() - began

    def _draws(self, episodes: int) -> tuple[FloatArray, FloatArray]:
        """Draw the uniform numbers of a chunk, always into the same memory. It stays within a core's cache."""
        split, shape = 1 + episodes * self.game.horizon, (self.game.agents, episodes, self.game.horizon)
        moves = self._uniforms[1:split]
        agent_u = self._uniforms[split : split + math.prod(shape)].reshape(shape)
        for stream, uniforms in zip(self._streams, (moves, *agent_u), strict=True):
            stream.random(out=uniforms)
        if self._place is None:
            return moves.reshape(shape[1:]), agent_u
        # the state that a period is in needs no number: pairs overlap
        pairs = np.ndarray((episodes, 2), float, self._uniforms, 0, (8, 8))
        return pairs, agent_u


# what watches the loop, in a checkpoint -------------------------------------------------------------------------------


def snapshot(observer: Any, name: str) -> Arrays:
    """Return the arrays that an observer has written so far."""
    return pack(observer.cut(int(observer.clock[0])) if hasattr(observer, "cut") else observer, name)


def restore(observer: Any, arrays: Arrays, name: str) -> Any:
    """Return the observer with a snapshot: itself, or one of larger capacity."""
    written = observer
    if hasattr(observer, "cut"):
        done = int(arrays[f"{name}.clock"][0])
        observer = observer.enlarge(done)
        written = observer.cut(done)
    unpack(written, arrays, name)
    return observer
