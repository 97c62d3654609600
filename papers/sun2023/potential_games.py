"""The two games of Sun et al. (2023): a seeded team and a congestion game of eight agents; claims and the picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tacit
from reproduction import Claim, Note, Reproduction, log_times, save_panels
from tacit.engine.exact import ExactEngine
from tacit.figures import COLORS
from tacit.learners import NPG, PGQ

DIRECTORY = Path(__file__).parent
ACTIONS, TEAM_SEED, TEAM_STEP = (3, 4, 5), 10, 0.1
STEP, DISCOUNT = 0.001, 0.99
LEARNERS = {"npg": NPG, "pg-q": PGQ}
POINTS = 10  # of a curve of the second game, whose gaps take longer than its steps


class Setting(NamedTuple):
    """Iterations of both games, agents of the second, and how many random starts it has."""

    team: int = 5000
    congestion: int = 250
    agents: int = 8
    starts: int = 2


WHOLE, QUICK = Setting(), Setting(team=1000, congestion=100, agents=4, starts=1)


def make_team() -> tuple[tacit.TabularGame, tacit.MarkovPolicy]:
    """Return the seeded team game and the first policies, drawn in the order of the authors' program."""
    rng = np.random.RandomState(TEAM_SEED)
    reward = rng.uniform(0, 1, size=ACTIONS)
    start = [rng.uniform(0, 1, size=A) for A in ACTIONS]
    game = tacit.TabularGame(np.ones((1, *ACTIONS, 1)), np.stack([reward] * len(ACTIONS))[:, None], 0, 1)
    return game, tacit.MarkovPolicy([(probs / probs.sum())[None, None] for probs in start])


def make_congestion(agents: int) -> tacit.TabularGame:
    """Return the congestion game: facilities worth 1, 2, 4 and 6 times their load, 100 less while distancing."""
    game: tacit.TabularGame = tacit.make("distancing", agents=agents, discount=DISCOUNT)
    return game


def ascend(game: Any, name: str, eta: float, start: Any, times: list[int], *, seed: int = 0) -> list[float]:
    """Return the sum of the agents' exact gaps before the iterations of a curve."""
    engine = ExactEngine(game, LEARNERS[name](eta=eta, start=start), episodes=times[-1], seed=seed)
    done, gaps = 0, []
    for t in times:
        engine.advance(t - 1 - done)
        done = t - 1
        gaps.append(float(tacit.evaluate(game, engine.iterate).gaps.sum()))
    return gaps


def measure(setting: Setting, note: Note) -> dict[str, Any]:
    """Run both games with exact gradients; return curves of the sum of gaps."""
    team, first = make_team()
    congestion = make_congestion(setting.agents)
    times, later = log_times(setting.team), log_times(setting.congestion, POINTS)
    results: dict[str, Any] = {"team": {"times": times}, "congestion": {"times": later}}
    for name in LEARNERS:
        results["team"][name] = [ascend(team, name, TEAM_STEP, first, times)]
        results["congestion"][name] = [
            ascend(congestion, name, STEP, "random", later, seed=seed) for seed in range(1, setting.starts + 1)
        ]
        ends = [f"{curve[-1]:.3g}" for curve in results["congestion"][name]]
        note(f"{name}: team {results['team'][name][0][-1]:.3g}, congestion {', '.join(ends)}")
    return results


# claims and the picture -----------------------------------------------------------------------------------------------


def theirs() -> dict[str, Any]:
    """Return the gaps of the authors' program on the congestion game, run here once and measured by tacit."""
    stored: dict[str, Any] = json.loads((DIRECTORY / "authors.json").read_text(encoding="utf-8"))
    return stored


