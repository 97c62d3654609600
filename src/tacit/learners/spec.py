"""What a learner is. A frozen description that makes the state of all agents, or of one alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from tacit import bandits
from tacit.bandits import Bandit, Swap
from tacit.bandits.spec import is_bandit
from tacit.core import check, generics, streams
from tacit.core.elementary import log
from tacit.core.errors import TacitError, brief
from tacit.core.memory import lock
from tacit.core.records import Fields, capacity, records
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import ExactGame
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
    """What agents know of the game: sizes and the range of their rewards.

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
    continues : float
        Of stretches of a discounted game: the probability γ that they go on after a step; their last state is "over".
        Elsewhere 1.
    places : int
        In an environment: numbers that a state may have, where each stands for a state at a step.
    discount : float or None
        Of play that never resets: γ. The horizon is 1 then, and what follows a period is a period.
    payoffs : tuple of arrays
        Of play that never resets: what each agent's actions pay [S, A_i] against uniform policies.

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
    continues: float = 1.0
    places: int = 0
    discount: float | None = None
    payoffs: tuple[FloatArray, ...] = ()

    @property
    def numbers(self) -> int:
        """How many numbers a state may have that kernels get."""
        return max(self.states, self.places)

    @property
    def unit(self) -> float:
        """The span of the rewards. 1 where there is none, since then there is nothing to gain."""
        low, high = self.reward_range
        return high - low if high > low else 1.0

    @property
    def largest_gap(self) -> float:
        """H times the span of the rewards. No gap is larger, so a bound of this size says nothing."""
        low, high = self.reward_range
        return self.horizon * (high - low)

    def seat(self, i: int) -> World:
        """Return what agent i alone knows."""
        return self._replace(
            actions=self.actions[i : i + 1], start=self.start[i : i + 1], payoffs=self.payoffs[i : i + 1]
        )

    def most(self, episodes: int) -> int:
        """Return what no count or index that agents remember exceeds after so many episodes."""
        return max(2 * (episodes + 1) * self.horizon + 2, self.cells * int(self.actions.max()))

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    @property
    def cells(self) -> int:
        """Number of (h, s) pairs."""
        return self.horizon * self.states


@dataclass(frozen=True)
class Info:
    """Five facts about a learner.

    Attributes
    ----------
    learns : {"nash", "cce", "ce"}
        The equilibrium by which its policy is judged.
    returns : {"last", "average", "certified", "frequencies"}
        The last iterate; the average of recent iterates beside it; a mixture of all, with a certificate; or how often
        each action was taken. A name of `tacit.engine.outputs`.
    needs : frozenset of {"tables", "all agents", "clock", "seed", "zero-sum", "common rewards"}
        What its agents must know beyond their own states, actions and rewards; and the games that it is only made for.
    reward_scale_free : bool
        Whether it learns the same whatever range of rewards it is given.
    averaging : {"stage", "rate"}
        Of certified policies, how an earlier visit is drawn: uniformly from a stage, or by the rates α_t.

    Examples
    --------
    >>> from tacit.learners import REGISTRY
    >>> REGISTRY.make("stage-v-cce").info.returns, REGISTRY.make("pg-exact").info.needs
    ('certified', frozenset({'tables'}))
    """

    learns: str = "nash"
    returns: str = "last"
    needs: frozenset[str] = frozenset()
    reward_scale_free: bool = False
    averaging: str = "stage"


class Learner:
    """A learning algorithm with its parameters. A frozen dataclass with `info`, `init` and kernels for its state.

    Examples
    --------
    >>> from tacit.learners import REGISTRY
    >>> REGISTRY.make("stage-v-cce").info.learns
    'cce'
    """

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info()

    @property
    def start(self) -> Start:
        """The policy of the first episode: "uniform", "random" or a MarkovPolicy."""
        return "uniform"

    @property
    def steps(self) -> str | None:
        """Parameter sharing across time steps: None, "shared", or "" where it is fixed."""
        return ""

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets, where its world has a discount."""
        return False

    def changed(self, state: Any, i: int) -> int:
        """Return the period since which agent i's greedy policy has not changed."""
        raise TacitError(f"still counts changes of greedy policies; {type(self).__name__} has none")

    def seat(self, i: int) -> Learner:
        """Return agent i's learner, and again the same from that: itself, where all agents learn alike."""
        return self

    def explores(self, state: Any, i: int) -> float:
        """Return how often agent i draws uniformly instead of from `policy`."""
        return 0.0

    def plan(self, state: Any, states: int, *, quick: bool = False) -> MarkovPolicy | None:
        """Return an equilibrium of a shared model, at the first so many states. None without a model.

        With `quick`, None where that takes longer than a moment.
        """
        return None

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force, for people: plain values by name."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        values = {one.name: getattr(self, one.name) for one in fields if one.name != "start"}
        unset = {one.name for one in fields if not one.repr and values.get(one.name) is None}
        return {name: value for name, value in values.items() if name not in unset}

    def init(self, world: World) -> Any:
        """Return the state of all agents, a NamedTuple for whose type the kernels are implemented.

        It remembers in arrays of records (`core/records.py`), whose last axis is the agent; a kernel touches those of
        agent i only.
        """
        raise NotImplementedError


