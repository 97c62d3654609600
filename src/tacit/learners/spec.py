"""What a learner is: a frozen description that makes the state of all agents, or of one alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit import bandits
from tacit.bandits import Bandit, Swap
from tacit.bandits.spec import is_bandit
from tacit.core import check, streams
from tacit.core.elementary import log
from tacit.core.errors import TacitError, brief
from tacit.core.memory import lock
from tacit.core.records import capacity
from tacit.core.streams import ALONE, Rota
from tacit.core.types import FloatArray, IntArray
from tacit.games.protocol import Game, count_steps
from tacit.policies import MarkovPolicy

Start = str | MarkovPolicy


class Scale(NamedTuple):
    """The size of a whole run, from which theorems compute their constants.

    Attributes
    ----------
    agents, states, actions, horizon, episodes : int
        N, S, A_max, H and K.

    Examples
    --------
    >>> from tacit.kernels import Scale
    >>> from tacit.learners import theorem_iota
    >>> round(theorem_iota(Scale(agents=2, states=2, actions=2, horizon=10, episodes=1000), 0.1), 2)
    14.29
    """

    agents: int  # N; an agent on its own counts itself only
    states: int  # S, or a bound on it
    actions: int  # A_max
    horizon: int  # H
    episodes: int  # K; 1 for an agent that does not know


class World(NamedTuple):
    """What agents know of the game: sizes and the range of their rewards; of each other only if they are `informed`.

    Attributes
    ----------
    states : int
    actions : int array [N]
        Each agent's number of actions.
    horizon : int
    reward_range : (float, float)
    scale : Scale
        Of the whole run, for the theory's constants.
    start : tuple of arrays
        Each agent's first policy [H, S, A_i], where a learner takes one.
    team : tuple of int
        Of informed learners: every agent's number of actions.
    first, seed : int
        Of informed learners: the number in the team of the first agent that this state serves, and the common seed.
    continues : float
        Of stretches of a discounted game: the probability γ that they go on after a step; their last state is "over".
        Elsewhere 1.
    places : int
        In an environment: numbers that a state may have, where each stands for a state at a step.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.kernels import Scale
    >>> from tacit.learners import World
    >>> World(2, np.array([2, 3]), 5, (0.0, 1.0), Scale(2, 2, 3, 5, 1000)).agents
    2
    """

    states: int
    actions: IntArray  # [N]  of the agents that this state serves; one entry for an agent on its own
    horizon: int
    reward_range: tuple[float, float]
    scale: Scale
    start: tuple[FloatArray | None, ...] = ()  # [H or 1, S, A_i] for each agent with a starting point of its own
    team: tuple[int, ...] = ()
    first: int = 0
    seed: int = 0
    continues: float = 1.0
    places: int = 0

    @property
    def numbers(self) -> int:
        """How many numbers a state may have that kernels get."""
        return max(self.states, self.places)

    @property
    def unit(self) -> float:
        """The span of the rewards; 1 where there is none, since then there is nothing to gain."""
        low, high = self.reward_range
        return high - low if high > low else 1.0

    @property
    def largest_gap(self) -> float:
        """H times the span of the rewards: no gap is larger, so a bound of this size says nothing."""
        low, high = self.reward_range
        return self.horizon * (high - low)

    def seat(self, i: int) -> World:
        """Return what agent i alone knows."""
        return self._replace(actions=self.actions[i : i + 1], start=self.start[i : i + 1])

    def most(self, episodes: int) -> int:
        """Return what no count or index that agents remember exceeds after so many episodes."""
        return max(
            2 * (episodes + 1) * self.horizon + 2,
            self.cells * int(self.actions.max()),
            min(math.prod(self.team), 1 << 62),
        )

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    @property
    def cells(self) -> int:
        """Number of (h, s) pairs."""
        return self.horizon * self.states


@dataclass(frozen=True)
class Span:
    """A positive number from `low` to `high`, tried evenly on a logarithmic scale.

    >>> Span(0.01, 1).at(0.5)
    0.1
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < math.inf:
            raise TacitError(f"a span from {self.low} to {self.high} is none; it must be 0 < low < high")

    def at(self, u: float) -> float:
        """Return the number at a place u in [0, 1), in three digits."""
        return float(f"{self.low * (self.high / self.low) ** u:.3g}")


