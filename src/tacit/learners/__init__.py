"""Learners, each in a file of its own.

A new learner is one file here and one line in the table below, or an entry point of the group `tacit.learners`. A
Python class with `act` and `learn` can be registered as it is (`PlainLearner`). `resolve` and `team` make a learner
of what a user names. [Mao2022, app:simulations: the presets]
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.registry import Registry
from tacit.games.exact import as_exact
from tacit.games.protocol import Game
from tacit.games.tabular import as_tables
from tacit.learners.adaptive_v import AdaptiveV
from tacit.learners.model import ModelIndependent
from tacit.learners.model_central import JOINT, ModelCentral
from tacit.learners.nash_q import NashQ
from tacit.learners.nash_vi import NashVI
from tacit.learners.npg import NPG
from tacit.learners.ogda import OGDA
from tacit.learners.pg_adaptive import PGAdaptive
from tacit.learners.pg_exact import PGExact
from tacit.learners.pg_q import PGQ
from tacit.learners.pg_storm import PGStorm
from tacit.learners.pg_two_timescale import PGTwoTimescale
from tacit.learners.ppo import PPO
from tacit.learners.q_backward import QBackward
from tacit.learners.q_distributed import QDistributed
from tacit.learners.q_hysteretic import QHysteretic
from tacit.learners.q_independent import QIndependent
from tacit.learners.q_phases import QPhases
from tacit.learners.q_smoothed import QSmoothed
from tacit.learners.several import Mixed, PlainLearner, Portfolio, plain_factory
from tacit.learners.spec import Info, Learner, World, theorem_iota
from tacit.learners.spocmar import Spocmar
from tacit.learners.stage_v import StageV
from tacit.learners.ucb import UCB
from tacit.learners.v_learning import VLearning
from tacit.learners.wolf_phc import WoLFPHC
from tacit.options import CERTIFY_JOINT_ACTIONS

REGISTRY: Registry[Learner] = Registry("learner", adopt=plain_factory)
REGISTRY.add("portfolio", Portfolio)
REGISTRY.add(
    "adaptive-v-cce",
    AdaptiveV,
    about="Adaptive V-learning for a coarse correlated equilibrium: nothing to choose.",
    fixed={"equilibrium": "cce"},
)
REGISTRY.add(
    "adaptive-v-ce",
    AdaptiveV,
    about="Adaptive V-learning for a correlated equilibrium: nothing to choose.",
    fixed={"equilibrium": "ce"},
)
_THEORY = {"step": "theory", "loss": "normalized", "confidence": 0.01}
REGISTRY.add(
    "stage-v-cce",
    StageV,
    about="Stage-based V-learning for a coarse correlated equilibrium. [Mao2022, Alg. 1]",
    fixed={"swap": False},
    **{"bonus": 6.0, **_THEORY, "bandit": "exp3-ix", "iota": None},
)
REGISTRY.add(
    "stage-v-ce",
    StageV,
    about="Stage-based V-learning for a correlated equilibrium, with a bandit of swap regret. [Mao2022, Alg. 6]",
    fixed={"swap": True},
    **{"bonus": 11.0, **_THEORY, "bandit": "swap", "iota": None},
)
REGISTRY.add("v-learning", VLearning)
REGISTRY.add("model-independent", ModelIndependent)
REGISTRY.add("model-central", ModelCentral)
REGISTRY.add("pg-adaptive", PGAdaptive)
REGISTRY.add("pg-exact", PGExact)
REGISTRY.add("pg-storm", PGStorm)
REGISTRY.add(
    "pg-sgd",
    PGStorm,
    about="Independent stochastic policy gradient without momentum: what STORM improves on.",
    fixed={"momentum": 1.0, "own_ratio": False},
)
REGISTRY.add("npg", NPG)
REGISTRY.add("pg-q", PGQ)
REGISTRY.add("pg-two-timescale", PGTwoTimescale)
REGISTRY.add("ogda", OGDA)
REGISTRY.add("spocmar", Spocmar)
REGISTRY.add("nash-q", NashQ)
REGISTRY.add("nash-vi", NashVI)
REGISTRY.add(
    "ucb-central",
    UCB,
    about='The paper\'s "Centralized" benchmark: optimistic Q-learning on the joint action.',
    fixed={"central": True},
)
REGISTRY.add(
    "ucb-independent",
    UCB,
    about='The paper\'s "Independent" benchmark: optimistic Q-learning by each agent as if it were alone.',
    fixed={"central": False},
)
REGISTRY.add("q-independent", QIndependent)
REGISTRY.add("q-distributed", QDistributed)
REGISTRY.add("q-hysteretic", QHysteretic)
REGISTRY.add("q-phases", QPhases)
REGISTRY.add("q-smoothed", QSmoothed)
REGISTRY.add("wolf-phc", WoLFPHC)
REGISTRY.add("q-backward", QBackward)
REGISTRY.add("ppo", PPO)

#: The default in games with several agents and no joint tables of moderate size, and in environments.
DEFAULT, IN_ENVIRONMENTS = "adaptive-v-cce", "q-backward"


def default_for(game: Game | None, agents: int, params: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return the default learner's name, in a game or an environment.

    One agent alone can plan on its own model. Several: `portfolio` with joint tables of at most 1024 joint actions,
    `q-backward` in environments, otherwise, and for parameters without a name, adaptive V-learning. In environments
    parameters of `q-backward` need no name either.

    >>> import tacit
    >>> default_for(tacit.make("chicken"), 2), default_for(tacit.make("minority", agents=5), 5)
    ('portfolio', 'adaptive-v-cce')
    >>> default_for(None, 2, {"trace": 0.5}), default_for(None, 2, {"steps": "shared"})
    ('q-backward', 'adaptive-v-cce')
    """
    if params:
        having = [name for name in REGISTRY if {*params} - {"preset"} <= {*REGISTRY.parameters(name)}]
        defaults = [name for name in [IN_ENVIRONMENTS] * (game is None) + [DEFAULT] if name in having]
        if not defaults:
            which = (
                f"{', '.join(having)} have it" if having else "none has it (a game's go to tacit.make or --game-set)"
            )
            must = f"a learner must be named for {', '.join(params)}, which is no parameter of the default"
            raise TacitError(f"{must}; {which}")
        return defaults[0]
    if agents == 1 and (game is None or max(game.actions) <= JOINT):
        return "model-central"
    if game is None:
        return IN_ENVIRONMENTS
    tables = as_exact(game)
    return "portfolio" if tables is not None and 0 < tables.joint_rows <= CERTIFY_JOINT_ACTIONS else DEFAULT


