"""A portfolio that the agents decide by themselves, beside its members and the one selected with the exact gap.

    python benchmarks/deciding.py --half design      the half on which the rule was chosen
    python benchmarks/deciding.py                    both halves, fresh games, and docs/research/portfolio.md

By moves: all agents play `model-independent` for 2,000 episodes. Then each decides alone. It goes over to
`adaptive-v-cce` if its own policy still moves and the game is small: if its last policy and the average of its policies
differ by more than 5 % (total variation, mean over its visits), and it has met at most 300 steps and states.
Otherwise it stays. By returns: all agents play either member for as many episodes, and each goes on with the one that
paid it more in the second half of those.
Members' gaps are those of docs/leaderboard.json; runs of the second part are kept in docs/research/deciding.json.
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from typing import Any

import numpy as np

import leaderboard
import tacit
from games import FRESH, GAMES, Store
from leaderboard import DOCS, EPISODES, MARKS, SEEDS, list_settings, mean_gap, returned
from tacit.engine.fused import FusedEngine
from tacit.learners import REGISTRY

MOVES, CELLS = 0.05, 300
#: Episodes before agents decide, by returns those of each member: what was tried, and chosen by the first seed's gap.
TRIALS = (500, 1000, 2000)
CHOSEN = {"moves": 2000, "returns": 2000}
STAYS, GOES = "model-independent", "adaptive-v-cce"
MEMBERS = (STAYS, GOES)
EVERY = GAMES | FRESH


def decide_by_moves(game: tacit.TabularGame, seed: int, episodes: int) -> list[str]:
    """Return the learner that each agent decides for, by its own records: policies, their averages and visits."""
    engine = FusedEngine(game, REGISTRY.make(STAYS), episodes=episodes, seed=seed)
    engine.advance(episodes)
    choice = []
    for i, actions in enumerate(game.actions):
        own = engine.state.cells[: game.horizon, :, i]  # [H, S]
        apart = np.abs(own["prob"] - own["average"])[..., :actions].sum(axis=-1) / 2  # total variation
        moves = (own["visits"] * apart).sum() / own["visits"].sum()
        choice.append(GOES if moves > MOVES and (own["visits"] > 0).sum() <= CELLS else STAYS)
    return choice


def decide_by_returns(game: tacit.TabularGame, seed: int, episodes: int) -> list[str]:
    """Return the learner that each agent decides for, by its own returns in the second half of a trial of each."""
    curves = {
        name: tacit.learn(game, name, episodes=episodes, seed=seed, points=2, certify=False).curve for name in MEMBERS
    }
    return [max(MEMBERS, key=lambda name: curves[name][f"reward_{i}"][-1]) for i in range(game.agents)]


def measure(game: tacit.TabularGame, rule: str, trial: int, seed: int) -> dict[str, Any]:
    """Return who decided what, and the candidates of what follows; of agents that all stay the leaderboard has them.

    By moves, agents that go over begin afresh. By returns, agents that agree go on with what they have learned.
    """
    choice = (decide_by_moves if rule == "moves" else decide_by_returns)(game, seed, trial)
    agree = len(set(choice)) == 1
    if rule == "moves" and set(choice) == {STAYS}:
        return {"choice": choice}
    learner: Any = choice[0] if agree else choice
    left = EPISODES - (trial if rule == "moves" or agree else 2 * trial)
    run = tacit.learn(game, learner, episodes=left, seed=seed, points=1)
    uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    gaps = {name: round(float(one.gap) / uniform, 6) for name, one in run.candidates.items()}
    return {"choice": choice, "candidates": {name: [gap, 0.0] for name, gap in gaps.items()}, "chosen": run.chosen}


def find_gaps(board: Store, label: str, name: str, seed: int, rule: str | None = None) -> list[float]:
    """Return a row's gaps by its own rule, or another, at the marks; infinity where it was not run."""
    rule = list_settings()[label].rule if rule is None else rule
    keys = [f"{label} | {name} | {seed}" + ("" if mark == EPISODES else f" | {mark}") for mark in MARKS]
    return [returned(board.rows[key], rule)[0] if key in board.rows else math.inf for key in keys]


def run_members(store: Store, name: str, seed: int) -> None:
    """Add the runs of members and portfolio in a game that the leaderboard does not have."""
    keys = {
        f"{label} | {name} | {seed}" + ("" if mark == EPISODES else f" | {mark}"): (label, mark)
        for label in (*MEMBERS, "portfolio")
        for mark in MARKS
    }
    if all(key in store.rows for key in keys):
        return
    game = FRESH[name].make()
    uniform = float(tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap)
    for key, (label, mark) in keys.items():
        if key not in store.rows:
            store.put(key, leaderboard.measure(game, list_settings()[label], seed, mark, uniform))


