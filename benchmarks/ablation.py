"""What each element of the model-based learners is for: episodes and welfare without it.

    python benchmarks/ablation.py                                  every element, on the design half of the games
    python benchmarks/ablation.py --only model-central             one learner
    python benchmarks/ablation.py --half held-out --elements "as it is"
    python benchmarks/ablation.py --report                         write docs/research/ablation.md from what is measured

An element is removed by replacing lines of the learner's source in a copy of the package. Finished runs are kept in
docs/research/ablation.json and never run again, so the command can be killed and repeated; `--round` names the state of
the code. GoodState and BoxPushing with 3, 5 and 10 steps are measured besides, on seeds of their own.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
STORE = ROOT / "docs" / "research" / "ablation.json"
EPISODES = 20_000
SEEDS = {"design": range(3), "held-out": range(3), "guard": range(100, 112)}
BASE = "as it is"

#: Of each learner, by element: the lines that are replaced to remove it, as (file, old, new).
ELEMENTS: dict[str, dict[str, list[tuple[str, str, str]]]] = {
    "model-independent": {
        BASE: [],
        "importance weights": [("model.py", "min(IMPORTANT, 1.0 / (n", "min(1.0, 1e9 / (n")],
        "residuals": [("model.py", "\nDOUBT = 10.0", "\nDOUBT = 1e12")],
        "leniency": [("model.py", "\nLENIENT = 20.0", "\nLENIENT = 0.0")],
        "optimism": [("model.py", "optimism = me.met *", "optimism = 1e-9 *")],
        "smoothing": [("model.py", "\nWARM = 2.7", "\nWARM = 0.0")],
        "greedy at first": [("model.py", "WARM * (1.0 - math.sqrt(faded(k))) * noise", "WARM * noise")],
        "average": [("model.py", 'Info("nash", "average", reward', 'Info("nash", "last", reward')],
        "weights by age": [
            ("model.py", "    weight = k * k\n", "    weight = 1.0\n"),
            ("model.py", "weight = float(me.episodes) * me.episodes", "weight = 1.0"),
        ],
        "plans along the path": [("model.py", "            plan_path(learner, i)\n", "            pass\n")],
        "exploration by states": [("model.py", "\nPATIENCE = 4.0", "\nPATIENCE = 0.0")],
    },
    "model-central": {
        BASE: [],
        "seeking": [("model_central.py", "clock.seeks = 1 if clock.news", "clock.seeks = 1 if -clock.news")],
        "uniform exploration": [
            ("model_central.py", "clock.exploration = min(0.3, ", "clock.exploration = min(0.0, "),
            ("model_central.py", 'clock["exploration"] = 0.3', 'clock["exploration"] = 0.0'),
        ],
        "counts shared by steps": [
            ("model_central.py", "clock.differ = 1 if clock.apart > LIMIT else 0", "clock.differ = 1")
        ],
        "counts of each step": [
            ("model_central.py", "    if len(learner.model) > 1:\n", "    if learner.joint < 0:\n")
        ],
        "prediction": [
            ("joint_model.py", "total += max(0.0, regret[a] + q[a] - value)", "total += regret[a]"),
            ("joint_model.py", "prob[a] = max(0.0, regret[a] + q[a] - value) / total", "prob[a] = regret[a] / total"),
        ],
    },
}


def guards() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return GoodState and BoxPushing with 3, 5 and 10 steps."""
    return {f"{name} H{H}": (name, {"horizon": H}) for name in ("good-state", "box-pushing") for H in (3, 5, 10)}


