"""Evidence without tables: what a policy is worth by play, and what a trained best response gains against it.

Confidence intervals of means of returns, which hold for every distribution between two known ends.

A t-interval is wrong where something rare matters: what happens once in n episodes is often not among them. Instead
a gambler bets, in each episode, that the mean is larger than m [Waudby-Smith, Ramdas 2024, "Estimating means of bounded
random variables by betting"]:

    K(m) = Π_t (1 + λ_t·(x_t − m)),  λ_t = min{√(2·log(1/p)/(n·σ̂²_{t−1})), 0.9/(m − low)}

If the mean is at most m, K(m) is ≥ 1/p with probability p at most (Markov), whatever the distribution; each factor
falls in m, and the least m that is not ruled out is a lower bound. λ_t depends on earlier samples alone; σ̂² begins at
the largest variance there is. For ordinary returns the interval is some 1.4 times as wide as a t-interval; where all n
samples are the same, it reaches about 4/n of the way to either end (95 %).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.environments.bounds import describe_cut
from tacit.environments.deviators import TABLE, check_deviators, name_of, suggest_deviators, train_best
from tacit.environments.external import policy_of
from tacit.environments.play import Arena, Played, arena_of, finite_returns, play
from tacit.environments.training import Model

__all__ = ["Exploitation", "PlayedEvaluation", "evaluate_by_play", "exploit_by_play"]


@dataclass(frozen=True, eq=False)
class PlayedEvaluation:
    """What a policy was worth in play.

    Attributes
    ----------
    values : array [N]
        Mean returns.
    low, high : array [N]
        Confidence intervals of the values, one for each agent. They hold for every distribution of returns, rare
        events included, where the range of rewards is known; see `notes`.
    returns : array [episodes, N]
        Those of the same seed meet the same chance, whatever the policy, where the environment can be seeded: the
        differences between two policies' returns vary less than the returns do.
    episodes : int
    confidence : float
    exact : bool
        False.
    notes : tuple of str
        What the intervals rest on, where the range of rewards is not known.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("chicken")
    >>> played = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game), episodes=100)
    >>> played.returns.shape, bool(played.low[0] <= 3.75 <= played.high[0])
    ((100, 2), True)
    """

    values: FloatArray
    low: FloatArray
    high: FloatArray
    returns: FloatArray = field(repr=False)
    episodes: int
    confidence: float
    exact: bool = False
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = with_halves(self.values, self.low, self.high)
        return f"values {told} ({100 * self.confidence:g} % intervals, {self.episodes} episodes played)"


@dataclass(frozen=True, eq=False)
class Exploitation:
    """What trained best responses gain: lower bounds on the gaps, by play; and upper ones, where a model has them.

    Attributes
    ----------
    gains : array [N]
        Mean gain of each agent's trained response, played afresh; nan for agents that were not asked for.
    low, high : array [N]
        Confidence intervals of those gains. `low` is the lower bound on the agent's gap. They hold for every
        distribution of returns, rare events included, where the range of rewards is known; see `notes`.
    upper : array [N]
        Upper bounds on the gaps from the empirical model of the frozen game, at the same confidence; inf for none.
    values : array [N]
        What the policy itself was worth.
    values_low, values_high : array [N]
        Confidence intervals of the values.
    responses : tuple of N arrays [H, S], Parts, or None
        The trained responses. A table has an action for each step and state, −1 where the policy is followed; others
        act on observations, and can be played like any policy.
    tried : tuple of N dicts
        What each deviator's response gained, by the deviator's name, in the episodes by which the best was chosen;
        empty where there was one deviator.
    kind : {"nash", "cce"}
        Whether the policy is a product, so that a deviation is one from a Nash equilibrium, or correlated.
    deviations : str
        Which deviations were tried, in words.
    confidence : float
        Of each interval; that of `gap` is the same, for the largest of all agents.
    episodes, plays : int
        Episodes of training for each agent, and of play afterwards.
    half : float
        `lower` is `gap` less this.
    most : float
        No gap is larger.
    halving : int
        About how many episodes of play would make the interval of the largest gain half as wide.
    notes : tuple of str
        What the intervals rest on, where the range of rewards is not known.
    source : {"trained"}

    Examples
    --------
    >>> import tacit
    >>> pure = tacit.MarkovPolicy.deterministic([[[0]], [[0]]], [2, 2])
    >>> found = tacit.exploit(tacit.make("matching-pennies"), pure, episodes=200)
    >>> found.agent, found.gap
    (1, 2.0)
    """

    gains: FloatArray
    low: FloatArray
    high: FloatArray
    upper: FloatArray
    values: FloatArray
    responses: tuple[Any, ...] = field(repr=False)
    kind: str
    deviations: str
    confidence: float
    episodes: int
    plays: int
    half: float  # the gap is at least `gap` less this, at the same confidence
    most: float  # no gap is larger
    halving: int
    notes: tuple[str, ...] = ()
    source: str = "trained"
    tried: tuple[dict[str, float], ...] = ()
    values_low: FloatArray | None = None
    values_high: FloatArray | None = None

    @property
    def agent(self) -> int:
        """The agent that gains most."""
        return int(np.nanargmax(self.gains))

    @property
    def gap(self) -> float:
        """The largest mean gain: an estimate, of which `lower` is sure."""
        return max(float(np.nanmax(self.gains)), 0.0)

    @property
    def lower(self) -> float:
        """Lower bound on the gap, at the stated confidence for all agents together; 0 where no gain is shown."""
        return max(self.gap - self.half, 0.0)

    @property
    def bounded(self) -> bool:
        """Whether the upper bound says anything: that it is below the horizon times the span of rewards."""
        return bool(np.nanmax(self.upper) < self.most * (1 - 1e-12))

    def __str__(self) -> str:
        i, sure = self.agent, f"{100 * self.confidence:g} % confidence"
        half = max(self.gains[i] - self.low[i], self.high[i] - self.gains[i])
        gained = f"a trained best response gained {self.gains[i]:.4g} ± {half:.2g} in {self.plays:,} episodes"
        if self.tried and self.tried[i]:
            each = ", ".join(f"{name} {gain:.3g}" for name, gain in self.tried[i].items())
            gained = f"{gained}, tried: {each}"
        if self.lower > 0:
            told = f"gap ≥ {_round_down(self.lower):.3g}, with {sure} ({gained}, {self.deviations})"
        else:
            more = f"about {self.halving:,} would halve the interval"
            told = f"no gain shown, with {sure} ({gained}, {self.deviations}; {more})"
        return f"{told}; gap ≤ {float(np.nanmax(self.upper)):.4g} (empirical model)" if self.bounded else told


def _round_down(value: float) -> float:
    """Return the largest number of three digits that is not above a positive one."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.floor(value / unit) * unit


