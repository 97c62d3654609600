"""The paper's empirical claims, judged from results by the rules written here. [Mao2022, app:simulations]

Where the paper leaves a setting open, an algorithm is run with several, and a claim that holds with some of them only
"depends".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.evaluation import evaluate, solve, theory
from tacit.experiments import Outcome
from tacit.experiments.statistics import Summary, summarize
from tacit.games.tabular import TabularGame
from tacit.policies import MarkovPolicy

#: Each algorithm's runs, for each of its settings; the first is the one that figures show.
Variants = Mapping[str, Mapping[str, Sequence[Outcome]]]


@dataclass(frozen=True)
class Claim:
    """One claim: what the paper says, on which task, what was measured, and the verdict with its rule."""

    says: str
    task: str
    measured: str
    rule: str
    verdict: str


def matrix_team_claims(runs: Sequence[Outcome], game: TabularGame) -> list[Claim]:
    """Judge what the paper says of the matrix team."""
    start = summarize([run.curve["l2_gap"][0] for run in runs]).mean
    middle = len(runs[0].curve) // 2
    lag = summarize([run.curve["average_l2_gap"][middle] - run.curve["l2_gap"][middle] for run in runs])
    best = _played_optimum(game, float(runs[0].params["exploration"]))
    optimal = float(np.mean([run.curve["value"][-1] >= 0.9 * best for run in runs]))
    task = f"matrix team, {runs[0].episodes} rounds"
    found = []
    for name, gap, value in (("last iterate", "l2_gap", "value"), ("average", "average_l2_gap", "average_value")):
        left = summarize([run.curve[gap][-1] for run in runs])
        reward = summarize([run.curve[value][-1] for run in runs])
        measured = f"{told(left, 4)}, from {start:.2f} at first"
        rule = "at most 5 % of the first"
        found.append(
            Claim(f"the {name}'s equilibrium gap goes to zero", task, measured, rule, _is(left.mean <= 0.05 * start))
        )
        close = 8.5 <= reward.mean <= 9.5
        found.append(Claim(f"the {name}'s reward comes close to 9", task, told(reward), "from 8.5 to 9.5", _is(close)))
    measured = f"in the middle of the run its gap is {told(lag, 3)} larger"
    found.append(Claim("the average lags behind", task, measured, "the interval lies above 0", _is(lag.ci95[0] > 0)))
    measured = f"{100 * optimal:.0f} % of the runs within 10 % of {best:.2f}, an optimal equilibrium with exploration"
    says = "a team-optimal equilibrium is reached most of the time"
    return [*found, Claim(says, task, measured, "more than half of the runs", _is(optimal > 0.5))]


def task_claims(task: str, variants: Variants, game: TabularGame) -> list[Claim]:
    """Judge what the paper says of the four algorithms on GoodState and BoxPushing."""
    found = []
    for label in ("V-Learning", "PG"):
        found += [_converges(task, label, variants[label], game), _outperforms(task, label, variants)]
    return [*found, _faster_and_worse(task, variants)]


def good_state_claims(variants: Variants, game: TabularGame) -> list[Claim]:
    """Judge what the paper says of GoodState alone."""
    runs = _first(variants["PG"])
    pg, central = final_reward(runs), final_reward(_first(variants["Centralized"]))
    promised = theory(game, epsilon=1.0, confidence=0.1)
    asked = min(promised.episodes_cce, promised.storm["iterations"])
    measured = (
        f"{runs[0].episodes} episodes; the theorems ask for {promised.episodes_cce:.1e} (cce) and "
        f"{promised.storm['iterations']:.1e} (STORM) for an accuracy of 1"
    )
    near = f"{told(pg)} against {told(central)}"
    return [
        Claim("PG approaches Centralized", "GoodState", near, "within 2 %", _is(pg.mean >= 0.98 * central.mean)),
        Claim(
            "far fewer samples than the theory asks for",
            "GoodState",
            measured,
            "less than a hundredth of both",
            _is(runs[0].episodes < 0.01 * asked),
        ),
    ]


def table(claims: Sequence[Claim], settings: Mapping[str, str], seeds: int) -> str:
    """Write the claims as Markdown."""
    lines = [
        "# The paper's empirical claims",
        "",
        f"Written by `tacit reproduce` from {seeds} seeds. Rewards are means over the last tenth of the episodes, with "
        "95 % bootstrap intervals of the mean over seeds.",
        "",
        "| the paper says | task | measured | rule | verdict |",
        "|---|---|---|---|---|",
    ]
    for claim in claims:
        verdict = claim.verdict if claim.verdict == "holds" else f"**{claim.verdict}**"
        lines.append(f"| {claim.says} | {claim.task} | {claim.measured} | {claim.rule} | {verdict} |")
    lines += ["", "## Settings", ""]
    lines += [f"- {name}: {text}" for name, text in settings.items()]
    return "\n".join(lines) + "\n"


def told(summary: Summary, digits: int = 2) -> str:
    """Write a summary with its interval."""
    low, high = summary.ci95
    return f"{summary.mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def final_reward(runs: Sequence[Outcome]) -> Summary:
    """Summarize the mean reward over the last tenth of the episodes."""
    return summarize([run.reward[0] for run in runs])


def _converges(task: str, label: str, settings: Mapping[str, Sequence[Outcome]], game: TabularGame) -> Claim:
    optimum = float(solve(game).values[0])
    parts, verdicts = [], []
    for setting, runs in settings.items():
        mean = _mean_reward(runs)
        fifth = max(1, len(mean) // 5)
        change = float(mean[-fifth:].mean() - mean[-2 * fifth : -fifth].mean())
        gain = optimum - float(mean[0])
        parts.append(f"{setting}: {100 * abs(change) / gain:.1f} %, to {told(final_reward(runs))}")
        verdicts.append(abs(change) < 0.02 * gain)
    says = f"the trajectory of {label} converges"
    rule = "the mean moves by less than 2 % of what there is to gain, from the last fifth but one to the last"
    return Claim(says, task, "; ".join(parts), rule, _judged(verdicts))


def _outperforms(task: str, label: str, variants: Variants) -> Claim:
    ours = {setting: final_reward(runs) for setting, runs in variants[label].items()}
    theirs = {setting: final_reward(runs) for setting, runs in variants["Independent"].items()}
    verdicts = [mine.ci95[0] > other.ci95[1] for mine in ours.values() for other in theirs.values()]
    sides = [", ".join(f"{setting}: {told(one)}" for setting, one in side.items()) for side in (ours, theirs)]
    rule = "the intervals do not overlap"
    return Claim(f"{label} outperforms Independent", task, " against Independent ".join(sides), rule, _judged(verdicts))


def _faster_and_worse(task: str, variants: Variants) -> Claim:
    others = {label: _first(variants[label]) for label in ("V-Learning", "PG")}
    times = {label: _time_to(runs) for label, runs in others.items()}
    best = max(final_reward(runs).mean for runs in others.values())
    parts, verdicts = [], []
    for setting, runs in variants["Independent"].items():
        final, when = final_reward(runs), _time_to(runs)
        parts.append(f"{setting}: {when} episodes, {told(final)}")
        verdicts.append(when < min(times.values()) and final.ci95[1] < best)
    measured = f"{'; '.join(parts)} (V-Learning {times['V-Learning']}, PG {times['PG']} episodes, best {best:.2f})"
    says = "Independent converges faster, to a clearly worse value"
    rule = "95 % of its own gain sooner than both, and worse than the better of them beyond its interval"
    return Claim(says, task, measured, rule, _judged(verdicts))


def _played_optimum(game: TabularGame, exploration: float) -> float:
    """Return what an optimal equilibrium is worth when every agent explores."""
    probs = [(1 - exploration) * own + exploration / own.shape[2] for own in solve(game).policy.probs]
    return float(evaluate(game, MarkovPolicy(probs)).values[0])


def _judged(verdicts: Sequence[bool]) -> str:
    if all(verdicts):
        return "holds"
    return "depends on the setting" if any(verdicts) else "does not hold"


def _is(verdict: bool) -> str:
    return "holds" if verdict else "does not hold"


def _first(settings: Mapping[str, Sequence[Outcome]]) -> Sequence[Outcome]:
    return next(iter(settings.values()))


def _mean_reward(runs: Sequence[Outcome]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    mean: np.ndarray[tuple[int], np.dtype[np.float64]] = np.mean([run.curve["reward"] for run in runs], axis=0)
    return mean


def _time_to(runs: Sequence[Outcome]) -> int:
    """Return the episode at which the mean reward first has 95 % of its final gain."""
    mean = _mean_reward(runs)
    final = mean[-max(1, len(mean) // 10) :].mean()
    goal = mean[0] + 0.95 * (final - mean[0])
    first = int(np.argmax(mean >= goal)) if final >= mean[0] else int(np.argmax(mean <= goal))
    return int(runs[0].curve["episode"][first])
