"""The paper's claims, each with a number, where it stands, and the rule by which ours agrees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from reproduction import Claim, table

Rows = dict[str, list[dict[str, Any]]]
Numbers = dict[str, dict[str, Any]]

#: Mean prices of Fig. 4, from the period before the deviation.
RESPONSE_DEVIATOR = [
    1.792,
    1.505,
    1.560,
    1.579,
    1.639,
    1.693,
    1.733,
    1.762,
    1.777,
    1.785,
    1.789,
    1.790,
    1.792,
    1.792,
    1.793,
    1.791,
]
RESPONSE_RIVAL = [
    1.795,
    1.795,
    1.551,
    1.592,
    1.638,
    1.694,
    1.737,
    1.765,
    1.780,
    1.785,
    1.792,
    1.794,
    1.795,
    1.794,
    1.795,
    1.794,
]

#: Profit gain by discount factor, Fig. 3.
DISCOUNT = {
    0.0: 0.212, 0.1: 0.207, 0.2: 0.178, 0.3: 0.160, 0.35: 0.165, 0.4: 0.173, 0.5: 0.215, 0.6: 0.278, 0.7: 0.372,
    0.8: 0.500, 0.9: 0.710, 0.95: 0.849, 0.97: 0.892, 0.98: 0.916, 0.99: 0.934,
}  # fmt: skip

#: Profit gain, and by how much more of its Nash profit the less efficient firm gets, by the rival's cost: Table IV.
COSTS = {0.875: (0.841, 1.050), 0.75: (0.812, 1.121), 0.625: (0.781, 1.193), 0.5: (0.759, 1.265), 0.25: (0.713, 1.442)}

#: Other experiments: what they are, where they stand, profit gain, share of sessions where no one-shot deviation pays.
OTHERS = {
    "memoryless": ("no memory, δ = 0", "Table A1", 0.185, None),
    "three-firms": ("three firms", "Table A5", 0.643, 0.184),
    "quality-2.5": ("qualities 2 and 2.5", "Table A7", 0.76, 0.56),
    "mu-0.5": ("μ = 0.5", "Table A10", 0.856, 0.331),
    "mu-0.1": ("μ = 0.1", "Table A10", 0.829, 0.660),
    "mu-0.05": ("μ = 0.05", "Table A10", 0.827, 0.694),
    "first-q-5": ("first Q = 5 everywhere", "Table A11", 0.793, 0.621),
    "first-q-10": ("first Q = 10 everywhere, no exploration", "Table A11", 0.978, 0.525),
    "wide-grid": ("ξ = 0.5", "Table A12", 0.761, 0.730),
    "boltzmann": ("Boltzmann exploration, α = 0.05", "Table A15", 0.856, 0.094),
    "slow-rival": ("α = 0.15 against 0.05", "Table A16", 0.821, 0.304),
    "curious-rival": ("β = 4e-6 against 2e-6", "Table A16", 0.771, 0.423),
}


#: Klein (2021), Fig. 4: profit of a firm, and share of runs in Nash equilibrium, by intervals of the price grid.
KLEIN = {6: (0.108, 0.67), 12: (0.101, 0.20), 24: (0.104, 0.0)}


#: A share or a profit gain that is only known to within this much says little.
WEAK = 0.12


def in_a_line(name: str, one: dict[str, Any]) -> str:
    """Return the numbers of an experiment in a line."""
    return (
        f"{name:<18} {one['sessions']:>5} sessions"
        f"  profit gain {one['profit_gain']:.3f} (sd {one['profit_gain_sd']:.3f})"
        f"  one-shot deviations that do not pay {one['one_shot_unprofitable']:.3f}"
        f"  sessions without one {one['one_shot_equilibria']:.3f}"
        f"  path gap {one['path_gap']:.3f} (least {one['path_gap_least']:.4f}, 0 in {one['path_equilibria']:.3f})"
        f"  subgame gap {one['subgame_gap']:.3f}  periods {one['periods']:,.0f}"
    )


def near(says: str, where: str, paper: float, ours: float, slack: float, digits: int = 3) -> Claim:
    """Return a claim that holds if ours is within a slack of the paper's number."""
    holds = abs(ours - paper) <= slack
    numbers = f"{paper:.{digits}f}", f"{ours:.{digits}f}", f"within {slack:.{digits}f}"
    return Claim(says, where, *numbers, holds, weak=abs(paper) < 1.5 and slack > WEAK)


def coin(prob: float, sessions: int) -> float:
    """Return by how much a share of sessions may be off: rounding, and three standard errors."""
    return 0.02 + 3 * float(np.sqrt(prob * (1 - prob) / sessions))


def share(column: str, rows: list[dict[str, Any]], spread: float = 0.5) -> tuple[float, float]:
    """Return a mean over sessions, and three standard errors of it."""
    numbers = np.array([row[column] for row in rows], dtype=float)
    return float(numbers.mean()), 3 * max(float(numbers.std()), 1e-9) / np.sqrt(len(numbers))


