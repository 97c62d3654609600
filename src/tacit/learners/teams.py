"""From what a user names to a learner: of all agents, or one for each."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from tacit.core.errors import TacitError, brief
from tacit.learners import REGISTRY, Learner, Mixed
from tacit.learners.plain import PlainLearner
from tacit.learners.presets import with_preset


def resolve(learner: Any, params: Mapping[str, Any], game: str | None = None) -> tuple[str, Learner]:
    """Return a learner's name and the learner, from a registered name, a learner object or a Python class."""
    if isinstance(learner, str):
        settings = with_preset(game, learner, params) if "preset" in params else params
        return learner, REGISTRY.make(learner, **settings)
    if params:
        raise TacitError(f"a learner object has its parameters already; leave out {', '.join(params)}")
    if isinstance(learner, Learner):
        return repr(learner), learner
    if callable(learner) and not (isinstance(learner, type) and issubclass(learner, Learner)):
        return learner.__name__ if isinstance(learner, type | FunctionType) else repr(learner), PlainLearner(learner)
    raise TacitError(
        f"learner is {brief(learner)}; it must be a name ({', '.join(REGISTRY)}), a learner object or a class"
    )


def team(learner: Any, params: Mapping[str, Any], game: str | None, agents: int) -> tuple[str, Learner]:
    """Return the learner of all agents, or of a list with one for each."""
    if not isinstance(learner, list | tuple):
        return resolve(learner, params, game)
    if params:
        raise TacitError(f"several learners have their parameters already; leave out {', '.join(params)}")
    if len(learner) != agents:
        raise TacitError(f"learner lists {len(learner)}; there must be one for each of {agents} agents")
    names, members = zip(*(resolve(one, {}, game) for one in learner), strict=True)
    return f"[{', '.join(names)}]", Mixed(members, names)
