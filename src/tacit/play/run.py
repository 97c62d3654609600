"""What learning returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.evaluation import evaluate
from tacit.games.tabular import TabularGame
from tacit.play.environment_game import EnvironmentGame
from tacit.policies import CertifiedPolicy, MarkovPolicy


@dataclass(frozen=True, eq=False)
class Gaps:
    """Bounds on what each agent can gain by leaving the policy, in the game's units.

    Attributes
    ----------
    kind : {"cce", "ce", "nash"}
        Which deviations count.
    upper : array [N]
        Upper bounds.
    source : {"exact", "certificate", "model-free", "estimate", "none"}
        The exact gap of a Markov policy; an exact upper bound from the game's own tables; each agent's own bound
        (1/K)·Σ(V̄_1 − V̲_1), with the theory's parameters and probability; the same with other parameters, which is no
        bound; or nothing was asked for.
    """

    kind: str
    upper: FloatArray
    source: str
    _replay: Callable[[], FloatArray] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def lower(self) -> FloatArray:
        """Lower bounds [N]: for a certified policy the exact gain of one fixed deviation, by playing the run again."""
        if self.source == "exact":
            return self.upper
        return np.zeros_like(self.upper) if self._replay is None else np.maximum(self._replay(), 0.0)


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run of learning.

    Attributes
    ----------
    game : TabularGame, or EnvironmentGame where there are no tables
    last : MarkovPolicy
        The last iterate, a product policy.
    sampled : MarkovPolicy or None
        For policy gradients, an iterate drawn evenly from all: what their theorem is about.
    gaps : Gaps
        Upper and lower bounds on the equilibrium gap of `policy`, for each agent.
    values : array [N] or None
        Exact value of `policy` for each agent, where a certificate was kept.
    reward : array [N]
        Mean return of each agent over the last tenth of the episodes.
    curve : structured array
        One row for each window of episodes: episode, reward, value, gap (of agent 0, agent 0, and the largest), and
        for each agent i reward_i, value_i, gap_i. Learners of Markov policies add l2_gap, and the means over iterates
        average_value, average_gap and average_l2_gap: of all iterates in games of at most 64 numbers (steps × states ×
        joint actions), of those at the points of the curve in larger ones; averaged says of how many. It opens in
        pandas and polars.
    params : mapping
        The parameters in force.
    """

    game: TabularGame | EnvironmentGame
    learner: str
    episodes: int
    seed: int
    last: MarkovPolicy
    gaps: Gaps
    values: FloatArray | None
    reward: FloatArray
    curve: npt.NDArray[Any]
    params: Mapping[str, Any]
    seconds: float
    interrupted: bool
    sampled: MarkovPolicy | None
    _policy: CertifiedPolicy | MarkovPolicy | None = field(repr=False)

    @property
    def policy(self) -> Any:
        """What to play: V-learning's certified policy, a policy gradient's last iterate, or the best of exact ones."""
        if self._policy is None:
            raise TacitError("this run kept no record, so it has no certified policy; learn with keep=True")
        return self._policy

    @property
    def gap(self) -> float:
        """Upper bound on the equilibrium gap of `policy`, the largest of all agents."""
        return float(self.gaps.upper.max())

    @property
    def steps_per_second(self) -> float:
        """Environment steps over learning time."""
        return self.episodes * self.game.horizon / self.seconds if self.seconds > 0 else 0.0

    @cached_property
    def last_gap(self) -> float:
        """Exact nash gap of the last iterate."""
        if not isinstance(self.game, TabularGame):
            raise TacitError(f"{self.game!r} has no tables, so nobody knows the exact gap")
        return evaluate(self.game, self.last).gap

    def __repr__(self) -> str:
        sign = {"exact": "=", "estimate": "≈"}.get(self.gaps.source, "≤")
        told = (
            "" if self.gaps.source == "none" else f", {self.gaps.kind} gap {sign} {self.gap:.4g} ({self.gaps.source})"
        )
        return f"Run({self.learner!r}, {self.episodes} episodes, seed {self.seed}{told})"
