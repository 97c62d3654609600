"""Evidence by play: values of a policy, and gains of trained best responses.

Confidence intervals of mean returns hold for every distribution between two known ends. A t-interval is wrong where
something rare matters: what happens once in n episodes is often not among them. Instead a gambler bets, in each
episode, that the mean is larger than m [Waudby-Smith, Ramdas 2024, "Estimating means of bounded random variables by
betting"]:

    K(m) = Π_t (1 + λ_t·(x_t − m)),  λ_t = min{√(2·log(1/p)/(n·σ̂²_{t−1})), 0.9/(m − low)}

If the mean is at most m, K(m) is ≥ 1/p with probability p at most (Markov), whatever the distribution; each factor
falls in m, and the least m that is not ruled out is a lower bound. λ_t depends on earlier samples alone; σ̂² begins at
the largest variance there is. For ordinary returns the interval is some 1.4 times as wide as a t-interval; where all n
samples are the same, it reaches about 4/n of the way to either end (95 %).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.environments.adapters import Range
from tacit.environments.deviators import TABLE, check_deviators, name_of, suggest_deviators, train_best
from tacit.environments.episodes import describe_cut
from tacit.environments.external import policy_of
from tacit.environments.play import Arena, Deviation, Played, arena_of, finite_returns, play


def interval(samples: FloatArray, confidence: float, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Return both ends of intervals of the means of `samples` [n, N]. They lie in [low, high]."""
    error = (1 - confidence) / 2
    below = np.array([lower(column, error, low, high) for column in samples.T])
    above = np.array([-lower(-column, error, -high, -low) for column in samples.T])
    return below, above


def lower(samples: FloatArray, error: float, low: float, high: float) -> float:
    """Return a lower bound on the mean of `samples` [n], wrong with this probability."""
    n, width, log = len(samples), high - low, math.log(1 / error)
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


def halving(samples: FloatArray, error: float, width: float) -> int:
    """Return about how many samples would halve the interval. These are repeated to find out."""
    n, low, high = len(samples), 1.0, 16.0
    wanted = _width(samples, error, width) / 2
    while high - low > 0.02:
        times = (low + high) / 2
        again = np.resize(samples, int(times * n))
        low, high = (low, times) if _width(again, error, width) <= wanted else (times, high)
    return math.ceil(high * n)


def _width(samples: FloatArray, error: float, width: float) -> float:
    """Return how wide the interval of the mean is of samples in [−width/2, width/2]."""
    below, above = interval(samples[:, None], 1 - error, -width / 2, width / 2)
    return float(above[0] - below[0])


class Ends:
    """The range of an episode's return: as given, by rewards, or as observed.

    Who is out of an environment before the horizon gets nothing, so a reward of 0 counts there. Where nothing is known,
    the span of the returns that were met is taken on either side again, or less, by the rewards that were met; if all
    returns were the same, that is no interval, and `_notes` says how rare others are.
    """

    def __init__(self, arena: Arena, given: Range | None) -> None:
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
            raise TacitError(f"reward_range must hold all rewards; got rewards from {paid[0]:g} to {paid[1]:g}")
        if self.given is not None and not self.given[0] <= low <= high <= self.given[1]:
            raise TacitError(f"return_range must hold all returns; got returns from {low:g} to {high:g}")
        self.include(*paid)
        self._returns = [min(low, self._returns[0]), max(high, self._returns[1])]

    def include(self, *rewards: float) -> None:
        """Take in rewards of single steps that were met elsewhere. They are returns of episodes too."""
        self._rewards += rewards
        if self.known:
            return
        self._returns = [min(*rewards, self._returns[0]), max(*rewards, self._returns[1])]

    @property
    def range(self) -> Range:
        """No return lies outside."""
        if self.given is not None:
            return self.given
        least, most = self._steps * min(self._rewards), self._steps * max(self._rewards)
        if self.known:
            return least, most
        low, high = self._returns
        if low == high:  # which says nothing of what else there may be
            return low, high
        return max(least, 2 * low - high), min(most, 2 * high - low)

    @property
    def span(self) -> float:
        """How far two returns can be apart."""
        return self.range[1] - self.range[0]


