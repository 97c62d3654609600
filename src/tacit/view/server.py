"""Pages as text, and a small server of them on this machine alone: a random word in every address, strict headers.

A page is a shell, the scripts and styles of `static/`, and for a report the documents within.

The address is http://127.0.0.1:PORT/TOKEN/. Whoever does not know the token gets 403, and so does a page of another
origin (`Origin`, `Sec-Fetch-Site`) or of another name for this machine (`Host`, against DNS rebinding). What is sent is
never cached, and may load nothing from elsewhere.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import html
import json
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tacit._version import __version__
from tacit.core.errors import TacitError

#: What each page consists of, in the order in which scripts are run.
COMMON = ("dom.js", "chart.js", "policy.js", "episode.js", "results.js")
SCRIPTS = {
    "report": ("uplot.js", *COMMON, "report.js"),
    "live": ("uplot.js", *COMMON, "live.js"),
    "play": ("dom.js", "play.js"),
}
STYLES = {"report": ("uplot.css", "tacit.css"), "live": ("uplot.css", "tacit.css"), "play": ("tacit.css",)}

#: What the server sends of `static/`, by name.
KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

_SHELL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
{policy}<title>{title}</title>
<link rel="icon" href="data:,">
{styles}
</head>
<body data-page="{page}">
<a class="skip" href="#main">skip to the content</a>
<main id="main"></main>
<noscript>This page draws its figures with scripts, which are switched off here.</noscript>
{scripts}
</body>
</html>
"""


@cache
def static(name: str) -> str:
    """Return the text of a file of `static/`."""
    return (resources.files("tacit.view") / "static" / name).read_text(encoding="utf-8")


def linked_page(page: str, title: str) -> str:
    """Return a page that fetches everything from its server."""
    styles = "\n".join(f'<link rel="stylesheet" href="static/{name}">' for name in STYLES[page])
    scripts = "\n".join(f'<script src="static/{name}" defer></script>' for name in SCRIPTS[page])
    return _SHELL.format(policy="", title=html.escape(title), page=page, styles=styles, scripts=scripts)


def whole_page(page: str, title: str, document: dict[str, Any]) -> str:
    """Return a page that holds everything itself, and asks nobody for anything."""
    style = "\n".join(static(name) for name in STYLES[page])
    script = "\n".join(static(name) for name in SCRIPTS[page])
    assert "</" not in script.replace("</script", "<!--"), "a script must not hold what ends a script"
    allowed = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src {_hash(script)}; style-src {_hash(style)}"
    )
    data = embed(document)
    return _SHELL.format(
        policy=f'<meta http-equiv="Content-Security-Policy" content="{allowed}">\n',
        title=html.escape(title),
        page=page,
        styles=f"<style>{style}</style>",
        scripts=f'<script type="application/json" id="document">{data}</script>\n<script>{script}</script>',
    )


