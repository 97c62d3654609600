"""The report of a directory of runs, written once or while runs go on.

What the page shows is plain data that JSON can hold:

    {"title", "tacit", "problems": [sentence, …],
     "games": [{"name", "description", "unit", "groups": [{"learner", "settings": [[key, value], …], "seeds", "columns",
                "bands": {column: {"x", "mean", "sd", "low", "high", "n"}},
                "runs": [{"name", "seed", "status", "done", "of", …, "curve": {"x", "y": {column: …}}}]}]}]}

Every text is cut to a length and freed of control characters; the scripts show it as text and nothing else.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tacit._version import __version__
from tacit.core import files
from tacit.core.errors import TacitError, sentence
from tacit.experiments import Group, Outcome, RunSpec, store
from tacit.experiments.results import GapOutcome, gap_words, group_outcomes
from tacit.figures.curves import align
from tacit.report.page import check_name, render, text
from tacit.report.policy import SECONDS, details, rows_to_show

#: Entries of a list and problems that are shown.
_ENTRIES, _PROBLEMS = 40, 50

#: Numbers in all curves of a page, and points of a line at least and at most.
BUDGET, FEWEST, MOST = 400_000, 60, 4000

#: What is shown of a curve, in this order: measures of all agents, of one, or of a candidate; and how many columns.
_MEASURES = ("reward", "value", "gap", "l2_gap", "average_value", "average_gap", "average_l2_gap")
_SHOWN = re.compile(rf"({'|'.join(_MEASURES)})(_\d+|_average|_recent|_last)?")
COLUMNS = 220


#: The most runs that are shown.
MOST_RUNS = 2000

#: Seconds since the last row within which a run without a summary counts as going on.
FRESH = 60.0


@dataclass
class StoredRun:
    """A run's directory as it was read.

    Attributes
    ----------
    name : str
        Its path within the directory that is shown.
    curve : structured array or None
        The rows so far.
    updated : float
        When its files changed last, in seconds since the epoch.
    outcome : Outcome or None
        Of a finished run.
    """

    name: str
    directory: Path
    spec: RunSpec
    versions: dict[str, str]
    curve: npt.NDArray[Any] | None
    updated: float
    outcome: Outcome | None = None

    @property
    def status(self) -> str:
        """One of finished, running and unfinished."""
        if self.outcome is not None:
            return "finished"
        return "running" if time.time() - self.updated < FRESH else "unfinished"


#: When the files of a run changed last, and their sizes.
Stamps = tuple[tuple[int, int], ...]


class Folder:
    """The runs in a directory and in those below it, finished or going on.

    Parameters
    ----------
    directory : Path
        A directory of runs, of directories of runs, or a run.

    Attributes
    ----------
    runs : dict of StoredRun, by name
    problems : dict of str, by name
        What could not be read, in a sentence each.
    """

    def __init__(self, directory: Path) -> None:
        store.check_directory(directory)
        self.directory = directory
        self.runs: dict[str, StoredRun] = {}
        self.problems: dict[str, str] = {}
        self._entries: dict[tuple[str, Stamps], StoredRun | str] = {}
        self._statuses: list[Any] = []

    def look(self) -> bool:
        """Read the runs that have changed; return whether any has."""
        before, self._entries = self._entries, {}
        for directory in self._directories():
            key = directory.relative_to(self.directory).as_posix(), _stamps(directory)
            self._entries[key] = before.get(key) or _read(key[0], directory)
        self.runs = {name: run for (name, _), run in self._entries.items() if isinstance(run, StoredRun)}
        self.problems = {name: text for (name, _), text in self._entries.items() if isinstance(text, str)}
        statuses, self._statuses = self._statuses, [*self._entries, [run.status for run in self.runs.values()]]
        return statuses != self._statuses

    def _directories(self) -> list[Path]:
        """Return the directories of runs, in the order of their names."""
        specs = [path for pattern in ("", "*/", "*/*/") for path in self.directory.glob(f"{pattern}{store.SPEC}")]
        return sorted(path.parent for path in specs)[:MOST_RUNS]


def _read(name: str, directory: Path) -> StoredRun | str:
    """Return a run, or why it cannot be read."""
    try:
        stored = store.load_spec(directory)
        updated = max(stamp for stamp, _ in _stamps(directory)) / 1e9
        outcome = store.load(directory) if store.is_finished(directory) else None
        curve = _growing_curve(directory / store.CURVE) if outcome is None else outcome.curve
        return StoredRun(name, directory, stored.run, stored.versions, curve, updated, outcome)
    except (TacitError, OSError, RecursionError, MemoryError) as error:
        return sentence(error)


def _growing_curve(path: Path) -> npt.NDArray[Any] | None:
    """Return the whole lines of a curve; None where there is none yet."""
    content = files.read(path) if path.exists() else b""
    content = content[: content.rfind(b"\n") + 1]
    return store.read_curve(content) if content else None


def _stamps(directory: Path) -> Stamps:
    """Return when the files of a run changed last, and their sizes."""
    stats = [
        (directory / name).stat() for name in (store.SPEC, store.CURVE, store.SUMMARY) if (directory / name).exists()
    ]
    return tuple((stat.st_mtime_ns, stat.st_size) for stat in stats)


def overview(folder: Folder) -> dict[str, Any]:
    """Return all that is shown of the runs in a directory but their policies."""
    groups = group_outcomes(cast("list[Outcome]", list(folder.runs.values())))
    groups.sort(key=lambda group: (group.game, group.learner))
    games: dict[str, list[Group]] = {}
    for group in groups:
        games.setdefault(group.game, []).append(group)
    learners = sorted({group.learner for group in groups})
    names = {id(group): columns(_runs(group)) for group in groups}
    lines = sum(len(names[id(group)]) * (1 + len(group.outcomes)) for group in groups)
    most = min(max(BUDGET // max(lines, 1), FEWEST), MOST)
    problems = [text(problem) for problem in folder.problems.values()]
    if len(problems) > _PROBLEMS:
        problems = [*problems[:_PROBLEMS], f"and {len(problems) - _PROBLEMS} more"]
    if len(folder.runs) + len(folder.problems) >= MOST_RUNS:
        problems.append(f"only the first {MOST_RUNS} runs are shown")
    return {
        "title": text(folder.directory.resolve().name or str(folder.directory)),
        "tacit": __version__,
        "games": [
            {
                "name": text(name),
                "description": text(_description(members)),
                "unit": "period" if all(group.outcomes[0].spec.options.periods for group in members) else "episode",
                "groups": [
                    {**_group(group, names[id(group)], most), "colour": learners.index(group.learner)}
                    for group in members
                ],
            }
            for name, members in games.items()
        ],
        "problems": problems,
    }


def _runs(group: Group) -> list[StoredRun]:
    return cast("list[StoredRun]", group.outcomes)


def _description(groups: Sequence[Group]) -> str:
    """Describe a game in words, if a finished run does."""
    outcomes = (run.outcome for group in groups for run in _runs(group))
    description = next((outcome.game for outcome in outcomes if outcome is not None), "")
    return description.partition("(")[2].removesuffix(")").partition(": ")[2] or description


def _group(group: Group, names: Sequence[str], most: int) -> dict[str, Any]:
    runs = _runs(group)
    gaps = [run.outcome.gap for run in runs if run.outcome is not None and run.outcome.gap is not None]
    bands = {name: numbers for name in names if (numbers := band(runs, name, most)) is not None}
    return {
        "learner": text(group.learner),
        "settings": _settings(runs[0], len(runs)),
        "seeds": len(runs),
        "agents": runs[0].outcome.agents if runs[0].outcome is not None else None,
        "columns": list(bands),
        "bands": bands,
        "gap": text(" and ".join(sorted({gap_words(gap.kind, gap.source) for gap in gaps}))),
        "kinds": sorted({text(gap.kind) for gap in gaps}),
        "runs": [
            {**_run(run), "curve": None if len(runs) == 1 else seed_curve(run, list(bands), most)} for run in runs
        ],
    }


def _settings(run: StoredRun, seeds: int) -> list[list[str]]:
    spec, options = run.spec, run.spec.options
    rows: list[tuple[str, object]] = [("learner", spec.learner.name)]
    rows += [(f"learner: {key}", value) for key, value in list(spec.learner.params.items())[:_ENTRIES]]
    rows += [("game", spec.game.name)]
    rows += [(f"game: {key}", value) for key, value in list(spec.game.params.items())[:_ENTRIES]]
    rows += [("episodes", "open" if options.open else f"{options.episodes:,}")]
    limits = {"stop at gap": options.gap, "stop after seconds": options.seconds}
    rows += [(name, limit) for name, limit in limits.items() if limit]
    certify = {None: "where it is cheap", True: "yes", False: "no"}[options.certify]
    rows += [("seeds", seeds), ("certificate", certify), ("tacit", spec.tacit)]
    rows += list(run.versions.items())[:_ENTRIES]
    return [[text(name), text(_setting(value))] for name, value in rows]


def _setting(value: object) -> str:
    match value:
        case float():
            return f"{value:.6g}"
        case {} | [*_]:
            return json.dumps(value, default=str)
    return str(value)


def _run(run: StoredRun) -> dict[str, Any]:
    outcome = run.outcome
    numbers: dict[str, Any] = {
        "name": run.name,
        "seed": text(run.spec.seed),
        "status": run.status,
        "done": 0 if run.curve is None else int(run.curve["episode"][-1]),
        "of": None if run.spec.options.open else run.spec.options.episodes,
    }
    if outcome is not None:
        numbers |= {
            "reward": outcome.reward[:_ENTRIES],
            "value": None if outcome.value is None else outcome.value[:_ENTRIES],
            "gap": _gap(outcome.gap),
            "chosen": text(outcome.chosen),
            "uniform": outcome.uniform_gap,
            "ended": text(outcome.ended),
            "seconds": outcome.seconds,
            "where": text(outcome.where),
            "notes": [text(note) for note in outcome.notes[:_ENTRIES]],
            "advice": [text(advice.text) for advice in outcome.advice[:_ENTRIES]],
        }
    return numbers


def _gap(gap: GapOutcome | None) -> dict[str, Any] | None:
    if gap is None:
        return None
    words = {"kind": text(gap.kind), "source": text(gap.source), "informative": gap.informative, "most": gap.most}
    return {**words, "upper": gap.upper[:_ENTRIES], "largest": max(gap.upper)}


def columns(runs: Sequence[StoredRun]) -> list[str]:
    """Return the columns that all runs have and that are shown, by measure."""
    names = [run.curve.dtype.names or () for run in runs if run.curve is not None]
    common = [name for name in (names[0] if names else ()) if all(name in others for others in names)]
    matches = {name: match[1] for name in common if (match := _SHOWN.fullmatch(name))}
    return sorted(matches, key=lambda name: _MEASURES.index(matches[name]))[:COLUMNS]


def seed_curve(run: StoredRun, names: Sequence[str], most: int) -> dict[str, Any] | None:
    """Return one run's curve, thinned to `most` rows; every number is one of the file."""
    curve = run.curve
    if curve is None:
        return None
    rows = rows_to_show(len(curve), most)
    return {
        "rows": len(curve),
        "x": curve["episode"][rows].tolist(),
        "y": {name: finite(curve[name][rows]) for name in names},
    }


