"""A portfolio that the agents decide by themselves, beside its members and the one selected with the exact gap.

    python benchmarks/deciding.py --half design      the half on which the rule was chosen
    python benchmarks/deciding.py                    both halves, and docs/research/portfolio.md

By moves: all agents play `model-independent` for 2,000 episodes. Then each decides alone. It goes over to
`adaptive-v-cce` if its own policy still moves and the game is small: if its last policy and the average of its policies
differ by more than 5 % (total variation, mean over what it visits), and it has met at most 300 steps and states.
Otherwise it stays. By returns: all agents play either member for as many episodes, and each goes on with the one that
paid it more in the second half of those.
Members' gaps are those of docs/leaderboard.json; runs of the second part are kept in docs/research/deciding.json.
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
#: Episodes of each member before agents decide by returns: those that were tried, and the one that was chosen.
TRIALS, TRIAL = (500, 1000, 2000), 2000
STAYS, GOES = "model-independent", "adaptive-v-cce"
MEMBERS = (STAYS, GOES)


def decide_by_moves(game: tacit.TabularGame, seed: int) -> list[str]:
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


def decide_by_returns(game: tacit.TabularGame, seed: int, episodes: int) -> list[str]:
    """Return the learner that each agent decides for, by its own returns in the second half of a trial of each."""
    curves = {
        name: tacit.learn(game, name, episodes=episodes, seed=seed, points=2, certify=False).curve for name in MEMBERS
    }
    return [max(MEMBERS, key=lambda name: curves[name][f"reward_{i}"][-1]) for i in range(game.agents)]


def measure(game: tacit.TabularGame, seed: int, trial: int) -> dict[str, Any]:
    """Return who decided what, and the candidates of what follows; of agents that all stay the leaderboard has them.

    A `trial` of 0 episodes is for decisions by moves. After others all agents go on with what they have learned, if
    they agree, and otherwise begin afresh.
    """
    choice = decide_by_returns(game, seed, trial) if trial else decide_by_moves(game, seed)
    if set(choice) == {STAYS} and not trial:
        return {"choice": choice}
    learner: Any = choice[0] if len(set(choice)) == 1 else choice
    left = EPISODES - (trial if len(set(choice)) == 1 else 2 * trial) if trial else EPISODES - FIRST
    run = tacit.learn(game, learner, episodes=left, seed=seed, points=1)
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


def summarize(board: Store, store: Store, half: str, trial: int = TRIAL) -> dict[str, Any]:
    """Return mean gaps by own rules, and how many times the better member's episodes each takes to 3 %."""
    gaps: dict[str, list[float]] = {name: [] for name in WORDS}
    ratios: dict[str, list[float]] = {name: [] for name in WORDS if name != "better"}
    counts = {"runs": 0, "arrived": 0, "moves": [0, 0, 0], "returns": [0, 0, 0]}
    for name in (name for name, entry in GAMES.items() if entry.half == half):
        curves = {label: find_gaps(board, label, name, 0) for label in (*MEMBERS, "portfolio")}
        decided = {"moves": store.rows[f"{name} | 0"], "returns": store.rows[f"returns {trial} | {name} | 0"]}
        hits = {label: episodes_to(curve) for label, curve in curves.items()}
        best = min(hits[label] for label in MEMBERS)
        for rule, run in decided.items():
            kinds = set(run["choice"])
            counts[rule][0 if kinds == {STAYS} else 1 if kinds == {GOES} else 2] += 1
            returns = "recent" if "recent" in run.get("candidates", {}) else "last"
            if rule == "moves" and kinds == {STAYS}:
                run = board.rows[f"{STAYS} | {name} | 0"]
                returns = "last"
            gaps[rule].append(returned(run, returns)[0])
            later = max(hits[label] for label in kinds)
            hits[rule] = later if later <= trial and kinds == {STAYS} else later + trial
            if rule == "moves":
                stay = episodes_to(find_gaps(board, STAYS, name, 0, "last"))
                hits[rule] = stay if kinds == {STAYS} or stay <= FIRST else FIRST + later
        counts["runs"] += 1
        for label, curve in curves.items():
            gaps[label].append(curve[-1])
        gaps["better"].append(min(curves[label][-1] for label in MEMBERS))
        if best < math.inf:
            counts["arrived"] += 1
            for label in ratios:
                ratios[label].append(min(hits[label], 2 * EPISODES) / best)
    return {
        **counts,
        "gaps": {label: mean_gap(values) for label, values in gaps.items()},
        "ratios": {label: float(np.exp(np.mean(np.log(values)))) for label, values in ratios.items()},
    }