def resolve(learner: Any, params: Mapping[str, Any], game: str | None = None) -> tuple[str, Learner]:
    """Return a learner and its name, from a name, an object or a class."""
    if isinstance(learner, str):
        return learner, REGISTRY.make(learner, **with_preset(game, learner, params))
    if params:
        raise TacitError(f"a learner object has its parameters already; leave out {', '.join(params)}")
    if isinstance(learner, Learner):
        return repr(learner), learner
    if callable(learner) and not (isinstance(learner, type) and issubclass(learner, Learner)):
        return learner.__name__ if isinstance(learner, type | FunctionType) else repr(learner), PlainLearner(learner)
    raise TacitError(
        f"learner must be a name ({', '.join(REGISTRY)}), a learner object or a class; got {brief(learner)}"
    )


def team(learner: Any, params: Mapping[str, Any], game: str | None, agents: int) -> tuple[str, Learner]:
    """Return the learner of all agents, or of a list with one for each."""
    if not isinstance(learner, list | tuple):
        return resolve(learner, params, game)
    if params:
        raise TacitError(f"several learners have their parameters already; leave out {', '.join(params)}")
    if len(learner) != agents:
        raise TacitError(f"learner must list one for each of {agents} agents; got {len(learner)}")
    names, members = zip(*(resolve(one, {}, game) for one in learner), strict=True)
    return f"[{', '.join(names)}]", Mixed(members, names)


