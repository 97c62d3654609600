"""Oligopolies that meet again and again, with logit demand or one good.

The state is what all firms chose in the last period; profits are discounted. With logit demand [Calvano, Calzolari,
Denicolò, Pastorello 2020], firm i sells the share q_i of the market at a price p_i:

    q_i = exp((a_i − p_i)/μ) / (Σ_j exp((a_j − p_j)/μ) + exp(a_0/μ)),   π_i = (p_i − c_i)·q_i.

The Nash prices of one period solve p_i = c_i + μ/(1 − q_i), those of a cartel p_i = c_i + μ/q_0. With "bertrand" the
lowest price p takes the demand a − p, shared by those who charge it; with "cournot" firms choose quantities, and the
price is a − Σ_j q_j. Sequential pricing [Maskin, Tirole 1988; Klein 2021]: two firms move in turn, and the state is who
moves and the other's price.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.core import check, memory
from tacit.core.display import Document, Table
from tacit.core.elementary import exp_each, log_each
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned, lock
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import Successors
from tacit.games.tabular import TabularGame, check_axes, check_length

DEMANDS = ("logit", "bertrand", "cournot")

#: What a firm may choose: as many prices or quantities at most.
MOST_CHOICES = 1000

_ROUNDS = 100_000


@dataclass(frozen=True, eq=False)
class Market:
    """Costs and demand of an oligopoly, with competitive and cartel outcomes of one period.

    Attributes
    ----------
    demand : {"logit", "bertrand", "cournot"}
    costs, qualities : array [N]
        c_i and a_i.
    outside, mu : float
        a_0 and μ of logit demand.
    grid : array [N, m]
        What each firm can choose: prices, or with "cournot" quantities.
    nash, monopoly : array [N]
        Prices (quantities) of the one-period Nash equilibrium and of the largest joint profit.
    nash_profits, monopoly_profits : array [N]
        Profits of a period there.

    Examples
    --------
    >>> import tacit
    >>> market = tacit.make("pricing").market
    >>> market.nash.round(4).tolist(), market.monopoly.round(4).tolist()
    ([1.4729, 1.4729], [1.925, 1.925])
    >>> market.nash_profits.round(4).tolist(), market.monopoly_profits.round(4).tolist()
    ([0.2229, 0.2229], [0.3375, 0.3375])
    """

    demand: str
    costs: FloatArray
    qualities: FloatArray
    outside: float
    mu: float
    grid: FloatArray
    nash: FloatArray
    monopoly: FloatArray

    def __post_init__(self) -> None:
        check.choice("demand", self.demand, DEMANDS)
        check.real("outside", self.outside)
        check.positive("mu", self.mu)
        firms = np.size(self.costs)
        for name in ("costs", "qualities", "grid", "nash", "monopoly"):
            numbers, axes = check.array(name, getattr(self, name)), 2 if name == "grid" else 1
            if numbers.shape[:1] != (firms,) or numbers.ndim != axes or not numbers.size:
                wanted = f"[N, m] for N = {firms} firms" if axes == 2 else f"[N], one for each of {firms} firms"
                raise TacitError(f"{name} must be an array {wanted}; got shape {numbers.shape}")
            check.finite(name, numbers, ["firm", "choice"][: numbers.ndim])
            object.__setattr__(self, name, numbers)

    @property
    def nash_profits(self) -> FloatArray:
        """Profits [N] of a period in the Nash equilibrium."""
        return self.profits(self.nash)

    @property
    def monopoly_profits(self) -> FloatArray:
        """Profits [N] of a period in a cartel."""
        return self.profits(self.monopoly)

    def profits(self, choices: FloatArray) -> FloatArray:
        """Return the firms' profits [..., N] where they choose prices or quantities [..., N]."""
        choices = self._take("choices", choices)
        if self.demand == "cournot":
            price = np.maximum(self.qualities - choices.sum(axis=-1, keepdims=True), 0.0)
            paid: FloatArray = (price - self.costs) * choices
            return paid
        sold = self._shares(choices)[..., :-1] if self.demand == "logit" else self._split(choices)
        earned: FloatArray = (choices - self.costs) * sold
        return earned

    def surplus(self, choices: FloatArray) -> FloatArray:
        """Return the consumer surplus [...] of a period where firms choose prices or quantities [..., N]."""
        choices = self._take("choices", choices)
        if self.demand == "logit":
            utility = self._utility(choices)
            top = utility.max(axis=-1, keepdims=True)
            joy: FloatArray = top[..., 0] + self.mu * log_each(exp_each((utility - top) / self.mu).sum(axis=-1))
            return joy
        bought = choices.sum(axis=-1) if self.demand == "cournot" else self.qualities[0] - choices.min(axis=-1)
        triangle: FloatArray = np.clip(bought, 0.0, self.qualities[0]) ** 2 / 2
        return triangle

    def profit_gain(self, profits: FloatArray) -> float:
        """Return (π − π_N)/(π_M − π_N) of mean profits [..., N]: 0 for competition, 1 for a cartel."""
        nash = self.nash_profits.mean()
        return float((self._take("profits", profits).mean() - nash) / (self.monopoly_profits.mean() - nash))

    def _take(self, name: str, value: FloatArray) -> FloatArray:
        """Return a number for each firm, once or again and again."""
        numbers = check.array(name, value)
        if numbers.shape[-1:] != self.costs.shape:
            raise TacitError(f"{name} must have one entry for each of {len(self.costs)} firms; got {brief(value)}")
        return numbers

    def _utility(self, prices: FloatArray) -> FloatArray:
        outside = np.full((*prices.shape[:-1], 1), self.outside)
        return np.concatenate([self.qualities - prices, outside], axis=-1)

    def _shares(self, prices: FloatArray) -> FloatArray:
        """Return the shares [..., N + 1] of all goods, that of none last."""
        utility = self._utility(prices)
        weight = exp_each((utility - utility.max(axis=-1, keepdims=True)) / self.mu)
        shares: FloatArray = weight / weight.sum(axis=-1, keepdims=True)
        return shares

    def _split(self, prices: FloatArray) -> FloatArray:
        """Return what each firm sells [..., N] where the lowest price takes all, in equal parts."""
        lowest = prices.min(axis=-1, keepdims=True)
        cheap = prices == lowest
        sold: FloatArray = cheap * np.maximum(self.qualities - lowest, 0.0) / cheap.sum(axis=-1, keepdims=True)
        return sold

    def _solve(self) -> tuple[FloatArray, FloatArray]:
        """Return the choices [N] of the Nash equilibrium and of the largest joint profit."""
        firms, wide = len(self.costs), self.qualities - self.costs
        if self.demand == "cournot":
            return wide / (firms + 1), wide / (2 * firms)
        if self.demand == "bertrand":
            return self.costs, self.costs + wide / 2
        prices, last = self.costs + self.mu, math.inf
        for _ in range(_ROUNDS):  # Newton steps of every firm on p_i − c_i = μ/(1 − q_i)
            moved = prices - (1.0 - self._shares(prices)[:-1]) * (prices - self.costs) + self.mu
            change = float(np.abs(moved - prices).max())
            prices = moved
            if change == 0.0 or (change >= last and change < 1e-9):
                break
            last = change
        low, high = self.mu, self.mu
        while high * self._shares(self.costs + high)[-1] < self.mu:
            high *= 2.0
        while low < (middle := (low + high) / 2) < high:  # the margin m of a cartel: m·q_0 = μ
            low, high = (middle, high) if middle * self._shares(self.costs + middle)[-1] < self.mu else (low, middle)
        return prices, self.costs + high


