"""Episodes until the certified gap is small: adaptive V-learning, the published algorithm and V-learning, on 52 games.

    python benchmarks/efficiency.py                        everything, up to 10^7 episodes a run: days
    python benchmarks/efficiency.py --seconds 5            at most 5 s of CPU time a run: about an hour on one core
    python benchmarks/efficiency.py --only adaptive-v      one learner (or "ablation"), before the others
    python benchmarks/efficiency.py --report               only write table and figure from what has been measured

Finished runs are kept in docs/efficiency.json and never run again, so the command can be killed and repeated; the table
goes to docs/efficiency.md and the figure to docs/figures/efficiency.png. A run is measured on a grid of episodes, each
10 % more than the one before, and ends when the gap is below 3 % of that of uniform play, or at its limit: then nothing
is known beyond it, and all that is said is "more than".
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import tacit
from games import GAMES, Store
from tacit.engine.fused import FusedEngine
from tacit.evaluation.certificate import bound, certificate, recent
from tacit.figures import COLORS, styled
from tacit.learners import REGISTRY

SHARES = (0.1, 0.03)
DOCS = Path(__file__).parent.parent / "docs"


class Case(NamedTuple):
    learner: str
    params: dict[str, Any]
    output: str  # the candidate that decides when a run may end


ADAPTIVE = "adaptive-v"
CASES = {
    ADAPTIVE: Case("adaptive-v-cce", {}, "recent"),
    "published, theory": Case("stage-v-cce", {}, "average"),
    "published, recipe": Case("stage-v-cce", {"step": 0.2, "loss": "raw", "bonus": 0.1}, "average"),
    "v-learning, best": Case(
        "v-learning", {"bandit": "tsallis-inf", "step": 2.0, "loss": "raw", "bonus": 0.1}, "average"
    ),
}
#: What adaptive-v's best candidate is compared with: the name of the column, the learner, which of its candidates is
#: its answer, and the least ratio that is the goal.
RIVALS = {
    "theory, average": ("published, theory", "average", 100),
    "theory, best": ("published, theory", "best", 1),
    "recipe, best": ("published, recipe", "best", 1),
    "v-learning, best": ("v-learning, best", "best", 1),
}

PLAIN = {"step": 2.0, "baseline": False, "implicit": 0.0, "memory": 1.0, "optimism": 0.0}
INGREDIENTS = {
    "self-tuned step": "step",
    "baseline": "baseline",
    "implicit exploration": "implicit",
    "memory": "memory",
    "optimistic start": "optimism",
}
ABLATION = {
    **{f"without {name}": Case("adaptive-v-cce", {key: PLAIN[key]}, "recent") for name, key in INGREDIENTS.items()},
    "never forgetting": Case("adaptive-v-cce", {"memory": 0.0}, "recent"),
    "none of the five": Case("adaptive-v-cce", PLAIN, "recent"),
    **{
        f"{name} alone": Case("adaptive-v-cce", {k: v for k, v in PLAIN.items() if k != key}, "recent")
        for name, key in INGREDIENTS.items()
    },
}


class Measured(NamedTuple):
    """When a run first was below each share, for every candidate: None where it was not within `episodes`.

    A run with `gap=` would end there, and keep that policy with its certificate, whatever later iterates do.
    """

    episodes: int
    average: tuple[int | None, ...]
    latest: tuple[int | None, ...]
    last: tuple[int | None, ...]

    @property
    def best(self) -> tuple[int | None, ...]:
        """When the best of the three first was: the answer of a run, `run.policy`."""
        each = zip(self.average, self.latest, self.last, strict=True)
        return tuple(min((hit for hit in hits if hit is not None), default=None) for hits in each)


def measure(game: tacit.TabularGame, case: Case, *, seed: int, episodes: int, seconds: float | None) -> Measured:
    """Run one learner on one game until its answer is below the smallest share, or to the limit.

    With seed 0 the adaptive learner runs on until the average over all episodes is there too.
    """
    last = ("recent", "average") if case == CASES[ADAPTIVE] and seed == 0 else (case.output,)
    spec = REGISTRY.make(case.learner, **case.params)
    even = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    cert = certificate(game, spec.info.learns)
    # ι for the largest number of episodes there can be, as a user who does not know when to stop would have it
    session = FusedEngine(game, spec, episodes=episodes, seed=seed, certificate=cert)
    hits: dict[str, list[int | None]] = {name: [None] * len(SHARES) for name in ("average", "recent", "last")}
    done, began = 0, time.process_time()
    for mark in _grid(episodes):
        while done < mark:
            chunk = min(mark - done, 20 * session.chunk)
            session.advance(chunk)
            done += chunk
            if seconds is not None and time.process_time() - began > seconds:
                break
        gaps = {
            "average": float(bound(game, cert).gaps.max()),
            "recent": float(recent(game, cert).gaps.max()),
            "last": tacit.evaluate(game, session.policy(session.distributions())).gap,
        }
        for name, gap in gaps.items():
            for j, share in enumerate(SHARES):
                if hits[name][j] is None and gap < share * even:
                    hits[name][j] = done
        out_of_time = seconds is not None and time.process_time() - began > seconds
        if out_of_time or all(hits[output][-1] is not None for output in last):
            break
    return Measured(done, *(tuple(hits[name]) for name in ("average", "recent", "last")))


def _grid(episodes: int) -> Iterator[int]:
    mark = 20
    while mark < episodes:
        yield mark
        mark = mark + max(mark // 10, 1)
    yield episodes


class Runs(Store):
    """What has been measured of all runs."""

    def get(self, label: str, game: str, seed: int) -> Measured | None:
        found = self.rows.get(f"{label} | {game} | {seed}")
        return None if found is None else Measured(found[0], *map(tuple, found[1:]))

    def seeds(self, label: str, game: str) -> list[Measured]:
        found = [self.get(label, game, seed) for seed in range(100)]
        return [one for one in found if one is not None]


class Arrival(NamedTuple):
    """Geometric mean over seeds of the episodes needed; a lower bound where a seed had not arrived at its limit."""

    episodes: float
    censored: bool

    def __str__(self) -> str:
        return f"{'> ' if self.censored else ''}{_short(self.episodes)}"


def arrival(runs: Iterable[Measured], output: str, share: int) -> Arrival | None:
    runs = list(runs)
    if not runs:
        return None
    hits = [getattr(run, output)[share] for run in runs]
    known = [run.episodes if hit is None else hit for hit, run in zip(hits, runs, strict=True)]
    return Arrival(math.exp(np.mean(np.log(known))), None in hits)


def _short(number: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


class Ratio(NamedTuple):
    """Episodes of the other over ours; `bound` is ">" where the other had not arrived, "<" where ours had not."""

    value: float
    bound: str

    def __str__(self) -> str:
        return f"{self.bound + ' ' if self.bound else ''}{self.value:.2g}" if self.value < 100 else self._large()

    def _large(self) -> str:
        return f"{self.bound + ' ' if self.bound else ''}{self.value:,.0f}"


def ratio(other: Arrival | None, ours: Arrival | None) -> Ratio | None:
    """None where nothing is known: not measured, or neither has arrived."""
    if other is None or ours is None or (other.censored and ours.censored):
        return None
    sign = ">" if other.censored else "<" if ours.censored else ""
    return Ratio(other.episodes / ours.episodes, sign)


class Row(NamedTuple):
    name: str
    arrivals: dict[tuple[str, str, int], Arrival | None]  # by case, output and share
    ratios: dict[str, tuple[Ratio | None, ...]]  # by rival, for each share


def rows(store: Runs) -> list[Row]:
    found = []
    for name in GAMES:
        arrivals = {
            (label, output, j): arrival(store.seeds(label, name)[: _used(label, output)], output, j)
            for label in CASES
            for output in ("average", "recent", "last", "best")
            for j in range(len(SHARES))
        }

        ratios = {
            rival: tuple(ratio(arrivals[label, output, j], arrivals[ADAPTIVE, "best", j]) for j in range(len(SHARES)))
            for rival, (label, output, _) in RIVALS.items()
        }
        found.append(Row(name, arrivals, ratios))
    return found


def _used(label: str, output: str) -> int:
    """How many seeds count: of adaptive-v's average only the first was followed to the end."""
    return 1 if (label, output) == (ADAPTIVE, "average") else 100


