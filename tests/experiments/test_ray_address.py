"""Which Ray cluster is meant; a dead one is not waited for."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from tacit.core.errors import TacitError
from tacit.experiments.places import ray_address


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which Ray keeps the last address."""
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    (tmp_path / "ray").mkdir()
    return tmp_path / "ray" / "ray_current_cluster"


def test_the_last_cluster_is_taken_if_it_answers(note: Path):
    assert ray_address.found("") == ("auto", False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        note.write_text(f"127.0.0.1:{server.getsockname()[1]}")
        assert ray_address.found("") == ("auto", False)
        assert ray_address.answers(note.read_text())
    assert ray_address.found("") == ("local", False)
    assert ray_address.found("auto") == ("local", True)


def test_what_is_named_is_meant(note: Path, monkeypatch: pytest.MonkeyPatch):
    note.write_text("127.0.0.1:1")
    assert ray_address.found("10.0.0.1:6379") == ("10.0.0.1:6379", True)
    monkeypatch.setenv("RAY_ADDRESS", "ray://127.0.0.1:1")
    assert ray_address.found("") == ("ray://127.0.0.1:1", True)


def test_ray_looks_at_the_same_file(note: Path):
    """Should Ray move it, this says so."""
    utils = pytest.importorskip("ray._common.utils")
    assert Path(utils.get_ray_address_file(None)) == note == ray_address._note()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_dead_address_is_told_soon(address: str):
    pytest.importorskip("ray")
    from tacit.experiments.places.ray_cluster import Ray

    began = time.monotonic()
    with pytest.raises(TacitError, match=f"no Ray cluster answers at '{address}': nothing listens there"):
        Ray(address, None, None)
    assert time.monotonic() - began < 60  # Ray itself tries for longer