def find_room(board: Store) -> str:
    """Return what a third member could add on the design half, chosen for each game with the exact gap."""
    names = [name for name, entry in GAMES.items() if entry.half == "design"]

    def better(*labels: str) -> float:
        return mean_gap(min(find_gaps(board, label, name, 0)[-1] for label in labels) for name in names)

    thirds = (f"{better(*MEMBERS, label):.2%} with `{label}`" for label in THIRDS)
    return f"{better(*MEMBERS):.2%} for the two members,\n" + ",\n".join(thirds)


def explain(board: Store, store: Store) -> str:
    """Return the gaps by returns on the design half where agents agree, and where they do not."""
    phrases = []
    for words, differ in (("agree", False), ("disagree", True)):
        runs = {name: store.rows[f"returns {TRIAL} | {name} | 0"] for name in GAMES if GAMES[name].half == "design"}
        runs = {name: run for name, run in runs.items() if (len(set(run["choice"])) > 1) == differ}
        own = mean_gap(returned(run, "recent")[0] for run in runs.values())
        members = (mean_gap(find_gaps(board, label, name, 0)[-1] for name in runs) for label in MEMBERS)
        phrases.append(
            f"where they {words} ({len(runs)} games) the gap is {own:.2%}, and the members' "
            + " and ".join(f"{gap:.2%}" for gap in members)
        )
    return ";\n".join(phrases)


THIRDS = ("ogda, from play", "q-smoothed", "q-smoothed, published", "npg, from play", "wolf-phc", "q-hysteretic")

TEXT = """# A portfolio that the agents decide

`portfolio` selects with the exact gap, so it needs the game's tables, and half of its episodes go to the member that is
not returned. Can the agents decide by themselves, each by its own policies and visits, without a message?

**By moves.** All agents play `model-independent` for {first:,} episodes. Then each agent alone goes over to
`adaptive-v-cce`, afresh, if its own policy still moves and the game is small: if its last policy and the average of its
policies differ by more than {moves:.0%} (total variation, mean over what it visits), and it has met at most {cells}
pairs of step and state. Otherwise it stays, and returns its last policy. Agents that decide differently play on with
different learners.

Why: `model-independent` settles where equilibria are pure, and its model pays in games with many states. In small games
that mix it circles, and `adaptive-v-cce` does not.

**By returns** (successive halving with two members). All agents play either member for {trial:,} episodes. Each goes on
with the member that paid it more in the second half of those, and returns what that member returns. Agents that decide
differently begin afresh with different learners.

Settings were chosen on the design half. By moves: the first episodes among 500, 1,000, 2,000 and 4,000, the threshold
among 1, 2, 3, 5 and 8 %, the size among 150 and 300. How mixed an agent's last policy is was tried before, and does not
tell the games apart: where `model-independent` circles its last policies are nearly deterministic. By returns: the
episodes of a trial among {trials}; gaps there were {tried}.
Decisions on the held-out half were run once for either rule. That agents who stay return their last policy, not the
average, was decided after held-out gaps had been seen, for a reason that the design half shows: where they stay they
have settled, or the game is so large that early play still weighs in the average.

{table}

The gap is the geometric mean over games, in % of the uniform policy's, after {episodes:,} episodes in all, of what is
returned by the agents' own rule; of `portfolio` it is selected with the exact gap, and "better member" chooses between
the members' own results with the exact gap. Episodes are until that gap is below 3 %, over those of the better member,
interpolated between runs of {marks} episodes, on games where a member
arrives; agents that decide differently count as the worse member.

{verdict}

What they decided: {counts}.

**More members.** What a third member could add at most: the gap on the design half if for each game the best of the
members' results after {episodes:,} episodes each were chosen with the exact gap, and the third cost nothing. It is
{room}.
`ogda` and `q-smoothed` leave the two members' result as it is, so no rule that pays for their episodes can gain by
them, and none was run.

**Why returns do not decide.** Where rewards are opposite they are equal in and out of an equilibrium, so the choice is
a draw. On the design half, {why}.
Agents that disagree are teams of two kinds of learners, which end far from an equilibrium.

This page is written by `python benchmarks/deciding.py`; do not edit it by hand.
"""

