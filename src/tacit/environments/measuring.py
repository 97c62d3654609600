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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, sentence
from tacit.core.types import FloatArray
from tacit.engine.run import Run
from tacit.environments.bounds import describe_cut
from tacit.environments.deviators import TABLE, Trained, check_deviators, name_of, suggest_deviators, train_best
from tacit.environments.external import policy_of
from tacit.environments.play import Arena, Played, arena_of, finite_returns, play

__all__ = ["Exploitation", "PlayedEvaluation", "evaluate_by_play", "exploit"]

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
        told = ", ".join(map(with_interval, self.values, self.low, self.high))
        rests = "".join(f"; {note}" for note in self.notes)
        return f"values {told} ({100 * self.confidence:g} % intervals, {self.episodes:,} episodes played{rests})"


@dataclass(frozen=True, eq=False)
class Exploitation:
    """What trained best responses gain: lower bounds on the gaps, by play; and upper ones, where a model has them.

    Attributes
    ----------
    gains : array [N]
        Mean gain of each agent's trained response, played afresh; nan for agents that were not asked for.
    low, high : array [N]
        Confidence intervals of those gains, for all agents together. `low` is the lower bound on the agent's gap. They
        hold for every distribution of returns, rare events included, where the range of rewards is known; see `notes`.
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
        with one deviator, its gain.
    kind : {"nash", "cce"}
        Whether the policy is a product, so that a deviation is one from a Nash equilibrium, or correlated.
    deviations : str
        Which deviations were tried, in words.
    confidence : float
        Of all intervals of gains together, so of `lower` too; and of each value's.
    episodes, plays : int
        Episodes of training for each agent, and of play afterwards.
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
    most: float  # no gap is larger
    halving: int
    values_low: FloatArray
    values_high: FloatArray
    tried: tuple[dict[str, float], ...]
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
        """Lower bound on the gap, at the stated confidence for all agents together; 0 where no gain is shown."""
        return max(float(np.nanmax(self.low)), 0.0)

    @property
    def half(self) -> float:
        """How far the lower bound is below the largest mean gain."""
        return self.gap - self.lower

    @property
    def bounded(self) -> bool:
        """Whether the upper bound says anything: that it is below the horizon times the span of rewards."""
        return bool(np.nanmax(self.upper) < self.most * (1 - 1e-12))

    def __str__(self) -> str:
        sure = f"{100 * self.confidence:g} % confidence"
        i = int(np.nanargmax(self.low)) if self.lower > 0 else self.agent
        gained = with_interval(self.gains[i], self.low[i], self.high[i])
        told = f"a trained best response of agent {i} gained {gained} in {self.plays:,} episodes"
        if len(self.tried[i]) > 1:
            told += f", tried: {', '.join(f'{name} {gain:.3g}' for name, gain in self.tried[i].items())}"
        told += f", {self.deviations}; about {self.halving:,} episodes would halve the interval"
        told += "".join(f"; {note}" for note in self.notes if note.startswith(RESTS))
        shown = f"gap ≥ {_round(self.lower, 3, math.floor):.3g}" if self.lower > 0 else "no gain shown"
        above = f"; gap ≤ {float(np.nanmax(self.upper)):.4g} (empirical model)" if self.bounded else ""
        return f"{shown}, with {sure} ({told}){above}"


def _round(value: float, digits: int, way: Callable[[float], int] = math.ceil) -> float:
    """Return a number to so many digits, rounded up, or down with `math.floor`: intervals only become wider."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    return way(round(value / unit, 9)) * unit


def with_interval(value: float, low: float, high: float) -> str:
    """Return a mean with its interval: its half where both are the same in print, otherwise its ends.

    >>> with_interval(0.41, 0.21, 0.61), with_interval(0.1, 0.05, 0.3), with_interval(0.0, 0.0, 0.0)
    ('0.41 ± 0.2', '0.1 (0.05 to 0.3)', '0 (always)')
    """
    if low == high:  # nobody knows how far returns reach that were not met
        return f"{value:.4g} (always)"
    below, above = (f"{_round(half, 2):.2g}" for half in (value - low, high - value))
    if below == above:
        return f"{value:.4g} ± {below}"
    return f"{value:.4g} ({_round(low, 3, math.floor):.3g} to {_round(high, 3):.3g})"


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
    """Play a policy, and return what it was worth; see `tacit.evaluate`."""
    episodes = check.integer("episodes", episodes, least=2)
    seed, confidence = check.integer("seed", seed), _confidence(confidence)
    policy = policy_of(game, policy, encode=given.get("encode"))
    arena = arena_of(game, policy, **given)
    found = play(arena, policy, episodes=episodes, seed=seed)
    returns = finite_returns("the game", found)
    ends = Ends(arena, return_range)
    ends.meet(found)
    low, high = interval(returns, confidence, ends.low, ends.high)
    notes = _notes(arena, policy, ends, given, episodes, confidence)
    return PlayedEvaluation(returns.mean(axis=0), low, high, returns, episodes, confidence, notes=notes)


