"""Reads are bounded before they are made: files of the wrong kind, and archives that claim more than they hold."""

from __future__ import annotations

import io
import os
import re
import socket
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.core import files, memory
from tacit.experiments import store
from tacit.experiments.spec import Experiment
from tacit.policies import MarkovPolicy, RecordedPolicy

READERS: dict[str, Callable[[Path], object]] = {
    ".npz": tacit.load,
    ".nfg": tacit.load,
    ".dpomdp": lambda place: tacit.load(place, horizon=2),
    ".toml": lambda place: Experiment.load(place),
    ".policy.json": MarkovPolicy.load,
    ".policy.npz": MarkovPolicy.load,
    ".certified.npz": RecordedPolicy.load,
    ".bin": files.read,
    ".text": files.read_utf8,
}


def strange(kind: str, place: Path) -> None:
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(place))
    elif kind == "device":
        place.symlink_to("/dev/zero")
    elif kind == "loop":
        place.symlink_to(place)
    else:
        place.symlink_to(place.with_name("nothing"))


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "device", "loop", "missing"])
@pytest.mark.parametrize("ending", READERS)
def test_only_files_are_read(ending: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    place = Path(f"x{ending}")
    strange(kind, place)
    told = {"pipe": "a pipe", "folder": "is a directory", "socket": "a pipe", "device": "a pipe", "missing": "no file"}
    with pytest.raises(tacit.TacitError, match=told.get(kind, "cannot read")) as error:
        READERS[ending](place)
    assert str(place) in str(error.value)


@pytest.mark.parametrize("ending", READERS)
def test_a_file_larger_than_memory_is_refused_unread(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: 10**6)
    place = tmp_path / f"x{ending}"
    with open(place, "wb") as stream:
        stream.truncate(2**30)  # takes no room on the disk
    tracemalloc.start()
    with pytest.raises(tacit.TacitError, match=re.escape(str(place))):
        READERS[ending](place)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10**6


def test_a_file_that_grows_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = tmp_path / "x"
    place.write_bytes(b"12345")
    real = os.fstat

    def shorter(handle: int) -> os.stat_result:
        found = list(real(handle))
        found[6] = 3
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", shorter)
    with pytest.raises(tacit.TacitError, match="grows while it is read"):
        files.read(place)


def npy(shape: object, kind: str, data: bytes = b"") -> bytes:
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def packed(place: Path, members: dict[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(place, "w", how) as target:
        for name, content in members.items():
            target.writestr(f"{name}.npy", content)
    return place


@pytest.mark.parametrize("kind", ["<U0", "|S0", "|V0", "<U0 "])
@pytest.mark.parametrize("shape", ["(1000000000000,)", "(3,)"])
def test_entries_of_no_size_are_refused(kind: str, shape: str, tmp_path: Path):
    place = packed(tmp_path / "x.npz", {"notes": npy(shape, kind)})
    with pytest.raises(tacit.TacitError, match=r"x\.npz(: array 'notes' holds| is not a whole)"):
        files.read_arrays(place)


@pytest.mark.parametrize("shape", ["(1000000000000, 0)", "(0, 1000000000000)", "(10, 0, 1000000000)"])
def test_an_empty_array_with_endless_rows_is_refused(shape: str, tmp_path: Path):
    place = packed(tmp_path / "x.npz", {"notes": npy(shape, "<f8")})
    with pytest.raises(tacit.TacitError, match="claims shape"):
        files.read_arrays(place)


@pytest.mark.parametrize("kind", ["<M8[s]", "[('a', '<f8')]", "|V8", "|O"])
def test_only_numbers_and_text_are_read(kind: str, tmp_path: Path):
    named = kind if kind.startswith("[") else repr(kind)
    content = npy("(1,)", "KIND", bytes(8)).replace(b"'KIND'", named.encode())
    head = content[10:].split(b"\n")[0] + b"\n"
    content = content[:8] + struct.pack("<H", len(head)) + content[10:]
    with pytest.raises(tacit.TacitError, match="only numbers and text are read"):
        files.read_arrays(packed(tmp_path / "x.npz", {"a": content}))


def bomb(place: Path, size: int) -> Path:
    """Write an archive that expands a thousandfold, without holding what it expands to."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as target, target.open("rewards.npy", "w") as stream:
        stream.write(npy(f"({size // 8},)", "<f8"))
        for _ in range(size // 2**20):
            stream.write(bytes(2**20))
    return place


def test_what_memory_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = bomb(tmp_path / "x.npz", 2**24)
    monkeypatch.setattr(memory, "available", lambda: 10**6)
    with pytest.raises(tacit.TacitError, match=r"x\.npz would take 16\.8 MB of memory"):
        tacit.load(place)


def test_a_directory_that_states_too_little_is_refused(tmp_path: Path):
    """The array's header, the directory and what really comes out must agree."""
    place = bomb(tmp_path / "x.npz", 2**22)
    content = bytearray(place.read_bytes())
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = struct.pack("<L", 1000)
    place.write_bytes(content)
    with pytest.raises(tacit.TacitError, match=r"x\.npz is not a whole \.npz file.*Bad CRC"):
        files.read_arrays(place)


def test_a_directory_that_states_too_much_is_refused(tmp_path: Path):
    place = packed(tmp_path / "x.npz", {"a": npy("(1000000000,)", "<f8", bytes(80))})
    content = bytearray(place.read_bytes())
    entry = content.rindex(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = struct.pack("<L", 2**31)
    place.write_bytes(content)
    with pytest.raises(tacit.TacitError, match="claims shape"):
        files.read_arrays(place)


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(how: int, tmp_path: Path):
    """zipfile expands these without a bound."""
    with pytest.raises(tacit.TacitError, match="altered or of another kind"):
        files.read_arrays(packed(tmp_path / "x.npz", {"a": npy("(1,)", "<f8", bytes(8))}, how))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_array_twice_is_refused(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as target:
        for _ in range(2):
            target.writestr("a.npy", npy("(1,)", "<f8", bytes(8)))
    with pytest.raises(tacit.TacitError, match="different arrays"):
        files.read_arrays(tmp_path / "x.npz")


def test_what_zipfile_says_is_quoted_in_part(tmp_path: Path):
    """It quotes names of up to 65,535 characters, twice."""
    place = packed(tmp_path / "x.npz", {"n" * 30_000: npy("(1,)", "<f8", bytes(8))})
    content = bytearray(place.read_bytes())
    content[40] = ord("m")  # in the local header alone
    place.write_bytes(content)
    with pytest.raises(tacit.TacitError, match="is not a whole") as error:
        files.read_arrays(place)
    assert len(str(error.value)) < len(str(place)) + 200


def test_what_is_written_is_read(tmp_path: Path):
    arrays = {
        "empty": np.zeros((0, 3)),
        "nothing of many": np.zeros((1000, 2, 0), dtype=np.float32),
        "text": np.array(["", "é"]),
        "none": np.array([], dtype=str),
        "word": np.array(""),
        "big": np.array(2**64 - 1, dtype=np.uint64),
        "zeros": np.zeros(10**6),
    }
    files.write_arrays(tmp_path / "x.npz", arrays)
    found = files.read_arrays(tmp_path / "x.npz")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_an_archive_within_an_archive_is_no_array(tmp_path: Path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as target:
        target.writestr("a", zlib.compress(b"x"))
    with pytest.raises(tacit.TacitError, match="is not a whole"):
        files.read_arrays(packed(tmp_path / "x.npz", {"a": inner.getvalue()}))


@pytest.mark.skipif(os.name != "posix", reason="links")
@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_lock_that_is_no_file_of_ours_is_refused(kind: str, tmp_path: Path):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    run = tmp_path / "run"
    run.mkdir()
    if kind == "link":
        (run / store.LOCK).symlink_to(victim)
    else:
        (run / store.LOCK).mkdir()
    with pytest.raises(tacit.TacitError, match="cannot write"), store.lock_directory(run):
        pass
    assert victim.read_text() == "kept"


def test_store_refuses_a_summary_that_is_a_pipe(tmp_path: Path):
    os.mkfifo(tmp_path / store.SUMMARY)
    with pytest.raises(tacit.TacitError, match=r"summary\.json is a pipe"):
        store.load(tmp_path)


@pytest.mark.parametrize("size", [1, 30, 97, 98, 5000])
def test_a_text_file_named_npz_is_no_npz(size: int, tmp_path: Path):
    (tmp_path / "x.npz").write_text(("Two roads diverged in a yellow wood. " * 200)[:size], encoding="utf-8")
    with pytest.raises(tacit.TacitError, match=r"x\.npz is not a whole \.npz file"):
        tacit.load(tmp_path / "x.npz")