def late_share(times: list[int], gaps: list[float]) -> float:
    """Return which share of the sum of all gaps the second half of the iterations has."""
    every = np.interp(np.arange(times[0], times[-1] + 1), times, gaps)
    return float(every[len(every) // 2 :].sum() / every.sum())


def judge(results: dict[str, Any]) -> list[Claim]:
    """Return the claims."""
    team, crowd, authors = results["team"], results["congestion"], theirs()
    npg, curves = team["npg"][0], crowd["npg"]
    share = late_share(team["times"], npg)
    shares = [late_share(crowd["times"], curve) for curve in curves]
    ends = {name: [curve[-1] for curve in crowd[name]] for name in LEARNERS}
    falls = [end / curve[0] for end, curve in zip(ends["npg"], curves, strict=True)]
    first = ", ".join(f"{curve[0]:.3g}" for curve in curves)
    numbers = {name: ", ".join(f"{end:.3g}" for end in ends[name]) for name in LEARNERS}
    claims = [
        Claim(
            "independent NPG reaches a Nash equilibrium: seeded team, η = 0.1", "abstract, first game", "0",
            f"sum of gaps {npg[0]:.3g} at first, {npg[-1]:.1g} at the end", "falls to a thousandth",
            npg[-1] <= 1e-3 * npg[0],
        ),
        Claim(
            "… in O(1/ε) iterations, so that the sum of all gaps stays bounded", "abstract, first game", "",
            f"{100 * share:.1f} % of it are in the second half of the iterations", "at most 1 %", share <= 0.01,
        ),
        Claim(
            "the same for the congestion game, within the program's 250 iterations, η = 0.001",
            "abstract, second game", "0",
            f"sums of gaps from random starts: {first} at first, {numbers['npg']} at the end", "each falls to a tenth",
            max(falls) <= 0.1,
        ),
        Claim(
            "… in O(1/ε) iterations", "abstract, second game", "",
            f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % of the sum are in the second half", "at most 10 %",
            max(shares) <= 0.1,
        ),
        Claim(
            "our addition: projected ascent on averaged Q with the same η", "", "",
            f"sums of gaps at the end: {numbers['pg-q']}", "at most NPG's, from every start",
            all(a <= b for a, b in zip(ends["pg-q"], ends["npg"], strict=True)),
        ),
    ]  # fmt: skip
    if crowd["times"] == authors["times"]:
        a, b = authors["npg"][0], authors["npg"][-1]
        claims.append(
            Claim(
                "our addition: the authors' program, from the uniform policy, with values sampled", "second game",
                f"sum of exact gaps {a:.3g} at first, {b:.3g} at the end", numbers["npg"], "falls to a tenth",
                b <= 0.1 * a,
            )
        )  # fmt: skip
    return claims


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw the sums of gaps of both games."""

    def paint(*panels: Any) -> None:
        for ax, (game, title) in zip(panels, {"team": "seeded team", "congestion": "congestion"}.items(), strict=True):
            curves = results[game]
            for name, color in zip(LEARNERS, ("blue", "green"), strict=True):
                for k, gaps in enumerate(curves[name]):
                    label = name if k == 0 else None
                    shown = np.maximum(gaps, 1e-6 * max(gaps))
                    ax.loglog(curves["times"], shown, color=COLORS[color], label=label, alpha=1 if k == 0 else 0.4)
            if game == "congestion":
                authors = theirs()
                ax.loglog(authors["times"], authors["npg"], ":", color=COLORS["black"], label="the authors' program")
            ax.set_title(title)
            ax.set_xlabel("iterations")
            ax.legend(fontsize=7)
        panels[0].set_ylabel("sum of the agents' exact gaps")

    save_panels(path, (8.4, 3.4), 2, paint)


def introduce(setting: Setting) -> str:
    """Return what was run, as a sentence."""
    return (
        f"`npg` and `pg-q` with exact gradients on the seeded team of three agents, {setting.team:,} "
        f"iterations from its own start, and on the congestion game of {setting.agents} agents, discount {DISCOUNT}, "
        f"{setting.congestion} iterations from {setting.starts} random policies. Gaps are exact, summed over agents."
    )


CLOSE = (
    "Games, starts, step sizes and iterations are those of the authors' program "
    "(github.com/sundave1998/Independent-NPG-MPG, commit 43cc617), which stores no numbers; of the paper the "
    "abstract could be read. Its congestion game estimates values from 10 trajectories of 20 steps, with η = "
    "0.001; it was run once with NPG and seed 0, and its policies were measured by tacit (`authors.json`). It "
    "starts from the uniform policy, where exact gradients would keep all agents equal; ours start from random ones. "
    "The theorem is asymptotic: the second game's rows say that so many iterations of this step are too few for it."
)
REPRODUCTION = Reproduction(DIRECTORY, "Sun et al. (2023)", WHOLE, QUICK, measure, judge, draw, introduce, CLOSE)
