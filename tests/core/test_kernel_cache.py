"""Machine code on disk is used only as it was written, and by whom; otherwise it is compiled, quietly."""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_kernels import Kernel, kernels, scaled

from tacit.core import compilation
from tacit.core.compilation import NAME, TAG, kernel_directory

DIGEST = "0123456789abcdef01234567"
POSIX = pytest.mark.skipif(os.name != "posix", reason="owners and modes are of POSIX")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TACIT_CACHE_DIR", str(tmp_path / "cache"))
    found = kernel_directory(DIGEST)
    assert found == tmp_path / "cache" / NAME / DIGEST
    return found


def test_a_second_dispatcher_loads_and_compiles_nothing(directory: Path):
    for kernel in kernels(directory):
        before = kernel.place.stat().st_mtime_ns
        loop = kernel.dispatcher()
        loop(*kernel.call)
        assert sum(loop.stats.cache_hits.values()) == 1
        assert kernel.place.stat().st_mtime_ns == before


class Explosive:
    def __reduce__(self) -> tuple[object, ...]:
        return (pytest.fail, ("a file that nobody verified was unpickled",))


@pytest.mark.parametrize("kept", [0, len(compilation._HEAD), len(compilation._HEAD) + 32])
def test_nothing_unverified_is_unpickled(kept: int, directory: Path):
    kernel = kernels(directory)[0]
    kernel.place.write_bytes(kernel.content[:kept] + pickle.dumps(Explosive()))
    assert kernel.result() == 15.0
    assert kernel.loads()  # written anew


def test_a_file_of_another_kernel_or_of_other_sources_is_not_used(directory: Path):
    one, other, *_ = kernels(directory)
    elsewhere = kernel_directory(DIGEST[::-1])
    assert elsewhere is not None
    (elsewhere / one.place.name).write_bytes(one.content)
    (elsewhere / one.place.name).chmod(0o600)
    moved = Kernel.__new__(Kernel)
    moved.function, moved.call, moved.directory = one.function, one.call, elsewhere
    assert not moved.loads()
    other.place.write_bytes(one.content)
    assert not other.loads()
    assert one.loads()


@POSIX
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_to_is_not_used(mode: int, directory: Path):
    kernel = kernels(directory)[0]
    kernel.place.chmod(mode)
    assert not kernel.loads()
    assert kernel.result() == 15.0
    assert kernel.place.stat().st_mode & 0o777 == 0o600


@POSIX
def test_a_file_of_another_user_is_not_used(directory: Path, monkeypatch: pytest.MonkeyPatch):
    kernel = kernels(directory)[0]
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert not kernel.loads()


@POSIX
@pytest.mark.parametrize("what", ["a link", "a pipe", "a directory"])
def test_what_is_no_regular_file_is_not_used(what: str, directory: Path):
    kernel = kernels(directory)[0]
    kernel.place.unlink()
    if what == "a link":
        target = directory / "target"
        target.write_bytes(kernel.content)
        target.chmod(0o600)
        kernel.place.symlink_to(target)
    elif what == "a pipe":
        os.mkfifo(kernel.place, 0o600)
    else:
        kernel.place.mkdir(mode=0o700)
    assert not kernel.loads()
    assert kernel.result() == 15.0


@POSIX
def test_directories_are_for_this_user_alone_whatever_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "made" / "by" / "tacit"
    monkeypatch.setenv("TACIT_CACHE_DIR", str(root))
    before = os.umask(0)
    try:
        found = kernel_directory(DIGEST)
    finally:
        os.umask(before)
    assert found is not None
    for place in (found, found.parent, root, root.parent, root.parent.parent):
        assert place.stat().st_mode & 0o777 == 0o700, place


@POSIX
@pytest.mark.parametrize("which", ["home", "digest"])
@pytest.mark.parametrize("harm", ["open to the group", "open to all", "of another user", "a link"])
def test_a_directory_in_other_hands_is_not_used_and_told_once(
    which: str, harm: str, directory: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    place = directory if which == "digest" else directory.parent
    if harm == "a link":
        place.rename(place.with_name("elsewhere"))
        place.symlink_to(place.with_name("elsewhere"))
    elif harm == "of another user":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    else:
        place.chmod(0o750 if harm == "open to the group" else 0o707)
    with caplog.at_level(logging.WARNING, "tacit"):
        assert kernel_directory(DIGEST) is None
        assert kernel_directory(DIGEST) is None
    (told,) = caplog.messages
    assert "must be a directory of this user alone (mode 0700)" in told


@pytest.mark.parametrize("harm", ["root is a file", "root is below a file"])
def test_without_a_directory_kernels_stay_in_memory_without_a_word(
    harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv("TACIT_CACHE_DIR", str(tmp_path / ("file" if harm == "root is a file" else "file/below")))
    with caplog.at_level(logging.WARNING, "tacit"):
        assert kernel_directory(DIGEST) is None
    assert caplog.messages == []
    assert (tmp_path / "file").read_text() == "not a directory"


FULL = """
import resource, signal, sys
sys.path.insert(0, {here!r})
import small_kernels
from pathlib import Path
from tacit.core.compilation import dispatcher
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))  # as on a disk that is nearly full
print(dispatcher(small_kernels.scaled, Path({directory!r}))(*small_kernels.CALLS[0]))
"""


@POSIX
@pytest.mark.parametrize("limit", [0, 1000])
def test_a_full_disk_leaves_nothing_behind_and_raises_nothing(limit: int, directory: Path):
    script = FULL.format(here=str(Path(__file__).parent), limit=limit, directory=str(directory))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "15.0", "")
    assert [place.name for place in directory.iterdir()] == [TAG]


MANY = """
import sys, time
sys.path.insert(0, {here!r})
import small_kernels
from pathlib import Path
start = float(sys.argv[1])
time.sleep(max(0.0, start - time.time()))
for function in small_kernels.FUNCTIONS:
    for call in small_kernels.CALLS:
        assert small_kernels.dispatcher(function, Path({directory!r}))(*call) == small_kernels.RESULTS[function]
"""


def test_processes_that_compile_the_same_at_once_do_not_disturb_each_other(directory: Path):
    script = MANY.format(here=str(Path(__file__).parent), directory=str(directory))
    start = str(time.time() + 4)
    running = [subprocess.Popen([sys.executable, "-c", script, start], stderr=subprocess.PIPE) for _ in range(4)]
    for process in running:
        assert process.communicate()[1] == b""
        assert process.returncode == 0
    assert len(list(directory.glob("*.kernel"))) == 4
    assert {place.suffix for place in directory.iterdir()} == {".kernel", ".TAG"}
    done = subprocess.run([sys.executable, "-c", script, "0"], check=False)
    assert done.returncode == 0


def test_what_verifies_and_still_cannot_be_loaded_is_compiled_anew(directory: Path):
    kernel = kernels(directory)[0]
    cache = compilation.KernelCache(scaled, directory)
    content = b"no pickle at all"
    kernel.place.write_bytes(compilation._HEAD + cache._digest(kernel.place, content) + content)
    assert not kernel.loads()
    assert kernel.result() == 15.0
    assert kernel.loads()


def test_who_listens_is_told_once_that_the_compiler_works():
    from tacit.core.compilation import announce, announce_to

    said: list[str] = []
    announce()  # nobody listens
    with announce_to(said.append):
        announce()
        announce()
    announce()
    assert len(said) == 1
    assert said[0].startswith("compiling")
