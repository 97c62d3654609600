"""tacit: decentralized multi-agent learning with proof.

>>> import tacit
>>> game = tacit.make("good-state", horizon=10)
>>> tacit.solve(game, "optimum").values
array([45.5, 45.5])
"""

from __future__ import annotations

from tacit import evaluation, games, policies
from tacit._version import __version__
from tacit.core.errors import TacitError
from tacit.evaluation import best_response, evaluate, l2_gap, solve
from tacit.games import TabularGame, load, make
from tacit.policies import MarkovPolicy

__all__ = [
    "MarkovPolicy",
    "TabularGame",
    "TacitError",
    "__version__",
    "best_response",
    "evaluate",
    "evaluation",
    "games",
    "l2_gap",
    "load",
    "make",
    "policies",
    "solve",
]
