"""Who trains best responses: in a table, on features of what is observed, or somebody else's trainer.

A trainer is a function of a `SingleAgentEnv`, in which the others play their policies, and of a number of episodes; it
returns whatever plays the agent, as `tacit.evaluate` takes it. Several are tried on a share of the episodes each, and
chosen among in episodes of their own: what is measured afterwards is fresh, so that the choice biases nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.errors import TacitError, brief, one_line
from tacit.core.types import IntArray
from tacit.environments import features
from tacit.environments.external import TrainedPart
from tacit.environments.play import BATCH, Arena, EnvironmentArena, finite_returns, play
from tacit.environments.players import Deviation, PartDeviation
from tacit.environments.single import TRAINING, SingleAgentEnv
from tacit.environments.training import Model

TABLE, FEATURES = "table", "features"

#: Episodes that show what observations are like, and which share of them is new where a table is enough, or none.
LOOK, FEW, MANY = 200, 0.02, 0.5

Trainer = Callable[[SingleAgentEnv, int], Any]


class Trained(NamedTuple):
    """What a deviator has come to."""

    response: Any
    deviation: Deviation | PartDeviation
    model: Model | None  # of a table
    episodes: int


def check_deviators(given: Any) -> list[Any]:
    """Return deviators as a list of names and functions."""
    each = list(given) if isinstance(given, list | tuple) else [given]
    for one in each:
        if not (callable(one) or (isinstance(one, str) and one in (TABLE, FEATURES))):
            raise TacitError(
                f"a deviator is {brief(one)}; it must be {TABLE!r}, {FEATURES!r}, or a function of a single-agent "
                f"environment and a number of episodes that returns what plays there"
            )
    if not each or len({name_of(one) for one in each}) < len(each):
        raise TacitError(f"deviators are {brief(each)}; there must be one at least, and no two of a name")
    return each


def name_of(deviator: Any) -> str:
    """Return what a deviator is called."""
    return deviator if isinstance(deviator, str) else getattr(deviator, "__name__", type(deviator).__name__)


def suggest_deviators(arena: Any, policy: Any, episodes: int, seed: int) -> list[Any]:
    """Return what to try: a table where few observations are met, features where nearly all are new, or both."""
    if not isinstance(arena, EnvironmentArena) or all(own.numbered for own in arena.observations):
        return [TABLE]
    if arena.blind:
        return [FEATURES]
    look = min(LOOK, episodes)
    try:
        states = play(arena, policy, episodes=look, seed=seed).states
        for i in range(arena.agents if getattr(policy, "sees", False) else 0):  # a deviator meets more than the policy
            astray = Deviation(i, np.full((arena.horizon, 1), -1), "random")
            play(arena, policy, episodes=min(look, 20), seed=seed, deviation=astray)
    except TacitError:  # floats that turned out to be no whole numbers; anything else is met again, and told
        if not getattr(policy, "sees", False):
            raise
        return [FEATURES]
    fresh = max(_share_new(states[:, :, i]) for i in range(arena.agents))
    if fresh <= FEW:
        return [TABLE]
    try:
        for i in range(arena.agents):
            env = SingleAgentEnv(arena, policy, i, seed)
            env.vector(env.reset()[0])
    except TacitError:  # nothing of which features could be made
        return [TABLE]
    return [FEATURES] if fresh > MANY else [TABLE, FEATURES]


def _share_new(states: IntArray) -> float:
    """Return which share of visits in the later half of episodes [n, H] is at a step and state not met in the first."""
    n, H = states.shape
    cells = states * H + np.arange(H)
    return float(np.mean(~np.isin(cells[n // 2 :], cells[: n // 2])))


def train_best(
    arena: Any, policy: Any, agent: int, deviators: Sequence[Any], episodes: int, seed: int
) -> tuple[Trained, dict[str, float]]:
    """Train a response by each deviator; return the best of them, and what each gained where they were compared.

    Chance is another than that of what is measured: another seed, and other episodes.
    """
    share, other = episodes // len(deviators), seed + 1 + agent
    if len(deviators) == 1:
        return _train(arena, policy, agent, deviators[0], episodes, other), {}
    compare = max(share // 10, 2)
    trained = [_train(arena, policy, agent, one, max(share - compare, 1), other) for one in deviators]
    before = finite_returns("the game", play(arena, policy, episodes=compare, seed=other))[:, agent]
    gains = []
    for one in trained:
        found = play(arena, policy, episodes=compare, seed=other, deviation=one.deviation)
        gains.append(float((finite_returns("the game", found)[:, agent] - before).mean()))
    names = map(name_of, deviators)
    return trained[int(np.argmax(gains))], dict(zip(names, gains, strict=True))


def _train(arena: Any, policy: Any, agent: int, deviator: Any, episodes: int, seed: int) -> Trained:
    if deviator == TABLE:
        model = train_table(arena, policy, agent, episodes, seed)
        return Trained(model.best(), Deviation(agent, model.best()), model, episodes)
    env = SingleAgentEnv(arena, policy, agent, seed)
    trainer = features.train if deviator == FEATURES else deviator
    try:
        response = trainer(env, episodes)
    except TacitError:
        raise
    except Exception as error:
        told = one_line(f"{type(error).__name__}: {error}", 200)
        raise TacitError(f"the deviator {name_of(deviator)} failed: {told}") from error
    if not callable(getattr(response, "begin", None)):  # no part yet
        response = TrainedPart(agent, arena.actions[agent], response, env.show, name_of(deviator))
    return Trained(response, PartDeviation(agent, response), None, episodes)


def train_table(arena: Arena, policy: Any, agent: int, episodes: int, seed: int) -> Model:
    """Return what an agent has met in training: batches that grow with what is known already."""
    model = Model(agent, arena.horizon, arena.actions[agent])
    done = 0
    table = np.full((arena.horizon, 1), -1)
    while done < episodes:
        size = min(max(16, done // 10), BATCH, episodes - done)
        deviation = Deviation(agent, table, "random")
        first = TRAINING + done
        model.add(arena.play(policy, range(first, first + size), seed=seed, deviation=deviation), arena.states(agent))
        done += size
        table = model.curious()
    return model