@dataclass(frozen=True)
class Choice:
    """One of several values.

    >>> Choice("normalized", "raw").at(0.7)
    'raw'
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def at(self, u: float) -> Any:
        """Return the value at a place u in [0, 1)."""
        return self.values[int(u * len(self.values))]


#: Where to look for a parameter that is worth tuning.
Range = Span | Choice


class Learner:
    """A learning algorithm with its parameters: a frozen dataclass derives from this and overrides what differs.

    Examples
    --------
    >>> import tacit
    >>> tacit.StageV().output, tacit.PGExact().output
    ('certified', 'markov')
    """

    @property
    def equilibrium(self) -> str:
        """What it learns, and by which its policy is judged: "nash", "cce" or "ce"."""
        return "nash"

    @property
    def output(self) -> str:
        """What its runs yield, a name of `tacit.engine.outputs`: "markov" or "certified"."""
        return "markov"

    @property
    def rule(self) -> str:
        """Of certified policies, how an earlier visit is drawn: evenly from a "stage", or by the "rate" α_t."""
        return "stage"

    @property
    def exact(self) -> bool:
        """Whether it follows exact gradients (`ascend`) instead of playing (`init` and kernels)."""
        return False

    @property
    def observes(self) -> bool:
        """Whether it wants the observation itself instead of the number of the state."""
        return False

    @property
    def interpreted(self) -> bool:
        """Whether it has no kernels, and is played by agents on their own."""
        return False

    @property
    def central(self) -> bool:
        """Whether it controls all agents at once, so that none of them can run it alone."""
        return False

    @property
    def informed(self) -> bool:
        """Whether each agent knows of the others: how many, with how many actions each, and a seed common to all."""
        return False

    @property
    def steps(self) -> str | None:
        """What steps have in common (`steps.py`): None or "each" for nothing, "shared", "adaptive"; "" where fixed."""
        return ""

    @property
    def by_step(self) -> bool:
        """Whether all that it remembers of a state is by step: its kernels look at [h, s, i] and [h + 1, s', i] only.

        In an environment it then has memory for what is met, and a state has another number at every step.
        """
        return self.steps in (None, "each")

    @property
    def rangeless(self) -> bool:
        """Whether it learns the same whatever range of rewards it is told, so that a wrong guess does no harm."""
        return False

    @property
    def recent(self) -> bool:
        """Whether it averages its recent iterates, which is then a candidate beside the last one."""
        return False

    @property
    def tolerance(self) -> float:
        """Of exact learners: the nash gap at which they end."""
        return 0.0

    @property
    def mapping_tolerance(self) -> float:
        """Of exact learners: the norm of the gradient mapping at which they end."""
        return 0.0

    @property
    def start(self) -> Start:
        """The policy of the first episode: "uniform", "random" or a MarkovPolicy."""
        return "uniform"

    @property
    def instead(self) -> str:
        """What to try where its result is not good, in words; "" for what all learners say."""
        return ""

    @property
    def tunable(self) -> Mapping[str, Range]:
        """Where `tacit tune` looks for better parameters, by name; a parameter that is not here keeps its default."""
        return {}

    @property
    def rota(self) -> Rota:
        """Which of the learners that take turns plays which episode."""
        return ALONE

    def seat(self, i: int) -> Learner:
        """Return agent i's learner: itself, but for a team of different ones."""
        return self

    def explores(self, state: Any, i: int) -> float:
        """Return how often `act` of agent i draws evenly instead of from `weigh`, which is what runs answer with."""
        return 0.0

    def factors(self, world: World, scale: Scale) -> tuple[float, float] | None:
        """Return ι, and ι as its theorem needs it for a run of this scale: if it is as large, agents' own bounds hold.

        None where no theorem covers its parameters.
        """
        return None

    def bound_sum(self, state: Any) -> FloatArray | None:
        """Return Σ_k (V̄_1 − V̲_1) of the agents [N] in a state, where they keep bounds of their own."""
        return None

    def plan(self, state: Any, states: int, *, quick: bool = False) -> MarkovPolicy | None:
        """Return what agents that share a model answer with at the first so many states; None without a model.

        With `quick`, None where that takes longer than a moment.
        """
        return None

    def bound_gaps(
        self, state: Any, policy: MarkovPolicy, *, reward_range: tuple[float, float], states: float, noisy: bool
    ) -> FloatArray | None:
        """Return bounds on a policy's gaps [N] that hold with probability 0.99 by a shared model; None without one.

        Rewards lie in a range, and vary if they are noisy; no joint action leads to more than so many states.
        """
        return None

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force, for people: plain values by name."""
        own: Any = self
        found = {one.name: getattr(self, one.name) for one in dataclasses.fields(own) if one.name != "start"}
        return {name: value for name, value in found.items() if (name, value) != ("steps", None)}

    def init(self, world: World) -> Any:
        """Return the state of all agents, a NamedTuple for whose type the kernels are implemented.

        It remembers in arrays of records (`core/records.py`), whose last axis is the agent; a kernel touches those of
        agent i only.
        """
        raise NotImplementedError

    def ascend(self, policy: MarkovPolicy, gradient: Any, eta: float) -> tuple[MarkovPolicy, float]:
        """Take one exact step of every agent; return the new policy and the norm of the gradient mapping."""
        raise NotImplementedError


def world_of(learner: Learner, game: Game, *, episodes: int, seed: int) -> World:
    """Return what the agents of a game know, all of them together, in a run of so many episodes."""
    scale = Scale(game.agents, game.states, max(game.actions), count_steps(game), episodes)
    for i in range(game.agents):
        _check_fits(learner.seat(i).start, game)
    world = World(game.states, lock(np.array(game.actions)), game.horizon, game.reward_range, scale)
    world = world._replace(continues=getattr(game, "continues", 1.0))
    return with_start(learner, world, seed)


def with_start(learner: Learner, world: World, seed: int) -> World:
    """Return what all agents of a game know, with what their learners add: starting policies, and the team."""
    sizes = [(world.horizon, world.states, int(actions)) for actions in world.actions]
    start = tuple(starting_policy(learner.seat(i), size, seed, i) for i, size in enumerate(sizes))
    world = world._replace(start=() if all(own is None for own in start) else start)
    return world._replace(team=tuple(int(a) for a in world.actions), seed=seed) if learner.informed else world


def _check_fits(start: Start, game: Game) -> None:
    """Raise unless a starting policy has the game's sizes."""
    if isinstance(start, str):
        return
    sizes = (start.agents, start.states, start.actions)
    if sizes != (game.agents, game.states, game.actions) or start.steps not in (1, game.horizon):
        raise TacitError(f"start does not fit the game: {start!r} for {game!r}")


def starting_policy(learner: Learner, size: tuple[int, int, int], seed: int, i: int) -> FloatArray | None:
    """Return where agent i of a game of this size (H, S, A) starts, [H or 1, S, A]; None for evenly."""
    (horizon, states, actions), start = size, learner.start
    if start == "uniform":
        return None
    if isinstance(start, str):
        return streams.stream(seed, streams.START + i).dirichlet(np.ones(actions), (horizon, states))
    fits = i < start.agents and start.states == states and start.steps in (1, horizon)
    if not fits or start.actions[i] != actions:
        raise TacitError(f"start does not fit agent {i}: {start!r}")
    return start.probs[i]


def theorem_iota(scale: Scale, confidence: float) -> float:
    """Return ι = log(2·N·S·A_max·K·H/p). [Mao2022, thm:cce, thm:ce]

    Parameters
    ----------
    scale : Scale
    confidence : float
        The probability p.

    Returns
    -------
    float

    Examples
    --------
    >>> from tacit.kernels import Scale
    >>> from tacit.learners import theorem_iota
    >>> round(theorem_iota(Scale(agents=1, states=1, actions=1, horizon=1, episodes=1), 1.0), 3)
    0.693
    """
    return float(log(2 * math.prod(scale) / confidence))


def take_bandit(value: Bandit | str, *, swap: bool) -> Bandit:
    """Return a bandit from an object or a registered name; a base of external regret is wrapped where swap is asked."""
    bandit = bandits.REGISTRY.make(value) if isinstance(value, str) else value
    if not is_bandit(bandit):
        raise TacitError(
            f"bandit is {brief(value)}; it must be a name ({', '.join(bandits.REGISTRY)}) or a bandit object"
        )
    return Swap(bandit) if swap and bandit.regret == "external" else bandit


def take_step_constant(step: float | str, word: str = "theory") -> float | None:
    """Return the constant of the step size, or None for the word that leaves it to the learner."""
    if isinstance(step, str):
        check.choice("step", step, [word])
        return None
    return check.positive("step", step)


def check_confidence(confidence: float, iota: float | None) -> None:
    """Check the parameters of ι that every learner of the theory has."""
    p = check.real("confidence", confidence, least=0, most=1)
    if p == 0:
        raise TacitError("confidence is 0; it is the probability p of failing, and must be positive, e.g. 0.01")
    if iota is not None:
        check.positive("iota", iota)


def check_start(start: Start) -> None:
    """Check a starting point."""
    if isinstance(start, str):
        check.choice("start", start, ["uniform", "random"])
    elif not isinstance(start, MarkovPolicy) or not start.product:
        raise TacitError(f"start is {brief(start)}; it must be 'uniform', 'random' or a MarkovPolicy (product)")


def starting_point(world: World) -> FloatArray:
    """Return the agents' first parameters [H, S, N, A]: those of `world.start`, or even ones."""
    theta = np.zeros((world.horizon, world.states, world.agents, capacity(world.actions.max())))
    for i, size in enumerate(world.actions):
        theta[:, :, i, :size] = 1.0 / size
        own = world.start[i] if world.start else None
        if own is not None:
            theta[:, :, i, :size] = own
    return theta


def unit_rewards(world: World) -> tuple[float, float]:
    """Return (lowest reward, 1/span), which bring rewards to [0, 1]."""
    low, high = world.reward_range
    return low, (1.0 / (high - low) if high > low else 0.0)
