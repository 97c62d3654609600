"""The fused engine: all agents in the compiled loop, in chunks, with their random streams."""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.core import memory, streams
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.engine import loop
from tacit.engine.checkpoint import Arrays, check_alike, check_equal, check_names, check_seconds, pack, unpack
from tacit.engine.drive import Engine, Nothing
from tacit.engine.run import Gaps
from tacit.games.protocol import Game
from tacit.games.tabular import by_agent
from tacit.learners import Learner, World, v_base
from tacit.learners.spec import world_of
from tacit.policies import MarkovPolicy

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


def read_distributions(state: Any, world: World, states: int, *, recent: bool = False) -> list[FloatArray]:
    """Return what each agent of a state answers with at the first so many states of a world, [H, states, A_i]."""
    table = memory.zeros((world.agents, world.horizon, states, int(world.actions.max())), "the last iterate")
    compile_loop(loop.distributions, state, steps=10 * table.size)(state, world.horizon, states, recent, table)
    return to_distributions(table, world)


def to_distributions(table: FloatArray, world: World) -> list[FloatArray]:
    """Return a table [N, H, S, A] as each agent's distributions [H, S, A_i], if they are numbers."""
    if not np.isfinite(table).all():
        raise TacitError("the policies are no longer numbers; learn with a smaller step (eta)")
    return [own[:, :, : int(size)] for own, size in zip(table, world.actions, strict=True)]


