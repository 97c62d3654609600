"""Clusters that tacit starts are private and listen on loopback alone; one that is lost is told in a sentence."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import re
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path

import psutil
import pytest

from tacit.core.errors import TacitError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and /proc")

TOML = """
name = "long"
episodes = 60000000
seeds = 1
keep = false
[[games]]
name = "good-state"
[[learners]]
name = "stage-v-cce"
"""


@contextlib.contextmanager
def running(place: Path, on: str) -> Iterator[subprocess.Popen[str]]:
    """Run a long experiment in a process group of its own, from when there is a row of a curve."""
    pytest.importorskip(on.replace("dask", "distributed"))
    place.mkdir(exist_ok=True)
    (place / "long.toml").write_text(TOML, encoding="utf-8")
    command = [sys.executable, "-m", "tacit", "run", "long.toml", "--out", "out", "--on", on, "--workers", "1"]
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=place, start_new_session=True, **pipes)  # type: ignore[call-overload]
    try:
        while not any(path.stat().st_size for path in (place / "out").glob("*/curve.jsonl")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def tree(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Return a process and all that descend from it."""
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


def listening(processes: list[psutil.Process]) -> list[tuple[str, int]]:
    """Return where processes listen."""
    found = []
    for one in processes:
        with contextlib.suppress(psutil.Error):
            found += [own.laddr for own in one.net_connections("inet") if own.status == psutil.CONN_LISTEN]
    return [(address.ip, address.port) for address in found]


def is_loopback(address: str) -> bool:
    """Say whether an address is of the loopback interface; an IPv4 one may be written as IPv6."""
    found = ipaddress.ip_address(address)
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


@pytest.mark.slow
def test_two_runs_on_ray_have_clusters_of_their_own_on_loopback_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What the environment names is not joined, and the end of the first run is nothing to the second."""
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with running(tmp_path / "first", "ray") as first, running(tmp_path / "second", "ray") as second:
        ports = [listening(tree(one)) for one in (first, second)]
        for own in ports:
            assert len(own) >= 4  # the head, the node, a worker, the driver
            assert [address for address, _ in own if not is_loopback(address)] == []
        homes = {found for one in tree(first) for found in re.findall(r"/\S*/tacit-ray-\w+", " ".join(one.cmdline()))}
        assert [stat.S_IMODE(os.stat(home).st_mode) for home in homes] == [0o700]
        assert not {port for _, port in ports[0]} & {port for _, port in ports[1]}
        for one in tree(first):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        curve = next((tmp_path / "second" / "out").glob("*/curve.jsonl"))
        rows = curve.read_text()
        while curve.read_text() == rows:
            assert second.poll() is None
            time.sleep(0.1)
        os.killpg(second.pid, signal.SIGINT)
        _, told = second.communicate(timeout=120)
        assert second.returncode == 130
        assert "--on ray:auto joins the one that RAY_ADDRESS names" in told


@pytest.mark.slow
@pytest.mark.parametrize("part", ["gcs_server", "raylet", "ray::RuntimeEnvAgent"])
def test_a_ray_cluster_that_is_lost_is_told_in_a_sentence(tmp_path: Path, part: str):
    with running(tmp_path, "ray") as process:
        victims = [one for one in tree(process) if one.name().startswith(part)]
        assert len(victims) == 1
        victims[0].kill()
        out, told = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "tacit: the Ray cluster is lost: nothing answers at 127.0.0.1:" in told.splitlines()[-1]
    assert "Traceback" not in told
    assert "Raylet is terminated" not in told + out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_dead_address_is_told_soon(address: str):
    pytest.importorskip("ray")
    from tacit.experiments.backends.ray_cluster import Ray

    began = time.monotonic()
    with pytest.raises(TacitError, match=f"no Ray cluster answers at '{address}': nothing listens there"):
        Ray(address, None, None)
    assert time.monotonic() - began < 60  # Ray itself tries for longer


def family() -> list[psutil.Process]:
    """This process and all that it has started."""
    return [psutil.Process(), *psutil.Process().children(recursive=True)]


def test_a_dask_cluster_of_our_own_listens_on_loopback_alone_and_has_no_page():
    pytest.importorskip("distributed")
    from tacit.experiments.backends.dask_cluster import Dask

    before = set(listening(family()))
    cluster = Dask("", 1, None)
    try:
        own = set(listening(family())) - before
        assert len(own) >= 3  # the scheduler, the nanny, the worker
        assert [address for address, _ in own if not is_loopback(address)] == []
        for _, port in own:
            for page in ("", "status", "health", "info/main/workers.html", "json/counts.json", "metrics"):
                with pytest.raises((HTTPException, OSError)):  # it does not speak HTTP, or has nothing there
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=10)
    finally:
        cluster.close()


def test_a_dask_worker_that_dies_at_the_start_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed")
    from distributed.nanny import WorkerProcess

    from tacit.experiments.backends.dask_cluster import Dask

    start = WorkerProcess.start

    async def die(self: WorkerProcess) -> object:
        task = asyncio.ensure_future(start(self))
        while self.process is None or self.process.pid is None:
            await asyncio.sleep(0.01)
        os.kill(self.process.pid, signal.SIGKILL)
        return await task

    monkeypatch.setattr(WorkerProcess, "start", die)
    with pytest.raises(TacitError, match="a Dask cluster cannot be started: Nanny failed to start worker process"):
        Dask("", 1, None)
