"""Loops are compiled once; machine code on disk is used where the directory is this user's own."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numba
import pytest
from small_kernels import CALLS, FUNCTIONS, Kernel, kernels, scaled

from tacit.core import beyond, compilation
from tacit.core.compilation import ABOVE, NAME, package_digest

find_directory = compilation.kernel_directory.__wrapped__  # without what is remembered of an earlier call

POSIX = pytest.mark.skipif(os.name != "posix", reason="owners and modes are of POSIX")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TACIT_CACHE_DIR", str(tmp_path / "cache"))
    place = find_directory(compilation.cache_root())
    assert place == tmp_path / "cache" / NAME / package_digest(without=ABOVE)
    return place


class Left(NamedTuple):
    number: float


class Right(NamedTuple):
    number: float


def number_of(struct):
    return struct.number


def test_structs_with_equal_fields_are_told_apart():
    left, right = Left(1.0), Right(2.0)
    one, other = (compilation.compile_loop(number_of, struct) for struct in (left, right))
    assert (one(left), other(right)) == (1.0, 2.0)
    assert one is not other
    assert one is compilation.compile_loop(number_of, Left(3.0))


def test_listeners_hear_once_that_the_compiler_works():
    messages: list[str] = []
    compilation.announce()  # nobody listens
    with compilation.announce_to(messages.append):
        compilation.announce()
        compilation.announce()
    compilation.announce()
    (message,) = messages
    assert message.startswith("compiling")


# Ctrl-C ---------------------------------------------------------------------------------------------------------------


def interrupt_callback(monkeypatch: pytest.MonkeyPatch, name: str, at: int) -> list[int]:
    """Interrupt a callback of LLVM at its call number `at`, in Python's own way; return the list of its calls."""
    engine = beyond.cpu_target.target_context.codegen()._engine._ee
    original = getattr(engine, name)
    calls: list[int] = []

    def interrupted(*args: Any) -> Any:
        calls.append(len(calls))
        if len(calls) == at + 1:
            signal.raise_signal(signal.SIGINT)
        return original(*args)

    monkeypatch.setattr(engine, name, interrupted)
    return calls


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("name", ["_object_cache_notify", "_object_cache_getbuffer"])
def test_an_interrupt_in_a_callback_of_llvm_is_raised(
    name: str, at: int, directory: Path, monkeypatch: pytest.MonkeyPatch
):
    inner = numba.njit(lambda x: x + 1.0)

    def outer(x):
        return inner(2.0 * x)

    before = sys.unraisablehook
    with monkeypatch.context() as patch:
        calls = interrupt_callback(patch, name, at)
        with pytest.raises(KeyboardInterrupt):
            compilation.dispatcher(outer, directory)(1.0)
        assert len(calls) == at + 1
    assert sys.unraisablehook is before
    assert compilation.dispatcher(outer, directory)(1.0) == 3.0


def test_an_interrupt_while_loading_is_raised(directory: Path, monkeypatch: pytest.MonkeyPatch):
    kernel = kernels(directory)[0]
    with monkeypatch.context() as patch:
        interrupt_callback(patch, "_object_cache_getbuffer", 0)
        with pytest.raises(KeyboardInterrupt):
            kernel.result()
    assert kernel.result() == 15.0


# files ----------------------------------------------------------------------------------------------------------------


def test_a_second_dispatcher_loads_and_compiles_nothing(directory: Path):
    for kernel in kernels(directory):
        before = kernel.place.stat().st_mtime_ns
        loop = kernel.dispatcher()
        loop(*kernel.call)
        assert sum(loop.stats.cache_hits.values()) == 1
        assert kernel.place.stat().st_mtime_ns == before


@pytest.mark.parametrize("harm", ["empty", "cut short", "no pickle", "of another kernel", "a directory"])
def test_what_cannot_be_loaded_is_compiled_anew(harm: str, directory: Path):
    kernel, other, *_ = kernels(directory)
    if harm == "a directory":
        kernel.place.unlink()
        kernel.place.mkdir()
    else:
        content = {"empty": b"", "cut short": kernel.content[:-9], "no pickle": b"x" * 99}.get(harm, other.content)
        kernel.place.write_bytes(content)
    assert not kernel.loads()
    assert kernel.result() == 15.0
    assert kernel.loads() == (harm != "a directory")


# directories ----------------------------------------------------------------------------------------------------------