class ExactLearner(Learner):
    """A learner that follows exact gradients, from the game's tables, instead of playing."""

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(needs=frozenset({"tables"}))

    def ascend(self, policy: MarkovPolicy, gradient: Any, eta: float) -> tuple[MarkovPolicy, float]:
        """Take one step of every agent. Return the new policy and the norm of the gradient mapping."""
        raise NotImplementedError

    def recall(self, game: ExactGame, policy: MarkovPolicy) -> tuple[FloatArray, ...]:
        """Return what is remembered beside the policy at first: nothing."""
        return ()

    def follow(
        self, game: ExactGame, policy: MarkovPolicy, gradient: Any, memory: tuple[FloatArray, ...], eta: float
    ) -> tuple[MarkovPolicy, tuple[FloatArray, ...], float]:
        """Take one step with what is remembered. Return the policy, the memory, and the norm of the mapping."""
        moved, mapping = self.ascend(policy, gradient, eta)
        return moved, memory, mapping


def is_exact(learner: Learner) -> TypeGuard[ExactLearner]:
    """Return whether a learner follows exact gradients."""
    return isinstance(learner, ExactLearner) and "tables" in learner.info.needs


def remembers_by_step(learner: Learner) -> bool:
    """Return whether it remembers states by step only. Its kernels look at [h, s, i] and [h + 1, s', i].

    In an environment it then has memory for what is met, and a state has another number at every step. Those with a
    common clock look at all they remember when it strikes.
    """
    return learner.steps is None and not learner.info.needs & {"all agents", "clock"}


def world_of(learner: Learner, game: Any, *, episodes: int, seed: int, endless: bool = False) -> World:
    """Return what all agents of a game know in a run."""
    scale = Scale(game.agents, game.states, max(game.actions), count_steps(game), episodes)
    for i in range(game.agents):
        _check_fits(learner.seat(i).start, game)
    world = World(game.states, lock(np.array(game.actions)), game.horizon, game.reward_range, scale)
    world = world._replace(continues=getattr(game, "continues", 1.0))
    if endless:
        world = world._replace(discount=game.discount, payoffs=_average_rewards(game))
    return with_start(learner, world, seed)


def _average_rewards(game: ExactGame) -> tuple[FloatArray, ...]:
    """Return what each agent's actions pay on average [S, A_i] where the others play uniformly."""
    rows = [np.full((game.states, size), 1.0 / size) for size in game.actions]
    return tuple(paid[:, :size] for paid, size in zip(game.payoffs(0, rows, None), game.actions, strict=True))


def with_start(learner: Learner, world: World, seed: int) -> World:
    """Return what all agents of a game know, with their learners' starting policies."""
    sizes = [(world.horizon, world.states, int(actions)) for actions in world.actions]
    start = tuple(starting_policy(learner.seat(i), size, seed, i) for i, size in enumerate(sizes))
    return world._replace(start=() if all(table is None for table in start) else start)


def _check_fits(start: Start, game: Game) -> None:
    """Raise unless a starting policy has the game's sizes."""
    if isinstance(start, str):
        return
    sizes = (start.agents, start.states, start.actions)
    if sizes != (game.agents, game.states, game.actions) or start.steps not in (1, game.horizon):
        raise TacitError(f"start does not fit the game: {start!r} for {game!r}")


def starting_policy(learner: Learner, size: tuple[int, int, int], seed: int, i: int) -> FloatArray | None:
    """Return agent i's starting policy [H or 1, S, A]; None for uniform."""
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
    if not isinstance(scale, Scale):
        raise TacitError(f"scale must be a Scale; got {brief(scale)}")
    return float(log(2 * math.prod(scale) / check.positive("confidence", confidence, most=1)))


