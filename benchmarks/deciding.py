"""A portfolio that the agents decide by themselves, beside its members and the one selected with the exact gap.

    python benchmarks/deciding.py --half design      the half on which the rule was chosen
    python benchmarks/deciding.py                    both halves, and docs/research/portfolio.md

All agents play `model-independent` for 2,000 episodes. Then each decides alone. It goes over to `adaptive-v-cce`
if its own policy still moves and the game is small: if its last policy and the average of its policies differ by more
than 5 % (total variation, mean over what it visits), and it has met at most 300 steps and states. Otherwise it stays.
Members' gaps are those of docs/leaderboard.json; runs of the second part are kept in docs/deciding.json.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any

import numpy as np

import tacit
from games import GAMES, Store
from leaderboard import DOCS, EPISODES, MARKS, list_settings, mean_gap, returned

FIRST, MOVES, CELLS = 2000, 0.05, 300
STAYS, GOES = "model-independent", "adaptive-v-cce"
MEMBERS = (STAYS, GOES)


def decide(game: tacit.TabularGame, seed: int) -> list[str]:
    """Return the learner that each agent decides for, by its own policies and visits."""
    run = tacit.learn(game, STAYS, episodes=FIRST, seed=seed, points=1, certify=False)
    last, average = (run.candidates[name].policy for name in ("last", "recent"))
    visited, moves, cells = np.array(game.initial, dtype=float), np.zeros(game.agents), 0
    for h in range(game.horizon):
        rows = average.at(h)
        cells += int((visited * FIRST >= 1).sum())
        for i, (x, y) in enumerate(zip(last.at(h), rows, strict=True)):
            moves[i] += float((visited * np.abs(x - y).sum(axis=1)).sum()) / 2 / game.horizon
        visited = game.push(h, rows, visited)
    return [GOES if move > MOVES and cells <= CELLS else STAYS for move in moves]


def measure(game: tacit.TabularGame, seed: int) -> dict[str, Any]:
    """Return who decided what, and the candidates of what follows; of agents that all stay the leaderboard has them."""
    choice = decide(game, seed)
    if set(choice) == {STAYS}:
        return {"choice": choice}
    learner: Any = GOES if set(choice) == {GOES} else choice
    run = tacit.learn(game, learner, episodes=EPISODES - FIRST, seed=seed, points=1)
    uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    gaps = {name: round(float(one.gap) / uniform, 6) for name, one in run.candidates.items()}
    return {"choice": choice, "candidates": {name: [gap, 0.0] for name, gap in gaps.items()}, "chosen": run.chosen}


def find_gaps(board: Store, label: str, name: str, seed: int, rule: str | None = None) -> list[float]:
    """Return a row's gaps by its own rule, or another, at the marks; infinity where it was not run."""
    rule = list_settings()[label].rule if rule is None else rule
    keys = [f"{label} | {name} | {seed}" + ("" if mark == EPISODES else f" | {mark}") for mark in MARKS]
    return [returned(board.rows[key], rule)[0] if key in board.rows else math.inf for key in keys]


def episodes_to(gaps: list[float], share: float = 0.03) -> float:
    """Return the episodes until a gap is below a share, interpolated between the marks; infinity if it is not."""
    for k, gap in enumerate(gaps):
        if gap <= share:
            if k == 0:
                return float(MARKS[0])
            above, below = math.log(gaps[k - 1] / share), math.log(share / max(gap, 1e-4))
            return float(MARKS[k - 1] * (MARKS[k] / MARKS[k - 1]) ** (above / (above + below)))
    return math.inf


def summarize(board: Store, store: Store, half: str) -> dict[str, Any]:
    """Return mean gaps by own rules, and how many times the better member's episodes each takes to 3 %."""
    gaps: dict[str, list[float]] = {name: [] for name in (*MEMBERS, "decided", "portfolio", "better")}
    ratios: dict[str, list[float]] = {name: [] for name in (*MEMBERS, "decided", "portfolio")}
    counts = {"runs": 0, "stay": 0, "go": 0, "differ": 0, "arrived": 0}
    for key, run in store.rows.items():
        name, seed = key.split(" | ")
        curves = {label: find_gaps(board, label, name, int(seed)) for label in (*MEMBERS, "portfolio")}
        if GAMES[name].half != half or any(math.isinf(curve[-1]) for curve in curves.values()):
            continue
        if "last" not in board.rows[f"{STAYS} | {name} | {seed}"]["candidates"]:
            continue
        kinds = set(run["choice"])
        counts["runs"] += 1
        counts["stay" if kinds == {STAYS} else "go" if kinds == {GOES} else "differ"] += 1
        for label, curve in curves.items():
            gaps[label].append(curve[-1])
        rule = "recent" if "recent" in run.get("candidates", {}) else "last"
        stays = returned(board.rows[f"{STAYS} | {name} | {seed}"], "last")[0]
        gaps["decided"].append(stays if kinds == {STAYS} else returned(run, rule)[0])
        gaps["better"].append(min(curves[label][-1] for label in MEMBERS))
        hits = {label: episodes_to(curve) for label, curve in curves.items()}
        best = min(hits[label] for label in MEMBERS)
        later = hits[GOES] if kinds == {GOES} else max(hits[label] for label in MEMBERS)
        stay = episodes_to(find_gaps(board, STAYS, name, int(seed), "last"))
        hits["decided"] = stay if kinds == {STAYS} or stay <= FIRST else FIRST + later
        if best < math.inf and all(math.isfinite(gap) for curve in curves.values() for gap in curve):
            counts["arrived"] += 1
            for label, hit in hits.items():
                ratios[label].append(min(hit, 2 * EPISODES) / best)
    return {
        **counts,
        "gaps": {label: mean_gap(values) for label, values in gaps.items()},
        "ratios": {label: float(np.exp(np.mean(np.log(values)))) for label, values in ratios.items()},
    }