class PricingGame(TabularGame):
    """A market that firms meet again and again: a discounted game that knows its market.

    Attributes
    ----------
    market : Market
    timing : {"simultaneous", "sequential"}
    memory : {0, 1}

    Examples
    --------
    >>> import tacit
    >>> tacit.make("pricing", prices=3)
    PricingGame('pricing': 2 agents, 9 states, 3×3 actions, discount 0.95, rewards in [0.0911431, 0.426748])
    """

    def __init__(self, market: Market, timing: str, memory: int, start: Sequence[int] | None, discount: float) -> None:
        start = _check_play(market, timing, memory, start, discount)
        tables = _tabulate_turns(market) if timing == "sequential" else _tabulate(market, memory)
        successors, rewards, places = tables
        digits = next(
            k for k in range(3, 18) if all(len({f"{x:.{k}f}" for x in grid}) == len(grid) for grid in market.grid)
        )
        names = [[f"{x:.{digits}f}" for x in grid] for grid in market.grid]
        states = [" ".join(names[i][a] for i, a in place) for place in places] if memory else ["market"]
        if timing == "sequential":
            states = [
                f"firm {1 - place[0][0]} moves, the other at {name}" for place, name in zip(places, states, strict=True)
            ]
        initial = np.full(len(places), 1.0 / len(places))
        if start is not None:
            initial = np.eye(1, len(places), places.index(tuple(enumerate(start))))[0]
        super().__init__(
            Owned(successors),
            Owned(rewards),
            initial,
            discount=discount,
            name="pricing",
            state_names=states,
            action_names=names,
        )
        self.market, self.timing, self.memory, self._places = market, timing, memory, places

    def with_discount(self, discount: float) -> PricingGame:
        """Return the same market with another discount."""
        start = None
        if np.count_nonzero(self.initial) < self.states:
            start = [a for _, a in self._places[int(self.initial.argmax())]]
        return PricingGame(self.market, self.timing, self.memory, start, check_length(None, discount)[1] or 0.0)

    def charged(self, states: IntArray, actions: IntArray) -> FloatArray:
        """Return the prices or quantities [T, N] in periods with these states [T] and actions [T, N].

        >>> import tacit
        >>> tacit.make("pricing", prices=3).charged([0], [[0, 2]]).round(3).tolist()
        [[1.428, 1.97]]
        """
        chosen, met = check.array("actions", actions).astype(int), check.array("states", states).astype(int)
        if chosen.shape != (*met.shape, self.agents) or met.ndim != 1:
            raise TacitError(f"actions must be one for each state and firm; got {brief(actions)} for {brief(states)}")
        if np.any((chosen < 0) | (chosen >= self.actions[0])) or np.any((met < 0) | (met >= self.states)):
            raise TacitError(f"states and actions must be of the game; got {brief(states)} and {brief(actions)}")
        if self.timing == "sequential":  # who does not move keeps its price
            for t, s in enumerate(met):
                ((i, price),) = self._places[s]
                chosen[t, i] = price
        return self.market.grid[range(self.agents), chosen]

    def show(self, *, state: int | str | None = None, step: int | None = None, limit: int | None = 6) -> Document:
        """Show the market and its profits. With a state, or without a limit, payoffs by state too."""
        tables = super().show(state=state, step=step, limit=limit)
        market, thing = self.market, "quantity" if self.market.demand == "cournot" else "price"
        columns = ["firm", "cost", "quality", f"Nash {thing}", f"cartel {thing}", "Nash profit", "cartel profit"]
        facts = [market.costs, market.qualities, market.nash, market.monopoly]
        facts += [market.nash_profits, market.monopoly_profits]
        rows = [[i, *map(float, row)] for i, row in enumerate(zip(*facts, strict=True))]
        parts: list[Any] = [Table(f"{market.demand} demand, {self.timing}, one period", columns, rows)]
        if state is not None or limit is None:
            parts += tables.parts
        elif self.agents == 2 and self.action_names is not None:
            profits = np.moveaxis(market.profits(_combine(market.grid)), -1, 0)
            alike = np.array_equal(profits[0], profits[1].T)
            for i, (row_names, other) in enumerate([self.action_names, self.action_names[::-1]][: 1 if alike else 2]):
                paid: list[list[Any]] = [
                    [name, *row] for name, row in zip(row_names, profits[i].swapaxes(0, i).tolist(), strict=True)
                ]
                title = f"profit of {'a firm' if alike else f'firm {i}'}: its {thing} in rows, the rival's in columns"
                parts.append(Table(title, ["", *other], paid))
        data = {"market": [dict(zip(columns, row, strict=True)) for row in rows], **tables.data}
        return Document(tables.title, parts, data)