def baseline_claims(rows: list[dict[str, Any]], one: dict[str, Any]) -> Iterator[Claim]:
    """Yield the claims about the representative experiment."""
    n = len(rows)
    error = max(0.02, 3 * one["profit_gain_sd"] / np.sqrt(n))
    yield near("the profit gain is 85 %", "Table I", 0.849, one["profit_gain"], error)
    yield near("its standard deviation over sessions", "Table I", 0.112, one["profit_gain_sd"], 0.02)
    cycles = np.array([row["cycle"] for row in rows])
    yield near("sessions that end in constant prices", "Table I", 0.643, float((cycles == 1).mean()), coin(0.643, n))
    yield near("sessions that end in a cycle of two", "Table I", 0.238, float((cycles == 2).mean()), coin(0.238, n))
    yield near(
        "sessions in Nash equilibrium on the path, as coded: no one-shot deviation pays there",
        "Table I", 0.505, one["one_shot_equilibria"], coin(0.505, n),
    )  # fmt: skip
    yield Claim(
        "sessions in Nash equilibrium on the path, as defined: no deviation pays there",
        "p. 3278, Table I", "0.505", f"{one['path_equilibria']:.3f}", f"within {coin(0.505, n):.3f}",
        abs(one["path_equilibria"] - 0.505) <= coin(0.505, n),
    )  # fmt: skip
    yield near("Q-loss on the path, by one-shot deviations", "Table I", 0.002, share("loss_on_path", rows)[0], 0.001)
    unpaid, slack = share("deviation_unprofitable", rows)
    yield near("a deviation to the best reply of a period does not pay", "Table A5", 0.936, unpaid, 0.02 + slack)
    yield Claim("… in more than 95 % of the cases", "p. 3282", "> 0.95", f"{unpaid:.3f}", "above 0.95", unpaid > 0.95)
    length, slack = share("punishment", rows)
    yield near("periods until play is back on its path", "Table A5", 5.705, length, 0.5 + slack, 2)
    deviator, rival = (np.mean([row[who] for row in rows], axis=0) for who in ("deviator", "rival"))
    cut = float(np.mean([row["rival"][2] / row["rival"][0] - 1 for row in rows]))
    yield near("the other firm's price after the deviation, relative", "Table A5", -0.127, cut, 0.02)
    yield near("price before the deviation", "Fig. 4", 1.7914, float((deviator[0] + rival[0]) / 2), 0.02)
    yield near("price of the deviation, the best reply of a period", "Fig. 4", 1.505, float(deviator[1]), 0.02)
    far = max(np.abs(deviator - RESPONSE_DEVIATOR)[2:].max(), np.abs(rival - RESPONSE_RIVAL)[2:].max())
    says = "prices in the 14 periods after the deviation: largest difference"
    yield Claim(says, "Fig. 4", "0", f"{far:.3f}", "within 0.030", far <= 0.03)
    small = max(np.mean([row["small_deviator"][2] for row in rows]), np.mean([row["small_rival"][2] for row in rows]))
    says = "after a small cut, to 1.699, both firms go below it"
    yield Claim(says, "Fig. 6", "1.59", f"{small:.2f}", "both below 1.699 in the next period", small < 1.699)
    back = float(np.mean([row["returns"] == 1.0 for row in rows]))
    yield near("sessions in which every state leads back to the cycle", "Sec. IV.C", 0.92, back, coin(0.92, n), 2)
    periods = one["periods"]
    yield Claim(
        "periods to convergence", "App. A5.10", "> 1,500,000", f"{periods:,.0f}", "above 1,500,000", periods > 1.5e6
    )


def other_claims(rows: Rows, numbers: Numbers) -> Iterator[Claim]:
    """Yield the claims about other experiments, of those that were run."""

    def slack(name: str) -> float:
        return 0.02 + 3 * numbers[name]["profit_gain_sd"] / float(np.sqrt(numbers[name]["sessions"]))

    grid = [one["profit_gain"] for name, one in numbers.items() if name.startswith("grid-")]
    if grid:
        holds = min(grid) >= 0.65 and max(grid) <= 0.95
        span = f"{min(grid):.2f} to {max(grid):.2f}"
        yield Claim("profit gain over the grid of α and β", "Fig. 1", "0.70 to 0.90", span, "within 0.05 of it", holds)
    for delta, paper in DISCOUNT.items():
        name = f"discount-{delta:g}"
        if name in numbers:
            yield near(f"profit gain with δ = {delta:g}", "Fig. 3", paper, numbers[name]["profit_gain"], slack(name))
    for cost, (paper, ratio) in COSTS.items():
        name = f"cost-{cost:g}"
        if name in numbers:
            yield near(
                f"profit gain, costs 1 and {cost:g}", "Table IV", paper, numbers[name]["profit_gain"], slack(name)
            )
            profits = np.mean([row["profits"] for row in rows[name]], axis=0)
            nash = np.array(_nash_profits(cost))
            ours = float((profits[0] / nash[0]) / (profits[1] / nash[1]))
            says = f"the less efficient firm's share of its Nash profit over the other's, costs 1 and {cost:g}"
            yield near(says, "Table IV", ratio, ours, 0.1, 2)
    for name, (what, where, paper, equilibria) in OTHERS.items():
        if name in numbers:
            yield near(f"profit gain, {what}", where, paper, numbers[name]["profit_gain"], slack(name))
            if equilibria is not None:
                ours, error = numbers[name]["one_shot_equilibria"], coin(equilibria, numbers[name]["sessions"])
                yield near(f"no one-shot deviation pays on the path, {what}", where, equilibria, ours, error)


