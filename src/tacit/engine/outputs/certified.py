"""The output of V-learning: a certified policy, and the exact certificate that bounds its gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core.types import FloatArray
from tacit.engine.curve import Measures
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs.markov import exact_candidate, tables_to_measure
from tacit.engine.protocols import Engine, Output, Result
from tacit.engine.record import Nothing, Record, certified_policy, record
from tacit.engine.run import Candidate, Gaps
from tacit.engine.validation import Arrays, check_names
from tacit.evaluation.certificate import Certificate, bound, certificate, fixed_deviation
from tacit.games.protocol import Game
from tacit.games.tabular import TabularGame
from tacit.learners import Learner, own_bound


class CertifiedOutput(Output):
    """For learners whose guarantee is about a certified policy: "average" is that of [Mao2022, Alg. 2]."""

    def __init__(
        self, *, game: Game, learner: Learner, episodes: int, seed: int, certify: bool | None, keep: bool
    ) -> None:
        self.game, self.learner, self.episodes, self.seed = game, learner, episodes, seed
        self.tables = tables_to_measure(game, certify)
        self.certificate = Nothing() if self.tables is None else certificate(self.tables, learner.equilibrium)
        self.record = record(game, episodes) if keep else Nothing()

    def look(self, engine: Engine, done: int) -> None:
        """Nothing: record and certificate watch the loop itself."""

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return the policy's values, where they are known, and the bounds on its gaps."""
        if self.tables is not None:
            values, gaps = bound(self.tables, self.certificate)
            return {"value": values, "gap": np.maximum(gaps, 0.0)}
        bounds = engine.own_bounds(self.learner.equilibrium, done)
        return {"value": np.full(self.game.agents, np.nan), "gap": bounds.upper}

    def result(self, engine: Engine, done: int) -> Result:
        """Return the certified policy and the last iterate; where agents saw different things, the latter alone."""
        policy = engine.policy(engine.distributions())
        last = exact_candidate(self.tables, policy)
        if not engine.common_state:
            return Result(policy, {"last": last}, "last")
        kept, kind = self.record, self.learner.equilibrium
        certified = certified_policy(self.game, kept, self.learner.rule) if isinstance(kept, Record) else None
        if self.tables is None:
            average = Candidate(engine.own_bounds(kind, done), None, certified)
        else:
            values, gaps = bound(self.tables, self.certificate)
            replay = Replay(self.tables, self.learner, self.episodes, self.seed, done, self.certificate)
            upper, most = np.maximum(gaps, 0.0), own_bound.cap(engine.world)
            average = Candidate(Gaps(kind, upper, "certificate", replay, most=most), values, certified)
        return Result(policy, {"average": average, "last": last}, "average")

    def snapshot(self) -> Arrays:
        """Nothing: certificate and record belong to the engine."""
        return {}

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless there is nothing."""
        check_names(arrays, set())

    def restore(self, arrays: Arrays) -> None:
        """Nothing to restore."""


@dataclass(frozen=True)
class Replay:
    """The same run once more, with one fixed deviation for each agent: the lower bounds on the gaps."""

    game: TabularGame
    learner: Learner
    episodes: int  # that the run was to have
    seed: int
    done: int
    certificate: Certificate

    def __call__(self) -> FloatArray:
        """Return the lower bounds [N]."""
        choice = fixed_deviation(self.game, self.certificate)
        fixed = certificate(self.game, self.learner.equilibrium, choice=choice)
        engine = FusedEngine(self.game, self.learner, episodes=self.episodes, seed=self.seed, certificate=fixed)
        engine.advance(self.done)
        return bound(self.game, fixed).gaps