@POSIX
def test_directories_are_private_whatever_the_umask(tmp_path: Path):
    before = os.umask(0)
    try:
        place = find_directory(tmp_path / "made" / "by tacit")
    finally:
        os.umask(before)
    assert place is not None
    for each in (place, place.parent):
        assert each.stat().st_mode & 0o777 == 0o700, each


@POSIX
@pytest.mark.parametrize("which", ["home", "digest"])
@pytest.mark.parametrize("harm", ["open to the group", "of another user", "a link"])
def test_a_directory_in_other_hands_is_not_used(
    which: str, harm: str, directory: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    place = directory if which == "digest" else directory.parent
    if harm == "a link":
        place.rename(place.with_name("elsewhere"))
        place.symlink_to(place.with_name("elsewhere"))
    elif harm == "of another user":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    else:
        place.chmod(0o750)
    with caplog.at_level(logging.WARNING, "tacit"):
        assert find_directory(compilation.cache_root()) is None
    (message,) = caplog.messages
    assert "mode 0700" in message


@pytest.mark.parametrize("below", ["file", "file/below"])
def test_without_a_directory_kernels_stay_in_memory(below: str, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "file").write_text("not a directory")
    with caplog.at_level(logging.WARNING, "tacit"):
        assert find_directory(tmp_path / below) is None
    assert caplog.messages == []
    assert compilation.dispatcher(scaled, None)(*CALLS[0]) == 15.0


@pytest.mark.parametrize("harm", ["none", "used", "another name", "a link", "a file"])
def test_only_an_unused_directory_of_ours_is_removed(harm: str, directory: Path, tmp_path: Path):
    place = directory.parent / ("photos" if harm == "another name" else "0" * 24)
    target = tmp_path / "outside" if harm == "a link" else place
    if harm == "a file":
        place.write_text("mine")
    else:
        target.mkdir()
        (target / "the only copy").write_text("mine")
    if harm == "a link":
        place.symlink_to(target)
    if harm != "used":
        then = time.time() - 400 * 86_400
        os.utime(place, (then, then), follow_symlinks=False)
    assert find_directory(compilation.cache_root()) == directory
    assert place.exists() == (harm != "none")
    assert harm != "a link" or (target / "the only copy").exists()


SOURCES = Path(compilation.__file__).resolve().parents[1]


def test_the_digest_is_of_every_source_that_defines_kernels(tmp_path: Path):
    copy = tmp_path / "tacit"
    shutil.copytree(SOURCES, copy, ignore=lambda _, names: [name for name in names if name == "__pycache__"])
    packages = sorted(place.parent.name for place in copy.glob("*/__init__.py"))
    assert set(ABOVE) < set(packages)
    digest = package_digest.__wrapped__
    before, all_before = digest(copy, without=ABOVE), digest(copy)
    for source in (*(copy / name / "__init__.py" for name in packages), copy / "learning.py"):
        source.write_bytes(source.read_bytes() + b"\n# changed\n")
        after, all_after = digest(copy, without=ABOVE), digest(copy)
        assert (after == before) == (source.parent.name in ABOVE), source
        assert all_after != all_before, source
        before, all_before = after, all_after


def test_no_kernel_is_defined_above_the_layers_that_are_counted():
    for name in ABOVE:
        for source in (SOURCES / name).rglob("*.py"):
            compiles = re.search(r"\bn?jit\b|\.implement\(|\boverload\b|compile_loop|generics", source.read_text())
            assert compiles is None, source


# processes ------------------------------------------------------------------------------------------------------------

HERE = str(Path(__file__).parent)
FULL = f"""
import resource, signal, sys
sys.path.insert(0, {HERE!r})
import small_kernels
from pathlib import Path
from tacit.core.compilation import dispatcher
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # as on a disk that is nearly full
print(dispatcher(small_kernels.scaled, Path(sys.argv[1]))(*small_kernels.CALLS[0]))
"""


@POSIX
def test_a_full_disk_leaves_nothing_behind(directory: Path):
    done = subprocess.run([sys.executable, "-c", FULL, str(directory)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "15.0", "")
    assert list(directory.iterdir()) == []


def test_kernels_are_told_apart_by_function_and_types(directory: Path):
    assert len({kernel.place for kernel in kernels(directory)}) == len(FUNCTIONS) * len(CALLS)
    one, other, *_ = [Kernel.__new__(Kernel) for _ in range(2)]
    for kernel, (function, call) in zip((one, other), zip(FUNCTIONS, CALLS, strict=True), strict=True):
        kernel.function, kernel.call, kernel.directory = function, call, directory
        assert kernel.loads()