class Gains(NamedTuple):
    """What trained responses gained in play."""

    arena: Arena
    deviators: list[Any]
    baseline: Played  # of the policy itself
    gained: FloatArray  # [plays, N]  paired: by the same chance; nan for agents that were not asked for
    trained: list[Trained | None]  # of each agent
    tried: tuple[dict[str, float], ...]
    ends: Ends


def train_and_play(
    game: Any,
    policy: Any,
    agents: Sequence[int] | None,
    *,
    episodes: int,
    plays: int,
    seed: int,
    deviators: list[Any] | None = None,
    return_range: tuple[float, float] | None = None,
    progress: Callable[[str], None] | None = None,
    **given: Any,
) -> Gains:
    """Train a best response of each agent, and play it and the policy by the same chance."""
    alone = deviators is not None and deviators != [TABLE]
    arena = arena_of(game, policy, counts=deviators is None or TABLE in deviators, alone=alone, **given)
    asked = range(arena.agents) if agents is None else agents
    for i in asked:
        check.integer("agent", i, least=0, most=arena.agents - 1)
    each = deviators or suggest_deviators(arena, policy, episodes, seed)
    if TABLE not in each and getattr(policy, "sees", False) and given.get("encode") is None:
        arena = arena_of(game, policy, alone=alone, **given)  # nobody counts states
    baseline, ends = play(arena, policy, episodes=plays, seed=seed), Ends(arena, return_range)
    ends.meet(baseline)
    returns, gained = finite_returns("the game", baseline), np.full((plays, arena.agents), np.nan)
    trained: list[Trained | None] = [None] * arena.agents
    tried: list[dict[str, float]] = [{} for _ in range(arena.agents)]
    for i in asked:
        best, tried[i] = train_best(arena, policy, i, each, episodes, seed)
        trained[i] = best
        found = play(arena, policy, episodes=plays, seed=seed, deviation=best.deviation)
        ends.meet(found)
        gained[:, i] = finite_returns("the game", found)[:, i] - returns[:, i]
        mean = float(gained[:, i].mean())
        tried[i] = tried[i] or {name_of(each[0]): mean}
        if progress is not None:
            progress(f"agent {i} gained {mean:.4g} in {plays:,} episodes")
    return Gains(arena, each, baseline, gained, trained, tuple(tried), ends)


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
    progress: Callable[[str], None] | None = None,
    **given: Any,
) -> Exploitation:
    """Train a best response of each agent against the others' frozen policies, and measure what it gains.

    What a response gains is measured afresh, in episodes that share their chance with episodes of the policy: the lower
    end of the mean gain's confidence interval is a lower bound on the gap, however good the training was. The upper end
    is no bound: there may be better deviations. The interval holds for every distribution of returns, rare events
    included, where the range of rewards is known; otherwise a note says what it rests on. Where all agents see the same
    state and the others' policies are Markov, the visits of training also give an upper bound, if the state is that of
    a Markov game.

    Parameters
    ----------
    game : any game with kernels, or an environment
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
    progress : callable, optional
        Called with a line of text after each agent.
    horizon, encode, reward_range
        Of an environment, as in `tacit.learn`.
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
    check.function("progress", progress)
    episodes = check.integer("episodes", episodes)
    plays = max(2, episodes // 2) if plays is None else check.integer("plays", plays, least=2)
    seed, confidence = check.integer("seed", seed), _confidence(confidence)
    policy = policy_of(game, policy, encode=given.get("encode"))
    found = train_and_play(
        game,
        policy,
        None if agent is None else [agent],
        episodes=episodes,
        plays=plays,
        seed=seed,
        deviators=None if deviators is None else check_deviators(deviators),
        progress=progress,
        **given,
    )
    arena, ends, returns = found.arena, found.ends, found.baseline.returns
    asked = [i for i, one in enumerate(found.trained) if one is not None]
    chance, spread = (1 - confidence) / len(asked), ends.high - ends.low  # of all intervals together
    low, high, upper = (np.full(arena.agents, np.nan) for _ in range(3))
    low[asked], high[asked] = interval(found.gained[:, asked], 1 - chance, -spread, spread)
    notes: list[str] = []
    for i in asked:
        upper[i], told = _upper(arena, policy, found.trained[i], found.baseline, 1 - confidence)
        notes += [told] if told and told not in notes else []
    gains = found.gained.mean(axis=0)
    shown = int(np.nanargmax(low if np.nanmax(low) > 0 else gains))
    values_low, values_high = interval(returns, confidence, ends.low, ends.high)
    return Exploitation(
        gains=gains,
        low=low,
        high=high,
        upper=upper,
        values=returns.mean(axis=0),
        values_low=values_low,
        values_high=values_high,
        responses=tuple(None if one is None else one.deviation.response for one in found.trained),
        tried=found.tried,
        kind="nash" if getattr(policy, "product", False) else "cce",
        deviations=_describe(arena, found.deviators),
        confidence=confidence,
        episodes=episodes,
        plays=plays,
        most=spread,
        halving=_halving(found.gained[:, shown], chance, 2 * spread),
        notes=(*notes, *_notes(arena, policy, ends, given, plays, confidence)),
    )


def _describe(arena: Arena, deviators: list[Any]) -> str:
    """Return in words which deviations were tried."""
    seen = "the shared state" if TABLE in deviators and arena.common_state else "own observations"
    return f"deviations on {seen}" + ("" if deviators == [TABLE] else f", by {' and '.join(map(name_of, deviators))}")


class Ends:
    """Between which ends an episode's return lies: as is given, by the range of rewards, or by what was met.

    Who is out of an environment before the horizon gets nothing, so a reward of 0 counts there. Where nothing is known,
    the span of the returns that were met is taken on either side again, or less, by the rewards that were met; if all
    returns were the same, that is no interval, and `_notes` says how rare others are.
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
        if low == high:  # which says nothing of what else there may be
            return low, high
        return max(least, 2 * low - high), min(most, 2 * high - low)


