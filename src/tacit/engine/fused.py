"""The fused engine: all agents in the compiled loop, in chunks, with their random streams."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import numpy as np

from tacit.core import memory, streams
from tacit.core.compilation import compiled
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.engine import loop
from tacit.engine.checkpoint import pack, unpack
from tacit.engine.protocols import Engine
from tacit.engine.record import Nothing, Record, Trace, enlarged, so_far, up_to
from tacit.engine.run import Gaps
from tacit.engine.sampled_record import SampledRecord, check_sampled, check_schedule
from tacit.engine.validation import Arrays, check_alike, check_equal, check_names, check_seconds
from tacit.evaluation.certificate import Certificate
from tacit.evaluation.thinning import ThinnedCertificate
from tacit.games.exact import is_exact
from tacit.games.protocol import Game
from tacit.games.tables import by_agent
from tacit.learners import Learner, own_bound
from tacit.learners.spec import world_of
from tacit.policies import MarkovPolicy
from tacit.policies.visits import check_stored

#: Steps in a chunk: its uniform numbers stay within a core's cache.
CHUNK_STEPS = 16_384

#: Uniform numbers in a chunk of very many agents, at most (64 MB).
CHUNK_DRAWS = 1 << 23


def seats(agents: int) -> tuple[int, ...] | IntArray:
    """Return one entry for each agent, as the loop takes them: a tuple for few, whose length the compiler knows."""
    return by_agent((0,) * agents)


def chunk_of(horizon: int) -> int:
    """Return how many episodes are best played at once."""
    return max(1, CHUNK_STEPS // horizon)


class FusedEngine(Engine):
    """All agents of a game with kernels, in a run of `episodes` episodes."""

    def __init__(
        self,
        game: Game,
        learner: Learner,
        *,
        episodes: int,
        seed: int,
        certificate: Certificate | ThinnedCertificate | Trace | Nothing = Nothing(),  # noqa: B008
        record: Record | SampledRecord | Nothing = Nothing(),  # noqa: B008
    ) -> None:
        self.game, self.learner = game, learner
        self.world = world = world_of(learner, game, episodes=episodes, seed=seed)
        self.chunk = max(1, min(CHUNK_STEPS, CHUNK_DRAWS // game.agents) // game.horizon)
        self.state: Any = learner.init(world)
        self.certificate, self.record = certificate, record
        self.structs = (self.state,)
        self.seconds = 0.0
        self._kernels = game.kernels()
        self._streams = [streams.stream(seed, role) for role in range(1 + game.agents)]
        self._seats = seats(game.agents)
        self._chosen = np.zeros(game.agents, dtype=np.int64)
        self._room = np.empty((1 + game.agents) * self.chunk * game.horizon)
        self._loop = compiled(loop.episodes, self._kernels, self.state, self.certificate, self.record)
        self.play(self._draws(0), np.zeros((0, game.agents)))  # compile, or load what was compiled before

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes; return the agents' returns [episodes, N]."""
        returns = np.zeros((episodes, self.game.agents))
        for begin in range(0, episodes, self.chunk):
            self._run(returns[begin : begin + self.chunk])
        return returns

    def distributions(self) -> list[FloatArray]:
        """Return each agent's current distributions, [H, S, A_i]."""
        game = self.game
        table = memory.zeros((game.agents, game.horizon, game.states, max(game.actions)), "the last iterate")
        compiled(loop.distributions, self.state)(self.state, game.horizon, game.states, table)
        if not np.isfinite(table).all():
            raise TacitError("the policies are no longer numbers; learn with a smaller step (eta)")
        return [own[:, :, :size] for own, size in zip(table, game.actions, strict=True)]

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy."""
        return MarkovPolicy(distributions)

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return what each agent knows of its own gap: bounds where the theorem covers the run, otherwise estimates."""
        total = self.learner.bound_sum(self.state)
        if total is None:
            return Gaps(kind, np.full(self.game.agents, np.nan), "none")
        drawn = not is_exact(self.game) or int(np.count_nonzero(self.game.initial)) > 1
        upper, source = own_bound.judged(self.learner, self.world, total, done, drawn=drawn)
        return Gaps(kind, upper, source, most=self.world.largest_gap)

    def snapshot(self) -> Arrays:
        """Return the states of learners, certificate, record and generators."""
        kept = so_far(self.record) if isinstance(self.record, Record) else self.record
        return {
            **pack((self.state, self.certificate, kept)),
            "streams": np.array(json.dumps([stream.bit_generator.state for stream in self._streams])),
            "seconds": np.array(self.seconds),
        }

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless a snapshot can be of this engine after that many episodes."""
        kept: Any = self.record
        if isinstance(self.record, Record):
            written = arrays.get(".2.visited")
            if written is None or written.shape[:1] != (done,):  # before room is made for them
                raise TacitError(f"its record is not of {done} episodes")
            kept = up_to(enlarged(self.record, done), done)
        fresh = pack((self.state, self.certificate, kept))
        check_names(arrays, {*fresh, "streams", "seconds"})
        game = self.game
        cells = game.horizon * game.states * max(game.actions)
        joint = math.prod(game.actions) if self.learner.central else 0
        most = max(2 * (done + 1) * game.horizon + 2, cells, joint)
        check_alike(arrays, fresh, most=most)
        if isinstance(self.certificate, Certificate):
            check_equal(arrays, ".1.clock", done, (1,))
        if isinstance(self.certificate, ThinnedCertificate):
            check_equal(arrays, ".1.inner.clock", done, (1,))
            check_schedule(arrays, ".1.times", self.certificate.times)
        if isinstance(kept, SampledRecord):
            check_equal(arrays, ".2.clock", done, (1,))
            check_sampled(arrays, ".2", kept, game, done)
        if isinstance(kept, Record):
            check_equal(arrays, ".2.clock", done, (1,))
            if arrays[".2.visited"].max(initial=0) >= game.states:
                raise TacitError("its record has a state that the game does not have")
            check_stored(arrays[".2.stored"], game.actions)
        for stream, state in zip(self._streams, json.loads(str(arrays["streams"])), strict=True):
            streams.check_state(stream, state)
        check_seconds(arrays, "seconds")

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot that was checked."""
        unpack((self.state, self.certificate), arrays)
        if isinstance(self.record, SampledRecord):
            unpack((None, None, self.record), arrays)
        if isinstance(self.record, Record):
            self.record = enlarged(self.record, int(arrays[".2.clock"][0]))
            self.record.clock[...] = arrays[".2.clock"]
            unpack((None, None, so_far(self.record)), arrays)
        for stream, state in zip(self._streams, json.loads(str(arrays["streams"])), strict=True):
            stream.bit_generator.state = state
        self.seconds = float(arrays["seconds"])

    def play(self, draws: FloatArray, returns: FloatArray) -> None:
        """Play with uniform numbers [1 + N, episodes, H] and add what the agents get to `returns` [episodes, N]."""
        watched = (self.certificate, self.record)
        self._loop(self._kernels, self.state, *watched, self._seats, draws[0], draws[1:], self._chosen, returns)

    def _run(self, returns: FloatArray) -> None:
        began = time.perf_counter()
        self.play(self._draws(len(returns)), returns)
        self.seconds += time.perf_counter() - began

    def _draws(self, episodes: int) -> FloatArray:
        """Draw the uniform numbers of a chunk, always into the same memory: it stays within a core's cache."""
        shape = (1 + self.game.agents, episodes, self.game.horizon)
        draws = self._room[: math.prod(shape)].reshape(shape)
        for stream, own in zip(self._streams, draws, strict=True):
            stream.random(out=own)
        return draws