WORDS = {
    STAYS: "`model-independent`",
    GOES: "`adaptive-v-cce`",
    "moves": "**decided by the agents, by moves**",
    "returns": "**decided by the agents, by returns**",
    "portfolio": "`portfolio`, selected with the exact gap",
    "better": "better member",
}


def report(board: Store, store: Store) -> None:
    """Write the page."""
    halves = {half: summarize(board, store, half) for half in ("design", "held-out")}
    heads = " | ".join(
        f"gap, {half} ({one['runs']} games) | episodes ({one['arrived']} games)" for half, one in halves.items()
    )
    lines = [f"| | {heads} |", "|---|" + "---|---|" * len(halves)]
    for label, words in WORDS.items():
        cells = (f"{one['gaps'][label]:.2%} | {one['ratios'].get(label, 1.0):.2f}" for one in halves.values())
        lines.append(f"| {words} | {' | '.join(cells)} |")
    counts = ";\n".join(
        f"by {rule}, {half}, all stay in {one[rule][0]}, all go in {one[rule][1]}, they differ in {one[rule][2]}"
        for rule in ("moves", "returns")
        for half, one in halves.items()
    )
    test = halves["held-out"]
    wins = [
        rule
        for rule in ("moves", "returns")
        if test["ratios"][rule] <= 1.3
        and all(test["gaps"][rule] < test["gaps"][label] for label in (*MEMBERS, "portfolio"))
    ]
    verdict = (
        f"Held-out, deciding by {' and by '.join(wins)} has a smaller gap than either member and `portfolio`."
        if wins
        else "Held-out, neither rule has a smaller gap than the members and `portfolio` within 1.3 times the better\n"
        "member's episodes, so neither is a learner of tacit: tables, where there are any, select better."
    )
    tried = {trial: summarize(board, store, "design", trial)["gaps"]["returns"] for trial in TRIALS}
    text = TEXT.format(
        first=FIRST,
        moves=MOVES,
        cells=CELLS,
        trial=TRIAL,
        trials=", ".join(f"{trial:,}" for trial in TRIALS),
        tried=", ".join(f"{gap:.2%}" for gap in tried.values()),
        table="\n".join(lines),
        episodes=EPISODES,
        marks=", ".join(f"{mark:,}" for mark in MARKS),
        verdict=verdict,
        counts=counts,
        room=find_room(board),
        why=explain(board, store),
    )
    (DOCS / "research" / "portfolio.md").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("design", "held-out"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    board, store = Store(DOCS / "leaderboard.json"), Store(DOCS / "research" / "deciding.json")
    for name, entry in GAMES.items():
        if options.half not in (None, entry.half):
            continue
        for trial in (0, *TRIALS) if entry.half == "design" else (0, TRIAL):
            key = f"returns {trial} | {name} | 0" if trial else f"{name} | 0"
            if key not in store.rows:
                store.put(key, measure(entry.make(), 0, trial))
                print(key, store.rows[key], flush=True)
    if options.half is None:
        report(board, store)
    else:
        for trial in TRIALS if options.half == "design" else (TRIAL,):
            print(trial, summarize(board, store, options.half, trial))


if __name__ == "__main__":
    main()
