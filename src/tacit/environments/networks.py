"""What networks read of an environment's observations, and how its actions are made of parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.core.errors import TacitError, brief
from tacit.environments.adapters import Environment, kind
from tacit.learners import Learner
from tacit.learners.ppo import PPO, NetworkMember, Networks
from tacit.policies.network import MOST_INPUTS, Input


def join(
    learner: Learner, environment: Environment, agents: Sequence[Any], *, steps: int, episodes: int
) -> list[Networks]:
    """Give every agent that learns by PPO its network; those of one kind are updated together."""
    members = {
        i: agent.inner for i, agent in enumerate(agents) if isinstance(getattr(agent, "inner", None), NetworkMember)
    }
    unstated = any(kind(environment.spaces[i]) == "Anything" for i in members)
    shown = environment.reset(0 if environment.seeded else None) if unstated else [None] * len(agents)
    kinds: dict[Any, list[NetworkMember]] = {}
    for i, member in members.items():
        inputs = tuple(_inputs(environment.spaces[i], shown[i], environment.names[i]))
        width = sum(one.size for one in inputs)
        if not 0 < width <= MOST_INPUTS:
            who = environment.names[i]
            raise TacitError(f"{who} must observe 1 to {MOST_INPUTS:,} numbers for ppo; got {width:,}")
        kinds.setdefault((learner.seat(i), inputs, heads(environment, i)), []).append(member)
    return [
        Networks(own, each, inputs, sizes, environment.allowed, steps=steps, episodes=episodes)
        for (own, inputs, sizes), each in kinds.items()
        if isinstance(own, PPO)
    ]


def heads(environment: Environment, agent: int) -> tuple[int, ...]:
    """Return how many values each part of an agent's actions has.

    >>> from types import SimpleNamespace
    >>> heads(SimpleNamespace(actions=[6], choices=[[(a, b) for a in range(2) for b in range(3)]]), 0)
    (2, 3)
    """
    size = environment.actions[agent]
    choices = getattr(environment, "choices", [range(size)] * (1 + agent))[agent]
    if isinstance(choices, range):
        return (size,)
    try:
        columns = np.array([np.ravel(choice) for choice in choices]).T
    except ValueError:
        return (size,)
    sizes = tuple(len(set(column.tolist())) for column in columns if columns.dtype.kind in "biu")
    return sizes if math.prod(sizes) == size else (size,)


def _inputs(space: Any, shown: Any, who: str, at: tuple[str | int, ...] = ()) -> Iterator[Input]:
    """Return the parts of an observation: of a space, or of one that was `shown`; action masks are no part."""
    match kind(space):
        case "Dict" | "Tuple":
            inner = space.spaces
            each = inner.items() if isinstance(inner, Mapping) else enumerate(inner)
            for key, part in each:
                if key != "action_mask":
                    yield from _inputs(part, None, who, (*at, key))
        case "Discrete":
            yield Input(at, int(space.n), int(space.start))
        case "MultiDiscrete":
            starts = np.broadcast_to(getattr(space, "start", 0), space.shape)
            for place in np.ndindex(*space.shape):
                yield Input((*at, *place), int(space.nvec[place]), int(starts[place]))
        case "Box" | "MultiBinary":
            yield Input(at, math.prod(space.shape))
        case "Anything":
            yield from _shown(space, shown, who, at)
        case _:
            raise TacitError(f"{who} observes {brief(space)}, which has no numbers for a network")


def _shown(space: Any, shown: Any, who: str, at: tuple[str | int, ...]) -> Iterator[Input]:
    """Return the parts of an observation whose space nobody states: all numbers in it."""
    if isinstance(shown, Mapping):
        for key in shown:
            if key != "action_mask":
                yield from _shown(space, shown[key], who, (*at, key))
        return
    try:
        numbers = np.asarray(shown, dtype=np.float64)
    except (TypeError, ValueError):
        if not isinstance(shown, list | tuple):
            raise TacitError(f"{who} observes {brief(shown)}, which has no numbers for a network") from None
        for k, part in enumerate(shown):
            yield from _shown(space, part, who, (*at, k))
    else:
        yield Input(at, numbers.size)