def klein_claims(rows: Rows, numbers: Numbers) -> Iterator[Claim]:
    """Yield the claims of Klein (2021), of the experiments that were run."""
    for k, (profit, equilibria) in KLEIN.items():
        name = f"klein-{k}"
        if name in numbers:
            ours = float(np.mean([row["profits"] for row in rows[name]]))
            yield near(f"Klein (2021): profit of a firm, {k + 1} prices", "Klein, Fig. 4", profit, ours, 0.01)
            ours, error = numbers[name]["path_equilibria"], coin(equilibria, numbers[name]["sessions"])
            yield near(f"Klein (2021): Nash equilibria, {k + 1} prices", "Klein, Fig. 4", equilibria, ours, error, 2)


def _nash_profits(cost: float) -> list[float]:
    import tacit

    return list(tacit.make("pricing", prices=2, costs=[1.0, cost]).market.nash_profits)


def page(rows: Rows, numbers: Numbers) -> str:
    """Return the page of claims."""
    claims = [*baseline_claims(rows["baseline"], numbers["baseline"])]
    claims += [*other_claims(rows, numbers), *klein_claims(rows, numbers)]
    held = sum(claim.verdict == "holds" for claim in claims)
    failed = sum(not claim.holds for claim in claims)
    sessions = numbers["baseline"]["sessions"]
    others = sum(one["sessions"] for one in numbers.values()) - sessions
    lines = [
        "# The claims of Calvano et al. (2020)",
        "",
        f"Written by `papers/calvano2020/reproduce.py` from {sessions:,} sessions of the representative experiment and "
        f"{others:,} of others. Of {len(claims)} rows {held} hold, {failed} do not, and for the "
        "rest the sessions are too few to contradict them. Rules allow for three standard errors.",
        "",
        *table(claims),
        "",
        "## What the paper does not report",
        "",
        "Gains of an exact best response in units of (π_M − π_N)/(1 − δ): the largest over firms and the states of the "
        "cycle (path gap), and over all states (subgame gap). Means over sessions; the points of the grid are in "
        "`results.json`.",
        "",
        "| experiment | sessions | profit gain | one-shot passes | path gap | least | share of 0 | subgame gap |",
        "|---|---|---|---|---|---|---|---|",
    ]
    grid = [one for name, one in numbers.items() if name.startswith("grid-")]
    shown = {name: one for name, one in numbers.items() if not name.startswith("grid-")}
    if grid:
        shown[f"grid of α and β, {len(grid)} points"] = {
            **{name: float(np.mean([one[name] for one in grid])) for name in grid[0]},
            "sessions": sum(one["sessions"] for one in grid),
            "path_gap_least": min(one["path_gap_least"] for one in grid),
        }
    for name, one in shown.items():
        cells = [name, str(one["sessions"]), f"{one['profit_gain']:.3f}", f"{one['one_shot_equilibria']:.2f}"]
        cells += [f"{one['path_gap']:.3f}", f"{one['path_gap_least']:.4f}", f"{one['path_equilibria']:.3f}"]
        lines.append(f"| {' | '.join([*cells, format(one['subgame_gap'], '.3f')])} |")
    return "\n".join([*lines, "", *_say_more(rows["baseline"]), ""])


def _say_more(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what is to be said of best responses in the representative experiment."""
    worst = max(row["disagreement"] for row in rows)
    prices, profits = (np.array([row[f"response_{what}"] for row in rows]) for what in ("prices", "profits"))
    visits = [np.median([row["visits_path"] * row["periods"] / row["cycle"] for row in rows])]
    visits += [np.median([row[name] for row in rows]) for name in ("response_visits", "visits_other")]
    before = np.mean([row["prices"] for row in rows]), np.mean([row["profits"] for row in rows])
    yield (
        f"Of the representative experiment: two computations of these gaps that share no code differ by {worst:.1g} at "
        f"most, over all sessions. The best responder ends below its rival's price in "
        f"{100 * (prices[:, 0] < prices[:, 1]).mean():.1f} % of the sessions: at {prices[:, 0].mean():.2f} on average, "
        f"the rival at {prices[:, 1].mean():.2f}, where both were at {before[0]:.2f}. It earns "
        f"{profits[:, 0].mean():.3f} a period, the rival {profits[:, 1].mean():.3f}, before {before[1]:.3f}. While "
        f"learning, a state of the cycle was visited {visits[0]:,.0f} times, one that the best responder goes through "
        f"{visits[1]:,.0f} times, one of all others {visits[2]:,.0f} times (medians)."
    )