def episodes_to(gaps: list[float], share: float = 0.03) -> float:
    """Return the episodes until a gap is below a share, interpolated between the marks; infinity if it is not."""
    for k, gap in enumerate(gaps):
        if gap <= share:
            if k == 0:
                return float(MARKS[0])
            above, below = math.log(gaps[k - 1] / share), math.log(share / max(gap, 1e-4))
            return float(MARKS[k - 1] * (MARKS[k] / MARKS[k - 1]) ** (above / (above + below)))
    return math.inf


def summarize(board: Store, store: Store, halves: tuple[str, ...], trials: dict[str, int]) -> dict[str, Any]:
    """Return mean gaps by own rules, and how many times the better member's episodes each takes to 3 %."""
    gaps: dict[str, list[float]] = {name: [] for name in WORDS}
    ratios: dict[str, list[float]] = {name: [] for name in WORDS if name != "better"}
    counts = {"runs": 0, "arrived": 0, **{rule: [0, 0, 0] for rule in CHOSEN}}
    for name, seed in itertools.product((name for name in EVERY if EVERY[name].half in halves), range(SEEDS)):
        curves = {label: find_gaps(board, label, name, seed) for label in (*MEMBERS, "portfolio")}
        curves["last"] = find_gaps(board, STAYS, name, seed, "last")
        hits = {label: episodes_to(curve) for label, curve in curves.items()}
        best = min(hits[label] for label in MEMBERS)
        for rule, trial in trials.items():
            run = store.rows[f"{rule} {trial} | {name} | {seed}"]
            kinds = set(run["choice"])
            counts[rule][0 if kinds == {STAYS} else 1 if kinds == {GOES} else 2] += 1
            if "candidates" in run:
                gaps[rule].append(returned(run, "recent")[0])
            else:
                gaps[rule].append(curves["last"][-1])
            later = max(hits[label] for label in kinds)
            if rule == "moves":
                stays = kinds == {STAYS} or hits["last"] <= trial
                hits[rule] = hits["last"] if stays else trial + later
            else:
                early = kinds == {STAYS} and later <= trial
                hits[rule] = later if early else later + trial * len(kinds)
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
    runs = [(name, seed) for name in GAMES if GAMES[name].half == "design" for seed in range(SEEDS)]

    def better(*labels: str) -> float:
        return mean_gap(min(find_gaps(board, label, *run)[-1] for label in labels) for run in runs)

    thirds = (f"{better(*MEMBERS, label):.2%} with `{label}`" for label in THIRDS)
    return f"{better(*MEMBERS):.2%} for the two members,\n" + ",\n".join(thirds)


def explain(board: Store, store: Store) -> str:
    """Return the gaps by returns on the design half where agents agree, and where they do not."""
    runs = {
        (name, seed): store.rows[f"returns {CHOSEN['returns']} | {name} | {seed}"]
        for name in GAMES
        if GAMES[name].half == "design"
        for seed in range(SEEDS)
    }
    phrases = []
    for words, kinds in (("agree", 1), ("disagree", 2)):
        some = {key: run for key, run in runs.items() if len(set(run["choice"])) == kinds}
        own = mean_gap(returned(run, "recent")[0] for run in some.values())
        members = (mean_gap(find_gaps(board, label, *key)[-1] for key in some) for label in MEMBERS)
        phrases.append(
            f"where they {words} ({len(some)} runs) the gap is {own:.2%}, and the members' "
            + " and ".join(f"{gap:.2%}" for gap in members)
        )
    return ";\n".join(phrases)


THIRDS = ("ogda, from play", "q-smoothed", "q-smoothed, published", "npg, from play", "wolf-phc", "q-hysteretic")

