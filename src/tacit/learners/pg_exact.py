"""Independent projected gradient ascent with exact gradients. [Mao2022, eqn:pga, thm:mpg_exact_gradient]

    π_i ← Proj(π_i + η·∇_{π_i} V_{1,i}(ρ))

with η from a line search (line_search.py), or the theorem's η = 1/(4·N·A_max·H³).

Deviations: the theorem's step is not the default, since it is far too short to be of use. It is for rewards in [0, 1];
in the game's units it is divided by the span of the rewards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.elementary import project_each
from tacit.core.memory import Owned
from tacit.evaluation.gradient import Gradient
from tacit.learners.line_search import check_eta, theory_step
from tacit.learners.spec import ExactLearner, Start, World, check_start
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True)
class PGExact(ExactLearner):
    """Independent projected gradient ascent with exact gradients.

    Parameters
    ----------
    eta : "auto", "theory" or float
        Step size: the longest that passes a line search on exact values; the theorem's, which is 1/(4·N·A_max·H³) over
        the span of the rewards; or a number.
    tolerance : float
        Stop when the nash gap is at most this, in the game's units.
    mapping_tolerance : float
        Stop when the gradient mapping ‖π' − π‖/η is at most this.
    start : "uniform", "random" or MarkovPolicy
        The policy of the first iteration.

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), tacit.learners.PGExact(), episodes=20).gap
    0.0
    """

    eta: float | str = "auto"
    tolerance: float = 0.0
    mapping_tolerance: float = 0.0
    start: Start = "uniform"

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check_eta(self.eta)
        check.real("tolerance", self.tolerance, least=0)
        check.real("mapping_tolerance", self.mapping_tolerance, least=0)
        check_start(self.start)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        eta = theory_step(world) if self.eta == "theory" else self.eta
        return {"eta": eta, "tolerance": self.tolerance, "mapping_tolerance": self.mapping_tolerance}

    def ascend(self, policy: MarkovPolicy, gradient: Gradient, eta: float) -> tuple[MarkovPolicy, float]:
        """Take one step of every agent; return the new policy and the norm of the gradient mapping."""
        moved = [
            project_each(
                probs + eta * (grad - grad.mean(axis=2, keepdims=True))
            )  # what all actions share only costs digits
            for probs, grad in zip(policy.probs, gradient.gradients, strict=True)
        ]
        change = sum(float(((new - old) ** 2).sum()) for new, old in zip(moved, policy.probs, strict=True))
        return MarkovPolicy([Owned(probs) for probs in moved]), float(np.sqrt(change)) / eta if eta > 0 else 0.0