def round_outward(value: float, digits: int, way: Callable[[float], int] = math.ceil) -> float:
    """Return a number rounded up to so many digits, or down with `math.floor`. Intervals only become wider."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    return way(round(value / unit, 9)) * unit


def with_interval(value: float, low: float, high: float) -> str:
    """Return a mean with its interval, in words.

    >>> with_interval(0.41, 0.21, 0.61), with_interval(0.1, 0.05, 0.3), with_interval(0.0, 0.0, 0.0)
    ('0.41 ± 0.2', '0.1 (0.05 to 0.3)', '0 (always)')
    """
    if low == high:  # nobody knows how far returns reach that were not met
        return f"{value:.4g} (always)"
    below, above = (f"{round_outward(half, 2):.2g}" for half in (value - low, high - value))
    if below == above:
        return f"{value:.4g} ± {below}"
    return f"{value:.4g} ({round_outward(low, 3, math.floor):.3g} to {round_outward(high, 3):.3g})"


#: A gain rises if the second half of training adds more than this share of it, and more than chance does.
RISING = 0.05

#: What is said of training.
TRAINING_WORDS = {
    "rising": "; the gain was still rising when training ended: more episodes may find more",
    "flat": "; the gain was flat over the second half of training",
}

#: How the note begins that says what intervals rest on.
RESTS = "intervals hold"


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
        Those of the same seed meet the same draws, whatever the policy, where the environment can be seeded: the
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
        values = ", ".join(map(with_interval, self.values, self.low, self.high))
        rests = "".join(f"; {note}" for note in self.notes)
        return f"values {values} ({100 * self.confidence:g} % intervals, {self.episodes:,} episodes played{rests})"


@dataclass(frozen=True, eq=False)
class Exploitation:
    """What trained best responses gain: lower bounds on the gaps, by play.

    Attributes
    ----------
    gains : array [N]
        Mean gain of each agent's trained response, played afresh; nan for agents that were not asked for.
    low, high : array [N]
        Confidence intervals of those gains, for all agents together. `low` is the lower bound on the agent's gap. They
        hold for every distribution of returns, rare events included, where the range of rewards is known; see `notes`.
    values : array [N]
        What the policy itself was worth.
    values_low, values_high : array [N]
        Confidence intervals of the values.
    responses : tuple of N arrays [H, S], Parts, or None
        The trained responses. A table has an action for each step and state, −1 where the policy is followed; others
        act on observations, and can be played like any policy.
    tried : tuple of N dicts
        What each deviator's response gained, by the deviator's name, in the episodes by which the best was chosen;
        with one deviator, its gain.
    kind : {"nash", "cce"}
        Whether the policy is a product, so that a deviation is one from a Nash equilibrium, or correlated.
    deviations : str
        Which deviations were tried, in words.
    confidence : float
        Of all intervals of gains together, so of `lower` too; and of each value's.
    episodes, plays : int
        Episodes of training for each agent, and of play afterwards.
    halving : int
        About how many `episodes` would make the interval of the largest gain half as wide; `plays` where these were
        given.
    counted : {"episodes", "plays"}
        What `halving` counts.
    training : tuple of N str
        Whether the gain was still "rising" over the second half of an agent's training, or "flat"; "" where nobody
        knows: of agents that were not asked for, and of a trainer of yours.
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
    values: FloatArray
    responses: tuple[Any, ...] = field(repr=False)
    kind: str
    deviations: str
    confidence: float
    episodes: int
    plays: int
    halving: int
    values_low: FloatArray
    values_high: FloatArray
    tried: tuple[dict[str, float], ...]
    training: tuple[str, ...] = ()
    counted: str = "episodes"
    notes: tuple[str, ...] = ()
    source: str = "trained"

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
        """Lower bound on the gap, at the confidence for all agents together."""
        return max(float(np.nanmax(self.low)), 0.0)

    def __str__(self) -> str:
        sure = f"{100 * self.confidence:g} % confidence"
        i = int(np.nanargmax(self.low)) if self.lower > 0 else self.agent
        gained = with_interval(self.gains[i], self.low[i], self.high[i])
        message = f"a trained best response of agent {i} gained {gained} in {self.plays:,} episodes"
        if len(self.tried[i]) > 1:
            message += f", tried: {', '.join(f'{name} {gain:.3g}' for name, gain in self.tried[i].items())}"
        message += f", {self.deviations}; {self.counted}={self.halving:,} would halve the interval, about"
        message += {"": "", **TRAINING_WORDS}[self.training[i] if self.training else ""]
        message += "".join(f"; {note}" for note in self.notes if note.startswith(RESTS))
        shown = f"gap ≥ {round_outward(self.lower, 3, math.floor):.3g}" if self.lower > 0 else "no gain shown"
        return f"{shown}, with {sure} ({message})"