def Pricing(
    *,
    firms: int = 2,
    prices: int = 15,
    demand: str = "logit",
    costs: float | Sequence[float] = 1.0,
    qualities: float | Sequence[float] = 2.0,
    outside: float = 0.0,
    mu: float = 0.25,
    margin: float = 0.1,
    limits: Sequence[float] | None = None,
    timing: str = "simultaneous",
    memory: int = 1,
    start: Sequence[int] | None = None,
    discount: float = 0.95,
) -> PricingGame:
    """Firms that set prices again and again, on which algorithms may learn to collude. [Calvano et al. 2020]

    Parameters
    ----------
    firms : int
        N, at least 2.
    prices : int
        m, how many prices each firm can choose from, equally spaced.
    demand : {"logit", "bertrand", "cournot"}
        Logit demand for differentiated goods; one good, of which the lowest price sells all; or quantities of one good.
    costs, qualities : float or a list of N floats
        Marginal costs c_i, and what consumers are willing to pay: a_i of logit demand, or the demand a − p.
    outside, mu : float
        Of logit demand: the quality a_0 of not buying, and how different goods are.
    margin : float
        ξ: prices go from p_N − ξ·(p_M − p_N) to p_M + ξ·(p_M − p_N), and never below cost with "bertrand".
    limits : (float, float), optional
        The lowest and the highest price (quantity) of every firm instead.
    timing : {"simultaneous", "sequential"}
        Whether all firms choose in every period, or two firms in turn.
    memory : {0, 1}
        Periods that firms remember.
    start : list of N ints, optional
        The first state, as the numbers of the last prices; if not given, all states are equally likely.
    discount : float
        δ.

    Returns
    -------
    PricingGame
        `game.market` knows Nash and monopoly prices and profits.

    Examples
    --------
    >>> import tacit
    >>> tacit.make("pricing")
    PricingGame('pricing': 2 agents, 225 states, 15×15 actions, discount 0.95, rewards in [0.0911431, 0.426964])
    """
    firms = check.integer("firms", firms, least=2)
    check_axes(firms)
    m = check.integer("prices", prices, least=2, most=MOST_CHOICES)
    check.choice("demand", demand, DEMANDS)
    c, a = _each("costs", costs, firms), _each("qualities", qualities, firms)
    if demand != "logit" and (len({*c}) > 1 or len({*a}) > 1):
        raise TacitError(f"costs and qualities must be the same for all firms with demand={demand!r}")
    if demand != "logit" and a[0] <= c[0]:
        raise TacitError(f"qualities must be above costs with demand={demand!r}; got {a[0]:g} and {c[0]:g}")
    place = (check.real("outside", outside), check.positive("mu", mu))
    market = Market(demand, c, a, *place, lock(np.zeros((firms, m))), c, c)
    _check_play(market, timing, memory, start, discount)
    nash, monopoly = (lock(choices) for choices in market._solve())
    grid = _grid(market, nash, monopoly, m, check.real("margin", margin, least=0), limits)
    return PricingGame(replace(market, grid=grid, nash=nash, monopoly=monopoly), timing, memory, start, discount)


