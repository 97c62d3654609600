"""From an environment and a policy to an arena: whose observations have the numbers that the policy knows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from tacit.core import limits
from tacit.core.errors import TacitError, brief
from tacit.environments.adapters import Environment, environment, name_of
from tacit.environments.bounds import episode_bounds, stated_range
from tacit.environments.game import EnvironmentGame
from tacit.environments.observations import OVER, Encode, Observations, numberings
from tacit.environments.play import EnvironmentArena
from tacit.policies import observed


def opened(
    env: Any,
    policy: Any,
    *,
    horizon: int | None = None,
    encode: Encode | None = None,
    reward_range: tuple[float, float] | None = None,
) -> EnvironmentArena:
    """Return an environment, or the game that a run made of one, as an arena for a policy."""
    observations = getattr(policy, "observations", None)
    if isinstance(env, EnvironmentGame):
        observations, game = env.observations, env
        horizon = game.horizon if horizon is None else horizon
        reward_range = game.reward_range if reward_range is None and not game.guessed else reward_range
        env = game.source
        if env is None:
            raise TacitError(f"{game!r} does not hold its environment any more; give the environment itself")
    adapter = environment(env)
    if getattr(policy, "agents", None) != len(adapter.actions) or tuple(policy.actions) != tuple(adapter.actions):
        raise TacitError(f"the policy does not fit {name_of(env)}: {brief(policy)}")
    own = _own(adapter, observations, encode)
    if observations is None and getattr(policy, "observed", None) is not None:
        _number_as(policy.observed, own, encoded=encode is not None)
    length = _horizon(policy) if horizon is None else limits.integer("horizon", horizon)
    if reward_range is None:
        reward_range = stated_range(env)
    if length is None:
        bounds = episode_bounds(adapter, horizon=length, reward_range=reward_range, seed=0)
        length = bounds.horizon
        reward_range = None if bounds.guessed_range else bounds.reward_range
    arena = EnvironmentArena(adapter, own, length)
    arena.reward_range = reward_range
    return arena


def _own(adapter: Environment, known: Any, encode: Encode | None) -> list[Observations]:
    """Return each agent's numbering: the one that the policy was learned with, or by the spaces."""
    if known is None:
        return numberings(adapter, encode, early=False)
    if encode is None and any(own.lost for own in known):
        raise TacitError("the policy's encode was not pickled with it; give encode=")
    return [own.copy(encode) for own in known]


def _number_as(listed: Sequence[list[Any]], own: list[Observations], *, encoded: bool) -> None:
    """Number observations as a policy's file lists them."""
    for one, told in zip(own, listed, strict=True):
        if not one.numbered:  # otherwise the space numbers them
            one.restore([_key(one, seen, encoded=encoded) for seen in told])


def _key(own: Observations, seen: Any, *, encoded: bool) -> Hashable:
    """Return what an agent makes of an observation that a file lists; `encode` has been applied to it already."""
    if seen == observed.OVER:
        return OVER
    return observed.key(seen) if encoded else own.key(seen)


def _horizon(policy: Any) -> int | None:
    """Return how long the policy's episodes are, where it says it."""
    found = getattr(policy, "horizon", None)
    steps = getattr(policy, "steps", 1)
    return found if found is not None else (steps if steps > 1 else None)
