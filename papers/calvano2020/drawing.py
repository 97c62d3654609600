"""The figures: the paper's beside ours, and one that it does not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judging import DISCOUNT, RESPONSE_DEVIATOR, RESPONSE_RIVAL
from reproduction import save_panels
from tacit.figures import COLORS

Rows = dict[str, list[dict[str, Any]]]

#: Nash and monopoly price of the representative experiment.
NASH, MONOPOLY = 1.472927, 1.924981


def draw_all(rows: Rows, numbers: dict[str, dict[str, Any]], out: Path) -> None:
    """Draw what there are sessions for."""

    def draw(name: str, size: tuple[float, float], panels: int, paint: Any) -> None:
        save_panels(out / f"{name}.png", size, panels, paint)

    sessions = rows["baseline"]
    draw("gap", (5.4, 3.8), 1, lambda ax: draw_gap(ax, sessions))
    draw("impulse", (8.4, 3.4), 2, lambda *axes: draw_impulse(axes, sessions))
    grid = {tuple(map(float, name.split("-", 2)[1:])): one for name, one in numbers.items() if name.startswith("grid-")}
    if grid:
        draw("grid", (14.0, 3.8), 3, lambda *axes: draw_grid(axes, grid))
    discounts = {float(name[9:]): one for name, one in numbers.items() if name.startswith("discount-")}
    if discounts:
        draw("discount", (5.4, 3.4), 1, lambda ax: draw_discounts(ax, discounts | {0.95: numbers["baseline"]}))


def draw_gap(ax: Any, sessions: list[dict[str, Any]]) -> None:
    """A dot a session: what an exact best response gains, over the profit gain."""
    passes = np.array([row["one_shot_unprofitable"] == 1.0 for row in sessions])
    gain = np.array([row["profit_gain"] for row in sessions])
    gap = np.array([row["path_gap"] for row in sessions])
    for chosen, color, label in (
        (~passes, "orange", "some one-shot deviation pays"),
        (passes, "blue", "no one-shot deviation pays"),
    ):
        share = f"{label} ({100 * chosen.mean():.0f} %)"
        ax.plot(gain[chosen], gap[chosen], "o", color=COLORS[color], ms=3, alpha=0.5, mew=0, label=share)
    ax.axhline(0, color=COLORS["black"], lw=1)
    ax.annotate("Nash equilibria would be on this line", (0.02, 0.02), xycoords=("axes fraction", "data"), va="bottom")
    ax.set(xlabel="profit gain Δ", ylabel="gain of a best response on the path\nin units of (π_M − π_N)/(1 − δ)")
    ax.set_ylim(bottom=-0.03)
    ax.set_title(f"{len(sessions):,} sessions, a dot each", loc="left")
    ax.legend(loc="lower left", fontsize=8, bbox_to_anchor=(0, 0.1))


def draw_impulse(axes: Any, sessions: list[dict[str, Any]]) -> None:
    """Mean prices around a deviation to the best reply of a period, and to the eighth price."""
    titles = ("to the best reply of a period (paper: Fig. 4)", "to the eighth price (paper: Fig. 6)")
    for ax, prefix, title in zip(axes, ("", "small_"), titles, strict=True):
        periods = np.arange(len(sessions[0]["deviator"]))
        for who, color, label in (("deviator", "orange", "deviating firm"), ("rival", "blue", "other firm")):
            mean = np.mean([row[prefix + who] for row in sessions], axis=0)
            ax.plot(periods, mean, "o-", color=COLORS[color], ms=3.5, label=label)
        if not prefix:
            for printed in (RESPONSE_DEVIATOR, RESPONSE_RIVAL):
                ax.plot(periods, printed, "x", color=COLORS["black"], ms=4, label="paper")
        ax.axhline(NASH, color=COLORS["black"], lw=1, ls=":")
        ax.axhline(MONOPOLY, color=COLORS["black"], lw=1, ls=":")
        ax.set(xlabel="period (deviation in period 1)", ylabel="price", xticks=range(0, len(periods), 5))
        ax.set_title(title, fontsize=10)
        handles = dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
        ax.legend(handles.values(), handles.keys(), loc="center right", fontsize=8)


def draw_grid(axes: Any, grid: dict[tuple[float, ...], dict[str, Any]]) -> None:
    """Heat maps of the profit gain, and of the sessions that pass the one-shot test and that of best responses."""
    rates, decays = sorted({rate for rate, _ in grid}), sorted({decay for _, decay in grid})
    panels = (
        ("profit_gain", "profit gain Δ (paper: Fig. 1, 0.70 to 0.90)"),
        ("one_shot_equilibria", "no one-shot deviation pays (paper: Fig. 2)"),
        ("path_equilibria", "Nash equilibria on the path"),
    )
    for ax, (column, title) in zip(axes, panels, strict=True):
        table = np.array([[grid[rate, decay][column] for decay in decays] for rate in rates])
        ax.imshow(
            table, origin="lower", aspect="auto", cmap="viridis", vmin=0.5 if column == "profit_gain" else 0, vmax=1
        )
        for (k, j), number in np.ndenumerate(table):
            ax.text(
                j, k, f"{number:.2f}", ha="center", va="center", color="white" if number < 0.75 else "black", fontsize=8
            )
        ax.set_xticks(range(len(decays)), [f"{1e6 * decay:g}" for decay in decays])
        ax.set_yticks(range(len(rates)), [f"{rate:g}" for rate in rates])
        ax.set(xlabel="β, in millionths", ylabel="α", title=title)
        ax.grid(visible=False)


def draw_discounts(ax: Any, discounts: dict[float, dict[str, Any]]) -> None:
    """Profit gain over the discount factor, the paper's and ours."""
    deltas = sorted(discounts)
    ax.plot(list(DISCOUNT), list(DISCOUNT.values()), "-", color=COLORS["black"], lw=1, label="paper (Fig. 3)")
    ours = [discounts[delta]["profit_gain"] for delta in deltas]
    error = [2 * discounts[d]["profit_gain_sd"] / np.sqrt(discounts[d]["sessions"]) for d in deltas]
    ax.errorbar(deltas, ours, error, fmt="o", color=COLORS["blue"], ms=4, label="ours, ± 2 standard errors")
    ax.set(xlabel="discount factor δ", ylabel="profit gain Δ")
    ax.legend(fontsize=8)
