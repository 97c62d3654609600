"""Environments of Gymnasium that carry their own transition table, as games with one agent.

Source: M. Towers et al., "Gymnasium: a standard interface for reinforcement learning environments", arXiv:2407.17032.
FrozenLake, CliffWalking and Taxi have a table `P`, where `P[s][a]` lists (probability, next state, reward, terminated).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError, blame, brief
from tacit.core.registry import require
from tacit.core.types import FloatArray
from tacit.games import successors
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame

#: Wrappers that change nothing of what an environment does, but for the time limit.
PLAIN_WRAPPERS = ("TimeLimit", "OrderEnforcing", "PassiveEnvChecker", "OrderEnforcingWrapper")


def layers(env: Any) -> list[Any]:
    """Return an environment and what it wraps, from the outside in."""
    found = [env]
    while getattr(found[-1], "unwrapped", found[-1]) is not found[-1] and hasattr(found[-1], "env"):
        found.append(found[-1].env)
    return found


def time_limit(env: Any) -> int | None:
    """Return the smallest time limit among an environment's wrappers."""
    limits = [vars(layer).get("_max_episode_steps") for layer in layers(env) if type(layer).__name__ == "TimeLimit"]
    return min((int(limit) for limit in limits if limit is not None), default=None)


def read_table(env: Any, horizon: int | None = None) -> TabularGame | None:
    """Return the game of an environment that is one of Gymnasium's own whose table says all that it does."""
    *wrappers, inner = layers(env)
    own = type(inner).__module__.startswith("gymnasium.envs.toy_text.") and hasattr(inner, "P")
    plain = all(type(wrapper).__name__ in PLAIN_WRAPPERS for wrapper in wrappers)
    whole = own and plain and not getattr(inner, "fickle_passenger", False)
    return from_gymnasium(env, horizon=horizon) if whole else None


def is_own(name: str) -> bool:
    """Return whether an id is of one of Gymnasium's own environments that have a table; nothing is imported to tell."""
    spec = require("gymnasium", "gymnasium").registry.get(name)
    return str(getattr(spec, "entry_point", None)).startswith("gymnasium.envs.toy_text.")


def from_gymnasium(
    env: Any, *, horizon: int | None = None, discount: float | None = None, **kwargs: Any
) -> TabularGame:
    """Read the transition table of a Gymnasium environment.

    Parameters
    ----------
    env : str or gymnasium.Env
        An id such as "FrozenLake-v1", or the environment itself.
    horizon : int, optional
        Steps in an episode; the environment's own time limit if it is not given.
    discount : float, optional
        Instead of a horizon: the environment without its time limit, discounted.
    **kwargs
        Passed to `gymnasium.make`, where `env` is an id.

    Returns
    -------
    TabularGame
        One agent, states and actions numbered as in the environment. A state named "over" follows termination.

    Notes
    -----
    The table is that of `env.unwrapped`: what wrappers change, but for the time limit, is not in it, and neither are
    masks of actions, such as Taxi's.

    Examples
    --------
    >>> import tacit
    >>> tacit.from_gymnasium("FrozenLake-v1", is_slippery=False)
    TabularGame('FrozenLake-v1': 1 agent, 17 states, 4 actions, horizon 100, rewards in [0, 1])
    """
    gymnasium = require("gymnasium", "gymnasium")
    if isinstance(env, str):
        with _make(gymnasium, env, kwargs) as made:
            return from_gymnasium(made, horizon=horizon, discount=discount)
    if not isinstance(env, gymnasium.Env):
        raise TacitError(f"env is {brief(env)}; it must be a gymnasium.Env, or an id such as 'FrozenLake-v1'")
    if kwargs:
        raise TacitError(f"{next(iter(kwargs))!r} is given along with an environment; parameters go with an id")
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


def _make(gymnasium: Any, name: str, kwargs: dict[str, Any]) -> Any:
    with blame(f"Gymnasium cannot make {brief(name)}"):
        return gymnasium.make(name, **kwargs)


def _table(name: str, env: Any) -> Any:
    """Return `env.P`, or raise where it does not tell the whole story."""
    for attribute in ("P", "initial_state_distrib"):
        if not hasattr(env, attribute):
            raise TacitError(f"{name} has no {attribute}, hence no table; FrozenLake, CliffWalking and Taxi have one")
    if getattr(env, "fickle_passenger", False):
        raise TacitError(f"{name} has a fickle passenger, who is not in its transition table; make it without")
    return env.P


def _arrays(name: str, table: Any) -> tuple[Successors, FloatArray]:
    """Return the successors and the expected rewards [1, 1, S + 1, A]; state S is "over"."""
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
    return successors.from_entries(row, state, prob, (over + 1) * actions), rewards
