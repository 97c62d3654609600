"""The output of V-learning where all visits are too many: M visits of each stage, and that policy's certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs.certified import READINGS, CertifiedOutput, Known
from tacit.engine.protocols import Engine
from tacit.engine.record import Nothing
from tacit.engine.run import Gaps
from tacit.engine.sampled_record import SampledRecord, sampled_policies, sampled_record
from tacit.evaluation.certificate import Certificate, fixed_deviation
from tacit.evaluation.seats import told_cost
from tacit.evaluation.thinning import ThinnedCertificate, thinned_certificate, visits_to_certify
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame, is_exact
from tacit.games.protocol import Game
from tacit.learners import Learner
from tacit.policies import MarkovPolicy, RecordedPolicy


class ThinnedOutput(CertifiedOutput):
    """For learners whose guarantee is about a certified policy, in runs too large to keep or certify every visit.

    Candidates are those of `CertifiedOutput`; the certified ones are made of `thin` visits of each stage.
    """

    def __init__(
        self, *, game: Game, learner: Learner, episodes: int, seed: int, certify: bool | None, keep: bool, thin: int
    ) -> None:
        self.game, self.learner, self.episodes, self.seed = game, learner, episodes, seed
        self.most = check.integer("visits_per_stage", thin, least=1)
        if learner.output != "certified":
            raise TacitError("visits_per_stage is for learners of certified policies; leave it out")
        self.tables: ExactGame | None = game if is_exact(game) and certify is not False else None
        self.certificate = (
            Nothing()
            if self.tables is None
            else thinned_certificate(self.tables, learner.equilibrium, episodes, self.most)
        )
        self.record = sampled_record(game, episodes, self.most) if keep else Nothing()
        self.certifies = self.tables is not None
        self.notes = self._cost()

    def _cost(self) -> tuple[str, ...]:
        visits = min(visits_to_certify(self.game, self.episodes, self.most), self.episodes * self.game.horizon)
        told = f"{self.most} visits of each stage are kept, at most {visits:,} of {self.episodes * self.game.horizon:,}"
        if isinstance(self.tables, CountGame):
            told += f"; their certificate takes {told_cost(self.tables, visits)}"
        return (told,)

    def _unproven(self, engine: Engine, done: int) -> dict[str, Known]:
        nothing = Known(Gaps(self.learner.equilibrium, np.full(self.game.agents, np.nan), "none"), None)
        return {"average": nothing, "latest": nothing, "last": nothing}

    def _measures_last(self, engine: Engine) -> MarkovPolicy | None:
        return None if isinstance(self.tables, CountGame) else super()._measures_last(engine)  # it takes its time

    def _readable(self) -> Certificate:
        inner: Certificate = self.certificate.inner
        return inner

    def _replay(self, tables: ExactGame, done: int, name: str) -> ThinnedReplay:
        return ThinnedReplay(self, done, self.certificate, name)

    def _certified(self, kept: object) -> dict[str, RecordedPolicy]:
        return sampled_policies(self.game, kept) if isinstance(kept, SampledRecord) else {}


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
