"""What is left of a run when it is over: numbers and a curve, the same whether it was just learnt or read from disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.evaluation import evaluate
from tacit.experiments.plan import RunSpec
from tacit.games.tabular import TabularGame
from tacit.play import Run


@dataclass(frozen=True)
class Bounds:
    """Gaps of the policy as `tacit.play.Gaps` has them."""

    kind: str
    source: str
    upper: list[float]
    informative: bool = True


@dataclass(frozen=True)
class Outcome:
    """A run that is over.

    Attributes
    ----------
    label : str
        What people call the learner.
    episodes : int
        Episodes done; fewer than `spec.episodes` where it was interrupted or the learner had reached its tolerance.
    reward : list [N]
        Mean returns over the last tenth of the episodes.
    value : list [N] or None
        Exact values of the policy, or of the last iterate where those are not known; none without tables.
    gap : Bounds or None
    learned : int
        Episodes that were played just now, rather than read from disk.
    seconds : float
        Learning time.
    span : (float, float)
        When learning just now began and ended.
    notes : tuple of str
        What was found or decided about the game.
    """

    spec: RunSpec
    label: str
    horizon: int
    agents: int
    episodes: int
    reward: list[float]
    value: list[float] | None
    gap: Bounds | None
    params: dict[str, Any]
    curve: npt.NDArray[Any]
    interrupted: bool
    seconds: float
    learned: int = 0
    span: tuple[float, float] = (0.0, 0.0)
    notes: tuple[str, ...] = ()


def outcome(spec: RunSpec, label: str, run: Run, *, learned: int, span: tuple[float, float]) -> Outcome:
    """Take from a run what is told and stored of it."""
    values, gaps = run.values, run.gaps
    if values is None and isinstance(run.game, TabularGame):
        values = evaluate(run.game, run.last).values
    return Outcome(
        spec=spec,
        label=label,
        horizon=run.game.horizon,
        agents=run.game.agents,
        episodes=run.episodes,
        reward=run.reward.tolist(),
        value=None if values is None else np.asarray(values).tolist(),
        gap=None if gaps.source == "none" else Bounds(gaps.kind, gaps.source, gaps.upper.tolist(), gaps.informative),
        params=dict(run.params),
        curve=run.curve,
        interrupted=run.interrupted,
        seconds=run.seconds,
        learned=learned,
        span=span,
        notes=run.game.notes,
    )
