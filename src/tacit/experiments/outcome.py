"""What is left of a run when it is over: numbers and a curve, just learned or read from disk."""

from __future__ import annotations

import contextlib
import math
import platform
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.engine import Run
from tacit.engine.run import Advice, Candidate
from tacit.evaluation import evaluate
from tacit.evaluation.cost import is_quick
from tacit.experiments.plan import RunSpec
from tacit.games.exact import is_exact


def gap_words(kind: str, source: str) -> str:
    """Return a gap's kind with how sure it is.

    >>> gap_words("cce", "certificate"), gap_words("nash", "exact"), gap_words("cce", "estimate")
    ('cce bound', 'exact nash', 'cce estimate')
    """
    return f"exact {kind}" if source == "exact" else f"{kind} {sureness(source)}"


def sureness(source: str) -> str:
    """Return what a legend adds to a gap that is not exact.

    >>> sureness("exact"), sureness("certificate"), sureness("estimate")
    ('', 'bound', 'estimate')
    """
    return {"exact": "", "estimate": "estimate"}.get(source, "bound")


@dataclass(frozen=True)
class GapOutcome:
    """Gaps of a policy as `tacit.engine.Gaps` has them; no gap is larger than `most`. Its values, where known."""

    kind: str
    source: str
    upper: list[float]
    most: float | None = None
    informative: bool = True
    value: list[float] | None = None

    @classmethod
    def of(cls, candidate: Candidate) -> GapOutcome | None:
        """Take what is stored of a candidate; nothing where no gap is known."""
        gaps, values = candidate.gaps, candidate.values
        if gaps.source == "none":
            return None
        most = gaps.most if math.isfinite(gaps.most) else None
        value = None if values is None else np.asarray(values).tolist()
        return cls(gaps.kind, gaps.source, gaps.upper.tolist(), most, gaps.informative, value)


@dataclass(frozen=True, repr=False)
class Outcome:
    """A run that is over; the only form in which runs are stored.

    Attributes
    ----------
    spec : RunSpec
        What was run.
    game : str
        The game in words.
    horizon, agents : int
    params : dict
        The learner's parameters in force.
    curve : structured array
        As `Run.curve`.
    interrupted : bool
        Whether Ctrl-C ended it.
    episodes : int
        Episodes done; fewer than `spec.episodes` where it ended early.
    ended : str
        What ended it, as `Run.ended` says.
    reward : list [N]
        Mean returns over the last tenth of the episodes.
    value : list [N] or None
        Exact values of the policy, or of the last iterate where those are not known; none without tables.
    chosen : str
        Which of the run's candidates the policy is.
    gap : GapOutcome or None
    candidates : dict of GapOutcome
        The gaps and values of all candidates whose gaps are known.
    uniform_gap : float or None
        The exact nash gap of uniform play, where the gap is exact or certified.
    advice : tuple of Advice
        What is wrong, and what to try.
    notes : tuple of str
        What was found or decided during the run.
    seconds : float
        Learning time.
    where : str
        The machine and the kind of its processor.
    learned : int
        Episodes that were played just now, rather than read from disk.
    span : (float, float)
        When learning just now began and ended.

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> [one] = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),)).run().outcomes
    >>> one.episodes, one.ended, one.gap.kind
    (10, 'episodes', 'nash')
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
    candidates: dict[str, GapOutcome] = field(default_factory=dict)
    uniform_gap: float | None = None
    advice: tuple[Advice, ...] = ()
    ended: str = "episodes"
    interrupted: bool = False
    learned: int = 0
    span: tuple[float, float] = (0.0, 0.0)
    where: str = ""

    @property
    def label(self) -> str:
        """What people call the learner."""
        return self.spec.label

    def __repr__(self) -> str:
        told = f"{self.label!r} on {self.spec.game.name!r}, seed {self.spec.seed}, {self.episodes} episodes"
        if self.gap is not None:
            sign = {"exact": "=", "estimate": "≈"}.get(self.gap.source, "≤")
            told += f", {self.gap.kind} gap {sign} {max(self.gap.upper):.4g}"
        return f"Outcome({told})"


def outcome(spec: RunSpec, run: Run, *, learned: int, span: tuple[float, float]) -> Outcome:
    """Take from a run what is reported and stored of it."""
    values = run.values
    candidates = {name: GapOutcome.of(one) for name, one in run.candidates.items()}
    if values is None and is_exact(run.game) and (not run.interrupted or is_quick(run.game, run.last)):
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
        gap=candidates[run.chosen],
        params=dict(run.params),
        notes=run.notes,
        seconds=run.seconds,
        curve=run.curve,
        candidates={name: gap for name, gap in candidates.items() if gap is not None},
        uniform_gap=None if run.gaps.source not in ("exact", "certificate") else run.uniform_gap,
        advice=run.advice,
        ended=run.ended,
        interrupted=run.interrupted,
        learned=learned,
        span=span,
        where=_machine(),
    )


@cache
def _machine() -> str:
    """Name this machine and its processor, on which the last bits of a result may depend."""
    kind = platform.processor() or platform.machine()
    with contextlib.suppress(OSError, StopIteration):  # Linux only
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        kind = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{platform.node()}, {kind}"
