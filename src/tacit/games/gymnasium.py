"""Environments of Gymnasium that carry their own transition table, as games with one agent.

Source: M. Towers et al., "Gymnasium: a standard interface for reinforcement learning environments", arXiv:2407.17032.
FrozenLake, CliffWalking and Taxi have a table `P`, where `P[s][a]` lists (probability, next state, reward, terminated).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError, blame, brief
from tacit.core.registry import require
from tacit.core.types import FloatArray
from tacit.games.exact import Successors, from_entries
from tacit.games.tabular import TabularGame

#: Wrappers that change nothing of what an environment does, but for the time limit.
PLAIN_WRAPPERS = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "OrderEnforcingWrapper")


def layers(env: Any) -> list[Any]:
    """Return an environment and what it wraps, from the outside in."""
    chain = [env]
    while getattr(chain[-1], "unwrapped", chain[-1]) is not chain[-1] and hasattr(chain[-1], "env"):
        chain.append(chain[-1].env)
    return chain


def time_limit(env: Any) -> int | None:
    """Return the smallest time limit among an environment's wrappers."""
    limits = [vars(layer).get("_max_episode_steps") for layer in layers(env) if type(layer).__name__ == "TimeLimit"]
    return min((int(limit) for limit in limits if limit is not None), default=None)


def read_table(env: Any) -> TabularGame | None:
    """Return the game of one of Gymnasium's own environments whose table says all."""
    toy_text = type(layers(env)[-1]).__module__.startswith("gymnasium.envs.toy_text.")
    return read_gymnasium(env) if toy_text and has_table(env) else None


def has_table(env: Any) -> bool:
    """Return whether a transition table says all that an environment does, its wrappers included."""
    *wrappers, inner = layers(env)
    plain = all(type(wrapper).__name__ in PLAIN_WRAPPERS for wrapper in wrappers)
    return plain and hasattr(inner, "P") and not getattr(inner, "fickle_passenger", False)


def is_own(name: str) -> bool:
    """Return whether an id is of one of Gymnasium's own environments that have a table. Nothing is imported to tell."""
    spec = require("gymnasium", "gymnasium").registry.get(name)
    modules = tuple(f"gymnasium.envs.toy_text.{module}" for module in ("frozen_lake", "cliffwalking", "taxi"))
    return str(getattr(spec, "entry_point", None)).startswith(modules)


def make_environment(env: Any, params: Mapping[str, Any]) -> Any:
    """Return a Gymnasium environment, made of its id where that is given."""
    gymnasium = require("gymnasium", "gymnasium")
    if isinstance(env, str):
        with blame(f"Gymnasium cannot make {brief(env)}"):
            return gymnasium.make(env, **params)
    if not isinstance(env, gymnasium.Env):
        raise TacitError(f"env must be a gymnasium.Env, or an id such as 'FrozenLake-v1'; got {brief(env)}")
    if params:
        raise TacitError(f"{next(iter(params))!r} is given along with an environment; parameters go with an id")
    return env


def read_gymnasium(
    env: Any, *, horizon: int | None = None, discount: float | None = None, **kwargs: Any
) -> TabularGame:
    """Return the game of an environment's transition table; parameters go with an id."""
    env = make_environment(env, kwargs)
    name = env.spec.id if env.spec else type(env.unwrapped).__name__
    transitions, rewards = _arrays(name, _table(name, env.unwrapped))
    notes = []
    if horizon is None and discount is None:
        horizon = time_limit(env)
        if horizon is None:
            raise TacitError(f"{name} has no time limit; give the horizon, e.g. 100, or a discount")
        notes.append(f"the horizon, {horizon}, is the environment's time limit")
    if hasattr(env.unwrapped, "action_mask"):
        notes.append("the environment's mask of actions is not used")
    return TabularGame(
        transitions,
        rewards,
        np.append(env.unwrapped.initial_state_distrib, 0.0),
        horizon,
        discount=discount,
        name=name,
        state_names=[*map(str, range(rewards.shape[2] - 1)), "over"],
        notes=notes,
    )


def _table(name: str, env: Any) -> Any:
    """Return `env.P`, or raise where it does not tell the whole story."""
    for attribute in ("P", "initial_state_distrib"):
        if not hasattr(env, attribute):
            raise TacitError(f"{name} has no {attribute}, hence no table; FrozenLake, CliffWalking and Taxi have one")
    if getattr(env, "fickle_passenger", False):
        raise TacitError(f"{name} has a fickle passenger, who is not in its transition table; make it without")
    return env.P


def _arrays(name: str, table: Any) -> tuple[Successors, FloatArray]:
    """Return the successors and the expected rewards [1, 1, S + 1, A]. State S is "over"."""
    over, actions = len(table), len(table[0])
    rewards = memory.zeros((1, 1, over + 1, actions), f"the rewards of {name}")
    row, state, prob = [], [], []
    for s in range(over):
        for a in range(actions):
            for chance, s_next, reward, terminated in table[s][a]:
                rewards[0, 0, s, a] += chance * reward
                row.append(s * actions + a)
                state.append(over if terminated else s_next)
                prob.append(chance)
    last = range(over * actions, (over + 1) * actions)
    row, state, prob = [*row, *last], [*state, *[over] * actions], [*prob, *[1.0] * actions]
    return from_entries(row, state, prob, (over + 1) * actions), rewards
