"""Certify what is deployed: M visits of each stage, chosen while learning, and the exact certificate of that policy.

A certificate at every visit may cost more than learning, and a record of all visits more memory than there is. But any
choice of visits makes a policy: at each (h, s) it draws one of the visits that were kept of the last stage that had
ended, and plays what the agents had there. So M visits of each stage are kept, evenly spaced, and certificate and
record look at those alone. The certificate is exact for the policy that is made of them, whatever the learner's own
averages are; its cost grows with the logarithm of the number of episodes. Every agent can choose the same visits on its
own, and keeps only its own distributions there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import generics
from tacit.core.errors import TacitError
from tacit.core.ownership import lock
from tacit.core.types import IntArray
from tacit.evaluation.certificate import Certificate, add_visit, certificate, expectations, take_effect
from tacit.games.exact import ExactGame
from tacit.games.protocol import Game
from tacit.policies.visits import stage_lengths


class Schedule(NamedTuple):
    """Where each (h, s) is in its stages. [Mao2022, Sec. 3.1]"""

    stage: IntArray  # [C]  stages that have ended
    passed: IntArray  # [C]  visits of the running stage so far
    kept: IntArray  # [C]  those of them that are kept
    length: IntArray  # [J]  of each stage, as far as the run can get
    most: int  # M

    def check(self, arrays: Mapping[str, npt.NDArray[Any]], name: str, game: Game, done: int) -> None:
        """Raise unless the stages of a checkpoint are some that the schedule has: they are indices in compiled code."""
        stage, passed, kept = (arrays[f"{name}.{field}"] for field in ("stage", "passed", "kept"))
        inside = (stage >= 0) & (stage < len(self.length))
        if not inside.all() or (passed >= self.length[stage]).any() or (kept > np.minimum(passed, self.most)).any():
            raise TacitError("its stages are none that this run can have come to")


def schedule(game: Game, episodes: int, most: int) -> Schedule:
    """Make the schedule for a run of so many episodes that keeps `most` visits of each stage."""
    C = game.horizon * game.states
    lengths = stage_lengths(game.horizon, episodes)
    stage, passed, kept = np.zeros((3, C), dtype=np.int64)
    return Schedule(stage.copy(), passed.copy(), kept.copy(), lock(np.append(lengths, np.iinfo(np.int64).max)), most)


def visits_to_certify(game: Game, episodes: int, most: int) -> int:
    """Return how many visits are kept at most: no (h, s) is visited more than once an episode.

    >>> import tacit
    >>> visits_to_certify(tacit.make("good-state", horizon=2), 12, 2)
    32
    """
    return game.horizon * game.states * int(np.minimum(stage_lengths(game.horizon, episodes), most).sum())


@generics.jitable
def is_kept(times, c):
    """Return whether the visit of cell c that is about to happen is kept: they lie evenly within the stage."""
    length = times.length[times.stage[c]]
    most = min(times.most, length)
    return times.kept[c] < most and times.passed[c] == ((2 * times.kept[c] + 1) * length) // (2 * most)


@generics.jitable
def pass_by(times, c, keep):
    """Count a visit of cell c; return whether it ends the stage, and how many visits of it were kept."""
    times.passed[c] += 1
    if keep:
        times.kept[c] += 1
    kept = times.kept[c]
    ends = times.passed[c] == times.length[times.stage[c]]
    if ends:
        times.stage[c] += 1
        times.passed[c] = 0
        times.kept[c] = 0
    return ends, kept


class ThinnedCertificate(NamedTuple):
    """The certificate of the policy that is made of the visits that are kept."""

    inner: Certificate
    times: Schedule


def thinned_certificate(
    game: ExactGame, kind: str, episodes: int, most: int, *, choice: IntArray | None = None
) -> ThinnedCertificate:
    """Make the certificate for a run of so many episodes that keeps `most` visits of each stage."""
    return ThinnedCertificate(certificate(game, kind, choice=choice), schedule(game, episodes, most))


@generics.observe.implement(ThinnedCertificate)
def observe(cert, learner, game, seats, h, s):
    """Add the visit if it is kept; at the end of a stage let the averages take effect."""
    c = h * game.states + s
    if h == 0:
        cert.inner.clock[0] += 1
    keep = is_kept(cert.times, c)
    if keep:
        expectations(cert.inner, learner, game, seats, h, s)
        add_visit(cert.inner, game, seats, c, 1.0 / (cert.times.kept[c] + 1.0))
    ends, kept = pass_by(cert.times, c, keep)
    if ends:
        take_effect(cert.inner, game, seats, h, s, float(kept))
