"""The report: a page of results in one file, which opens without a server and without a network."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from tacit.core import files
from tacit.core.errors import TacitError
from tacit.core.files import write
from tacit.view import page
from tacit.view.details import SECONDS, details
from tacit.view.documents import overview
from tacit.view.folder import Folder

#: Policies that are looked into: one of each game and learner, the first ones.
MOST_DETAILS = 24


def write_report(
    place: str | Path,
    out: str | Path,
    *,
    named: Collection[str] = (),
    seconds: float = SECONDS,
    progress: Callable[[str, int, int], None] | None = None,
) -> Path:
    """Write a directory of runs as one HTML file that opens offline.

    Parameters
    ----------
    place : path
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
    >>> from tacit.view import write_report
    >>> out = Path(tempfile.mkdtemp())
    >>> results = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),)).run(out=out)
    >>> write_report(out, out / "report.html").name
    'report.html'
    """
    file = files.path(out)
    if file.suffix not in (".html", ".htm"):
        raise TacitError(f"{file} has no ending of a page; give it one of .html, .htm")
    document = report_document(files.path(place), named=named, seconds=seconds, progress=progress)
    write(file, page.whole_page("report", f"{document['title']} · tacit", document).encode())
    return file


def report_document(
    place: Path,
    *,
    named: Collection[str] = (),
    seconds: float = SECONDS,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Return all that a report shows."""
    tell = progress or (lambda what, done, total: None)
    folder = Folder(place)
    tell("reading runs", 0, 1)
    folder.look()
    if not folder.runs:
        damaged = "; ".join(folder.problems.values())
        raise TacitError(damaged or f"{place} holds no run; `tacit run … --out {place}` puts them there")
    document = overview(folder)
    best = [_shown(group) for game in document["games"] for group in game["groups"]]
    chosen = [name for name in best if name is not None][:MOST_DETAILS]
    document["details"] = {}
    for done, name in enumerate(chosen):
        tell(f"computing what the policy of {name} does", done, len(chosen))
        found = details(folder.runs[name], named=named, seconds=seconds)
        document["details"][name] = {**found, "which": _which(folder, name, document)}
    return document


def _which(folder: Folder, name: str, document: dict[str, Any]) -> str:
    """Say of which seed a policy is."""
    groups = [group for game in document["games"] for group in game["groups"]]
    seeds = next(len(group["runs"]) for group in groups if any(run["name"] == name for run in group["runs"]))
    told = f"The policy of seed {folder.runs[name].spec.seed}"
    return f"{told}." if seeds == 1 else f"{told}, which has the smallest gap of {seeds} seeds."


def _shown(group: dict[str, Any]) -> str | None:
    """Return the name of the run whose policy is shown: the finished one with the smallest gap."""
    finished = [run for run in group["runs"] if run["status"] == "finished"]
    if not finished:
        return None
    best = min(finished, key=lambda run: run["gap"]["largest"] if run.get("gap") else float("inf"))
    return str(best["name"])
