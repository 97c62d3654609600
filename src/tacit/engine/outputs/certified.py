"""The output of V-learning: a certified policy, and the exact certificate that bounds its gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core.types import FloatArray
from tacit.engine.curve import Measures
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs.markov import exact_candidate, tables_to_measure
from tacit.engine.protocols import Engine, Output, Result
from tacit.engine.record import Nothing, Record, certified_policies, record
from tacit.engine.run import Candidate, Gaps
from tacit.engine.validation import Arrays, check_names
from tacit.evaluation.certificate import Certificate, bound, certificate, fixed_deviation, latest
from tacit.games.exact import ExactGame
from tacit.games.protocol import Game
from tacit.learners import Learner

#: How the certificate is read for the policies that begin in any episode, or with what the last one left behind.
READINGS = {"average": bound, "latest": latest}


class CertifiedOutput(Output):
    """For learners whose guarantee is about a certified policy.

    Candidates are "average", the policy of [Mao2022, Alg. 2]; "latest", the same beginning with what the last episode
    left behind; and "last", the last iterate. The paper's is chosen.
    """

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
        """Return the policy's values, where they are known, and the bounds on its gaps; and the largest of "latest"."""
        if self.tables is None:
            unknown = np.full(self.game.agents, np.nan)
            return {"value": unknown, "gap": engine.own_bounds(self.learner.equilibrium, done).upper}
        return self.measured(self.tables, self.certificate)

    @staticmethod
    def measured(game: ExactGame, cert: Certificate) -> Measures:
        """Return what a certificate says so far."""
        found = {name: read(game, cert) for name, read in READINGS.items()}
        each = {f"gap_{name}": max(float(one.gaps.max()), 0.0) for name, one in found.items()}
        return {"value": found["average"].values, "gap": np.maximum(found["average"].gaps, 0.0), **each}

    def result(self, engine: Engine, done: int) -> Result:
        """Return the certified policies and the last iterate; where agents saw different things, the latter alone."""
        policy = engine.policy(engine.distributions())
        last = exact_candidate(self.tables, policy)
        if not engine.common_state:
            return Result(policy, {"last": last}, "last")
        kept, kind = self.record, self.learner.equilibrium
        certified = certified_policies(self.game, kept, self.learner.rule) if isinstance(kept, Record) else {}
        if self.tables is None:
            own, unknown = engine.own_bounds(kind, done), Gaps(kind, np.full(self.game.agents, np.nan), "none")
            known = {"average": own, "latest": unknown}
            found = {name: Candidate(certified.get(name), Known(gaps, None)) for name, gaps in known.items()}
            return Result(policy, {**found, "last": last}, "average")
        candidates = {}
        for name, read in READINGS.items():
            values, gaps = read(self.tables, self.certificate)
            replay = Replay(self.tables, self.learner, self.episodes, self.seed, done, self.certificate, name)
            bounds = Gaps(kind, np.maximum(gaps, 0.0), "certificate", replay, most=engine.world.largest_gap)
            candidates[name] = Candidate(certified.get(name), Known(bounds, values))
        return Result(policy, {**candidates, "last": last}, "average")

    def snapshot(self) -> Arrays:
        """Nothing: certificate and record belong to the engine."""
        return {}

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless there is nothing."""
        check_names(arrays, set())

    def restore(self, arrays: Arrays) -> None:
        """Nothing to restore."""


@dataclass(frozen=True)
class Known:
    """What the certificate, or the agents themselves, said of a policy."""

    gaps: Gaps
    values: FloatArray | None

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
