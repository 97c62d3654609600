"""An agent on disk: all that it is made of and all that it has learned, as arrays and words; nothing is pickled.

A learner is named, never stored as code: one that is not in the registry is given again when the agent is loaded.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np

from tacit.core import archive, check, streams
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.types import FloatArray
from tacit.engine.checkpoint import Arrays, check_alike, check_names, pack, unpack, whole_number
from tacit.learners import REGISTRY, Learner
from tacit.learners.spec import Scale

#: No count in a file is larger.
_MOST = 2**53


def write(agent: Any, path: str | os.PathLike[str]) -> None:
    """Write an agent as `.npz`."""
    world = agent.world
    known = {
        "learner": agent.name,
        "params": _plain(agent.params),
        "repr": repr(agent.spec),
        "states": world.states,
        "actions": int(world.actions[0]),
        "horizon": world.horizon,
        "reward_range": list(world.reward_range),
        "scale": list(world.scale),
        "seed": agent.seed,
        "index": agent.index,
        "stream": agent.stream.bit_generator.state,
    }
    start = {"start": world.start[0]} if world.start else {}
    archive.write(
        path,
        {
            "kind": np.array("agent"),
            "known": np.array(json.dumps(known)),
            "episodes": np.array(agent.episodes),
            **start,
            **{f"state{key}": array for key, array in pack(agent.state).items()},
        },
    )


def read(path: str | os.PathLike[str], learner: str | Learner | None, make: Any) -> Any:
    """Return an agent from a file; `make` makes a fresh one."""
    arrays = archive.read(path, limited=False)
    try:
        return _agent(arrays, learner, make)
    except (TacitError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise TacitError(f"{path} is not an agent that can be loaded: {one_line(error, 300)}") from None


def _agent(arrays: Arrays, learner: str | Learner | None, make: Any) -> Any:
    if str(arrays.pop("kind", "")) != "agent":
        raise TacitError("it does not say that it is one")
    known = json.loads(str(arrays.pop("known", "")))
    if not isinstance(known, dict):
        raise TacitError("it does not say what the agent is")
    name, params, spec = _learner(known, learner)
    size = tuple(check.integer(key, known[key], least=1, most=2**40) for key in ("horizon", "states", "actions"))
    span = check.interval("reward_range", known["reward_range"])
    scale = Scale(*(check.integer("scale", own, least=1, most=_MOST) for own in known["scale"]))
    seed, index = (check.integer(key, known[key], least=0, most=_MOST) for key in ("seed", "index"))
    given = arrays.pop("start", None)
    start = None if given is None else _start(given, size)
    episodes = whole_number({"episodes": arrays.pop("episodes")}, "episodes", most=_MOST)
    made = make(spec, size, span, scale, seed=seed, index=index, start=start)
    made.name, made.params, made.episodes = name, params, episodes
    found = {key.removeprefix("state"): array for key, array in arrays.items()}
    fresh = pack(made.state)
    H, S, A = size
    if not any(name.startswith(".cells.") for name in found):
        found = _from_plain_arrays(found, fresh, S, A)
    check_names(found, set(fresh))
    most = max(2 * (episodes + 1) * H + 2, H * S * A)
    check_alike(found, fresh, most=most)
    streams.check_state(made.stream, known["stream"])
    unpack(made.state, found)
    made.stream.bit_generator.state = known["stream"]
    return made


#: What version 0.2 called fields of records, where it was not their own name.
_BEFORE = {
    "bandit.copies.": "bandit.base.",
    "rounds": "round",
    "usual": "mean",
    "steps.reward": "rewards",
    "steps.theta": "now",
}


def _from_plain_arrays(found: Arrays, fresh: Arrays, states: int, actions: int) -> Arrays:
    """Return what version 0.2 wrote between two episodes, an array [1, …] for each number, as fields of records."""
    made = {}
    for name, like in fresh.items():
        value = made[name] = np.array(like, dtype=like.dtype.str)
        place, _, field = name[1:].partition(".")
        before = f"{place}.{field}"
        for word, old in _BEFORE.items():
            before = before.replace(word, old)
        rows = found.get(f".{before.removeprefix(f'{place}.')}", found.get(f".{field}"))
        axes = {"cells": (states, 1), "steps": (1,), "agents": ()}.get(place)
        if rows is None or axes is None or field.endswith("rate"):  # scratch, or the same in every state
            continue
        tail = (actions,) * (value.ndim - 1 - len(axes))
        rows = rows.reshape(-1, *axes, *tail)[: len(value)]
        value[(slice(len(rows)), *(slice(size) for size in (*axes, *tail)))] = rows
    return made


def _learner(known: dict[str, Any], given: str | Learner | None) -> tuple[str, dict[str, Any] | None, Learner]:
    """Return the learner's name, its parameters and the learner, as the file or the caller has it."""
    name, params = known["learner"], known["params"]
    if given is None or isinstance(given, str):
        if params is None or not isinstance(name, str) or name not in REGISTRY:
            told = f"its learner is {brief(known.get('repr'))}, which is not known by name"
            raise TacitError(f"{told}; give it again: Agent.load(path, learner=…)")
        spec = REGISTRY.make(name, **params)
    else:
        spec, params = given, None
    if repr(spec) != known["repr"]:
        raise TacitError(f"its learner is {brief(known['repr'])}, not {brief(spec)}")
    return name, params, spec


def _start(given: Any, size: tuple[int, ...]) -> FloatArray:
    """Return the policy that the agent started from."""
    H, S, A = size
    start = check.array("start", given)
    if start.shape not in ((H, S, A), (1, S, A)):
        raise TacitError(f"start has shape {start.shape}; it must be {(H, S, A)}")
    check.distributions("start", start, ["h", "s", "a"], over="actions")
    return start


def _plain(params: Any) -> Any:
    """Return parameters if they are plain values, otherwise None: the learner has then to be given again."""
    if params is None or not all(isinstance(value, bool | int | float | str) for value in params.values()):
        return None
    return {key: value for key, value in params.items() if not isinstance(value, float) or math.isfinite(value)}