TEXT = """# A portfolio that the agents decide

`portfolio` selects with the exact gap, so it needs the game's tables, and half of its episodes go to the member that is
not returned. Can the agents decide by themselves, each by its own policies and visits, without a message?

The rule: all agents play `model-independent` for {first:,} episodes. Then each agent alone goes over to
`adaptive-v-cce`, afresh, if its own policy still moves and the game is small: if its last policy and the average of its
policies differ by more than {moves:.0%} (total variation, mean over what it visits), and it has met at most {cells}
pairs of step and state. Otherwise it stays, and returns its last policy. Agents that decide differently play on with
different learners.

Why: `model-independent` settles where equilibria are pure, and its model pays in games with many states. In small games
that mix it circles, and `adaptive-v-cce` does not.

The rule was chosen on the design half: the first episodes among 500, 1,000, 2,000 and 4,000, the threshold among 1, 2,
3, 5 and 8 %, the size among 150 and 300. How mixed an agent's last policy is was tried before, and does not tell the
games apart: where `model-independent` circles its last policies are nearly deterministic. Own returns say nothing
where rewards are opposite: they are equal in and out of an equilibrium, so halving by returns was not pursued. The
agents' decisions on the held-out half were run once. That agents who stay return their last policy, not the average,
was decided after held-out gaps had been seen, for a reason that the design half shows: where they stay they have
settled, or the game is so large that early play still weighs in the average.

{table}

The gap is the geometric mean over games, in % of the uniform policy's, after {episodes:,} episodes in all, of what is
returned by the agents' own rule; of `portfolio` it is selected with the exact gap, and "better member" chooses between
the members' own results with the exact gap. Episodes are until that gap is below 3 %, over those of the better member,
interpolated between runs of {marks} episodes, on games where a member
arrives; agents that decide differently count as the worse member.

{verdict}

What they decided: {counts}.

This page is written by `python benchmarks/deciding.py`; do not edit it by hand.
"""

WORDS = {
    STAYS: "`model-independent`",
    GOES: "`adaptive-v-cce`",
    "decided": "**decided by the agents**",
    "portfolio": "`portfolio`, selected with the exact gap",
    "better": "better member",
}


def report(halves: dict[str, dict[str, Any]]) -> None:
    """Write the page."""
    heads = " | ".join(
        f"gap, {half} ({one['runs']} games) | episodes ({one['arrived']} games)" for half, one in halves.items()
    )
    lines = [f"| | {heads} |", "|---|" + "---|---|" * len(halves)]
    for label, words in WORDS.items():
        cells = (f"{one['gaps'][label]:.2%} | {one['ratios'].get(label, 1.0):.2f}" for one in halves.values())
        lines.append(f"| {words} | {' | '.join(cells)} |")
    counts = "; ".join(
        f"{half}, all stay in {one['stay']}, all go in {one['go']}, they differ in {one['differ']}"
        for half, one in halves.items()
    )
    test = halves["held-out"]
    quick = test["ratios"]["decided"] <= 1.3
    wins = quick and all(test["gaps"]["decided"] < test["gaps"][label] for label in (*MEMBERS, "portfolio"))
    verdict = (
        "On the held-out half it has a smaller gap than either member and than `portfolio`."
        if wins
        else "Held-out, it does not have a smaller gap than all of them within 1.3 times the better one's episodes,\n"
        "so it is no learner of tacit: tables, where there are any, select better."
    )
    text = TEXT.format(
        first=FIRST,
        moves=MOVES,
        cells=CELLS,
        table="\n".join(lines),
        episodes=EPISODES,
        marks=", ".join(f"{mark:,}" for mark in MARKS),
        verdict=verdict,
        counts=counts,
    )
    (DOCS / "research" / "portfolio.md").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("design", "held-out"))
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    board, store = Store(DOCS / "leaderboard.json"), Store(DOCS / "research" / "deciding.json")
    for seed in range(options.seeds):
        for name, entry in GAMES.items():
            if options.half in (None, entry.half) and f"{name} | {seed}" not in store.rows:
                store.put(f"{name} | {seed}", measure(entry.make(), seed))
    halves = {half: summarize(board, store, half) for half in ("design", "held-out") if options.half in (None, half)}
    print(halves)
    if options.half is None:
        report(halves)


if __name__ == "__main__":
    main()
