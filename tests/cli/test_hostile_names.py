"""Names, notes and paths of users and files: every command shows them as they are and obeys nothing in them."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import unicodedata
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rich.console import Console

import tacit
from tacit.cli import options as progress
from tacit.cli.main import main
from tacit.experiments import Progress
from tacit.games import REGISTRY

#: What is said, and what must be shown.
NAMES = {
    "[/x]": "[/x]",
    "a[bold]b[/bold]": "a[bold]b[/bold]",
    "[link=x]y": "[link=x]y",
    r"$\foo$": r"$\foo$",
    r"\$x$ $y": r"\$x$ $y",
    "_hidden": "_hidden",
    ":smile:": ":smile:",
    "{0} {x} %s %(x)d": "{0} {x} %s %(x)d",
    "\x1b[31mred\x1b]0;title\x07": r"\x1b[31mred\x1b]0;title\x07",
    "back\x08\rover": r"back\x08\rover",
    "\x9b31m": r"\x9b31m",
    "\u202egnp.exe": r"\u202egnp.exe",
    "two\nlines\u2028three": r"two\nlines\u2028three",
    "é 名 ×": "é 名 ×",
}


def checked(text: str) -> str:
    """Return what was printed, having seen that a terminal obeys nothing in it."""
    assert not {unicodedata.category(char) for char in text if char != "\n"} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return text


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    found = capsys.readouterr()
    return code, checked(found.out), checked(found.err)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs whose labels are the names; the directory has a name with markup in it."""
    place = tmp_path_factory.mktemp("hostile")
    lines = ['name = "[/x]$\\\\foo$\\u001b"', "episodes = 4", "points = 2", "[[games]]", 'name = "chicken"']
    for k, name in enumerate(NAMES):
        lines += ["[[learners]]", 'name = "pg-exact"', f"params = {{eta = {0.1 + k / 100}}}"]
        lines += [f"label = {json.dumps(name)}"]
    (place / "a[bold]b.toml").write_text("\n".join(lines))
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        assert main(["run", str(place / "a[bold]b.toml"), "--out", str(place / "[bold]x $a$")]) == 0
    for shown in NAMES.values():
        assert f"\nchicken | {shown} | 4 episodes" in "\n" + checked(told.getvalue())
    assert f"stored in {place / '[bold]x $a$'}\n" in told.getvalue()
    return place / "[bold]x $a$"


def test_evaluate(out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(out.parent)
    code, told, err = printed(capsys, "evaluate", "[bold]x $a$")
    assert (code, err) == (0, "")
    assert told.count("[bold]x $a$/chicken_pg-exact_seed0_") == len(NAMES)


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_plot(ending: str, out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    figure = tmp_path / f"a[bold]b $\\foo$.{ending}"
    code, told, err = printed(capsys, "plot", str(out), "--out", str(figure))
    assert (code, told, err) == (0, f"figure: {figure}\n", "")
    if ending == "svg":
        ET.parse(figure)


def test_the_figure_shows_every_name(out: Path):
    from tacit.experiments import store
    from tacit.experiments.results import group_outcomes
    from tacit.figures.curves import plot_groups

    groups = group_outcomes([store.load(run) for run in store.directories(out)])
    figure = plot_groups(groups).flat[0].figure
    texts = figure.legends[0].get_texts()
    for shown in NAMES.values():
        assert any(text.get_text().startswith(f"{shown} (eta=") or text.get_text() == shown for text in texts)
    assert not any(text.get_parse_math() for text in texts)


@pytest.fixture
def game(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A game file of a hostile path, with the name as its own name and as a note."""
    monkeypatch.chdir(tmp_path)
    chicken = tacit.make("chicken")
    named = tacit.TabularGame(
        chicken.transitions, chicken.rewards, chicken.initial, 1, name=request.param, notes=[f"note: {request.param}"]
    )
    named.save("a[bold]b.npz")
    return "a[bold]b.npz"


@pytest.mark.parametrize(("game", "shown"), NAMES.items(), indirect=["game"], ids=map(ascii, NAMES))
def test_the_name_and_the_notes_of_a_game(game: str, shown: str, capsys: pytest.CaptureFixture[str]):
    code, told, err = printed(capsys, "solve", game)
    assert code == 0
    assert err == f"tacit: note: {shown}\n"
    code, told, err = printed(capsys, "theory", game)
    assert (code, err) == (0, f"tacit: note: {shown}\n")
    code, told, err = printed(capsys, "run", game, "pg-exact", "--episodes", "3", "--out", "[/x]")
    assert (code, err) == (0, f"tacit: note: {shown}\n")
    assert "stored in [/x]\n" in told
    code, told, err = printed(capsys, "run", game, "pg-exact", "--episodes", "3", "--out", "[/x]", "--json")
    assert json.loads(told)["game"] == "a[bold]b.npz"
    code, told, err = printed(capsys, "plot", "[/x]", "--out", "x.svg")
    assert (code, err) == (0, "")
    assert printed(capsys, "evaluate", "[/x]")[0] == 0


@pytest.mark.parametrize(("name", "shown"), NAMES.items(), ids=map(ascii, NAMES))
def test_names_of_a_registry(
    name: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    chicken = tacit.make("chicken")

    def plugin(*, horizon: int = 1) -> tacit.TabularGame:
        return chicken

    plugin.__doc__ = f"Play {name.splitlines()[0]}."
    monkeypatch.setattr(REGISTRY, "_factories", {name: plugin})
    code, told, _ = printed(capsys, "games")
    assert code == 0
    assert shown in told
    code, told, _ = printed(capsys, "games", "--json")
    assert json.loads(told)["games"][0]["name"] == name
    code, told, err = printed(capsys, "solve", "nothing")
    assert (code, told, err.count("\n")) == (2, "", 1)
    assert err.endswith(f"known: {shown}\n")


@pytest.mark.parametrize(("name", "shown"), NAMES.items(), ids=map(ascii, NAMES))
def test_errors_show_what_was_given(name: str, shown: str, capsys: pytest.CaptureFixture[str]):
    for arguments in (["plot", f"{name} no"], ["evaluate", f"{name} no"], ["run", f"{name} no.toml"]):
        code, told, err = printed(capsys, *arguments)
        assert (code, told, err.count("\n")) == (2, "", 1)
        assert f"{shown} no" in err
    for arguments in (["solve", name], [name], ["run", "chicken", name, "--episodes", "3"]):
        code, told, err = printed(capsys, *arguments)
        assert (code, told, err.count("\n")) == (2, "", 1)
    code, _, err = printed(capsys, "run", "chicken", "npg", "--episodes", name)
    assert (code, err.count("\n")) == (2, 1)


def test_a_long_error_is_cut(capsys: pytest.CaptureFixture[str]):
    code, _, err = printed(capsys, "run", "chicken", "npg", "--episodes", "9" * 100_000)
    assert code == 2
    assert len(err) < 7000


@pytest.mark.parametrize(("name", "shown"), NAMES.items(), ids=map(ascii, NAMES))
def test_progress_on_a_terminal(name: str, shown: str, monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    real = Console

    def wide(**options: object) -> Console:
        return real(**{**options, "width": 200, "force_terminal": True})  # type: ignore[arg-type]

    monkeypatch.setattr(progress, "Console", wide)
    with progress.progress_on_stderr(name) as shows:
        shows(Progress(done=0, runs=1, episodes=1, total=2))
        shows.say(f"checkpoint {name}")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()).replace("\r", "")
    assert f"tacit: checkpoint {shown}" in checked(plain)
    assert shown in plain.replace(f"checkpoint {shown}", "")