def geometric(ratios: list[Ratio | None]) -> str:
    """The geometric mean, bounds taken at their values: a lower bound, unless ours had not arrived somewhere."""
    known = [one for one in ratios if one is not None]
    if not known:
        return "–"
    mean = math.exp(np.mean([math.log(one.value) for one in known]))
    late = sum(one.bound == "<" for one in known)
    sign = "> " if any(one.bound == ">" for one in known) and not late else ""
    told = f"{sign}{mean:.2g}" if mean < 100 else f"{sign}{mean:,.0f}"
    return told + (f" ({late} not arrived)" if late else "")


def summary(found: list[Row]) -> Iterator[str]:
    yield "| games | | " + " | ".join(f"against {rival} | least" for rival in RIVALS) + " |"
    yield "|---|---|" + "---|" * (2 * len(RIVALS))
    groups = {
        "all": set(GAMES),
        **{half: {n for n, e in GAMES.items() if e.half == half} for half in ("design", "held-out")},
    }
    groups |= {
        kind: {n for n, e in GAMES.items() if e.kind == kind} for kind in dict.fromkeys(e.kind for e in GAMES.values())
    }
    for label, names in groups.items():
        inside = [row for row in found if row.name in names]
        for j, share in enumerate(SHARES):
            cells = [f"{label} ({len(names)})" if j == 0 else "", f"{share:.0%}"]
            for ratios in ([row.ratios[rival][j] for row in inside] for rival in RIVALS):
                known = [one for one in ratios if one is not None]
                cells += [geometric(ratios), str(min(known)) if known else "–"]
            yield "| " + " | ".join(cells) + " |"