def measure(learner: str, half: str, missing: list[tuple[str, int]]) -> None:
    """Run a learner, and print a line of JSON for each run: game, seed, episodes to 3 %, gap, welfare, seconds."""
    import warnings

    import games
    import tacit

    warnings.simplefilter("ignore")
    scale = json.loads((ROOT / "docs" / "leaderboard.json").read_text(encoding="utf-8"))
    for name, seed in missing:
        if half == "guard":
            kind, params = guards()[name]
            game = tacit.make(kind, **params)
            run = tacit.learn(game, learner, episodes=EPISODES, seed=seed)
            best = float(np.sum(tacit.solve(game, "optimum").values))
            row = [None, round(run.gap, 6), round(float(np.sum(run.values)) / best, 6), 0.0]
        else:
            game, began = games.GAMES[name].make(), time.process_time()
            run = tacit.learn(game, learner, episodes=EPISODES, seed=seed, seconds=86_400)  # rows grow by a tenth
            even, best = scale[f"welfare | {name}"]
            uniform = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
            gaps = np.append(run.curve["gap"][:-1], run.gap) / uniform  # the policy has candidates that no row has
            first = next((int(k) for k, gap in zip(run.curve["episode"], gaps, strict=True) if gap <= 0.03), None)
            open_ended = best - even > 1e-6 * max(1.0, abs(best))
            share = round((float(np.sum(run.values)) - even) / (best - even), 6) if open_ended else None
            row = [first, round(float(gaps[-1]), 6), share, round(time.process_time() - began, 2)]
        print(json.dumps([name, seed, row]), flush=True)


def names_of(half: str) -> list[str]:
    """Return the games of a half."""
    if half == "guard":
        return list(guards())
    import games

    names = [name for name, entry in games.GAMES.items() if entry.half == half]
    return names[1::2] if half == "design" else names  # every second one is enough to choose by


def run_all(args: argparse.Namespace) -> None:
    """Run what has not been measured yet, each element in a process of its own."""
    rows = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for learner, elements in ELEMENTS.items():
        for element, edits in elements.items():
            if (args.only and learner != args.only) or (args.elements and element not in args.elements):
                continue
            for half in args.half:
                prefix = f"{args.round} | {learner} | {element}"
                missing = [
                    (name, seed)
                    for seed in SEEDS[half]
                    for name in names_of(half)
                    if f"{prefix} | {name} | {seed}" not in rows
                ]
                if not missing:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    edit_copy(Path(folder), edits)
                    path = f"{folder}:{Path(__file__).parent}"
                    command = [sys.executable, __file__, "--child", json.dumps([learner, half, missing])]
                    with subprocess.Popen(
                        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
                    ) as child:
                        assert child.stdout is not None
                        for line in child.stdout:
                            name, seed, row = json.loads(line)
                            rows[f"{prefix} | {name} | {seed}"] = row
                    if child.returncode:
                        print(f"failed: {prefix}", flush=True)
                save(rows)
                print(f"{prefix} | {half}: done", flush=True)


def edit_copy(folder: Path, edits: list[tuple[str, str, str]]) -> None:
    """Copy the package into a folder, and replace lines of it."""
    shutil.copytree(ROOT / "src" / "tacit", folder / "tacit", ignore=shutil.ignore_patterns("__pycache__"))
    for name, old, new in edits:
        path = folder / "tacit" / "learners" / name
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"{name} must have once: {old!r}")
        path.write_text(text.replace(old, new), encoding="utf-8")


def save(rows: dict[str, Any]) -> None:
    """Write all that was measured."""
    STORE.parent.mkdir(exist_ok=True)
    fresh = STORE.with_suffix(".tmp")
    lines = (f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(rows[key])}" for key in sorted(rows))
    fresh.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    os.replace(fresh, STORE)


def compare(rows: dict[str, Any], base: str, other: str, half: str) -> str | None:
    """Return the row of a table: what `other` costs beside `base`."""
    logs, more, gaps = [], [], []
    for name in names_of(half):
        pairs = [(rows.get(f"{base} | {name} | {s}"), rows.get(f"{other} | {name} | {s}")) for s in SEEDS[half]]
        pairs = [(a, b) for a, b in pairs if a and b]
        if not pairs:
            continue
        if any(a[0] or b[0] for a, b in pairs):
            logs.append(np.mean([math.log((b[0] or EPISODES) / (a[0] or EPISODES)) for a, b in pairs]))
        gaps.append(np.mean([math.log(max(b[1], 1e-3) / max(a[1], 1e-3)) for a, b in pairs]))
        more += [b[2] - a[2] for a, b in pairs if a[2] is not None]
    if not gaps:
        return None
    error = np.std(logs) / math.sqrt(len(logs)) if logs else 0.0
    return (
        f"{math.exp(np.mean(logs)) if logs else 1:.2f} (±{error:.2f}, {len(logs)} games) | "
        f"{math.exp(np.mean(gaps)):.2f} | {100 * np.mean(more):+.1f}"
    )


