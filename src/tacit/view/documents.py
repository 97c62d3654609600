"""What a page shows of a directory of runs, as plain data that JSON can hold.

    {"title", "tacit", "unread": runs not read yet, "problems": [sentence, …],
     "games": [{"name", "told", "groups": [{"learner", "settings": [[key, value], …], "seeds", "columns",
                "bands": {column: {"x", "mean", "sd", "low", "high", "n"}},
                "runs": [{"name", "seed", "status", "done", "of", …, "curve": {"x", "y": {column: …}}}]}]}]}

Every text is cut to a length and freed of control characters; the scripts show it as text and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tacit._version import __version__
from tacit.core.display import printable
from tacit.experiments import Group, Outcome
from tacit.experiments.outcome import GapOutcome
from tacit.experiments.results import group_outcomes
from tacit.view import curves
from tacit.view.folder import MOST_RUNS, Folder, StoredRun

#: Characters of a text, entries of a list and problems that are shown.
_LONGEST, _ENTRIES, _PROBLEMS = 300, 40, 50


def overview(folder: Folder) -> dict[str, Any]:
    """Return all that is shown of the runs in a directory, but for what has to be computed from their policies."""
    groups = group_outcomes(cast("list[Outcome]", list(folder.runs.values())))
    groups.sort(key=lambda group: (group.game, group.learner))
    games: dict[str, list[Group]] = {}
    for group in groups:
        games.setdefault(group.game, []).append(group)
    learners = sorted({group.learner for group in groups})
    names = {id(group): curves.columns(_runs(group)) for group in groups}
    lines = sum(len(names[id(group)]) * (1 + len(group.outcomes)) for group in groups)
    if lines > curves.BUDGET // curves.FEWEST:
        names = {key: [name for name in own if name in curves.LEADING] for key, own in names.items()}
        lines = sum(len(names[id(group)]) * (1 + len(group.outcomes)) for group in groups)
    most = int(min(max(curves.BUDGET // max(lines, 1), curves.FEWEST), curves.MOST))
    shown = [
        {
            "name": text(name),
            "told": text(_told(held)),
            "groups": [
                {**_group(group, names[id(group)], most), "colour": learners.index(group.learner)} for group in held
            ],
        }
        for name, held in games.items()
    ]
    problems = [text(sentence) for sentence in folder.problems.values()]
    if len(problems) > _PROBLEMS:
        problems = [*problems[:_PROBLEMS], f"and {len(problems) - _PROBLEMS} more"]
    if len(folder.runs) + len(folder.problems) >= MOST_RUNS:
        problems.append(f"only the first {MOST_RUNS} runs are shown")
    return {
        "title": text(folder.place.resolve().name or str(folder.place)),
        "tacit": __version__,
        "version": folder.version,
        "unread": folder.unread,
        "games": shown,
        "problems": problems,
    }


def _runs(group: Group) -> list[StoredRun]:
    return cast("list[StoredRun]", group.outcomes)


def _told(groups: Sequence[Group]) -> str:
    """Describe a game in words, if a finished run does."""
    outcomes = (run.outcome for group in groups for run in _runs(group))
    told = next((one.game for one in outcomes if one is not None), "")
    return told.partition("(")[2].removesuffix(")").partition(": ")[2] or told


def _group(group: Group, names: Sequence[str], most: int) -> dict[str, Any]:
    runs = _runs(group)
    found = {name: curves.band(runs, name, most) for name in names}
    bands = {name: one for name, one in found.items() if one is not None}
    alone = len(runs) == 1
    return {
        "learner": text(group.learner),
        "settings": _settings(runs[0], len(runs)),
        "seeds": len(runs),
        "agents": runs[0].outcome.agents if runs[0].outcome is not None else None,
        "columns": list(bands),
        "bands": bands,
        "gap": _gap_told(runs),
        "kinds": sorted({text(run.outcome.gap.kind) for run in runs if run.outcome is not None and run.outcome.gap}),
        "target": runs[0].spec.gap,
        "runs": [{**_run(run), "curve": None if alone else curves.seed_curve(run, list(bands), most)} for run in runs],
    }


def _settings(run: StoredRun, seeds: int) -> list[list[str]]:
    spec = run.spec
    rows: list[tuple[str, object]] = [("learner", spec.learner.name)]
    rows += [(f"learner: {key}", value) for key, value in list(spec.learner.params.items())[:_ENTRIES]]
    rows += [("game", spec.game.name)]
    rows += [(f"game: {key}", value) for key, value in list(spec.game.params.items())[:_ENTRIES]]
    rows += [("episodes", "open" if spec.open else f"{spec.episodes:,}")]
    rows += [
        (name, value) for name, value in (("stop at gap", spec.gap), ("stop after seconds", spec.seconds)) if value
    ]
    certify = {None: "where it is cheap", True: "yes", False: "no"}[spec.certify]
    rows += [("seeds", seeds), ("certificate", certify), ("tacit", spec.tacit)]
    rows += [("Python", run.versions.python), ("NumPy", run.versions.numpy), ("Numba", run.versions.numba)]
    return [[text(name), text(_value(value))] for name, value in rows]


def _value(value: object) -> str:
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, default=str)[:_LONGEST]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _run(run: StoredRun) -> dict[str, Any]:
    curve, one = run.curve, run.outcome
    done = 0 if curve is None else int(curve["episode"][-1])
    found: dict[str, Any] = {
        "name": run.name,
        "seed": text(run.spec.seed),
        "status": run.status,
        "done": done,
        "of": None if run.spec.open else run.spec.episodes,
    }
    if one is not None:
        found |= {
            "reward": one.reward[:_ENTRIES],
            "value": None if one.value is None else one.value[:_ENTRIES],
            "gap": _gap(one.gap),
            "chosen": text(one.chosen),
            "candidates": {text(name): _gap(gap) for name, gap in list(one.candidates.items())[:_ENTRIES]},
            "uniform": one.uniform_gap,
            "ended": text(one.ended),
            "seconds": one.seconds,
            "where": text(one.where),
            "notes": [text(note) for note in one.notes[:_ENTRIES]],
            "advice": [text(advice.text) for advice in one.advice[:_ENTRIES]],
        }
    return found


def _gap(gap: GapOutcome | None) -> dict[str, Any] | None:
    if gap is None:
        return None
    kept = {"kind": text(gap.kind), "source": text(gap.source), "informative": gap.informative, "most": gap.most}
    return {**kept, "upper": gap.upper[:_ENTRIES], "largest": max(gap.upper)}


def _gap_told(runs: Sequence[StoredRun]) -> str:
    """Say which gap the curves show, e.g. "cce, upper bound"."""
    gaps = [run.outcome.gap for run in runs if run.outcome is not None and run.outcome.gap is not None]
    sure = {"exact": "exact", "estimate": "estimate"}
    return text(" and ".join(sorted({f"{gap.kind}, {sure.get(gap.source, 'upper bound')}" for gap in gaps})))


def text(value: object) -> str:
    """Return a text as pages show it."""
    return printable(value, _LONGEST)


def title_of(place: Path) -> str:
    """Return what a page of a directory is called."""
    return text(place.resolve().name or str(place))