def with_halves(values: FloatArray, low: FloatArray, high: FloatArray) -> str:
    """Return values in writing, each with the larger half of its interval."""
    halves = np.maximum(high - values, values - low)
    return ", ".join(f"{value:.4g} ± {half:.2g}" for value, half in zip(values, halves, strict=True))


def evaluate_by_play(
    game: Any,
    policy: Any,
    *,
    episodes: int,
    seed: int = 0,
    confidence: float = 0.95,
    return_range: tuple[float, float] | None = None,
    **given: Any,
) -> PlayedEvaluation:
    """Play a policy, and return what it was worth; see `measure.evaluate`."""
    episodes = check.integer("episodes", episodes, least=2)
    seed, confidence = check.integer("seed", seed), _confidence(confidence)
    policy = policy_of(game, policy, encode=given.get("encode"))
    arena = arena_of(game, policy, **given)
    found = play(arena, policy, episodes=episodes, seed=seed)
    returns = finite_returns("the game", found)
    ends = Ends(arena, return_range)
    ends.meet(found)
    low, high = interval(returns, confidence, ends.low, ends.high)
    notes = _notes(arena, policy, ends, given)
    return PlayedEvaluation(returns.mean(axis=0), low, high, returns, episodes, confidence, notes=notes)


def exploit_by_play(
    game: Any,
    policy: Any,
    agent: int | None,
    *,
    episodes: int,
    plays: int | None,
    seed: int,
    confidence: float,
    progress: Callable[[str], None] | None,
    deviators: Any = None,
    return_range: tuple[float, float] | None = None,
    **given: Any,
) -> Exploitation:
    """Train best responses, and measure what they gain; see `measure.exploit`."""
    check.function("progress", progress)
    episodes = check.integer("episodes", episodes)
    plays = max(2, episodes // 2) if plays is None else check.integer("plays", plays, least=2)
    seed, confidence = check.integer("seed", seed), _confidence(confidence)
    policy = policy_of(game, policy, encode=given.get("encode"))
    asked_for = None if deviators is None else check_deviators(deviators)
    alone = asked_for is not None and asked_for != [TABLE]
    arena = arena_of(game, policy, counts=asked_for is None or TABLE in asked_for, alone=alone, **given)
    asked = range(arena.agents) if agent is None else [check.integer("agent", agent, least=0, most=arena.agents - 1)]
    each = asked_for or suggest_deviators(arena, policy, episodes, seed)
    if TABLE not in each and getattr(policy, "sees", False) and given.get("encode") is None:
        arena = arena_of(game, policy, alone=alone, **given)  # nobody counts states
    baseline = play(arena, policy, episodes=plays, seed=seed)
    returns = finite_returns("the game", baseline)
    gains, low, high, upper, sure = (np.full(arena.agents, np.nan) for _ in range(5))
    halving = np.zeros(arena.agents, np.int64)
    responses: list[Any] = [None] * arena.agents
    tried: list[dict[str, float]] = [{} for _ in range(arena.agents)]
    ends = Ends(arena, return_range)
    ends.meet(baseline)
    notes: list[str] = []
    for i in asked:
        best, tried[i] = train_best(arena, policy, i, each, episodes, seed)
        responses[i] = best.response
        found = play(arena, policy, episodes=plays, seed=seed, deviation=best.deviation)
        gained = finite_returns("the game", found)[:, i] - returns[:, i]
        ends.meet(found)
        spread = ends.high - ends.low
        gains[i] = gained.mean()
        low[i], high[i] = (end[0] for end in interval(gained[:, None], confidence, -spread, spread))
        sure[i] = lower(gained, (1 - confidence) / len(asked), -spread, spread)  # one end, for all agents together
        halving[i] = _halving(gained, 1 - confidence, 2 * spread)
        upper[i], told = _upper(arena, policy, best.model, baseline, best.episodes, 1 - confidence)
        notes += [told] if told and told not in notes else []
        if progress is not None:
            progress(f"agent {i} gains {gains[i]:.4g} ± {gains[i] - low[i]:.2g}")
    notes += _notes(arena, policy, ends, given)
    values_low, values_high = interval(returns, confidence, ends.low, ends.high)
    return Exploitation(
        gains=gains,
        low=low,
        high=high,
        upper=upper,
        values=returns.mean(axis=0),
        responses=tuple(responses),
        kind="nash" if getattr(policy, "product", False) else "cce",
        deviations=_describe(arena, each),
        confidence=confidence,
        episodes=episodes,
        plays=plays,
        half=max(float(np.nanmax(gains)), 0.0) - max(float(np.nanmax(sure)), 0.0),
        most=ends.high - ends.low,
        halving=int(halving[np.nanargmax(gains)]),
        notes=tuple(notes),
        tried=tuple(tried),
        values_low=values_low,
        values_high=values_high,
    )


def _describe(arena: Arena, deviators: list[Any]) -> str:
    """Return in words which deviations were tried."""
    seen = "the shared state" if TABLE in deviators and arena.common_state else "own observations"
    return f"deviations on {seen}" + ("" if deviators == [TABLE] else f", by {' and '.join(map(name_of, deviators))}")


class Ends:
    """Between which ends an episode's return lies: as is given, by the range of rewards, or by what was met.

    Who is out of an environment before the horizon gets nothing, so a reward of 0 counts there. Where nothing is known,
    the span of the returns that were met is taken on either side again, or less, by the rewards that were met.
    """

    def __init__(self, arena: Arena, given: tuple[float, float] | None) -> None:
        self.known = given is not None or arena.reward_range is not None
        self.given = None if given is None else check.interval("return_range", given)
        self._steps, self._rewards, self._returns = arena.horizon, list(arena.reward_range or ()), [math.inf, -math.inf]
        if not getattr(arena, "whole", False):
            self._rewards.append(0.0)
        self._stated = tuple(self._rewards) if arena.reward_range is not None else ()

    def meet(self, played: Played) -> None:
        """Take in what was met."""
        met, paid = played.returns, (float(played.rewards.min()), float(played.rewards.max()))
        low, high = float(met.min()), float(met.max())
        if self._stated and not min(self._stated) - 1e-9 <= paid[0] <= paid[1] <= max(self._stated) + 1e-9:
            raise TacitError(f"rewards of {paid[0]:g} to {paid[1]:g} were met; give a reward_range that holds them")
        if self.given is not None and not self.given[0] <= low <= high <= self.given[1]:
            raise TacitError(f"returns of {low:g} to {high:g} were met; give a return_range that holds them")
        self._rewards += paid
        self._returns = [min(low, self._returns[0]), max(high, self._returns[1])]

    @property
    def low(self) -> float:
        """No return is lower."""
        return self._pair[0]

    @property
    def high(self) -> float:
        """No return is higher."""
        return self._pair[1]

    @property
    def _pair(self) -> tuple[float, float]:
        if self.given is not None:
            return self.given
        least, most = self._steps * min(self._rewards), self._steps * max(self._rewards)
        if self.known:
            return least, most
        low, high = self._returns
        if low == high:
            return least, most
        return max(least, 2 * low - high), min(most, 2 * high - low)


def _notes(arena: Arena, policy: Any, ends: Ends, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what to note: what intervals rest on where nobody said how large returns are, and episodes cut short."""
    notes = []
    if not ends.known:
        seen = f"[{ends.low:g}, {ends.high:g}], three times what was met at most"
        notes.append(f"intervals hold if no return lies outside {seen}; give reward_range or return_range")
    if getattr(arena, "cut", False) and (given.get("horizon") is not None or getattr(policy, "steps", 1) > 1):
        notes.append(describe_cut(arena.horizon))
    return tuple(notes)


def _halving(samples: FloatArray, chance: float, width: float) -> int:
    """Return about how many samples would halve the interval: its half is near a/√n + b/n."""
    log = math.log(2 / chance)
    a, b = math.sqrt(2 * log) * float(samples.std()), log * width
    now = 1 / math.sqrt(len(samples))
    wanted = (a * now + b * now**2) / 2
    root = (math.sqrt(a * a + 4 * b * wanted) - a) / (2 * b) if b > 0 else now / 2
    return math.ceil(root**-2 * (1 - 1e-9))


def _upper(
    arena: Arena, policy: Any, model: Model | None, baseline: Played, episodes: int, chance: float
) -> tuple[float, str]:
    """Return an upper bound on an agent's gap and what to note; inf where none holds.

    Half of the chance of being wrong is for the model, half for the mean over fresh first states and returns.
    """
    if model is None:
        return math.inf, "no response was trained in a table, so no model bounds the gap from above"
    if not arena.common_state:
        return math.inf, "agents saw different things, so the model of what one meets bounds nothing"
    if not hasattr(policy, "probs"):
        return math.inf, "the policy is no table over states, so the model of what an agent meets bounds nothing"
    if arena.reward_range is None:
        return math.inf, "the range of rewards is not known, so there is no upper bound"
    low, high = arena.reward_range
    states = arena.most_states(episodes)
    bound = model.upper(span=high - low, low=low, states=states, episodes=episodes, chance=chance / 2)
    cap = arena.horizon * high
    first = baseline.states[:, 0, model.agent]
    start = np.where(first < len(bound), bound[np.minimum(first, len(bound) - 1)], cap)
    samples = start - baseline.returns[:, model.agent]
    largest = arena.horizon * (high - low)
    found = -lower(-samples, chance / 2, -largest, largest)
    if found >= largest:
        return largest, "the upper bound of the empirical model says nothing yet: train for more episodes"
    return max(found, 0.0), ""


def _confidence(value: object) -> float:
    found = check.real("confidence", value, least=0, most=1)
    if not 0 < found < 1:
        raise TacitError(f"confidence is {found:g}; it must lie between 0 and 1, e.g. 0.95")
    return found


def interval(samples: FloatArray, confidence: float, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Return both ends of intervals of the means of `samples` [n, N], which lie in [low, high]."""
    chance = (1 - confidence) / 2
    below = np.array([lower(own, chance, low, high) for own in samples.T])
    above = np.array([-lower(-own, chance, -high, -low) for own in samples.T])
    return below, above


def lower(samples: FloatArray, chance: float, low: float, high: float) -> float:
    """Return a number that the mean of the distribution of `samples` [n] falls below with this chance at most."""
    n, width, log = len(samples), high - low, math.log(1 / chance)
    if n == 0 or width <= 0:
        return low
    number = np.arange(1, n + 1)
    squares = (samples - np.cumsum(samples) / number) ** 2
    variance = (width**2 / 4 + np.cumsum(squares) - squares) / number
    bets = np.sqrt(2 * log / (n * variance))
    below, above = low, float(samples.mean())
    while above - below > 1e-12 * width:  # K falls in m, each of its factors does
        m = (below + above) / 2
        if not below < m < above:
            break
        stakes = np.minimum(bets, 0.9 / (m - low))
        below, above = (m, above) if np.log(1 + stakes * (samples - m)).sum() >= log else (below, m)
    return below