class FusedEngine(Engine):
    """All agents of a game with kernels, in a run of `episodes` episodes."""

    def __init__(
        self,
        game: Game,
        learner: Learner,
        *,
        episodes: int,
        seed: int,
        certificate: Any = Nothing(),  # noqa: B008
        record: Any = Nothing(),  # noqa: B008
    ) -> None:
        self.game, self.learner = game, learner
        self.world = world = world_of(learner, game, episodes=episodes, seed=seed)
        self.chunk = max(1, min(CHUNK_STEPS, CHUNK_DRAWS // game.agents) // game.horizon)
        self.state: Any = learner.init(world)
        self.certificate, self.record = certificate, record
        self.seconds = 0.0
        self._kernels = game.kernels()
        self._streams = [streams.stream(seed, role) for role in range(1 + game.agents)]
        self._rotas = [learner.rota, *(learner.seat(i).rota for i in range(game.agents))]
        self._episodes = 0
        self._seats = seats(game.agents)
        self._chosen = np.zeros(game.agents, dtype=np.int64)
        self._room = np.empty((1 + game.agents) * self.chunk * game.horizon)
        self._loop = compile_loop(loop.episodes, self._kernels, self.state, self.certificate, self.record)
        self.play(self._draws(0), np.zeros((0, game.agents)))  # compile, or load what was compiled before

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes; return the agents' returns [episodes, N]."""
        returns = np.zeros((episodes, self.game.agents))
        for begin in range(0, episodes, self.chunk):
            self._run(returns[begin : begin + self.chunk])
        return returns

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent answers with, [H, S, A_i]."""
        return read_distributions(self.state, self.world, self.game.states, recent=recent)

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy."""
        return MarkovPolicy(distributions)

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return what each agent knows of its own gap: bounds where the theorem covers the run, otherwise estimates."""
        total = self.learner.bound_sum(self.state)
        if total is None:
            return Gaps.unknown(kind, self.game.agents)
        initial = getattr(self.game, "initial", None)
        drawn = initial is None or int(np.count_nonzero(initial)) > 1
        upper, source = v_base.judge(self.learner, self.world, total, done, drawn=drawn)
        return Gaps(kind, upper, source, most=self.world.largest_gap)

    def view(self, learner: Learner, pick: Callable[[Any], Any]) -> Engine:
        """Return this engine as a member of its learner sees it."""
        found = copy.copy(self)
        found.learner, found.state, found.record = learner, pick(self.state), pick(self.record)
        return found

    def snapshot(self) -> Arrays:
        """Return the states of learners, observers and generators."""
        watched = (snapshot(own, name) for name, own in self._observers().items())
        return {
            **pack(self.state, "learner"),
            **{key: array for own in watched for key, array in own.items()},
            "streams": np.array(json.dumps([stream.bit_generator.state for stream in self._streams])),
            "episodes": np.array(self._episodes),
            "seconds": np.array(self.seconds),
        }

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless a snapshot can be of this engine after that many episodes."""
        game, fresh, watched = self.game, pack(self.state, "learner"), self._observers()
        most = max(self.world.most(done), math.prod(game.actions) if self.learner.central else 0)
        own = {key: array for key, array in arrays.items() if key.partition(".")[0] not in watched}
        check_names(own, {*fresh, "streams", "episodes", "seconds"})
        check_alike(arrays, fresh, most=most)
        for name, observer in watched.items():
            check(observer, arrays, name, game, done, most=most)
        for stream, state in zip(self._streams, json.loads(str(arrays["streams"])), strict=True):
            streams.check_state(stream, state)
        check_equal(arrays, "episodes", done)
        check_seconds(arrays, "seconds")

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot that was checked."""
        unpack(self.state, arrays, "learner")
        for name, observer in self._observers().items():
            setattr(self, name, restore(observer, arrays, name))
        for stream, state in zip(self._streams, json.loads(str(arrays["streams"])), strict=True):
            stream.bit_generator.state = state
        self._episodes, self.seconds = int(arrays["episodes"]), float(arrays["seconds"])

    def _observers(self) -> dict[str, Any]:
        return {"certificate": self.certificate, "record": self.record}

    def play(self, draws: FloatArray, returns: FloatArray) -> None:
        """Play with uniform numbers [1 + N, episodes, H] and add what the agents get to `returns` [episodes, N]."""
        watched = (self.certificate, self.record)
        self._loop(self._kernels, self.state, *watched, self._seats, draws[0], draws[1:], self._chosen, returns)

    def _run(self, returns: FloatArray) -> None:
        began = time.perf_counter()
        self.play(self._draws(len(returns)), returns)
        self._episodes += len(returns)
        self.seconds += time.perf_counter() - began

    def _draws(self, episodes: int) -> FloatArray:
        """Draw the uniform numbers of a chunk, always into the same memory: it stays within a core's cache."""
        shape = (1 + self.game.agents, episodes, self.game.horizon)
        draws = self._room[: math.prod(shape)].reshape(shape)
        for stream, rota, own in zip(self._streams, self._rotas, draws, strict=True):
            streams.fill(stream, own, first=self._episodes, rota=rota)
        return draws


# what watches the loop, in a checkpoint -------------------------------------------------------------------------------


def snapshot(observer: Any, name: str) -> Arrays:
    """Return the arrays that an observer has written so far."""
    if hasattr(observer, "split"):
        return {**snapshot(observer.own, f"{name}.own"), **snapshot(observer.others, f"{name}.others")}
    return pack(observer.cut(int(observer.clock[0])) if hasattr(observer, "cut") else observer, name)


def check(observer: Any, arrays: Arrays, name: str, game: Game, done: int, *, most: int) -> None:
    """Raise unless arrays can be a snapshot of this observer after `done` episodes."""
    if hasattr(observer, "split"):
        for part, own in zip(("own", "others"), observer.split(done), strict=True):
            check(getattr(observer, part), arrays, f"{name}.{part}", game, own, most=most)
        return
    for field in getattr(observer, "by_episode", ()):
        written = arrays.get(f"{name}.{field}")
        if written is None or written.shape[:1] != (done,):  # before capacity is made for them
            raise TacitError(f"its record is not of {done} episodes")
    fresh = pack(observer.enlarge(done).cut(done) if hasattr(observer, "cut") else observer, name)
    check_names({key: array for key, array in arrays.items() if key.startswith(f"{name}.")}, set(fresh))
    check_alike(arrays, fresh, most=most)
    for key in fresh:
        if key.endswith(".clock"):
            check_equal(arrays, key, done, (1,))
    _check_structs(observer, arrays, name, game, done)


def restore(observer: Any, arrays: Arrays, name: str) -> Any:
    """Return the observer with a snapshot that was checked: itself, or one of larger capacity."""
    if hasattr(observer, "split"):
        held = {part: restore(getattr(observer, part), arrays, f"{name}.{part}") for part in ("own", "others")}
        return observer._replace(**held)
    written = observer
    if hasattr(observer, "cut"):
        done = int(arrays[f"{name}.clock"][0])
        observer = observer.enlarge(done)
        written = observer.cut(done)
    unpack(written, arrays, name)
    return observer


def _check_structs(struct: Any, arrays: Arrays, name: str, game: Game, done: int) -> None:
    """Let every struct check what it knows of its own numbers, nested ones first."""
    for field, value in zip(getattr(struct, "_fields", ()), struct, strict=False):
        if hasattr(value, "_fields"):
            _check_structs(value, arrays, f"{name}.{field}", game, done)
    if hasattr(struct, "check"):
        struct.check(arrays, name, game, done)