def band(runs: Sequence[StoredRun], name: str, most: int) -> dict[str, Any] | None:
    """Return mean, standard deviation, minimum and maximum of a column over seeds.

    A seed that ended early keeps its last value; one that is going on counts only as far as it has come.
    """
    curves = [(run, run.curve) for run in runs if run.curve is not None]
    if not curves:
        return None
    x, y = align([curve for _, curve in curves], name)
    for row, (run, curve) in zip(y, curves, strict=True):
        if run.outcome is None:
            row[x > curve["episode"][-1]] = np.nan
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # a column of which nothing was measured
        mean, low, high = np.nanmean(y, axis=0), np.nanmin(y, axis=0), np.nanmax(y, axis=0)
        count = (~np.isnan(y)).sum(axis=0)
        sd = np.where(count > 1, np.nanstd(y, axis=0, ddof=1), 0.0)
    if not np.isfinite(mean).any():
        return None
    rows = rows_to_show(len(x), most)
    line = {"x": x[rows].tolist(), "mean": finite(mean[rows])}
    if len(curves) == 1:
        return line
    spread = {"sd": sd, "low": low, "high": high}
    return {**line, **{key: finite(y[rows], digits=6) for key, y in spread.items()}, "n": count[rows].tolist()}


def finite(array: npt.NDArray[Any], *, digits: int | None = None) -> list[float | None]:
    """Return an array as JSON can hold it: what is not finite is null.

    >>> finite(np.array([1.5, np.nan, 1 / 3]), digits=3)
    [1.5, None, 0.333]
    """
    numbers = array.astype(float).tolist()
    if digits is None:
        return [x if np.isfinite(x) else None for x in numbers]
    return [float(f"{x:.{digits}g}") if np.isfinite(x) else None for x in numbers]