def check_suits(name: str, learner: Learner, game: Game) -> None:
    """Raise where a game's tables show that a learner is not made for it. Without tables nothing is checked.

    >>> import tacit
    >>> check_suits("q-distributed", QDistributed(), tacit.make("chicken"))
    Traceback (most recent call last):
    tacit.core.errors.TacitError: q-distributed is for teams, whose agents always get equal rewards; chicken is none
    """
    tables = as_tables(game)
    if tables is None:
        return
    if isinstance(learner, Portfolio):
        for member, spec in learner.members:
            check_suits(member, spec, game)
        return
    needs = frozenset[str]().union(*(learner.seat(i).info.needs for i in range(tables.agents)))
    rewards, title = tables.rewards, tables.name or "this game"
    if "common rewards" in needs and (rewards != rewards[:1]).any():
        raise TacitError(f"{name} is for teams, whose agents always get equal rewards; {title} is none")
    total = rewards.sum(axis=0)
    if "zero-sum" in needs and (tables.agents != 2 or np.ptp(total) > 1e-9 * max(1.0, np.abs(rewards).max())):
        raise TacitError(f"{name} is for two agents whose rewards sum to a constant; {title} is no such game")


#: For each game, by name, and each learner, what the paper prints: `preset="paper"` takes it.
PAPER: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "matrix-team": {"pg-storm": {"eta": 1e-4, "momentum": 0.5}},
    "good-state": {"stage-v-cce": {"step": 0.2}, "pg-storm": {"eta": 1e-4, "momentum": 0.5}},
    "box-pushing": {"stage-v-cce": {"step": 0.05}, "pg-storm": {"eta": 5e-4, "momentum": 0.1}},
}

#: What the sources of learners print, for any game: `preset="theory"` takes it. Of those with {} the defaults are that.
THEORY: Mapping[str, Mapping[str, Any]] = {
    **{name: {} for name in ("stage-v-cce", "stage-v-ce", "v-learning", "ucb-central", "ucb-independent")},
    **{name: {"eta": "theory"} for name in ("pg-exact", "npg", "pg-q", "ogda")},
    "pg-storm": {"eta": "theory", "momentum": "theory", "exploration": 0.1},
    "nash-vi": {"bonus": 1.0, "correction": 1.0},
    "q-phases": {"exploration": 0.1, "inertia": 0.5, "tolerance": 0.0, "power": 0.751},
    "q-smoothed": {"rule": "slow-policy", "fast": 0.5, "slow": 1.0, "temperature": 1e-6, "cooling": 0.0},
    "wolf-phc": {"step": 0.01, "win": 5e-5, "lose": 1e-4, "step_visits": 1e6, "policy_visits": 2e4},
}


def with_preset(game: str | None, learner: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with those of the `preset` among them filled in. What is given beside it overrides them.

    >>> with_preset("good-state", "pg-storm", {"preset": "paper", "eta": 0.1})
    {'eta': 0.1, 'momentum': 0.5}
    """
    settings = dict(params)
    preset = settings.pop("preset", None)
    if preset is None:
        return settings
    check.choice("preset", preset, ["paper", "theory"])
    if preset == "theory":
        if learner not in THEORY:
            raise TacitError(f"preset='theory' is for {', '.join(THEORY)}; {learner} has no published constants here")
        return {**THEORY[learner], **settings}
    presets = PAPER.get(game or "", {})
    if learner not in presets:
        where = game or "a game without a name"
        has = f"for that game it has: {', '.join(presets)}" if presets else f"it has some for: {', '.join(PAPER)}"
        raise TacitError(f"the paper gives no settings for {learner} on {where}; {has}")
    return {**presets[learner], **settings}


__all__ = [
    "DEFAULT",
    "NPG",
    "OGDA",
    "PGQ",
    "PPO",
    "REGISTRY",
    "UCB",
    "AdaptiveV",
    "Info",
    "Learner",
    "Mixed",
    "ModelCentral",
    "ModelIndependent",
    "NashQ",
    "NashVI",
    "PGAdaptive",
    "PGExact",
    "PGStorm",
    "PGTwoTimescale",
    "Portfolio",
    "QBackward",
    "QDistributed",
    "QHysteretic",
    "QIndependent",
    "QPhases",
    "QSmoothed",
    "Spocmar",
    "StageV",
    "VLearning",
    "WoLFPHC",
    "World",
    "theorem_iota",
]
