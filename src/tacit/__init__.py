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

from tacit._version import __version__

if TYPE_CHECKING:
    from tacit import (
        bandits,
        engine,
        environments,
        evaluation,
        experiments,
        figures,
        games,
        kernels,
        learners,
        policies,
        testing,
    )
    from tacit.bandits import Exp3, Exp3IX, Swap, TsallisINF, WeightedFTRL
    from tacit.core.errors import TacitError
    from tacit.engine import Agent, Run, agent
    from tacit.environments import evaluate
    from tacit.environments.encoding import Bins
    from tacit.environments.measuring import exploit
    from tacit.environments.pettingzoo import to_pettingzoo
    from tacit.evaluation import behaviour, best_response, deviation_table, equilibria, l2_gap, mismatch, smoothness
    from tacit.evaluation.gradient import stationarity
    from tacit.evaluation.potential import potential
    from tacit.evaluation.solve import solve
    from tacit.evaluation.theory import theory
    from tacit.experiments import Experiment, GameSpec, LearnerSpec, Results, compare, tune
    from tacit.games import CountGame, FunctionGame, TabularGame, count_vectors, load, make, matrix_game, tabulate
    from tacit.games.gymnasium import from_gymnasium
    from tacit.games.openspiel import from_openspiel
    from tacit.learners import (
        NPG,
        UCB,
        ModelCentral,
        ModelIndependent,
        PGAdaptive,
        PGExact,
        PGStorm,
        QIndependent,
        StageV,
        VLearning,
    )
    from tacit.learning import learn
    from tacit.policies import DeployedPolicy, MarkovPolicy, Part, RecordedPolicy

_OLD_POLICIES = ["CertifiedPolicy", "SampledPolicy", "SeparatePolicy", "ThinnedPolicy"]  # of the release before

#: Where each public name lives that is no module; it is imported on first use, so that `import tacit` costs nothing.
_HOMES = {
    "tacit.bandits": ["Exp3", "Exp3IX", "Swap", "TsallisINF", "WeightedFTRL"],
    "tacit.core.errors": ["TacitError"],
    "tacit.engine": ["Agent", "Run", "agent"],
    "tacit.environments": ["evaluate"],
    "tacit.environments.encoding": ["Bins"],
    "tacit.environments.measuring": ["exploit"],
    "tacit.environments.pettingzoo": ["to_pettingzoo"],
    "tacit.evaluation": [
        "behaviour",
        "best_response",
        "deviation_table",
        "equilibria",
        "l2_gap",
        "mismatch",
        "potential",
        "smoothness",
        "solve",
        "stationarity",
        "theory",
    ],
    "tacit.experiments": ["Experiment", "GameSpec", "LearnerSpec", "Results", "compare", "tune"],
    "tacit.games": [
        "CountGame",
        "FunctionGame",
        "TabularGame",
        "count_vectors",
        "load",
        "make",
        "matrix_game",
        "tabulate",
    ],
    "tacit.games.gymnasium": ["from_gymnasium"],
    "tacit.games.openspiel": ["from_openspiel"],
    "tacit.learners": [
        "NPG",
        "UCB",
        "ModelCentral",
        "ModelIndependent",
        "ModelSeeded",
        "PGAdaptive",
        "PGExact",
        "PGStorm",
        "QIndependent",
        "StageV",
        "VLearning",
    ],
    "tacit.learning": ["learn"],
    "tacit.policies": ["DeployedPolicy", "MarkovPolicy", "Part", "RecordedPolicy", *_OLD_POLICIES],
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        found = getattr(importlib.import_module(_HOME[name]), name)
    elif name in __all__ or name == "report":  # a module; the latter is an old name
        found = importlib.import_module(f"tacit.{name}")
    else:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "NPG",
    "UCB",
    "Agent",
    "Bins",
    "CountGame",
    "DeployedPolicy",
    "Exp3",
    "Exp3IX",
    "Experiment",
    "FunctionGame",
    "GameSpec",
    "LearnerSpec",
    "MarkovPolicy",
    "ModelCentral",
    "ModelIndependent",
    "ModelSeeded",
    "PGAdaptive",
    "PGExact",
    "PGStorm",
    "Part",
    "QIndependent",
    "RecordedPolicy",
    "Results",
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
    "behaviour",
    "best_response",
    "compare",
    "count_vectors",
    "deviation_table",
    "engine",
    "environments",
    "equilibria",
    "evaluate",
    "evaluation",
    "experiments",
    "exploit",
    "figures",
    "from_gymnasium",
    "from_openspiel",
    "games",
    "kernels",
    "l2_gap",
    "learn",
    "learners",
    "load",
    "make",
    "matrix_game",
    "mismatch",
    "policies",
    "potential",
    "smoothness",
    "solve",
    "stationarity",
    "tabulate",
    "testing",
    "theory",
    "to_pettingzoo",
    "tune",
]
