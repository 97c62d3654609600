"""Plain Exp3 with losses. [Auer, Cesa-Bianchi, Freund, Schapire 2002; Bubeck, Cesa-Bianchi 2012, Thm 3.1]

    η = √(2·ln A/(A·T)), estimates loss/prob without bias, μ(a) ∝ exp(−η·L(a)); expected regret ≤ √(2·T·A·ln A).

Deviations: none. The state and kernels are those of Exp3-IX with γ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.bandits.exp3_ix import Exp3IXParams, begin, fields
from tacit.bandits.spec import Bandit, Setting, rate
from tacit.core.elementary import log_each
from tacit.core.records import Fields


@dataclass(frozen=True)
class Exp3(Bandit):
    """Exp3 without exploration of its own: small regret in expectation, not with high probability.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.StageV(bandit=tacit.bandits.Exp3()).bandit
    Exp3()
    """

    def fields(self, actions: int) -> Fields:
        """Return what a cell remembers."""
        return fields(actions)

    def init(self, cells: Any, setting: Setting) -> Exp3IXParams:
        """Weigh all actions alike."""
        return begin(cells, setting, rate(setting, np.sqrt(2 * log_each(setting.actions) / setting.actions)), 0.0)
