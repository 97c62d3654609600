"""The sweep removes caches that tacit made and nobody has used for a month, and nothing else, ever."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from tacit.core.compilation import ABOVE, NAME, TAG, kernel_directory, package_digest

OLD = "0123456789abcdef01234567"
KERNEL = f"episodes-{'0' * 32}.kernel"
fresh = iter(f"{k:024x}" for k in range(1, 1_000_000))


def age(place: Path, days: float = 400) -> None:
    then = time.time() - days * 86_400
    os.utime(place, (then, then), follow_symlinks=False)


def tree(place: Path) -> set[str]:
    return {str(each.relative_to(place)) for each in place.rglob("*")}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TACIT_CACHE_DIR", str(tmp_path / "shared"))
    return tmp_path / "shared"


def old_cache() -> Path:
    """Make a cache that was last used long ago."""
    place = kernel_directory(OLD)
    assert place is not None
    (place / KERNEL).write_bytes(b"code")
    (place / f".{KERNEL}.0123.part").write_bytes(b"half")
    age(place)
    return place


def sweep() -> None:
    """A directory that is new makes room."""
    assert kernel_directory(next(fresh)) is not None


def test_an_unused_cache_is_removed_and_a_used_one_is_not(root: Path):
    place = old_cache()
    sweep()
    assert not place.exists()
    place = old_cache()
    assert kernel_directory(OLD) == place  # used again
    sweep()
    assert (place / KERNEL).exists()


def test_a_folder_with_old_directories_keeps_them_all(root: Path):
    for name in ("photos/1999", OLD, f"{OLD}/deep", "tacit", "thesis"):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / "the only copy").write_text("precious")
    (root / OLD / KERNEL).write_bytes(b"of an earlier version, or of somebody else")
    before = tree(root)
    for place in [*root.rglob("*"), root]:
        age(place)
    sweep()
    assert before < tree(root)


@pytest.mark.parametrize(
    "other",
    ["a file", "a hidden file", "a directory", "a link to a directory", "a kernel that is a link"],
)
def test_a_cache_that_holds_anything_else_stays(other: str, root: Path, tmp_path: Path):
    place = old_cache()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("precious")
    if other == "a directory":
        (place / "notes").mkdir()
    elif other == "a link to a directory":
        (place / "notes").symlink_to(outside, target_is_directory=True)
    elif other == "a kernel that is a link":
        (place / KERNEL.replace("0", "1")).symlink_to(outside / "kept")
    else:
        (place / (".notes" if other == "a hidden file" else "notes.txt")).write_text("precious")
    age(place)
    before = tree(place)
    sweep()
    assert tree(place) == before
    assert (outside / "kept").read_text() == "precious"


@pytest.mark.parametrize("harm", ["no tag", "another tag", "tag is a link", "another name", "is a link"])
def test_a_directory_that_tacit_did_not_make_stays(harm: str, root: Path, tmp_path: Path):
    place = old_cache()
    tag = place / TAG
    if harm == "another name":
        place = place.rename(place.with_name("my-directory"))
    elif harm == "is a link":
        place.rename(tmp_path / "moved")
        place.symlink_to(tmp_path / "moved", target_is_directory=True)
    else:
        content = tag.read_bytes()
        tag.unlink()
        if harm == "another tag":
            tag.write_bytes(content.replace(b"tacit", b"taxes"))
        elif harm == "tag is a link":
            (tmp_path / "tag").write_bytes(content)
            tag.symlink_to(tmp_path / "tag")
    age(place)
    sweep()
    assert (place / KERNEL).read_bytes() == b"code"


def test_the_root_itself_and_what_is_beside_the_caches_stay(root: Path):
    old_cache()
    beside = root / NAME / "README"
    beside.write_text("mine")
    age(beside)
    age(root / NAME)
    age(root)
    sweep()
    assert beside.read_text() == "mine"


SOURCES = Path(package_digest.__wrapped__.__code__.co_filename).resolve().parents[1]


def test_machine_code_is_of_every_source_that_can_take_part_in_a_kernel(tmp_path: Path):
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
