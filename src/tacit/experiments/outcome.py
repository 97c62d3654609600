"""What is left of a run when it is over: numbers and a curve, just learned or read from disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.engine import Run
from tacit.evaluation import evaluate
from tacit.experiments.plan import RunSpec
from tacit.games.exact import is_exact


@dataclass(frozen=True)
class GapOutcome:
    """Gaps of the policy as `tacit.engine.Gaps` has them."""

    kind: str
    source: str
    upper: list[float]
    informative: bool = True


@dataclass(frozen=True)
class Outcome:
    """A run that is over; the only form in which runs are stored.

    Attributes
    ----------
    game : str
        The game in words.
    episodes : int
        Episodes done; fewer than `spec.episodes` where it was interrupted or the learner had reached its tolerance.
    reward : list [N]
        Mean returns over the last tenth of the episodes.
    value : list [N] or None
        Exact values of the policy, or of the last iterate where those are not known; none without tables.
    chosen : str
        Which of the run's candidates the policy is.
    gap : GapOutcome or None
    notes : tuple of str
        What was found or decided during the run.
    seconds : float
        Learning time.
    learned : int
        Episodes that were played just now, rather than read from disk.
    span : (float, float)
        When learning just now began and ended.
    """

    spec: RunSpec
    game: str
    horizon: int
    agents: int
    episodes: int
    reward: list[float]
    value: list[float] | None
    chosen: str
    gap: GapOutcome | None
    params: dict[str, Any]
    notes: tuple[str, ...]
    seconds: float
    curve: npt.NDArray[Any]
    interrupted: bool = False
    learned: int = 0
    span: tuple[float, float] = (0.0, 0.0)

    @property
    def label(self) -> str:
        """What people call the learner."""
        return self.spec.label


def outcome(spec: RunSpec, run: Run, *, learned: int, span: tuple[float, float]) -> Outcome:
    """Take from a run what is reported and stored of it."""
    values, gaps = run.values, run.gaps
    gap = GapOutcome(gaps.kind, gaps.source, gaps.upper.tolist(), gaps.informative)
    if values is None and is_exact(run.game):
        values = evaluate(run.game, run.last).values
    return Outcome(
        spec=spec,
        game=repr(run.game),
        horizon=run.game.horizon,
        agents=run.game.agents,
        episodes=run.episodes,
        reward=run.reward.tolist(),
        value=None if values is None else np.asarray(values).tolist(),
        chosen=run.chosen,
        gap=None if gaps.source == "none" else gap,
        params=dict(run.params),
        notes=run.notes,
        seconds=run.seconds,
        curve=run.curve,
        interrupted=run.interrupted,
        learned=learned,
        span=span,
    )