def take_bandit(value: Bandit | str, *, swap: bool) -> Bandit:
    """Return a bandit from an object or a registered name. A base of external regret is wrapped where swap is asked."""
    bandit = bandits.REGISTRY.make(value) if isinstance(value, str) else value
    if not is_bandit(bandit):
        raise TacitError(
            f"bandit must be a name ({', '.join(bandits.REGISTRY)}) or a bandit object; got {brief(value)}"
        )
    return Swap(bandit) if swap and bandit.regret == "external" else bandit


def take_step_constant(step: float | str, word: str = "theory") -> float | None:
    """Return the constant of the step size, or None for the learner's own."""
    if isinstance(step, str):
        check.choice("step", step, [word])
        return None
    return check.positive("step", step)


def check_confidence(confidence: float, iota: float | None) -> None:
    """Check the parameters of ι that every learner of the theory has."""
    p = check.real("confidence", confidence, least=0, most=1)
    if p == 0:
        raise TacitError("confidence must be the positive probability p of failing, e.g. 0.01; got 0")
    if iota is not None:
        check.positive("iota", iota)


def check_start(start: Start) -> None:
    """Check a starting point."""
    if isinstance(start, str):
        check.choice("start", start, ["uniform", "random"])
    elif not isinstance(start, MarkovPolicy) or not start.product:
        raise TacitError(f"start must be 'uniform', 'random' or a MarkovPolicy (product); got {brief(start)}")


def starting_point(world: World) -> FloatArray:
    """Return the agents' first parameters [H, S, N, A]: those of `world.start`, or even ones."""
    theta = np.zeros((world.horizon, world.states, world.agents, capacity(world.actions.max())))
    for i, size in enumerate(world.actions):
        theta[:, :, i, :size] = 1.0 / size
        start = world.start[i] if world.start else None
        if start is not None:
            theta[:, :, i, :size] = start
    return theta


def unit_rewards(world: World) -> tuple[float, float]:
    """Return (lowest reward, 1/span), which bring rewards to [0, 1]."""
    low, high = world.reward_range
    return low, (1.0 / (high - low) if high > low else 0.0)


# parameter sharing across time steps ----------------------------------------------------------------------------------


class Each(NamedTuple):
    """Every step has a player of its own, which is in its cell."""

    empty: int = 0


class Shared(NamedTuple):
    """All steps have one player: a bandit, or the parameters of a policy. Values stay by step.

    By the performance difference lemma [Kakade, Langford 2002], for agent i's policies π and π' with the others' fixed,

        V^π'_1 − V^π_1 = Σ_h E_{s_h ~ π'}[ Σ_a π'_h(a|s_h)·A^π_h(s_h, a) ],

    so a player that learns from the advantages of all steps looks for the best stationary policy of the game with its
    horizon. Certificates hold as before, since they look at what was played at (h, s). Q-learners have one table for
    policy and values, which is shared: a state is then worth the rewards up to the end of an episode that ends after
    each visit with the probability that this was the last step.
    """

    players: Any  # [1, S, N], or [2, S, N] with what follows the last step
    horizon: int


def check_steps(steps: str | None) -> None:
    """Check which steps share a player."""
    if steps is not None:
        check.choice("steps", steps, ["shared"])


def make_cells(
    steps: str | None, world: World, player: Fields, values: Fields, *, beyond: bool = False
) -> tuple[Any, Any, Any]:
    """Return the cells, the players, and how kernels find a player.

    `player` are the fields that steps may share, `values` those that each has; with `beyond` there is something after
    the last step. In play that never resets, what follows a period is a period: its step shares all with itself.
    """
    H, S, N = world.horizon, world.states, world.agents
    if steps is None and world.discount is None:
        cells = records((H + beyond, S, N), [*player, *values])
        return cells, cells, Each()
    cells = records((H + beyond, S, N), values) if values else records((1, 1, N), [("none", "i8")])
    players = records((1 + beyond, S, N), player)
    return cells, players, Shared(players, H + (world.discount is not None))


@generics.generic
def count_states(steps, cells):
    """Return how many states there are players for."""


@count_states.implement(Each)
def count_states_of_step(steps, cells):
    """Count those of a step."""
    return cells.shape[1]


@count_states.implement(Shared)
def count_states_of_all(steps, cells):
    """Count those of all steps."""
    return steps.players.shape[1]


@generics.generic
def player(steps, cells, i, h, s):
    """Return agent i's player at (h, s)."""


@player.implement(Each)
def player_of_step(steps, cells, i, h, s):
    """Return the cell of the step."""
    return cells[h, s, i]


@player.implement(Shared)
def player_of_all(steps, cells, i, h, s):
    """Return the one player, or what follows the last step."""
    return steps.players[h // steps.horizon, s, i]
