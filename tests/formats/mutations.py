"""Damage to text files, as it happens and as nobody would do it."""

from __future__ import annotations

import random
import re

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
