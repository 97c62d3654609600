"""The output of V-learning where all visits are too many: M visits of each stage, and that policy's certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine.curve import Measures
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs.certified import READINGS, CertifiedOutput, Known
from tacit.engine.outputs.markov import exact_candidate
from tacit.engine.protocols import Engine, Result
from tacit.engine.record import Nothing
from tacit.engine.run import Candidate, Gaps
from tacit.engine.sampled_record import SampledRecord, sampled_policies, sampled_record
from tacit.evaluation.certificate import fixed_deviation
from tacit.evaluation.seats import told_cost
from tacit.evaluation.thinning import ThinnedCertificate, thinned_certificate, visits_to_certify
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame, is_exact
from tacit.games.protocol import Game
from tacit.learners import Learner


class ThinnedOutput(CertifiedOutput):
    """For learners whose guarantee is about a certified policy, in runs too large to keep or certify every visit.

    Candidates are those of `CertifiedOutput`; the certified ones are made of `thin` visits of each stage.
    """

    def __init__(
        self, *, game: Game, learner: Learner, episodes: int, seed: int, certify: bool | None, keep: bool, thin: int
    ) -> None:
        self.game, self.learner, self.episodes, self.seed = game, learner, episodes, seed
        self.most = check.integer("thin", thin, least=1, most=10**6)
        if learner.output != "certified":
            raise TacitError("thin is for learners of certified policies; leave it out")
        self.tables: ExactGame | None = game if is_exact(game) and certify is not False else None
        self.certificate = (
            Nothing()
            if self.tables is None
            else thinned_certificate(self.tables, learner.equilibrium, episodes, self.most)
        )
        self.record = sampled_record(game, episodes, self.most) if keep else Nothing()
        self.beforehand = self._beforehand()

    def _beforehand(self) -> tuple[str, ...]:
        visits = min(visits_to_certify(self.game, self.episodes, self.most), self.episodes * self.game.horizon)
        told = f"{self.most} visits of each stage are kept, at most {visits:,} of {self.episodes * self.game.horizon:,}"
        if isinstance(self.tables, CountGame):
            told += f"; their certificate takes {told_cost(self.tables, visits)}"
        return (told,)

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return the policy's values, where they are known, and the bounds on its gaps; and the largest of "latest"."""
        if self.tables is None or not isinstance(self.certificate, ThinnedCertificate):
            return super().measure(engine, done)
        return CertifiedOutput.measured(self.tables, self.certificate.inner)

    def result(self, engine: Engine, done: int) -> Result:
        """Return the certified policies and the last iterate."""
        policy = engine.policy(engine.distributions())
        last = exact_candidate(self.tables, policy)
        kind = self.learner.equilibrium
        made = sampled_policies(self.game, self.record) if isinstance(self.record, SampledRecord) else {}
        candidates = {}
        for name, read in READINGS.items():
            if self.tables is None or not isinstance(self.certificate, ThinnedCertificate):
                unknown = Gaps(kind, np.full(self.game.agents, np.nan), "none")
                candidates[name] = Candidate(made.get(name), Known(unknown, None))
                continue
            values, gaps = read(self.tables, self.certificate.inner)
            replay = ThinnedReplay(self, done, self.certificate, name)
            bounds = Gaps(kind, np.maximum(gaps, 0.0), "certificate", replay, most=engine.world.largest_gap)
            candidates[name] = Candidate(made.get(name), Known(bounds, values))
        return Result(policy, {**candidates, "last": last}, "average")


@dataclass(frozen=True)
class ThinnedReplay:
    """The same run once more, with one fixed deviation for each agent: the lower bounds on the gaps."""

    output: ThinnedOutput
    done: int
    certificate: ThinnedCertificate
    start: str  # of the policy: "average" or "latest"

    def __call__(self) -> FloatArray:
        """Return the lower bounds [N]."""
        out = self.output
        assert out.tables is not None
        choice = fixed_deviation(out.tables, self.certificate.inner, latest=self.start == "latest")
        fixed = thinned_certificate(out.tables, out.learner.equilibrium, out.episodes, out.most, choice=choice)
        engine = FusedEngine(out.tables, out.learner, episodes=out.episodes, seed=out.seed, certificate=fixed)
        engine.advance(self.done)
        return READINGS[self.start](out.tables, fixed.inner).gaps