#: From this share on it is noted that observations are none of those in the policy's tables.
LOST = 0.01


def _notes(
    arena: Arena, policy: Any, ends: Ends, given: Mapping[str, Any], episodes: int, confidence: float
) -> tuple[str, ...]:
    """Return what to note: what intervals rest on, episodes that were cut short, and what the policy does not know."""
    notes = []
    if not ends.known and ends.low == ends.high:
        rare = 1 - (1 - confidence) ** (1 / episodes)
        notes.append(
            f"{RESTS} if no other return is ever met: others come in at most {100 * rare:.2g} % of episodes "
            f"({100 * confidence:g} % confidence), of a size that nobody said; give reward_range or return_range"
        )
    elif not ends.known:
        seen = f"[{ends.low:g}, {ends.high:g}], three times what was met at most"
        notes.append(f"{RESTS} if no return lies outside {seen}; give reward_range or return_range")
    if getattr(arena, "cut", False) and (given.get("horizon") is not None or getattr(policy, "steps", 1) > 1):
        notes.append(describe_cut(arena.horizon))
    lost, met = getattr(arena, "lost", 0), getattr(arena, "met", 0)
    if lost >= LOST * max(met, 1):
        share = f"{100 * lost / met:.2g} %"
        notes.append(f"{share} of what was observed is not in the policy's tables, and it plays evenly there")
    return tuple(notes)


def _halving(samples: FloatArray, chance: float, width: float) -> int:
    """Return about how many samples would halve the interval: its half is near a/√n + b/n."""
    log = math.log(2 / chance)
    a, b = math.sqrt(2 * log) * float(samples.std()), log * width
    now = 1 / math.sqrt(len(samples))
    wanted = (a * now + b * now**2) / 2
    root = (math.sqrt(a * a + 4 * b * wanted) - a) / (2 * b) if b > 0 else now / 2
    return math.ceil(root**-2 * (1 - 1e-9))