def by_game(found: list[Row]) -> Iterator[str]:
    others = [(label, output) for label, output, _ in RIVALS.values()]
    heads = ["adaptive-v", "its latest", "its average", *RIVALS]
    yield "| game | half | " + " | ".join([*heads, *(f"ratio, {rival}" for rival in RIVALS)]) + " |"
    yield "|---" * (len(heads) + 2 + len(RIVALS)) + "|"
    for row in found:
        cells = [row.name, GAMES[row.name].half]
        columns = [
            (ADAPTIVE, "best"),
            (ADAPTIVE, "recent"),
            (ADAPTIVE, "average"),
            *others,
        ]
        for label, output in columns:
            both = [row.arrivals[label, output, j] for j in range(len(SHARES))]
            cells.append(" / ".join("–" if one is None else str(one) for one in both))
        for ratios in row.ratios.values():
            cells.append(" / ".join("–" if one is None else str(one) for one in ratios))
        yield "| " + " | ".join(cells) + " |"


def ablation(store: Runs) -> Iterator[str]:
    """How many times as many episodes each variant needs as the whole, on the design half."""
    yield "| variant | 10 % | arrived | 3 % | arrived |"
    yield "|---|---|---|---|---|"
    names = [name for name, entry in GAMES.items() if entry.half == "design"]
    variants = [(label, label, "best") for label in ABLATION]
    variants += [(f"{output} as the answer", ADAPTIVE, output) for output in ("average", "recent", "last")]
    for told, label, output in variants:
        cells = [told]
        for j in range(len(SHARES)):
            ratios, arrived, measured = [], 0, 0
            for name in names:
                runs = store.seeds(label, name)
                theirs, ours = arrival(runs[:1], output, j), arrival(store.seeds(ADAPTIVE, name), "best", j)
                if theirs is not None:
                    measured += 1
                    arrived += not theirs.censored
                ratios.append(ratio(theirs, ours))
            cells += [geometric(ratios), f"{arrived} of {measured}"]
        yield "| " + " | ".join(cells) + " |"