def evaluate_by_play(
    game: Any, policy: Any, *, episodes: int, seed: int = 0, confidence: float = 0.95, return_range: Range | None = None
) -> PlayedEvaluation:
    """Play a policy, and return what it was worth; see `tacit.evaluate`."""
    episodes = check.integer("episodes", episodes, least=2)
    seed, confidence = check.integer("seed", seed), _confidence(confidence)
    policy = policy_of(game, policy)
    arena = arena_of(game, policy)
    played = play(arena, policy, episodes=episodes, seed=seed)
    returns = finite_returns(played)
    ends = Ends(arena, return_range)
    ends.meet(played)
    low, high = interval(returns, confidence, *ends.range)
    notes = _notes(arena, policy, ends, episodes, confidence)
    return PlayedEvaluation(returns.mean(axis=0), low, high, returns, episodes, confidence, notes=notes)


def exploit(
    game: Any,
    policy: Any,
    agent: int | None = None,
    *,
    episodes: int = 20_000,
    plays: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    deviators: Any = None,
    return_range: Range | None = None,
) -> Exploitation:
    """Train a best response of each agent, and measure its gain.

    What a response gains is measured afresh, in episodes that share their draws with episodes of the policy: the lower
    end of the mean gain's confidence interval is a lower bound on the gap, however good the training was. The upper end
    is no bound: there may be better deviations. The interval holds for every distribution of returns, rare events
    included, where the range of rewards is known; otherwise a note says what it rests on.

    Parameters
    ----------
    game : any game with kernels, or an environment
        An environment's options come with it: `tacit.from_pettingzoo(env, encode=…, horizon=…, reward_range=…)`.
    policy
        As for `tacit.evaluate`.
    agent : int, optional
        Whose gain; of all agents if not given.
    episodes : int
        Episodes of training for each agent, shared by its deviators; a tenth of them chooses among several.
    deviators : str, callable or list of them, optional
        Who trains responses: "table", "features" (a regression on features of the raw observation), or a function
        f(env, episodes) that gets a single-agent environment as Gymnasium has them, in which the others play on, and
        returns what plays there, as `policy` may be: ``lambda env, episodes: DQN("MlpPolicy",
        env).learn(episodes * env.horizon)``. The best is chosen in episodes of their own, and measured afresh. If not
        given: a table where few observations are met, features where they cannot be numbered or nearly all are new,
        both in between.
    plays : int, optional
        Episodes of play afterwards, of the policy and of each response; half as many as `episodes` if not given.
    seed : int
    confidence : float
        Of the intervals.
    return_range : (float, float), optional
        As for `tacit.evaluate`: where rewards are sparse it makes intervals much narrower.

    Returns
    -------
    Exploitation

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("matching-pennies")
    >>> found = tacit.exploit(game, tacit.MarkovPolicy.deterministic([[[0]], [[0]]], [2, 2]), episodes=200)
    >>> found.gap, found.kind
    (2.0, 'nash')
    """
    episodes = check.integer("episodes", episodes)
    counted = "episodes" if plays is None else "plays"
    plays = max(2, episodes // 2) if plays is None else check.integer("plays", plays, least=2)
    seed, confidence = check.integer("seed", seed), _confidence(confidence)
    policy = policy_of(game, policy)
    each = None if deviators is None else check_deviators(deviators)
    alone = each is not None and each != [TABLE]
    arena = arena_of(game, policy, counts=each is None or TABLE in each, alone=alone)
    N = arena.agents
    agents = list(range(N)) if agent is None else [check.integer("agent", agent, least=0, most=N - 1)]
    each = each or suggest_deviators(arena, policy, episodes, seed)
    if TABLE not in each and getattr(policy, "sees", False):
        arena = arena_of(game, policy, alone=alone)  # nobody counts states
    baseline, ends = play(arena, policy, episodes=plays, seed=seed), Ends(arena, return_range)
    ends.meet(baseline)
    returns, gained = finite_returns(baseline), np.full((plays, N), np.nan)  # paired: by the same draws
    responses: list[Any] = [None] * N
    tried, training = [dict[str, float]() for _ in range(N)], [""] * N
    for i in agents:
        best, tried[i] = train_best(arena, policy, i, each, episodes, seed)
        played = play(arena, policy, episodes=plays, seed=seed, deviation=best)
        ends.meet(played)
        gained[:, i] = finite_returns(played)[:, i] - returns[:, i]
        mean = float(gained[:, i].mean())
        tried[i] = tried[i] or {name_of(each[0]): mean}
        responses[i], training[i] = best.response, _describe_training(arena, policy, best, played, mean, seed)
    error, span = (1 - confidence) / len(agents), ends.span  # of all intervals together
    low, high = np.full((2, N), np.nan)
    low[agents], high[agents] = interval(gained[:, agents], 1 - error, -span, span)
    gains = gained.mean(axis=0)
    shown = int(np.nanargmax(low if np.nanmax(low) > 0 else gains))
    values_low, values_high = interval(returns, confidence, *ends.range)
    halved = halving(gained[:, shown], error, 2 * span)
    return Exploitation(
        gains=gains,
        low=low,
        high=high,
        values=returns.mean(axis=0),
        values_low=values_low,
        values_high=values_high,
        responses=tuple(responses),
        tried=tuple(tried),
        kind="nash" if getattr(policy, "product", False) else "cce",
        deviations=_describe(arena, each),
        confidence=confidence,
        episodes=episodes,
        plays=plays,
        halving=halved if counted == "plays" else math.ceil(halved * episodes / plays),
        training=tuple(training),
        counted=counted,
        notes=_notes(arena, policy, ends, plays, confidence),
    )


def _describe_training(arena: Arena, policy: Any, best: Deviation, played: Played, gain: float, seed: int) -> str:
    """Return whether the gain rose over the second half of training, on the same draws."""
    if best.halfway is None:
        return ""
    before, plays = Deviation(best.agent, best.halfway(), best.lost), max(2, len(played.rewards) // 4)
    returns = play(arena, policy, episodes=plays, seed=seed, deviation=before).returns
    more = (played.returns[:plays] - returns)[:, best.agent]
    noise = 2 * float(more.std()) / math.sqrt(plays)
    return "rising" if more.mean() > max(noise, RISING * gain, 1e-12) else "flat"


def _describe(arena: Arena, deviators: list[Any]) -> str:
    """Return in words which deviations were tried."""
    what = "the shared state" if TABLE in deviators and arena.common_state else "own observations"
    return f"deviations on {what}" + ("" if deviators == [TABLE] else f", by {' and '.join(map(name_of, deviators))}")


def _notes(arena: Arena, policy: Any, ends: Ends, episodes: int, confidence: float) -> tuple[str, ...]:
    """Return notes on intervals, on episodes cut short, and on unknown observations."""
    notes = []
    least, most = ends.range
    if not ends.known and least == most:
        rare = 1 - (1 - confidence) ** (1 / episodes)
        notes.append(
            f"{RESTS} if no other return is ever met: others come in at most {100 * rare:.2g} % of episodes "
            f"({100 * confidence:g} % confidence), of a size that nobody said; give reward_range or return_range"
        )
    elif not ends.known:
        span = f"[{least:g}, {most:g}], three times what was met at most"
        notes.append(f"{RESTS} if no return lies outside {span}; give reward_range or return_range")
    if getattr(arena, "cut", False) and (getattr(arena, "limited", False) or getattr(policy, "steps", 1) > 1):
        notes.append(describe_cut(arena.horizon))
    lost, met = getattr(arena, "lost", 0), getattr(arena, "met", 0)
    if lost:
        share = f"{lost:,} of {met:,} observations ({100 * lost / met:.2g} %)"
        notes.append(f"{share} are not in the policy's tables; actions are drawn uniformly there")
    return tuple(notes)


def _confidence(value: object) -> float:
    confidence = check.real("confidence", value, least=0, most=1)
    if not 0 < confidence < 1:
        raise TacitError(f"confidence must lie between 0 and 1; got {confidence:g}")
    return confidence