def _upper(arena: Arena, policy: Any, trained: Any, baseline: Played, chance: float) -> tuple[float, str]:
    """Return an upper bound on an agent's gap and what to note; inf where none holds.

    Half of the chance of being wrong is for the model, half for the mean over fresh first states and returns.
    """
    model, episodes = trained.model, trained.episodes
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


#: Half as many episodes as in learning are played to choose a candidate, at most so many; where each candidate, and
#: each response in training and in play, would get fewer than the least, nothing is measured.
SHARE, MOST, LEAST = 2, 20_000, 30

#: How many standard errors show a difference: 5 % of the differences that are none are taken for one.
SHOWN = 1.645


def choose_by_play(run: Run) -> Run:
    """Return a run with the best of its candidates as the answer where no bound says it, and in its notes what was met.

    The average over all episodes answers, as in the theory, unless another candidate is shown to be better. One of the
    others is picked in a third of the episodes. In the rest, which are new, it and the average meet the same chance.
    """
    held = {name: one.policy for name, one in run.candidates.items() if one._policy is not None}
    proven = run.gaps.source == "model-free" and run.gaps.informative
    if len(held) < 2 or proven:
        return run
    first = "average" if "average" in held else run.chosen
    if run.gaps.source == "none":  # nothing else chose among them
        run = replace(run, chosen=first)
    if run.interrupted:
        return run
    others = [name for name in held if name != first]
    budget, each = min(run.episodes // SHARE, MOST), 2 * run.game.agents + 1
    few = budget // (3 * len(others) * each) if len(others) > 1 else 0
    many = (budget - few * len(others) * each) // (2 * each)
    if many < LEAST:
        told = f"too few episodes to compare {', '.join(held)} by play; the answer is {run.chosen!r}"
        return run if run.gaps.source != "none" else replace(run, notes=(*run.notes, told))

    def measure(names: Sequence[str], plays: int, seed: int) -> dict[str, Gains]:
        options = {"episodes": plays, "plays": plays, "seed": seed}
        return {name: train_and_play(run.game, held[name], None, **options) for name in names}  # type: ignore[arg-type]

    try:
        picked = others[0]
        if few:
            found = measure(others, max(few, 2), run.seed + (1 << 20))
            picked = min(others, key=lambda name: found[name].gained.mean(axis=0).max())
            values = {name: found[name].baseline.returns.mean(axis=0) for name in others}
            picked = next((name for name in others if (values[name] > values[picked]).all()), picked)
        found = measure([first, picked], many, run.seed)
    except (TacitError, KeyboardInterrupt) as error:
        told = f"candidates could not be compared by play ({sentence(error)}); the answer is {run.chosen!r}"
        return replace(run, notes=(*run.notes, told))
    better = is_better(*((one.baseline.returns, one.gained) for one in (found[picked], found[first])))
    chosen = picked if better else first
    gains = ", ".join(f"{one.gained.mean(axis=0).max():.3g} from {name!r}" for name, one in found.items())
    why = "is shown to be better (95 % confidence)" if better else "is not shown to be better (95 % confidence)"
    told = (
        f"the answer is {chosen!r}, by {(few * len(others) + 2 * many) * each:,} further episodes: trained best "
        f"responses gain {gains}, and {picked!r} {why}"
    )
    return replace(run, chosen=chosen, notes=(*run.notes, told))


def is_better(one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]) -> bool:
    """Return whether one candidate is shown to be better than another, by returns and gains [plays, N] of each.

    It is if the largest gain against it is smaller, or if it is worth more to every agent and the gain is not shown to
    be larger. Differences are taken episode by episode, which share their chance.
    """
    (returns, gained), (known, lost) = one, other
    less = lost[:, lost.mean(axis=0).argmax()] - gained[:, gained.mean(axis=0).argmax()]
    worth_more = all(_is_positive(own) for own in (returns - known).T)
    return _is_positive(less) or (worth_more and not _is_positive(-less))


def _is_positive(samples: FloatArray) -> bool:
    """Return whether a mean is shown to be above 0, up to one that is 0 exactly."""
    return bool(samples.mean() > SHOWN * samples.std(ddof=1) / math.sqrt(len(samples)))


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
