"""What networks read of an environment's observations, and how its actions are made of parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.core.errors import TacitError, brief
from tacit.environments.adapters import Environment, kind
from tacit.learners import Learner
from tacit.learners.ppo import NetworkMember, Networks
from tacit.policies.network import CLIP, MOST_INPUTS, Input


def join(
    learner: Learner, environment: Environment, agents: Sequence[Any], *, steps: int, episodes: int
) -> list[Networks]:
    """Give every agent that learns by PPO its network. Those of one kind are updated together."""
    members = {i: inner for i, one in enumerate(agents) if type(inner := getattr(one, "inner", None)) is NetworkMember}
    kinds: dict[Any, list[NetworkMember]] = {}
    for i, member in members.items():
        kinds.setdefault((learner.seat(i), *inputs_of(environment, i), heads(environment, i)), []).append(member)
    return [
        Networks(own, each, inputs, plain, sizes, environment, steps=steps, episodes=episodes)
        for (own, inputs, plain, sizes), each in kinds.items()
    ]


def inputs_of(environment: Environment, agent: int) -> tuple[tuple[Input, ...], tuple[bool, ...]]:
    """Return what a network reads of observations, and which of it is read as it is, not normalised.

    Without a space, a first observation shows what there is.
    """
    space, who = environment.spaces[agent], environment.names[agent]
    unstated = kind(space) == "Anything"
    shown = environment.reset(0 if environment.seeded else None)[agent] if unstated else None
    parts = list(_inputs(space, shown, who))
    width = sum(one.size for one, _ in parts)
    if not 0 < width <= MOST_INPUTS:
        raise TacitError(f"{who} must observe 1 to {MOST_INPUTS:,} numbers for ppo; got {width:,}")
    return tuple(one for one, _ in parts), tuple(plain for _, plain in parts)


def heads(environment: Environment, agent: int) -> tuple[int, ...]:
    """Return how many values each part of an agent's actions has.

    >>> from types import SimpleNamespace
    >>> heads(SimpleNamespace(actions=[6], choices=[[(a, b) for a in range(2) for b in range(3)]]), 0)
    (2, 3)
    """
    size, choices = environment.actions[agent], environment.choices[agent]
    if isinstance(choices, range):
        return (size,)
    try:
        columns = np.array([np.ravel(choice) for choice in choices]).T
    except ValueError:
        return (size,)
    sizes = tuple(len(set(column.tolist())) for column in columns if columns.dtype.kind in "biu")
    return sizes if math.prod(sizes) == size else (size,)


def _inputs(space: Any, shown: Any, who: str, at: tuple[str | int, ...] = ()) -> Iterator[tuple[Input, bool]]:
    """Return the parts of a space, or of an observation `shown`, and which are plain. Action masks are no part."""
    match kind(space):
        case "Dict" | "Tuple":
            parts = space.spaces.items() if isinstance(space.spaces, Mapping) else enumerate(space.spaces)
            for key, part in parts:
                if key != "action_mask":
                    yield from _inputs(part, None, who, (*at, key))
        case "Discrete":
            yield Input(at, int(space.n), int(space.start)), True
        case "MultiDiscrete":
            starts = np.broadcast_to(getattr(space, "start", 0), space.shape)
            for place in np.ndindex(*space.shape):
                yield Input((*at, *place), int(space.nvec[place]), int(starts[place])), True
        case "MultiBinary":
            yield Input(at, math.prod(space.shape)), True
        case "Box":
            largest = np.maximum(np.abs(space.low), np.abs(space.high))
            yield Input(at, math.prod(space.shape)), bool(((largest >= 1) & (largest <= CLIP)).all())
        case "Anything" if isinstance(shown, Mapping):
            for key in shown:
                if key != "action_mask":
                    yield from _inputs(space, shown[key], who, (*at, key))
        case "Anything" if (numbers := _count(shown)) is not None:
            yield Input(at, numbers), False
        case "Anything" if isinstance(shown, list | tuple):
            for k, part in enumerate(shown):
                yield from _inputs(space, part, who, (*at, k))
        case _:
            seen = shown if kind(space) == "Anything" else space
            raise TacitError(f"{who} observes {brief(seen)}, which has no numbers for a network")


def _count(shown: Any) -> int | None:
    """Return how many numbers an observation has, None where it is no array of them."""
    try:
        return np.asarray(shown, dtype=np.float64).size
    except (TypeError, ValueError):
        return None
