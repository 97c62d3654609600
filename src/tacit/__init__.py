"""tacit: decentralized multi-agent learning with proof.

>>> import tacit
>>> game = tacit.make("good-state", horizon=10)
>>> tacit.solve(game, "optimum").values
array([45.5, 45.5])
>>> run = tacit.learn(game, "stage-v-cce", episodes=2000, bonus=0.1)
>>> run.gaps.kind
'cce'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit import evaluation, games, policies
from tacit._version import __version__
from tacit.core.errors import TacitError
from tacit.evaluation import (
    best_response,
    evaluate,
    l2_gap,
    mismatch,
    potential,
    smoothness,
    solve,
    stationarity,
    theory,
)
from tacit.games import TabularGame, load, make
from tacit.policies import CertifiedPolicy, MarkovPolicy

if TYPE_CHECKING:
    from tacit import bandits, learners, play
    from tacit.bandits import Exp3, Exp3IX, Swap, TsallisINF, WeightedFTRL
    from tacit.learners import NPG, PGExact, PGStorm, StageV, VLearning
    from tacit.play import Agent, Run, agent, learn

#: What needs the compiler is imported when it is first used.
_LAZY = {
    **dict.fromkeys(["bandits", "learners", "play"], None),
    **dict.fromkeys(["Exp3", "Exp3IX", "Swap", "TsallisINF", "WeightedFTRL"], "tacit.bandits"),
    **dict.fromkeys(["NPG", "PGExact", "PGStorm", "StageV", "VLearning"], "tacit.learners"),
    **dict.fromkeys(["Agent", "Run", "agent", "learn"], "tacit.play"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    home = _LAZY[name]
    return importlib.import_module(f"tacit.{name}") if home is None else getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "NPG",
    "Agent",
    "CertifiedPolicy",
    "Exp3",
    "Exp3IX",
    "MarkovPolicy",
    "PGExact",
    "PGStorm",
    "Run",
    "StageV",
    "Swap",
    "TabularGame",
    "TacitError",
    "TsallisINF",
    "VLearning",
    "WeightedFTRL",
    "__version__",
    "agent",
    "bandits",
    "best_response",
    "evaluate",
    "evaluation",
    "games",
    "l2_gap",
    "learn",
    "learners",
    "load",
    "make",
    "mismatch",
    "play",
    "policies",
    "potential",
    "smoothness",
    "solve",
    "stationarity",
    "theory",
]