def reached(rows: dict[str, Any], prefix: str) -> str:
    """Return the share of the optimum on GoodState and BoxPushing: the mean over seeds in the worst of six games."""
    means = {}
    for name in guards():
        found = [rows[key][2] for s in SEEDS["guard"] if (key := f"{prefix} | {name} | {s}") in rows]
        if found:
            means[name] = float(np.mean(found))
    if not means:
        return "–"
    worst = min(means, key=lambda name: means[name])
    return f"{100 * means[worst]:.1f} % ({worst})"


#: Elements that round 1 had and the learners no longer have.
REMOVED = {
    "estimated shrinkage of residuals",
    "bounds of optimism",
    "cut of rare actions",
    "bound on planning time",
    "more seeking at first",
    "optimism | model-central",
}


def table(rows: dict[str, Any], half: str) -> Iterator[str]:
    """Yield what every element's removal costs, beside the whole learner of its round; that beside round 1's."""
    yield "| round | learner | without | episodes to 3 % | final gap | welfare | worst of six | |"
    yield "|---|---|---|---|---|---|---|---|"
    for number, learner, element in dict.fromkeys(tuple(key.split(" | ")[:3]) for key in rows):
        base, other = f"{'1' if element == BASE else number} | {learner} | {BASE}", f"{number} | {learner} | {element}"
        cells = compare(rows, base, other, half)
        if cells is not None and other != base:
            gone = {element, f"{element} | {learner}"} & REMOVED
            name = "nothing: the reduced learner beside round 1's" if element == BASE else element
            yield f"| {number} | {learner} | {name} | {cells} | {reached(rows, other)} | {'removed' if gone else ''} |"


TEXT = """# What each element of the model-based learners is for

`model-independent` and `model-central` had 19 and 20 tuned constants. Each element was removed by itself (round 1), the
cheapest were left out for good, and what is left was measured again (round 2). An element's row says what the learner
does without it, beside the whole learner of that round:

- **episodes to 3 %** of the uniform policy's gap: ratio, geometric mean over the games in which either arrived within
  {episodes:,} episodes (runs that did not count as that), with its standard error;
- **final gap**: ratio after {episodes:,} episodes (gaps below 0.1 % count as that);
- **welfare**: difference in points of normalized welfare (0 = uniform policy, 100 = optimum);
- **worst of six**: GoodState and BoxPushing with 3, 5 and 10 steps, the mean share of the optimum in the worst of them.

Every second game of the design half of `benchmarks/games.py` (13 games), three seeds each, and twelve other seeds of
GoodState and BoxPushing. Round 1 is the code before the reduction. Ratios below 1 mean that the learner is faster
without the element.

{design}

Some cheap elements stay, because games outside of this half need them:

- importance weights and optimism of `model-independent`: without them BoxPushing with three steps ends in a poor
  equilibrium (8 and 0 of 12 seeds at the optimum);
- seeking of `model-central`: without it a lock that opens after six right joint actions is not found;
- exploration by states: without it welfare falls by half a point or more in both rounds;
- smoothing: its removal cost 1.7 points of welfare in round 1; in round 2 it is the next candidate for removal;
- both tests of steps of `model-central`: rewards may differ where next states do not, and the other way round.

## The held-out half

26 games, three seeds each, run once with the reduced learners.

{held_out}

This page is written by `python benchmarks/ablation.py --report`.
"""


def report(rows: dict[str, Any]) -> None:
    """Write the page."""
    tables = {"design": "\n".join(table(rows, "design")), "held_out": "\n".join(table(rows, "held-out"))}
    STORE.with_suffix(".md").write_text(TEXT.format(episodes=EPISODES, **tables), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--round", default="1")
    parser.add_argument("--only", choices=list(ELEMENTS))
    parser.add_argument("--elements", nargs="*")
    parser.add_argument("--half", nargs="*", default=["design", "guard"], choices=list(SEEDS))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        learner, half, missing = json.loads(args.child)
        measure(learner, half, missing)
        return
    if not args.report:
        run_all(args)
    report(json.loads(STORE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
