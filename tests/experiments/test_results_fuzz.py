"""Stored runs whose files are damaged, or altered with every digest right: shown and drawn, or refused by name."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import sys
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from mutations import hostile_text, mutate_arrays, mutate_bytes, mutate_tree, write_npz

import tacit
from tacit.cli.main import main
from tacit.core import files, memory
from tacit.core.display import printable
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store
from tacit.experiments.spec import convert

AVAILABLE = 200_000_000
GAMES = ["pettingzoo:os.system", "pettingzoo:spy_for_fuzz", "gymnasium:spy_for_fuzz:x", "gymnasium:FrozenLake-v1"]
GAMES += ["/dev/zero", "x.npz", "/dev/zero.npz", "../../x.nfg", "openspiel:matrix_pd", "openspiel:no", "stag-hunt"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    out = tmp_path_factory.mktemp("whole")
    run_experiment(
        Experiment("x", 6, (GameSpec("chicken"),), (LearnerSpec("pg-exact", {"eta": 0.1}, "[x]"),), points=3), out=out
    )
    return next(out.iterdir())


class Altered:
    """A copy of a run with one of its files altered; what must be consistent is made so."""

    def __init__(self, whole: Path, place: Path) -> None:
        self.whole, self.place = whole, place
        self.spec = tomllib.loads((whole / store.SPEC).read_text())
        self.summary = json.loads((whole / store.SUMMARY).read_text())
        self.arrays = files.read_arrays(whole / store.POLICY)
        self.curve = [json.loads(line) for line in (whole / store.CURVE).read_text().splitlines()]

    def write(self, rng: random.Random) -> str:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.whole, self.place)
        how = rng.choice(["bytes", "summary", "summary", "spec", "spec", "policy", "curve", "names"])
        getattr(self, f"_{how}")(rng)
        return how

    def _bytes(self, rng: random.Random) -> None:
        path = self.place / rng.choice([store.SPEC, store.SUMMARY, store.CURVE, store.POLICY])
        path.write_bytes(mutate_bytes(path.read_bytes(), rng))

    def _summary(self, rng: random.Random) -> None:
        self._seal(mutate_tree(self.summary, rng))

    def _names(self, rng: random.Random) -> None:
        self._seal({**self.summary, "notes": [hostile_text(rng) for _ in range(3)]})
        spec = json.loads(json.dumps(self.spec))
        spec["run"]["learner"]["label"] = hostile_text(rng).replace("\ud800", "?")
        if rng.random() < 0.5:
            spec["run"]["game"]["name"] = rng.choice([*GAMES, hostile_text(rng).replace("\ud800", "?")])
            spec["run"]["game"]["params"] = rng.choice([{}, {"command": "touch CALLED"}, {"horizon": 10**12}])
        self._spec_as(spec)

    def _spec(self, rng: random.Random) -> None:
        self._spec_as(mutate_tree(self.spec, rng))

    def _spec_as(self, spec: Any) -> None:
        with contextlib.suppress(tacit.TacitError, TypeError, AttributeError):
            spec["hash"] = convert(spec, store.StoredSpec).run.hash
            self._seal({**json.loads((self.place / store.SUMMARY).read_text()), "hash": spec["hash"]})
        with contextlib.suppress(TypeError, AttributeError, ValueError):  # what TOML cannot hold
            text = tomli_w.dumps(spec)
            (self.place / store.SPEC).write_bytes(text.encode(errors="surrogatepass"))

    def _policy(self, rng: random.Random) -> None:
        write_npz(self.place / store.POLICY, mutate_arrays(self.arrays, rng))
        self._seal(self._with_digest(store.POLICY))

    def _curve(self, rng: random.Random) -> None:
        rows = json.loads(json.dumps(self.curve))
        name, row = rng.choice(list(rows[0])), rng.choice(rows)
        way = rng.randrange(6)
        if way == 0:
            for one in rows if rng.random() < 0.5 else [row]:
                del one[name]
        elif way == 1:
            row[name] = rng.choice(
                ["1", True, [1.0], {}, "", None, 10**400, -(2**63), 1e308, float("nan"), float("inf")]
            )
        elif way == 2:
            row[name] = rng.choice([-1, 0, 10**9, 0.5])
        elif way == 3:
            rows = [mutate_tree(one, rng) for one in rows]
        elif way == 4:
            rows = []
        else:
            row[hostile_text(rng).replace("\ud800", "?")] = row[name]
        lines = "".join(json.dumps(one) + rng.choice(["\n", "\n", "\n", "", "\r\n", "\n\n"]) for one in rows)
        (self.place / store.CURVE).write_text(lines)
        self._seal(self._with_digest(store.CURVE))

    def _with_digest(self, name: str) -> dict[str, Any]:
        digests = {**self.summary["files"], name: store.digest((self.place / name).read_bytes())}
        return {**self.summary, "files": digests}

    def _seal(self, summary: Any) -> None:
        summary["digest"] = store._digest(summary)
        (self.place / store.SUMMARY).write_text(json.dumps(summary))


def checked(place: Path, k: int) -> bool:
    """Read a run as the commands do; return whether it was taken."""
    try:
        found = store.load(place)
        store.load_policy(place)
    except tacit.TacitError as error:
        told = str(error)
        assert str(place) in told
        assert "\n" not in printable(told)
        assert len(told) < 1500
        return False
    assert found.agents == len(found.reward)
    commands = [["evaluate", str(place)]] + ([["plot", str(place), "--out", f"{place}.svg"]] if k % 50 == 0 else [])
    for command in commands:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(command)
        told = out.getvalue() + err.getvalue()
        assert code in (0, 2)
        assert code == 0 or err.getvalue().count("\n") == 1
        assert not {unicodedata.category(c) for c in told if c != "\n"} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return True


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_altered_runs(count: int, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "spy_for_fuzz.py").write_text("raise SystemError('imported')")
    monkeypatch.setattr(memory, "available", lambda: AVAILABLE)
    altered, taken = Altered(whole, tmp_path / "run"), {}
    for k in range(count):
        how = "nothing"
        try:
            how = altered.write(random.Random(k))
            found = checked(tmp_path / "run", k)
        except Exception as error:
            raise AssertionError(f"seed {k}: {how}") from error
        taken.setdefault(how, []).append(found)
    print(f"{count} runs:", {how: f"{sum(found)} of {len(found)} taken" for how, found in taken.items()})
    assert sum(taken["names"]) > len(taken["names"]) / 4
    assert sum(taken["summary"]) < len(taken["summary"]) / 2
    assert "spy_for_fuzz" not in sys.modules
    assert not (tmp_path / "CALLED").exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "sub/../curve.jsonl", "", ".", "checkpoint.npz"])
def test_a_summary_names_only_files_of_its_run(name: str, whole: Path, tmp_path: Path):
    altered = Altered(whole, tmp_path / "run")
    shutil.copytree(whole, tmp_path / "run")
    altered._seal({**altered.summary, "files": {**altered.summary["files"], name: "0"}})
    with pytest.raises(tacit.TacitError, match=r"summary\.json is altered: files\..* is an unknown key"):
        store.load(tmp_path / "run")


def test_a_curve_that_memory_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch):
    line = json.dumps({"episode": 1, "reward": 0.0, "value": 0.0, "gap": 0.0}) + "\n"
    monkeypatch.setattr(memory, "available", lambda: 10_000_000)
    with pytest.raises(tacit.TacitError, match="the curve would take"):
        store.read_curve(line.encode() * 20_000)


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e308", "-1e200"])
@pytest.mark.parametrize("column", ["reward", "gap", "value"])
def test_a_curve_with_numbers_that_no_run_has_is_refused(column: str, number: str):
    row = '{"episode": 1, "reward": 0.0, "value": 0.0, "gap": 0.0}'.replace(f'"{column}": 0.0', f'"{column}": {number}')
    with pytest.raises(tacit.TacitError, match="not a curve"):
        store.read_curve(row.encode())