TEXT = """# A portfolio that the agents decide

`portfolio` selects with the exact gap, so it needs the game's tables, and half of its episodes go to the member that is
not returned. Can the agents decide by themselves, each by its own policies and visits, without a message?

**By moves.** All agents play `model-independent` for {first:,} episodes. Then each agent alone goes over to
`adaptive-v-cce`, afresh, if its own policy still moves and the game is small: if its last policy and the average of its
policies differ by more than {moves:.0%} (total variation, mean over its visits), and it has met at most {cells}
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
episodes of a trial, among {trials}. On the design half that gives:

{tried}

They were chosen by the first seed's gap. Decisions on the held-out half were run with those only. That agents who stay
return their last policy, not the average, was decided after held-out gaps had been seen, for a reason that the design
half shows: where they stay they have settled, or the game is so large that early play still weighs in the average. So
28 fresh games were made (`FRESH` in `benchmarks/games.py`), of the same kinds with other sizes and seeds, after all
settings stood. They were run twice, first with visits computed from the tables (0.66 %, 0.89 times the episodes), then
with those that the agents counted.

{table}

The gap is the geometric mean over games and {seeds} seeds, in % of the uniform policy's, after {episodes:,} episodes in
all, of what is returned by the agents' own rule; of `portfolio` it is selected with the exact gap, and "better member"
chooses between the members' own results with the exact gap. Episodes are until that gap is below 3 %, over those of the
better member, interpolated between runs of {marks} episodes, where a member
arrives; agents that decide differently count as the worse member.

Rules with a smaller gap than either member within 1.3 times the better member's episodes:
{verdict}.

**Deciding by moves wins, but for the episodes on the held-out half**: its gap is smaller than that of either member on
every part, with what an agent has counted itself and without tables. Over all {games} games the gap is {gap:.2%}, and
it takes {ratio:.2f} times the better member's episodes; `portfolio`, which needs the tables, has {portfolio:.2%}. It is
no learner of tacit yet: agents that go over return the recorded mixture of `adaptive-v-cce`, so it must be made of two
runs, as `portfolio` is.

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
    "last": "`model-independent`, its last policy",
    GOES: "`adaptive-v-cce`",
    "moves": "**decided by the agents, by moves**",
    "returns": "**decided by the agents, by returns**",
    "portfolio": "`portfolio`, selected with the exact gap",
    "better": "better member",
}


def report(board: Store, store: Store) -> None:
    """Write the page."""
    parts = {"design": ("design",), "held-out": ("held-out",), "fresh": ("fresh",)}
    halves = {words: summarize(board, store, part, CHOSEN) for words, part in parts.items()}
    heads = " | ".join(
        f"gap, {half} ({one['runs']} runs) | episodes ({one['arrived']} runs)" for half, one in halves.items()
    )
    lines = [f"| | {heads} |", "|---|" + "---|---|" * len(halves)]
    for label, words in WORDS.items():
        cells = (f"{one['gaps'][label]:.2%} | {one['ratios'].get(label, 1.0):.2f}" for one in halves.values())
        lines.append(f"| {words} | {' | '.join(cells)} |")
    counts = ";\n".join(
        f"by {rule}, {half}, all stay in {one[rule][0]}, all go in {one[rule][1]}, they differ in {one[rule][2]}"
        for rule in CHOSEN
        for half, one in halves.items()
    )
    wins = {
        words: [
            rule
            for rule in CHOSEN
            if one["ratios"][rule] <= 1.3 and all(one["gaps"][rule] < one["gaps"][label] for label in MEMBERS)
        ]
        for words, one in halves.items()
    }
    verdict = "; ".join(f"{words}, {' and '.join(some) or 'none'}" for words, some in wins.items())
    overall = summarize(board, store, ("design", "held-out", "fresh"), CHOSEN)
    tried = [
        "| episodes | by moves: gap | episodes over the better member's | by returns: gap | episodes |",
        "|---" * 5 + "|",
    ]
    for trial in TRIALS:
        one = summarize(board, store, ("design",), dict.fromkeys(CHOSEN, trial))
        cells = (f"{one['gaps'][rule]:.2%} | {one['ratios'][rule]:.2f}" for rule in CHOSEN)
        tried.append(f"| {trial:,} | {' | '.join(cells)} |")
    text = TEXT.format(
        first=CHOSEN["moves"],
        moves=MOVES,
        cells=CELLS,
        trial=CHOSEN["returns"],
        trials=", ".join(f"{trial:,}" for trial in TRIALS),
        tried="\n".join(tried),
        table="\n".join(lines),
        episodes=EPISODES,
        seeds=SEEDS,
        marks=", ".join(f"{mark:,}" for mark in MARKS),
        verdict=verdict,
        games=len(EVERY),
        gap=overall["gaps"]["moves"],
        ratio=overall["ratios"]["moves"],
        portfolio=overall["gaps"]["portfolio"],
        counts=counts,
        room=find_room(board),
        why=explain(board, store),
    )
    (DOCS / "research" / "portfolio.md").write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("design", "held-out", "fresh"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    board, store = Store(DOCS / "leaderboard.json"), Store(DOCS / "research" / "deciding.json")
    for name, entry in EVERY.items():
        if options.half not in (None, entry.half):
            continue
        for seed in range(SEEDS if name in FRESH else 0):
            run_members(store, name, seed)
        for rule, seed in itertools.product(CHOSEN, range(SEEDS)):
            for trial in TRIALS if entry.half == "design" else (CHOSEN[rule],):
                key = f"{rule} {trial} | {name} | {seed}"
                if key not in store.rows:
                    store.put(key, measure(entry.make(), rule, trial, seed))
    board.rows |= store.rows
    if options.half is None:
        report(board, store)
    else:
        for trial in TRIALS if options.half == "design" else (CHOSEN["returns"],):
            print(trial, summarize(board, store, (options.half,), dict.fromkeys(CHOSEN, trial)))


if __name__ == "__main__":
    main()
