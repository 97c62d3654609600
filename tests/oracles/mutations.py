"""Damage to files, as it happens and as nobody would do it: text, bytes, documents, arrays, and names."""

from __future__ import annotations

import copy
import io
import math
import random
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1", "2", "1.5", "1e999", "1e-999", "1_0", "0x1", "２", "1/0", "1/3"]
LARGE = ["3000", "99999", "1000000", "1000000000", "9" * 25, "9" * 5000, "1e999999999"]
MARKS = [
    "",
    "\n",
    "*",
    ":",
    "#",
    '"',
    "{",
    "}",
    "\0",
    "é",
    "uniform",
    "identity",
    "T:",
    "O:",
    "R:",
    "start:",
    "agents:",
]
JUNK = NUMBERS + LARGE + MARKS


def mutate(text: str, rng: random.Random) -> bytes:
    """Return the text with one to three changes."""
    for _ in range(rng.randint(1, 3)):
        text = rng.choice([_word, _word, _lines, _lines, _characters, _truncate, _number])(text, rng)
    content = bytearray(text.encode())
    if content and rng.random() < 0.1:
        content[rng.randrange(len(content))] = rng.randrange(256)
    return bytes(content)


def _word(text: str, rng: random.Random) -> str:
    """Replace, delete, double or exchange words."""
    words = re.split(r"(\s+)", text)
    k, other = rng.randrange(len(words)), rng.randrange(len(words))
    way = rng.randrange(4)
    if way == 0:
        words[k] = rng.choice(JUNK)
    elif way == 1:
        words[k] = ""
    elif way == 2:
        words[k] += " " + words[k]
    else:
        words[k], words[other] = words[other], words[k]
    return "".join(words)


def _number(text: str, rng: random.Random) -> str:
    """Replace one number."""
    numbers = list(re.finditer(r"\d[\d.e]*", text))
    if not numbers:
        return text
    found = rng.choice(numbers)
    return text[: found.start()] + rng.choice(JUNK) + text[found.end() :]


def _lines(text: str, rng: random.Random) -> str:
    """Delete, double or exchange lines, or insert one."""
    lines = text.splitlines() or [""]
    k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(4)
    if way == 0:
        del lines[k]
    elif way == 1:
        lines.insert(other, lines[k])
    elif way == 2:
        lines[k], lines[other] = lines[other], lines[k]
    else:
        lines.insert(k, " ".join(rng.choices(JUNK, k=rng.randint(1, 6))))
    return "\n".join(lines)


def _characters(text: str, rng: random.Random) -> str:
    """Replace a few characters by any others."""
    begin = rng.randrange(len(text) + 1)
    fresh = "".join(chr(rng.choice([rng.randrange(128), rng.randrange(0x800)])) for _ in range(rng.randrange(4)))
    return text[:begin] + fresh + text[begin + rng.randrange(4) :]


def _truncate(text: str, rng: random.Random) -> str:
    """Cut the text short, at either end."""
    cut = rng.randrange(len(text) + 1)
    return text[:cut] if rng.random() < 0.8 else text[cut:]


#: Pieces of names and notes that a terminal, rich or matplotlib would act upon.
PIECES = [
    "[/x]",
    "[bold]",
    "[red]a[/red]",
    "$\\foo$",
    "$x$",
    "\\$",
    "\x1b[31m",
    "\x1b]0;t\x07",
    "\r",
    "\x08",
    "\n",
    "\t",
]
PIECES += [
    "\x9b1m",
    "\u202e",
    "\u2066",
    "\u2028",
    "\ud800",
    "\x00",
    "\x7f",
    ":smile:",
    "{0}",
    "%s",
    "_",
    "é",
    "名",
    "👩‍🚀",
]
PIECES += ["", " ", "a", "../..", "/etc/passwd", "none", "x" * 300]

#: Values that no file of ours has in that place.
STRANGE = [None, True, False, -1, 0, 1, 2, 7, 10**9, 2**31, 2**63, 2**64, 2**70, 10**30, 10**400, 0.5, -0.5, 1.5, 1e308]
STRANGE += [float("inf"), float("nan"), "", "0", "00", "x", "²", [], {}, [[]], [0.5], [0, 0], {"0": [0, [0.5], [0.1]]}]

Tree = Any


def hostile_text(rng: random.Random) -> str:
    """Return a name or a note that is up to something."""
    return "".join(rng.choices(PIECES, k=rng.randint(1, 5)))


