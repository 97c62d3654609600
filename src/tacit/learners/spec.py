"""What a learner is: a frozen description that makes the state of all agents, or of one alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from tacit import bandits
from tacit.bandits import Bandit, Swap
from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.policies import MarkovPolicy

Start = str | MarkovPolicy


class World(NamedTuple):
    """What agents know of the game: sizes and the range of their rewards, nothing of each other."""

    states: int
    actions: IntArray  # [N]  of the agents that this state serves; one entry for an agent on its own
    horizon: int
    reward_range: tuple[float, float]
    iota: float  # the logarithmic factor of the theory
    start: tuple[FloatArray, ...] = ()  # for learners with a starting point: [H or 1, S, A_i] for each agent

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    @property
    def cells(self) -> int:
        """Number of (h, s) pairs."""
        return self.horizon * self.states


class Learner(Protocol):
    """A learning algorithm with its parameters.

    Those whose theory has a logarithmic factor also have `confidence`, the probability p with which the guarantee may
    fail, and `iota`, the factor ι itself where it is given instead of computed. Those that start from a policy have
    `start`.
    """

    @property
    def equilibrium(self) -> str:
        """What it learns: "cce", "ce" or "nash"."""

    @property
    def output(self) -> str:
        """What it returns: "stage" or "rate" (a certified policy of that kind), "markov", or "exact".

        Those that play have `init(world)`, which returns the state of all agents as a NamedTuple of arrays, and
        kernels; "exact" ones have `ascend(policy, gradient, eta)` instead.
        """

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force, for people."""


def theorem_iota(*, agents: int, states: int, actions: int, episodes: int, horizon: int, confidence: float) -> float:
    """Return ι = log(2·N·S·A_max·K·H/p). [Mao2022, thm:cce, thm:ce]"""
    return math.log(2 * agents * states * actions * episodes * horizon / confidence)


def checked_bandit(value: Bandit | str, *, swap: bool) -> Bandit:
    """Return a bandit from an object or a registered name; a base of external regret is wrapped where swap is asked."""
    bandit: Any = bandits.REGISTRY.make(value) if isinstance(value, str) else value
    if isinstance(bandit, type) or not all(hasattr(bandit, name) for name in ("regret", "init")):
        raise TacitError(
            f"bandit is {brief(value)}; it must be a name ({', '.join(bandits.REGISTRY)}) or a bandit object"
        )
    if swap and bandit.regret == "external":
        bandit = Swap(bandit)
    found: Bandit = bandit
    return found


def checked_step(step: float | str) -> float | None:
    """Return the constant of the step size, or None for "theory"."""
    if isinstance(step, str):
        check.choice("step", step, ["theory"])
        return None
    return _positive("step", step)


def _positive(name: str, value: float) -> float:
    number = check.real(name, value, least=0)
    if number == 0:
        raise TacitError(f"{name} is 0; it must be a positive number")
    return number


def checked_common(confidence: float, iota: float | None) -> None:
    """Check the parameters that every learner of the theory has."""
    p = check.real("confidence", confidence, least=0, most=1)
    if p == 0:
        raise TacitError("confidence is 0; it is the probability p of failing, and must be positive, e.g. 0.01")
    if iota is not None:
        _positive("iota", iota)


def checked_start(start: Start) -> None:
    """Check a starting point."""
    if isinstance(start, str):
        check.choice("start", start, ["uniform", "random"])
    elif not isinstance(start, MarkovPolicy) or not start.product:
        raise TacitError(f"start is {brief(start)}; it must be 'uniform', 'random' or a MarkovPolicy (product)")


def starting_point(world: World) -> FloatArray:
    """Return the agents' first parameters [N, C, A]: those of `world.start`, or even ones."""
    theta = np.zeros((world.agents, world.cells, int(world.actions.max())))
    for i, size in enumerate(world.actions):
        theta[i, :, :size] = 1.0 / size
        if world.start:
            grid = (world.horizon, world.states, int(size))
            theta[i, :, :size] = np.broadcast_to(world.start[i], grid).reshape(world.cells, size)
    return theta


def unit_rewards(world: World) -> tuple[float, float]:
    """Return (lowest reward, 1/span), which bring rewards to [0, 1]."""
    low, high = world.reward_range
    return low, (1.0 / (high - low) if high > low else 0.0)


def raw_scale(world: World) -> float:
    """Return what turns a loss of the theory, in [0, 1], into one in the game's own units."""
    low, high = world.reward_range
    return world.horizon * (high - low)