def _each(name: str, value: Any, firms: int) -> FloatArray:
    """Return a number for each firm."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        value = [value] * firms
    numbers = check.list_of(name, value, f"numbers, one for each of {firms} firms", count=firms)
    return lock(np.array([check.real(f"{name}[{i}]", x) for i, x in enumerate(numbers)]))


def _check_play(market: Market, timing: str, memory_: int, start: Any, discount: float) -> list[int] | None:
    """Check how a market is played, and that memory holds its tables. Return the first state, if there is one."""
    if not isinstance(market, Market):
        raise TacitError(f"market must be a Market, as of tacit.make('pricing'); got {brief(market)}")
    firms, m = market.grid.shape
    check.choice("timing", timing, ["simultaneous", "sequential"])
    check.integer("memory", memory_, least=0, most=1)
    check_length(None, discount)
    if timing == "sequential" and (firms != 2 or market.demand == "cournot" or memory_ == 0 or start is not None):
        raise TacitError("timing='sequential' is for two firms that choose prices, with memory=1 and no start")
    states = 2 * m if timing == "sequential" else m**firms if memory_ else 1
    entries = states * m**firms
    memory.require(entries * (16 * firms + 64), f"the tables of {firms} firms with {m} prices")
    if start is None:
        return None
    listed = check.list_of("start", start, "numbers of prices, one for each firm", count=firms)
    chosen = [check.integer("start", k, least=0, most=m - 1) for k in listed]
    return chosen if memory_ else None


def _grid(
    market: Market, nash: FloatArray, monopoly: FloatArray, m: int, margin: float, limits: Sequence[float] | None
) -> FloatArray:
    """Return each firm's prices or quantities [N, m]."""
    reach = margin * np.abs(monopoly - nash)
    low, high = np.minimum(nash, monopoly) - reach, np.maximum(nash, monopoly) + reach
    least = np.zeros_like(low) if market.demand == "cournot" else market.costs
    if market.demand == "bertrand":
        low = np.maximum(low, least)
    if limits is not None:
        lowest, highest = check.interval("limits", limits)
        low, high = np.full_like(low, lowest), np.full_like(high, highest)
    if (low < least).any():
        what = "quantities must not be negative" if market.demand == "cournot" else "prices must not be below cost"
        raise TacitError(f"{what}; the lowest of each firm would be {brief(low.round(4).tolist())}")
    if (high <= low).any():
        why = "competition and cartel have the same price; give limits" if limits is None else "limits must differ"
        raise TacitError(f"{why}; got {brief(low.round(4).tolist())} to {brief(high.round(4).tolist())}")
    return lock(np.linspace(low, high, m, axis=1))


