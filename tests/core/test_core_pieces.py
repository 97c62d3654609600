"""The small functions below everything else."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief
from tacit.core.registry import Registry
from tacit.games.exact import cumulate_rows, pick


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_integer_takes_every_kind_of_whole_number(value: object):
    assert check.integer("n", value, least=3, most=3) == 3
    assert type(check.integer("n", value, least=0)) is int


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), Fraction(1, 2), np.int64(1)])
def test_real_takes_every_kind_of_real_number(value: object):
    assert type(check.real("x", value, least=0, most=1)) is float


@pytest.mark.parametrize(
    "value", [True, None, "1", 1j, math.nan, math.inf, 1.01, -0.01, pytest.param(10**400, id="huge")]
)
def test_real_refuses_the_rest(value: object):
    with pytest.raises(TacitError, match="x must be"):
        check.real("x", value, least=0, most=1)


def test_a_long_value_is_cut_and_kept_on_one_line():
    assert len(brief("y" * 1000)) == 60
    assert "\n" not in brief(np.zeros((5, 5)))


def test_a_word_far_from_all_gets_no_suggestion():
    with pytest.raises(TacitError, match=r"^no fruit 'qqq'; known: apple, pear$"):
        check.choice("fruit", "qqq", ["apple", "pear"])


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (3_200_000_000, "3.2 GB"), (10**15, "1 PB"), (10**100, "more than")],
)
def test_sizes_for_people(size: int, text: str):
    assert memory.human(size).startswith(text)


def test_the_size_of_a_shape_does_not_overflow():
    assert memory.floats(2**40, 2**40) == 2**83


def test_require_names_what_and_how_much():
    with pytest.raises(TacitError, match="the moon would take 8 EB of memory"):
        memory.require(8 * 10**18, "the moon")


def test_cumulated_rows_stay_within_their_row_and_end_in_one():
    prob = np.array([0.25, 0.75, 1.0, 0.1, 0.2, 0.7])
    found = cumulate_rows(prob, np.array([0, 2, 3, 6]))
    assert found.tolist() == pytest.approx([0.25, 1, 1, 0.1, 0.3, 1])
    assert (found[[1, 2, 5]] == 1).all()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64])
def test_pick_is_the_first_place_above_u(n: int):
    cumulative = np.cumsum(np.full(n, 1 / n))
    cumulative[-1] = 1
    padded = np.concatenate([[0.0], cumulative, [0.0]])
    for u in [*np.linspace(0, 0.9999, 101), *cumulative[:-1]]:
        assert pick(padded, 1, n + 1, u) == 1 + int(np.argmax(u < cumulative))


def test_a_name_is_registered_once():
    table: Registry[int] = Registry("thing")
    table.add("one", lambda *, value=1: value)
    with pytest.raises(TacitError, match="registered already"):
        table.add("one", lambda: 2)
    assert list(table) == ["one"]
    assert table.parameters("one") == {"value": 1}
    assert table.make("one", value=5) == 5


def test_the_wrong_parameter_of_a_factory_is_named_with_those_it_has():
    table: Registry[int] = Registry("thing")
    table.add("one", lambda *, value=1: value)
    with pytest.raises(TacitError, match=r"has no parameter 'valu'; did you mean 'value'\? its parameters: value=1"):
        table.make("one", valu=5)


def test_an_archive_round_trip_keeps_types_and_shapes(tmp_path: Path):
    arrays = {"f": np.ones((2, 0, 3)), "i": np.int64(4), "s": np.array(["a", "ß"]), "b": np.array([True])}
    files.write_arrays(tmp_path / "x.npz", arrays)
    found = files.read_arrays(tmp_path / "x.npz")
    assert set(found) == set(arrays)
    for key, value in arrays.items():
        assert found[key].dtype == np.asarray(value).dtype
        assert found[key].shape == np.asarray(value).shape


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = tmp_path / "x.npz"
    files.write_arrays(place, {"a": 1})
    before = place.read_bytes()

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(TacitError, match="No space left"):
        files.write_arrays(place, {"a": 2})
    assert place.read_bytes() == before
    assert list(tmp_path.iterdir()) == [place]


def test_an_archive_larger_than_memory_is_refused_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files.write_arrays(tmp_path / "x.npz", {"a": np.zeros(10_000)})
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(TacitError, match=r"x\.npz would take 80.1 kB of memory"):
        files.read_arrays(tmp_path / "x.npz")
