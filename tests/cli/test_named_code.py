"""Code that a file names: results are evaluated without it, and an experiment calls nothing but environments."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.core import files
from tacit.experiments import GameSpec, store
from tacit.experiments.spec import dumps

SPY = """
import pathlib
pathlib.Path("IMPORTED").write_text("x")
def call(**params): pathlib.Path("CALLED").write_text("x")
parallel_env = 3
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a finished run, and a module that tells when it is imported or called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "spy_for_test", raising=False)
    (tmp_path / "spy_for_test.py").write_text(SPY)
    assert main(["run", "chicken", "pg-exact", "--episodes", "3", "--out", "out"]) == 0
    return tmp_path


def rename(out: Path, game: str, params: dict[str, object], tables: str | None = None) -> None:
    """Let a stored run name another game, with every hash and digest as it should be."""
    [run] = out.iterdir()
    stored = store.load_spec(run)
    spec = replace(stored.run, game=GameSpec(game, params), tables=tables or stored.run.tables)
    files.write(run / store.SPEC, dumps(replace(stored, run=spec, hash=spec.hash)).encode())
    summary = json.loads((run / store.SUMMARY).read_text())
    summary["hash"] = spec.hash
    summary["digest"] = store._digest(summary)
    files.write(run / store.SUMMARY, json.dumps(summary).encode())


CODE = {
    "pettingzoo:os.system": {"command": "touch CALLED"},
    "pettingzoo:spy_for_test": {},
    "pettingzoo:spy_for_test.call": {},
    "pettingzoo:spy_for_test/x-v0": {},
    "gymnasium:spy_for_test:Spy-v0": {},
    "gymnasium:Blackjack-v9": {},
    "gymnasium:GymV21Environment-v0": {"env_id": "spy_for_test:x"},
}


@pytest.mark.parametrize("game", CODE)
@pytest.mark.parametrize("command", ["evaluate", "plot"])
@pytest.mark.parametrize("on_the_path", [False, True])
def test_results_never_run_what_they_name(
    game: str,
    command: str,
    on_the_path: bool,
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    if on_the_path:  # as for `python -m tacit`
        monkeypatch.syspath_prepend(str(here))
    rename(here / "out", game, CODE[game])
    code = main([command, "out"])
    err = capsys.readouterr().err
    if command == "evaluate":
        assert (code, err.count("\n")) == (2, 1)
        assert "only if you name it too: --game" in err
    else:
        assert (code, err) == (0, "")
    assert not (here / "IMPORTED").exists()
    assert not (here / "CALLED").exists()
    assert "spy_for_test" not in sys.modules


def test_code_that_is_named_on_the_command_line_too(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    gymnasium = pytest.importorskip("gymnasium")
    lake = 'gymnasium.register(id="SpyLake-v0", entry_point="gymnasium.envs.toy_text.frozen_lake:FrozenLakeEnv")'
    (here / "spy_for_test.py").write_text(f"{SPY}\nimport gymnasium\n{lake}\n")
    monkeypatch.syspath_prepend(str(here))
    game = "gymnasium:spy_for_test:SpyLake-v0"
    assert main(["run", game, "pg-exact", "--episodes", "2", "--game-set", "horizon=3", "--out", "lake"]) == 0
    del sys.modules["spy_for_test"]
    gymnasium.registry.pop("SpyLake-v0")
    (here / "IMPORTED").unlink()
    capsys.readouterr()
    assert main(["evaluate", "lake"]) == 2
    assert f"--game {game}" in capsys.readouterr().err
    assert not (here / "IMPORTED").exists()
    assert main(["evaluate", "lake", "--game", game]) == 0
    assert (here / "IMPORTED").exists()
    gymnasium.registry.pop("SpyLake-v0")


def test_gymnasiums_own_tables_need_no_naming(here: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("gymnasium")
    line = ["gymnasium:FrozenLake-v1", "pg-exact", "--episodes", "2", "--game-set", "horizon=3"]
    assert main(["run", *line, "--out", "lake"]) == 0
    assert main(["evaluate", "lake"]) == 0


CALLABLES = ["os.system", "os.getcwd", "subprocess.run", "builtins.exec", "spy_for_test.call", "spy_for_test"]
CALLABLES += ["collections.OrderedDict", "pettingzoo.utils.wrappers", "functools.partial", "json"]


@pytest.mark.parametrize("game", CALLABLES)
def test_only_environments_are_called(game: str, here: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("pettingzoo")
    (here / "e.toml").write_text(
        f'name = "x"\nepisodes = 2\n[[games]]\nname = "pettingzoo:{game}"\nparams = {{command = "touch CALLED"}}\n'
        '[[learners]]\nname = "v-learning"\n'
    )
    line = ["run", f"pettingzoo:{game}", "v-learning", "--episodes", "2", "--game-set", "command=touch CALLED"]
    for arguments in (line, ["run", "e.toml"]):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert "must be a module with a function parallel_env" in err
    assert not (here / "CALLED").exists()


def test_a_file_beside_an_experiment_takes_no_librarys_place(
    here: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "spy_for_test.py").write_text(SPY)
    (folder / "e.toml").write_text(
        'name = "x"\nepisodes = 2\n[[games]]\nname = "chicken"\n[[learners]]\nname = "pg-exact"\n'
    )
    before = list(sys.path)
    assert main(["run", str(folder / "e.toml")]) == 0
    assert sys.path == before  # an experiment without code adds nothing
    (folder / "e.toml").write_text(
        'name = "x"\nepisodes = 2\n[[games]]\nname = "pettingzoo:no_such_module"\n[[learners]]\nname = "v-learning"\n'
    )
    assert main(["run", str(folder / "e.toml")]) == 2
    assert sys.path[: len(before)] == before
    assert str(folder) in sys.path[len(before) :]


@pytest.mark.parametrize("command", ["run", "evaluate"])
def test_the_help_says_that_names_can_be_code(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "code" in capsys.readouterr().out