def _combine(grid: FloatArray) -> FloatArray:
    """Return all joint choices [m, …, m, N]."""
    return np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1)


def _tabulate(market: Market, memory_: int) -> tuple[Successors, FloatArray, list[Any]]:
    """Return successors, rewards, and what each state stands for: what was chosen last."""
    firms, m = market.grid.shape
    J = m**firms
    S = J if memory_ else 1
    profits = np.moveaxis(market.profits(_combine(market.grid)), -1, 0)
    rewards = np.broadcast_to(profits[:, None, None], (firms, 1, S, *[m] * firms))
    state = np.tile(np.arange(J) if memory_ else np.zeros(J), S).astype(np.int32)
    places = [tuple(enumerate(joint)) for joint in itertools.product(range(m), repeat=firms)] if memory_ else [()]
    return Successors(np.arange(S * J + 1), state, np.ones(S * J)), np.ascontiguousarray(rewards), places


def _tabulate_turns(market: Market) -> tuple[Successors, FloatArray, list[Any]]:
    """Return successors, rewards, and what each state stands for. One firm's price stands while the other moves."""
    _, m = market.grid.shape
    profits = np.moveaxis(market.profits(_combine(market.grid)), -1, 0)  # [2, m, m]
    rewards = np.empty((2, 1, 2, m, m, m))  # of state (who moves, the other's price) and both actions
    rewards[:, 0, 0] = profits.transpose(0, 2, 1)[..., None]
    rewards[:, 0, 1] = profits[:, :, None, :]
    state = np.empty((2, m, m, m), dtype=np.int32)
    state[0], state[1] = m + np.arange(m)[None, :, None], np.arange(m)[None, None, :]
    places = [((1 - mover, price),) for mover in range(2) for price in range(m)]
    rows = 2 * m**3
    return Successors(np.arange(rows + 1), state.ravel(), np.ones(rows)), rewards.reshape(2, 1, 2 * m, m, m), places
