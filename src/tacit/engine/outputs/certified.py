"""The output of V-learning: a certified policy, and the exact certificate that bounds its gap."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.types import FloatArray
from tacit.engine.choice import choose
from tacit.engine.curve import Measures
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs.markov import tables_to_measure
from tacit.engine.protocols import Engine, Output, Result
from tacit.engine.record import Nothing, Record, certified_policies, growing_record, room_in, with_room
from tacit.engine.run import Candidate, Gaps
from tacit.engine.validation import Arrays, check_names
from tacit.evaluation import evaluate, uniform_gap
from tacit.evaluation.certificate import Certificate, bound, bound_source, certificate, fixed_deviation, latest
from tacit.games.exact import ExactGame
from tacit.games.protocol import Game
from tacit.games.tabular import TabularGame
from tacit.learners import Learner
from tacit.policies import MarkovPolicy

#: How the certificate is read for the policies that begin in any episode, or with what the last one left behind.
READINGS = {"average": bound, "latest": latest}


class CertifiedOutput(Output):
    """For learners whose guarantee is about a certified policy.

    Candidates are "average", the policy of [Mao2022, Alg. 2]; "latest", the same beginning with what the last episode
    left behind; and "last", the last iterate. `choose` takes one of them; without tables nobody knows their gaps, and
    it is the paper's.
    """

    def __init__(
        self, *, game: Game, learner: Learner, episodes: int, seed: int, certify: bool | None, keep: bool
    ) -> None:
        self.game, self.learner, self.episodes, self.seed = game, learner, episodes, seed
        self.tables = tables_to_measure(game, certify)
        self.certificate = Nothing() if self.tables is None else certificate(self.tables, learner.equilibrium)
        self.record = growing_record(game, episodes) if keep else Nothing()
        self.certifies = self.tables is not None
        self.notes = _cost(game, self.tables, certify)

    def look(self, engine: Engine, done: int) -> int | None:
        """Make room in the record, which watches the loop itself; return for how many episodes it has room."""
        if not isinstance(engine.record, Record):
            return None
        engine.record = with_room(engine.record, self.game, done, self.episodes)
        return room_in(engine.record)

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return the best candidate's values and gaps, where they are known, and the largest gap of each candidate."""
        if self.tables is None:
            unknown = np.full(self.game.agents, np.nan)
            return {"value": unknown, "gap": engine.own_bounds(self.learner.equilibrium, done).upper}
        known = self._known(self.tables, engine, done, last=self._measures_last(engine))
        best = known[self._choose(known)]
        each = {f"gap_{name}": one.gaps.gap for name, one in known.items()}
        return {"value": np.asarray(best.values), "gap": best.gaps.upper, **each}

    def result(self, engine: Engine, done: int) -> Result:
        """Return the certified policies and the last iterate; where agents saw different things, the latter alone."""
        last = engine.policy(engine.distributions())
        if not engine.common_state:
            nothing = Known(Gaps("nash", np.full(self.game.agents, np.nan), "none"), None)
            apart = {name: Candidate(own, nothing) for name, own in engine.separate(self.learner.rule).items()}
            return Result(last, {**apart, "last": Candidate(last, nothing)}, "last")
        if self.tables is None:
            known, chosen = self._unproven(engine, done), "average"
        else:
            known = self._known(self.tables, engine, done, last=last)
            chosen = self._choose(known)
        held: dict[str, Any] = {**self._certified(engine.record), "last": last}
        return Result(last, {name: Candidate(held.get(name), one) for name, one in known.items()}, chosen)

    def _choose(self, known: Mapping[str, Known]) -> str:
        assert self.tables is not None
        return choose(known, functools.partial(uniform_gap, self.tables), target=self.target)

    def _unproven(self, engine: Engine, done: int) -> dict[str, Known]:
        """Return what is known of each candidate without tables: what the agents say of the average."""
        kind, unknown = self.learner.equilibrium, np.full(self.game.agents, np.nan)
        nothing = Known(Gaps(kind, unknown, "none"), None)
        return {"average": Known(engine.own_bounds(kind, done), None), "latest": nothing, "last": nothing}

    def _known(self, tables: ExactGame, engine: Engine, done: int, *, last: MarkovPolicy | None) -> dict[str, Known]:
        """Return what is known of each candidate: a product policy's nash gaps are its cce and its ce gaps."""
        kind, most = self.learner.equilibrium, engine.world.largest_gap
        source = bound_source(tables)
        found = {}
        for name, read in READINGS.items():
            values, gaps = read(tables, self._readable())
            replay = self._replay(tables, done, name)
            found[name] = Known(Gaps(kind, np.maximum(gaps, 0.0), source, replay, most=most), values)
        if last is None:
            return found
        exact = evaluate(tables, last)
        return {**found, "last": Known(Gaps(kind, exact.gaps, "exact", most=most), exact.values)}

    def _measures_last(self, engine: Engine) -> MarkovPolicy | None:
        """Return the last iterate where it is measured in every row of the curve."""
        return engine.policy(engine.distributions())

    def _readable(self) -> Certificate:
        """Return the certificate that bounds are read from."""
        held: Certificate = self.certificate
        return held

    def _replay(self, tables: ExactGame, done: int, name: str) -> Callable[[], FloatArray]:
        """Return what computes the lower bounds of a candidate."""
        return Replay(tables, self.learner, self.episodes, self.seed, done, self.certificate, name)

    def _certified(self, kept: object) -> Mapping[str, Any]:
        """Return the certified policies that the record holds."""
        return certified_policies(self.game, kept, self.learner.rule) if isinstance(kept, Record) else {}

    def snapshot(self) -> Arrays:
        """Nothing: certificate and record belong to the engine."""
        return {}

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless there is nothing."""
        check_names(arrays, set())

    def restore(self, arrays: Arrays) -> None:
        """Nothing to restore."""


#: A certificate of more joint actions tells its cost; of how many it takes as long as learning itself (measured: 20
#: to 90 with 2 to 8 agents).
COSTLY, AS_LEARNING = 128, 40


def _cost(game: Game, tables: ExactGame | None, certify: bool | None) -> tuple[str, ...]:
    """Say what the certificate costs where that dominates, or would."""
    if not isinstance(game, TabularGame) or certify is False or game.joint_actions <= COSTLY:
        return ()
    times = f"about {1 + game.joint_actions // AS_LEARNING:,} times the time of learning alone"
    every = f"the certificate goes through all {game.joint_actions:,} joint actions at every step"
    if tables is None:
        return (f"not certified: {every}, which takes {times}; certify=True (--certify yes) asks for it",)
    return (f"{every}, which takes {times}; certify=False (--certify no) leaves it out",)


@dataclass(frozen=True)
class Known:
    """What the certificate, or the agents themselves, said of a policy."""

    gaps: Gaps
    values: FloatArray | None

    @property
    def gap(self) -> float:
        """The largest upper bound of all agents."""
        return self.gaps.gap

    def __call__(self) -> tuple[Gaps, FloatArray | None]:
        """Return gaps and values."""
        return self.gaps, self.values


@dataclass(frozen=True)
class Replay:
    """The same run once more, with one fixed deviation for each agent: the lower bounds on the gaps."""

    game: ExactGame
    learner: Learner
    episodes: int  # that the run was to have
    seed: int
    done: int
    certificate: Certificate
    start: str  # of the policy: "average" or "latest"

    def __call__(self) -> FloatArray:
        """Return the lower bounds [N]."""
        choice = fixed_deviation(self.game, self.certificate, latest=self.start == "latest")
        fixed = certificate(self.game, self.learner.equilibrium, choice=choice)
        engine = FusedEngine(self.game, self.learner, episodes=self.episodes, seed=self.seed, certificate=fixed)
        engine.advance(self.done)
        return READINGS[self.start](self.game, fixed).gaps