def plot(store: Runs, path: Path) -> None:
    """Share of games whose certified gap is small after so many episodes."""
    lines = [
        (ADAPTIVE, "best", "blue", "adaptive-v"),
        (ADAPTIVE, "average", "sky", "adaptive-v, average as the answer"),
        ("v-learning, best", "best", "green", "v-learning, best known setting"),
        ("published, recipe", "best", "orange", "published, with the recipe"),
        ("published, theory", "best", "red", "published, theory's constants"),
    ]
    with styled():
        figure = Figure(figsize=(9, 3.8))
        axes = figure.subplots(1, 2, sharey=True)
        for j, (ax, share) in enumerate(zip(axes, SHARES, strict=True)):
            for label, output, color, told in lines:
                first_seed = [store.get(label, name, 0) for name in GAMES]
                times = sorted(
                    hit for run in first_seed if run is not None and (hit := getattr(run, output)[j]) is not None
                )
                x = [10, *times, 1e7]
                y = [0, *(np.arange(len(times)) + 1) / len(GAMES), len(times) / len(GAMES)]
                ax.step(x, y, where="post", color=COLORS.get(color, color), label=told)
            ax.set(
                xscale="log",
                xlim=(10, 1e7),
                ylim=(0, 1),
                xlabel="episodes",
                title=f"gap below {share:.0%} of uniform play's",
            )
        axes[0].set_ylabel(f"share of the {len(GAMES)} games")
        axes[0].legend(fontsize=7, loc="upper left")
        figure.savefig(path)


TEXT = """# Episodes to a small certified gap

How many episodes does a learner need until nobody can gain much by deviating from its answer, proven by
its certificate? This page counts them for the library's default learner, the published algorithm and V-learning, on
{games} games of {kinds} kinds. In most games the default needs fewer, often by a factor of ten to some thousands; where
it does not is said below the first table.

In the names of games S is the number of states, A that of each agent's actions, H that of steps and N that of agents (2
if it is not named): "general S2 A2 H5" is a general-sum game with 2 states, 2 actions an agent and 5 steps.

Counted is until the *certified* cce gap of the answer is first below 10 % and below 3 % of the gap of uniform play
(`benchmarks/games.py` has the games): there a run with `gap=` ends, and keeps that policy. A last iterate may be above
again later. Half of the games ("held-out") were not used while the learner was designed. One exception: how hardly
visited states are valued was changed after a run over all games had stalled on gridworlds of both halves; the new rule
was chosen on the design half, of four, and about 25 settings of the other parameters were tried there and left as they
were.

`adaptive-v` is `adaptive-v-cce` with nothing set; its answer is the best of its candidates, the one with the smallest
gap. The published algorithm is `stage-v-cce` with the theory's constants ("theory"), and with a recipe (`step=0.2,
loss="raw", bonus=0.1`); `v-learning` has its best known setting (`bandit="tsallis-inf", step=2, loss="raw",
bonus=0.1`). Columns named "best" give them the best of their candidates too: the same answer for all. "Theory, average"
is the algorithm as published, whose answer is the average over all episodes [Mao2022, Alg. 2]. The game by game table
has adaptive-v's average too. Of the two settings of the published algorithm neither is the better one everywhere: on
some games the recipe arrives first, on some the theory's constants, and on many neither arrives.

{limits}
A number after ">" is where a run ended at its limit without arriving: nothing is extrapolated, and the ratio
is a lower bound ("> 300" means: at least 300 times as many episodes). "<" marks a game on which adaptive-v had not
arrived in some seed and the other had. Where neither had arrived there is no ratio ("–"), and the game is not in the
mean.

![performance profile](figures/efficiency.png)

The figure has seed 0 of each game; where a curve ends below 1, the learner had not arrived on the other games at its
limit.

## Ratios: episodes of the other over episodes of adaptive-v

{summary}

{shortfall}

## Game by game

Geometric mean over the seeds, for 10 % / 3 % (of adaptive-v's average: seed 0).

{by_game}

## Ablation

On the design half, one seed: how many times as many episodes each variant needs as the whole (bounds as above), and on
how many games it arrived at all. "memory" left out means that the bandits forget as fast as the values do; "none of the
five" has a fixed step, losses measured from 0, no implicit exploration, that memory and no optimistic start.

{ablation}

This page is written by `python benchmarks/efficiency.py` (see there for the options); do not edit it by hand.
"""


