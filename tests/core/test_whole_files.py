"""Every writer writes whole files, and the system alone applies the umask."""

from __future__ import annotations

import ast
import os
import re
import threading
from pathlib import Path

import pytest

import tacit
from tacit.core import files
from tacit.experiments.spec import Experiment, GameSpec, LearnerSpec

ROOT = Path(tacit.__file__).parent
POSIX = pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")

#: Calls that write, and the one file each that may make them.
WRITERS = {"write_text", "write_bytes", "savefig", "savez", "savez_compressed", "mkstemp", "NamedTemporaryFile"}
ALLOWED = {
    ("figures/style.py", "savefig"),
    ("core/files.py", "open"),
    ("cli/entry.py", "open"),  # of the null device, in the place of a stream that is closed
}
CURVE = ("experiments/store.py", "open")  # grows line by line


def writers(place: Path) -> list[str]:
    """Return the calls in a source that open a file to write."""
    found = []
    for node in ast.walk(ast.parse(place.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        texts = [a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)]
        modes = any(isinstance(text, str) and re.fullmatch("[rwxabt+]*[wxa+][rwxabt+]*", text) for text in texts)
        if name in WRITERS or (name == "open" and modes):
            found.append(name)
    return found


def test_no_source_writes_a_file_by_itself():
    made = {(place.relative_to(ROOT).as_posix(), name) for place in ROOT.rglob("*.py") for name in writers(place)}
    assert made <= {*ALLOWED, CURVE}
    assert ("figures/style.py", "savefig") in made  # the search does find them


def test_a_file_that_a_reader_holds_is_replaced_when_it_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As on Windows, where a file that is open cannot be replaced."""
    replace, left = os.replace, [2]

    def held(source: Path, target: Path) -> None:
        if left[0]:
            left[0] -= 1
            raise PermissionError(13, "Permission denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", held)
    with pytest.raises(tacit.TacitError, match="cannot write"):
        files.write(tmp_path / "a", b"x")
    left[0] = 2
    monkeypatch.setattr(files, "_WAITS", (0.0, 0.0))
    files.write(tmp_path / "a", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@POSIX
def test_the_umask_is_neither_read_nor_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask of all threads was changed"))
        files.write(tmp_path / "a", b"x")
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@POSIX
def test_threads_that_write_at_once_give_all_files_the_same_mode(tmp_path: Path):
    before = os.umask(0o077)
    try:

        def work(k: int) -> None:
            for j in range(50):
                files.write(tmp_path / f"{k}-{j}", b"x")

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        os.umask(before)
    modes = {place.stat().st_mode & 0o777 for place in tmp_path.iterdir()}
    assert modes == {0o600}
    assert len(list(tmp_path.iterdir())) == 400


@POSIX
@pytest.mark.parametrize("what", ["a pipe", "a directory", "a device"])
def test_what_is_no_regular_file_is_not_replaced(what: str, tmp_path: Path):
    place = tmp_path / "there"
    if what == "a pipe":
        os.mkfifo(place)
    elif what == "a directory":
        place.mkdir()
    else:
        place.symlink_to("/dev/null")
    with pytest.raises(tacit.TacitError, match=r"cannot write .*there: "):
        files.write(place, b"x")
    assert [each.name for each in tmp_path.iterdir()] == ["there"]
    assert not place.is_file()


def test_a_long_name_can_be_written(tmp_path: Path):
    files.write(tmp_path / ("ä" * 120), b"x")
    assert (tmp_path / ("ä" * 120)).read_bytes() == b"x"


def failing(*args: object, **kwargs: object) -> None:
    raise OSError(28, "No space left on device")


def test_an_experiment_that_cannot_be_saved_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    experiment = Experiment(name="a", games=(GameSpec("chicken"),), learners=(LearnerSpec("npg"),), episodes=3)
    experiment.save(tmp_path / "a.toml")
    before = (tmp_path / "a.toml").read_bytes()
    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(tacit.TacitError, match=r"cannot write .*a\.toml: No space left"):
        experiment.save(tmp_path / "a.toml")
    assert (tmp_path / "a.toml").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_figure_that_cannot_be_saved_leaves_the_old_one(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from matplotlib.figure import Figure

    from tacit.figures import save_figure

    place = tmp_path / f"a.{ending}"
    save_figure(Figure(), place)
    before = place.read_bytes()
    assert before[:4] in (b"\x89PNG", b"<?xm", b"%PDF")
    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(tacit.TacitError, match="No space left"):
        save_figure(Figure(), place)
    assert place.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
