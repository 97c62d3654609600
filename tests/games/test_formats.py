"""Text formats of games: damaged files end in a game or one sentence, within the stated memory."""

from __future__ import annotations

import gc
import random
import resource
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from format_samples import DPOMDP, NFG, write
from mutations import mutate

import tacit
from tacit.core import memory
from tacit.games import dpomdp, formats
from tacit.games.tabular import TabularGame

# Damaged files end in a game or in one sentence that names the file; never otherwise, and within stated memory.


AVAILABLE = 64_000_000


def fuzz(path: Path, load: Callable[..., TabularGame], seeds: list[str], count: int) -> tuple[int, int]:
    """Read `count` damaged files; return how many were games and how many were refused."""
    games = refused = 0
    for k in range(count):
        rng = random.Random(k)
        content = mutate(rng.choice(seeds), rng)
        path.unlink(missing_ok=True)  # a fresh file is written thirty times faster than one that is overwritten
        path.write_bytes(content)
        try:
            assert isinstance(load(path, horizon=2), TabularGame)
            games += 1
        except tacit.TacitError as error:
            refused += 1
            message = str(error)
            assert str(path) in message, content
            assert "\n" not in message, content
        except Exception as error:
            raise AssertionError(f"seed {k}: {content!r}") from error
    return games, refused


@pytest.mark.parametrize("count", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("load", "seeds"), [(dpomdp.load_dpomdp, DPOMDP), (formats.load_nfg, NFG)], ids=["dpomdp", "nfg"]
)
def test_damaged_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load, seeds: list[str], count: int):
    monkeypatch.setattr(memory, "available", lambda: AVAILABLE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    games, refused = fuzz(tmp_path / "damaged.file", load, seeds, count)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(f"{count} files: {games} games, {refused} refused, {grown / 1e6:.0f} MB more at the peak")
    assert games > count / 50
    assert refused > count / 5
    assert grown < 2 * AVAILABLE


# What reading takes stays below what the formats' docstrings state, and what is asked for beforehand.


HEAD = "agents: 2\ndiscount: 1\nvalues: reward\nstates: {S}\nstart: 0\nactions:\n{A}\n{A}\nobservations:\n2\n2\n"
TAIL = "O: * :\nuniform\nR: * : * : * : * : 0\n"

# the file, the probabilities written out in T and O, the rewards that depend on what follows
FILES: dict[str, tuple[str, int, int]] = {
    "states": (HEAD.format(S=10_000, A=2) + "T: * :\nidentity\n" + TAIL, 5 * 40_000, 0),
    "uniform": (HEAD.format(S=300, A=2) + "T: * :\nuniform\n" + TAIL, 304 * 1200, 0),
    "uniform-twice": (HEAD.format(S=200, A=2) + "T: * :\nuniform\n" * 2 + TAIL, 404 * 800, 0),
    "wildcards": (HEAD.format(S=200, A=2) + "T: * : * : * : 0.005\n" * 3 + TAIL, 604 * 800, 0),
    "single": (
        HEAD.format(S=100, A=3)
        + "".join(f"T: {a} : {s} : {(s + k) % 100} : 0.01\n" for a in range(9) for s in range(100) for k in range(100))
        + TAIL,
        104 * 900,
        0,
    ),
    "zeros": (HEAD.format(S=600, A=1) + "T: 0 :\n" + ("0 " * 599 + "1\n") * 600 + TAIL, 5 * 600, 0),
    "long-line": (
        HEAD.format(S=200_000, A=1).replace("start: 0", "start:\n1 " + "0 " * 199_999) + "T: * :\nidentity\n" + TAIL,
        5 * 200_000,
        0,
    ),
    "rewards": (
        HEAD.format(S=50, A=2) + "T: * :\nuniform\n" + TAIL + "R: 0 : 0 : 0 : 0 : 1\n" * 5_000,
        54 * 200,
        5_000,
    ),
    "reward-blocks": (
        HEAD.format(S=50, A=2) + "T: * :\nuniform\n" + TAIL + "R: 0 * : 0 : 0 : 0 : 1\n" * 4_200,
        54 * 200,
        4_200,
    ),
}

#: Counting every allocation makes these last long.
LONG = ("single", "long-line", "reward-blocks", "wildcards", "uniform-twice")


def peak(read: Callable[[], TabularGame]) -> tuple[TabularGame, int]:
    """Return the game and the most bytes that were allocated while it was read."""
    gc.collect()
    tracemalloc.start()
    try:
        return read(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LONG else []) for name in FILES],
)
def test_memory_of_dpomdp(tmp_path: Path, name: str):
    text, probabilities, rewards = FILES[name]
    path = write(tmp_path, text, f"{name}.dpomdp")
    game, taken = peak(lambda: dpomdp.load_dpomdp(path, horizon=2))
    rows = game.states * game.joint_actions
    longest = max(len(line) for line in text.splitlines())
    stated = 5 * len(text) + 64 * longest + (640 + 16 * game.agents) * rows + 160 * probabilities + 1024 * rewards
    print(f"{name}: {stated / 1e6:.1f} + 16 MB stated, {taken / 1e6:.1f} MB taken")
    assert taken < stated + 16_000_000


def test_memory_of_nfg(tmp_path: Path):
    text = 'NFG 1 R "" { "" "" } { 200 200 }' + " 1" * 80_000
    path = write(tmp_path, text, "large.nfg")
    game, taken = peak(lambda: formats.load_nfg(path))
    assert taken < 5 * len(text) + 64 * game.rewards.size


@pytest.mark.parametrize(
    "name",
    ["states", "uniform", *(pytest.param(name, marks=pytest.mark.slow) for name in LONG if name != "uniform-twice")],
)
def test_less_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    """With a tenth of what is stated, reading stops early."""
    path = write(tmp_path, FILES[name][0], f"{name}.dpomdp")
    monkeypatch.setattr(memory, "available", lambda: 4_000_000)

    def refused() -> None:
        with pytest.raises(ValueError, match="would take"):
            dpomdp.load_dpomdp(path, horizon=2)

    _, taken = peak(refused)  # type: ignore[arg-type]
    assert taken < 4_000_000 + 5 * len(FILES[name][0]) + 16_000_000