def shortfall(found: list[Row]) -> str:
    """Say where the goals are missed, or not shown, in words."""
    told = []
    for j, share in enumerate(SHARES):
        late = [row.name for row in found if (own := row.arrivals[ADAPTIVE, "best", j]) is not None and own.censored]
        if late:
            told.append(f"- Below {share:.0%}, adaptive-v had not arrived in every seed on: {', '.join(late)}.")
        for label, (_, _, least) in RIVALS.items():
            ratios = {row.name: row.ratios[label][j] for row in found}
            below = [n for n, one in ratios.items() if one is not None and one.value < least and one.bound != ">"]
            open_ = [n for n, one in ratios.items() if one is not None and one.value < least and one.bound == ">"]
            if below:
                told.append(f"- Below {share:.0%}, the ratio to {label} is less than {least} on: {', '.join(below)}.")
            if open_:
                short = f"the runs of {label} were too short to show a ratio of {least} on"
                told.append(f"- Below {share:.0%}, {short}: {', '.join(open_)}.")
    return "Where it falls short:\n\n" + "\n".join(told) if told else "No game falls short of 100 and 1."


def report(store: Runs, limits: str) -> None:
    found = rows(store)
    plot(store, DOCS / "figures" / "efficiency.png")
    text = TEXT.format(
        games=len(GAMES),
        kinds=len({entry.kind for entry in GAMES.values()}),
        limits=limits,
        summary="\n".join(summary(found)),
        shortfall=shortfall(found),
        by_game="\n".join(by_game(found)),
        ablation="\n".join(ablation(store)),
    )
    (DOCS / "efficiency.md").write_text(text, encoding="utf-8")


def plan(seeds: int, other_seeds: int) -> Iterator[tuple[str, Case, str, int]]:
    """All runs, the most telling ones first."""
    for seed in range(max(seeds, other_seeds)):
        for label, case in CASES.items():
            if seed < (seeds if label == ADAPTIVE else other_seeds):
                yield from ((label, case, name, seed) for name in GAMES)
    for label, case in ABLATION.items():
        yield from ((label, case, name, 0) for name, entry in GAMES.items() if entry.half == "design")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=10_000_000, help="the most episodes of a run (10^7)")
    parser.add_argument("--seconds", type=float, help="the most CPU time of a run (no limit)")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of adaptive-v (5)")
    parser.add_argument("--other-seeds", type=int, default=5, help="seeds of the others (5)")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"{', '.join(CASES)} or ablation; repeatable")
    parser.add_argument("--report", action="store_true", help="run nothing, write table and figure")
    args = parser.parse_args()
    store = Runs(DOCS / "efficiency.json")
    if not args.report:
        for label, case, name, seed in plan(args.seeds, args.other_seeds):
            wanted = not args.only or (label if label in CASES else "ablation") in args.only
            if wanted and store.get(label, name, seed) is None:
                game = GAMES[name].make()
                measured = measure(game, case, seed=seed, episodes=args.episodes, seconds=args.seconds)
                store.put(f"{label} | {name} | {seed}", list(measured))
                print(f"{label:28} {name:34} seed {seed}: {measured}", flush=True)
    report(store, "\n".join(limits(store)))


def limits(store: Runs) -> Iterator[str]:
    """Say how many seeds and games there are of each learner, and where runs that had not arrived ended."""
    yield "A run ends when adaptive-v's latest, or another's average, is below 3 %, or at its limit of CPU time or of"
    yield "10^7 episodes:\n"
    for label in CASES:
        held = {name: store.seeds(label, name) for name in GAMES}
        runs = [run for each in held.values() for run in each]
        if not runs:
            continue
        late = [run.episodes for run in runs if getattr(run, CASES[label].output)[-1] is None]
        told = f"- {label}: {sum(map(bool, held.values()))} games, {_seeds(max(map(len, held.values())))}"
        ends = f", which ended after {_short(min(late))} to {_short(max(late))} episodes" if late else ""
        yield f"{told}; {len(late)} of {len(runs)} runs had not arrived at 3 %{ends}."
    yield ""


def _seeds(number: int) -> str:
    return "1 seed" if number == 1 else f"{number} seeds"


if __name__ == "__main__":
    main()
