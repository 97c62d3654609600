"""The server is for whoever has its address, on this machine, and shows nothing but what it was asked to."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.view import player as play
from tacit.view import results as live
from tacit.view import server as server_module
from tacit.view.server import Server


@pytest.fixture(scope="module")
def served(results: Path) -> Iterator[Server]:
    server, _ = live.serve(results)
    thread = server.start()
    yield server
    server.close()
    thread.join(30)
    assert not thread.is_alive()


def ask(server: Server, path: str, method: str = "GET", body: str | None = None, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(None if body is None else body.encode())
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_the_token_is_asked_for(served: Server) -> None:
    assert ask(served, f"/{served.token}/")[0] == 200
    for path in (
        "/",
        "/wrong/",
        f"/{served.token[:-1]}/",
        f"/{served.token}x/overview",
        "/static/tacit.css",
        "/%C3%A9/",
    ):
        assert ask(served, path)[0] == 403, path


def test_who_sends_a_byte_now_and_then_keeps_no_place(served: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "REQUEST", 0.5)
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nX: ")
        with contextlib.suppress(OSError):
            for _ in range(600):  # a minute, at most
                slow.sendall(b"x")
                time.sleep(0.1)
            pytest.fail("the connection stays open")
    assert ask(served, f"/{served.token}/")[0] == 200


def test_connections_without_the_token_shut_nobody_out(served: Server) -> None:
    with contextlib.ExitStack() as opened:
        page = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        opened.callback(page.close)
        page.request("GET", f"/{served.token}/")
        assert page.getresponse().read()
        for _ in range(2 * server_module._CONNECTIONS):
            opened.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=60))
        assert ask(served, f"/{served.token}/")[0] == 200
        page.request("GET", f"/{served.token}/overview")  # who has shown the token stays
        assert page.getresponse().status == 200


def test_nothing_but_the_page_is_found(served: Server, results: Path) -> None:
    run = next(results.iterdir()).name
    for path in (
        "../../../../etc/passwd",
        "..%2f..%2fetc/passwd",
        "static/../server.py",
        "static/%2e%2e/server.py",
        "//etc/passwd",
        f"{run}/summary.json",
        f"details?run=../{results.name}/{run}",
        "details?run=/etc",
        "details?run=%00",
        "details",
    ):
        assert ask(served, f"/{served.token}/{path}")[0] == 404, path


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Origin": "http://evil.example"},
        {"origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_pages_from_elsewhere_are_refused(served: Server, headers: dict[str, str]) -> None:
    assert ask(served, f"/{served.token}/overview", **headers)[0] == 403


def test_it_only_reads(served: Server) -> None:
    top = f"/{served.token}/"
    assert ask(served, top, "POST", "{}", Content_Type="application/json")[0] == 405
    assert ask(served, top, "PUT", "{}")[0] == 501
    assert ask(served, top, "POST", "x" * 5000)[0] == 413


def test_headers_are_strict(served: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    connection.request("HEAD", f"/{served.token}/")
    headers = connection.getresponse().headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    connection.close()


def test_the_overview_is_one_document(served: Server) -> None:
    status, body = ask(served, f"/{served.token}/overview")
    assert status == 200
    found = json.loads(body)
    run = found["games"][0]["groups"][0]["runs"][0]["name"]
    status, body = ask(served, f"/{served.token}/details?run={run}")
    assert (status, json.loads(body)["run"]) == (200, run)


def test_events_come_and_end_with_the_server(results: Path) -> None:
    server, _ = live.serve(results)
    thread = server.start()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", f"/{server.token}/events")
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    while not answer.fp.readline().startswith(b"event: changed"):
        pass
    server.close()
    thread.join(30)
    assert not thread.is_alive()
    connection.close()


@pytest.fixture(scope="module")
def players() -> Iterator[Any]:
    game = tacit.make("good-state", horizon=2)
    server, plays = play.serve(game, tacit.MarkovPolicy.uniform(game))
    server.start()
    yield server, plays
    server.close()


def post(server: Server, name: str, sent: Any) -> tuple[int, Any]:
    status, body = ask(server, f"/{server.token}/{name}", "POST", json.dumps(sent), Content_Type="application/json")
    return status, json.loads(body)


def test_a_play_is_bounded_and_counts_every_step_once(players: Any) -> None:
    server, plays = players
    _, first = post(server, "sit", {})
    move = {"player": first["player"], "episode": 1, "step": 0, "action": 1}
    assert post(server, "act", move)[1]["step"] == 1
    assert post(server, "act", move)[1]["step"] == 1  # sent twice
    _, over = post(server, "act", {**move, "step": 1})
    assert over["over"]
    assert over["result"]["earned"] == sum(turn["reward"] for turn in over["turns"])
    assert post(server, "begin", {"player": first["player"]})[1]["episode"] == 2
    for wild in ({**move, "episode": 2, "action": 9}, {**move, "episode": 2, "action": "x"}, {"player": []}, [], None):
        status, told = post(server, "act", wild)
        assert status == 400, wild
        assert "error" in told
    for _ in range(play.PLAYERS + 3):
        assert post(server, "sit", {"agent": 1})[0] == 200
    assert len(plays._players) == play.PLAYERS
    assert "given up" in post(server, "act", move)[1]["error"]
    assert ask(server, f"/{server.token}/sit", "POST", "{}", Content_Type="text/plain")[0] == 415


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_the_server_cleanly(results: Path) -> None:
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from tacit.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    begun = subprocess.Popen(
        [sys.executable, "-c", code, "view", str(results), "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    assert begun.stdout is not None
    assert begun.stdout.readline().startswith("http://127.0.0.1:")
    begun.send_signal(signal.SIGINT)
    _, errors = begun.communicate(timeout=120)
    assert begun.returncode == 0
    assert "Traceback" not in errors
