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
from functools import partial
from typing import TYPE_CHECKING, Any

from tacit._version import __version__
from tacit.core import register_hook

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
    from tacit.core.errors import TacitError
    from tacit.engine import Agent, Run, agent
    from tacit.environments import evaluate
    from tacit.environments.encoding import Bins
    from tacit.environments.measuring import exploit
    from tacit.environments.pettingzoo import from_gymnasium, from_pettingzoo, to_pettingzoo
    from tacit.evaluation import equilibria, mismatch, smoothness
    from tacit.evaluation.gradient import stationarity
    from tacit.evaluation.potential import potential
    from tacit.evaluation.proof import prove
    from tacit.evaluation.solve import solve
    from tacit.evaluation.theory import theory
    from tacit.experiments import Experiment, GameSpec, LearnerSpec, Results, compare
    from tacit.games import CountGame, FunctionGame, TabularGame, load, make, matrix_game, tabulate
    from tacit.games.openspiel import from_openspiel
    from tacit.learning import learn
    from tacit.policies import MarkovPolicy

#: Where each public name lives that is no module; it is imported on first use, so that `import tacit` costs nothing.
_HOMES = {
    "tacit.core.errors": ["TacitError"],
    "tacit.engine": ["Agent", "Run", "agent"],
    "tacit.environments": ["evaluate"],
    "tacit.environments.encoding": ["Bins"],
    "tacit.environments.measuring": ["exploit"],
    "tacit.environments.pettingzoo": ["from_gymnasium", "from_pettingzoo", "to_pettingzoo"],
    "tacit.evaluation": [
        "equilibria",
        "mismatch",
        "potential",
        "prove",
        "smoothness",
        "solve",
        "stationarity",
        "theory",
    ],
    "tacit.experiments": ["Experiment", "GameSpec", "LearnerSpec", "Results", "compare"],
    "tacit.games": ["CountGame", "FunctionGame", "TabularGame", "load", "make", "matrix_game", "tabulate"],
    "tacit.games.openspiel": ["from_openspiel"],
    "tacit.learning": ["learn"],
    "tacit.policies": ["MarkovPolicy"],
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def _load(home: str, name: str) -> Any:
    return getattr(importlib.import_module(home), name)


#: What methods of objects call in layers above their own.
for _name, _place in {
    "plot_run": "tacit.figures.curves",
    "plot_policy": "tacit.figures.pictures",
    "plot_groups": "tacit.figures.curves",
    "show_policy": "tacit.evaluation.behaviour",
    "exploit": "tacit.environments.measuring",
    "progress_on_stderr": "tacit.cli.options",
    "save_run": "tacit.experiments.store",
    "load_run": "tacit.experiments.store",
}.items():
    register_hook(_name, partial(_load, _place, _name))


def __getattr__(name: str) -> Any:
    if name in _HOME:
        public = _load(_HOME[name], name)
    elif name in __all__:
        public = importlib.import_module(f"tacit.{name}")
    else:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    globals()[name] = public
    return public


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "Agent",
    "Bins",
    "CountGame",
    "Experiment",
    "FunctionGame",
    "GameSpec",
    "LearnerSpec",
    "MarkovPolicy",
    "Results",
    "Run",
    "TabularGame",
    "TacitError",
    "__version__",
    "agent",
    "bandits",
    "compare",
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
    "from_pettingzoo",
    "games",
    "kernels",
    "learn",
    "learners",
    "load",
    "make",
    "matrix_game",
    "mismatch",
    "policies",
    "potential",
    "prove",
    "smoothness",
    "solve",
    "stationarity",
    "tabulate",
    "testing",
    "theory",
    "to_pettingzoo",
]
