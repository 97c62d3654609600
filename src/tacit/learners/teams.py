"""From what a user names to a learner: of all agents, or one for each. [Mao2022, app:simulations: the presets]"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.learners import REGISTRY, Learner, Mixed
from tacit.learners.plain import PlainLearner


def resolve(learner: Any, params: Mapping[str, Any], game: str | None = None) -> tuple[str, Learner]:
    """Return a learner's name and the learner, from a registered name, a learner object or a Python class."""
    if isinstance(learner, str):
        return learner, REGISTRY.make(learner, **with_preset(game, learner, params))
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


#: For each game, by name, and each learner, what the paper prints: `preset="paper"` takes it.
PAPER: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "matrix-team": {"pg-storm": {"eta": 1e-4, "momentum": 0.5}},
    "good-state": {"stage-v-cce": {"step": 0.2}, "pg-storm": {"eta": 1e-4, "momentum": 0.5}},
    "box-pushing": {"stage-v-cce": {"step": 0.05}, "pg-storm": {"eta": 5e-4, "momentum": 0.1}},
}


def with_preset(game: str | None, learner: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with those of the `preset` among them filled in; what is given beside it overrides them.

    >>> with_preset("good-state", "pg-storm", {"preset": "paper", "eta": 0.1})
    {'eta': 0.1, 'momentum': 0.5}
    """
    settings = dict(params)
    preset = settings.pop("preset", None)
    if preset is None:
        return settings
    check.choice("preset", preset, ["paper"])
    known = PAPER.get(game or "", {})
    if learner not in known:
        where = game or "a game without a name"
        has = f"for that game it has: {', '.join(known)}" if known else f"it has some for: {', '.join(PAPER)}"
        raise TacitError(f"the paper gives no settings for {learner} on {where}; {has}")
    return {**known[learner], **settings}