#: Policies that are looked into: one of each game and learner, the first ones.
MOST_DETAILS = 24

#: Called with what is being done, how many are done, and of how many.
Progress = Callable[[str, int, int], None]


def write_report(
    directory: str | Path,
    out: str | Path,
    *,
    named: Collection[str] = (),
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> Path:
    """Write a directory of runs as one HTML file that opens offline.

    Parameters
    ----------
    directory : path
        A run's directory, or one of many runs (the `--out` of a run).
    out : path
        The file, an `.html`.
    named : collection of str
        Games whose Python code may be run, because the user names them.
    seconds : float
        What a policy does is left out where computing it would take longer, by an estimate.
    progress : callable, optional
        Called with what is being done, how many are done, and of how many.

    Returns
    -------
    Path
        Where it is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> from tacit.report import write_report
    >>> out = Path(tempfile.mkdtemp())
    >>> results = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),)).run(out=out)
    >>> write_report(out, out / "report.html").name
    'report.html'
    """
    report = Report(directory, out, named=named, seconds=seconds)
    report.look(progress)
    if not report.folder.runs:
        damaged = "; ".join(report.folder.problems.values())
        raise TacitError(damaged or f"{directory} holds no run; `tacit run … --out {directory}` puts them there")
    report.write()
    return report.file


#: Seconds between two looks at a directory that is watched, and after the last change of runs that have all ended.
EVERY, SETTLED = 3.0, 10.0


def watch_report(
    directory: str | Path,
    out: str | Path,
    *,
    named: Collection[str] = (),
    seconds: float = SECONDS,
    every: float = EVERY,
    settled: float = SETTLED,
) -> Path:
    """Write the report again and again while runs go on; the page reloads itself.

    Parameters
    ----------
    directory, out, named, seconds
        As of `write_report`.
    every : float
        Seconds between two looks at the directory, and between two reloads of the page.
    settled : float
        It ends when there are runs, none of them goes on, and nothing has changed for so many seconds.

    Returns
    -------
    Path
        Where it is. The last page does not reload itself any more, also after Ctrl-C.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> from tacit.report import watch_report
    >>> out = Path(tempfile.mkdtemp())
    >>> results = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),)).run(out=out)
    >>> watch_report(out, out / "report.html", settled=0).name
    'report.html'
    """
    report = Report(directory, out, named=named, seconds=seconds)
    changed = time.monotonic()
    try:
        while True:
            if report.look():
                report.write(refresh=every)
                changed = time.monotonic()
            elif report.over and time.monotonic() - changed >= settled:
                return report.file
            time.sleep(min(every, settled) if report.over else every)
    finally:
        report.write()


class Report:
    """A directory of runs, and the page that shows it. What a policy does is computed once.

    Parameters
    ----------
    directory, out, named, seconds
        As of `write_report`.
    """

    def __init__(self, directory: str | Path, out: str | Path, *, named: Collection[str], seconds: float) -> None:
        self.file = check_name(out)
        self.folder = Folder(files.path(directory))
        self.document: dict[str, Any] | None = None
        self._named, self._seconds = tuple(named), seconds
        self._details: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def over(self) -> bool:
        """Whether there are runs, and none of them goes on."""
        runs = self.folder.runs.values()
        return bool(runs) and not any(run.status == "running" for run in runs)

    def look(self, progress: Progress | None = None) -> bool:
        """Read the directory; return whether there is something new."""
        progress = progress or (lambda what, done, total: None)
        progress("reading runs", 0, 1)
        if not self.folder.look() and self.document is not None:
            return False
        document = overview(self.folder)
        groups = [group for game in document["games"] for group in game["groups"]]
        best = {name: len(group["runs"]) for group in groups if (name := _best_run(group)) is not None}
        shown = list(best.items())[:MOST_DETAILS]
        document["details"] = {}
        for done, (name, seeds) in enumerate(shown):
            run = self.folder.runs[name]
            if (name, run.spec.hash) not in self._details:
                progress(f"computing what the policy of {name} does", done, len(shown))
                self._details[name, run.spec.hash] = details(run.directory, run.outcome, self._named, self._seconds)
            which = f"The policy of seed {run.spec.seed}"
            which += "." if seeds == 1 else f", which has the smallest gap of {seeds} seeds."
            document["details"][name] = {**self._details[name, run.spec.hash], "which": which}
        self.document = document
        return True

    def write(self, *, refresh: float | None = None) -> None:
        """Write the page, which reloads itself every `refresh` seconds."""
        if self.document is not None:
            document = {**self.document, "refresh": refresh}
            files.write(self.file, render("report", f"{document['title']} · tacit", document))


def _best_run(group: dict[str, Any]) -> str | None:
    """Return the name of the finished run with the smallest gap, whose policy is shown."""
    finished = [run for run in group["runs"] if run["status"] == "finished"]
    best = min(finished, key=lambda run: run["gap"]["largest"] if run.get("gap") else float("inf"), default=None)
    return None if best is None else str(best["name"])
