"""The live page: what is in a directory of runs now, and word whenever it has changed."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tacit.core.errors import TacitError
from tacit.view.details import details
from tacit.view.documents import overview, title_of
from tacit.view.folder import Folder
from tacit.view.server import Answer, Server

_log = logging.getLogger("tacit")

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