def embed(document: dict[str, Any]) -> str:
    """Return a document as JSON in which nothing can end a script or begin a comment.

    >>> embed({"name": "</script><!--"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003c!--"}'
    """
    text = json.dumps(document, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(content: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() + "'"


HOST = "127.0.0.1"

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

#: Bytes of a request's body, seconds that a client may be silent, and connections at a time.
_BODY, _SILENT, _CONNECTIONS = 4096, 60, 64
#: Seconds within which a whole request has to come: who sends a byte now and then keeps no place.
REQUEST = 10.0


@dataclass(frozen=True)
class Answer:
    """What is sent: text of a kind, or where `stream` is given whatever it yields until the client leaves."""

    content: bytes = b""
    kind: str = "application/json; charset=utf-8"
    status: int = 200
    stream: Callable[[threading.Event], Any] | None = None

    @classmethod
    def json(cls, document: object, status: int = 200) -> Answer:
        """Send a document."""
        return cls(json.dumps(document, allow_nan=False, separators=(",", ":")).encode(), status=status)

    @classmethod
    def sentence(cls, text: str, status: int) -> Answer:
        """Send a sentence."""
        return cls((text + "\n").encode(), "text/plain; charset=utf-8", status)


#: What an address means: given the query and the document that was sent with it, the answer.
Route = Callable[[Mapping[str, str], Any], Answer]


class Server:
    """Serves pages on 127.0.0.1 until it is closed.

    Parameters
    ----------
    name : str
        The page to serve at the top, one of `SCRIPTS`.
    title : str
    reads, writes : dict of functions
        What GET and POST requests of each address return; addresses are single words.
    port : int
        0 for any that is free.
    """

    def __init__(
        self,
        name: str,
        title: str,
        *,
        reads: Mapping[str, Route],
        writes: Mapping[str, Route] | None = None,
        port: int = 0,
    ) -> None:
        self.token = secrets.token_urlsafe(24)
        self.closing = threading.Event()
        self.reads, self.writes = dict(reads), dict(writes or {})
        self.reads[""] = lambda query, sent: Answer(linked_page(name, title).encode(), "text/html; charset=utf-8")
        for file in (*SCRIPTS[name], *STYLES[name]):
            self.reads[f"static/{file}"] = _static(file)
        try:
            self._server = _Server((HOST, port), _Handler)
        except OSError as error:
            raise TacitError(f"cannot serve on {HOST}:{port}: {error.strerror or error}") from None
        except OverflowError:
            raise TacitError(f"port is {port}; it must be a whole number from 0 to 65535") from None
        self._server.app = self
        self.port: int = self._server.server_address[1]

    @property
    def url(self) -> str:
        """The address, with the token."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def run(self) -> None:
        """Serve until `close` is called from another thread, or Ctrl-C."""
        try:
            self._server.serve_forever(poll_interval=0.2)
        finally:
            self.closing.set()
            self._server.server_close()

    def start(self) -> threading.Thread:
        """Serve in a thread of its own."""
        thread = threading.Thread(target=self.run, name="tacit-server", daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """End serving."""
        self.closing.set()
        self._server.shutdown()

    def refusal(self, path: str, headers: Mapping[str, str]) -> Answer | None:
        """Return why a request is refused, or nothing; the names of headers are in small letters."""
        names = {f"{host}:{self.port}" for host in (HOST, "localhost")}
        if headers.get("host", "") not in names:
            return Answer.sentence("this server is for this machine alone", HTTPStatus.FORBIDDEN)
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{name}" for name in names}:
            return Answer.sentence("pages from elsewhere are refused", HTTPStatus.FORBIDDEN)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Answer.sentence("pages from elsewhere are refused", HTTPStatus.FORBIDDEN)
        token = path.lstrip("/").partition("/")[0]
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            return Answer.sentence("wrong token; use the whole address that tacit printed", HTTPStatus.FORBIDDEN)
        return None

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return what a request gets."""
        try:
            parts = urlsplit(target)
            query = {key: values[-1] for key, values in parse_qs(parts.query, max_num_fields=16).items()}
        except ValueError:
            return Answer.sentence("this is no address", HTTPStatus.BAD_REQUEST)
        refused = self.refusal(parts.path, headers)
        if refused is not None:
            return refused
        prefix, name = f"/{self.token}/", parts.path[len(self.token) + 2 :]
        if not parts.path.startswith(prefix):  # without the slash, links of the page would lead elsewhere
            return Answer.sentence("not found; the address ends in /", HTTPStatus.NOT_FOUND)
        routes = self.reads if method in ("GET", "HEAD") else self.writes
        if name not in routes:
            known = name in self.reads or name in self.writes
            status = HTTPStatus.METHOD_NOT_ALLOWED if known else HTTPStatus.NOT_FOUND
            return Answer.sentence("not allowed" if known else "not found", status)
        sent = None
        if method == "POST":
            if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                return Answer.sentence("only JSON is taken", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
            try:
                sent = json.loads(body)
            except (ValueError, RecursionError):
                return Answer.sentence("this is not JSON", HTTPStatus.BAD_REQUEST)
        try:
            return routes[name](query, sent)
        except TacitError as error:
            return Answer.json({"error": str(error)}, HTTPStatus.BAD_REQUEST)


def _static(name: str) -> Route:
    kind = KINDS[name[name.rindex(".") :]]
    return lambda query, sent: Answer(static(name).encode(), kind)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = _CONNECTIONS
    app: Server

    def __init__(self, *args: Any) -> None:
        self._lock = threading.Lock()
        self._open: dict[Any, bool] = {}  # connections in the order in which they came, and whether they know the token
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection; where there are too many, the oldest that has not shown the token makes way."""
        with self._lock:
            stranger = next((one for one, knows in self._open.items() if not knows), None)
            if len(self._open) >= _CONNECTIONS:
                if stranger is None:
                    self.shutdown_request(request)
                    return
                del self._open[stranger]
                _hang_up(stranger)
            self._open[request] = False
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open.pop(request, None)

    def admit(self, request: Any) -> None:
        """Keep a connection, which has shown the token."""
        with self._lock:
            if request in self._open:
                self._open[request] = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # a client that leaves is no error
            super().handle_error(request, client_address)


def _hang_up(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed already
        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = _SILENT

    def version_string(self) -> str:
        return f"tacit/{__version__}"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: stderr is for people."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Say what http.server finds wrong, with our own headers and without a page."""
        self.close_connection = True
        self._send(Answer.sentence(message or HTTPStatus(code).phrase, code))

    def handle_one_request(self) -> None:
        """Wait for a request, for so long and no longer."""
        self._late = threading.Timer(REQUEST, _hang_up, (self.connection,))
        self._late.daemon = True
        self._late.start()
        try:
            super().handle_one_request()
        finally:
            self._late.cancel()

    def do_GET(self) -> None:
        self._reply(b"")

    def do_HEAD(self) -> None:
        self._reply(b"")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or len(length) > 9 or int(length) > _BODY:
            self.close_connection = True
            self._send(Answer.sentence("too much, or of unknown length", HTTPStatus.REQUEST_ENTITY_TOO_LARGE))
            return
        self._reply(self.rfile.read(int(length)))

    def _named_low(self) -> dict[str, str]:
        """Return the headers by their names in small letters: a client may write them as it likes."""
        return {name.lower(): value for name, value in self.headers.items()}

    def _reply(self, body: bytes) -> None:
        self._late.cancel()
        answer = self.server.app.answer(self.command, self.path, self._named_low(), body)
        if answer.status < HTTPStatus.BAD_REQUEST:  # without the token nothing is
            self.server.admit(self.connection)
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.kind)
        if answer.stream is not None:
            self.close_connection = True
            self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for piece in answer.stream(self.server.app.closing):
                    self.wfile.write(piece)
                    self.wfile.flush()
            return
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.content)