def mutate_tree(tree: Tree, rng: random.Random) -> Tree:
    """Return a document of lists and objects with one to four values replaced, removed, repeated or renamed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 2, 4])):
        found = spots(tree, [])
        if not found:
            return tree
        held, key = rng.choice(found)
        how = rng.choice(["replace", "replace", "text", "remove", "repeat"])
        if how == "replace":
            held[key] = copy.deepcopy(rng.choice(STRANGE))
        elif how == "text":
            held[key] = hostile_text(rng)
        elif how == "remove":
            del held[key]
        elif isinstance(held, list):
            held.insert(key, held[key])
        else:
            held[rng.choice([str(rng.choice(STRANGE)), hostile_text(rng)])] = held[key]
    return tree


def spots(value: Tree, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a document."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        found.append((value, key))
        spots(value[key], found)
    return found


def mutate_bytes(content: bytes, rng: random.Random) -> bytes:
    """Return bytes of which some are changed, cut off, doubled or overwritten."""
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 3])):
        at = rng.randrange(len(damaged) + 1)
        how = rng.randrange(5)
        if how == 0:
            del damaged[at:]
        elif how == 1:
            damaged[at : at + rng.randrange(1, 30)] = rng.randbytes(rng.randrange(30))
        elif how == 2:
            damaged[at:at] = damaged[at : at + rng.randrange(60)]
        elif damaged:
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


KINDS = ["<f8", "<f4", "<f2", "<i8", "<i4", "|i1", "|u1", "<u8", "|b1", "<U1", "<U9", "|S3", "<c16", "<M8[s]", "|V4"]
KINDS += ["<U0", "|S0", "|V0"]


def mutate_arrays(arrays: dict[str, npt.NDArray[Any]], rng: random.Random) -> dict[str, bytes]:
    """Return arrays as the content of .npy files, one to three of them changed in kind, shape, value or name."""
    made = dict(arrays)
    raw: dict[str, bytes] = {}
    for _ in range(rng.choice([1, 1, 2, 3])):
        name = rng.choice(list(made))
        how = rng.randrange(8)
        if how == 0 and len(made) > 1:
            del made[name]
        elif how == 1:
            made[rng.choice([hostile_text(rng), f"{name}_0", f"{name}{rng.randrange(3)}"])] = made[name]
        elif how == 2:
            raw[name] = _claimed(rng)
        elif how == 3:
            made[name] = np.array(hostile_text(rng)).reshape((1,) * rng.randrange(4))
        elif how == 4:
            made[name] = _cast(made[name], rng.choice(KINDS[:11]))
        elif how == 5:
            made[name] = _reshaped(made[name], rng)
        else:
            made[name] = _changed(made[name], rng)
    contents = {}
    for name, array in made.items():
        stream = io.BytesIO()
        np.lib.format.write_array(stream, array, allow_pickle=False)
        contents[name] = raw.get(name, stream.getvalue())
    return contents


def write_npz(path: Path, contents: dict[str, bytes]) -> None:
    """Write .npy contents as an .npz file."""
    path.unlink(missing_ok=True)
    with zipfile.ZipFile(path, "w") as target:
        for name, content in contents.items():
            target.writestr(zipfile.ZipInfo(f"{name}.npy".replace("\0", "0").replace("\ud800", "?")), content)


def _claimed(rng: random.Random) -> bytes:
    """Return an array whose header says what it likes."""
    axes = [rng.choice([0, 1, 2, 10**6, 10**12, 2**62, -1, 10**30]) for _ in range(rng.randrange(4))]
    shape = f"({', '.join(map(str, axes))}{',' if len(axes) == 1 else ''})"
    header = f"{{'descr': {rng.choice(KINDS)!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(rng.choice([0, 8, 64]))


def _cast(array: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    with np.errstate(all="ignore"):
        try:
            return array.astype(kind)
        except (ValueError, OverflowError):
            return np.zeros(array.shape, dtype=kind)


def _reshaped(array: npt.NDArray[Any], rng: random.Random) -> npt.NDArray[Any]:
    ways = [lambda: array.ravel(), lambda: array[..., None], lambda: array[None], lambda: array.T]
    ways += [
        lambda: array[:0] if array.ndim else array,
        lambda: np.concatenate([array, array]) if array.ndim else array,
    ]
    ways += [lambda: np.zeros((0, *array.shape), dtype=array.dtype), lambda: np.array(array.ravel()[:1])]
    return rng.choice(ways)()


def _changed(array: npt.NDArray[Any], rng: random.Random) -> npt.NDArray[Any]:
    array = array.copy()
    if not array.size:
        return array
    at = np.unravel_index(rng.randrange(array.size), array.shape)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            array[at] = rng.choice([math.nan, math.inf, -1.0, 2.0, 0.5, 0.0, 1e30, -0.0])
    elif array.dtype.kind in "iu":
        array[at] = rng.choice([np.iinfo(array.dtype).min, np.iinfo(array.dtype).max, 0, 1, 2])
    return array
