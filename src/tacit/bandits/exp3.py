"""Plain Exp3 with losses. [Auer, Cesa-Bianchi, Freund, Schapire 2002; Bubeck, Cesa-Bianchi 2012, Thm 3.1]

    η = √(2·ln A/(A·T)), estimates loss/prob without bias, μ(a) ∝ exp(−η·L(a)); expected regret ≤ √(2·T·A·ln A).

Deviations: none. The state and kernels are those of Exp3-IX with γ = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.bandits.exp3_ix import Exp3IXState, make
from tacit.bandits.spec import Bandit, Cells, rate
from tacit.core.elementary import log_each


@dataclass(frozen=True)
class Exp3(Bandit):
    """Exp3 without exploration of its own: small regret in expectation, not with high probability.

    Examples
    --------
    >>> import tacit
    >>> tacit.StageV(bandit=tacit.Exp3()).bandit
    Exp3()
    """

    def init(self, cells: Cells) -> Exp3IXState:
        """Make the state of all cells."""
        return make(cells, rate(cells, np.sqrt(2 * log_each(cells.actions) / cells.actions)), 0.0)
