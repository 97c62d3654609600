"""Pages of a directory of runs: the report, one file that opens without a server and without a network; and the live
page, which shows what is there now, and is sent word whenever it has changed.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tacit.core import files
from tacit.core.errors import TacitError
from tacit.view.details import SECONDS, details
from tacit.view.documents import overview, title_of
from tacit.view.folder import Folder
from tacit.view.server import Answer, Server, whole_page

_log = logging.getLogger("tacit")

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
    files.write(file, whole_page("report", f"{document['title']} · tacit", document).encode())
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


#: Seconds between looks at the directory, of reading before what has been read is shown, and between signs of life.
EVERY, AT_ONCE, ALIVE = 0.5, 2.0, 15.0

#: Policies of which all that was computed is remembered.
_REMEMBERED = 32


class Live:
    """Follows a directory and answers for it; it never writes there.

    Parameters
    ----------
    place : Path
    named : collection of str
        Games whose Python code may be run, because the user names them.
    """

    def __init__(self, place: Path, *, named: Collection[str] = ()) -> None:
        self.folder = Folder(place)
        self._named = tuple(named)
        self._changed = threading.Condition()
        self._computing = threading.Lock()
        self._document = b""
        self._version = -1
        self._remembered: OrderedDict[tuple[str, str], bytes] = OrderedDict()

    def look(self) -> None:
        """Look at the directory, and tell the pages if something has changed."""
        if not self.folder.look(seconds=AT_ONCE) and self._version >= 0:
            return
        document = json.dumps(overview(self.folder), allow_nan=False, separators=(",", ":")).encode()
        with self._changed:
            self._document, self._version = document, self.folder.version
            self._changed.notify_all()

    def follow(self, closing: threading.Event) -> None:
        """Look again and again, until the server closes."""
        while not closing.is_set():
            began = time.perf_counter()
            try:
                self.look()
            except (OSError, TacitError):  # the directory is gone for now
                pass
            except Exception:  # what one look stumbles over does not end the next
                _log.warning("tacit: the directory could not be read", exc_info=True)
            took = time.perf_counter() - began
            # a directory that is slow to read is looked at less often, but read to its end first
            closing.wait(0.05 if self.folder.unread else max(EVERY, 3 * took))
        with self._changed:
            self._changed.notify_all()

    def overview(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Send what is in the directory."""
        with self._changed:
            return Answer(self._document)

    def details(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Send what is computed from the policy of a run, one at a time."""
        run = self.folder.runs.get(query.get("run", ""))
        if run is None:
            return Answer.sentence("no such run", 404)
        key = (run.name, run.spec.hash if run.outcome is not None else "")
        with self._computing:
            if key not in self._remembered:
                self._remembered[key] = Answer.json(details(run, named=self._named)).content
                while len(self._remembered) > _REMEMBERED:
                    self._remembered.popitem(last=False)
            return Answer(self._remembered[key])

    def events(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Send an event whenever something has changed."""
        return Answer(kind="text/event-stream; charset=utf-8", stream=self._stream)

    def _stream(self, closing: threading.Event) -> Iterator[bytes]:
        seen = -1
        yield b"retry: 2000\n\n"
        while not closing.is_set():
            with self._changed:
                if self._version == seen and not closing.is_set():
                    self._changed.wait(ALIVE)
                now = self._version
            if now != seen:
                seen = now
                yield f"event: changed\ndata: {now}\n\n".encode()
            else:
                yield b": alive\n\n"  # raises where the page is gone


def serve(place: Path, *, named: Collection[str] = (), port: int = 0) -> tuple[Server, Live]:
    """Return a server of a directory, which has looked at it once; a thread follows it from then on."""
    live = Live(place, named=named)
    server = Server(
        "live",
        f"{title_of(place)} · tacit",
        reads={"overview": live.overview, "details": live.details, "events": live.events},
        port=port,
    )
    live.look()
    threading.Thread(target=live.follow, args=(server.closing,), name="tacit-follow", daemon=True).start()
    return server, live
